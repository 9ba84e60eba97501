//! The bits of an endpoint that tell the work to do, for the endpoint's thread and for a program
//! that looks.

use super::WORK;
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bits of the work to do.
#[derive(Debug)]
pub(super) struct Todo {
    bits: Cell<u8>,
    /// Whether a ring is polled, so that bells alone do not tell of all messages.
    is_polling: Cell<bool>,
    /// The bits, and [`WORK`] where a ring is polled: what programs see.
    all: Cell<u8>,
    /// Address at which these are kept once more.
    shown: Cell<Option<NonNull<AtomicU8>>>,
}

impl Todo {
    pub(super) fn new(bits: u8) -> Self {
        Self {
            bits: Cell::new(bits),
            is_polling: Cell::new(false),
            all: Cell::new(bits),
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
        self.tell();
    }

    /// Notes whether a ring is polled.
    pub(super) fn set_polling(&self, is_polling: bool) {
        self.is_polling.set(is_polling);
        self.tell();
    }

    #[inline(always)]
    fn tell(&self) {
        let polling = if self.is_polling.get() { WORK } else { 0 };
        let all = self.bits.get() | polling;
        self.all.set(all);
        if let Some(shown) = self.shown.get() {
            // SAFETY: the byte stays as long as the value (the requirement of `show`).
            // ORDERING: decides only whether the program calls for progress.
            unsafe { shown.as_ref() }.store(all, Ordering::Relaxed);
        }
    }

    /// Returns the bits that programs see.
    #[inline(always)]
    pub(super) fn all(&self) -> u8 {
        self.all.get()
    }

    /// Keeps these bits in this place, too.
    ///
    /// # Safety
    /// The byte stays, and is written by nobody else, as long as the value.
    pub(super) unsafe fn show(&self, place: NonNull<AtomicU8>) {
        self.shown.set(Some(place));
        self.tell();
    }

    /// Returns the address of these bits.
    pub(super) fn as_ptr(&self) -> *const u8 {
        self.all.as_ptr()
    }
}
