// error[E0277]: Readable<_>` is not satisfied

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let owned = world.own(array);
    let word: u64 = world.ctx().g(&owned, 0, 0);
    println!("{word}");
}
