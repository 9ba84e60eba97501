//! The operations of one context that are under way.

use crate::error::Failure;
use std::cell::Cell;

/// Counts the operations of one context; guarded by the port's lock.
///
/// It lies in one place as long as operations are under way: they point to it.
#[derive(Debug)]
pub struct Lane {
    /// Operations that are not complete.
    pub(crate) pending: Cell<u64>,
    /// Those of them that a peer's processor executes.
    pub(crate) atomics: Cell<u64>,
    /// Whether a write has to wait for atomic operations before it.
    pub(crate) is_fenced: Cell<bool>,
    /// Whether it is not fenced and has no failure.
    pub(crate) is_plain: Cell<bool>,
    /// The first failure, and the peer of it.
    pub(crate) failure: Cell<Option<(u32, Failure)>>,
}

// SAFETY: all accesses are under the port's lock.
unsafe impl Sync for Lane {}

impl Default for Lane {
    fn default() -> Self {
        Self {
            pending: Cell::new(0),
            atomics: Cell::new(0),
            is_fenced: Cell::new(false),
            is_plain: Cell::new(true),
            failure: Cell::new(None),
        }
    }
}

impl Lane {
    pub(crate) fn set_fenced(&self, is_fenced: bool) {
        self.is_fenced.set(is_fenced);
        self.is_plain
            .set(!is_fenced && self.failure.get().is_none());
    }

    pub(crate) fn begin(&self) {
        self.pending.set(self.pending.get() + 1);
    }

    pub(crate) fn end(&self) {
        self.pending.set(self.pending.get() - 1);
    }

    /// Keeps the first failure.
    pub(crate) fn fail(&self, peer: u32, failure: Failure) {
        if self.failure.get().is_none() {
            self.failure.set(Some((peer, failure)));
            self.is_plain.set(false);
        }
    }

    /// The first failure as an error.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.failure
            .get()
            .map_or(Ok(()), |(_, failure)| Err(failure))
    }
}
