//! Waiting for memory that others change by plain stores: spin, yield, then bounded timed sleeps.

use std::time::{Duration, Instant};
use std::{hint, io, ptr};

/// The shortest and longest sleeps of a waiter.
const FIRST_SLEEP: Duration = Duration::from_micros(2);
const LONGEST_SLEEP: Duration = Duration::from_micros(500);

/// Time after which a waiter sleeps at the end of a burst, however many are left: a look that makes
/// progress may take as long as a system call, and an offer of the processor as long as others use
/// it.
const LONGEST_AWAKE: Duration = Duration::from_millis(5);

/// Time for which a waiter stays awake: so many bursts of looks, the processor offered to others
/// after each, and some milliseconds at most.
///
/// The offers cost little where nobody takes them, and where the awaited process shares the
/// processor, which schedulers do even when another one idles, it waits for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Looks in a burst, with a pause instruction (about 10 to 50 ns) between them.
    pub looks: u32,
    /// Bursts before the first sleep.
    pub bursts: u32,
}

impl Patience {
    /// Returns the patience for processes that share processors (`are_crowded`), or have one each:
    /// only then it is long.
    pub fn new(are_crowded: bool) -> Self {
        if are_crowded {
            Self {
                looks: 10,
                bursts: 20,
            }
        } else {
            Self {
                looks: 100,
                bursts: 100,
            }
        }
    }
}

/// One wait: call [`Waiter::pause`] after each look at the memory.
#[derive(Debug)]
pub struct Waiter {
    patience: Patience,
    looks: u32,
    bursts: u32,
    /// The first offer of the processor.
    since: Option<Instant>,
    sleep: Duration,
}

impl Waiter {
    /// Starts a wait.
    #[inline]
    pub fn new(patience: Patience) -> Self {
        Self {
            patience,
            looks: 0,
            bursts: 0,
            since: None,
            sleep: FIRST_SLEEP,
        }
    }

    /// Lets some time pass; returns whether this turn slept, so that the caller can look for trouble.
    #[inline]
    pub fn pause(&mut self) -> bool {
        self.pause_by(std::thread::sleep)
    }

    /// Does as [`Waiter::pause`]; sleeps by this function, which may return before the time is over.
    #[inline]
    pub fn pause_by(&mut self, sleep: impl FnOnce(Duration)) -> bool {
        if self.looks < self.patience.looks {
            self.looks += 1;
            hint::spin_loop();
            return false;
        }
        self.pause_long(sleep)
    }

    /// Does as [`Waiter::pause`], but ends a sleep when a handler of a signal has run in the
    /// thread; returns whether one has. Signals that come between sleeps are not told of.
    pub fn pause_until_signal(&mut self) -> bool {
        let mut has_come = false;
        self.pause_by(|time| has_come = sleep_until_signal(time));
        has_come
    }

    /// Has the wait stay awake for half as long as a new one, as something has come that is often
    /// followed by more.
    pub fn stay_awake(&mut self) {
        self.looks = 0;
        self.bursts = self.bursts.min(self.patience.bursts / 2);
        self.since = None;
        self.sleep = FIRST_SLEEP;
    }

    #[cold]
    fn pause_long(&mut self, sleep: impl FnOnce(Duration)) -> bool {
        // Before the first offer no time has passed.
        let is_late = self
            .since
            .is_some_and(|since| since.elapsed() >= LONGEST_AWAKE);
        if self.bursts < self.patience.bursts && !is_late {
            self.since.get_or_insert_with(Instant::now);
            self.bursts += 1;
            self.looks = 0;
            std::thread::yield_now();
            return false;
        }
        sleep(self.sleep);
        self.sleep = (self.sleep * 2).min(LONGEST_SLEEP);
        true
    }
}

/// Sleeps for this time, or until a handler of a signal has run in the thread: then returns true.
fn sleep_until_signal(time: Duration) -> bool {
    let time = libc::timespec {
        tv_sec: time.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos().into(),
    };
    // SAFETY: the time is read during the call, and that which is left is not asked for.
    let is_over = unsafe { libc::nanosleep(&raw const time, ptr::null_mut()) } == 0;
    !is_over && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    extern "C" fn ignore(_: libc::c_int) {}

    #[test]
    fn a_signal_ends_a_sleep_and_is_told_of() {
        let handler = ignore as extern "C" fn(libc::c_int);
        // SAFETY: the handler does nothing, and no other test here uses the signal.
        unsafe { libc::signal(libc::SIGUSR2, handler as libc::sighandler_t) };
        let mut waiter = Waiter::new(Patience {
            looks: 0,
            bursts: 0,
        });
        assert!(!waiter.pause_until_signal(), "no signal has come");
        // SAFETY: takes nothing.
        let sleeper = unsafe { libc::pthread_self() };
        let is_told = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_told.load(Ordering::Relaxed) {
                    // SAFETY: the thread waits for this one before it ends.
                    unsafe { libc::pthread_kill(sleeper, libc::SIGUSR2) };
                    thread::sleep(FIRST_SLEEP);
                }
            });
            assert!((0..100_000).any(|_| waiter.pause_until_signal()));
            is_told.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn a_waiter_looks_in_bursts_and_then_sleeps_ever_longer_up_to_a_bound() {
        let mut waiter = Waiter::new(Patience {
            looks: 2,
            bursts: 2,
        });
        // Two bursts of two looks and a yield, two looks, and then only sleeps.
        let slept: Vec<bool> = (0..11).map(|_| waiter.pause()).collect();
        assert!(slept[..8].iter().all(|slept| !slept), "{slept:?}");
        assert!(slept[8..].iter().all(|&slept| slept), "{slept:?}");
        assert_eq!(waiter.sleep, FIRST_SLEEP * 8);
        for _ in 0..20 {
            waiter.pause();
        }
        assert_eq!(waiter.sleep, LONGEST_SLEEP);
        waiter.stay_awake();
        // One burst and a yield, two looks.
        let slept: Vec<bool> = (0..6).map(|_| waiter.pause()).collect();
        assert_eq!(slept, [false, false, false, false, false, true]);
        assert_eq!(waiter.sleep, FIRST_SLEEP * 2);
    }

    #[test]
    fn a_waiter_whose_looks_take_long_sleeps_soon() {
        let mut waiter = Waiter::new(Patience {
            looks: 2,
            bursts: 1000,
        });
        let turns = (0..1000).take_while(|_| {
            // A look.
            std::thread::sleep(LONGEST_AWAKE);
            !waiter.pause()
        });
        // Two bursts of two looks, and a yield.
        assert_eq!(turns.count(), 5);
        assert!(waiter.pause());
        waiter.stay_awake();
        assert!(!(0..5).any(|_| waiter.pause()), "the time begins anew");
    }
}
