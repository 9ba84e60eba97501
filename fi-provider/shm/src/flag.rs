//! A 32-bit flag in memory shared by processes that can be waited for in the kernel.
//!
//! These are the library's own flags: every change goes through [`Word::post`], which knows whether
//! someone sleeps. Memory that users change by plain stores is watched by [`crate::wait`] instead.

use crate::sync::{AtomicU32, Ordering, fence};
use crate::wait::Patience;

/// A value that only grows (modulo 2^32), on a cache line of its own.
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

/// A value that only grows (modulo 2^32), beside what it tells of.
#[repr(C)]
#[derive(Debug)]
pub struct Word {
    value: AtomicU32,
    sleepers: AtomicU32,
    #[cfg(loom)]
    kernel: model::Futex,
}

impl Default for Word {
    fn default() -> Self {
        Self {
            value: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
            #[cfg(loom)]
            kernel: model::Futex::default(),
        }
    }
}

/// Whether `value` has reached `target`, both counted modulo 2^32.
#[inline(always)]
fn reached(value: u32, target: u32) -> bool {
    value.wrapping_sub(target) < 1 << 31
}

impl Word {
    /// The value now.
    ///
    /// What the poster wrote before [`Word::post`] is visible after it.
    #[inline(always)]
    pub fn get(&self) -> u32 {
        // ORDERING: pairs with the swap in `post`.
        self.value.load(Ordering::Acquire)
    }

    /// Sets the value and wakes whoever sleeps on it.
    #[inline]
    pub fn post(&self, value: u32) {
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
    pub fn wait(&self, target: u32, patience: Patience, mut idle: impl FnMut()) {
        for _ in 0..patience.bursts {
            for _ in 0..patience.looks {
                if reached(self.get(), target) {
                    return;
                }
                relax();
            }
            yield_processor();
        }
        while !reached(self.get(), target) {
            self.sleep(target);
            idle();
        }
    }

    /// Sleeps in the kernel for at most 40 ms unless the value has reached `target`.
    #[cold]
    fn sleep(&self, target: u32) {
        // ORDERING: pairs with the swap, fence and load in `post`: see there.
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let seen = self.value.load(Ordering::SeqCst);
        if !reached(seen, target) {
            self.sleep_while(seen);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    #[cfg(not(loom))]
    fn sleep_while(&self, seen: u32) {
        // SAFETY: the word is aligned and alive for the duration of the call, in memory that the processes share.
        unsafe { crate::futex::sleep_while(self.value.as_ptr(), seen) };
    }

    #[cfg(not(loom))]
    #[cold]
    fn wake(&self) {
        // SAFETY: as above.
        unsafe { crate::futex::wake(self.value.as_ptr()) };
    }

    #[cfg(loom)]
    fn sleep_while(&self, seen: u32) {
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

/// What futex(2) promises, for the model checker: the look at the value and going to sleep are one
/// step with respect to a wake.
#[cfg(loom)]
mod model {
    use super::{AtomicU32, Ordering};
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
        pub(super) fn wait(&self, word: &AtomicU32, seen: u32) {
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
