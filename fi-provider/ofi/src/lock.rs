//! The lock of a port's state: two instructions to take it, and one to give it back.
//!
//! A thread that finds it taken looks again and again, offers the processor to others, and sleeps in
//! the end: the thread that serves peers may have it for as long as a transfer takes to be copied.

use fi_shm::wait::{Patience, Waiter};
use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

/// Not zero while a thread has it.
#[derive(Debug, Default)]
pub(crate) struct Lock(AtomicU32);

const TAKEN: u32 = 1;

impl Lock {
    /// Takes the lock, if nobody has it.
    #[inline(always)]
    pub(crate) fn try_take(&self) -> bool {
        // ORDERING: pairs with the release in `give`.
        self.0.fetch_or(TAKEN, Ordering::Acquire) & TAKEN == 0
    }

    /// Takes the lock, when nobody has it any more.
    #[inline(always)]
    pub(crate) fn take(&self) {
        if !self.try_take() {
            self.wait();
        }
    }

    #[cold]
    #[inline(never)]
    fn wait(&self) {
        let mut waiter = Waiter::new(Patience::new(true));
        while !self.try_take() {
            waiter.pause();
        }
    }

    /// Lets others have it.
    #[inline(always)]
    pub(crate) fn give(&self) {
        // ORDERING: pairs with the acquire in `try_take`.
        self.0.store(0, Ordering::Release);
    }
}

/// A value that is used under a lock.
#[repr(C)]
pub(crate) struct Locked<T> {
    lock: Lock,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time has the lock, and with it the value.
unsafe impl<T: Send> Sync for Locked<T> {}

impl<T> Locked<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            lock: Lock::default(),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the lock.
    #[inline(always)]
    pub(crate) fn lock(&self) -> Guard<'_, T> {
        self.lock.take();
        Guard(self)
    }

    /// The lock alone, for posts that use no more of the value than [`Locked::value`] says.
    #[inline(always)]
    pub(crate) fn bare(&self) -> &Lock {
        &self.lock
    }

    /// The lock as one that this thread has taken by [`Locked::bare`].
    ///
    /// # Safety
    /// This thread has the lock, and no other guard of it.
    pub(crate) unsafe fn taken(&self) -> Guard<'_, T> {
        Guard(self)
    }
}

impl<T> fmt::Debug for Locked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locked")
            .field("lock", &self.lock)
            .finish_non_exhaustive()
    }
}

/// The lock, taken; given back at the end.
#[derive(Debug)]
pub(crate) struct Guard<'a, T>(&'a Locked<T>);

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this thread has the lock.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread has the lock.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.lock.give();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn one_thread_at_a_time_has_the_value() {
        const TURNS: u64 = 20_000;
        let value = Locked::new(0_u64);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..TURNS {
                        let mut value = value.lock();
                        let before = *value;
                        *value = before + 1;
                    }
                });
            }
        });
        assert_eq!(*value.lock(), 3 * TURNS);
        assert!(value.bare().try_take());
        assert!(!value.bare().try_take());
        value.bare().give();
    }
}
