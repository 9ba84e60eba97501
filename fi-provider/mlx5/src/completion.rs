//! The completion queue of a lane, as its only consumer sees it.

#![expect(
    unsafe_code,
    reason = "reads entries that a device writes, and writes the doorbell record"
)]

use crate::cqe::{Cqe, is_ready, owner_of};
use crate::doorbell::CompletionRecord;
use crate::endian::Be32;
use crate::opcode::CqeOpcode;
use crate::unit::after_device;
use std::cell::Cell;

/// A completion queue's memory, as its owner mapped it and told the device.
#[derive(Clone, Copy, Debug)]
pub struct CompletionRing {
    /// The first entry.
    pub base: *mut Cqe,
    /// Entries, a power of two.
    pub entries: u32,
    /// The doorbell record.
    pub record: *mut CompletionRecord,
}

/// What an entry told of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completed {
    /// The queue pair.
    pub(crate) number: u32,
    /// The first block of the request.
    pub(crate) index: u16,
    /// The syndrome, where the request failed.
    pub(crate) syndrome: Option<u8>,
}

/// Which of an entry's last eight bytes, as they lie in memory, tell that it is one of a queue: its number, and opcode and owner.
const OF_QUEUE: u64 = 0xff << 56 | 0xff_ff_ff << 8;

const _: () = assert!(
    std::mem::offset_of!(Cqe, opcode_qpn) == 56 && std::mem::offset_of!(Cqe, wqe_counter) == 60
);

/// A ring of completion entries and how far it has been read.
#[derive(Debug)]
pub(crate) struct Completions {
    ring: CompletionRing,
    consumer: Cell<u32>,
}

impl Completions {
    /// # Safety
    /// The ring is mapped as long as this lives, and nobody else consumes from it.
    pub(crate) unsafe fn new(ring: CompletionRing) -> Self {
        Self {
            ring,
            consumer: Cell::new(0),
        }
    }

    pub(crate) fn entries(&self) -> u32 {
        self.ring.entries
    }

    /// The next entry, and its last byte.
    #[inline(always)]
    fn head(&self) -> (*mut Cqe, u8) {
        let index = (self.consumer.get() & (self.ring.entries - 1)) as usize;
        let entry = self.ring.base.wrapping_add(index);
        // SAFETY: the ring is mapped by contract; volatile, because the device writes the byte.
        (entry, unsafe {
            (&raw const (*entry).opcode_owner).read_volatile()
        })
    }

    /// Whether the device has written the next entry.
    pub(crate) fn is_ready(&self) -> bool {
        is_ready(self.head().1, self.consumer.get(), self.ring.entries)
    }

    /// Takes the next entry, if the device has written it and it tells of a success.
    #[inline(always)]
    pub(crate) fn take_success(&self) -> bool {
        let at = self.consumer.get();
        let success =
            CqeOpcode::Requester.number() << 4 | u8::from(owner_of(at, self.ring.entries));
        // The bits between opcode and owner are zero in a requester's entry, but for that of a solicited one, which is not asked for.
        if self.head().1 != success {
            return false;
        }
        // ORDERING: pairs with the device, which writes the last byte after all others, and after the data.
        after_device();
        self.advance(at);
        true
    }

    /// Gives entry `at` back to the device.
    #[inline(always)]
    fn advance(&self, at: u32) {
        let next = at.wrapping_add(1);
        self.consumer.set(next);
        // SAFETY: the record is mapped by contract; volatile, because the device reads it.
        unsafe {
            (&raw mut (*self.ring.record).consumer).write_volatile(Be32::new(next & 0xff_ffff))
        };
    }

    /// Takes the entries that are there as long as they are of the queue with this number and tell of successes; returns how many
    /// they are, and the first block of the request of the last one.
    #[inline(always)]
    pub(crate) fn take_all_of(&self, number: u32) -> (u32, u16) {
        let (first, entries) = (self.consumer.get(), self.ring.entries);
        // As the last eight bytes have it, between the opcode of the request and its first block.
        let number = u64::from(number.to_be());
        let (mut at, mut index) = (first, 0);
        loop {
            let entry = self.ring.base.wrapping_add((at & (entries - 1)) as usize);
            // SAFETY: the ring is mapped by contract, and entries are aligned; volatile, because the device writes it. The last byte, by
            // which it is known, is written after the others, and read at the same time.
            let word = unsafe { entry.cast::<u64>().add(7).read_volatile() };
            let success = u64::from(CqeOpcode::Requester.number() << 4);
            let success = success | u64::from(owner_of(at, entries));
            if word & OF_QUEUE != number | success << 56 {
                break;
            }
            index = ((word >> 32) as u16).swap_bytes();
            at = at.wrapping_add(1);
        }
        let count = at.wrapping_sub(first);
        if count > 0 {
            // ORDERING: pairs with the device, which writes the last byte after all others, and after the data.
            after_device();
            self.advance(at.wrapping_sub(1));
        }
        (count, index)
    }

    /// Takes the next entry whole, if the device has written it.
    pub(crate) fn take(&self) -> Option<Cqe> {
        let at = self.consumer.get();
        let (entry, last) = self.head();
        if !is_ready(last, at, self.ring.entries) {
            return None;
        }
        // ORDERING: pairs with the device, which writes the last byte after all others.
        after_device();
        // SAFETY: the entry belongs to software now.
        let cqe = unsafe { entry.read() };
        self.advance(at);
        Some(cqe)
    }

    /// Takes the next entry, if the device has written it.
    #[inline(always)]
    pub(crate) fn next(&self) -> Option<Completed> {
        let at = self.consumer.get();
        let (entry, last) = self.head();
        if !is_ready(last, at, self.ring.entries) {
            return None;
        }
        // ORDERING: pairs with the device, which writes the last byte after all others.
        after_device();
        // SAFETY: the entry belongs to software now.
        let entry = unsafe { &*entry };
        let done = Completed {
            number: entry.qpn(),
            index: entry.wqe_counter.get(),
            syndrome: (last >> 4 != CqeOpcode::Requester.number()).then(|| entry.syndrome()),
        };
        self.advance(at);
        Some(done)
    }
}
