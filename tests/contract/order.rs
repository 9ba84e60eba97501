//! Promises of fence and quiet.

use crate::party::Party;
use crate::transport::{Transport, check};

/// Places of flags, acknowledgements and data in the heap, in bytes.
const FLAG: usize = 64;
const ACK: usize = 192;
const FIRST: usize = 320;
const SECOND: usize = 448;
const DATA: usize = 4096;

/// Runs a ring: every party writes pairs of elements to its right, the second behind a fence, and
/// watches its own.
pub(crate) fn fence_keeps_elements_in_order(transport: &dyn Transport) {
    const STEPS: u32 = 1_000_000;
    check(transport, 2, |party| {
        let (first, second) = (
            party.heap.place::<u64>(FIRST),
            party.heap.place::<u64>(SECOND),
        );
        party.meeting.line_up();
        for step in 1..=u64::from(party.turns(STEPS)) {
            party.lane.inject(step, first, party.right()).unwrap();
            party.lane.fence().unwrap();
            match step % 3 {
                0 => party.lane.inject(step, second, party.right()).unwrap(),
                1 => party.lane.set(second, step, party.right()).unwrap(),
                _ => party.lane.write(second, &[step], party.right()).unwrap(),
            }
            let later = party.heap.acquire(SECOND);
            let earlier = party.heap.acquire(FIRST);
            assert!(earlier >= later, "{later} is there before {earlier}");
        }
    });
}

/// A way to raise a flag, or to order it behind the writes before.
type Raise = fn(&Party, u64);

/// Flags that are raised by an atomic operation.
const UPDATES: [Raise; 2] = [
    |party, step| {
        let flag = party.heap.place(FLAG);
        party.lane.set(flag, step, party.right()).unwrap();
    },
    |party, _| {
        let flag = party.heap.place(FLAG);
        party.lane.add(flag, 1_u64, party.right()).unwrap();
    },
];

/// Writes data, a fence, a flag: a party that sees the flag sees the data, of every length and by
/// every kind of flag.
pub(crate) fn fence_publishes_ranges(transport: &dyn Transport) {
    let inject: Raise = |party, step| {
        let flag = party.heap.place(FLAG);
        party.lane.inject(step, flag, party.right()).unwrap();
    };
    let fence: Raise = |party, _| party.lane.fence().unwrap();
    publish_all(transport, fence, &[inject, UPDATES[0], UPDATES[1]]);
}

/// Writes data and, without a fence, a flag that is raised by an atomic operation: a party that
/// sees the flag sees the data.
pub(crate) fn atomics_follow_writes(transport: &dyn Transport) {
    let order: Raise = |party, _| party.lane.order_writes_before_atomics();
    publish_all(transport, order, &UPDATES);
}

fn publish_all(transport: &dyn Transport, order: Raise, raises: &[Raise]) {
    for parties in [2, 3] {
        check(transport, parties, |party| {
            let mut step = 0;
            for len in [1, 9, 40, 61, 300, 1000, 2047, 2049, 4001, 16_300, 65_537] {
                let turns = party.turns(if len < 3000 { 2000 } else { 60 });
                for turn in 0..turns as usize {
                    step += 1;
                    publish(party, order, raises[turn % raises.len()], step, len);
                }
            }
        });
    }
}

fn publish(party: &Party, order: Raise, raise: Raise, step: u64, len: usize) {
    let place = party.heap.place::<u8>(DATA + step as usize % 8);
    // Nothing but their ordering comes between data and flag: giving memory back, for one, could
    // order them too.
    let data = vec![step as u8; len];
    party.lane.write(place, &data, party.right()).unwrap();
    order(party, step);
    raise(party, step);

    party
        .meeting
        .spin("the flag", || party.heap.acquire(FLAG) == step);
    let soonest: u8 = party.heap.load(DATA + step as usize % 8 + len * 7 / 8);
    assert_eq!(
        soonest, step as u8,
        "of {len} bytes, this came behind the flag"
    );
    let got = party.heap.bytes(DATA + step as usize % 8, len);
    let late = got.iter().filter(|&&byte| byte != step as u8).count();
    assert_eq!(late, 0, "of {len} bytes, so many came behind the flag");
    party.lane.quiet().unwrap();
    party
        .lane
        .inject(step, party.heap.place(ACK), party.left())
        .unwrap();
    party
        .meeting
        .spin("the acknowledgement", || party.heap.acquire(ACK) == step);
}

