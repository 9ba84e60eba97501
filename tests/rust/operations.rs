//! Each one-sided operation through the safe interface, section by section.

use super::Program;
use shmem::{
    Against, Awaited, Blocks, Cmp, Ctx, Element, Shared, Signal, Word, World, symmetric_static,
};
use std::fmt::Debug;

pub(super) const PROGRAMS: &[Program] = &[
    ("transfers", transfers),
    ("elements", elements),
    ("strided", strided),
    ("atomics", atomics),
    ("signals", signals),
    ("waits", waits),
    ("statics", statics),
    ("locks", locks),
    ("sessions", sessions),
];

/// Returns the PEs beside this one.
fn sides(world: &World) -> (usize, usize) {
    let (me, n) = (world.my_pe(), world.n_pes());
    ((me + 1) % n, (me + n - 1) % n)
}

/// Tests 9.6.1: put and get of many lengths, at odd places.
fn transfers(world: World) {
    let (next, before) = sides(&world);
    let me = world.my_pe();
    let array: Shared<u8> = world.alloc(70_000).expect("room");
    for len in [0, 1, 2, 3, 8, 15, 16, 17, 63, 64, 1000, 4095, 65_000] {
        for at in [0, 1, 7, 1000] {
            let byte = |pe: usize, i: usize| (pe * 31 + i * 7 + len + at) as u8;
            let mine: Vec<u8> = (0..len).map(|i| byte(me, i)).collect();
            world.ctx().put(&array, at, &mine, next);
            world.barrier_all();
            let mut own = vec![0; len];
            array.read(at, &mut own);
            assert!((0..len).all(|i| own[i] == byte(before, i)), "{len} at {at}");
            let mut theirs = vec![0; len];
            world.ctx().get(&mut theirs, &array, at, next);
            assert_eq!(theirs, mine, "{len} at {at}");
            world.barrier_all();
        }
    }
    array.write(3, &[1, 2, 3]);
    assert_eq!(array.to_vec()[3..6], [1, 2, 3]);
}

/// Tests one element of every size, whole or in pieces.
fn elements(world: World) {
    fn of<T: shmem::Pod + PartialEq + Debug>(world: &World, value: impl Fn(usize) -> T) {
        let (next, before) = sides(world);
        let me = world.my_pe();
        let array: Shared<T> = world.alloc(3).expect("room");
        world.ctx().p(&array, 1, value(me), next);
        world.barrier_all();
        assert_eq!(array.load(1), value(before));
        assert_eq!(world.ctx().g(&array, 1, next), value(me));
        array.store(2, value(me + 1));
        world.barrier_all();
        assert_eq!(world.ctx().g(&array, 2, next), value(next + 1));
        assert_eq!(world.ctx().g(&array, 0, next), T::zeroed());
        world.free(array);
    }
    of(&world, |i| i as u8 + 1);
    of(&world, |i| i as u16 * 300);
    of(&world, |i| i as u32 * 70_000);
    of(&world, |i| i as u64 * (1 << 33));
    of(&world, |i| i as f32 * 0.5);
    of(&world, |i| i as f64 * 0.25);
    of(&world, |i| [i as u8, 2, 3]);
    of(&world, |i| [i as u32, 2]);
    of(&world, |i| [i as u64, 2]);
    of(&world, |i| i as u128 * (1 << 100));
}

/// Tests 9.6.1.3, 9.6.1.4, 9.6.1.7 and 9.6.1.8, against loops.
fn strided(world: World) {
    const LEN: usize = 400;
    let (next, before) = sides(&world);
    let me = world.my_pe();
    let value = |pe: usize, i: usize| (pe * LEN + i) as i32;
    let mine: Vec<i32> = (0..LEN).map(|i| value(me, i)).collect();
    let array: Shared<i32> = world.alloc(LEN).expect("room");
    for (size, count, by, from) in [
        (1, 10, 3, 1),
        (1, 1, 1, 1),
        (1, 0, 0, 0),
        (4, 7, 9, 5),
        (5, 20, 5, 5),
        (0, 3, 0, 0),
        (2, 100, 2, 2),
    ] {
        let blocks = Blocks { size, count };
        array.write(0, &[-1; LEN]);
        world.barrier_all();
        world
            .ctx()
            .ibput((&array, 3, by), (&mine, from), blocks, next);
        world.barrier_all();
        let mut expected = vec![-1; LEN];
        for block in 0..count {
            for i in 0..size {
                expected[3 + block * by + i] = value(before, block * from + i);
            }
        }
        assert_eq!(array.to_vec(), expected);
        let mut back = vec![-2; LEN];
        world
            .ctx()
            .ibget((&mut back, from), (&array, 3, by), blocks, next);
        for block in 0..count {
            for i in 0..size {
                assert_eq!(back[block * from + i], value(me, block * from + i));
            }
        }
        world.barrier_all();
    }
    world.ctx().iput((&array, 0, 10), (&mine, 2), 5, next);
    world.barrier_all();
    let mut back = vec![0; 5];
    world.ctx().iget((&mut back, 1), (&array, 0, 10), 5, me);
    let expected: Vec<i32> = (0..5).map(|i| value(before, 2 * i)).collect();
    assert_eq!(back, expected);
}

