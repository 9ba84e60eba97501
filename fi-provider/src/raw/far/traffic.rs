//! Notes between an endpoint and its paths over the device.

use std::cell::{Cell, RefCell};

/// Flags by which an endpoint and its paths over the device tell each other of work.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// Entries may be outstanding, or something is waited for.
    pub(crate) is_busy: Cell<bool>,
    /// A record waits for its receiver.
    pub(crate) is_starved: Cell<bool>,
    /// A log has ended.
    pub(crate) has_ended: Cell<bool>,
    /// Queues of the memory lane whose completions were taken by a post, and whether there are any.
    behind: RefCell<Vec<u32>>,
    has_behind: Cell<bool>,
    /// Records were left, or peers are to be told of those that were taken.
    pub(crate) has_left: Cell<bool>,
}

impl Traffic {
    /// Notes that a completion of a queue was taken by a post.
    pub(crate) fn note_taken(&self, queue: u32) {
        self.behind.borrow_mut().push(queue);
        self.has_behind.set(true);
    }

    /// Takes the queues that were noted.
    #[inline(always)]
    pub(crate) fn take_behind(&self) -> Option<Vec<u32>> {
        self.has_behind.take().then(|| self.behind.take())
    }
}
