// error[E0505]: cannot move out of `frozen` because it is borrowed

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let frozen = world.freeze(array);
    let slice: &[u64] = &frozen;
    let shared = world.share(frozen);
    println!("{} {}", slice[0], shared.load(0));
}
