//! Doorbell registers that several lanes ring.
//!
//! A queue pair without a thread domain gets a register that the driver assigns, and others get the same one. Two copies into
//! one register at a time would mix, so whoever rings it holds its lock, from the first store to the one that sends them on their way.

#![expect(unsafe_code, reason = "lanes of several threads reach a register")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A doorbell register, and the lock for it.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Register {
    /// The half to be written next.
    half: Cell<*mut u8>,
    lock: AtomicBool,
}

// SAFETY: the pointer is to a register that is mapped as long as the lanes live that ring it.
unsafe impl Send for Register {}
// SAFETY: the half is used under the lock.
unsafe impl Sync for Register {}

/// Looks at a lock that is taken before the processor is offered to others.
const LOOKS: u32 = 100;

impl Register {
    fn new(first: *mut u8) -> Self {
        Self {
            half: Cell::new(first),
            lock: AtomicBool::new(false),
        }
    }

    /// Waits until nobody rings the register, and keeps others from it until [`Register::unlock`].
    #[inline(always)]
    pub(crate) fn lock(&self) -> &Cell<*mut u8> {
        // ORDERING: pairs with the release in `unlock`: the stores of one lane are on their way before those of the next.
        if self.lock.swap(true, Ordering::Acquire) {
            self.wait();
        }
        &self.half
    }

    #[cold]
    #[inline(never)]
    fn wait(&self) {
        let mut looks = 0;
        // ORDERING: as in `lock`.
        while self.lock.swap(true, Ordering::Acquire) {
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// Lets others ring it.
    #[inline(always)]
    pub(crate) fn unlock(&self) {
        // ORDERING: pairs with the exchange in `lock`.
        self.lock.store(false, Ordering::Release);
    }
}

/// The registers of a device context that several lanes ring, by their addresses.
#[derive(Debug, Default)]
pub struct Registers(Mutex<BTreeMap<usize, Arc<Register>>>);

impl Registers {
    /// None yet: lanes add theirs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The one at this address.
    pub(crate) fn at(&self, address: *mut u8) -> Arc<Register> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Register::new(address));
        Arc::clone(known.entry(address.addr()).or_insert_with(new))
    }
}
