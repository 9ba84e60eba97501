// error[E0382]: use of moved value: `array`

use shmem::{Layout, World};

fn main() {
    let world = World::init().unwrap();
    let array = world.array::<u32>(10, Layout::Block).unwrap();
    world.free_array(array);
    world.free_array(array);
}
