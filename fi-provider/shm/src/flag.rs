//! A flag in memory shared by processes that can be waited for in the kernel.
//!
//! Its values are counted by ones and of 64 bits: at a thousand million a second they last for 500
//! years. So none of them wraps. The kernel looks at the lower half only, and for 40 ms at most.
//!
//! These are the library's own flags: every change goes through [`Word::post`], which knows whether
//! someone sleeps. Memory that users change by plain stores is watched by [`crate::wait`] instead.

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};
use crate::wait::Patience;

/// A value that only grows, on a cache line of its own.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Flag(Word);

#[cfg(not(loom))]
const _: () = assert!(size_of::<Flag>() == 64);

impl std::ops::Deref for Flag {
    type Target = Word;

    #[inline(always)]
    fn deref(&self) -> &Word {
        &self.0
    }
}

/// A value that only grows, to stand beside the data that it announces.
#[repr(C)]
#[derive(Debug)]
pub struct Word {
    value: AtomicU64,
    /// Number of sleepers now: they come and go, and are no more than there are threads.
    sleepers: AtomicU32,
    #[cfg(loom)]
    kernel: model::Futex,
}

impl Default for Word {
    fn default() -> Self {
        Self {
            value: AtomicU64::new(0),
            sleepers: AtomicU32::new(0),
            #[cfg(loom)]
            kernel: model::Futex::default(),
        }
    }
}

impl Word {
    /// Returns the value now.
    ///
    /// Makes the writes of the poster before [`Word::post`] visible to the caller.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        // ORDERING: pairs with the swap in `post`.
        self.value.load(Ordering::Acquire)
    }

    /// Sets the value and wakes the threads that sleep on it.
    #[inline]
    pub fn post(&self, value: u64) {
        // ORDERING: the swap releases the poster's writes to `get` and `wait`. Sequentially consistent
        // with the count of sleepers in `sleep`: either this load sees the sleeper, or the sleeper's
        // look at the value, in the kernel, sees the new one.
        self.value.swap(value, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) != 0 {
            self.wake();
        }
    }

    /// Waits until the value has reached `target`; calls `idle` at least every 40 ms while asleep.
    #[inline]
    pub fn wait(&self, target: u64, patience: Patience, mut idle: impl FnMut()) {
        for _ in 0..patience.bursts {
            for _ in 0..patience.looks {
                if self.get() >= target {
                    return;
                }
                relax();
            }
            yield_processor();
        }
        while self.get() < target {
            self.sleep(target);
            idle();
        }
    }

    /// Sleeps in the kernel for at most 40 ms unless the value has reached `target`.
    #[cold]
    fn sleep(&self, target: u64) {
        // ORDERING: pairs with the swap, fence and load in `post`: see there.
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let seen = self.value.load(Ordering::SeqCst);
        if seen < target {
            self.sleep_while(seen);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Returns the half of the value that changes with every post: all that the kernel can look at.
    #[cfg(not(loom))]
    fn lower_half(&self) -> *const u32 {
        let half = if cfg!(target_endian = "little") { 0 } else { 1 };
        self.value.as_ptr().cast::<u32>().wrapping_add(half)
    }

    #[cfg(not(loom))]
    fn sleep_while(&self, seen: u64) {
        // SAFETY: aligned, as half of an aligned value; in shared memory and mapped during the
        // call, as `self` is.
        unsafe { crate::futex::sleep_while(self.lower_half(), seen as u32) };
    }

    #[cfg(not(loom))]
    #[cold]
    fn wake(&self) {
        // SAFETY: aligned, as half of an aligned value; in shared memory and mapped during the
        // call, as `self` is.
        unsafe { crate::futex::wake(self.lower_half()) };
    }

    #[cfg(loom)]
    fn sleep_while(&self, seen: u64) {
        self.kernel.wait(&self.value, seen);
    }

    #[cfg(loom)]
    fn wake(&self) {
        self.kernel.wake();
    }
}

#[inline(always)]
fn relax() {
    #[cfg(not(loom))]
    std::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
}

fn yield_processor() {
    #[cfg(not(loom))]
    std::thread::yield_now();
    #[cfg(loom)]
    loom::thread::yield_now();
}

/// Models futex(2) for the model checker: the look at the value and going to sleep are one step
/// with respect to a wake.
#[cfg(loom)]
mod model {
    use super::{AtomicU64, Ordering};
    use loom::sync::{Condvar, Mutex};

    #[derive(Debug)]
    pub(super) struct Futex {
        bucket: Mutex<()>,
        queue: Condvar,
    }

    impl Default for Futex {
        fn default() -> Self {
            Self {
                bucket: Mutex::new(()),
                queue: Condvar::new(),
            }
        }
    }

    impl Futex {
        pub(super) fn wait(&self, word: &AtomicU64, seen: u64) {
            let held = self.bucket.lock().expect("no panics inside");
            if word.load(Ordering::SeqCst) == seen {
                drop(self.queue.wait(held).expect("no panics inside"));
            }
        }

        pub(super) fn wake(&self) {
            let _held = self.bucket.lock().expect("no panics inside");
            self.queue.notify_all();
        }
    }
}
