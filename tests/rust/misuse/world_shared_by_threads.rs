// error[E0277]: cannot be shared between threads safely

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| world.barrier_all());
    });
}
