//! Regions of peers that are not mapped here.

use super::table::Found;
use std::sync::atomic::{AtomicU64, Ordering};

/// A region of a peer of which nothing is mapped here.
#[derive(Debug)]
pub(crate) struct Beyond {
    /// Changes when a device refuses the region.
    state: AtomicU64,
    pub(crate) found: Found,
    pub(crate) key: u64,
}

impl Beyond {
    /// Makes the region that was found under a key.
    pub(crate) fn new(found: Found, key: u64) -> Self {
        Self {
            state: AtomicU64::new(found.state.to_word()),
            found,
            key,
        }
    }

    /// Returns the word that tells whether the region is as it was found.
    pub(crate) fn state(&self) -> *const AtomicU64 {
        &raw const self.state
    }

    /// Notes that the region is not as it was found.
    pub(crate) fn close(&self) {
        // ORDERING: the word is of this thread alone.
        self.state.store(0, Ordering::Relaxed);
    }
}
