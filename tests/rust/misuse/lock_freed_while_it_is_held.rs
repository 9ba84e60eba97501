// error[E0505]: cannot move out of `lock` because it is borrowed

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    let lock = world.lock().unwrap();
    let held = lock.set();
    lock.free();
    drop(held);
}
