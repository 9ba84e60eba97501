// error[E0277]: cannot be shared between threads safely

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    let lock = world.lock().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| drop(lock.set()));
    });
}
