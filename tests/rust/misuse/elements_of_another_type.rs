// error[E0308]: mismatched types

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    world.ctx().put(&array, 0, &[1_u32, 2], 0);
}
