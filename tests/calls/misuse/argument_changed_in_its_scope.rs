// error[E0502]: cannot borrow `numbers` as mutable because it is also borrowed as immutable

use calls::{Calls, action};

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

fn main() {
    let calls = Calls::alone().unwrap();
    let mut numbers = vec![1_u64];
    calls.scope(|scope| {
        drop(scope.run(0, sum, (&numbers[..],)));
        numbers.push(2);
    });
}
