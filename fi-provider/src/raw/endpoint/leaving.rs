//! Messages that are on their way to a device.

use super::link::Link;
use crate::raw::far::lane::Lane;
use crate::raw::far::path::FarPath;
use std::rc::Rc;

/// A message that the device has not told of yet.
#[derive(Debug)]
pub(super) struct Leaving {
    /// The operation that waits for that.
    pub(super) number: u64,
    pub(super) link: Rc<Link>,
    /// Position at which its entry ends in the queue of messages.
    pub(super) end: u64,
}

impl Leaving {
    /// Returns whether the receiver's device has taken it; not as long as its queue has failed.
    pub(super) fn has_left(&self) -> bool {
        let path = self.link.far();
        path.is_none_or(|path| {
            let lane = path.hub.messages.lane();
            let done = lane.done(lane.queue_to(path.number));
            done >= self.end && path.refusal(Lane::Messages).is_none()
        })
    }
}

/// Returns the position at which the entry ends that was posted last to the queue of messages to a
/// peer.
pub(super) fn end_of_messages(path: &FarPath) -> u64 {
    let lane = path.hub.messages.lane();
    lane.posted(lane.queue_to(path.number))
}
