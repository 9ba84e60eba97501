//! The state of a call, which threads share, under the loom model checker: every interleaving of
//! two threads, with the C11 memory model.
//!
//! The modules are those of the crate `calls`, which is not compiled for the model checker as a
//! whole.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --release -p calls-models`.

#![cfg(all(loom, test))]

#[path = "../../src/call/state.rs"]
mod state;
#[path = "../../src/sync.rs"]
mod sync;

use loom::sync::atomic::AtomicUsize;
use loom::thread;
use state::{ENDED, SENT, State};
use std::sync::Arc;
use std::task::{Wake, Waker};
use sync::Ordering;

/// Calls a function, as the library does within a poll.
fn nested<T>(run: impl FnOnce() -> T) -> T {
    run()
}

/// Counts how often it was woken.
struct Counts(AtomicUsize);

impl Wake for Counts {
    fn wake(self: Arc<Self>) {
        // ORDERING: a number.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn waker() -> (Arc<Counts>, Waker) {
    let counts = Arc::new(Counts(AtomicUsize::new(0)));
    (Arc::clone(&counts), Waker::from(counts))
}

/// Ends a call on another thread.
fn end(state: &Arc<State<u32>>) -> thread::JoinHandle<()> {
    let state = Arc::clone(state);
    thread::spawn(move || {
        state.reach(SENT, None);
        state.reach(ENDED, Some(7));
    })
}

/// A poll that finds nothing is followed by a wake-up, for each bit.
#[test]
fn no_waker_is_lost() {
    loom::model(|| {
        let state = Arc::new(State::new());
        let other = end(&state);
        let wakers = [SENT, ENDED].map(|bit| {
            let (counts, waker) = waker();
            (state.poll(bit, &waker), counts)
        });
        other.join().unwrap();
        for (is_there, counts) in wakers {
            // ORDERING: behind the end of the other thread.
            let woken = counts.0.load(Ordering::Relaxed);
            assert_eq!(woken, usize::from(!is_there));
        }
        assert_eq!(state.take(), Some(7));
        assert!(state.take().is_none());
    });
}

/// Where the end is seen the result is there, and one of two threads has it.
#[test]
fn a_result_is_taken_once() {
    loom::model(|| {
        let state = Arc::new(State::new());
        let other = end(&state);
        let taker = Arc::clone(&state);
        let taker = thread::spawn(move || {
            let is_ended = taker.is(ENDED);
            let taken = taker.take();
            assert!(!is_ended || taken.is_some());
            taken.is_some()
        });
        other.join().unwrap();
        let was_taken = taker.join().unwrap();
        assert_ne!(state.take().is_some(), was_taken);
    });
}

/// A function that is left is called once, with the result.
#[test]
fn a_function_is_called_once() {
    loom::model(|| {
        let state = Arc::new(State::new());
        let other = end(&state);
        let called = Arc::new(AtomicUsize::new(0));
        let calls = Arc::clone(&called);
        state.leave(Box::new(move |result| {
            assert_eq!(result, 7);
            // ORDERING: a number.
            calls.fetch_add(1, Ordering::Relaxed);
        }));
        other.join().unwrap();
        // ORDERING: behind the end of the other thread.
        assert_eq!(called.load(Ordering::Relaxed), 1);
    });
}
