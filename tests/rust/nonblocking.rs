//! Nonblocking operations: in scopes, and as futures.

use super::Program;
use shmem::{Cmp, Ctx, Op, Shared, Signal, World};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

pub(super) const PROGRAMS: &[Program] = &[
    ("scopes", scopes),
    ("scope_panics", scope_panics),
    ("futures", futures),
    ("ops_dropped", ops_dropped),
    ("ops_of_threads", ops_of_threads),
];

const LEN: usize = 5000;

/// Returns the PE after this one.
fn next(world: &World) -> usize {
    (world.my_pe() + 1) % world.n_pes()
}

/// Checks that everything that a scope starts is done behind it.
fn scopes(world: World) {
    let (me, next) = (world.my_pe() as u64, next(&world));
    let array: Shared<u64> = world.alloc(2 * LEN).expect("room");
    let words: Shared<u64> = world.alloc(10).expect("room");
    let created = world.create_ctx().expect("a context");
    for round in 0..20 {
        let ctx: &Ctx = if round % 2 == 0 {
            world.ctx()
        } else {
            &created
        };
        let out: Vec<u64> = (0..LEN as u64).map(|i| i + me + round).collect();
        let mut inward = vec![0; LEN];
        let (mut found, mut old, mut last) = (7, 7, 7);
        ctx.scope(|s| {
            s.put(&array, 0, &out[..LEN / 2], next);
            s.put_signal(
                (&array, LEN / 2),
                &out[LEN / 2..],
                (&words, 0),
                Signal::Set(round + 1),
                next,
            );
        });
        ctx.wait_until(&words, 0, Cmp::Eq, round + 1);
        let before = array.load(0).wrapping_sub(round);
        assert!((0..LEN).all(|i| array.load(i) == i as u64 + before + round));
        let gotten = ctx.scope(|s| {
            s.get(&mut inward, &array, 0, next);
            s.fetch_add(&mut found, &words, 1, 2, next);
            s.compare_swap(&mut old, &words, 2, 0, 5, next);
            s.swap(&mut last, &words, 3, 9, next);
            round
        });
        assert_eq!((inward, gotten), (out, round));
        assert_eq!(
            (found, old, last),
            (
                2 * round,
                [0, 5][usize::from(round > 0)],
                [0, 9][usize::from(round > 0)]
            )
        );
        let mut all = [0; 5];
        let [a, b, c, d, e] = &mut all;
        ctx.scope(|s| {
            s.fetch(a, &words, 1, next);
            s.fetch_inc(b, &words, 4, next);
            s.fetch_and(c, &words, 5, 1, next);
            s.fetch_or(d, &words, 6, 1, next);
            s.fetch_xor(e, &words, 7, 1, next);
        });
        assert_eq!(
            all,
            [2 * round + 2, round, 0, u64::from(round > 0), round % 2]
        );
        world.barrier_all();
    }
}

/// Checks that a scope that panics waits, too.
fn scope_panics(world: World) {
    let next = next(&world);
    let array: Shared<u64> = world.alloc(LEN).expect("room");
    for _ in 0..10 {
        let (out, mut inward) = (vec![1_u64; LEN], vec![0; LEN]);
        let tried = catch_unwind(AssertUnwindSafe(|| {
            world.ctx().scope(|s| {
                s.put(&array, 0, &out, next);
                s.get(&mut inward, &array, 0, next);
                std::panic::resume_unwind(Box::new("of this test"));
            })
        }));
        assert!(tried.is_err());
        drop((out, inward));
    }
    world.barrier_all();
    assert!(array.to_vec().iter().all(|&word| word == 1));
}

/// Counts how often it was woken.
struct Counter(AtomicUsize);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Polls a future until it is ready: each pending one has woken this.
fn block_on<R>(future: impl Future<Output = R>) -> R {
    let counter = Arc::new(Counter(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&counter));
    let mut task = Context::from_waker(&waker);
    let mut future = pin!(future);
    for polls in 0.. {
        if let Poll::Ready(result) = future.as_mut().poll(&mut task) {
            return result;
        }
        assert_eq!(
            counter.0.load(Ordering::Relaxed),
            polls + 1,
            "nobody would poll again"
        );
    }
    unreachable!()
}

