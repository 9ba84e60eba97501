// error: #[action] takes no arguments

use calls::{action};

#[action(fast)]
fn same(value: u64) -> u64 {
    value
}

fn main() {}
