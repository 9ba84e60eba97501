// error[E0277]: the trait bound `&u64: calls::__private::bytemuck::pod::Pod`

use calls::{Calls};

fn main() {
    let calls = Calls::alone().unwrap();
    calls.rma_box(&1_u64).unwrap();
}
