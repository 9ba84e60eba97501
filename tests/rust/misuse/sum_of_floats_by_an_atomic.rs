// error[E0277]: is not satisfied

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let sums: Shared<f64> = world.alloc(10).unwrap();
    world.ctx().add(&sums, 0, 1.0, 0);
}
