//! Results of fetching operations, where the device cannot write them to their places: registered
//! memory of a gate for words that are waited for, and for those that quiet delivers.
//!
//! Threads that share a lane may wait at the same time, so that each takes a slot of its own. So
//! does each operation that nobody waits for, until quiet. Where slots run out, the oldest of these
//! is waited for and delivered.

#![expect(unsafe_code, reason = "writes to C addresses")]

use crate::device::scratch::{SLOTS, Scratch};
use fi_mlx5::lane::{Failure, Lane, Local, Posted};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// A slot that belongs to the caller until it is given back.
#[derive(Debug)]
pub(crate) struct Slot(usize);

impl Slot {
    /// Returns its registered memory, for a word of `bytes` bytes (4 or 8).
    pub(crate) fn place(&self, scratch: &Scratch, bytes: usize) -> Local {
        scratch.slot(self.0, bytes)
    }
}

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
    /// Pending results, in the order in which they were posted.
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
    /// Takes a free slot.
    fn take(&self) -> Option<Slot> {
        let free = self.free.get();
        let at = free.trailing_zeros() as usize;
        self.free.set(free & free.wrapping_sub(1));
        (at < SLOTS).then_some(Slot(at))
    }

    /// Gives a slot back, which no entry uses any more.
    pub(crate) fn release(&self, slot: &Slot) {
        self.free.set(self.free.get() | 1 << slot.0);
    }

    /// Claims a slot for a word. The lane is held; other threads may have it meanwhile.
    pub(crate) fn claim(&self, lane: &Lane, scratch: &Scratch) -> Result<Slot, Failure> {
        loop {
            if let Some(slot) = self.take() {
                return Ok(slot);
            }
            let oldest = self.pending.borrow().front().map(|one| one.posted);
            match oldest {
                Some(posted) => {
                    // It stays in the list: quiet of another thread may deliver it meanwhile. A
                    // failure is kept by the lane, and quiet tells it.
                    let _ = lane.wait(posted);
                    self.deliver_all(lane, scratch);
                }
                // All are those of threads that wait.
                None => lane.wait_for_others()?,
            }
        }
    }

    /// Has quiet deliver the word of `bytes` bytes (4 or 8) that an entry brings into a slot.
    ///
    /// # Safety
    /// `dest` has room for the word until quiet, and nobody else uses it.
    pub(crate) unsafe fn deliver_later(
        &self,
        lane: &Lane,
        posted: Posted,
        slot: Slot,
        bytes: usize,
        dest: *mut u8,
    ) {
        lane.expect_quiet();
        self.pending.borrow_mut().push_back(Pending {
            posted,
            slot,
            bytes,
            dest,
        });
    }

    /// Delivers the results of all operations that are known to be done; the lane is held.
    pub(crate) fn deliver_all(&self, lane: &Lane, scratch: &Scratch) {
        let is_outstanding = |one: &Pending| {
            let end = lane.end(one.posted);
            if let Some(is_done) = end {
                self.deliver(one, is_done, scratch);
            }
            end.is_none()
        };
        self.pending.borrow_mut().retain(is_outstanding);
    }

    /// Delivers the result of one operation, if it `is_done`, and frees its slot.
    fn deliver(&self, one: &Pending, is_done: bool, scratch: &Scratch) {
        if is_done {
            let word = scratch.word_in(one.slot.place(scratch, one.bytes));
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
        self.release(&one.slot);
    }
}
