// error[E0133]: is unsafe and requires unsafe

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    drop(world);
    static WORDS: shmem::Static<u64, 4> = shmem::Static::new([0; 4]);
    println!("{WORDS:?}");
}
