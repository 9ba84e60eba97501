//! The flag, the barriers, the turns and the order of arrival under the loom model checker: every interleaving of a few processes, with
//! the C11 memory model, and with futex(2) modelled as a look and a sleep that a wake cannot fall between.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --profile tools -p fi-shm --test loom`.

#![cfg(loom)]

use fi_shm::arrival::{Arrival, Arrivals, for_each_before};
use fi_shm::barrier::{Central, Rounds, disseminate};
use fi_shm::flag::{Flag, Word};
use fi_shm::turns::Turns;
use fi_shm::wait::Patience;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
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
    epochs: u64,
    barrier: impl Fn() -> B,
    wait: fn(&B, u32, u32, u64),
) {
    let arrivals: Arc<Vec<AtomicU64>> =
        Arc::new((0..processes).map(|_| AtomicU64::new(0)).collect());
    let barrier = Arc::new(barrier());
    let run = move |me: u32, arrivals: &[AtomicU64], barrier: &B| {
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

fn wait_central(barrier: &Central, _me: u32, processes: u32, epoch: u64) {
    barrier.wait(processes, epoch, SLEEP, || ());
}

fn wait_disseminate(rounds: &Vec<Rounds>, me: u32, processes: u32, epoch: u64) {
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

/// Slots in which a process shows data in turns.
#[derive(Default)]
struct Slots {
    words: [Word; 2],
    data: [Data; 2],
}

struct Data(AtomicU64);

impl Default for Data {
    fn default() -> Self {
        Self(AtomicU64::new(0))
    }
}

impl Slots {
    fn show(&self, slot: usize, turn: u64) {
        self.data[slot].0.store(turn, Relaxed);
        self.words[slot].post(turn);
    }

    fn read(&self, slot: usize, turn: u64) {
        self.words[slot].wait(turn, SLEEP, || ());
        assert_eq!(self.data[slot].0.load(Relaxed), turn);
    }
}

/// Two processes that take turns in two slots each, and the barrier by which they meet.
#[derive(Default)]
struct Two {
    slots: [Slots; 2],
    barrier: Central,
}

impl Two {
    /// Runs `run` as both processes; it is given a process's number, itself, and a function that
    /// takes the next turn.
    fn check(
        run: impl Fn(usize, &Self, &Turns, &mut dyn FnMut() -> u64) + Copy + Send + Sync + 'static,
    ) {
        check(2, move || {
            let two = Arc::new(Self::default());
            let process = move |me: usize, two: &Self| {
                let turns = Turns::behind(0, 2);
                let mut meetings = 0;
                let mut next = || {
                    turns.next(|| {
                        meetings += 1;
                        two.barrier.wait(2, meetings, SLEEP, || ());
                    })
                };
                run(me, two, &turns, &mut next);
            };
            let other = Arc::clone(&two);
            let other = thread::spawn(move || process(1, &other));
            process(0, &two);
            other.join().unwrap();
        });
    }
}

/// Lets process 0 show something in three turns, of which each of the others must see all; there
/// are two slots.
#[test]
fn slots_are_shown_in_turns_and_not_before_all_have_read_them() {
    Two::check(|me, two, turns, next| {
        for _ in 0..3 {
            let turn = next();
            let slot = turns.slot(turn);
            if me == 0 {
                two.slots[0].show(slot, turn);
            } else {
                two.slots[0].read(slot, turn);
            }
        }
    });
}

/// Lets both show something, and read the other's: a process that has read knows that the other has
/// come, but not that it has read. Then process 0 shows something twice.
#[test]
fn a_slot_that_all_have_shown_is_still_to_be_read() {
    Two::check(|me, two, turns, next| {
        let turn = next();
        let slot = turns.slot(turn);
        two.slots[me].show(slot, turn);
        two.slots[1 - me].read(slot, turn);
        turns.all_take_it();
        for _ in 0..2 {
            let turn = next();
            let slot = turns.slot(turn);
            if me == 0 {
                two.slots[0].show(slot, turn);
            } else {
                two.slots[0].read(slot, turn);
            }
        }
    });
}

/// Checks that of each pair of processes one is told of the other, and sees the other's writes.
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
