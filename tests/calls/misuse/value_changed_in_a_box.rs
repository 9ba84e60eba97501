// error[E0594]: cannot assign to data in dereference of `RmaBox<u64>`

use calls::{Calls};

fn main() {
    let calls = Calls::alone().unwrap();
    let mut one = calls.rma_box(1_u64).unwrap();
    *one = 2;
}
