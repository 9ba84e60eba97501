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
    is_sent: Cell<bool>,
}

impl<'a> Reply<'a> {
    pub(crate) fn new(calls: &'a Calls, to: u32, id: u64) -> Self {
        Self {
            calls,
            to,
            id,
            is_sent: Cell::new(false),
        }
    }

    /// Sends the result, if anybody waits for it.
    pub(crate) fn send<T: Save + Send + 'static>(&self, result: T) {
        if self.id == 0 {
            return;
        }
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

    /// Whether the action has returned.
    pub(crate) fn is_sent(&self) -> bool {
        self.is_sent.get()
    }
}
