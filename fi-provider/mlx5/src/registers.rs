//! Doorbell registers that several lanes ring.
//!
//! A queue pair without a thread domain gets a register that the driver assigns, and others get the
//! same one. Two copies into one register at a time would mix, so the thread that rings it holds
//! its lock, from the first store to the one that sends them on their way.

#![expect(unsafe_code, reason = "lanes of several threads reach a register")]

use fi_shm::lock::Lock;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Between the two halves of a BlueFlame register that posts alternate between.
pub(crate) const HALF: usize = 256;

/// Returns the half of a doorbell register that is not `half`.
#[inline(always)]
pub(crate) fn other_half(half: *mut u8) -> *mut u8 {
    half.map_addr(|addr| addr ^ HALF)
}

/// A doorbell register, and the lock for it.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Register {
    /// The half to be written next.
    half: Cell<*mut u8>,
    lock: Lock,
}

// SAFETY: the pointer is to a register that is mapped as long as the lanes live that ring it.
unsafe impl Send for Register {}
// SAFETY: the half is used under the lock.
unsafe impl Sync for Register {}

impl Register {
    fn new(first: *mut u8) -> Self {
        Self {
            half: Cell::new(first),
            lock: Lock::new(),
        }
    }

    /// Waits until nobody rings the register, and keeps others from it until [`Register::unlock`].
    #[inline(always)]
    pub(crate) fn lock(&self) -> &Cell<*mut u8> {
        self.lock.take();
        &self.half
    }

    /// Lets others ring it.
    #[inline(always)]
    pub(crate) fn unlock(&self) {
        self.lock.give();
    }
}

/// The registers of a device context that several lanes ring, by their addresses.
#[derive(Debug, Default)]
pub struct Registers(Mutex<BTreeMap<usize, Arc<Register>>>);

impl Registers {
    /// Makes an empty set: lanes add their registers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the register at this address.
    pub(crate) fn at(&self, address: *mut u8) -> Arc<Register> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Register::new(address));
        Arc::clone(known.entry(address.addr()).or_insert_with(new))
    }
}
