// error[E0608]: cannot index into a value of type

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    println!("{}", &array[0]);
}
