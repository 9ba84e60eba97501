// error[E0597]: `world` does not live long enough

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let ctx = world.create_ctx().unwrap();
    std::thread::spawn(move || ctx.quiet());
}
