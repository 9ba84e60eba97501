// error[E0505]: cannot move out of `world`

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    let lock = world.lock().unwrap();
    let held = lock.set();
    drop(world);
    drop(held);
}
