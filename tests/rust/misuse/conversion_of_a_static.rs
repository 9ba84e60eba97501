// error[E0277]: Phase<'_>` is not satisfied

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    shmem::symmetric_static! { static WORDS: [u64; 4]; }
    let frozen = world.freeze(WORDS.of(&world));
    println!("{}", frozen[0]);
}
