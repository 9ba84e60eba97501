// error: an action has no generic parameters

use calls::{action};

#[action]
fn text<'a>(value: std::borrow::Cow<'a, str>) -> usize {
    value.len()
}

fn main() {}
