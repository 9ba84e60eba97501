//! Parameters of messages and of their buffers.

use crate::raw::address_vector::PeerIndex;
use crate::raw::protocol::{WANTS_ANSWER, WANTS_MATCH};

/// Event at which a message counts as sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Its bytes may be changed (FI_INJECT_COMPLETE).
    Free,
    /// It has left, and arrives at a live receiver independently of the sender
    /// (FI_TRANSMIT_COMPLETE).
    Transmitted,
    /// It is in the receiver's buffer, or the receiver holds it until there is one; a message too
    /// long for that has been matched (FI_DELIVERY_COMPLETE).
    Delivered,
    /// The receiver has matched and copied it (FI_MATCH_COMPLETE).
    Matched,
}

impl Level {
    /// Returns the flags of a short message whose sender waits for an answer at this level.
    pub(super) fn asks(self) -> u16 {
        match self {
            Self::Matched => WANTS_MATCH,
            _ => WANTS_ANSWER,
        }
    }
}

/// Outcome of a message of few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Few {
    /// It is sent.
    Sent,
    /// It is sent, and the peer has to be woken by [`super::Endpoint::wake_peer`].
    Untold,
    /// It is not: nothing was done.
    Not,
}

/// A buffer for messages.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    /// The number for its entries.
    pub context: u64,
    /// Takes messages of this peer alone.
    pub source: Option<PeerIndex>,
    /// Takes several messages, each at a multiple of 8 bytes, until fewer bytes than these are left
    /// (FI_MULTI_RECV).
    pub least: Option<usize>,
}
