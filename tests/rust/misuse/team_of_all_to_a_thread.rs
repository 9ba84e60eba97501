// error[E0277]: cannot be shared between threads safely

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    let all = world.team();
    std::thread::scope(|scope| {
        scope.spawn(move || all.sum(1));
    });
    world.barrier_all();
}
