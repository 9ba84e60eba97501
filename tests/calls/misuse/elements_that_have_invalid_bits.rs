// error[E0277]: the trait bound `bool: calls::__private::bytemuck::pod::Pod`

use calls::{Calls};

fn main() {
    let calls = Calls::alone().unwrap();
    calls.rma_vec(&[true]).unwrap();
}
