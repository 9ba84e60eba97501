// error: an action owns its arguments

use calls::{action};

#[action]
fn sum(numbers: &[u64]) -> u64 {
    numbers.iter().sum()
}

fn main() {}
