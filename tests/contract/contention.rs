//! Atomic operations on the same objects by all parties at once.

use crate::party::Party;
use crate::transport::{Transport, check};
use bytemuck::Pod;
use fi_provider::symmetric::atomic::Integer;
use std::fmt::Debug;

/// Operations of each party on one object.
const TURNS: u32 = 40_000;
/// Number of times that all start together: parties that share a processor are together for a part
/// of the time only.
const ROUNDS: u32 = 12;
/// Turns of each party with a lock.
const LOCKED: u32 = 10_000;
/// The party whose objects all others work on.
const OWNER: u32 = 0;
/// Place at which each party's records for the owner begin in the owner's heap, and their bytes.
const RECORDS: usize = 4096;
const RECORD_BYTES: usize = TURNS as usize * 8 + 4096;

/// Integers that small numbers are converted to and from.
trait Number: Integer + Pod + Debug {
    fn of(number: u64) -> Self;
    fn number(self) -> u64;
}

macro_rules! numbers {
    ($($t:ty: $bits:ty;)*) => {$(
        impl Number for $t {
            fn of(number: u64) -> Self { number as Self }
            fn number(self) -> u64 { self as $bits as u64 }
        }
    )*};
}

numbers! { i32: u32; u32: u32; i64: u64; u64: u64; isize: usize; usize: usize; }

/// Runs `$body::<T>` for each integer type, with zeroed objects: two parties, which meet most often, and four.
macro_rules! for_integers {
    ($transport:ident: $body:ident) => {
        for parties in [2, 4] {
            check($transport, parties, |party| {
                for_integers!(@ party $body: i32 u32 i64 u64 isize usize);
            });
        }
    };
    (@ $party:ident $body:ident: $($t:ty)*) => {$(
        for _ in 0..$party.turns(ROUNDS / $party.count) {
            $party.heap.fill(0, RECORDS, 0);
            $party.meeting.line_up();
            $body::<$t>($party);
            $party.meet();
        }
    )*};
}

/// Sends `list` to the owner, which gets everybody's, in one list.
fn collect(party: &Party, list: &[u64]) -> Vec<u64> {
    assert!(list.len() * 8 + 8 <= RECORD_BYTES);
    let at = RECORDS + party.rank as usize * RECORD_BYTES;
    party
        .lane
        .inject(list.len() as u64, party.heap.place(at), OWNER)
        .unwrap();
    party
        .lane
        .write(party.heap.place(at + 8), list, OWNER)
        .unwrap();
    party.quiet_and_meet();
    let mut all = Vec::new();
    for rank in party.all().filter(|_| party.rank == OWNER) {
        let at = RECORDS + rank as usize * RECORD_BYTES;
        let count = party.heap.load::<u64>(at) as usize;
        let bytes = party.heap.bytes(at + 8, count * 8);
        all.extend(
            bytes
                .chunks_exact(8)
                .map(bytemuck::pod_read_unaligned::<u64>),
        );
    }
    all
}

pub(crate) fn of_sums(transport: &dyn Transport) {
    for_integers!(transport: sums);
}

fn sums<T: Number>(party: &Party) {
    let (plain, fetching) = (party.heap.place::<T>(64), party.heap.place::<T>(128));
    let mut tickets = Vec::new();
    for _ in 0..party.turns(TURNS) {
        party.lane.add(plain, T::of(3), OWNER).unwrap();
        tickets.push(
            party
                .lane
                .fetch_add(fetching, T::ONE, OWNER)
                .unwrap()
                .number(),
        );
    }
    assert!(
        tickets.is_sorted_by(|one, next| one < next),
        "an object that is only added to has shrunk"
    );
    let mut all = collect(party, &tickets);
    if party.rank == OWNER {
        let turns = u64::from(party.turns(TURNS) * party.count);
        assert_eq!(
            party.heap.load::<T>(64).number(),
            3 * turns,
            "sums were lost"
        );
        assert_eq!(
            party.heap.load::<T>(128).number(),
            turns,
            "fetching sums were lost"
        );
        all.sort_unstable();
        assert!(all.into_iter().eq(0..turns), "the same was fetched twice");
    }
}

pub(crate) fn of_bits(transport: &dyn Transport) {
    for_integers!(transport: bits);
}

/// Lets each party switch its own bit, by each operation: nobody else may undo that.
fn bits<T: Number>(party: &Party) {
    let bit = 1_u64 << party.rank << 8;
    let (mask, rest) = (T::of(bit), T::of(!bit));
    let at = party.heap.place::<T>(64);
    let lane = &party.lane;
    let is_on = |value: T| value.number() & bit != 0;
    for _ in 0..party.turns(TURNS / 4) {
        lane.or(at, mask, OWNER).unwrap();
        assert!(
            is_on(lane.fetch_and(at, rest, OWNER).unwrap()),
            "or was lost"
        );
        assert!(
            !is_on(lane.fetch_or(at, mask, OWNER).unwrap()),
            "fetch_and was lost"
        );
        lane.and(at, rest, OWNER).unwrap();
        assert!(
            !is_on(lane.fetch_xor(at, mask, OWNER).unwrap()),
            "and was lost"
        );
        lane.xor(at, mask, OWNER).unwrap();
        assert!(
            !is_on(lane.fetch(at, OWNER).unwrap()),
            "fetch_xor or xor was lost"
        );
    }
    party.quiet_and_meet();
    if party.rank == OWNER {
        assert_eq!(party.heap.load::<T>(64).number(), 0, "a bit is left");
    }
}

