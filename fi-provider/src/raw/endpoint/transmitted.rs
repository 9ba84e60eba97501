//! Messages that are reported when they have left the sender (FI_TRANSMIT_COMPLETE). In a ring of
//! the node a message lies in the receiver's memory at once; over a device it has left when the
//! receiver's device has taken it.

#![expect(unsafe_code, reason = "sends bytes by their C address")]

use super::arrive::Beside;
use super::link::Link;
use super::pending::State;
use super::{Endpoint, LEAVING};
use crate::raw::completion::{Entry, Promise};
use crate::raw::error::Error;
use crate::raw::far::lane::Lane;
use crate::raw::far::path::FarPath;
use std::rc::Rc;

/// A message that the device has not told of yet.
#[derive(Debug)]
pub(super) struct Leaving {
    /// The operation that waits for that.
    number: u64,
    link: Rc<Link>,
    /// Where its entry ends in the queue of messages.
    end: u64,
}

impl Leaving {
    /// Whether the receiver's device has taken it; not as long as its queue has failed.
    fn has_left(&self) -> bool {
        let path = self.link.far();
        path.is_none_or(|path| {
            let lane = path.hub.messages.lane();
            let done = lane.done(lane.queue_to(path.number));
            done >= self.end && path.refusal(Lane::Messages).is_none()
        })
    }
}

/// Where the entry ends that was posted last to the queue of messages to a peer.
fn end_of_messages(path: &FarPath) -> u64 {
    let lane = path.hub.messages.lane();
    lane.posted(lane.queue_to(path.number))
}

impl Endpoint {
    /// Sends a message over the device, and reports when it has left.
    ///
    /// # Safety
    /// `message` holds the bytes of the entry, at most `eager`.
    pub(super) unsafe fn send_transmitted(
        &self,
        link: &Rc<Link>,
        path: &FarPath,
        (message, beside): (*const u8, Beside),
        entry: Entry,
        promise: Promise,
    ) -> Result<(), Error> {
        let number = self.begin(link, entry, promise, State::Answer)?;
        // SAFETY: `message` holds the bytes, at most `eager`.
        let posted = unsafe { beside.post(link, None, message, entry.len) };
        posted.inspect_err(|_| self.abandon(number))?;
        self.leaving.borrow_mut().push(Leaving {
            number,
            link: Rc::clone(link),
            end: end_of_messages(path),
        });
        self.todo.set(self.todo.get() | LEAVING);
        Ok(())
    }

    /// Reports the messages that have left.
    #[cold]
    pub(super) fn end_transmitted(&self) {
        let (left, leaving): (Vec<_>, Vec<_>) =
            self.leaving.take().into_iter().partition(Leaving::has_left);
        let is_any = !leaving.is_empty();
        self.leaving.replace(leaving);
        for one in left {
            // Those to a peer that is gone have been reported.
            self.finish(one.number, Ok(()));
        }
        if !is_any {
            self.todo.set(self.todo.get() & !LEAVING);
        }
    }

    /// Notes that entries of messages are at other places: another queue does them.
    pub(crate) fn follow_messages(&self) {
        for one in self.leaving.borrow_mut().iter_mut() {
            if let Some(path) = one.link.far() {
                one.end = end_of_messages(path);
            }
        }
    }
}
