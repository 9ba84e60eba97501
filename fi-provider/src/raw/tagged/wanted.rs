//! Messages for which receives are posted.

use crate::raw::address_vector::PeerIndex;
use crate::raw::matcher::Place;

/// The messages that a receive takes, or that are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Their tag.
    pub tag: u64,
    /// Bits of the tag that may be any.
    pub ignore: u64,
    /// Their sender, or anybody.
    pub source: Option<PeerIndex>,
}

impl Wanted {
    /// Returns the messages of this tag, of anybody.
    pub fn tag(tag: u64) -> Self {
        Self {
            tag,
            ignore: 0,
            source: None,
        }
    }

    #[inline(always)]
    pub(super) fn takes(&self, tag: u64, source: Option<PeerIndex>) -> bool {
        let is_of = self.source.is_none() || self.source == source;
        is_of && (self.tag ^ tag) & !self.ignore == 0
    }
}

/// A buffer for one message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receive {
    pub(crate) wanted: Wanted,
    pub(crate) address: *mut u8,
    pub(crate) len: usize,
    pub(crate) context: u64,
}

impl Receive {
    /// Returns the place of a message of `len` bytes.
    #[inline(always)]
    pub(crate) fn place(&self, len: usize) -> Place {
        Place {
            address: self.address,
            len: len.min(self.len),
            offset: 0,
            context: self.context,
            is_last: true,
            has_others: false,
        }
    }
}
