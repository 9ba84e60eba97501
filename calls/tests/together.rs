//! Calls among threads that take part as if they were processes.

use calls::{Calls, Config, Error, Here, RmaBox, RmaVec, SharedSlice, Together, action};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs `body` on threads with calls of their own.
fn among(ranks: u32, config: fn() -> Config, body: impl Fn(&Calls) + Sync) {
    std::thread::scope(|threads| {
        for meeting in Together::of(ranks) {
            let body = &body;
            threads.spawn(move || {
                let meeting: Option<Box<dyn calls::Meeting>> = Some(Box::new(meeting));
                let config = Config {
                    meeting,
                    ..config()
                };
                let calls = Calls::open_with(config).unwrap();
                body(&calls);
                let closed = calls.close();
                // A body may have closed them by another handle.
                assert!(matches!(closed, Ok(()) | Err(Error::Closed)), "{closed:?}");
            });
        }
    });
}

#[action]
fn add(left: u64, right: u64) -> u64 {
    left + right
}

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

#[action]
fn doubled(mut numbers: RmaVec<f64>) -> RmaVec<f64> {
    numbers
        .get_mut()
        .unwrap()
        .iter_mut()
        .for_each(|one| *one *= 2.0);
    numbers
}

#[action]
fn text_of(here: &Here, text: String, times: Option<u32>) -> Result<String, String> {
    match times {
        Some(times) => Ok(text.repeat(times as usize)),
        None => Err(format!(
            "rank {} says no to {}",
            here.calls().rank(),
            here.source()
        )),
    }
}

#[action]
fn fall(why: String) {
    panic!("{why}");
}

#[test]
fn results_come_back() {
    among(3, Config::default, |calls| {
        for rank in 0..3 {
            let peer = calls.to(rank).unwrap();
            assert_eq!(peer.run(add, (2, 3)).wait().unwrap(), 5);
            let text = peer.run(text_of, ("ab", Some(3))).wait().unwrap();
            assert_eq!(text, Ok("ababab".to_owned()));
            let text = peer.run(text_of, ("ab".to_owned(), None)).wait().unwrap();
            assert_eq!(
                text,
                Err(format!("rank {rank} says no to {}", calls.rank()))
            );
        }
        assert!(matches!(
            calls.to(3),
            Err(Error::NoSuchRank { rank: 3, ranks: 3 })
        ));
    });
}

#[test]
fn panics_come_back() {
    among(2, Config::default, |calls| {
        let other = calls.to(1 - calls.rank()).unwrap();
        let failed = other.run(fall, ("so it is",)).wait();
        let Err(Error::Panicked { rank, message }) = failed else {
            panic!("{failed:?}");
        };
        assert_eq!(rank, 1 - calls.rank());
        assert!(message.ends_with("fall: so it is"), "{message}");
        other.tell(fall, ("twice",));
        assert!(matches!(calls.wait_all(), Err(Error::Panicked { .. })));
        calls.wait_all().unwrap();
    });
}

#[test]
fn long_arguments_travel() {
    among(2, Config::default, |calls| {
        for len in [0, 1, 511, 512, 513, 2000, 100_000] {
            let numbers: Vec<u64> = (0..len).collect();
            let wanted: u64 = numbers.iter().sum();
            let other = calls.to(1 - calls.rank()).unwrap();
            let shared: Arc<[u64]> = numbers.clone().into();
            let slice = SharedSlice::from(numbers.clone());
            let both = [
                other.run(sum, (shared,)),
                other.run(sum, (slice.clone(),)),
                calls
                    .scope(|scope| scope.run(1 - calls.rank(), sum, (&*numbers,)))
                    .unwrap(),
                other.run(sum, (numbers,)),
            ];
            for call in both {
                call.wait_sent().unwrap();
                assert_eq!(call.wait().unwrap(), wanted);
            }
            assert_eq!(
                other
                    .run(sum, (slice.slice(0..slice.len() / 2),))
                    .wait()
                    .unwrap(),
                (0..len / 2).sum()
            );
        }
    });
}

#[test]
fn registered_vectors_travel() {
    among(2, Config::default, |calls| {
        let other = calls.to(1 - calls.rank()).unwrap();
        for len in [0, 3, 600, 1 << 20] {
            let numbers = calls.rma_vec(&vec![1.5; len]).unwrap();
            let back = other.run(doubled, (numbers.clone(),)).wait().unwrap();
            assert!(back.len() == len && back.iter().all(|one| *one == 3.0));
            assert!(numbers.iter().all(|one| *one == 1.5));
        }
    });
}

