// error[E0277]: cannot be shared between threads safely

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    world.distribute(std::cell::Cell::new(1));
}