/// Lets a party that hears of the quiet, in any way, find the data: nothing but the quiet orders
/// them here.
pub(crate) fn quiet_delivers(transport: &dyn Transport) {
    check(transport, 2, |party| {
        let mut step = 0;
        for len in [8, 24, 200, 2048, 5000, 70_000] {
            for _ in 0..party.turns(300) {
                step += 1;
                let data = vec![step; len / 8];
                let place = party.heap.place::<u64>(DATA);
                party
                    .lane
                    .start_writes(&[(place, &data)], party.right())
                    .unwrap();
                party.meeting.announce(party.rank, step);
                party.meeting.keep_step(party.left(), step);
                for offset in [0, (len / 16) * 8, len - 8] {
                    let got = party.heap.load::<u64>(DATA + offset);
                    assert_eq!(got, step, "the word at {offset} of {len} came late");
                }
                party.meet();
            }
        }
    });
}

/// Bytes from one cell of the litmus test to the next.
const CELL: usize = 128;
/// Cells, each used once in a batch; and batches.
const CELLS: usize = 4096;
const BATCHES: u32 = 72;

/// Tests store buffering: each of two parties writes, is quiet, and reads the word that the other
/// writes. One of them at least reads the new value.
pub(crate) fn quiet_precedes_later_reads(transport: &dyn Transport) {
    check(transport, 2, |party| {
        let mut steps = 0;
        // A multiple of four, so that the batches of all kinds are there.
        let cells = CELLS.min(party.turns(CELLS as u32 * BATCHES / 4) as usize);
        for batch in 1..=u64::from(party.turns(BATCHES).max(4)) {
            let read = litmus(party, batch, steps, cells);
            steps += cells as u64;
            party.meet();
            let old: Vec<u8> = read.iter().map(|&value| u8::from(value < batch)).collect();
            party
                .lane
                .write(party.statics.place(0), &old, party.right())
                .unwrap();
            party.quiet_and_meet();
            let others = party.statics.bytes(0, cells);
            let both = old
                .iter()
                .zip(&others)
                .filter(|(mine, other)| **mine + **other == 2)
                .count();
            assert_eq!(
                both, 0,
                "of {cells} times in batch {batch}, neither saw the other's write so often"
            );
            party.meet();
        }
    });
}

/// Runs one batch; returns the values that this party has read, cell by cell.
fn litmus(party: &Party, batch: u64, steps: u64, cells: usize) -> Vec<u64> {
    let other = party.right();
    let mut read = Vec::with_capacity(cells);
    for cell in 0..cells {
        // Each writes a word of its own on the other and reads the other's word on itself, or the reverse: in half of the
        // batches the words are where they are written, in half of them where they are read.
        let (target, source) = if batch.is_multiple_of(2) {
            (other, party.rank)
        } else {
            (party.rank, other)
        };
        let mine = party
            .heap
            .place::<u64>(cell * CELL + 64 * party.rank as usize);
        let theirs = party.heap.place::<u64>(cell * CELL + 64 * other as usize);
        let step = steps + cell as u64 + 1;
        party.meeting.announce(party.rank, step);
        party.meeting.keep_step(other, step);
        for _ in 0..cell as u64 * (batch / 2 % 3 + u64::from(party.rank)) % 4 {
            std::hint::spin_loop();
        }
        if batch % 4 < 2 {
            party.lane.inject(batch, mine, target).unwrap();
        } else {
            party.lane.write(mine, &[batch], target).unwrap();
        }
        party.lane.quiet().unwrap();
        read.push(party.lane.read_element(theirs, source).unwrap());
    }
    read
}
