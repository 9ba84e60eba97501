//! Calls as futures, and functions that are left for their results.

use super::{Program, next};
use calls::{Calls, action};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

pub(super) const PROGRAMS: &[Program] = &[
    ("by_hand", by_hand),
    ("tokio", in_tokio),
    ("left_behind", left_behind),
];

#[action]
fn twice(mut numbers: Vec<u32>) -> Vec<u32> {
    numbers.iter_mut().for_each(|one| *one *= 2);
    numbers
}

struct Unparks(Thread);

impl Wake for Unparks {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future to its end, only when it was woken.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unparks(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

fn by_hand(calls: &Calls) {
    for len in [0, 5, 2000, 50_000] {
        let numbers: Arc<[u32]> = vec![21; len].into();
        let call = next(calls).run(twice, (Arc::clone(&numbers),));
        block_on(call.sent());
        block_on(call.sent());
        assert_eq!(Arc::strong_count(&numbers), 1, "the call has dropped it");
        assert_eq!(block_on(call.reply()).expect("a result"), vec![42; len]);
        let dropped = next(calls).run(twice, (vec![1; len],));
        drop(dropped.sent());
        drop(dropped);
    }
    calls.wait_all().expect("results");
}

fn in_tokio(calls: &Calls) {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).build().expect("a runtime");
    let tasks: Vec<_> = (0..6_u32)
        .map(|task| {
            let calls = calls.clone();
            runtime.spawn(async move {
                for round in 0..10 {
                    let len = 1 << (round + task % 3);
                    let call = next(&calls).run(twice, (vec![task; len],));
                    call.sent().await;
                    assert_eq!(call.await.expect("a result"), vec![2 * task; len]);
                }
            })
        })
        .collect();
    for task in tasks {
        runtime.block_on(task).expect("a task");
    }
    // Others may not have ended: their calls are run meanwhile.
    calls.barrier().expect("all are there");
}

fn left_behind(calls: &Calls) {
    let called = Arc::new(AtomicU64::new(0));
    for number in 0..200_u32 {
        let called = Arc::clone(&called);
        let call = next(calls).run(twice, (vec![number; (number % 7 * 400) as usize],));
        if number % 3 == 0 {
            while !call.is_ended() {
                calls.poll();
            }
        }
        call.then(move |result| {
            assert!(
                result
                    .expect("a result")
                    .iter()
                    .all(|one| *one == 2 * number)
            );
            called.fetch_add(1, Ordering::Relaxed);
        });
    }
    calls.wait_all().expect("results");
    assert_eq!(called.load(Ordering::Relaxed), 200);
}
