// error[E0505]: cannot move out of `world`

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    shmem::symmetric_static! { static WORDS: [u64; 4]; }
    let words = WORDS.of(&world);
    drop(world);
    println!("{}", words.load(0));
}
