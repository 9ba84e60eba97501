// error[E0308]: mismatched types

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let slice: &[u64] = &array;
    println!("{}", slice[0]);
}
