//! The completion queue of a lane, as its only consumer sees it.
//!
//! An entry is known by its last byte, which is written last: by the device, or by the thread that
//! puts entries into the inbox of a lane ([`crate::lane::SharedCompletions`]). It is the only byte
//! that is read before the entry is the consumer's, and it is read by atomic loads of its size
//! alone, as it is written.

#![expect(
    unsafe_code,
    reason = "reads entries that a device writes, and writes the doorbell record"
)]

use crate::unit::after_device;
use fi_mlx5_defs::cqe::{Cqe, is_ready, owner_of};
use fi_mlx5_defs::doorbell::CompletionRecord;
use fi_mlx5_defs::endian::Be32;
use fi_mlx5_defs::opcode::CqeOpcode;
use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};

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

/// Which bytes of an entry's [`Cqe::opcode_qpn`], as they lie in memory, are the queue's number.
const OF_QUEUE: u32 = 0xff_ff_ff << 8;

/// The last byte of an entry.
///
/// # Safety
/// The entry is inside a ring that is mapped, of which the caller is the only consumer.
#[inline(always)]
unsafe fn last_byte(entry: *mut Cqe) -> u8 {
    // SAFETY: the entry is inside a ring that is mapped; a byte is aligned, and while the entry is
    // not the consumer's the byte is accessed by atomic operations alone.
    let last = unsafe { AtomicU8::from_ptr(&raw mut (*entry).opcode_owner) };
    // ORDERING: none yet; who uses the entry calls `after_device`.
    last.load(Ordering::Relaxed)
}

impl CompletionRing {
    /// Where entry `at` is.
    #[inline(always)]
    fn entry(self, at: u32) -> *mut Cqe {
        let index = (at & (self.entries - 1)) as usize;
        self.base.wrapping_add(index)
    }

