// error[E0505]: cannot move out of `ctx` because it is borrowed

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    let ctx = world.create_ctx().unwrap();
    let session = ctx.session(None);
    drop(ctx);
    drop(session);
}
