//! Functions that `then` leaves behind, panics whose value panics when it is dropped, and a pool of
//! the program's that panics.

use super::ends::quietly;
use super::{Program, next};
use calls::{Call, Calls, Error, Save, SaveAs, Saver, action};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{OnceLock, mpsc};
use std::task::{Context, Waker};
use std::thread::sleep;
use std::time::Duration;

pub(super) const PROGRAMS: &[Program] = &[
    ("collective_behind_a_call", collective_behind_a_call),
    ("functions_in_functions", functions_in_functions),
    ("left_too_late", left_too_late),
    ("values_of_panics", values_of_panics),
    (
        "scope_behind_values_of_panics",
        scope_behind_values_of_panics,
    ),
    ("pool_panics", pool_panics),
    ("kept_handle", kept_handle),
];

#[action]
fn one_more(number: u64) -> u64 {
    number + 1
}

/// Checks that a function which is left for a result counts as an action: waits for all calls, of
/// which its own is one, are refused.
fn collective_behind_a_call(calls: &Calls) {
    let (refusals, refused) = mpsc::channel();
    let inner = calls.clone();
    next(calls).run(one_more, (1,)).then(move |_| {
        let waits = [inner.wait_all(), inner.barrier(), inner.settle()];
        refusals.send(waits).expect("the program waits");
    });
    calls.wait_all().expect("no failure");
    let refused = refused.try_recv().expect("the function was called");
    let is_nested = |wait: &Result<(), Error>| matches!(wait, Err(Error::Nested(1)));
    assert!(refused.iter().all(is_nested), "{refused:?}");
    calls.barrier().expect("all are there");
}

/// Checks that functions which wait within each other are no more than actions may be.
fn functions_in_functions(calls: &Calls) {
    thread_local! {
        static DEPTH: Cell<usize> = const { Cell::new(0) };
    }
    let (depths, told) = mpsc::channel();
    for _ in 0..500 {
        let (inner, depths) = (calls.clone(), depths.clone());
        next(calls).run(one_more, (1,)).then(move |_| {
            DEPTH.set(DEPTH.get() + 1);
            let waited = next(&inner).run(one_more, (1,)).wait();
            assert!(
                matches!(waited, Ok(2) | Err(Error::Nested(64 | 65))),
                "{waited:?}"
            );
            inner.poll();
            depths.send(DEPTH.get()).expect("the program looks later");
            DEPTH.set(DEPTH.get() - 1);
        });
    }
    calls.wait_all().expect("no failure");
    drop(depths);
    let deepest = told.iter().max().expect("functions were called");
    assert!(deepest <= 65, "{deepest} functions, each in another one");
    calls.barrier().expect("all are there");
}

/// Checks that a function is not left for a result that a poll has returned.
fn left_too_late(calls: &Calls) {
    let mut call = next(calls).run(one_more, (1,));
    let mut context = Context::from_waker(Waker::noop());
    while pin!(&mut call).poll(&mut context).is_pending() {}
    let left = quietly(|| catch_unwind(AssertUnwindSafe(|| call.then(|_| unreachable!()))));
    assert!(left.is_err());
}

/// A value that panics as it is dropped, but not while another panic goes on.
struct Falls;

impl Drop for Falls {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "a value of a panic");
    }
}

#[action]
fn fall_with_a_value() {
    panic_any(Falls);
}

/// Checks that other calls of a message run, where the value of an action's panic panics in turn.
fn values_of_panics(calls: &Calls) {
    let to = next(calls);
    quietly(|| {
        let falls: Vec<Call<()>> = (0..3).map(|_| to.run(fall_with_a_value, ())).collect();
        let others: Vec<Call<u64>> = (0..10).map(|number| to.run(one_more, (number,))).collect();
        for call in falls {
            let failed = call.wait();
            assert!(matches!(failed, Err(Error::Panicked { .. })), "{failed:?}");
        }
        for (number, call) in (1..).zip(others) {
            assert_eq!(call.wait().expect("a result"), number);
        }
        calls.barrier().expect("all are there");
    });
}

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

/// Numbers that a scope lends, which tell where they are dropped behind its end.
struct Lent<'a>(&'a [u64]);

/// Whether the scope has ended, and whether something that it lent was dropped later.
static IS_OVER: AtomicBool = AtomicBool::new(false);
static WAS_LATE: AtomicBool = AtomicBool::new(false);

impl Save for Lent<'_> {
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        self.0.save(to);
    }
}

impl SaveAs<Vec<u64>> for Lent<'_> {}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // ORDERING: the thread of the scope polls, or waits for the one that does.
        if IS_OVER.load(Ordering::Relaxed) {
            WAS_LATE.store(true, Ordering::Relaxed);
        }
    }
}

/// Checks that a scope waits for lent arguments behind panics whose values panic in turn.
fn scope_behind_values_of_panics(calls: &Calls) {
    // ORDERING: of one thread.
    IS_OVER.store(false, Ordering::Relaxed);
    let numbers = vec![1_u64; 60_000];
    let rank = (calls.rank() + 1) % calls.ranks();
    calls.barrier().expect("all are there");
    if calls.rank() % 2 == 1 {
        // Meanwhile the arguments of the rank before are lent, and its functions panic.
        sleep(Duration::from_millis(100));
    }
    let mut lent = None;
    quietly(|| {
        let fell = catch_unwind(AssertUnwindSafe(|| {
            calls.scope(|scope| {
                for _ in 0..3 {
                    let call = calls.to(calls.rank()).expect("a rank").run(one_more, (1,));
                    call.then(|_| panic_any(Falls));
                }
                let call = scope.run(rank, sum, (Lent(&numbers),));
                lent = Some(call.expect("a rank"));
            });
        }));
        // ORDERING: as above.
        IS_OVER.store(true, Ordering::Relaxed);
        std::mem::forget(fell);
        // Functions that were left behind may panic here.
        while let Err(panic) = catch_unwind(AssertUnwindSafe(|| calls.wait_all())) {
            std::mem::forget(panic);
        }
        let lent = lent.take().expect("it was made");
        assert_eq!(lent.wait().expect("a result"), 60_000);
        // ORDERING: as above.
        assert!(!WAS_LATE.load(Ordering::Relaxed), "the scope had ended");
        calls.barrier().expect("all are there");
    });
}

/// Calls that the pool of the configuration "falls" has taken.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Runs work, but panics at the third.
pub(super) fn fall_at_the_third(work: calls::Work) {
    // ORDERING: a number.
    assert_ne!(TAKEN.fetch_add(1, Ordering::Relaxed), 2, "the pool");
    work();
}

/// Checks that a pool which panics fails the call that it was to run, and no other one.
fn pool_panics(calls: &Calls) {
    quietly(|| {
        let to = next(calls);
        let made: Vec<Call<u64>> = (0..10).map(|number| to.run(one_more, (number,))).collect();
        // The panic comes out of a poll.
        while catch_unwind(AssertUnwindSafe(|| calls.wait_all())).is_err() {}
        let results: Vec<_> = made.into_iter().map(Call::wait).collect();
        let refused = results.iter().filter(|result| result.is_err()).count();
        assert_eq!(refused, 1, "{results:?}");
        while catch_unwind(AssertUnwindSafe(|| calls.barrier())).is_err() {}
    });
}

/// Keeps a handle to the end of the process, which has left the job by `Calls::close` all the same.
fn kept_handle(calls: &Calls) {
    static KEPT: OnceLock<Calls> = OnceLock::new();
    KEPT.get_or_init(|| calls.clone());
}
