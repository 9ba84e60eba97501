// error: an action is no unsafe function

use calls::{action};

#[action]
unsafe fn same(value: u64) -> u64 {
    value
}

fn main() {}
