// error[E0277]: cannot be shared between threads safely

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    let (row, _column) = world.team().split_2d(2).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| row.sum(1));
        scope.spawn(|| row.sum(1));
    });
}
