// error[E0599]: no method named `clone`

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let other = array.clone();
    println!("{} {}", array.load(0), other.load(0));
}
