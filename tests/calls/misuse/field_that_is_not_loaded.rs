// error[E0277]: the trait bound `Instant: calls::Load` is not satisfied

use calls::{Load};

#[derive(Load)]
struct Event {
    at: std::time::Instant,
}

fn main() {}
