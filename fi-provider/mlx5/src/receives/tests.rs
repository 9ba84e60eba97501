//! A receive queue over a model of a device in plain memory, which goes through the list as a
//! device does: it knows nothing but its place in the list, and how many entries it was given.

use super::*;
use bytemuck::Zeroable;
use fi_mlx5_defs::cqe::owner_of;
use fi_mlx5_defs::doorbell::CompletionRecord;
use fi_mlx5_defs::opcode::Syndrome;
use std::collections::HashSet;

const BUFFERS: Buffers = Buffers {
    address: 0x7000_0000_1000,
    bytes: 96,
    key: 0x1234_5678,
};

struct Model {
    receives: Receives,
    ring: ReceiveRing,
    completions: CompletionRing,
    /// The next entry of the list.
    head: u16,
    /// Entries used up so far, modulo 2^16.
    used: u16,
    /// Completions so far.
    told: u32,
}

/// Allocates memory that is the model's for ever.
fn leak<T: Clone>(value: T, count: usize) -> *mut T {
    Box::leak(vec![value; count].into_boxed_slice()).as_mut_ptr()
}

const PAGE: usize = 4096;

/// Returns the begin of the next page.
fn aligned<T>(memory: *mut T) -> *mut T {
    memory.wrapping_byte_add(memory.cast::<u8>().align_offset(PAGE))
}

impl Model {
    fn new(entries: u32) -> Self {
        let nothing = ReceiveEntry {
            next: SrqNext::default(),
            data: Data::default(),
        };
        let empty = Cqe {
            opcode_owner: INVALID,
            ..Cqe::zeroed()
        };
        let ring = ReceiveRing {
            base: leak(nothing, entries as usize),
            entries,
            record: leak(Be32::new(0), 1),
        };
        let completions = CompletionRing {
            base: aligned(leak(empty, entries as usize + PAGE / size_of::<Cqe>())),
            entries,
            record: leak(CompletionRecord::zeroed(), 1),
            is_checked: true,
        };
        Self {
            // SAFETY: the rings live for ever, and are as they were made; nobody writes to the
            // buffers.
            receives: unsafe { Receives::new(ring, completions, BUFFERS) },
            ring,
            completions,
            head: 0,
            used: 0,
            told: 0,
        }
    }

    /// Returns the number of entries that the device has.
    fn posted(&self) -> u16 {
        // SAFETY: the record lives for ever.
        let record = unsafe { self.ring.record.read_volatile() }.get();
        assert!(record <= 0xffff);
        (record as u16).wrapping_sub(self.used)
    }

    /// Takes the next entry out of the list, as for a message; none where none is posted.
    fn take(&mut self) -> Option<u16> {
        if self.posted() == 0 {
            return None;
        }
        let index = self.head;
        // SAFETY: the entry is in the ring.
        let entry = unsafe { self.ring.base.add(index.into()).read_volatile() };
        let address = BUFFERS.address + u64::from(index) * 96;
        assert_eq!(entry.data, Data::new(address, 96, BUFFERS.key));
        self.head = entry.next.next_index.get();
        self.used = self.used.wrapping_add(1);
        Some(index)
    }

    /// Tells of a receive.
    fn tell(&mut self, mut cqe: Cqe, index: u16) {
        let entries = self.completions.entries;
        let at = self.told & (entries - 1);
        cqe.wqe_counter = Be16::new(index);
        cqe.opcode_qpn = Be32::new(0x42);
        cqe.set_owner(owner_of(self.told, entries));
        // SAFETY: the entry is in the ring, and was read if it was written before.
        unsafe { self.completions.base.add(at as usize).write_volatile(cqe) };
        // SAFETY: the record lives for ever.
        let taken = unsafe { (*self.completions.record).consumer.get() };
        let there = self.told.wrapping_sub(taken) & 0xff_ff_ff;
        assert!(there < entries, "one that was not taken is written over");
        self.told += 1;
    }

    fn message(&mut self, opcode: CqeOpcode, index: u16) {
        let mut cqe = Cqe::new(opcode);
        cqe.byte_count = Be32::new(7 + u32::from(index));
        cqe.immediate = Be32::new(0xabcd);
        self.tell(cqe, index);
    }

    fn failure(&mut self, index: u16) {
        let mut cqe = Cqe::new(CqeOpcode::ResponderError);
        cqe.set_syndrome(Syndrome::Flushed, 0);
        self.tell(cqe, index);
    }
}

#[test]
fn the_list_has_every_entry_once_however_they_come_and_go() {
    for entries in [2, 8, 64, 512] {
        let mut model = Model::new(entries);
        let (mut at_work, mut held) = (Vec::new(), Vec::new());
        let (mut random, mut most) = (1_u64, 0);
        // The counters go round more than once.
        for _ in 0..200_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let drawn = (random >> 33) as usize;
            match drawn % 3 {
                0 => at_work.extend(model.take()),
                // Messages may be complete in another order than that of their entries.
                1 if !at_work.is_empty() => {
                    let index = at_work.swap_remove(drawn / 3 % at_work.len());
                    model.message(CqeOpcode::ReceiveSend, index);
                    let peeked = model.receives.peek().expect("a message");
                    assert_eq!(model.receives.peek(), Some(peeked), "it is not taken");
                    assert_eq!(peeked.index, index);
                    assert_eq!(peeked.bytes, 7 + u32::from(index));
                    for (queue, is_it) in [(Some(0x42), true), (Some(0x43), false), (None, true)] {
                        assert_eq!(peeked.is_to(Expected::queue(queue)), is_it);
                    }
                    if drawn.is_multiple_of(2) {
                        model.receives.pass(&peeked);
                    } else {
                        let arrival = Arrival {
                            index,
                            queue: 0x42,
                            bytes: peeked.bytes,
                            immediate: None,
                        };
                        assert_eq!(model.receives.next(), Some(Ok(arrival)));
                        held.push(index);
                    }
                }
                2 if !held.is_empty() => {
                    let index = held.swap_remove(drawn / 3 % held.len());
                    model.receives.give(index);
                }
                _ => {}
            }
            assert_eq!((model.receives.next(), model.receives.peek()), (None, None));
            let posted = u32::from(model.posted());
            let untold = model.receives.untold();
            most = most.max(untold);
            let others = (at_work.len() + held.len()) as u32;
            assert_eq!(posted + untold + others, entries - 1);
        }
        assert!(most < (entries / 32).clamp(1, 16) && (most > 0) == (entries >= 64));
        at_work.iter().for_each(|&index| model.failure(index));
        while let Some(failed) = model.receives.next() {
            held.extend(failed.expect_err("a failure").index);
        }
        held.drain(..).for_each(|index| model.receives.give(index));
        assert_eq!(model.receives.consumed(), model.told & 0xff_ff_ff);
        let all: HashSet<_> = std::iter::from_fn(|| model.take()).collect();
        assert_eq!(all.len(), entries as usize - 1);
    }
}

