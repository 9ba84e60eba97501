// error[E0382]: borrow of moved value: `buffer`

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let buffer = vec![0; 10];
    let op = world.ctx().put_owned(&array, 0, buffer, 0);
    println!("{}", buffer[0]);
    op.wait();
}
