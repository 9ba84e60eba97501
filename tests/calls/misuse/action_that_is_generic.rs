// error: an action has no generic parameters

use calls::{action};

#[action]
fn same<T>(value: T) -> T {
    value
}

fn main() {}
