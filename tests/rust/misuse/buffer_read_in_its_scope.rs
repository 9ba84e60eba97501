// error[E0502]: cannot borrow `buffer` as immutable

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let mut buffer = vec![0; 10];
    world.ctx().scope(|s| {
        s.get(&mut buffer, &array, 0, 0);
        println!("{}", buffer[0]);
    });
}
