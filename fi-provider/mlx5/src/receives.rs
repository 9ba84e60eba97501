//! A shared receive queue and the completions of its receives, as their only user sees them.
//!
//! Entry `i` has buffer `i`, always: its data segment is written once. The device uses the entries
//! in the order of a list that goes through them, of which it has read a part; so an entry is given
//! back by linking it behind the list's last one, the tail. The tail is not the device's as long as
//! its link leads nowhere.
//!
//! The device is told of entries and completions that are passed by batches: meanwhile it has as
//! many entries fewer.

#![expect(
    unsafe_code,
    reason = "writes entries that a device reads, and their doorbell record"
)]

use crate::completion::{CompletionRing, Completions, OF_QUEUE};
use crate::queue::count;
use crate::unit::{after_device, receive_before_record};
use fi_mlx5_defs::cqe::{Cqe, INVALID};
use fi_mlx5_defs::endian::{Be16, Be32};
use fi_mlx5_defs::opcode::CqeOpcode;
use fi_mlx5_defs::wqe::{Data, SrqNext};
use std::cell::Cell;
use std::sync::atomic::{Ordering, fence};

/// An entry of a shared receive queue with one buffer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ReceiveEntry {
    next: SrqNext,
    data: Data,
}

/// The bits of a completion's last byte that hold its opcode.
const OPCODE: u8 = 0xf0;
/// The device is told of entries that are passed when they are one of so many parts of all, and at
/// most so many.
const BATCHES: u32 = 32;
const LARGEST: u32 = 16;

/// A shared receive queue's memory, as its owner mapped it and told the device.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveRing {
    /// The first entry.
    pub base: *mut ReceiveEntry,
    /// Entries, a power of two.
    pub entries: u32,
    /// The doorbell record.
    pub record: *mut Be32,
}

/// Registered memory of the buffers: that of entry `i` begins `i * bytes` behind `address`.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    /// Address of the first buffer, in the terms of the key.
    pub address: u64,
    /// Bytes of one.
    pub bytes: u32,
    /// The local key.
    pub key: u32,
}

/// A message that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The entry, whose buffer it is in until the entry is given back.
    pub index: u16,
    /// The queue pair or target of this process that it came to.
    pub queue: u32,
    /// Bytes of it in the buffer. A write with immediate data leaves none there.
    pub bytes: u32,
    /// The immediate data that came with it.
    pub immediate: Option<u32>,
}

/// A message that was looked at, and not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peeked {
    /// The entry.
    pub index: u16,
    /// Bytes of it in the buffer.
    pub bytes: u32,
    /// [`Cqe::opcode_qpn`] as it lies in memory.
    number: u32,
}

impl Peeked {
    /// Returns whether the message came to such a queue.
    #[inline(always)]
    #[must_use]
    pub fn is_to(&self, expected: Expected) -> bool {
        self.number & expected.mask == expected.number
    }
}

/// The queue pair that messages come to, or any: as a completion has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    mask: u32,
    number: u32,
}

impl Expected {
    /// Makes the one of the queue pair of this number; `None` stands for any.
    #[must_use]
    pub fn queue(number: Option<u32>) -> Self {
        Self {
            mask: number.map_or(0, |_| OF_QUEUE),
            number: number.map_or(0, u32::to_be),
        }
    }
}

/// A receive that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The queue pair, which is in the error state then, or the target.
    pub queue: u32,
    /// Cause of the failure ([`fi_mlx5_defs::opcode::Syndrome`]); 0 where the device told of no
    /// error.
    pub syndrome: u8,
    /// The entry that was used up for it, if any: it has to be given back, too.
    pub index: Option<u16>,
}

/// See the module's documentation.
#[derive(Debug)]
pub struct Receives {
    base: *mut ReceiveEntry,
    record: *mut Be32,
    completions: Completions,
    /// The last entry of the list.
    tail: Cell<u16>,
    /// Entries given to the device so far, modulo 2^16.
    given: Cell<u16>,
    /// As many completions before the next one as there are entries that were passed and that the
    /// device was not told of.
    untold: Cell<*mut Cqe>,
    /// Bits that are 0 in the addresses behind a batch of completions, and at the end of the ring.
    batch: usize,
    /// Whether each entry was taken from the device, and not given back yet.
    taken: Box<[Cell<bool>]>,
}

