// error[E0382]: borrow of moved value: `array`

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let frozen = world.freeze(array);
    world.ctx().p(&array, 0, 1, 0);
    println!("{}", frozen[0]);
}
