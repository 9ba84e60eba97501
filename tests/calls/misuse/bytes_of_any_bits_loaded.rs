// error[E0277]: the trait bound `Flag: calls::__private::bytemuck::pod::Pod`

use calls::{Load};

#[derive(Load)]
#[save(pod)]
struct Flag(bool);

fn main() {}
