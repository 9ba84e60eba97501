//! A `World` beside other people's threads: a pool of rayon, and tokio.

use super::Program;
use rayon::prelude::*;
use shmem::{Shared, World};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub(super) const PROGRAMS: &[Program] = &[
    ("rayon", in_rayon),
    ("tokio_tasks", in_tokio),
    ("leaked_to_tokio", leaked_to_tokio),
];

/// The program that begins without a `World`: [`begin_in_rayon`].
pub(super) const POOLED: &str = "rayon_first";

/// A static that a pool's threads write while the library starts, which moves it.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// Begins with a pool at work, whose one thread then initialises.
pub(super) fn begin_in_rayon() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
    let pool = pool.expect("a pool");
    let stop = AtomicBool::new(false);
    let mut written = 0;
    pool.in_place_scope(|scope| {
        let (tell, has_begun) = std::sync::mpsc::channel();
        let (stop, written) = (&stop, &mut written);
        scope.spawn(move |_| {
            tell.send(()).expect("the thread that waits");
            // Calls nothing with a large frame: where a thread is held at its beginning, valgrind 3.19
            // now and then takes its stack for memory that is not the thread's.
            while !stop.load(Ordering::Relaxed) {
                WRITTEN.fetch_add(1, Ordering::Relaxed);
                *written += 1;
            }
        });
        has_begun.recv().expect("a thread that writes");
        scope.spawn(move |_| {
            let world = World::init().expect("a job");
            stop.store(true, Ordering::Relaxed);
            in_rayon(world);
        });
    });
    assert_eq!(WRITTEN.load(Ordering::Relaxed), written);
}

/// Gives threads of a pool a context each; they share an array.
fn in_rayon(world: World) {
    let (me, n) = (world.my_pe(), world.n_pes());
    let array: Shared<u64> = world.alloc(1000).expect("room");
    let sums: Shared<u64> = world.alloc(1).expect("room");
    for round in 0..5 {
        let contexts: Vec<_> = (0..8)
            .map(|_| world.create_ctx().expect("a context"))
            .collect();
        let contexts: Vec<_> = contexts
            .into_par_iter()
            .enumerate()
            .map(|(part, ctx)| {
                let next = (me + 1) % n;
                for index in (part..1000).step_by(8) {
                    ctx.p(&array, index, (index + round) as u64, next);
                    ctx.add(&sums, 0, 1, next);
                }
                ctx
            })
            .collect();
        drop(contexts);
        world.barrier_all();
        let right = (0..1000)
            .into_par_iter()
            .all(|i| array.load(i) == (i + round) as u64);
        assert!(right && sums.load(0) == 1000 * (round as u64 + 1));
        world.barrier_all();
    }
    let frozen = world.freeze(array);
    let sum: u64 = frozen.par_iter().sum();
    assert_eq!(sum, (0..1000).map(|i| i + 4).sum());
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).build().expect("a runtime")
}

/// Awaits operations in the future that tokio blocks on, beside its own tasks.
fn in_tokio(world: World) {
    drop(world);
    let runtime = runtime();
    let beside = runtime.spawn(async {
        let mut yields = 0;
        for _ in 0..1000 {
            tokio::task::yield_now().await;
            yields += 1;
        }
        yields
    });
    runtime.block_on(async {
        let world = World::init().expect("a session of its own");
        let next = (world.my_pe() + 1) % world.n_pes();
        let array: Shared<u64> = world.alloc(300).expect("room");
        for round in 0..20 {
            let ctx = world.ctx();
            let put = ctx.put_owned(&array, 0, vec![round; 300], next);
            assert_eq!(put.await.len(), 300);
            let got = ctx.get_owned(vec![0; 300], &array, 0, next).await;
            assert_eq!(got, [round; 300]);
            assert_eq!(ctx.fetch_nbi(&array, 7, next).await, round);
            world.barrier_all();
        }
    });
    assert_eq!(runtime.block_on(beside).expect("a task"), 1000);
}

/// Checks that a `World` that is leaked has contexts for tasks of any thread; the end of the
/// program finalises behind them.
fn leaked_to_tokio(world: World) {
    let world: &'static World = Box::leak(Box::new(world));
    let (me, n) = (world.my_pe(), world.n_pes());
    let counters: &'static Shared<'static, u64> =
        Box::leak(Box::new(world.alloc(4).expect("room")));
    let runtime = runtime();
    let tasks: Vec<_> = (0..4)
        .map(|task| {
            let ctx = world.create_ctx().expect("a context");
            runtime.spawn_blocking(move || {
                (0..100).for_each(|_| ctx.inc(counters, task, (me + 1) % n));
            })
        })
        .collect();
    for task in tasks {
        runtime.block_on(task).expect("a task");
    }
    world.barrier_all();
    assert_eq!(counters.to_vec(), [100; 4]);
    world.barrier_all();
}
