//! A lock for turns that may take long, and that follow each other closely: a thread that has
//! waited for long is given the lock by its holder.

use super::Lock;
#[cfg(not(loom))]
use crate::futex;
use crate::sync::{AtomicU32, Ordering};
use crate::wait::{Patience, Waiter};
use std::time::{Duration, Instant};

/// Time, from its first sleep on, for which a thread waits as for any lock.
const LONG: Duration = Duration::from_millis(1);

/// A lock whose holder can hand it on. Two instructions take it, and one gives it back.
///
/// A thread that gives it back and takes it again at once leaves others no time: it calls
/// [`FairLock::hand_on`] now and then.
#[derive(Debug, Default)]
pub struct FairLock {
    lock: Lock,
    /// Threads that have waited for long, and wait.
    waiting: AtomicU32,
    /// 1 from a handing on until one of those threads takes the lock, which counts as taken
    /// meanwhile.
    handed: AtomicU32,
}

impl FairLock {
    /// Takes the lock, if nobody has it.
    #[inline(always)]
    #[must_use]
    pub fn try_take(&self) -> bool {
        self.lock.try_take()
    }

    /// Takes the lock; looks again and again, offers the processor to others, and sleeps in the
    /// end.
    #[inline(always)]
    pub fn take(&self) {
        if !self.try_take() {
            self.wait();
        }
    }

    /// Lets others have it.
    #[inline(always)]
    pub fn give(&self) {
        self.lock.give();
    }

    /// Gives the lock, which this thread has, to a thread that has waited for long. Returns false
    /// where there is none: then the lock is still this thread's.
    #[inline(always)]
    #[must_use]
    pub fn hand_on(&self) -> bool {
        // ORDERING: a thread is counted down while it has the lock, which orders that before this
        // look: each thread that is counted here will come for the lock.
        if self.waiting.load(Ordering::Relaxed) == 0 {
            return false;
        }
        self.hand();
        true
    }

    #[cold]
    #[inline(never)]
    fn hand(&self) {
        // ORDERING: pairs with the acquire in `try_take_handed`: the next holder finds the stores
        // of this one.
        self.handed.store(1, Ordering::Release);
        self.wake();
    }

