//! Phases of arrays, and contexts of threads.

use super::Program;
use shmem::{Frozen, Owned, Shared, World};
use std::thread;

pub(super) const PROGRAMS: &[Program] = &[
    ("phases", phases),
    ("conversion_quiets_threads", conversion_quiets_threads),
    ("conversion_quiets_default", conversion_quiets_default),
    ("threads", threads),
    ("forgotten", forgotten),
    ("twice", twice),
];

/// Words of an array.
const LEN: usize = 1000;

/// Returns a value that PE `pe` writes to element `index` in `round`.
fn value(pe: usize, index: usize, round: usize) -> u64 {
    (pe * LEN + index) as u64 * 1000 + round as u64
}

/// Goes through every phase, and back: elements that peers put are there, and peers get those that
/// a PE writes in its slice.
fn phases(world: World) {
    let (me, n) = (world.my_pe(), world.n_pes());
    let next = (me + 1) % n;
    let before = (me + n - 1) % n;
    let mut shared: Shared<u64> = world.alloc(LEN).expect("room");
    assert!(shared.to_vec().iter().all(|&word| word == 0));
    world.barrier_all();
    for round in 0..20 {
        let mine: Vec<u64> = (0..LEN).map(|i| value(me, i, round)).collect();
        world.ctx().put(&shared, 0, &mine, next);
        let frozen: Frozen<u64> = world.freeze(shared);
        let theirs: Vec<u64> = (0..LEN).map(|i| value(before, i, round)).collect();
        assert_eq!(&frozen[..], &theirs[..], "round {round}");
        let mut got = vec![0; LEN];
        world.ctx().get(&mut got, &frozen, 0, next);
        assert_eq!(got, mine, "round {round}");
        assert_eq!(world.ctx().g(&frozen, 7, next), mine[7]);
        let mut owned: Owned<u64> = world.own(frozen);
        assert_eq!(&owned[..], &theirs[..]);
        owned.iter_mut().for_each(|word| *word += 1);
        // A source that is symmetric itself.
        let other: Shared<u64> = world.alloc(LEN).expect("room");
        world.ctx().put(&other, 0, &owned, before);
        let other = world.freeze(other);
        assert_eq!(other[3], mine_of(next, 3, round, n));
        world.free(other);
        shared = world.share(owned);
        assert_eq!(world.ctx().g(&shared, 9, next), mine[9] + 1);
        // Nobody puts before all have read.
        world.barrier_all();
    }
    world.free(shared);
}

/// Returns a word of PE `pe`'s slice: that of the PE before it, and 1.
fn mine_of(pe: usize, index: usize, round: usize, n: usize) -> u64 {
    value((pe + n - 1) % n, index, round) + 1
}

/// Checks that elements that a thread has put by its own context are there behind a conversion,
/// which quiets it.
fn conversion_quiets_threads(world: World) {
    let (me, n) = (world.my_pe(), world.n_pes());
    let next = (me + 1) % n;
    for round in 0..20 {
        let shared: Shared<u64> = world.alloc(LEN).expect("room");
        let contexts: Vec<_> = (0..3).map(|_| world.create_ctx().expect("one")).collect();
        let contexts: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = contexts
                .into_iter()
                .enumerate()
                .map(|(part, ctx)| {
                    let shared = &shared;
                    scope.spawn(move || {
                        for index in (part..LEN).step_by(3) {
                            ctx.p(shared, index, value(me, index, round), next);
                        }
                        ctx
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        let frozen = world.freeze(shared);
        for (index, &word) in frozen.iter().enumerate() {
            assert_eq!(word, value((me + n - 1) % n, index, round));
        }
        drop(contexts);
        world.free(frozen);
    }
}

/// Checks that elements that peers put and added to by their default contexts are there behind each
/// conversion: over a device, too, whose queues overtake each other.
fn conversion_quiets_default(world: World) {
    let (me, n) = (world.my_pe(), world.n_pes());
    let others = |pe| (0..n).filter(move |&other| other != pe);
    for round in 0..60 {
        let array: Shared<u64> = world.alloc(LEN * n).expect("room");
        for pe in others(me) {
            let mine: Vec<u64> = (0..LEN).map(|index| value(me, index, round)).collect();
            world.ctx().put(&array, me * LEN, &mine, pe);
            world.ctx().add(&array, me * LEN + LEN - 1, 1, pe);
        }
        let is_there = |words: &[u64]| {
            for pe in others(me) {
                let theirs = &words[pe * LEN..][..LEN];
                let last = value(pe, LEN - 1, round) + 1;
                assert_eq!((theirs[0], theirs[LEN - 1]), (value(pe, 0, round), last));
            }
        };
        if round % 2 == 0 {
            let frozen = world.freeze(array);
            is_there(&frozen);
            world.free(frozen);
        } else {
            let owned = world.own(array);
            is_there(&owned);
            world.free(owned);
        }
    }
}

/// Lets threads create contexts, use them while this one converts other arrays, and drop them.
fn threads(world: World) {
    let n = world.n_pes();
    let counters: Shared<u64> = world.alloc(n).expect("room");
    thread::scope(|scope| {
        for _ in 0..4 {
            let ctx = world.create_ctx().expect("a context");
            let counters = &counters;
            scope.spawn(move || {
                for i in 0..400 {
                    ctx.add(counters, i % n, 1, i % n);
                    ctx.quiet();
                }
            });
        }
        for _ in 0..50 {
            let other: Shared<u8> = world.alloc(100).expect("room");
            let other = world.own(other);
            world.free(other);
        }
    });
    world.barrier_all();
    let sum: u64 = (0..n).map(|pe| world.ctx().fetch(&counters, pe, pe)).sum();
    assert_eq!(sum, 4 * 400 * n as u64);
    // Nobody ends before all have read.
    world.barrier_all();
}

/// Handles and contexts that are forgotten keep their memory, and break nothing.
fn forgotten(world: World) {
    for _ in 0..10 {
        let shared: Shared<u64> = world.alloc(10).expect("room");
        let ctx = world.create_ctx().expect("a context");
        ctx.p(&shared, 1, 5, 0);
        std::mem::forget(ctx);
        let frozen = world.freeze(shared);
        assert_eq!(frozen[1], if world.my_pe() == 0 { 5 } else { 0 });
    }
    drop(world);
    let world = World::init().expect("another session");
    assert!(world.create_ctx().is_some());
}

/// Runs one session after the other, and one at a time.
fn twice(world: World) {
    assert!(matches!(World::init(), Err(shmem::Error::InUse)));
    drop(world);
    for _ in 0..3 {
        phases(World::init().expect("another session"));
    }
}
