//! Sleeping until there is something to do (fi_trywait(3), FI_WAIT_FD).

use super::shared::Member;
use super::{Endpoint, Far, LEAVING, WORK};
use crate::raw::error::Error;
use std::os::fd::{AsFd, BorrowedFd};

/// The prospects of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outlook {
    /// Nothing is there, and the descriptor becomes readable as soon as something is.
    Quiet,
    /// Something waits that nobody tells of: there may be room for it now.
    Untold,
    /// Something is there.
    Busy,
}

impl Endpoint {
    /// Returns a descriptor that becomes readable when there may be something for
    /// [`Endpoint::progress`] to do, behind each [`Endpoint::arm`] that returned true; for poll(2),
    /// select(2) and epoll(7) alone. It is made at the first call.
    ///
    /// Records of peers wake, and the end of a peer, and completions of a device. Memory that peers
    /// store to by themselves wakes nobody: a write with data does.
    ///
    /// # Errors
    /// [`Error::System`] where the process has no room for a descriptor.
    pub fn descriptor(&self) -> Result<BorrowedFd<'_>, Error> {
        let waker = self.inbox.waker()?;
        match (&self.far, &self.libfabric) {
            (Some(far), _) => far.descriptor(waker),
            (None, Some(libfabric)) => libfabric.descriptor(waker),
            (None, None) => Ok(waker.as_fd()),
        }
    }

    /// Asks for [`Endpoint::descriptor`] to become readable with the next arrival, and returns
    /// whether the thread may sleep on it. Returns false where something is there already, or nobody
    /// would tell of it: entries in the endpoint's queues; something for [`Endpoint::progress`] to
    /// do; operations that a counter has started, or records, that wait for room at a peer, in a
    /// queue of entries or for a buffer; messages that are to leave by a device; before the first
    /// call of `descriptor`; where messages are taken in place.
    ///
    /// The descriptor may become readable without a reason. It stays so until the next call.
    pub fn arm(&self) -> bool {
        let queues = [&self.config.transmit, &self.config.receive];
        !queues.iter().any(|queue| queue.has_entries()) && self.outlook() == Outlook::Quiet
    }

    /// Does as [`Endpoint::arm`], whether there are entries or not.
    pub fn arm_for_more(&self) -> bool {
        self.outlook() == Outlook::Quiet
    }

    /// Does as [`Endpoint::arm`], whether there are entries or not, and tells the prospects.
    pub(crate) fn outlook(&self) -> Outlook {
        let Some(waker) = self.inbox.known_waker() else {
            return Outlook::Untold;
        };
        // Senders of such messages wake nobody.
        if self.config.in_place.is_some() {
            return Outlook::Untold;
        }
        // Before anybody is asked: peers that are asked from here on make it readable again.
        waker.rest();
        let (bells, words) = (self.inbox.bells(), self.words.get());
        if self.is_anything_left() {
            return if (0..words).any(|word| bells.is_rung(word)) {
                Outlook::Busy
            } else {
                Outlook::Untold
            };
        }
        self.requests
            .set(self.requests.get().wrapping_add(1).max(1));
        if bells.watch(words, self.requests.get()) {
            return Outlook::Busy;
        }
        match (&self.far, &self.libfabric) {
            (Some(far), _) => self.arm_far(far),
            (None, Some(libfabric)) => self.arm_libfabric(libfabric),
            (None, None) => Outlook::Quiet,
        }
    }

    /// Returns whether something waits of which nobody tells.
    fn is_anything_left(&self) -> bool {
        let member = self.shared.as_ref();
        self.todo.get() & (WORK | LEAVING) != 0
            || member.is_some_and(Member::has_work)
            || self.is_any_due()
    }

    /// Keeps up the request of [`Endpoint::arm`], while another thread makes progress, or begins
    /// operations (`has_begun`): in its turn, behind that. Returns whether the thread may sleep on.
    pub fn keep_armed(&self, has_begun: bool) -> bool {
        // Progress takes the peers' notes to wake with their bells.
        let (words, request) = (self.words.get(), self.requests.get());
        let is_rung = self.inbox.bells().watch(words, request);
        let begins = |far: &Far| has_begun && far.traffic.is_busy.get();
        let is_busy = self.far().is_some_and(begins) || has_begun && self.libfabric.is_some();
        !is_rung && !self.is_anything_left() && !is_busy
    }
}
