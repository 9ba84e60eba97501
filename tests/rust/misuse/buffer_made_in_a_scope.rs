// error[E0597]: `buffer` does not live long enough

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    world.ctx().scope(|s| {
        let buffer = vec![0; 10];
        s.put(&array, 0, &buffer, 0);
    });
}
