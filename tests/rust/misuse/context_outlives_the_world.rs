// error[E0505]: cannot move out of `world`

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let ctx = world.create_ctx().unwrap();
    drop(world);
}
