//! Collective calls that differ among processes: each fails on all of them, and later ones work.
//! Calls behind the end of calls: all fail.

use calls::{Calls, Config, Error, Together, action};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A collective call by its name.
type Collective = (&'static str, fn(&Calls) -> Result<(), Error>);

const COLLECTIVES: [Collective; 3] = [
    ("barrier", Calls::barrier),
    ("settle", Calls::settle),
    ("close", |calls| calls.clone().close()),
];

/// Runs `body` on threads with calls of their own; none may take longer than a minute.
fn among(ranks: u32, config: fn() -> Config, body: fn(&Calls)) {
    let (ends, ended) = mpsc::channel();
    for meeting in Together::of(ranks) {
        let ends = ends.clone();
        thread::spawn(move || {
            let meeting: Option<Box<dyn calls::Meeting>> = Some(Box::new(meeting));
            let config = Config {
                meeting,
                ..config()
            };
            body(&Calls::open_with(config).unwrap());
            ends.send(()).unwrap();
        });
    }
    // Where a thread panics, others may wait for it.
    drop(ends);
    for _ in 0..ranks {
        let end = ended.recv_timeout(Duration::from_secs(60));
        end.expect("a thread panics or waits for ever");
    }
}

/// Checks that a collective call has failed, as another rank has come to another one: `of` has the
/// names of both.
fn is_told(calls: &Calls, failed: Result<(), Error>, of: (&str, &str)) {
    let Err(Error::Differ { own, rank, other }) = failed else {
        panic!("{of:?}: {failed:?}");
    };
    assert_eq!((own, other), of);
    assert!(rank != calls.rank() && rank < calls.ranks());
}

#[action]
fn add(left: u64, right: u64) -> u64 {
    left + right
}

#[action]
fn long(bytes: Vec<u8>) -> usize {
    bytes.len()
}

/// Has each rank in turn call another thing than all others, for all pairs of calls.
fn differ(calls: &Calls) {
    for (all, call) in COLLECTIVES {
        for (one, another) in COLLECTIVES.into_iter().filter(|one| one.0 != all) {
            for odd in 0..calls.ranks() {
                let to = calls.to((calls.rank() + 1) % calls.ranks()).unwrap();
                to.tell(add, (1, 2));
                if calls.rank() == odd {
                    is_told(calls, another(calls), (one, all));
                } else {
                    let failed = call(calls);
                    assert!(matches!(failed, Err(Error::Differ { rank, .. }) if rank == odd));
                    is_told(calls, failed, (all, one));
                }
                // They are in step as before.
                assert_eq!(to.run(add, (2, 3)).wait().unwrap(), 5);
                calls.settle().unwrap();
                calls.barrier().unwrap();
            }
        }
    }
    calls.clone().close().unwrap();
}

#[test]
fn all_processes_are_told_of_one_that_differs() {
    for ranks in [2, 3, 6] {
        among(ranks, Config::default, differ);
    }
}

#[test]
fn the_smallest_rings_have_room_for_differences() {
    let config = || Config {
        ring: 1 << 10,
        ..Config::default()
    };
    among(5, config, differ);
}

#[test]
fn all_kinds_at_once_differ() {
    among(7, Config::default, |calls| {
        let (own, call) = COLLECTIVES[calls.rank() as usize % 3];
        let failed = call(calls);
        let Err(error @ Error::Differ { .. }) = failed else {
            panic!("{failed:?}");
        };
        let text = error.to_string();
        let begin = format!("this process calls {own}, and rank ");
        assert!(text.starts_with(&begin), "{text}");
        calls.clone().close().unwrap();
    });
}

#[test]
fn calls_behind_close_fail() {
    for ranks in [1, 3] {
        among(ranks, Config::default, |calls| {
            let early = calls.to(0).unwrap().run(add, (1, 2));
            calls.clone().close().unwrap();
            assert_eq!(early.wait().unwrap(), 3);
            let is_refused = |failed: Result<(), Error>| {
                assert!(matches!(failed, Err(Error::Closed)), "{failed:?}");
            };
            for rank in 0..calls.ranks() {
                let peer = calls.to(rank).unwrap();
                is_refused(peer.run(add, (2, 3)).wait().map(drop));
                is_refused(peer.run(long, (vec![1; 100_000],)).wait().map(drop));
                peer.tell(add, (2, 3));
                is_refused(calls.wait_all());
                calls.wait_all().unwrap();
                let lent = [1; 100_000];
                let call = calls.scope(|scope| scope.run(rank, long, (&lent[..],)));
                is_refused(call.unwrap().wait().map(drop));
            }
            for (_, call) in COLLECTIVES {
                is_refused(call(calls));
            }
        });
    }
}

#[test]
fn calls_that_close_has_overtaken_end() {
    among(2, Config::default, |calls| {
        let other = calls.to(1 - calls.rank()).unwrap();
        let is_closing = AtomicBool::new(true);
        thread::scope(|threads| {
            threads.spawn(|| {
                // As long as others are made, nobody has closed: not for ever.
                for len in (0..300).map(|number| number % 3 * 50_000) {
                    // ORDERING: it ends some time.
                    if !is_closing.load(Ordering::Relaxed) {
                        return;
                    }
                    let done = other.run(long, (vec![1; len],)).wait();
                    let is_one = matches!(done, Ok(came) if came == len);
                    assert!(is_one || matches!(done, Err(Error::Closed)), "{done:?}");
                }
            });
            let closed = calls.clone().close();
            // ORDERING: it comes some time.
            is_closing.store(false, Ordering::Relaxed);
            closed.unwrap();
        });
        let done = other.run(add, (1, 2)).wait();
        assert!(matches!(done, Err(Error::Closed)), "{done:?}");
    });
}
