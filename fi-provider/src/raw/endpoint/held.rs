//! Messages that come before their buffers.

use super::link::Link;
use super::origin::Beside;
use crate::raw::address::Address;
use crate::raw::address_vector::PeerIndex;
use crate::raw::tagged;
use std::rc::Rc;

/// A message that has come before its buffer.
#[derive(Debug)]
pub(crate) struct Early {
    pub(super) bytes: Bytes,
    pub(super) beside: Beside,
    /// The sender, if it had no number in the address vector.
    pub(super) sender: Option<Address>,
    /// The sender's number of it, and the way back, where it waits for an answer.
    pub(super) answer: Option<(u64, Rc<Link>)>,
}

#[derive(Debug)]
pub(super) enum Bytes {
    Here(Box<[u8]>),
    /// At this address in the sender's process, so many; and the key by which its device knows
    /// them.
    There(u64, usize, Option<u32>),
    /// At this offset in the sender's arena, so many.
    Mapped(u64, usize),
}

/// Bytes that an early message is counted with, beside its own.
pub(super) const OVERHEAD: usize = 64;

impl Early {
    pub(super) fn held(&self) -> usize {
        match &self.bytes {
            Bytes::Here(bytes) => OVERHEAD + bytes.len(),
            Bytes::There(..) | Bytes::Mapped(..) => OVERHEAD,
        }
    }

    pub(super) fn len(&self) -> usize {
        match &self.bytes {
            Bytes::Here(bytes) => bytes.len(),
            Bytes::There(_, len, _) | Bytes::Mapped(_, len) => *len,
        }
    }
}

/// A tagged message that has come before its receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peeked {
    /// Its tag.
    pub tag: u64,
    /// Its bytes.
    pub len: usize,
    /// Its sender, if it is in the endpoint's address vector.
    pub source: Option<PeerIndex>,
    /// The data that came with it.
    pub data: Option<u64>,
}

impl Peeked {
    pub(super) fn of(early: &tagged::Early<Early>) -> Self {
        Self::new(early, early.message.beside)
    }

    /// Tells of a message, with its tag and data.
    pub(super) fn new<M>(early: &tagged::Early<M>, beside: Beside) -> Self {
        Self {
            tag: early.tag,
            len: early.len,
            source: early.source,
            data: beside.data,
        }
    }
}
