//! Replies.

use crate::archive::Save;
use crate::calls::Calls;
use crate::core::{Way, header};
use crate::inner::{Post, Target};
use crate::wire::{REPLY, RETURNED};
use std::cell::Cell;

/// Takes the result of an action to its caller.
#[derive(Debug)]
pub struct Reply<'a> {
    calls: &'a Calls,
    to: u32,
    /// The number by which the caller waits for it, or 0.
    id: u64,
    /// Set once the result was sent.
    is_sent: &'a Cell<bool>,
}

impl<'a> Reply<'a> {
    pub(crate) fn new(calls: &'a Calls, to: u32, id: u64, is_sent: &'a Cell<bool>) -> Self {
        Self {
            calls,
            to,
            id,
            is_sent,
        }
    }

    /// Sends the result, if anybody waits for it.
    #[inline]
    pub(crate) fn send<T: Save + Send + 'static>(&self, result: T) {
        if self.id != 0 {
            self.send_to_waiting(result);
        }
    }

    fn send_to_waiting<T: Save + Send + 'static>(&self, result: T) {
        let header = header(REPLY, RETURNED, self.id);
        let targets = [Target {
            rank: self.to,
            sink: None,
        }];
        let post = Post {
            way: Way::Replies,
            header,
            targets: &targets,
        };
        self.calls.inner().post(post, result);
        // Behind that: a result may panic as it is saved.
        self.is_sent.set(true);
    }
}
