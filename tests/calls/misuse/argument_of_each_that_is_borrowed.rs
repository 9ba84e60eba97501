// error[E0597]: `numbers` does not live long enough

use calls::{Calls, action};

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

fn main() {
    let calls = Calls::alone().unwrap();
    let numbers = vec![1_u64, 2, 3];
    let all = calls.to_each(0..1, sum, (&numbers[..],)).unwrap();
    println!("{}", all.len());
}
