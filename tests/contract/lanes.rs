//! Several lanes of one party, and threads on them: none disturbs another.

use crate::access::Area;
use crate::lane::Lane;
use crate::party::Party;
use crate::transport::{Transport, check};
use crate::values::pattern;
use fi_provider::symmetric::Error;
use std::thread;

/// Threads, each with a lane or all on one.
const THREADS: u32 = 4;
/// Places in the heap: a counter that all of a party's threads add to, a word for each thread, and
/// a range for each.
const COUNTER: usize = 0;
const WORDS: usize = 64;
const RANGES: usize = 4096;
/// Additions that a thread starts at the end without waiting: more than a lane has slots for their
/// results.
const STARTED: u32 = 200;
/// Bytes of a thread's range, longer than a piece of the bounce memory.
const RANGE: usize = 20_000;

/// The place of a thread's work, and its rounds.
#[derive(Clone, Copy)]
struct Work {
    heap: Area,
    peer: u32,
    thread: u32,
    rounds: u32,
}

impl Work {
    /// Adds often without waiting, to the counter and to one of 4 bytes; returns the old values of
    /// the counter, behind quiet.
    fn start_many(self, lane: &Lane) -> Vec<u64> {
        let counter = self.heap.place::<u64>(COUNTER);
        let small = self
            .heap
            .place::<u32>(WORDS + 64 * self.thread as usize + 32);
        let told = lane.count(counter, STARTED as usize, self.peer).unwrap();
        let mut of_small = lane.count(small, STARTED as usize, self.peer).unwrap();
        of_small.sort_unstable();
        let first = of_small[0];
        assert!(
            first.is_multiple_of(STARTED),
            "thread {}: {first}",
            self.thread
        );
        assert!(of_small.into_iter().eq(first..first + STARTED));
        told
    }

    /// Writes, adds and reads in turn at the peer's; returns the counter's values, which no other
    /// thread is told.
    fn run(self, lane: &Lane) -> Vec<u64> {
        let word = self.heap.place::<u64>(WORDS + 64 * self.thread as usize);
        let range = self.heap.place::<u8>(RANGES + self.thread as usize * RANGE);
        let counter = self.heap.place::<u64>(COUNTER);
        let mut told = Vec::new();
        for round in 0..self.rounds {
            let value = u64::from(round * THREADS + self.thread);
            lane.inject(value, word, self.peer).unwrap();
            lane.quiet().unwrap();
            assert_eq!(lane.read_element(word, self.peer), Ok(value));
            told.push(lane.fetch_add(counter, 1, self.peer).unwrap());
            lane.inject(value + 1, word, self.peer).unwrap();
            lane.fence().unwrap();
            lane.inject(value + 2, word, self.peer).unwrap();
            if round % 8 == 0 {
                let data = pattern(value, RANGE);
                lane.write(range, &data, self.peer).unwrap();
                lane.quiet().unwrap();
                let mut back = vec![0; RANGE];
                lane.read(&mut back, range, self.peer).unwrap();
                assert!(back == data, "round {round} of thread {}", self.thread);
            }
        }
        lane.quiet().unwrap();
        told.extend(self.start_many(lane));
        told
    }
}

/// Asserts that the threads of the left neighbour have added all they wanted, and been told each
/// number once.
fn assert_counted(party: &Party, mut told: Vec<u64>, rounds: u32) {
    let all: Vec<u64> = (0..u64::from(THREADS * (rounds + STARTED))).collect();
    told.sort_unstable();
    assert!(told == all, "a number was told twice, or never");
    party.meet();
    assert_eq!(
        party.heap.acquire(COUNTER),
        u64::from(THREADS * (rounds + STARTED)),
        "additions of the left neighbour"
    );
    for thread in 0..THREADS {
        let last = u64::from((rounds - 1) * THREADS + thread) + 2;
        assert_eq!(party.heap.acquire(WORDS + 64 * thread as usize), last);
    }
    party.meet();
}

/// Returns the work of thread `thread` of a party.
fn work(party: &Party, thread: u32, rounds: u32) -> Work {
    Work {
        heap: party.heap,
        peer: party.right(),
        thread,
        rounds,
    }
}

fn all(party: &Party) -> Vec<u32> {
    party.all().collect()
}

pub(crate) fn of_threads(transport: &dyn Transport) {
    check(transport, 2, |party| {
        let rounds = party.turns(20_000);
        let told = thread::scope(|scope| {
            let started: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let lane = party.open_lane(false, &all(party)).unwrap();
                    let work = work(party, thread, rounds);
                    scope.spawn(move || work.run(&lane))
                })
                .collect();
            let ended = started.into_iter().map(|thread| thread.join().unwrap());
            ended.flatten().collect()
        });
        assert_counted(party, told, rounds);
    });
}

pub(crate) fn shared_by_threads(transport: &dyn Transport) {
    check(transport, 2, |party| {
        let rounds = party.turns(20_000);
        let lane = party.open_lane(true, &all(party)).unwrap();
        let told = thread::scope(|scope| {
            let started: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let lane = lane.shared().unwrap();
                    let work = work(party, thread, rounds);
                    scope.spawn(move || work.run(&lane))
                })
                .collect();
            let ended = started.into_iter().map(|thread| thread.join().unwrap());
            ended.flatten().collect()
        });
        assert_counted(party, told, rounds);
    });
}

/// Checks that a lane that was closed when it was quiet goes on with another endpoint.
pub(crate) fn used_again(transport: &dyn Transport) {
    check(transport, 2, |party| {
        let rounds = party.turns(1000);
        let mut lane = party.open_lane(false, &all(party)).unwrap();
        let mut told = Vec::new();
        for turn in 0..5 {
            told.extend(work(party, 0, rounds).run(&lane));
            // The default one is in use all the time.
            party
                .lane
                .inject(turn, party.statics.place::<u64>(0), party.right())
                .unwrap();
            let own = lane.into_own().unwrap();
            lane = Lane::beside(party.domain, own);
        }
        let all: Vec<u64> = (0..u64::from(5 * (rounds + STARTED))).collect();
        assert!(told == all);
        party.quiet_and_meet();
        assert_eq!(party.statics.acquire(0), 4);
        party.meet();
    });
}

pub(crate) fn with_numbers_of_their_own(transport: &dyn Transport) {
    check(transport, 3, |party| {
        let members = [2, 0];
        let lane = party.open_lane(false, &members).unwrap();
        let place = |member: u32| {
            party
                .heap
                .place::<u64>(64 * (1 + party.rank + 3 * member) as usize)
        };
        for (number, member) in (0..).zip(members) {
            let value = u64::from(100 * party.rank + member);
            lane.inject(value, place(member), number).unwrap();
            lane.quiet().unwrap();
            assert_eq!(lane.fetch_add(place(member), 1, number), Ok(value));
        }
        lane.quiet().unwrap();
        assert_eq!(
            lane.inject(0_u64, place(0), 2).err(),
            Some(Error::NoSuchPeer)
        );
        assert!(party.domain.peers().select(&[0, 3]).is_none());
        party.meet();
        for rank in party.all() {
            for member in members.into_iter().filter(|&member| member == party.rank) {
                let at = 64 * (1 + rank + 3 * member) as usize;
                let expected = u64::from(100 * rank + member + 1);
                assert_eq!(party.heap.acquire(at), expected, "from party {rank}");
            }
        }
        party.meet();
    });
}
