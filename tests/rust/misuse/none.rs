// Compiles: the lines that the other programs here add are wrong.

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    world.ctx().p(&array, 0, 1, 0);
    let array = world.freeze(array);
    println!("{}", array[0]);
}
