// error[E0277]: is not satisfied

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let floats: Shared<f32> = world.alloc(10).unwrap();
    world.ctx().wait_until(&floats, 0, shmem::Cmp::Eq, 1.0);
}
