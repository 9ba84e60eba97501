// error[E0277]: `Rc<Cell<u64>>` cannot be sent between threads safely

use calls::{Calls, action};

use std::cell::Cell;
use std::rc::Rc;

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

fn main() {
    let calls = Calls::alone().unwrap();
    let total = Rc::new(Cell::new(0));
    let call = calls.to(0).unwrap().run(sum, (vec![1_u64],));
    call.then(move |result| total.set(result.unwrap()));
}
