// error[E0277]: the trait bound `Instant: Save` is not satisfied

use calls::{Save};

#[derive(Save)]
struct Event {
    at: std::time::Instant,
}

fn main() {}
