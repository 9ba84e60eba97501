//! Aligned elements are seen whole, by any writer or reader.

use crate::party::Party;
use crate::transport::{Transport, check};
use crate::values::mixed;
use bytemuck::Pod;

/// The word with which the writer says that it is done.
const DONE: usize = 0;
/// Beginning of the ranges: a multiple of 64, so that the shifts below are right.
const DATA: usize = 4096;
/// The two values that take turns: all their bytes differ.
const OLD: u8 = 0x11;
const NEW: u8 = 0xee;
/// Lengths in bytes.
const LENGTHS: [usize; 14] = [
    8, 16, 24, 32, 40, 56, 64, 104, 256, 1032, 2040, 2048, 4104, 20_008,
];

/// Lets one party move ranges that hold either value; the other looks at single elements meanwhile.
fn run(transport: &dyn Transport, body: impl Fn(&Party, usize, usize) + Sync) {
    check(transport, 2, |party| {
        for len in LENGTHS {
            for shift in [0, 8, 24, 56] {
                party.heap.fill(0, DATA + len + 64, OLD);
                party.heap.store(DONE, 0_u64);
                party.meeting.line_up();
                body(party, DATA + shift, len);
                party.meet();
            }
        }
    });
}

/// Returns how often a range is moved, for each length and alignment: short ranges more often.
fn turns(party: &Party, len: usize) -> u64 {
    u64::from(party.turns(6_000_000 / (16 + len as u32 / 2)))
}

pub(crate) fn by_writes(transport: &dyn Transport) {
    run(transport, |party, at, len| {
        if party.rank == 0 {
            write_often::<u64>(party, at, len);
        } else {
            look_often::<u64>(party, at, len);
        }
    });
    run(transport, |party, at, len| {
        // Elements of 4 and 2 bytes that are not aligned for more.
        if party.rank == 0 {
            write_often::<u32>(party, at + 4, len - 4);
            write_often::<u16>(party, at + 2, len - 2);
        } else {
            look_often::<u32>(party, at + 4, len - 4);
            look_often::<u16>(party, at + 2, len - 2);
        }
    });
}

/// Writes the one and the other value over the range of the right neighbour, from sources of all alignments.
fn write_often<T: Pod>(party: &Party, at: usize, len: usize) {
    let count = len / size_of::<T>();
    let place = party.heap.place::<u8>(at);
    let sources = [vec![OLD; len + 8], vec![NEW; len + 8]];
    for turn in 0..turns(party, len) {
        let source = &sources[turn as usize % 2][turn as usize / 2 % 8..];
        party
            .lane
            .write(place, &source[..count * size_of::<T>()], party.right())
            .unwrap();
    }
    party.lane.quiet().unwrap();
    party
        .lane
        .inject(1_u64, party.heap.place(DONE), party.right())
        .unwrap();
    party.meet();
    party.meeting.line_up();
}

/// Looks at elements of the own range until the writer is done.
fn look_often<T: Pod>(party: &Party, at: usize, len: usize) {
    let count = len / size_of::<T>();
    let mut look = 0;
    while party.heap.acquire(DONE) == 0 {
        party.meeting.give_up_if_failed();
        for _ in 0..64 {
            look += 1;
            let element = mixed(look) as usize % count;
            assert_whole(
                party.heap.load::<T>(at + element * size_of::<T>()),
                element,
                len,
            );
        }
    }
    party.meet();
    party.heap.store(DONE, 0_u64);
    party.meeting.line_up();
}

fn assert_whole<T: Pod>(value: T, element: usize, len: usize) {
    let bytes = bytemuck::bytes_of(&value);
    let whole = bytes.iter().all(|&byte| byte == OLD) || bytes.iter().all(|&byte| byte == NEW);
    assert!(
        whole,
        "element {element} of a range of {len} bytes is torn: {bytes:x?}"
    );
}

pub(crate) fn by_reads(transport: &dyn Transport) {
    run(transport, |party, at, len| {
        if party.rank == 0 {
            read_often::<u64>(party, at, len);
            read_often::<u32>(party, at + 4, len - 4);
        } else {
            change_often::<u64>(party, at, len);
            change_often::<u32>(party, at + 4, len - 4);
        }
    });
}

/// Reads the right neighbour's range, to destinations aligned as the elements are, and looks at the
/// elements that came.
fn read_often<T: Pod>(party: &Party, at: usize, len: usize) {
    let count = len / size_of::<T>();
    let bytes = count * size_of::<T>();
    let mut buffer = vec![0_u64; len / 8 + 10];
    let buffer = bytemuck::cast_slice_mut::<u64, u8>(&mut buffer);
    for turn in 0..turns(party, len) {
        let dest = &mut buffer[turn as usize % 8 * size_of::<T>()..][..bytes];
        party
            .lane
            .read(dest, party.heap.place(at), party.right())
            .unwrap();
        for (element, piece) in dest.chunks_exact(size_of::<T>()).enumerate() {
            assert_whole(bytemuck::pod_read_unaligned::<T>(piece), element, len);
        }
    }
    party
        .lane
        .inject(1_u64, party.heap.place(DONE), party.right())
        .unwrap();
    party.meet();
    party.meeting.line_up();
}

/// Stores the one and the other value to elements of the own range until the reader is done.
fn change_often<T: Pod>(party: &Party, at: usize, len: usize) {
    let count = len / size_of::<T>();
    let values =
        [OLD, NEW].map(|byte| bytemuck::pod_read_unaligned::<T>(&[byte; 16][..size_of::<T>()]));
    let mut turn = 0;
    while party.heap.acquire(DONE) == 0 {
        party.meeting.give_up_if_failed();
        turn += 1;
        for element in 0..count {
            party
                .heap
                .store(at + element * size_of::<T>(), values[turn % 2]);
        }
    }
    party.meet();
    party.heap.store(DONE, 0_u64);
    party.meeting.line_up();
}

/// Moves single elements: one party injects, the other reads, by the fabric both.
pub(crate) fn by_elements(transport: &dyn Transport) {
    for parties in [2, 3] {
        check(transport, parties, |party| {
            for _ in 0..4 {
                elements::<u16>(party);
                elements::<u32>(party);
                elements::<u64>(party);
            }
        });
    }
}

fn elements<T: Pod>(party: &Party) {
    let place = party.heap.place::<T>(DATA + size_of::<T>());
    let values =
        [OLD, NEW].map(|byte| bytemuck::pod_read_unaligned::<T>(&[byte; 16][..size_of::<T>()]));
    let owner = party.count - 1;
    party.heap.fill(DATA, 64, OLD);
    party.meeting.line_up();
    for turn in 0..party.turns(500_000) as usize {
        if party.rank == 0 {
            party.lane.inject(values[turn % 2], place, owner).unwrap();
        } else {
            assert_whole(
                party.lane.read_element(place, owner).unwrap(),
                0,
                size_of::<T>(),
            );
        }
    }
    party.meet();
}