/// Tests 9.7.1, of every type; the nonblocking forms are in `nonblocking`.
fn atomics(world: World) {
    fn words<T: Word + PartialEq + Debug>(world: &World, of: impl Fn(u8) -> T) {
        let (me, (next, _)) = (world.my_pe(), sides(world));
        let array: Shared<T> = world.alloc(world.n_pes()).expect("room");
        let ctx = world.ctx();
        ctx.set(&array, me, of(3), next);
        assert_eq!(ctx.swap(&array, me, of(4), next), of(3));
        assert_eq!(ctx.fetch(&array, me, next), of(4));
        world.barrier_all();
        world.free(array);
    }
    fn integers<T: Element + Debug>(world: &World, of: impl Fn(u8) -> T + Copy) {
        words(world, of);
        let (me, (next, _)) = (world.my_pe(), sides(world));
        let array: Shared<T> = world.alloc(world.n_pes()).expect("room");
        let ctx = world.ctx();
        ctx.add(&array, me, of(5), next);
        ctx.inc(&array, me, next);
        assert_eq!(ctx.fetch_add(&array, me, of(6), next), of(6));
        assert_eq!(ctx.fetch_inc(&array, me, next), of(12));
        ctx.and(&array, me, of(0b1100), next);
        ctx.or(&array, me, of(0b0011), next);
        ctx.xor(&array, me, of(0b0101), next);
        assert_eq!(ctx.fetch_and(&array, me, of(0b1000), next), of(0b1010));
        assert_eq!(ctx.fetch_or(&array, me, of(0b0001), next), of(0b1000));
        assert_eq!(ctx.fetch_xor(&array, me, of(0b1111), next), of(0b1001));
        assert_eq!(ctx.compare_swap(&array, me, of(1), of(2), next), of(6));
        assert_eq!(ctx.compare_swap(&array, me, of(6), of(7), next), of(6));
        assert_eq!(ctx.fetch(&array, me, next), of(7));
        world.barrier_all();
        world.free(array);
    }
    integers::<i32>(&world, i32::from);
    integers::<u32>(&world, u32::from);
    integers::<i64>(&world, i64::from);
    integers::<u64>(&world, u64::from);
    integers::<isize>(&world, isize::from);
    integers::<usize>(&world, usize::from);
    words::<f32>(&world, f32::from);
    words::<f64>(&world, f64::from);
    let tickets: Shared<u64> = world.alloc(1).expect("room");
    let mine: Vec<u64> = (0..200)
        .map(|_| world.ctx().fetch_inc(&tickets, 0, 0))
        .collect();
    assert!(mine.is_sorted_by(|a, b| a < b));
    world.barrier_all();
    let all = 200 * world.n_pes() as u64;
    assert_eq!(world.ctx().fetch(&tickets, 0, 0), all);
    world.barrier_all();
}

/// Tests 9.8: a PE that sees the signal sees the elements, from the default context and a created
/// one.
fn signals(world: World) {
    let (next, before) = sides(&world);
    let array: Shared<u32> = world.alloc(500).expect("room");
    let words: Shared<u64> = world.alloc(2).expect("room");
    let acknowledged: Shared<u64> = world.alloc(1).expect("room");
    let created = world.create_ctx().expect("a context");
    for round in 1..=50_u32 {
        let ctx: &Ctx = if round % 2 == 0 {
            &created
        } else {
            world.ctx()
        };
        let signal = if round % 5 == 0 {
            Signal::Add(1)
        } else {
            Signal::Set(round.into())
        };
        ctx.put_signal((&array, 0), &vec![round; 500], (&words, 1), signal, next);
        ctx.wait_until(&words, 1, Cmp::Eq, round.into());
        assert_eq!(ctx.signal_fetch(&words, 1), round.into());
        assert_eq!(array.to_vec(), vec![round; 500]);
        // The PE before puts again when this one has looked.
        ctx.put_signal(
            (&array, 0),
            &[],
            (&acknowledged, 0),
            Signal::Set(round.into()),
            before,
        );
        ctx.wait_until(&acknowledged, 0, Cmp::Ge, round.into());
    }
}

