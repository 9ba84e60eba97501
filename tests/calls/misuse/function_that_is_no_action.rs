// error[E0277]: the trait bound `u64: Action` is not satisfied

use calls::{Calls};

fn number() -> u64 {
    7
}

fn main() {
    let calls = Calls::alone().unwrap();
    calls.to(0).unwrap().tell(number, ());
}