#[test]
fn the_device_is_told_of_entries_that_are_passed_by_batches() {
    let mut model = Model::new(512);
    for round in 1..2000 {
        let index = model.take().expect("an entry");
        model.message(CqeOpcode::ReceiveSend, index);
        let peeked = model.receives.peek().expect("a message");
        model.receives.pass(&peeked);
        assert_eq!(model.receives.untold(), round % 16);
        assert_eq!(u32::from(model.posted()), 511 - round % 16);
    }
    assert_eq!(model.receives.consumed(), 1999);
    assert_eq!((model.receives.untold(), model.posted()), (0, 511));
}

#[test]
fn each_entry_of_the_device_has_room_for_its_completion() {
    for passed in 0..16 {
        let mut model = Model::new(512);
        for round in 0..15 {
            let index = model.take().expect("an entry");
            model.message(CqeOpcode::ReceiveSend, index);
            if round < passed {
                let peeked = model.receives.peek().expect("a message");
                model.receives.pass(&peeked);
            } else {
                let arrival = model.receives.next().expect("told");
                model.receives.give(arrival.expect("a message").index);
            }
        }
        // The model tells of no more than there is room for.
        while let Some(index) = model.take() {
            model.message(CqeOpcode::ReceiveSend, index);
        }
        let taken = std::iter::from_fn(|| model.receives.next()).count();
        assert_eq!(taken as u32, 511 - passed.min(15));
    }
}

#[test]
fn entries_tell_of_their_kind() {
    let mut model = Model::new(8);
    let all = [
        (CqeOpcode::ReceiveSend, 7, None),
        (CqeOpcode::ReceiveSendImmediate, 8, Some(0xabcd)),
        // Of a write as long as the peer likes, nothing is in the buffer.
        (CqeOpcode::ReceiveWriteImmediate, 0, Some(0xabcd)),
    ];
    for (opcode, bytes, immediate) in all {
        let index = model.take().expect("posted");
        model.message(opcode, index);
        let arrival = model.receives.next().expect("told");
        let arrival = arrival.expect("a message");
        assert_eq!((arrival.bytes, arrival.immediate), (bytes, immediate));
    }
}

#[test]
fn failures_leave_the_list_whole() {
    let mut model = Model::new(4);
    let index = model.take().expect("posted");
    model.failure(index);
    let failed = Failed {
        queue: 0x42,
        syndrome: Syndrome::Flushed.number(),
        index: Some(index),
    };
    assert_eq!(model.receives.next(), Some(Err(failed)));
    // An entry that is the program's already, and one that there is not: a device that tells of
    // them has used up none.
    for wrong in [index, 4, 0xffff] {
        model.failure(wrong);
        let none = Failed {
            index: None,
            ..failed
        };
        assert_eq!(model.receives.next(), Some(Err(none)));
        model.message(CqeOpcode::ReceiveSend, wrong);
        let none = Failed {
            syndrome: 0,
            ..none
        };
        assert_eq!(model.receives.next(), Some(Err(none)));
    }
    model.receives.give(index);
    let all: Vec<_> = std::iter::from_fn(|| model.take()).collect();
    assert_eq!(all, [1, 2, 3]);
}

#[test]
#[should_panic(expected = "receive 1 was given back, and not taken before")]
fn nothing_is_given_back_that_was_not_taken() {
    Model::new(4).receives.give(1);
}

#[test]
fn plain_messages_alone_are_seen_before_they_are_taken() {
    let mut model = Model::new(8);
    let mut take = |opcode| {
        let index = model.take().expect("an entry");
        match opcode {
            Some(opcode) => model.message(opcode, index),
            None => model.failure(index),
        }
        let seen = model.receives.peek();
        assert_eq!(seen.is_some(), opcode == Some(CqeOpcode::ReceiveSend));
        let taken = model.receives.next().expect("told");
        let taken = taken.ok().map(|arrival| arrival.index);
        assert!(seen.is_none() || taken == seen.map(|peeked| peeked.index));
    };
    take(Some(CqeOpcode::ReceiveSend));
    take(Some(CqeOpcode::ReceiveSendImmediate));
    take(Some(CqeOpcode::ReceiveWriteImmediate));
    take(None);
    // An entry that the device has not, or twice.
    model.message(CqeOpcode::ReceiveSend, 0);
    assert_eq!(model.receives.peek(), None);
    assert!(model.receives.next().expect("told").is_err());
    model.message(CqeOpcode::ReceiveSend, 8);
    assert_eq!(model.receives.peek(), None);
}
