// error[E0277]: the trait bound

use calls::{Calls, action};

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

fn main() {
    let calls = Calls::alone().unwrap();
    calls.to(0).unwrap().tell(sum, (vec![1_u32],));
}