    /// The last byte of entry `at` when the device has written it and it tells of a success.
    #[inline(always)]
    fn success(self, at: u32) -> u8 {
        // The bits between opcode and owner are zero in a requester's entry, but for that of a
        // solicited one, which is not asked for.
        CqeOpcode::Requester.number() << 4 | u8::from(owner_of(at, self.entries))
    }
}

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

    /// Entries taken so far, modulo 2^32.
    pub(crate) fn consumed(&self) -> u32 {
        self.consumer.get()
    }

    pub(crate) fn entries(&self) -> u32 {
        self.ring.entries
    }

    /// Whether the device has written the next entry.
    pub(crate) fn is_ready(&self) -> bool {
        let at = self.consumer.get();
        // SAFETY: the entry is the ring's. `Completions::new` was promised that the ring is mapped
        // as long as this lives, and has no other consumer.
        let last = unsafe { last_byte(self.ring.entry(at)) };
        is_ready(last, at, self.ring.entries)
    }

    /// Where the last byte of the next entry is, and the owner bit that it will have.
    #[inline(always)]
    pub(crate) fn last_of_next(&self) -> (*const AtomicU8, u8) {
        let at = self.consumer.get();
        let entry = self.ring.entry(at);
        // SAFETY: the entry is inside the ring, which is mapped.
        let last = unsafe { &raw const (*entry).opcode_owner };
        (last.cast(), owner_of(at, self.ring.entries).into())
    }

    /// Takes the next entry, if the device has written it and it tells of a success.
    #[inline(always)]
    pub(crate) fn take_success(&self) -> bool {
        let at = self.consumer.get();
        // SAFETY: the entry is the ring's. `Completions::new` was promised that the ring is mapped
        // as long as this lives, and has no other consumer.
        let last = unsafe { last_byte(self.ring.entry(at)) };
        if last != self.ring.success(at) {
            return false;
        }
        // ORDERING: pairs with the device, which writes the last byte after all others, and after
        // the data; or with the release of `Inbox::put`.
        after_device();
        self.advance(at);
        true
    }

    /// Takes the next entry, if the device has written it and it tells of a success of the queue whose
    /// number this is, as it lies in an entry behind a byte of another.
    #[inline(always)]
    pub(crate) fn take_success_of(&self, number: u32) -> bool {
        let at = self.consumer.get();
        let entry = self.ring.entry(at);
        // SAFETY: the entry is the ring's. `Completions::new` was promised that the ring is mapped
        // as long as this lives, and has no other consumer.
        let last = unsafe { last_byte(entry) };
        if last != self.ring.success(at) {
            return false;
        }
        // ORDERING: pairs with the device, which writes the last byte after all others, and after
        // the data; or with the release of `Inbox::put`.
        after_device();
        // SAFETY: the entry is inside the ring, which is mapped and aligned, and belongs to software
        // now.
        let found = unsafe { (*entry).opcode_qpn.raw() };
        if found & OF_QUEUE != number {
            return false;
        }
        self.advance(at);
        true
    }

    /// Takes the next entry, which the device has written.
    #[inline(always)]
    pub(crate) fn skip(&self) {
        self.advance(self.consumer.get());
    }

    /// Gives entry `at` back to the device.
    #[inline(always)]
    fn advance(&self, at: u32) {
        let next = at.wrapping_add(1);
        self.consumer.set(next);
        // SAFETY: the record is mapped with the ring, as long as this; volatile, because the device
        // reads it.
        unsafe {
            (&raw mut (*self.ring.record).consumer).write_volatile(Be32::new(next & 0xff_ffff))
        };
    }

    /// Takes the entries that are there, up to the end of the ring, as long as they are of the
    /// queue with this number and tell of successes; returns how many they are, and the first block
    /// of the request of the last one.
    #[inline(always)]
    pub(crate) fn take_all_of(&self, number: u32) -> (u32, u16) {
        // A copy: it need not be read again behind each fence.
        let (ring, at) = (self.ring, self.consumer.get());
        // The same for all of them: the owner changes at the end of the ring.
        let success = ring.success(at);
        // As it lies in memory, behind the opcode of the request.
        let number = number.to_be();
        let (first, end) = (
            ring.entry(at),
            ring.base.wrapping_add(ring.entries as usize),
        );
        let (mut entry, mut index) = (first, 0);
        loop {
            // SAFETY: the entry is in front of the ring's end. `Completions::new` was promised that
            // the ring is mapped as long as this lives, and has no other consumer.
            if unsafe { last_byte(entry) } != success {
                break;
            }
            // ORDERING: pairs with the device, which writes the last byte after all others, and
            // after the data; or with the release of `Inbox::put`.
            after_device();
            // SAFETY: the entry is inside the ring, which is mapped and aligned, and belongs to
            // software now.
            let found = unsafe { &*entry };
            if found.opcode_qpn.raw() & OF_QUEUE != number {
                break;
            }
            index = found.wqe_counter.get();
            entry = entry.wrapping_add(1);
            if entry == end {
                break;
            }
        }
        let count = ((entry.addr() - first.addr()) / size_of::<Cqe>()) as u32;
        if count > 0 {
            self.advance(at.wrapping_add(count - 1));
        }
        (count, index)
    }

    /// Takes the next entry whole, if the device has written it.
    pub(crate) fn take(&self) -> Option<Cqe> {
        let at = self.consumer.get();
        let entry = self.ring.entry(at);
        // SAFETY: the entry is the ring's. `Completions::new` was promised that the ring is mapped
        // as long as this lives, and has no other consumer.
        let last = unsafe { last_byte(entry) };
        if !is_ready(last, at, self.ring.entries) {
            return None;
        }
        // ORDERING: pairs with the device, which writes the last byte after all others, or with the
        // release of `Inbox::put`.
        after_device();
        // SAFETY: the entry belongs to software now.
        let cqe = unsafe { entry.read() };
        self.advance(at);
        Some(cqe)
    }

    /// Takes the next entry, if the device has written it, and of it what `read` makes. Whether it
    /// has, `is_ready` tells by the last byte, the entry's number and the number of entries.
    #[inline(always)]
    pub(crate) fn take_by<T>(
        &self,
        is_ready: impl FnOnce(u8, u32, u32) -> bool,
        read: impl FnOnce(&Cqe) -> T,
    ) -> Option<T> {
        let at = self.consumer.get();
        let entry = self.ring.entry(at);
        // SAFETY: the entry is the ring's. `Completions::new` was promised that the ring is mapped
        // as long as this lives, and has no other consumer.
        let last = unsafe { last_byte(entry) };
        if !is_ready(last, at, self.ring.entries) {
            return None;
        }
        // ORDERING: pairs with the device, which writes the last byte after all others, or with the
        // release of `Inbox::put`.
        after_device();
        // SAFETY: the entry belongs to software now.
        let made = read(unsafe { &*entry });
        self.advance(at);
        Some(made)
    }

    /// Takes the next entry, if the device has written it.
    #[inline(always)]
    pub(crate) fn next(&self) -> Option<Completed> {
        let at = self.consumer.get();
        let entry = self.ring.entry(at);
        // SAFETY: the entry is the ring's. `Completions::new` was promised that the ring is mapped
        // as long as this lives, and has no other consumer.
        let last = unsafe { last_byte(entry) };
        if !is_ready(last, at, self.ring.entries) {
            return None;
        }
        // ORDERING: pairs with the device, which writes the last byte after all others, or with the
        // release of `Inbox::put`.
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
