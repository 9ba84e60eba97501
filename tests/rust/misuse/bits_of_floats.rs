// error[E0277]: the trait bound

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    world.team().xor(1.5);
}
