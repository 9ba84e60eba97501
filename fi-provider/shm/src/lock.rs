//! A lock of one bit, for the few stores of a post and other short turns of one process's threads.
//!
//! Two instructions take it, and one gives it back. Two ways wait for it: [`Lock::take`] without a
//! call, so that a post needs no frame for it, and [`Lock::take_patiently`], which sleeps in the
//! end, where a thread may have the lock for as long as a transfer takes to be copied. [`FairLock`]
//! is for turns that take longer still.

mod fair;

pub use fair::FairLock;

use crate::sync::{AtomicU32, Ordering};
use crate::wait::{Patience, Waiter};
use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Looks at a lock that is taken before the processor is offered to others.
const LOOKS: u32 = 64;

/// A lock of one bit.
#[derive(Debug, Default)]
pub struct Lock(AtomicU32);

const TAKEN: u32 = 1;

impl Lock {
    /// Makes a lock that nobody has.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Takes the lock, if nobody has it.
    #[inline(always)]
    #[must_use]
    pub fn try_take(&self) -> bool {
        // ORDERING: pairs with the release in `give`: the next holder finds the stores of the last
        // one.
        self.0.fetch_or(TAKEN, Ordering::Acquire) & TAKEN == 0
    }

    /// Waits for the lock and takes it. There is no call in here: a post needs no frame for it.
    #[inline(always)]
    pub fn take(&self) {
        if self.try_take() {
            return;
        }
        let mut looks = 0;
        loop {
            if !self.is_taken() && self.try_take() {
                return;
            }
            looks += 1;
            if looks % LOOKS == 0 {
                give_way();
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// Does as [`Lock::take`]; looks again and again, offers the processor to others, and sleeps in
    /// the end.
    #[inline(always)]
    pub fn take_patiently(&self) {
        if !self.try_take() {
            self.wait();
        }
    }

    #[cold]
    #[inline(never)]
    fn wait(&self) {
        let mut waiter = Waiter::new(Patience::new(true));
        while self.is_taken() || !self.try_take() {
            waiter.pause();
        }
    }

    #[inline(always)]
    fn is_taken(&self) -> bool {
        // ORDERING: none; `try_take` has it.
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Lets others have it.
    #[inline(always)]
    pub fn give(&self) {
        // ORDERING: pairs with the acquire in `try_take`.
        self.0.store(0, Ordering::Release);
    }

    /// Lets others have it, and orders every earlier load and store before every later one, as
    /// [`crate::order::full`] does.
    #[inline(always)]
    pub fn give_fully(&self) {
        #[cfg(all(target_arch = "x86_64", not(loom)))]
        // ORDERING: pairs with the acquire in `try_take`, and orders as `order::full`: a locked
        // instruction is as strong (Intel SDM vol. 3, 9.2.5).
        self.0.fetch_sub(TAKEN, Ordering::SeqCst);
        #[cfg(not(all(target_arch = "x86_64", not(loom))))]
        {
            self.give();
            crate::order::full();
        }
    }
}

/// A value that is used under a lock.
#[repr(C)]
pub struct Locked<T> {
    lock: Lock,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time has the lock, and with it the value.
unsafe impl<T: Send> Sync for Locked<T> {}

impl<T> Locked<T> {
    /// Makes a value whose lock nobody has.
    pub fn new(value: T) -> Self {
        Self {
            lock: Lock::default(),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the lock by [`Lock::take_patiently`].
    #[inline(always)]
    pub fn lock(&self) -> Guard<'_, T> {
        self.lock.take_patiently();
        Guard(self)
    }

    /// Returns the lock alone, for users that keep to a part of the value that has a rule of its
    /// own.
    #[inline(always)]
    pub fn bare(&self) -> &Lock {
        &self.lock
    }

    /// Returns the lock as one that this thread has taken by [`Locked::bare`].
    ///
    /// # Safety
    /// This thread has the lock, and no other guard of it.
    #[inline(always)]
    pub unsafe fn taken(&self) -> Guard<'_, T> {
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

/// The lock of a value, taken; given back at the end.
#[derive(Debug)]
pub struct Guard<'a, T>(&'a Locked<T>);

impl<T> Guard<'_, T> {
    /// Gives the lock back by [`Lock::give_fully`].
    #[inline(always)]
    pub fn give_fully(self) {
        self.0.lock.give_fully();
        std::mem::forget(self);
    }
}

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

/// Offers the processor to others. No call: a wait in the middle of a post needs no frame for it.
#[inline(always)]
fn give_way() {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    // SAFETY: sched_yield(2) takes nothing and touches no memory; the kernel changes rax, rcx and r11
    // alone. An argument's register is put back: posts that wait never would copy it at their begin.
    unsafe {
        core::arch::asm!(
            "movq xmm15, rcx",
            "syscall",
            "movq rcx, xmm15",
            inout("rax") libc::SYS_sched_yield => _,
            out("xmm15") _,
            lateout("r11") _,
            options(nostack)
        );
    }
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    std::thread::yield_now();
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::thread;

    const TURNS: u64 = 20_000;

    /// Has three threads add to a value that is read and written apart.
    fn turns(take: impl Fn(&Locked<u64>) -> Guard<'_, u64> + Sync, is_full: bool) {
        let value = Locked::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..TURNS {
                        let mut value = take(&value);
                        let before = *value;
                        *value = before + 1;
                        if is_full {
                            value.give_fully();
                        }
                    }
                });
            }
        });
        assert_eq!(*value.lock(), 3 * TURNS);
        assert!(value.bare().try_take());
        assert!(!value.bare().try_take());
        value.bare().give();
    }

    #[test]
    fn one_thread_at_a_time_has_the_value() {
        turns(Locked::lock, false);
        turns(Locked::lock, true);
        turns(
            |value| {
                value.bare().take();
                // SAFETY: taken above.
                unsafe { value.taken() }
            },
            false,
        );
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;

    /// Looks of a thread at the lock. The checker may order a look in vain behind the end of the turn
    /// that it met, so that no loop until the lock is free ends there.
    const TRIES: u32 = 2;

    #[test]
    fn one_thread_at_a_time_has_the_lock() {
        loom::model(|| {
            let shared = Arc::new((Lock::default(), UnsafeCell::new(0)));
            // The checker tells of accesses at a time, and of those that are not ordered.
            let add = |(lock, value): &(Lock, UnsafeCell<u32>)| {
                let mut turns = 0;
                for _ in 0..TRIES {
                    if lock.try_take() {
                        // SAFETY: this thread has the lock.
                        value.with_mut(|value| unsafe { *value += 1 });
                        lock.give();
                        turns += 1;
                    }
                }
                turns
            };
            let other = Arc::clone(&shared);
            let thread = loom::thread::spawn(move || add(&other));
            let own = add(&shared);
            let theirs = thread.join().expect("adding does not panic");
            // SAFETY: the other thread has ended.
            assert_eq!(shared.1.with(|value| unsafe { *value }), own + theirs);
        });
    }
}
