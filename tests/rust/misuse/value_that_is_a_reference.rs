// error[E0277]: the trait bound

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    let text = "a reference";
    world.team().broadcast_value(text, 0);
}
