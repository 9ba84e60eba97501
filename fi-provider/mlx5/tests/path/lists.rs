//! Lists: one doorbell for all of one, completions where they are asked for, and no way to fill a ring for good.

use crate::model::{HALF, KEY, LOCAL, Rig, Shape, Taken, device};
use fi_mlx5::lane::{Payload, Signals, Write};
use fi_mlx5_defs::endian::Be32;
use fi_mlx5_defs::wqe::BASIC_BLOCK;

static BYTES: [u8; 200] = [0x5a; 200];

/// Makes a list of writes of so many bytes in the entry.
fn list(count: usize, len: usize) -> Vec<Write> {
    let write = |at: usize| Write {
        address: 0x1000 + at as u64,
        key: Be32::new(KEY),
        payload: Payload::Inline(BYTES.as_ptr(), len),
    };
    (0..count).map(write).collect()
}

fn post(rig: &Rig, peer: u32, list: &[Write], signals: &mut Signals) {
    // SAFETY: the bytes are there; no device touches local memory.
    unsafe { rig.lane.write_list(peer, &rig.vector, list, signals) }.expect("room");
}

/// Returns the entries that were seen since the last time.
fn seen() -> Vec<Taken> {
    device(|device| {
        device.look();
        std::mem::take(&mut device.log)
    })
}

#[test]
fn a_list_is_rung_once_by_the_first_word_of_its_last_entry() {
    for shape in [Shape::RC, Shape::DC] {
        let rig = Rig::new(shape);
        let mut signals = Signals::every(4);
        let before = device(|device| [device.half(0), device.half(1)]);
        post(&rig, 0, &list(8, 2), &mut signals);
        let entries = seen();
        let signalled: Vec<bool> = entries.iter().map(Taken::signalled).collect();
        let expected = [false, false, false, true].repeat(2);
        assert_eq!(signalled, expected, "{shape:?}");
        let halves = device(|device| [device.half(0), device.half(1)]);
        assert_eq!(halves[0][..8], entries[7].bytes[..8]);
        assert_eq!((&halves[0][8..], halves[1]), (&before[0][8..], before[1]));
    }
}

#[test]
fn a_list_of_one_entry_is_copied_to_the_register_by_turns() {
    let rig = Rig::new(Shape::RC);
    let mut signals = Signals::every(2);
    for half in [0, 1, 0] {
        post(&rig, 1, &list(1, 50), &mut signals);
        let entries = seen();
        let [taken] = &entries[..] else {
            panic!("{entries:?}");
        };
        let copy = device(|device| device.half(half));
        assert_eq!(copy[..taken.bytes.len()], taken.bytes[..]);
    }
    // Without BlueFlame, its first word is written.
    let rig = Rig::new(Shape {
        register: 0,
        ..Shape::RC
    });
    post(&rig, 1, &list(1, 50), &mut signals);
    let first = seen().pop().expect("an entry");
    let register = device(|device| device.half(0));
    assert_eq!(register[..8], first.bytes[..8]);
    assert_eq!(register[8..], [0; HALF - 8]);
}

#[test]
fn completions_are_counted_through_all_lists() {
    let rig = Rig::new(Shape {
        queues: 1,
        blocks: 128,
        completions: 2,
        ..Shape::RC
    });
    let mut signals = Signals::every(64);
    let mut entries = Vec::new();
    // Eight times around the ring, with room for two completions.
    for _ in 0..32 {
        post(&rig, 0, &list(32, 2), &mut signals);
        entries.extend(seen());
    }
    rig.quiet().expect("quiet");
    entries.extend(seen());
    assert_eq!(entries.len(), 1024);
    for (at, entry) in entries.iter().enumerate() {
        assert_eq!(entry.signalled(), at % 64 == 63, "entry {at}");
    }
}

#[test]
fn rings_that_nobody_asks_completions_of_do_not_fill_up() {
    for len in [2, 60, 150, 190] {
        for shape in [Shape::RC, Shape::DC] {
            let rig = Rig::new(shape);
            let mut signals = Signals::every(u32::MAX);
            for peer in [0, 1, 0] {
                post(&rig, peer, &list(100, len), &mut signals);
            }
            rig.drain(0).expect("drained");
            rig.quiet().expect("quiet");
            let entries = seen();
            let writes = entries.iter().filter(|entry| !entry.is_nop()).count();
            assert_eq!(writes, 300, "{shape:?}, {len} bytes");
            let silent = entries.iter().filter(|entry| entry.queue == 0);
            let mut blocks = 0;
            for entry in silent {
                blocks += entry.bytes.len().div_ceil(BASIC_BLOCK);
                if entry.signalled() {
                    blocks = 0;
                }
                assert!(blocks <= shape.blocks as usize / 2);
            }
            assert_eq!(blocks, 0, "the last one has a completion");
        }
    }
}

#[test]
fn lists_and_other_posts_follow_each_other() {
    let rig = Rig::new(Shape::RC);
    let mut signals = Signals::every(3);
    for round in 0..200 {
        post(&rig, 0, &list(round % 7, 2), &mut signals);
        if !rig.inject(0, round as u64, 0x2000) {
            rig.write(0, &BYTES[..8]).expect("room");
        }
        if round % 5 == 0 {
            // SAFETY: no device touches the memory.
            unsafe { rig.lane.read(rig.to(0, 8), LOCAL) }.expect("room");
            rig.lane.fence();
        }
        if round % 11 == 0 {
            rig.quiet().expect("quiet");
        }
    }
    rig.quiet().expect("quiet");
    let entries = seen();
    let fenced = entries.iter().filter(|entry| entry.fenced()).count();
    assert!(fenced > 20, "{fenced} entries wait for reads");
    let all = (0..200).map(|round| round % 7 + 1 + usize::from(round % 5 == 0));
    let posted = entries.iter().filter(|entry| !entry.is_nop()).count();
    assert_eq!(posted, all.sum::<usize>());
}
