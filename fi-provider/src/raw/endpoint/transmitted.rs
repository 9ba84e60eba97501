//! Messages that are reported when they have left the sender (FI_TRANSMIT_COMPLETE). In a ring of
//! the node a message lies in the receiver's memory at once; over a device it has left when the
//! receiver's device has taken it.

#![expect(unsafe_code, reason = "sends bytes by their C address")]

use super::leaving::{Leaving, end_of_messages};
use super::link::Link;
use super::origin::Beside;
use super::pending::State;
use super::{Endpoint, LEAVING};
use crate::raw::completion::{Entry, Promise};
use crate::raw::error::Error;
use crate::raw::far::path::FarPath;
use std::rc::Rc;

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
