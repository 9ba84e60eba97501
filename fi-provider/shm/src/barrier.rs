//! The barrier of the processes of one node, over flags in shared memory.
//!
//! Two algorithms, chosen once for a job by [`Kind::for_processes`]: dissemination (Hensgen, Finkel,
//! Manber 1988), where every process is woken ceil(log2 n) times but no line is contended, for
//! processes that each have a processor; and a central counter with one flag, where every process is
//! woken once, for more processes than processors.

use crate::flag::Flag;
use crate::sync::{AtomicU32, Ordering};
use crate::wait::Patience;

/// The most rounds that dissemination needs here: up to 2^10 processes on a node.
#[cfg(not(loom))]
pub const ROUNDS: usize = 10;
/// The rounds of the few processes of a model.
#[cfg(loom)]
pub const ROUNDS: usize = 2;

/// The algorithm of a barrier.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A counter and one flag.
    Central = 0,
    /// log2(n) rounds of pairwise flags.
    Dissemination = 1,
}

impl Kind {
    /// Returns the better algorithm for `processes` that share processors (`are_crowded`) or have
    /// one each.
    pub fn for_processes(processes: usize, are_crowded: bool) -> Self {
        if !are_crowded && processes <= 1 << ROUNDS {
            Self::Dissemination
        } else {
            Self::Central
        }
    }
}

/// The counter and the flag of the central barrier; all zero bytes is the initial state. The
/// counter is 0 again when all have come.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Central {
    gone: Flag,
    arrived: Arrivals,
}

#[repr(C, align(64))]
#[derive(Debug)]
struct Arrivals(AtomicU32);

impl Default for Arrivals {
    fn default() -> Self {
        Self(AtomicU32::new(0))
    }
}

impl Central {
    /// Waits until all of `processes` have called this for the same `epoch`; epochs start at 1 and
    /// follow one another.
    pub fn wait(&self, processes: u32, epoch: u64, patience: Patience, idle: impl FnMut()) {
        // ORDERING: each arrival releases its writes and the last acquires them all; it releases them
        // through `gone`, which the others acquire.
        if self.arrived.0.fetch_add(1, Ordering::AcqRel) + 1 == processes {
            // Nobody counts again before `gone` says so.
            self.arrived.0.store(0, Ordering::Relaxed);
            self.gone.post(epoch);
        } else {
            self.gone.wait(epoch, patience, idle);
        }
    }

    /// Lets the next epoch be the one behind `epoch`; nobody comes meanwhile.
    pub fn skip_to(&self, epoch: u64) {
        self.gone.post(epoch);
    }
}

/// The flags that others set for one process, one per round; all zero bytes is the initial state.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Rounds {
    flags: [Flag; ROUNDS],
}

impl Rounds {
    /// Does as [`Central::skip_to`].
    pub fn skip_to(&self, epoch: u64) {
        self.flags.iter().for_each(|flag| flag.post(epoch));
    }
}

/// Waits until all of `processes` have called this for the same `epoch`, by dissemination.
///
/// `rounds_of(i)` are the flags of process `i`; `me` is this process's number. Epochs start at 1 and
/// follow one another.
#[inline]
pub fn disseminate<'a>(
    rounds_of: impl Fn(u32) -> &'a Rounds,
    me: u32,
    processes: u32,
    epoch: u64,
    patience: Patience,
    mut idle: impl FnMut(),
) {
    let mine = rounds_of(me);
    let mut distance = 1;
    let mut round = 0;
    while distance < processes {
        let mut to = me + distance;
        if to >= processes {
            to -= processes;
        }
        rounds_of(to).flags[round].post(epoch);
        mine.flags[round].wait(epoch, patience, &mut idle);
        distance *= 2;
        round += 1;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::thread;
    use std::time::{Duration, Instant};

    const PATIENCE: Patience = Patience {
        looks: 1,
        bursts: 3,
    };

    /// Lets `processes` threads go through 6 barriers behind `first`, each by `wait(me, epoch)`;
    /// sees after each whether all have come.
    fn run(processes: u32, first: u64, wait: impl Fn(u32, u64) + Sync) {
        let came: Vec<_> = (0..processes).map(|_| AtomicU64::new(first)).collect();
        let process = |me: u32| {
            for epoch in first + 1..=first + 6 {
                came[me as usize].store(epoch, Ordering::Relaxed);
                wait(me, epoch);
                let late = |came: &AtomicU64| came.load(Ordering::Relaxed) < epoch;
                assert_eq!(
                    came.iter().position(late),
                    None,
                    "left {epoch} before it came"
                );
            }
        };
        thread::scope(|scope| {
            let process = &process;
            (0..processes).for_each(|me| drop(scope.spawn(move || process(me))));
        });
    }

    #[test]
    fn epochs_go_on_across_the_ends_of_32_bits() {
        let start = Instant::now();
        let idle = || assert!(start.elapsed() < Duration::from_secs(20), "for ever");
        for processes in 2..6 {
            for first in [(1 << 31) - 3, (1 << 32) - 3] {
                let central = Central::default();
                central.skip_to(first);
                run(processes, first, |_, epoch| {
                    central.wait(processes, epoch, PATIENCE, idle);
                });
                let rounds: Vec<_> = (0..processes).map(|_| Rounds::default()).collect();
                rounds.iter().for_each(|rounds| rounds.skip_to(first));
                run(processes, first, |me, epoch| {
                    let of = |process: u32| &rounds[process as usize];
                    disseminate(of, me, processes, epoch, PATIENCE, idle);
                });
            }
        }
    }
}
