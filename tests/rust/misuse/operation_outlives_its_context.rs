// error[E0505]: cannot move out of `ctx` because it is borrowed

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let ctx = world.create_ctx().unwrap();
    let op = ctx.put_owned(&array, 0, vec![0; 10], 0);
    drop(ctx);
    op.wait();
}
