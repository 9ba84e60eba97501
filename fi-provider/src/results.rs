//! Results of fetching operations, where the device cannot write them to their places: registered
//! memory of a gate for words that are waited for, and for those that quiet delivers.
//!
//! Threads that share a lane may wait at the same time, so that each takes a slot of its own. So
//! does each operation that nobody waits for, until quiet. Where slots run out, the oldest of these
//! is waited for and delivered.

#![expect(
    unsafe_code,
    reason = "reads what the device writes, and writes to C addresses"
)]

use crate::gate::Gate;
use fi_mlx5::lane::{Failure, Local, Posted};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// Slots of a gate: bits of a word.
const SLOTS: usize = u64::BITS as usize;
/// Bytes of a slot.
const SLOT: usize = size_of::<u64>();
/// Bytes of all slots.
pub(crate) const BYTES: usize = SLOTS * SLOT;

/// A slot that belongs to the caller until it is given back.
#[derive(Debug)]
pub(crate) struct Slot(usize);

/// A result that quiet delivers.
#[derive(Debug)]
struct Pending {
    posted: Posted,
    slot: Slot,
    bytes: usize,
    dest: *mut u8,
}

/// The slots of a gate; of the thread that holds the lane.
#[derive(Debug)]
pub(crate) struct Results {
    /// A bit for each slot that is free.
    free: Cell<u64>,
    /// In the order in which they were posted.
    pending: RefCell<VecDeque<Pending>>,
}

impl Default for Results {
    fn default() -> Self {
        Self {
            free: Cell::new(u64::MAX),
            pending: RefCell::default(),
        }
    }
}

impl Results {
    /// A slot that is free.
    fn take(&self) -> Option<Slot> {
        let free = self.free.get();
        let at = free.trailing_zeros() as usize;
        self.free.set(free & free.wrapping_sub(1));
        (at < SLOTS).then_some(Slot(at))
    }

    fn give(&self, slot: &Slot) {
        self.free.set(self.free.get() | 1 << slot.0);
    }
}

impl Gate {
    /// A slot for a word. The lane is held; other threads may have it meanwhile.
    pub(crate) fn claim_result(&self) -> Result<Slot, Failure> {
        loop {
            if let Some(slot) = self.results.take() {
                return Ok(slot);
            }
            let oldest = self.results.pending.borrow().front().map(|one| one.posted);
            match oldest {
                Some(posted) => {
                    // It stays in the list: quiet of another thread may deliver it meanwhile. A
                    // failure is kept by the lane, and quiet tells it.
                    let _ = self.lane().wait(posted);
                    self.deliver_all();
                }
                // All are those of threads that wait.
                None => self.lane().wait_for_others()?,
            }
        }
    }

    /// Gives a slot back, which no entry uses any more.
    pub(crate) fn release_result(&self, slot: Slot) {
        self.results.give(&slot);
    }

    /// The registered memory of a slot, for a word of `bytes` bytes (4 or 8).
    pub(crate) fn result_in(&self, slot: &Slot, bytes: usize) -> Local {
        self.slot_memory(slot.0 * SLOT, bytes)
    }

    /// Has quiet deliver the word of `bytes` bytes (4 or 8) that an entry brings into a slot.
    ///
    /// # Safety
    /// `dest` has room for the word until quiet, and nobody else uses it.
    pub(crate) unsafe fn deliver_later(
        &self,
        posted: Posted,
        slot: Slot,
        bytes: usize,
        dest: *mut u8,
    ) {
        self.lane().expect_quiet();
        self.results.pending.borrow_mut().push_back(Pending {
            posted,
            slot,
            bytes,
            dest,
        });
    }

    /// Delivers the results of all operations that are known to be done; the lane is held.
    pub(crate) fn deliver_all(&self) {
        let is_outstanding = |one: &Pending| {
            let end = self.lane().end(one.posted);
            if let Some(is_done) = end {
                self.deliver(one, is_done);
            }
            end.is_none()
        };
        self.results.pending.borrow_mut().retain(is_outstanding);
    }

    /// Delivers the result of one operation, if it `is_done`, and frees its slot.
    fn deliver(&self, one: &Pending, is_done: bool) {
        if is_done {
            let word = self.word_in(self.result_in(&one.slot, one.bytes));
            // SAFETY: the destination has room for the word until quiet (the requirement of
            // `deliver_later`), and is of any alignment here.
            unsafe {
                if one.bytes == size_of::<u32>() {
                    one.dest.cast::<u32>().write_unaligned(word as u32);
                } else {
                    one.dest.cast::<u64>().write_unaligned(word);
                }
            }
        }
        self.results.give(&one.slot);
    }
}
