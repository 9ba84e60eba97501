// error[E0277]: the trait bound `bool: Pod` is not satisfied

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let flags: Shared<bool> = world.alloc(10).unwrap();
    println!("{}", flags.load(0));
}
