// error[E0505]: cannot move out of `array` because it is borrowed

use shmem::{Shared, World};

fn main() {
    let world = World::init().unwrap();
    let array: Shared<u64> = world.alloc(10).unwrap();
    std::thread::scope(|scope| {
        let ctx = world.create_ctx().unwrap();
        let lent = &array;
        let thread = scope.spawn(move || ctx.p(lent, 0, 1, 0));
        let frozen = world.freeze(array);
        thread.join().unwrap();
        println!("{}", frozen[0]);
    });
}
