// error[E0277]: the trait bound `String: calls::__private::bytemuck::pod::Pod`

use calls::{Calls};

fn main() {
    let calls = Calls::alone().unwrap();
    calls.rma_vec(&["text".to_owned()]).unwrap();
}