/// Tests 9.11, in all forms.
fn waits(world: World) {
    let (me, n) = (world.my_pe(), world.n_pes());
    let flags: Shared<i64> = world.alloc(n + 1).expect("room");
    let ctx = world.ctx();
    let of_pes = Awaited::range(&flags, 1..n + 1);
    assert!(!ctx.test_all(of_pes, Cmp::Ge, 1));
    world.barrier_all();
    (0..n).for_each(|pe| ctx.set(&flags, me + 1, me as i64 + 1, pe));
    let each: Vec<i64> = (1..=n as i64).collect();
    let mut seen = vec![false; n];
    while let Some(pe) = ctx.wait_until_any(of_pes.but(&seen), Cmp::Eq, &each[..]) {
        assert!(!seen[pe]);
        seen[pe] = true;
    }
    assert!(seen.iter().all(|&seen| seen));
    ctx.wait_until_all(of_pes, Cmp::Eq, &each[..]);
    ctx.wait_until_all(of_pes, Cmp::Gt, 0);
    assert_eq!(ctx.wait_until_some(of_pes, Cmp::Gt, 0).len(), n);
    assert_eq!(ctx.wait_until_some(of_pes, Cmp::Eq, Against::One(1)), [0]);
    assert!(
        ctx.wait_until_some(of_pes.but(&seen), Cmp::Gt, 0)
            .is_empty()
    );
    assert!(ctx.test_all(of_pes, Cmp::Eq, &each[..]));
    assert_eq!(
        ctx.test_any(Awaited::of(&flags), Cmp::Eq, n as i64),
        Some(n)
    );
    assert_eq!(ctx.test_any(Awaited::of(&flags), Cmp::Lt, 0), None);
    assert_eq!(ctx.test_some(Awaited::of(&flags), Cmp::Le, 1), [0, 1]);
    assert_eq!(ctx.test_any(Awaited::range(&flags, 0..0), Cmp::Le, 1), None);
    assert!(ctx.test(&flags, 0, Cmp::Eq, 0));
    assert!(!ctx.test(&flags, 0, Cmp::Ne, 0));
    assert_eq!(ctx.wait_until(&flags, 1, Cmp::Ne, 0), 1);
}

symmetric_static! {
    /// Zeros.
    static COUNTERS: [u64; 4];
    static PRIMES: [u32; 3] = [2, 3, 5];
}

/// Tests static data, in place in each session.
fn statics(world: World) {
    let (next, before) = sides(&world);
    let me = world.my_pe();
    let (counters, primes) = (COUNTERS.of(&world), PRIMES.of(&world));
    assert_eq!(primes.to_vec(), [2, 3, 5]);
    let others = COUNTERS.of(&world);
    world.ctx().add(&counters, 1, me as u64 + 1, next);
    world.barrier_all();
    assert_eq!(others.load(1), before as u64 + 1);
    world.barrier_all();
    counters.store(1, 0);
    std::thread::scope(|scope| {
        let ctx = world.create_ctx().expect("a context");
        let primes = &primes;
        scope.spawn(move || assert_eq!(ctx.g(primes, 2, next), 5));
    });
}

/// Tests 9.13: a sum that only the lock keeps right.
fn locks(world: World) {
    let n = world.n_pes();
    let (lock, other) = (world.lock().expect("room"), world.lock().expect("room"));
    let sum: Shared<u64> = world.alloc(1).expect("room");
    for _ in 0..100 {
        let _held = lock.set();
        let value = world.ctx().g(&sum, 0, 0);
        world.ctx().p(&sum, 0, value + 1, 0);
    }
    for done in 0..50 {
        let held = loop {
            if let Some(held) = other.test() {
                break held;
            }
            std::thread::yield_now();
        };
        // The other lock is free, or another PE's.
        assert!(other.test().is_none(), "{done}");
        drop(held);
    }
    world.barrier_all();
    assert_eq!(world.ctx().g(&sum, 0, 0), 100 * n as u64);
    world.barrier_all();
    lock.free();
    other.free();
}

/// Tests 9.9: sessions on the default context and on a created one.
fn sessions(world: World) {
    let created = world.create_ctx().expect("a context");
    let array: Shared<u64> = world.alloc(100).expect("room");
    for ctx in [world.ctx(), &created] {
        let session = ctx.session(Some(100));
        (0..100).for_each(|i| ctx.p(&array, i, i as u64, world.my_pe()));
        drop(session);
        let _another = ctx.session(None);
        ctx.quiet();
        ctx.pe_quiet(&[0, world.n_pes() - 1]);
        assert_eq!(array.load(99), 99);
    }
}
