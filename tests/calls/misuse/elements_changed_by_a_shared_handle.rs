// error[E0596]: cannot borrow `*all` as mutable

use calls::{RmaVec};

fn change(all: &RmaVec<f64>) {
    all.get_mut().unwrap()[0] = 1.0;
}

fn main() {
    let _ = change;
}
