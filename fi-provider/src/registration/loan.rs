//! Registered memory that a cache lends.

use super::table::Entry;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// Registered memory, lent to a transfer until it is dropped.
#[derive(Clone)]
pub(crate) struct Loan(pub(super) Arc<Entry>);

impl Loan {
    /// Returns the key by which own entries of a queue name it.
    pub(crate) fn key(&self) -> u32 {
        self.0.key
    }

    /// Returns a number that tells one entry from another.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl Debug for Loan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loan({:x?})", self.0.range)
    }
}

/// Action for memory that is not registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// Nothing: it is not worth it.
    Leave,
    /// Register it.
    Register,
}
