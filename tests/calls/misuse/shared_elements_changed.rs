// error[E0594]: cannot assign to data in dereference of `RmaVec<f64>`

use calls::{Calls};

fn main() {
    let calls = Calls::alone().unwrap();
    let mut all = calls.rma_vec(&[1.0_f64]).unwrap();
    let shared = all.clone();
    all[0] = 2.0;
    println!("{}", shared[0]);
}
