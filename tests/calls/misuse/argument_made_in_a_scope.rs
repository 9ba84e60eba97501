// error[E0597]: `numbers` does not live long enough

use calls::{Calls, action};

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

fn main() {
    let calls = Calls::alone().unwrap();
    calls.scope(|scope| {
        let numbers = vec![1_u64];
        drop(scope.run(0, sum, (&numbers[..],)));
    });
}
