// error[E0277]: cannot be shared between threads safely

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let op = world.ctx().put_owned(&array, 0, vec![0; 10], 0);
    std::thread::scope(|scope| {
        scope.spawn(move || op.wait());
    });
}
