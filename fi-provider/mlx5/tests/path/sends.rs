//! Messages: their entries, byte by byte, and whether there is room for them.

use crate::entries::one;
use crate::model::{DC_KEY, LOCAL, Rig, Shape, Taken, device};
use fi_mlx5::lane::{Lane, Later, Local, Posted};
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::opcode::{Opcode, Syndrome};
use fi_mlx5_defs::wqe::CompactAddress;
use std::sync::Arc;

/// As many words as fit inline with one piece.
const WORDS: [u64; 25] = [0x0102_0304_0506_0708; 25];

impl Rig {
    fn send_inline(&self, peer: u32, bytes: &[u8]) -> Posted {
        let (source, len) = (bytes.as_ptr(), bytes.len());
        // SAFETY: the lane is alive and this thread's; the peer is one of its, and the bytes are as
        // many as said.
        let posted = unsafe { self.lane.send_inline(peer, &self.vector, source, len) };
        posted.expect("posted")
    }

    fn send(&self, header: &[u64], pieces: &[Local]) -> Posted {
        let pieces = pieces.iter().copied();
        // SAFETY: the lane is alive and this thread's; the peer is one of its; no device touches the
        // memory.
        let posted = unsafe { self.lane.send_headed(0, &self.vector, header, pieces) };
        posted.expect("posted")
    }

    fn has_room(&self, peer: u32) -> bool {
        // SAFETY: the lane is alive and this thread's; the peer is one of its.
        unsafe { self.lane.has_room(peer, |_| ()) }
    }
}

/// Returns the message that `taken` is, without its data.
fn built(rig: &Rig, taken: &Taken) -> Entry {
    let (index, number) = (taken.control.index(), taken.control.qpn());
    let entry = Entry::new(Opcode::Send, index, number).flags(taken.control.flags);
    if rig.shape.dynamic {
        entry.address(CompactAddress::dc(DC_KEY, 0x0003_2100, 0x17))
    } else {
        entry
    }
}

/// Checks that the next entry is this one, and has a completion.
fn is(taken: &Taken, expected: Entry) {
    assert_eq!(taken.bytes, expected.finish().expect("it fits"));
    assert!(taken.signalled());
}

#[test]
fn messages_are_those_of_build() {
    for shape in [Shape::RC, Shape::DC] {
        let rig = Rig::new(shape);
        let bytes = WORDS.map(u64::to_ne_bytes).concat();
        for len in [1, 8, 12, 13, 100, 200] {
            rig.send_inline(0, &bytes[..len]);
            let taken = one();
            is(&taken, built(&rig, &taken).inline(&bytes[..len]));
        }
        let all = vec![LOCAL; Lane::SEGMENTS];
        let data = |entry: Entry| entry.data(LOCAL.address, LOCAL.length, LOCAL.key);
        for (words, pieces) in [(0, 1), (0, 13), (1, 13), (2, 1), (3, 12), (25, 1), (25, 0)] {
            rig.send(&WORDS[..words], &all[..pieces]);
            let taken = one();
            let mut expected = built(&rig, &taken);
            if words > 0 {
                expected = expected.inline(&bytes[..words * 8]);
            }
            is(&taken, (0..pieces).fold(expected, |entry, _| data(entry)));
        }
        rig.quiet().expect("done");
    }
}

#[test]
fn segments_of_no_bytes_are_left_out() {
    let rig = Rig::new(Shape::RC);
    let nothing = Local { length: 0, ..LOCAL };
    rig.send_inline(0, &[]);
    let taken = one();
    is(&taken, built(&rig, &taken));
    rig.send(&[], &[nothing, LOCAL, nothing]);
    let taken = one();
    let expected = built(&rig, &taken).data(LOCAL.address, LOCAL.length, LOCAL.key);
    is(&taken, expected);
}

/// Panics: the device does nothing by itself, so that a wait would last for ever.
extern "C" fn never() -> i32 {
    panic!("the lane waits");
}

/// Lets the device do all entries that were posted to the first queue.
fn finish_all() {
    device(|device| {
        device.look();
        while device.is_pending(0) {
            device.finish(0);
        }
    });
}

#[test]
fn where_there_is_room_nobody_waits() {
    for (blocks, completions) in [(16, 64), (64, 64), (64, 8)] {
        for shape in [Shape::RC, Shape::DC] {
            let shape = Shape {
                blocks,
                completions,
                ..shape
            };
            let rig = Rig::with_hook(shape, never);
            let mut posted = 0;
            // Entries of four blocks, and elements in line between them.
            while rig.has_room(0) {
                rig.send(&WORDS[..25], &[LOCAL]);
                rig.inject(0, 1_u64, 0x1000);
                posted += 1;
                assert!(posted < 64, "more than fits");
            }
            assert!(posted >= 2, "{posted}");
            // Another queue's room is its own, as long as there are completions.
            if !shape.dynamic && completions == 64 {
                assert!(rig.has_room(1));
            }
            finish_all();
            assert!(rig.has_room(0), "it takes completions");
        }
    }
}

#[test]
fn completions_of_posts_in_line_take_room_too() {
    let shape = Shape {
        completions: 8,
        ..Shape::RC
    };
    let mut refused = 0;
    for others in 0..8 {
        let rig = Rig::with_hook(shape, never);
        rig.send_inline(0, &[1]);
        finish_all();
        rig.quiet().expect("done");
        assert!(rig.inject(0, 1_u64, 0x1000), "the queue is armed");
        for _ in 0..others {
            if rig.has_room(1) {
                rig.send_inline(1, &[1]);
            }
        }
        if rig.has_room(0) {
            rig.send_inline(0, &[1]);
        } else {
            refused += 1;
        }
    }
    assert!((1..5).contains(&refused), "{refused}");
}

#[test]
fn a_queue_that_has_failed_keeps_nobody_waiting() {
    let rig = Rig::with_hook(Shape::RC, never);
    while rig.has_room(0) {
        rig.send(&WORDS[..25], &[LOCAL]);
    }
    device(|device| {
        device.look();
        device.fail(0, Syndrome::RemoteAborted);
    });
    assert!(rig.has_room(0) && rig.has_room(1));
    // SAFETY: the lane is alive and this thread's; the peer is one of its.
    let refused = unsafe { rig.lane.send(0, &rig.vector, []) };
    assert!(refused.is_err());
}

#[test]
fn a_peer_that_changes_its_queue_has_room_when_it_can() {
    let rig = Rig::with_hook(
        Shape {
            queues: 2,
            later: 2,
            ..Shape::DC
        },
        never,
    );
    let later = device(|device| device.later.clone());
    let later: Arc<Later> = later.expect("a lane that gets queues later");
    rig.send_inline(0, &[1]);
    rig.inject(0, 1_u64, 0x1000);
    let ring = device(|device| device.ring(1));
    // SAFETY: the device lives longer than the lane.
    unsafe { later.offer(0, ring) };
    assert!(
        !rig.has_room(0),
        "entries are on their way by the other queue"
    );
    assert!(rig.has_room(1));
    finish_all();
    assert!(rig.has_room(0));
    rig.send_inline(0, &[2]);
    assert_eq!(later.taken(), 1);
}
