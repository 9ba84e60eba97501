// error: an action is no async function

use calls::{action};

#[action]
async fn same(value: u64) -> u64 {
    value
}

fn main() {}
