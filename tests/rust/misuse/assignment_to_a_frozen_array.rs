// error[E0594]: cannot assign to data in dereference

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let mut frozen = world.freeze(array);
    frozen[0] = 1;
}
