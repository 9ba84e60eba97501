// error[E0277]: : Pod` is not satisfied

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let texts: Shared<&'static str> = world.alloc(10).unwrap();
    println!("{}", texts.load(0));
}
