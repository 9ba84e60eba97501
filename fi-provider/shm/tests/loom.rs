//! The flag, the barriers, the turns and the order of arrival under the loom model checker: every interleaving of a few processes, with
//! the C11 memory model, and with futex(2) modelled as a look and a sleep that a wake cannot fall between.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --release -p fi-shm --test loom`.

#![cfg(loom)]

use fi_shm::arrival::{Arrival, Arrivals, for_each_before};
use fi_shm::barrier::{Central, Rounds, disseminate};
use fi_shm::flag::{Flag, Word};
use fi_shm::turns::Turns;
use fi_shm::wait::Patience;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use loom::thread;

/// Straight to sleep: the part of a wait that can go wrong.
const SLEEP: Patience = Patience {
    looks: 0,
    bursts: 0,
};

/// One look, then sleep.
const LOOK: Patience = Patience {
    looks: 1,
    bursts: 1,
};

fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 10_000;
    builder.check(model);
}

#[test]
fn a_post_wakes_a_sleeper_and_publishes_what_was_written_before() {
    for patience in [SLEEP, LOOK] {
        check(4, move || {
            let shared = Arc::new((Flag::default(), AtomicU32::new(0)));
            let poster = Arc::clone(&shared);
            let other = thread::spawn(move || {
                poster.1.store(7, Relaxed);
                poster.0.post(1);
            });
            shared.0.wait(1, patience, || ());
            assert_eq!(shared.1.load(Relaxed), 7);
            other.join().unwrap();
        });
    }
}

#[test]
fn two_sleepers_are_both_woken() {
    check(3, || {
        let flag = Arc::new(Flag::default());
        let sleepers: Vec<_> = (0..2)
            .map(|_| {
                let flag = Arc::clone(&flag);
                thread::spawn(move || flag.wait(1, SLEEP, || ()))
            })
            .collect();
        flag.post(1);
        for sleeper in sleepers {
            sleeper.join().unwrap();
        }
    });
}

/// Runs `epochs` barriers in `processes` threads; each thread counts its arrivals, and behind each
/// barrier must see everybody's.
fn barriers<B: Sync + Send + 'static>(
    processes: u32,
    epochs: u32,
    barrier: impl Fn() -> B,
    wait: fn(&B, u32, u32, u32),
) {
    let arrivals: Arc<Vec<AtomicU32>> =
        Arc::new((0..processes).map(|_| AtomicU32::new(0)).collect());
    let barrier = Arc::new(barrier());
    let run = move |me: u32, arrivals: &[AtomicU32], barrier: &B| {
        for epoch in 1..=epochs {
            arrivals[me as usize].store(epoch, Relaxed);
            wait(barrier, me, processes, epoch);
            for arrival in arrivals {
                assert!(arrival.load(Relaxed) >= epoch, "someone has not arrived");
            }
        }
    };
    let others: Vec<_> = (1..processes)
        .map(|me| {
            let (arrivals, barrier) = (Arc::clone(&arrivals), Arc::clone(&barrier));
            thread::spawn(move || run(me, &arrivals, &barrier))
        })
        .collect();
    run(0, &arrivals, &barrier);
    for other in others {
        other.join().unwrap();
    }
}

fn wait_central(barrier: &Central, _me: u32, processes: u32, epoch: u32) {
    barrier.wait(processes, epoch, SLEEP, || ());
}

fn wait_disseminate(rounds: &Vec<Rounds>, me: u32, processes: u32, epoch: u32) {
    disseminate(
        |pe| &rounds[pe as usize],
        me,
        processes,
        epoch,
        SLEEP,
        || (),
    );
}

fn rounds(processes: u32) -> Vec<Rounds> {
    (0..processes).map(|_| Rounds::default()).collect()
}

#[test]
fn central_of_two_twice() {
    check(3, || barriers(2, 2, Central::default, wait_central));
}

#[test]
fn central_of_three() {
    check(2, || barriers(3, 1, Central::default, wait_central));
}

#[test]
fn dissemination_of_two_twice() {
    check(3, || barriers(2, 2, || rounds(2), wait_disseminate));
}

#[test]
fn dissemination_of_three() {
    check(2, || barriers(3, 1, || rounds(3), wait_disseminate));
}

/// What a process shows in turns.
#[derive(Default)]
struct Slots {
    words: [Word; 2],
    data: [Data; 2],
}

struct Data(AtomicU32);

impl Default for Data {
    fn default() -> Self {
        Self(AtomicU32::new(0))
    }
}

/// Process 0 shows something in three turns, of which each of the others must see all; there are two slots.
#[test]
fn slots_are_shown_in_turns_and_not_before_all_have_read_them() {
    check(2, || {
        let shared = Arc::new((Slots::default(), Central::default()));
        let run = |me: u32, (slots, barrier): &(Slots, Central)| {
            let turns = Turns::behind(0, 2);
            let mut meetings = 0;
            for _ in 0..3 {
                let meet = || {
                    meetings += 1;
                    barrier.wait(2, meetings, SLEEP, || ());
                };
                let turn = turns.next(meet, |_| ());
                let slot = turns.slot(turn);
                if me == 0 {
                    slots.data[slot].0.store(turn as u32, Relaxed);
                    slots.words[slot].post(turn as u32);
                } else {
                    slots.words[slot].wait(turn as u32, SLEEP, || ());
                    assert_eq!(slots.data[slot].0.load(Relaxed), turn as u32);
                }
            }
        };
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || run(1, &other));
        run(0, &shared);
        other.join().unwrap();
    });
}

/// Of each pair of processes, one is told of the other, and sees what that has written.
#[test]
fn of_each_pair_the_later_one_is_told() {
    for (processes, preemptions) in [(2, 3), (3, 1)] {
        check(preemptions, move || {
            let data = || (Arrival::default(), AtomicU32::new(0), AtomicU32::new(0));
            let all: Vec<_> = (0..processes).map(|_| data()).collect();
            let shared = Arc::new((Arrivals::default(), all));
            let run =
                |me: usize, (arrivals, all): &(Arrivals, Vec<(Arrival, AtomicU32, AtomicU32)>)| {
                    all[me].1.store(1, Relaxed);
                    let told = |other: usize| {
                        assert_eq!(all[other].1.load(Relaxed), 1);
                        all[other].2.fetch_add(1 << (8 * me), Relaxed);
                        all[me].2.fetch_add(1 << (8 * other), Relaxed);
                    };
                    for_each_before(
                        arrivals,
                        |i| &all[i].0,
                        me,
                        all.len(),
                        thread::yield_now,
                        told,
                    );
                };
            let others: Vec<_> = (1..processes)
                .map(|me| {
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || run(me, &shared))
                })
                .collect();
            run(0, &shared);
            others.into_iter().for_each(|other| other.join().unwrap());
            for me in 0..processes {
                let pairs = (0..processes).filter(|&other| other != me);
                let expected: u32 = pairs.map(|other| 1 << (8 * other)).sum();
                assert_eq!(shared.1[me].2.load(Relaxed), expected);
            }
        });
    }
}