pub(crate) fn of_swaps(transport: &dyn Transport) {
    for_integers!(transport: swaps);
}

/// Checks that everything that is swapped in comes out once, or is there in the end.
fn swaps<T: Number>(party: &Party) {
    let at = party.heap.place::<T>(64);
    let turns = u64::from(party.turns(TURNS));
    let first = u64::from(party.rank) * turns + 1;
    let out: Vec<u64> = (first..first + turns)
        .map(|token| party.lane.swap(at, T::of(token), OWNER).unwrap().number())
        .collect();
    let mut all = collect(party, &out);
    if party.rank == OWNER {
        all.push(party.heap.load::<T>(64).number());
        all.sort_unstable();
        assert!(
            all.into_iter().eq(0..=turns * u64::from(party.count)),
            "a value was lost, or came out twice"
        );
    }
}

pub(crate) fn of_compare_swaps(transport: &dyn Transport) {
    for_integers!(transport: compare_swaps);
}

fn compare_swaps<T: Number>(party: &Party) {
    let at = party.heap.place::<T>(64);
    let mut seen = party.lane.fetch(at, OWNER).unwrap();
    for _ in 0..party.turns(TURNS / 4) {
        loop {
            let got = party
                .lane
                .compare_swap(at, seen, T::of(seen.number() + 1), OWNER)
                .unwrap();
            if got == seen {
                break;
            }
            seen = got;
        }
        seen = T::of(seen.number() + 1);
    }
    party.quiet_and_meet();
    if party.rank == OWNER {
        assert_eq!(
            party.heap.load::<T>(64).number(),
            u64::from(party.turns(TURNS / 4) * party.count),
            "a swap was lost"
        );
    }
}

pub(crate) fn of_sets(transport: &dyn Transport) {
    for_integers!(transport: sets);
}

/// Lets all set their own value, whose bytes are equal, and fetch somebody's: never a mixture.
fn sets<T: Number>(party: &Party) {
    let at = party.heap.place::<T>(64);
    let of = |rank: u32| T::of(0x0101_0101_0101_0101 * u64::from(rank));
    for _ in 0..party.turns(TURNS) {
        party.lane.set(at, of(party.rank), OWNER).unwrap();
        let got = party.lane.fetch(at, OWNER).unwrap();
        assert!(
            party.all().any(|rank| got == of(rank)),
            "nobody has set {got:?}"
        );
    }
}

pub(crate) fn for_a_lock_by_swap(transport: &dyn Transport) {
    locked(transport, |party, lock| {
        party
            .lane
            .swap(party.heap.place(lock), 1_u32, OWNER)
            .unwrap()
            == 0
    });
}

pub(crate) fn for_a_lock_by_compare_swap(transport: &dyn Transport) {
    locked(transport, |party, lock| {
        let mine = party.rank + 1;
        party
            .lane
            .compare_swap(party.heap.place(lock), 0_u32, mine, OWNER)
            .unwrap()
            == 0
    });
}

/// Changes a counter that is read and written back under a lock, with some bytes that go with it.
fn locked(transport: &dyn Transport, try_lock: impl Fn(&Party, usize) -> bool + Sync) {
    const LOCK: usize = 64;
    const COUNTER: usize = 256;
    const COMPANION: usize = 512;
    for parties in [2, 4] {
        check(transport, parties, |party| {
            let (counter, companion) = (
                party.heap.place::<u64>(COUNTER),
                party.heap.place::<u8>(COMPANION),
            );
            for _ in 0..party.turns(LOCKED) {
                party.meeting.spin("the lock", || try_lock(party, LOCK));
                let count = party.lane.read_element(counter, OWNER).unwrap();
                let mut bytes = [0; 100];
                party.lane.read(&mut bytes, companion, OWNER).unwrap();
                assert_eq!(
                    bytes, [count as u8; 100],
                    "the counter and what goes with it"
                );
                party
                    .lane
                    .write(companion, &[(count + 1) as u8; 100], OWNER)
                    .unwrap();
                party.lane.inject(count + 1, counter, OWNER).unwrap();
                party.lane.quiet().unwrap();
                party
                    .lane
                    .set(party.heap.place(LOCK), 0_u32, OWNER)
                    .unwrap();
            }
            party.quiet_and_meet();
            if party.rank == OWNER {
                assert_eq!(
                    party.heap.load::<u64>(COUNTER),
                    u64::from(party.turns(LOCKED) * party.count)
                );
            }
        });
    }
}
