//! Waiting that notices when nobody is left who could end the wait.
//!
//! A PE that sleeps in a wait looks around now and then. The job is stuck when some PE has gone into
//! its last finalisation, every other PE sleeps in a wait as well, and all of those have looked at their
//! memory again since they all slept: nobody is left to write anything. Processes with several threads are never
//! counted as sleeping, because another thread may still write.

use crate::job;
use crate::node::{Node, state};
use crate::report::{self, Routine};
use fi_provider::node::wait::Waiter;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a wait sleeps before it begins to look around, and the time between two looks.
const INTERVAL: Duration = Duration::from_millis(50);

/// Looks at its own memory that every sleeping PE must have made between two looks around: one is what it
/// takes, the first may have been under way already, and the last may not have ended.
const LOOKS: u32 = 3;

/// One wait of routine `at`.
pub(crate) struct Watch {
    at: Routine,
    waiter: Waiter,
    sleeping: Option<Sleeping>,
}

/// A wait that has begun to sleep.
struct Sleeping {
    node: Arc<Node>,
    next_look: Instant,
    /// What the PEs' slots said at a look around before.
    before: Vec<Sight>,
    /// Whether they said the same at the look before that one: only then did all PEs wait at one time.
    settled: bool,
}

/// What one PE's slot says.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sight {
    finalizing: bool,
    blocked: u32,
    looks: u32,
}

impl Sight {
    /// Whether the PE has finalised, or is in the wait that it was in when `before` was seen.
    fn still_waits(&self, before: &Self) -> bool {
        (self.finalizing && before.finalizing)
            || (self.blocked % 2 == 1 && self.blocked == before.blocked)
    }
}

impl Watch {
    pub(crate) fn new(at: Routine) -> Self {
        Self {
            at,
            waiter: Waiter::new(job::patience()),
            sleeping: None,
        }
    }

    /// Lets some time pass between two looks at the awaited memory.
    #[inline]
    pub(crate) fn pause(&mut self) {
        if self.waiter.pause() {
            self.look_around(None);
        }
    }

    /// Ends the job with a message when nobody can end this wait any more. `epoch` is the number of the
    /// barrier that is waited for.
    #[cold]
    pub(crate) fn look_around(&mut self, epoch: Option<u32>) {
        let Some(node) = job::node() else { return };
        let sleeping = self.sleeping.get_or_insert_with(|| Sleeping {
            next_look: Instant::now() + INTERVAL,
            before: Vec::new(),
            settled: false,
            node,
        });
        // ORDERING: the counts only have to grow after the looks that they count; AcqRel keeps them in order.
        sleeping.node.own().looks.fetch_add(1, Ordering::AcqRel);
        if Instant::now() < sleeping.next_look {
            return;
        }
        sleeping.next_look = Instant::now() + INTERVAL;
        sleeping.mark_blocked();
        if let Some(gone) = sleeping.missing(epoch).or_else(|| sleeping.stuck()) {
            report::nobody_left(self.at, gone);
        }
    }
}

impl Sleeping {
    /// Says in the own slot that this process, if it has one thread only, does nothing but wait.
    fn mark_blocked(&self) {
        let own = &self.node.own().blocked;
        // Only this thread changes the count, because it is the only one.
        if own.load(Ordering::Relaxed).is_multiple_of(2) && threads() == Some(1) {
            own.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// A PE that has begun its last finalisation without having been in the awaited barrier.
    fn missing(&self, epoch: Option<u32>) -> Option<u32> {
        let epoch = epoch?;
        (0..self.node.processes())
            .filter(|&pe| pe != self.node.rank())
            .find(|&pe| {
                let slot = self.node.slot(pe);
                // ORDERING: pairs with the store of the state after `last_epoch` in `world`.
                slot.state.load(Ordering::Acquire) == state::FINALIZING
                    && (slot.last_epoch.load(Ordering::Relaxed).wrapping_add(1)).wrapping_sub(epoch)
                        >= 1 << 31
            })
    }

    /// A PE that has begun its last finalisation, when all others sleep in waits that nobody can end.
    fn stuck(&mut self) -> Option<u32> {
        if self.node.own().state.load(Ordering::Relaxed) == state::FINALIZING {
            // Those that have not come yet are on their way or look around themselves.
            return None;
        }
        let now: Vec<Sight> = (0..self.node.processes())
            .map(|pe| self.node.slot(pe))
            .map(|slot| Sight {
                // ORDERING: acquire keeps these loads in this order: a PE that is seen finalising here has
                // written all it will ever write before the looks that are counted from now on.
                finalizing: slot.state.load(Ordering::Acquire) == state::FINALIZING,
                blocked: slot.blocked.load(Ordering::Acquire),
                looks: slot.looks.load(Ordering::Acquire),
            })
            .collect();
        let pairs = || now.iter().zip(&self.before);
        if now.len() != self.before.len() || !pairs().all(|(now, before)| now.still_waits(before)) {
            self.before = now;
            self.settled = false;
            return None;
        }
        if !self.settled {
            // One look around takes time: a PE may have written to one that was seen before it, and then gone
            // to sleep. Between two that agree nobody wrote: looks are counted from the second on.
            self.before = now;
            self.settled = true;
            return None;
        }
        let have_looked = pairs()
            .all(|(now, before)| now.finalizing || now.looks.wrapping_sub(before.looks) >= LOOKS);
        let gone = now.iter().position(|sight| sight.finalizing)?;
        have_looked.then_some(gone as u32)
    }
}

impl Drop for Sleeping {
    fn drop(&mut self) {
        let own = &self.node.own().blocked;
        if own.load(Ordering::Relaxed) % 2 == 1 {
            // ORDERING: release: what this PE does after the wait comes after the mark is gone.
            own.fetch_add(1, Ordering::AcqRel);
        }
    }
}

/// The number of threads of this process, where the system tells.
pub(crate) fn threads() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}
