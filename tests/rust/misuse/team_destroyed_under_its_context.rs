// error[E0505]: cannot move out of `row`

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    let (row, _column) = world.team().split_2d(2).unwrap();
    let ctx = row.create_ctx().unwrap();
    row.destroy();
    ctx.quiet();
}
