//! Failures of queues.

use super::parts::Failure;
use crate::remote::Vector;
use std::cell::{Cell, RefCell};

/// The peer whose entry failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Culprit {
    /// The one of this index, which the queue is connected with.
    Connected(u32),
    /// The one that is entered by this address vector.
    Entered([u64; 2]),
}

/// The first failure of a queue: all that follow are of entries that the device flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(super) queue: u32,
    pub(super) culprit: Culprit,
    /// Kind of the failure.
    pub failure: Failure,
    /// The first block of the last entry that the device has told of.
    pub(super) last: u16,
}

impl Fault {
    /// Returns the address vector of the entry that was the cause, where the queue is an initiator.
    #[must_use]
    pub fn vector(&self) -> Option<[u64; 2]> {
        match self.culprit {
            Culprit::Connected(_) => None,
            Culprit::Entered(vector) => Some(vector),
        }
    }

    /// Returns whether it is the failure of the peer of this index, to whose target `vector` leads.
    #[must_use]
    pub fn is_of(&self, index: u32, vector: &Vector) -> bool {
        match self.culprit {
            Culprit::Connected(peer) => peer == index,
            Culprit::Entered(entered) => entered == vector.0,
        }
    }
}

/// The failures of a lane.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// The first one.
    pub(super) first: Cell<Option<Failure>>,
    /// Whether the device is gone.
    pub(super) lost: Cell<bool>,
    /// One for each queue that has failed, in their order.
    pub(super) of_queues: RefCell<Vec<Fault>>,
    /// Number of failures of queues so far, those included that are forgotten.
    pub(super) so_far: Cell<usize>,
}
