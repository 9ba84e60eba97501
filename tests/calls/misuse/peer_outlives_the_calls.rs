// error[E0505]: cannot move out of `calls` because it is borrowed

use calls::{Calls, action};

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

fn main() {
    let calls = Calls::alone().unwrap();
    let peer = calls.to(0).unwrap();
    drop(calls);
    peer.tell(sum, (vec![1_u64],));
}
