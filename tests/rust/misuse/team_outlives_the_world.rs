// error[E0505]: cannot move out of `world`

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    let (row, _column) = world.team().split_2d(2).unwrap();
    drop(world);
    row.sum(1);
}
