//! Lines, as their senders have them.

#![expect(unsafe_code, reason = "writes to the memory of messages")]

use super::notice::{CREDITS, Pace};
use crate::raw::address::Address;
use fi_ofi::Messenger;
use std::cell::Cell;

/// Records to one receiver.
#[derive(Debug)]
pub(crate) struct Line {
    /// A random number, by which the receiver knows it.
    pub(super) id: u64,
    /// libfabric's number of the receiver.
    pub(super) peer: u64,
    /// The receiver's address.
    pub(super) to: Address,
    pub(super) is_alive: Cell<bool>,
    /// The receiver has answered the greeting.
    pub(super) is_greeted: Cell<bool>,
    pub(super) sent: Cell<u64>,
    pub(super) taken: Cell<u64>,
    /// A record waits for the receiver to take others, or for room.
    pub(super) is_starved: Cell<bool>,
    /// Pace of the trials of a greeting or a record that found no room.
    pub(super) pace: Pace,
}

impl Line {
    /// Notes that the receiver is gone.
    pub(super) fn end(&self) {
        self.is_alive.set(false);
    }

    /// Notes the number of records that the receiver has taken: it answers the greeting, too.
    pub(super) fn note_taken(&self, taken: u64) {
        self.is_greeted.set(true);
        let outstanding = self.sent.get().wrapping_sub(taken);
        // Others are nonsense.
        if outstanding <= self.sent.get().wrapping_sub(self.taken.get()) {
            self.taken.set(taken);
        }
    }

    /// Returns whether the receiver has not taken all, and lives.
    pub(super) fn is_under_way(&self) -> bool {
        self.is_alive.get() && self.sent.get() != self.taken.get()
    }

    /// Returns whether something is waited for that the receiver does.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_alive.get() && (!self.is_greeted.get() || self.is_starved.get())
    }

    /// Returns whether nobody listens at the receiver's address any more.
    pub(super) fn is_refused(&self) -> bool {
        let name = self.to.name.as_ref();
        name.is_some_and(|name| Messenger::is_refused(name.bytes()))
    }

    pub(super) fn may_send(&self) -> bool {
        let outstanding = self.sent.get().wrapping_sub(self.taken.get());
        self.is_greeted.get() && outstanding < CREDITS && self.pace.is_due()
    }
}

/// Writes words and bytes to the memory of a message.
pub(super) fn fill(to: *mut u8, words: &[u64], bytes: &[u8]) {
    // SAFETY: the memory has room for them, and is nobody else's.
    unsafe {
        to.cast::<u64>()
            .copy_from_nonoverlapping(words.as_ptr(), words.len());
        to.wrapping_add(words.len() * 8)
            .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
    }
}
