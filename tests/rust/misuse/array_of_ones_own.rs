// error[E0603]: module `sealed` is private

use shmem::World;

fn main() {
    let world = World::init().unwrap();
    drop(world);
    struct Mine;
    impl shmem::safe::sealed::Sealed for Mine {}
}
