// error[E0507]: cannot move out of dereference

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    shmem::symmetric_static! { static WORDS: [u64; 4]; }
    let frozen = world.freeze(*WORDS.of(&world));
    println!("{}", frozen[0]);
}
