// error[E0506]: cannot assign to `word`

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let mut word = 0;
    world.ctx().scope(|s| {
        s.put(&array, 0, std::slice::from_ref(&word), 0);
        word = 1;
    });
    println!("{word}");
}