    /// Takes the lock if it was handed on. For threads that are counted as waiting.
    fn try_take_handed(&self) -> bool {
        // ORDERING: pairs with the release in `hand`.
        (self.handed)
            .compare_exchange(1, 0, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    #[cold]
    #[inline(never)]
    fn wait(&self) {
        let mut waiter = Waiter::new(Patience::new(true));
        let mut since = None;
        while !self.try_take() {
            if waiter.pause() && since.get_or_insert_with(Instant::now).elapsed() >= LONG {
                return self.wait_for_hand();
            }
        }
    }

    /// Waits for the lock to be free or handed on.
    fn wait_for_hand(&self) {
        // ORDERING: none; a holder that does not see it finds it another time.
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let mut waiter = Waiter::new(Patience::new(true));
        while !self.try_take() && !self.try_take_handed() {
            self.pause(&mut waiter);
        }
        // ORDERING: the giving back of the lock orders it (`hand_on`).
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Lets some time pass, until the lock is handed on at most.
    #[cfg(not(loom))]
    fn pause(&self, waiter: &mut Waiter) {
        // SAFETY: the word is aligned and mapped during the call, as `self` is.
        waiter.pause_by(|time| unsafe { futex::sleep_for(self.handed.as_ptr(), 0, time) });
    }

    #[cfg(not(loom))]
    fn wake(&self) {
        // SAFETY: the word is aligned and mapped during the call, as `self` is.
        unsafe { futex::wake(self.handed.as_ptr()) };
    }

    /// Has the checker run other threads.
    #[cfg(loom)]
    fn pause(&self, _: &mut Waiter) {
        loom::thread::yield_now();
    }

    #[cfg(loom)]
    fn wake(&self) {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::cell::UnsafeCell;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    /// A count that is read and written apart, in turns.
    #[derive(Default)]
    struct Counted(FairLock, UnsafeCell<u64>);

    // SAFETY: the count is used by the holder of the lock.
    unsafe impl Sync for Counted {}

    impl Counted {
        fn count(&self) -> u64 {
            // SAFETY: callers have the lock.
            unsafe {
                let before = self.1.get().read();
                thread::yield_now();
                self.1.get().write(before + 1);
                before
            }
        }
    }

    #[test]
    fn one_thread_at_a_time_has_the_lock_however_it_came_by_it() {
        const TURNS: u64 = 300;
        let counted = &Counted::default();
        // Counts threads as waiting for long from the first, and without a sleep.
        let take = &|is_long| match is_long {
            true if !counted.0.try_take() => counted.0.wait_for_hand(),
            true => {}
            false => counted.0.take(),
        };
        thread::scope(|scope| {
            for at in 0..4 {
                scope.spawn(move || {
                    for turn in 0..TURNS {
                        take((at + turn) % 2 == 0);
                        counted.count();
                        if !counted.0.hand_on() {
                            counted.0.give();
                        }
                    }
                });
            }
        });
        assert!(counted.0.try_take());
        assert_eq!(counted.count(), 4 * TURNS);
        assert!(!counted.0.hand_on(), "nobody waits");
    }

    #[test]
    fn a_thread_gets_the_lock_beside_one_that_takes_it_again_at_once() {
        const TURNS: u32 = 50;
        let lock = FairLock::default();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    lock.take();
                    // The lock is free for a hundred thousandth of the time, and mostly while this
                    // thread has the processor.
                    thread::sleep(Duration::from_millis(1));
                    if !lock.hand_on() {
                        lock.give();
                    }
                }
            });
            for _ in 0..TURNS {
                // The other thread takes the lock meanwhile.
                thread::sleep(Duration::from_millis(2));
                lock.take();
                lock.give();
            }
            is_over.store(true, Ordering::Relaxed);
        });
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;

    type Shared = (FairLock, UnsafeCell<u32>);

    /// Adds to the value in a turn that has begun, and ends that.
    fn turn((lock, value): &Shared) {
        // SAFETY: this thread has the lock.
        value.with_mut(|value| unsafe { *value += 1 });
        if !lock.hand_on() {
            lock.give();
        }
    }

    /// Looks once for a turn, as a thread that has waited for long. Returns the turns that it had,
    /// and whether it tried to take a lock that was taken: the checker may order that behind the
    /// end of the turn that it met, and then takes the lock for taken for ever.
    fn look(shared: &Shared) -> (u32, bool) {
        let lock = &shared.0;
        lock.waiting.fetch_add(1, Ordering::Relaxed);
        let is_free = !lock.lock.is_taken();
        if is_free && lock.try_take() || lock.try_take_handed() {
            lock.waiting.fetch_sub(1, Ordering::Relaxed);
            turn(shared);
            return (1, false);
        }
        (0, is_free)
    }

    #[test]
    fn a_lock_that_is_handed_on_has_one_holder_and_is_not_lost() {
        loom::model(|| {
            let shared = Arc::new(Shared::default());
            assert!(shared.0.try_take());
            let threads = [(); 2].map(|()| {
                let other = Arc::clone(&shared);
                loom::thread::spawn(move || look(&other))
            });
            turn(&shared);
            let waits = threads.map(|thread| thread.join().expect("a turn does not panic"));
            let turns = 1 + waits.iter().map(|(turns, _)| turns).sum::<u32>();
            let (lock, value) = &*shared;
            // SAFETY: the other threads have ended.
            assert_eq!(value.with(|value| unsafe { *value }), turns);
            if !waits.iter().any(|(_, is_in_vain)| *is_in_vain) {
                // A thread that has had no turn still waits.
                let is_handed = || turns < 3 && lock.try_take_handed();
                assert!(lock.try_take() || is_handed(), "it is lost");
            }
        });
    }
}
