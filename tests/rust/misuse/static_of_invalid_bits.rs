// error[E0277]: is not satisfied

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    drop(world);
    shmem::symmetric_static! { static FLAGS: [bool; 4]; }
    println!("{FLAGS:?}");
}
