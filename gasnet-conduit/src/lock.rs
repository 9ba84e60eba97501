//! The lock of an engine, or none, chosen by type when it is opened.

#![expect(unsafe_code, reason = "locks without a guard that borrows")]

use fi_provider::raw::lock::FairLock;

/// Keeps the threads that use an engine apart, or trusts that there is one.
///
/// # Safety
/// Between a `try_lock` that returns true, or a `lock`, and the `unlock` or the `hand_on` that
/// returns true of one thread none of another returns so; or the type's documentation leaves it to
/// the program that one thread uses the engine at a time.
pub unsafe trait Guard: Default {
    /// Keeps others out until [`Guard::unlock`], if none is in; returns whether it does. Calls nothing.
    fn try_lock(&self) -> bool;

    /// Waits until no other thread is in, and keeps others out until [`Guard::unlock`].
    fn lock(&self);

    /// Lets others go on.
    ///
    /// # Safety
    /// This thread has locked.
    unsafe fn unlock(&self);

    /// Lets a thread go on that has waited for long; returns false, and keeps all out as before,
    /// where there is none.
    ///
    /// # Safety
    /// This thread has locked.
    unsafe fn hand_on(&self) -> bool;
}

/// No lock: the program uses the engine by one thread at a time.
#[derive(Debug, Default)]
pub struct Alone;

// SAFETY: it is left to the program.
unsafe impl Guard for Alone {
    #[inline(always)]
    fn try_lock(&self) -> bool {
        true
    }

    #[inline(always)]
    fn lock(&self) {}

    #[inline(always)]
    unsafe fn unlock(&self) {}

    #[inline(always)]
    unsafe fn hand_on(&self) -> bool {
        false
    }
}

/// A lock: threads use the engine as they like. A wait sleeps where it takes long: the thread that
/// has the lock may run a handler.
#[derive(Debug, Default)]
pub struct Threads(FairLock);

// SAFETY: the lock does it.
unsafe impl Guard for Threads {
    #[inline(always)]
    fn try_lock(&self) -> bool {
        self.0.try_take()
    }

    #[inline(always)]
    fn lock(&self) {
        self.0.take();
    }

    #[inline(always)]
    unsafe fn unlock(&self) {
        self.0.give();
    }

    #[inline(always)]
    unsafe fn hand_on(&self) -> bool {
        self.0.hand_on()
    }
}
