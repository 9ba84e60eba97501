// error[E0521]: borrowed data escapes outside of function

use calls::{Calls, Here, action};
use std::cell::Cell;

thread_local! {
    static KEPT: Cell<Option<&'static Calls>> = const { Cell::new(None) };
}

#[action]
fn keep(here: &Here) {
    KEPT.set(Some(here.calls()));
}

fn main() {}
