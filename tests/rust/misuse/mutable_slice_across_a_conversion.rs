// error[E0505]: cannot move out of `owned` because it is borrowed

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    let mut owned = world.own(array);
    let slice: &mut [u64] = &mut owned;
    let shared = world.share(owned);
    slice[0] = 1;
    println!("{}", shared.load(0));
}
