//! Collective calls in which PEs differ: each panics on them.

use super::Program;
use shmem::{Layout, Shared, World};

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
    ("lock_and_alloc", |world| match world.my_pe() {
        1 => _ = world.lock(),
        _ => _ = world.alloc::<u64>(1),
    }),
    ("barrier_and_alloc", |world| {
        // Where PEs share processors, a barrier and a meeting are one; elsewhere both wait.
        if world.my_pe() == 1 {
            world.barrier_all();
        } else {
            let _ = world.alloc::<u32>(10);
        }
    }),
    ("broadcast_roots", |world| {
        let (one, other) = two(&world);
        let root = usize::from(world.my_pe() == 1);
        world.team().broadcast((&one, 0), (&other, 0), 10, root);
    }),
    ("reduce_lengths", |world| {
        let (one, other) = two(&world);
        let count = 9 - usize::from(world.my_pe() == 1);
        world.team().sum_reduce((&one, 0), (&other, 0), count);
    }),
    ("reduce_sources", |world| {
        let (one, other) = two(&world);
        let source = if world.my_pe() == 1 { &one } else { &other };
        world.team().sum_reduce((&one, 0), (source, 0), 5);
    }),
    ("sum_and_max", |world| match world.my_pe() {
        1 => _ = world.team().max(1),
        _ => _ = world.team().sum(1),
    }),
    ("splits", |world| {
        let size = 2 - usize::from(world.my_pe() == 1);
        let _ = world.team().split_strided(0, 2, size);
    }),
    ("splits_back", |world| {
        let last = world.n_pes() - 1;
        let (start, stride) = if world.my_pe() == 1 {
            (0, 1)
        } else {
            (last, -1)
        };
        let _ = world.team().split_strided(start, stride, 2);
    }),
    ("overlap", |world| {
        let (one, _) = two(&world);
        world.team().sum_reduce((&one, 0), (&one, 1), 5);
    }),
    ("collect_too_much", |world| {
        let (one, other) = two(&world);
        world.team().collect((&one, 0), (&other, 0), 4);
    }),
    ("array_lengths", |world| {
        let len = 10 + usize::from(world.my_pe() == 1);
        let _ = world.array::<u8>(len, Layout::Block);
    }),
    ("retire_others", |world| {
        let (one, other) = (world.distribute(1), world.distribute(2));
        let _ = world.retire(if world.my_pe() == 1 { one } else { other });
    }),
    ("destroy_and_sum", |world| {
        let team = world.team().split_strided(0, 1, world.n_pes());
        let team = team.expect("a team").expect("of all PEs");
        match world.my_pe() {
            1 => _ = team.sum(1),
            _ => team.destroy(),
        }
    }),
    ("caught", caught),
];

fn two(world: &World) -> (Shared<'_, u32>, Shared<'_, u32>) {
    let one = world.alloc(10).expect("room");
    (one, world.alloc(10).expect("room"))
}

/// Checks that a panic that is caught has changed nothing.
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
