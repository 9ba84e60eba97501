//! Job constants: written once when a job starts, read on every path without synchronisation.

#![expect(
    unsafe_code,
    reason = "a static that is written at set-up and read as plain memory needs UnsafeCell and Sync"
)]

use std::cell::UnsafeCell;

/// A static whose writes all happen while only one thread uses the library: in initialisation and in
/// finalisation, which OpenSHMEM forbids to overlap with any other call.
///
/// Reads are plain loads that the compiler folds into instructions; relaxed atomic loads are not.
#[repr(transparent)]
pub(crate) struct Plain<T>(UnsafeCell<T>);

// SAFETY: `get_mut` is unsafe and asks for exclusive use, from whichever thread; everything else only reads.
unsafe impl<T: Send + Sync> Sync for Plain<T> {}

impl<T> Plain<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Returns the value as it was last written.
    #[inline(always)]
    pub(crate) fn get(&self) -> &T {
        // SAFETY: no reference from here is in use while one of `get_mut` is, as that requires.
        unsafe { &*self.0.get() }
    }

    /// Returns the address of the value.
    pub(crate) const fn as_ptr(&self) -> *const T {
        self.0.get()
    }

    /// Returns the value, to be changed.
    ///
    /// # Safety
    /// No other thread is inside the library, and no reference from `get` is in use.
    #[expect(clippy::mut_from_ref, reason = "exclusive use is the caller's promise")]
    pub(crate) unsafe fn get_mut(&self) -> &mut T {
        // SAFETY: no other thread is inside the library, and no reference from `get` is in use.
        unsafe { &mut *self.0.get() }
    }
}
