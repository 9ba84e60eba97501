// error[E0277]: the trait bound `JoinHandle<()>: calls::Load` is not satisfied

use calls::{action};

#[action]
fn join(thread: std::thread::JoinHandle<()>) {
    thread.join().unwrap();
}

fn main() {}
