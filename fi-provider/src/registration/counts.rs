//! Limits of caches, and counts of their work.

use std::fmt::{self, Display};
use std::sync::atomic::{AtomicU64, Ordering};

/// Most that a cache keeps registered; either 0 is no cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes, in whole pages.
    pub bytes: usize,
    /// Entries.
    pub entries: usize,
}

impl Limits {
    /// No cache.
    pub const OFF: Self = Self {
        bytes: 0,
        entries: 0,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 1 << 30,
            entries: 1024,
        }
    }
}

/// Counts of the caches of a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Transfers whose memory was registered already.
    pub hits: u64,
    /// Transfers whose memory was registered for them.
    pub misses: u64,
    /// Long transfers that went by the bounce memory all the same: theirs is not private memory of
    /// no file, is more than the limits allow beside the entries in use, may not be locked, or
    /// something was being unmapped just then.
    pub refusals: u64,
    /// Entries that made room for others.
    pub evictions: u64,
    /// Entries whose memory was unmapped, moved, emptied or copied by a fork.
    pub invalidations: u64,
    /// Entries now.
    pub entries: u64,
    /// Bytes of them.
    pub bytes: u64,
}

/// A number that any thread changes.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    // ORDERING: numbers alone, here and below.
    pub(super) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(super) fn subtract(&self, less: u64) {
        self.0.fetch_sub(less, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts of the work of all caches of a domain.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) hits: Counter,
    pub(super) misses: Counter,
    pub(super) refusals: Counter,
    pub(super) evictions: Counter,
    pub(super) invalidations: Counter,
    pub(super) entries: Counter,
    pub(super) bytes: Counter,
}

impl Counters {
    pub(super) fn statistics(&self) -> Statistics {
        Statistics {
            hits: self.hits.get(),
            misses: self.misses.get(),
            refusals: self.refusals.get(),
            evictions: self.evictions.get(),
            invalidations: self.invalidations.get(),
            entries: self.entries.get(),
            bytes: self.bytes.get(),
        }
    }
}

impl Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} hits, {} misses, {} refusals, {} evictions, {} invalidations, {} entries of {} bytes",
            self.hits,
            self.misses,
            self.refusals,
            self.evictions,
            self.invalidations,
            self.entries,
            self.bytes
        )
    }
}
