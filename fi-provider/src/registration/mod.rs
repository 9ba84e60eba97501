//! The registration cache: private memory of the program that a device reads and writes in place, because it is worth it.
//!
//! Symmetric memory is registered for good. Any other memory goes by way of the bounce memory, which costs a copy, or is
//! registered when a long transfer needs it first, and stays so while it is used: until there are too many entries or
//! bytes, or until its mapping changes (`watch`). An entry in use is lent out, and outlives all that until it is given back.
//!
//! A forked child uses no entry of its parent's. The parent registers anew what it has registered before: where a device
//! driver knows nothing of copy-on-write, the pages that the parent writes next are others than those that the device has.

#![expect(
    unsafe_code,
    reason = "registers the program's memory; speaks to the kernel about mappings"
)]

mod cache;
mod maps;
mod table;
#[cfg(test)]
mod tests;
mod watch;

use cache::Cache;
use fi_mlx5::device as hca;
use std::fmt::{self, Debug, Display};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use table::Entry;

/// How much a cache keeps registered at most; either 0 is no cache.
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

/// What the caches of a domain have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Transfers whose memory was registered already.
    pub hits: u64,
    /// Transfers whose memory was registered for them.
    pub misses: u64,
    /// Long transfers that went by the bounce memory all the same: theirs is not private memory of no file, is more than
    /// the limits allow beside what is in use, may not be locked, or something was being unmapped just then.
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
struct Counter(AtomicU64);

impl Counter {
    // ORDERING: numbers alone, here and below.
    fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    fn subtract(&self, less: u64) {
        self.0.fetch_sub(less, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What all caches of a domain have done.
#[derive(Debug, Default)]
struct Counters {
    hits: Counter,
    misses: Counter,
    refusals: Counter,
    evictions: Counter,
    invalidations: Counter,
    entries: Counter,
    bytes: Counter,
}

impl Counters {
    fn statistics(&self) -> Statistics {
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

/// What can register memory: a device, or a test's.
pub(crate) trait Registrar: Send + Sync + Debug {
    /// Registers memory for the device to read and write; gives the local key and what ends that when it is dropped.
    ///
    /// # Safety
    /// The bytes are mapped, readable and writable, and nobody minds that the device writes them when asked to.
    unsafe fn register(&self, range: &Range<usize>) -> Option<(u32, Box<dyn Send + Sync>)>;
}

impl Registrar for hca::Device {
    unsafe fn register(&self, range: &Range<usize>) -> Option<(u32, Box<dyn Send + Sync>)> {
        // SAFETY: the bytes are mapped, readable and writable, and nobody minds that the device
        // writes them.
        let region = unsafe { self.register_local(range.start as *mut u8, range.len()) };
        let region = region.ok()?;
        Some((region.lkey(), Box::new(region)))
    }
}

/// Registered memory, lent to a transfer until it is dropped.
#[derive(Clone)]
pub(crate) struct Loan(Arc<Entry>);

impl Loan {
    /// The key by which own entries of a queue name it.
    pub(crate) fn key(&self) -> u32 {
        self.0.key
    }

    /// What tells one entry from another.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl Debug for Loan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loan({:x?})", self.0.range)
    }
}

/// What to do for memory that is not registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// Nothing: it is not worth it.
    Leave,
    /// Register it.
    Register,
}

/// The cache of one context of a device, which begins with the first transfer that is long enough.
#[derive(Debug)]
pub(crate) struct Registrations {
    device: hca::Device,
    limits: Limits,
    counters: Arc<Counters>,
    cache: OnceLock<Option<Cache>>,
}

impl Registrations {
    /// Those of this context.
    pub(crate) fn of(device: &hca::Device, limits: Limits) -> Self {
        // The library has to keep registered memory from forked children, and these expect to have theirs.
        let limits = if device.hides_memory_from_children() {
            Limits::OFF
        } else {
            limits
        };
        Self {
            device: device.clone(),
            limits,
            counters: Arc::default(),
            cache: OnceLock::new(),
        }
    }

    /// Those of another context of the same domain: counted together, and with limits of their own.
    pub(crate) fn beside(&self, device: &hca::Device) -> Self {
        Self {
            device: device.clone(),
            limits: self.limits,
            counters: Arc::clone(&self.counters),
            cache: OnceLock::new(),
        }
    }

    /// Registered memory that has `len` bytes at `addr`, if there is such or can be.
    ///
    /// # Safety
    /// The bytes are mapped, and stay so until the loan is given back.
    pub(crate) unsafe fn lend(&self, addr: usize, len: usize, absent: Absent) -> Option<Loan> {
        let cache = match absent {
            Absent::Leave => self.cache.get()?,
            Absent::Register => self.cache.get_or_init(|| {
                let device = Box::new(self.device.clone());
                Cache::open(device, self.limits, Arc::clone(&self.counters))
            }),
        };
        match cache {
            // SAFETY: the bytes are mapped, and stay so until the loan is given back.
            Some(cache) => unsafe { cache.lend(addr, len, absent) },
            None => {
                if absent == Absent::Register {
                    self.counters.refusals.add(1);
                }
                None
            }
        }
    }

    /// What these and those beside them have done.
    pub(crate) fn statistics(&self) -> Statistics {
        self.counters.statistics()
    }

    /// Lets go of memory that is not what it was; it is locked until then, or until the next long transfer.
    pub(crate) fn drop_invalid(&self) {
        if let Some(Some(cache)) = self.cache.get() {
            cache.drop_invalid();
        }
    }
}