impl Receives {
    /// Makes the receives of a queue, each with its buffer. The device is given all but one.
    ///
    /// # Safety
    /// * Both rings are mapped as long as this lives, and nobody else posts to the one or consumes
    ///   from the other. They are as they were made: nothing was posted, nothing completed.
    /// * The buffers are registered for the device to write. Nobody has a reference to one that
    ///   was not taken by [`Receives::next`], or that was given back since.
    #[must_use]
    pub unsafe fn new(ring: ReceiveRing, completions: CompletionRing, buffers: Buffers) -> Self {
        let entries = ring.entries;
        assert!(entries.is_power_of_two() && (2..=1 << 16).contains(&entries));
        assert!(completions.entries >= entries, "one for each receive");
        assert!(buffers.bytes > 0, "a length of 0 stands for 2^31");
        for index in 0..entries {
            let entry = ReceiveEntry {
                next: SrqNext {
                    next_index: Be16::new(((index + 1) & (entries - 1)) as u16),
                    ..SrqNext::default()
                },
                data: Data::new(
                    buffers.address + u64::from(index) * u64::from(buffers.bytes),
                    buffers.bytes,
                    buffers.key,
                ),
            };
            // SAFETY: the entry is in the ring, which is mapped; nothing was posted, so that the
            // device reads none.
            unsafe { ring.base.add(index as usize).write(entry) };
        }
        // SAFETY: the ring is mapped, and nothing has completed.
        unsafe { forget(completions) };
        let receives = Self {
            base: ring.base,
            record: ring.record,
            // SAFETY: the ring is mapped as long as this lives, and nobody else consumes from it.
            completions: unsafe { Completions::new(completions) },
            tail: Cell::new((entries - 1) as u16),
            given: Cell::new(0),
            untold: Cell::new(completions.base),
            batch: batch(&completions),
            taken: vec![Cell::new(false); entries as usize].into_boxed_slice(),
        };
        receives.count((entries - 1) as u16);
        receives
    }

    /// Returns the number of entries, of which the device has one fewer at most.
    #[must_use]
    pub fn entries(&self) -> u32 {
        self.taken.len() as u32
    }

    /// Takes the next message or failure, if the device has told of one. The entry is the caller's
    /// until [`Receives::give`].
    #[inline(always)]
    pub fn next(&self) -> Option<Result<Arrival, Failed>> {
        if !self.is_ready() {
            return None;
        }
        // ORDERING: pairs with the device, which writes the last byte after all others, and after
        // the data.
        after_device();
        // SAFETY: the last byte has told that the device has written the entry.
        let received = self.received(unsafe { self.completions.entry() });
        self.untold.set(self.untold.get().wrapping_add(1));
        self.go_on();
        Some(received)
    }

    /// Returns whether the device has told of a message or a failure that was not taken yet.
    #[inline(always)]
    #[must_use]
    pub fn is_ready(&self) -> bool {
        // `forget` has left no entry that is not written and has the owner bit of the first round.
        self.completions.last() & 1 == self.completions.owner()
    }

    /// Returns the number of completions that were taken so far, modulo 2^24: the argument of
    /// [`ReceiveQueue::arm`](crate::device::ReceiveQueue::arm).
    #[must_use]
    pub fn consumed(&self) -> u32 {
        self.settle();
        self.completions.consumed()
    }

    /// Returns the next message, if the device has told of one and it came by a plain send: without
    /// taking it. [`Receives::pass`] does, or [`Receives::next`].
    #[inline(always)]
    #[must_use]
    pub fn peek(&self) -> Option<Peeked> {
        // SAFETY: the device has told of a completion.
        self.is_ready().then(|| unsafe { self.peek_ready() })?
    }

    /// Does as [`Receives::peek`].
    ///
    /// # Safety
    /// [`Receives::is_ready`] has returned true, and nothing was taken or passed since.
    #[inline(always)]
    #[must_use]
    pub unsafe fn peek_ready(&self) -> Option<Peeked> {
        if self.completions.last() & OPCODE != CqeOpcode::ReceiveSend.number() << 4 {
            return None;
        }
        // ORDERING: pairs with the device, which writes the last byte after all others, and after
        // the data.
        after_device();
        // SAFETY: the device has written the entry, as the caller was told.
        let cqe = unsafe { self.completions.entry() };
        let index = cqe.wqe_counter.get();
        let taken = self.taken.get(usize::from(index))?;
        (!taken.get()).then(|| Peeked {
            index,
            bytes: cqe.byte_count.get(),
            number: cqe.opcode_qpn.raw(),
        })
    }

    /// Returns the message that [`Receives::peek`] has just returned, of an entry of this index.
    ///
    /// # Safety
    /// It did, and nothing was taken or passed since.
    #[inline(always)]
    #[must_use]
    pub unsafe fn seen(&self, index: u16) -> Peeked {
        // SAFETY: the device has written the entry, as `peek` has found before `after_device`.
        let cqe = unsafe { self.completions.entry() };
        Peeked {
            index,
            bytes: cqe.byte_count.get(),
            number: cqe.opcode_qpn.raw(),
        }
    }

    /// Takes the message that [`Receives::peek`] has just returned, and gives its entry back.
    #[inline(always)]
    pub fn pass(&self, peeked: &Peeked) {
        self.link(peeked.index);
        self.go_on();
    }

    /// Goes on at the next completion.
    #[inline(always)]
    fn go_on(&self) {
        if self.completions.pass(self.batch) {
            self.settle();
        }
    }

