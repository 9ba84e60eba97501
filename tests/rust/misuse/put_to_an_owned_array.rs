// error[E0308]: mismatched types

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let owned = world.own(array);
    world.ctx().p(&owned, 0, 1, 0);
}