/// Runs futures of every kind; also moved, polled once and dropped.
fn futures(world: World) {
    let next = next(&world);
    let array: Shared<u64> = world.alloc(LEN).expect("room");
    let words: Shared<u64> = world.alloc(10).expect("room");
    let created = world.create_ctx().expect("a context");
    for round in 0..20_u64 {
        let ctx: &Ctx = if round % 2 == 0 {
            world.ctx()
        } else {
            &created
        };
        block_on(async {
            let mut out = vec![round; LEN];
            out.reserve(100);
            let put = ctx.put_owned(&array, 0, out, next);
            let ticket = ctx.fetch_inc_nbi(&words, 0, next);
            assert_eq!(put.await, vec![round; LEN]);
            assert_eq!(ticket.await, round);
            let ops = [
                ctx.fetch_nbi(&words, 0, next),
                ctx.swap_nbi(&words, 1, 3, next),
                ctx.compare_swap_nbi(&words, 2, 0, 4, next),
                ctx.fetch_add_nbi(&words, 3, 10, next),
                ctx.fetch_and_nbi(&words, 4, 1, next),
                ctx.fetch_or_nbi(&words, 5, 2, next),
                ctx.fetch_xor_nbi(&words, 6, 1, next),
            ];
            let mut results = Vec::new();
            for op in ops {
                results.push(op.await);
            }
            let later = u64::from(round > 0);
            let expected = [
                round + 1,
                3 * later,
                4 * later,
                10 * round,
                0,
                2 * later,
                round % 2,
            ];
            assert_eq!(results, expected);
            let got = ctx.get_owned(vec![0; LEN], &array, 0, next).await;
            assert_eq!(got, vec![round; LEN]);
        });
        let mut op: Op<Vec<u64>> = ctx.get_owned(vec![0; LEN], &array, 0, next);
        let mut task = Context::from_waker(Waker::noop());
        match Pin::new(&mut op).poll(&mut task) {
            Poll::Ready(got) => assert_eq!(got, vec![round; LEN]),
            Poll::Pending => {
                let moved = Box::new(op);
                assert_eq!(moved.wait(), vec![round; LEN]);
            }
        }
        world.barrier_all();
    }
}

/// Checks that operations that are dropped wait; forgotten ones leak their buffers, which nobody
/// reuses.
fn ops_dropped(world: World) {
    let next = next(&world);
    let mut array: Shared<u64> = world.alloc(LEN).expect("room");
    for round in 0..20 {
        drop(world.ctx().put_owned(&array, 0, vec![round; LEN], next));
        std::mem::forget(world.ctx().get_owned(vec![0; 100], &array, 0, next));
        std::mem::forget(world.ctx().fetch_inc_nbi(&array, LEN - 1, next));
        let created = world.create_ctx().expect("a context");
        std::mem::forget(created.put_owned(&array, 0, vec![round; 100], next));
        let frozen = world.freeze(array);
        assert!(frozen[..LEN - 1].iter().all(|&word| word == round));
        assert_eq!(frozen[LEN - 1], round + 1);
        array = world.share(frozen);
    }
}

/// Lets threads have operations under way at the same time, each on its context.
fn ops_of_threads(world: World) {
    let (n, next) = (world.n_pes(), next(&world));
    let counters: Shared<u64> = world.alloc(4).expect("room");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let ctx = world.create_ctx().expect("a context");
            let counters = &counters;
            scope.spawn(move || {
                for _ in 0..25 {
                    let ops: Vec<_> = (0..8)
                        .map(|_| ctx.fetch_inc_nbi(counters, thread, next))
                        .collect();
                    let found: Vec<u64> = ops.into_iter().map(block_on).collect();
                    assert!(found.is_sorted_by(|a, b| a < b));
                }
            });
        }
    });
    world.barrier_all();
    assert_eq!(counters.to_vec(), [200; 4], "{n} PEs");
    world.barrier_all();
}
