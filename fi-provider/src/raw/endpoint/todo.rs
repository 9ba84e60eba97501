//! The bits of an endpoint that tell the work to do, for the endpoint's thread and for a program
//! that looks.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bits of the work to do.
#[derive(Debug)]
pub(super) struct Todo {
    bits: Cell<u8>,
    /// Address at which they are kept once more.
    shown: Cell<Option<NonNull<AtomicU8>>>,
}

impl Todo {
    pub(super) fn new(bits: u8) -> Self {
        Self {
            bits: Cell::new(bits),
            shown: Cell::new(None),
        }
    }

    #[inline(always)]
    pub(super) fn get(&self) -> u8 {
        self.bits.get()
    }

    #[inline(always)]
    pub(super) fn set(&self, bits: u8) {
        self.bits.set(bits);
        if let Some(shown) = self.shown.get() {
            // SAFETY: the byte stays as long as the value (the requirement of `show`).
            // ORDERING: decides only whether the program calls for progress.
            unsafe { shown.as_ref() }.store(bits, Ordering::Relaxed);
        }
    }

    /// Keeps the bits in this place, too.
    ///
    /// # Safety
    /// The byte stays, and is written by nobody else, as long as the value.
    pub(super) unsafe fn show(&self, place: NonNull<AtomicU8>) {
        self.shown.set(Some(place));
        self.set(self.get());
    }

    /// Returns the address of the bits.
    pub(super) fn as_ptr(&self) -> *const u8 {
        self.bits.as_ptr()
    }
}
