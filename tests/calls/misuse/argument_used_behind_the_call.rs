// error[E0382]: borrow of moved value: `numbers`

use calls::{Calls, action};

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

fn main() {
    let calls = Calls::alone().unwrap();
    let numbers = vec![1_u64];
    calls.to(0).unwrap().tell(sum, (numbers,));
    println!("{}", numbers.len());
}
