// error[E0521]: borrowed data escapes outside of closure

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let mut kept = None;
    world.ctx().scope(|s| kept = Some(s));
}