    /// Returns the number of entries that were passed and that the device was not told of.
    #[inline(always)]
    fn untold(&self) -> u32 {
        let bytes = self.completions.place().addr() - self.untold.get().addr();
        (bytes / size_of::<Cqe>()) as u32
    }

    /// Tells the device of all that was passed.
    #[inline(always)]
    fn settle(&self) {
        let passed = self.untold();
        // Before the entries: for the completion of each that the device has there is room.
        self.completions.settle();
        self.untold.set(self.completions.place());
        self.count(passed as u16);
    }

    #[inline(always)]
    fn received(&self, cqe: &Cqe) -> Result<Arrival, Failed> {
        let (index, queue) = (cqe.wqe_counter.get(), cqe.qpn());
        let (bytes, immediate) = match cqe.opcode() {
            Some(CqeOpcode::ReceiveSend) => (cqe.byte_count.get(), None),
            Some(CqeOpcode::ReceiveSendImmediate) => {
                (cqe.byte_count.get(), Some(cqe.immediate.get()))
            }
            Some(CqeOpcode::ReceiveWriteImmediate) => (0, Some(cqe.immediate.get())),
            _ => return Err(self.failed(cqe)),
        };
        if !self.take(index) {
            return Err(self.failed(cqe));
        }
        Ok(Arrival {
            index,
            queue,
            bytes,
            immediate,
        })
    }

    /// Takes an entry from the device; false where it has no such entry.
    #[inline(always)]
    fn take(&self, index: u16) -> bool {
        let taken = self.taken.get(usize::from(index));
        taken.is_some_and(|taken| !taken.replace(true))
    }

    /// Returns the failure that a completion tells of. A receive of a shared queue completes with
    /// an error only where an entry was used up for it, flushed ones included (rdma-core:
    /// mlx5_parse_cqe, mlx5_free_srq_wqe). Where the device tells of an entry that it does not
    /// have, there is none to give back.
    #[cold]
    fn failed(&self, cqe: &Cqe) -> Failed {
        let index = cqe.wqe_counter.get();
        Failed {
            queue: cqe.qpn(),
            syndrome: if cqe.is_error() { cqe.syndrome() } else { 0 },
            index: self.take(index).then_some(index),
        }
    }

    /// Gives an entry back, for another message: it becomes the list's last.
    ///
    /// # Panics
    /// When the entry was not taken by [`Receives::next`] since it was given the last time.
    #[inline(always)]
    pub fn give(&self, index: u16) {
        let taken = self.taken.get(usize::from(index));
        if !taken.is_some_and(|taken| taken.replace(false)) {
            not_taken(index);
        }
        self.link(index);
        // Before the entry, as in `settle`.
        self.completions.tell();
        self.count(1);
    }

    /// Makes an entry, which is not the device's, the last one of the list. It is the device's when
    /// that is told ([`Receives::count`]).
    #[inline(always)]
    fn link(&self, index: u16) {
        // ORDERING: reads of the buffer come before the device's writes there: pairs with
        // the device's read of the record.
        fence(Ordering::Release);
        let tail = self
            .base
            .wrapping_add(usize::from(self.tail.replace(index)));
        // SAFETY: the tail is an entry of the ring, which is mapped (`Receives::new`), and not the
        // device's yet; volatile, because the device reads it.
        unsafe { (&raw mut (*tail).next.next_index).write_volatile(Be16::new(index)) };
    }

    /// Tells the device of so many more entries.
    #[inline(always)]
    fn count(&self, more: u16) {
        let given = self.given.get().wrapping_add(more);
        self.given.set(given);
        receive_before_record();
        // SAFETY: the record is mapped with the ring (`Receives::new`).
        unsafe { count(self.record, given) };
    }
}

/// Returns the bits that are 0 in the addresses behind a batch of completions, and at the end of
/// the ring: none where the ring is not aligned to a batch.
fn batch(ring: &CompletionRing) -> usize {
    let many = (ring.entries / BATCHES).clamp(1, LARGEST) as usize;
    let bytes = many * size_of::<Cqe>();
    if ring.base.addr().is_multiple_of(bytes) {
        bytes - 1
    } else {
        0
    }
}

/// Gives all entries the owner bit of the round before the first.
///
/// # Safety
/// The ring is mapped, and the device has written none.
unsafe fn forget(ring: CompletionRing) {
    for at in 0..ring.entries as usize {
        // SAFETY: the entry is in the ring, which is mapped; the device reads none, and writes none
        // as long as no receive was posted.
        unsafe { (&raw mut (*ring.base.add(at)).opcode_owner).write(INVALID | 1) };
    }
}

#[cold]
#[inline(never)]
fn not_taken(index: u16) -> ! {
    panic!("receive {index} was given back, and not taken before");
}

#[cfg(test)]
mod tests;
