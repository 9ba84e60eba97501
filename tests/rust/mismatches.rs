//! Collective calls in which PEs differ: each panics on them.

use super::Program;
use shmem::{Shared, World};

pub(super) const PROGRAMS: &[Program] = &[
    ("alloc_lengths", |world| {
        let _ = world.alloc::<u32>(10 + world.my_pe());
    }),
    ("alloc_sizes", |world| match world.my_pe() {
        1 => _ = world.alloc::<u32>(10),
        _ => _ = world.alloc::<u64>(10),
    }),
    ("free_others", |world| {
        let (one, other) = two(&world);
        world.free(if world.my_pe() == 1 { one } else { other });
    }),
    ("freeze_others", |world| {
        let (one, other) = two(&world);
        let _ = world.freeze(if world.my_pe() == 1 { one } else { other });
    }),
    ("freeze_and_own", |world| {
        let (one, _) = two(&world);
        match world.my_pe() {
            1 => _ = world.freeze(one),
            _ => _ = world.own(one),
        }
    }),
    ("freeze_and_alloc", |world| {
        let (one, _) = two(&world);
        match world.my_pe() {
            1 => _ = world.freeze(one),
            _ => _ = world.alloc::<u32>(10),
        }
    }),
    ("barrier_and_alloc", |world| {
        // Where PEs share processors, a barrier and a meeting are one; elsewhere both wait.
        if world.my_pe() == 1 {
            world.barrier_all();
        } else {
            let _ = world.alloc::<u32>(10);
        }
    }),
    ("caught", caught),
];

fn two(world: &World) -> (Shared<'_, u32>, Shared<'_, u32>) {
    let one = world.alloc(10).expect("room");
    (one, world.alloc(10).expect("room"))
}

/// A panic that is caught has changed nothing.
fn caught(world: World) {
    let world = std::panic::AssertUnwindSafe(world);
    for round in 0..20 {
        let tried = std::panic::catch_unwind(|| {
            let _ = world.alloc::<u32>(10 + world.my_pe());
        });
        assert!(tried.is_err() || world.n_pes() == 1);
        let array = world.alloc::<usize>(3).expect("room");
        let next = (world.my_pe() + 1) % world.n_pes();
        world.ctx().p(&array, 1, round, next);
        let array = world.freeze(array);
        assert_eq!(array[1], round);
        // As the array of a lone PE is one that is leaked.
        world.free(array);
    }
}