#[action]
fn corner(tile: RmaBox<[[f32; 64]; 64]>) -> f32 {
    tile[63][63]
}

#[test]
fn registered_values_travel() {
    among(2, Config::default, |calls| {
        let mut tile = calls.rma_box([[0.0_f32; 64]; 64]).unwrap();
        tile.get_mut().unwrap()[63][63] = 7.0;
        let other = calls.to(1 - calls.rank()).unwrap();
        assert_eq!(other.run(corner, (tile,)).wait().unwrap(), 7.0);
    });
}

static TOLD: AtomicU64 = AtomicU64::new(0);

#[action]
fn tell_on(here: &Here, hops: u32) {
    TOLD.fetch_add(1, Ordering::Relaxed);
    if hops > 0 {
        let calls = here.calls();
        for next in 0..2 {
            let to = (calls.rank() + 1 + next) % calls.ranks();
            calls.to(to).unwrap().tell(tell_on, (hops - 1,));
        }
    }
}

#[test]
fn calls_by_calls_settle() {
    among(4, Config::default, |calls| {
        for round in 1..5 {
            if calls.rank() == 0 {
                calls.to(1).unwrap().tell(tell_on, (10,));
            }
            calls.settle().unwrap();
            assert_eq!(TOLD.load(Ordering::Relaxed), round * 2047);
            calls.barrier().unwrap();
        }
    });
}

#[action]
fn fibonacci(here: &Here, number: u32) -> u64 {
    if number < 2 {
        return number.into();
    }
    let calls = here.calls();
    let next = |add| calls.to((calls.rank() + add) % calls.ranks()).unwrap();
    let first = next(1).run(fibonacci, (number - 1,));
    let second = next(2).run(fibonacci, (number - 2,));
    first.wait().unwrap() + second.wait().unwrap()
}

#[test]
fn actions_wait_for_others() {
    among(
        3,
        || Config {
            nested: 1000,
            ..Config::default()
        },
        |calls| {
            if calls.rank() == 0 {
                assert_eq!(
                    calls.to(1).unwrap().run(fibonacci, (12,)).wait().unwrap(),
                    144
                );
            }
        },
    );
}

#[test]
fn the_smallest_rings_do_not_deadlock() {
    let config = || Config {
        ring: 1 << 10,
        together: 3,
        backlog: 1,
        waiting: 1 << 10,
        ..Config::default()
    };
    among(3, config, |calls| {
        let mut waiting = Vec::new();
        for number in 0..2000_u64 {
            let to = calls.to((number % 3) as u32).unwrap();
            waiting.push((number, to.run(add, (number, 1))));
            to.tell(sum, (vec![number; (number % 40) as usize],));
        }
        for (number, call) in waiting {
            assert_eq!(call.wait().unwrap(), number + 1);
        }
        calls.wait_all().unwrap();
    });
}

#[test]
fn threads_share_calls() {
    among(2, Config::default, |calls| {
        std::thread::scope(|threads| {
            for thread in 0..4_u64 {
                threads.spawn(move || {
                    for number in 0..500 {
                        let to = calls.to((number % 2) as u32).unwrap();
                        let back = to.run(add, (number, thread)).wait().unwrap();
                        assert_eq!(back, number + thread);
                    }
                });
            }
        });
    });
}

#[test]
fn many_are_called_at_once() {
    among(3, Config::default, |calls| {
        let numbers = SharedSlice::from(vec![1_u64; 50_000]);
        for call in calls.to_each(0..3, sum, (numbers,)).unwrap() {
            assert_eq!(call.wait().unwrap(), 50_000);
        }
        let all = calls.rma_vec(&[2.0_f64; 10_000]).unwrap();
        for call in calls.to_each(0..3, doubled, (all,)).unwrap() {
            assert_eq!(call.wait().unwrap()[9999], 4.0);
        }
    });
}

#[test]
fn a_pool_runs_actions() {
    let config = || Config {
        pool: Some(Arc::new(|work| {
            std::thread::spawn(work);
        })),
        ..Config::default()
    };
    among(2, config, |calls| {
        let other = calls.to(1 - calls.rank()).unwrap();
        let all: Vec<_> = (0..50).map(|number| other.run(add, (number, 1))).collect();
        for (number, call) in (0..).zip(all) {
            assert_eq!(call.wait().unwrap(), number + 1);
        }
    });
}

