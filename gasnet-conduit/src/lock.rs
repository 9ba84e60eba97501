//! The lock of an engine, or none, chosen by type when it is opened.

#![expect(unsafe_code, reason = "locks without a guard that borrows")]

use fi_provider::raw::lock::Lock;
use fi_shm::wait::{Patience, Waiter};

/// Keeps the threads that use an engine apart, or trusts that there is one.
///
/// # Safety
/// Between a `try_lock` that returns true, or a `lock`, and `unlock` of one thread none of another
/// returns so; or the type's documentation leaves it to the program that one thread uses the engine at a
/// time.
pub unsafe trait Guard: Default {
    /// Keeps others out until [`Guard::unlock`], if none is in; returns whether it does. Calls nothing.
    fn try_lock(&self) -> bool;

    /// Waits until no other thread is in, and keeps others out until [`Guard::unlock`].
    #[inline(always)]
    fn lock(&self) {
        if !self.try_lock() {
            wait(self);
        }
    }

    /// Lets others go on.
    ///
    /// # Safety
    /// This thread has locked.
    unsafe fn unlock(&self);
}

/// Waits for a lock, asleep where that takes long: the thread that has it may run a handler.
#[cold]
#[inline(never)]
fn wait(guard: &impl Guard) {
    let mut waiter = Waiter::new(Patience::new(true));
    while !guard.try_lock() {
        waiter.pause();
    }
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
    unsafe fn unlock(&self) {}
}

/// A lock: threads use the engine as they like.
#[derive(Debug, Default)]
pub struct Threads(Lock);

// SAFETY: the lock does it.
unsafe impl Guard for Threads {
    #[inline(always)]
    fn try_lock(&self) -> bool {
        self.0.try_take()
    }

    #[inline(always)]
    unsafe fn unlock(&self) {
        self.0.give();
    }
}
