//! The registration cache: private memory of the program that a device reads and writes in place, because it is worth it.
//!
//! Symmetric memory is registered for good. Any other memory goes by way of the bounce memory, which costs a copy, or is
//! registered when a long transfer needs it first, and stays so while it is used: until there are too many entries or
//! bytes, or until its mapping changes (`watch`). An entry in use is lent out, and outlives all that until it is given back.
//!
//! A forked child uses no entry of its parent's. The parent registers anew the memory that it has
//! registered before: where a device driver knows nothing of copy-on-write, the pages that the
//! parent writes next are others than those that the device has.

#![expect(
    unsafe_code,
    reason = "registers the program's memory; speaks to the kernel about mappings"
)]

mod cache;
mod counts;
mod loan;
mod maps;
mod registrar;
mod table;
#[cfg(test)]
mod tests;
mod watch;

use cache::Cache;
use counts::Counters;
pub use counts::{Limits, Statistics};
use fi_mlx5::device as hca;
pub(crate) use loan::{Absent, Loan};
use std::sync::{Arc, OnceLock};

/// The cache of one context of a device, which begins with the first transfer that is long enough.
#[derive(Debug)]
pub(crate) struct Registrations {
    device: hca::Device,
    limits: Limits,
    counters: Arc<Counters>,
    cache: OnceLock<Option<Cache>>,
}

impl Registrations {
    /// Makes the registrations of this context.
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

    /// Makes the registrations of another context of the same domain: counted together, and with
    /// limits of their own.
    pub(crate) fn beside(&self, device: &hca::Device) -> Self {
        Self {
            device: device.clone(),
            limits: self.limits,
            counters: Arc::clone(&self.counters),
            cache: OnceLock::new(),
        }
    }

    /// Returns registered memory that has `len` bytes at `addr`, if there is such or can be.
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

    /// Returns the statistics of these and of those beside them.
    pub(crate) fn statistics(&self) -> Statistics {
        self.counters.statistics()
    }

    /// Lets go of memory that has changed; it is locked until then, or until the next long
    /// transfer.
    pub(crate) fn drop_invalid(&self) {
        if let Some(Some(cache)) = self.cache.get() {
            cache.drop_invalid();
        }
    }
}
