//! The work that progress has, by few instructions, and the entry of an operation on memory that is the
//! only one under way.

#![expect(unsafe_code, reason = "reads a word of the inbox where it is mapped")]

use super::{DEVICE, Endpoint};
use crate::raw::completion::{CompletionQueue, Entry, Failure};
pub use crate::raw::far::lone::{LonePost, Taken};
use std::sync::atomic::Ordering;

/// The work of [`Endpoint::progress`].
#[derive(Clone, Copy, Debug)]
pub enum Due<'a> {
    /// None, for sure: entries are in their queues.
    Nothing,
    /// A device does the one operation on memory that was posted last: [`Endpoint::take_lone`].
    Lone(LonePost<'a>),
    /// Any.
    Anything,
}

/// Whether operations on memory by a device report to a queue ([`Endpoint::ends_in`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends(u8);

impl Ends {
    /// They do not.
    pub const ELSEWHERE: Self = Self(u8::MAX);
    const HERE: Self = Self(DEVICE);
}

impl Endpoint {
    /// Makes progress, and takes the oldest entry of a queue that is the endpoint's.
    #[inline(always)]
    pub fn next(&self, queue: &CompletionQueue) -> Option<Result<Entry, Failure>> {
        // SAFETY: the word is mapped as long as the inbox, which is beside it, and aligned.
        // ORDERING: decides only whether to make progress, which orders.
        if unsafe { &*self.first_bells }.load(Ordering::Relaxed) == 0
            && self.transmit().is(queue)
            && let Due::Lone(lone) = self.due(Ends::HERE)
        {
            let mut entry = None;
            // SAFETY: it was just returned.
            let taken = unsafe { self.take_lone::<false>(lone, |seen| entry = Some(seen.entry())) };
            if taken == Taken::Entry {
                return entry.map(Ok);
            }
        }
        self.progress();
        queue.next()
    }

    /// Returns whether operations on memory by a device report to this queue.
    #[inline(always)]
    pub fn ends_in(&self, queue: &CompletionQueue) -> Ends {
        if self.transmit().is(queue) {
            Ends::HERE
        } else {
            Ends::ELSEWHERE
        }
    }

    /// Returns whether [`Endpoint::progress`] has nothing to do where the first word of bells is 0
    /// ([`Endpoint::rest`]), by few instructions and no call: as far as these tell.
    #[inline(always)]
    pub fn is_at_rest(&self) -> bool {
        match (self.todo.get(), &self.far) {
            (0, _) => true,
            (DEVICE, Some(far)) => !far.receives.is_ready() && !far.traffic.is_busy.get(),
            _ => false,
        }
    }

    /// Returns the work of [`Endpoint::progress`] where the first word of bells is 0
    /// ([`Endpoint::rest`]), by few instructions and no call: as far as these tell. `ends` is of the
    /// queue that the caller reads.
    #[inline(always)]
    pub fn due(&self, ends: Ends) -> Due<'_> {
        if self.todo.get() != ends.0 {
            return match self.is_at_rest() {
                true => Due::Nothing,
                false => Due::Anything,
            };
        }
        // SAFETY: the bit says that there is a device.
        let far = unsafe { self.far.as_ref().unwrap_unchecked() };
        if far.receives.is_ready() {
            return Due::Anything;
        }
        if let Some(lone) = far.lone() {
            return Due::Lone(lone);
        }
        if far.traffic.is_busy.get() {
            return Due::Anything;
        }
        Due::Nothing
    }
}
