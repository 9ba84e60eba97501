// error[E0277]: the trait bound `Instant: Save` is not satisfied

use calls::{action};

#[action]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

fn main() {}
