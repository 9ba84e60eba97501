//! The lock of an engine, or none, chosen by type when it is opened.

#![expect(unsafe_code, reason = "locks without a guard that borrows")]

use parking_lot::RawMutex;
use parking_lot::lock_api::RawMutex as _;
use std::fmt;

/// Keeps the threads that use an engine apart, or trusts that there is one.
///
/// # Safety
/// Between `lock` and `unlock` of one thread no `lock` of another returns; or the type's
/// documentation leaves it to the program that one thread uses the engine at a time.
pub unsafe trait Guard: Default {
    /// Waits until no other thread is between this and [`Guard::unlock`].
    fn lock(&self);

    /// Lets others go on.
    ///
    /// # Safety
    /// This thread has locked.
    unsafe fn unlock(&self);
}

/// No lock: the program uses the engine by one thread at a time.
#[derive(Debug, Default)]
pub struct Alone;

// SAFETY: it is left to the program.
unsafe impl Guard for Alone {
    #[inline(always)]
    fn lock(&self) {}

    #[inline(always)]
    unsafe fn unlock(&self) {}
}

/// A lock: threads use the engine as they like.
pub struct Threads(RawMutex);

impl Default for Threads {
    fn default() -> Self {
        Self(RawMutex::INIT)
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Threads")
    }
}

// SAFETY: the mutex does it.
unsafe impl Guard for Threads {
    #[inline(always)]
    fn lock(&self) {
        self.0.lock();
    }

    #[inline(always)]
    unsafe fn unlock(&self) {
        // SAFETY: this thread has locked.
        unsafe { self.0.unlock() };
    }
}
