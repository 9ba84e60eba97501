// error[E0308]: mismatched types

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    let from = world.alloc::<u32>(10).unwrap();
    let to = world.freeze(world.alloc::<u32>(10).unwrap());
    world.team().broadcast((&to, 0), (&from, 0), 10, 0);
}
