// error[E0277]: cannot be shared between threads safely

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let ctx = world.create_ctx().unwrap();
    let array = &array;
    std::thread::scope(|scope| {
        scope.spawn(|| ctx.p(array, 0, 1, 0));
        scope.spawn(|| ctx.p(array, 0, 1, 0));
    });
}