/// Has rank 1 leave while it has a call to run; `act` until rank 0 knows, at most so many times.
fn find_gone(most: u64, act: impl Fn(&Calls)) {
    let (leave, is_to_leave) = std::sync::mpsc::channel::<()>();
    let mut meetings = Together::of(2).into_iter().map(|meeting| Config {
        meeting: Some(Box::new(meeting)),
        ..Config::default()
    });
    let [first, second] = [meetings.next().unwrap(), meetings.next().unwrap()];
    std::thread::scope(|threads| {
        // It never polls.
        threads.spawn(move || {
            let calls = Calls::open_with(second).unwrap();
            is_to_leave.recv().unwrap();
            drop(calls);
        });
        let calls = Calls::open_with(first).unwrap();
        let call = calls.to(1).unwrap().run(add, (1, 2));
        calls.poll();
        leave.send(()).unwrap();
        let times = (0..most).take_while(|_| !call.is_ended());
        times.for_each(|_| act(&calls));
        assert!(call.is_ended());
        assert!(matches!(call.wait(), Err(Error::Gone { rank: 1 })));
    });
}

#[test]
fn a_process_that_always_has_work_learns_who_is_gone() {
    // Each turn finds something: the call, or its reply.
    find_gone(2_000_000, |calls| {
        assert_eq!(calls.to(0).unwrap().run(add, (2, 3)).wait().unwrap(), 5);
    });
}

#[test]
fn a_process_that_polls_seldom_learns_who_is_gone() {
    find_gone(500, |calls| {
        calls.poll();
        std::thread::sleep(std::time::Duration::from_millis(3));
    });
}

#[test]
fn a_panic_leaves_no_collective_call_midway() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    static ROUNDS: AtomicU64 = AtomicU64::new(0);
    among(3, Config::default, |calls| {
        for round in 1..=20 {
            let falls = u64::from(calls.rank()) == round % 4;
            if falls {
                let to = calls.to((calls.rank() + 1) % 3).unwrap();
                to.run(add, (1, 2)).then(|_| panic!("left behind"));
            }
            let settled = catch_unwind(AssertUnwindSafe(|| calls.settle()));
            assert_eq!(settled.is_err(), falls);
            // Each barrier is of the same round on all ranks.
            calls.barrier().unwrap();
            ROUNDS.fetch_max(round, Ordering::Relaxed);
            assert_eq!(ROUNDS.load(Ordering::Relaxed), round);
            calls.barrier().unwrap();
        }
        if calls.rank() == 1 {
            let to = calls.to(2).unwrap();
            to.run(add, (1, 2)).then(|_| panic!("left behind"));
        }
        let closes = AssertUnwindSafe(|| calls.clone().close());
        assert_eq!(catch_unwind(closes).is_err(), calls.rank() == 1);
    });
}

/// Polls a future until it is ready.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    use std::task::{Context, Poll, Waker};
    let mut future = std::pin::pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

#[action]
fn awaits(here: &Here, depth: u32) -> Result<u64, String> {
    let calls = here.calls();
    let to = calls.to(calls.rank()).unwrap();
    let sum = match depth {
        0 => block_on(to.run(add, (2, 3))),
        _ => return block_on(to.run(awaits, (depth - 1,))).unwrap_or_else(|e| Err(e.to_string())),
    };
    sum.map_err(|error| error.to_string())
}

#[test]
fn futures_of_too_deep_actions_fail() {
    let config = Config {
        nested: 3,
        ..Config::default()
    };
    let calls = Calls::alone_with(config).unwrap();
    for depth in 0..5 {
        let sum = calls.to(0).unwrap().run(awaits, (depth,)).wait().unwrap();
        assert_eq!(sum.is_ok(), depth < 2, "{depth}: {sum:?}");
    }
}

#[test]
fn settings_without_sense_are_refused() {
    let default = Config::default;
    let of = |config| match Calls::alone_with(config) {
        Err(Error::Setting(text)) => Some(text),
        other => other.map(|_| None).unwrap(),
    };
    assert!(
        of(Config {
            pool_limit: usize::MAX,
            ..default()
        })
        .is_some()
    );
    assert!(
        of(Config {
            pool_growth: usize::MAX,
            ..default()
        })
        .is_some()
    );
    assert!(
        of(Config {
            pool_limit: 0,
            ..default()
        })
        .is_none()
    );
    assert!(
        of(Config {
            together: usize::MAX,
            ..default()
        })
        .is_none()
    );
}

#[test]
fn the_longest_pool_is_reached() {
    let calls = Calls::alone_with(Config {
        pool_limit: 16 << 40,
        ..Config::default()
    });
    let call = calls.unwrap().to(0).unwrap().run(add, (2, 3));
    assert_eq!(call.wait().unwrap(), 5);
}
