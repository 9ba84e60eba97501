// error[E0277]: the trait bound `Named: calls::__private::bytemuck::pod::Pod`

use calls::{Save};

#[derive(Save)]
#[save(pod)]
struct Named {
    name: String,
}

fn main() {}
