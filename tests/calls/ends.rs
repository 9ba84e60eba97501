//! Failures: of actions, of arguments and results, of functions of the program's.

use super::{Program, next};
use calls::archive::Serde;
use calls::{Calls, Error, Here, Load, LoadError, Loader, Save, Saver, action};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub(super) const PROGRAMS: &[Program] = &[
    ("panics", panics),
    ("panic_behind_a_wait", panic_behind_a_wait),
    ("values_that_panic", values_that_panic),
    ("scope_panics", scope_panics),
    ("collective_in_an_action", collective_in_an_action),
    ("differing_collectives", differing_collectives),
];

#[action]
fn fall(why: String) -> u64 {
    panic!("{why}");
}

/// Runs `act` without the message of its panics.
pub(super) fn quietly<T>(act: impl FnOnce() -> T) -> T {
    std::panic::set_hook(Box::new(|_| {}));
    let value = act();
    // The last one that sets it has done with it: others are of later programs.
    let _ = std::panic::take_hook();
    value
}

fn panics(calls: &Calls) {
    let to = next(calls);
    quietly(|| {
        for why in ["short".to_owned(), "long ".repeat(5000)] {
            let failed = to.run(fall, (why.clone(),)).wait();
            let Err(Error::Panicked { rank, message }) = failed else {
                panic!("{failed:?}");
            };
            assert_eq!(rank, (calls.rank() + 1) % calls.ranks());
            let (_, said) = message
                .split_once("fall: ")
                .expect("the name of the action");
            assert!(why.starts_with(said) && !said.is_empty());
        }
        to.tell(fall, ("told",));
        assert!(matches!(calls.wait_all(), Err(Error::Panicked { .. })));
        calls.wait_all().expect("it was told once");
        let call = to.run(fall, ("as a future",));
        call.then(|failed| assert!(matches!(failed, Err(Error::Panicked { .. }))));
        calls.wait_all().expect("the other one was told");
        let none = calls.to(calls.ranks());
        assert!(matches!(none, Err(Error::NoSuchRank { .. })));
        calls.barrier().expect("all are there");
    });
}

#[action]
fn one_more(number: u64) -> u64 {
    number + 1
}

/// Waits, while other calls of the same message run, and panics.
#[action]
fn fall_late(here: &Here) -> u64 {
    let source = here.calls().to(here.source()).expect("it has called");
    let number = source.run(one_more, (1,)).wait().expect("a reply");
    panic!("behind {number}");
}

fn panic_behind_a_wait(calls: &Calls) {
    let to = next(calls);
    quietly(|| {
        let falls = to.run(fall_late, ());
        let others: Vec<_> = (0..20).map(|number| to.run(one_more, (number,))).collect();
        let told = falls.wait();
        let Err(Error::Panicked { message, .. }) = &told else {
            panic!("{told:?}");
        };
        assert!(message.ends_with("fall_late: behind 2"), "{message}");
        for (other, number) in others.into_iter().zip(1..) {
            assert_eq!(other.wait().expect("a reply"), number);
        }
        calls.barrier().expect("all are there");
    });
}

/// A value that panics as it is saved, and one that panics as it is loaded.
#[derive(Debug)]
struct Unsaved;
#[derive(Debug)]
struct Unloaded;

impl Save for Unsaved {
    fn save<'a>(&'a self, _: &mut Saver<'a>) {
        panic!("it is not saved");
    }
}

impl Load for Unsaved {
    fn load(_: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        Ok(Self)
    }
}

impl Save for Unloaded {
    fn save<'a>(&'a self, _: &mut Saver<'a>) {}
}

impl Load for Unloaded {
    fn load(_: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        panic!("it is not loaded");
    }
}

#[action]
fn unsaved() -> Unsaved {
    Unsaved
}

#[action]
fn unloaded() -> Unloaded {
    Unloaded
}

#[action]
fn take_unsaved(_value: Unsaved) {}

#[action]
fn take_unloaded(_value: Unloaded) {}

#[action]
fn text(value: Serde<String>) -> usize {
    value.0.len()
}

fn values_that_panic(calls: &Calls) {
    let to = next(calls);
    quietly(|| {
        let failed = to.run(unsaved, ()).wait();
        assert!(matches!(failed, Err(Error::Panicked { .. })), "{failed:?}");
        let failed = to.run(unloaded, ()).wait();
        assert!(matches!(failed, Err(Error::Refused { .. })), "{failed:?}");
        let failed = to.run(take_unloaded, (Unloaded,)).wait();
        assert!(matches!(failed, Err(Error::Panicked { .. })), "{failed:?}");
        // The caller's own panic: no call was made.
        let fell = catch_unwind(AssertUnwindSafe(|| to.run(take_unsaved, (Unsaved,))));
        assert!(fell.is_err());
        calls.wait_all().expect("no other failure");
        // A panic of a function that is left for the result comes out of any poll: the call has ended.
        to.run(text, (Serde("abc".to_owned()),))
            .then(|_| panic!("left behind"));
        while catch_unwind(AssertUnwindSafe(|| calls.wait_all())).is_err() {}
        calls.wait_all().expect("no other failure");
        calls.barrier().expect("all are there");
    });
}

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

