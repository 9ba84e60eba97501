// error[E0277]: is not satisfied

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let bytes: Shared<u8> = world.alloc(10).unwrap();
    world.ctx().set(&bytes, 0, 1, 0);
}
