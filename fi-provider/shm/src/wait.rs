//! Waiting for memory that others change by plain stores: spin, yield, then bounded timed sleeps.

use std::hint;
use std::sync::OnceLock;
use std::time::Duration;

/// The shortest and longest sleeps of a waiter.
const FIRST_SLEEP: Duration = Duration::from_micros(2);
const LONGEST_SLEEP: Duration = Duration::from_micros(500);

/// How long a waiter spins and yields before it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Turns with a pause instruction, about 10 to 50 ns each.
    pub spins: u32,
    /// Turns that offer the processor to others.
    pub yields: u32,
}

impl Patience {
    /// For `processes` that share this process's processors: patient only when each has its own.
    pub fn for_processes(processes: usize) -> Self {
        if processes <= processors() {
            Self {
                spins: 4000,
                yields: 200,
            }
        } else {
            Self {
                spins: 20,
                yields: 20,
            }
        }
    }
}

/// The number of processors that this process may run on, at least 1.
pub fn processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
}

/// One wait: call [`Waiter::pause`] after each look at the memory.
#[derive(Debug)]
pub struct Waiter {
    patience: Patience,
    turns: u32,
    sleep: Duration,
}

impl Waiter {
    /// Starts a wait.
    #[inline]
    pub fn new(patience: Patience) -> Self {
        Self {
            patience,
            turns: 0,
            sleep: FIRST_SLEEP,
        }
    }

    /// Lets some time pass; returns whether this turn slept, so that the caller can look for trouble.
    #[inline]
    pub fn pause(&mut self) -> bool {
        if self.turns < self.patience.spins {
            self.turns += 1;
            hint::spin_loop();
            return false;
        }
        self.pause_long()
    }

    #[cold]
    fn pause_long(&mut self) -> bool {
        if self.turns < self.patience.spins + self.patience.yields {
            self.turns += 1;
            std::thread::yield_now();
            return false;
        }
        std::thread::sleep(self.sleep);
        self.sleep = (self.sleep * 2).min(LONGEST_SLEEP);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiter_spins_then_yields_then_sleeps_ever_longer_up_to_a_bound() {
        let mut waiter = Waiter::new(Patience {
            spins: 3,
            yields: 2,
        });
        let slept: Vec<bool> = (0..8).map(|_| waiter.pause()).collect();
        assert_eq!(
            slept,
            [false, false, false, false, false, true, true, true]
        );
        assert_eq!(waiter.sleep, FIRST_SLEEP * 8);
        for _ in 0..20 {
            waiter.pause();
        }
        assert_eq!(waiter.sleep, LONGEST_SLEEP);
    }
}