/// Checks that lent arguments stay until they were sent, also where the scope or a function panics.
fn scope_panics(calls: &Calls) {
    let rank = (calls.rank() + 1) % calls.ranks();
    quietly(|| {
        for round in 0..6 {
            let mut numbers = vec![1_u64; 60_000];
            let kept = Mutex::new(Vec::new());
            let fell = catch_unwind(AssertUnwindSafe(|| {
                calls.scope(|scope| {
                    for _ in 0..4 {
                        let call = scope.run(rank, sum, (&numbers[..],));
                        kept.lock().expect("no panic").push(call.expect("a rank"));
                    }
                    if round % 3 == 1 {
                        let call = scope.run(rank, sum, (&numbers[..10],));
                        call.expect("a rank").then(|_| panic!("left behind"));
                    }
                    if round % 3 == 2 {
                        panic!("in the scope");
                    }
                });
            }));
            assert!(fell.is_err() || round % 3 != 2);
            numbers.fill(1000);
            for call in kept.into_inner().expect("no panic") {
                loop {
                    // A function that was left behind may panic here.
                    if catch_unwind(AssertUnwindSafe(|| call.wait_sent())).is_ok() {
                        break;
                    }
                }
                while !call.is_ended() {
                    let _ = catch_unwind(AssertUnwindSafe(|| calls.poll()));
                }
                assert_eq!(call.wait().expect("a result"), 60_000);
            }
            while catch_unwind(AssertUnwindSafe(|| calls.wait_all())).is_err() {}
        }
        calls.barrier().expect("all are there");
    });
}

#[action]
fn collects(here: &Here) -> [bool; 3] {
    let calls = here.calls();
    [calls.settle(), calls.barrier(), calls.wait_all()]
        .map(|done| matches!(done, Err(Error::Nested(1..))))
}

fn collective_in_an_action(calls: &Calls) {
    let refused = next(calls).run(collects, ()).wait().expect("a result");
    assert_eq!(refused, [true; 3]);
}

/// A collective call by its name.
type Collective = (&'static str, fn(&Calls) -> Result<(), Error>);

/// Checks that all processes are told where one of them has come to another collective call.
fn differing_collectives(calls: &Calls) {
    let all: [Collective; 3] = [
        ("barrier", Calls::barrier),
        ("settle", Calls::settle),
        ("close", |calls| calls.clone().close()),
    ];
    let (me, odd) = (calls.rank(), calls.ranks() - 1);
    if odd == 0 {
        return;
    }
    for (one, another) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        let mine = if me == odd { one } else { another };
        let failed = all[mine].1(calls);
        let Err(Error::Differ { own, rank, other }) = failed else {
            panic!("{failed:?}");
        };
        assert_eq!(own, all[mine].0);
        assert_eq!(other, all[one + another - mine].0);
        assert_eq!(rank == odd, me != odd, "{rank}");
        // They are in step as before.
        assert_eq!(next(calls).run(one_more, (1,)).wait().expect("a result"), 2);
    }
}

/// Calls of a farewell, and bytes of each.
const TOLD: u64 = 1000;

/// Bytes that have come.
static COME: AtomicU64 = AtomicU64::new(0);

#[action]
fn come(bytes: Vec<u8>) {
    // ORDERING: a number.
    COME.fetch_add(bytes.len() as u64, Ordering::Relaxed);
}

/// Makes calls and drops the last handle at once, on rank 0: they come all the same.
pub(super) fn farewell(calls: Calls) {
    let to = next(&calls);
    if calls.rank() == 0 {
        (0..TOLD).for_each(|_| to.tell(come, (vec![1; TOLD as usize],)));
        return;
    }
    let begin = Instant::now();
    // ORDERING: a number.
    while COME.load(Ordering::Relaxed) < TOLD * TOLD {
        calls.poll();
        assert!(begin.elapsed() < Duration::from_secs(10), "{COME:?} bytes");
    }
}

/// Closes, and checks that calls by another handle fail then.
pub(super) fn closed(calls: Calls) {
    let behind = calls.clone();
    calls.close().expect("all are there");
    let is_closed = |failed: Result<(), Error>| {
        assert!(matches!(failed, Err(Error::Closed)), "{failed:?}");
    };
    let ranks = 0..behind.ranks();
    let late = behind.to_each(ranks, sum, (vec![1; 100_000],));
    for failed in late.expect("the ranks are there") {
        is_closed(failed.wait().map(drop));
    }
    next(&behind).tell(fall, ("it does not",));
    is_closed(behind.wait_all());
    is_closed(behind.barrier());
    is_closed(behind.settle());
    is_closed(behind.close());
}
