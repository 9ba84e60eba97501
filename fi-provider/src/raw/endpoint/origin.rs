//! Senders of records.

use super::link::Link;
use crate::raw::address::Address;
use crate::raw::address_vector::AddressVector;
use crate::raw::completion::Source;
use std::rc::Rc;

/// The end of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Taken,
    /// It stays in the ring: there is no room for it now.
    Left,
    /// It makes no sense: its ring is closed.
    Broken,
}

/// The sender of a ring.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(super) address: Address,
    /// Its number, which is of this version of the address vector.
    pub(super) source: Source,
    pub(super) version: u64,
    /// The way back, once it was needed.
    pub(super) link: Option<Rc<Link>>,
}

/// All of a message but its bytes and its sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Beside {
    pub(super) tag: Option<u64>,
    pub(super) data: Option<u64>,
}

impl Origin {
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the number, as far as [`Origin::is_of`] says that it is up to date.
    #[inline(always)]
    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// Returns whether the number is of the vector's present version.
    #[inline(always)]
    pub(super) fn is_of(&self, vector: &AddressVector) -> bool {
        self.version == vector.version()
    }

    pub(crate) fn new(address: Address) -> Self {
        Self {
            address,
            source: Source::NONE,
            // That of no vector.
            version: u64::MAX,
            link: None,
        }
    }
}
