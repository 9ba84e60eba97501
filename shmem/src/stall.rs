//! Waiting that notices when no PE is left that could end the wait.
//!
//! A PE that sleeps in a wait looks around now and then. The job is stuck when some PE has gone into
//! its last finalisation, all PEs sleep in waits, that one in its finalisation, and the others have
//! looked at their memory again since all slept: nobody is left to write anything. Processes with
//! several threads are never counted as sleeping, because another thread may still write, and no
//! more are those in which a signal handler of the program may run.
//!
//! Those of this node are seen by their slots in the node's memory. PEs of other nodes tell when
//! they finalise; how they sleep is read through the device, which like a load tells a state
//! between the beginning and the end of the read.

use crate::ctx::progress;
use crate::job;
use crate::job::handlers;
use crate::job::node::{Node, state};
use crate::mailbox::{Farewell, Sleep};
use crate::report;
use crate::routine::Routine;
use fi_provider::helper;
use fi_provider::node::wait::Waiter;
use fi_provider::symmetric::address_vector::PeerIndex;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Time that a wait sleeps before it begins to look around, and the time between two looks.
const INTERVAL: Duration = Duration::from_millis(50);

/// Looks at its own memory that every sleeping PE must have made between two looks around: one
/// would be enough, the first may have been under way already, and the last may not have ended.
const LOOKS: u32 = 3;

/// One wait of routine `at`.
pub(crate) struct Watch {
    at: Routine,
    waiter: Waiter,
    sleeping: Option<Sleeping>,
    /// Whether the awaited write may come through a device.
    has_device: bool,
}

/// A wait that has begun to sleep.
struct Sleeping {
    node: Arc<Node>,
    next_look: Instant,
    /// The PEs' slots at a look around before.
    before: Vec<Sight>,
    /// Whether they said the same at the look before that one: only then did all PEs wait at one time.
    settled: bool,
}

/// One PE's slot, as a look around finds it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sight {
    finalizing: bool,
    blocked: u32,
    looks: u32,
}

impl Sight {
    /// Returns whether the PE is in the wait that it was in when `before` was seen.
    fn still_waits(&self, before: &Self) -> bool {
        self.blocked % 2 == 1 && self.blocked == before.blocked
    }

    /// Returns whether the PE has finalised, or has looked at its memory since `before` was seen.
    fn has_looked(&self, before: &Self) -> bool {
        self.finalizing || self.looks.wrapping_sub(before.looks) >= LOOKS
    }
}

impl Watch {
    pub(crate) fn new(at: Routine) -> Self {
        Self {
            at,
            waiter: Waiter::new(job::patience()),
            sleeping: None,
            has_device: job::job().is_some_and(|job| !job.node.places.is_one_node()),
        }
    }

    /// Lets some time pass between two looks at the awaited memory.
    #[inline]
    pub(crate) fn pause(&mut self) {
        if self.has_device && progress::progress(self.at) {
            self.waiter.stay_awake();
        }
        if progress::pause(&mut self.waiter) {
            self.look_around(None);
        }
    }

    /// Ends the job with a message when nobody can end this wait any more. `epoch` is the number of the
    /// barrier that is waited for.
    #[cold]
    pub(crate) fn look_around(&mut self, epoch: Option<u64>) {
        let Some(node) = job::node() else { return };
        let sleeping = self.sleeping.get_or_insert_with(|| Sleeping {
            next_look: Instant::now() + INTERVAL,
            before: Vec::new(),
            settled: false,
            node,
        });
        // ORDERING: the counts only have to grow after the looks that they count; AcqRel keeps them in order.
        sleeping.node.own().looks.fetch_add(1, Ordering::AcqRel);
        sleeping.publish();
        if Instant::now() < sleeping.next_look {
            return;
        }
        sleeping.next_look = Instant::now() + INTERVAL;
        sleeping.mark_blocked(self.at);
        if let Some(gone) = sleeping.missing(epoch).or_else(|| sleeping.stuck()) {
            report::nobody_left(self.at, gone);
        }
    }
}

impl Sleeping {
    /// Says in the own slot that this process does nothing but wait, unless another thread or a
    /// handler may do more.
    fn mark_blocked(&self, at: Routine) {
        let own = &self.node.own().blocked;
        // Only this thread changes the count, because it is the only one.
        if own.load(Ordering::Relaxed).is_multiple_of(2)
            && threads() == Some(1)
            && !handlers::may_run()
        {
            if !self.node.places.is_one_node() {
                // A message that a device has not delivered yet may still end the wait of another.
                progress::quiet_all(at);
            }
            own.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Tells PEs of other nodes the state that those of this one see in the own slot.
    fn publish(&self) {
        if !self.node.places.is_one_node() {
            let own = self.node.own();
            Sleep {
                blocked: own.blocked.load(Ordering::Relaxed),
                looks: own.looks.load(Ordering::Relaxed),
            }
            .publish();
        }
    }

    /// Returns a PE that has begun its last finalisation without having been in the awaited
    /// barrier.
    fn missing(&self, epoch: Option<u64>) -> Option<PeerIndex> {
        let epoch = epoch?;
        // The barrier of the finalisation itself counts.
        let is_before = |last: u64| last + 1 < epoch;
        let places = &self.node.places;
        let near = self.node.ranks().find(|&rank| {
            let slot = self.node.slot(rank);
            // ORDERING: pairs with the store of the state after `last_epoch` in `world`.
            rank != places.rank()
                && slot.state.load(Ordering::Acquire) == state::FINALIZING
                && is_before(slot.last_epoch.load(Ordering::Relaxed))
        });
        let far = || {
            places.far().find(|&pe| {
                let farewell = Farewell::of(pe);
                farewell.finalizing && is_before(farewell.last_epoch)
            })
        };
        near.map(|rank| places.pe_at(rank)).or_else(far)
    }

    /// Returns a PE that has begun its last finalisation, when all PEs sleep in waits that nobody
    /// can end.
    fn stuck(&mut self) -> Option<PeerIndex> {
        if self.node.own().state.load(Ordering::Relaxed) == state::FINALIZING {
            // Those that have not come yet are on their way or look around themselves.
            return None;
        }
        let gone = self.first_to_finalize()?;
        let now = self.sights()?;
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
        let have_looked = pairs().all(|(now, before)| now.has_looked(before));
        have_looked.then_some(gone)
    }

    /// Returns the lowest PE that is known to have begun its last finalisation.
    fn first_to_finalize(&self) -> Option<PeerIndex> {
        let places = &self.node.places;
        let near = self.node.ranks().find(|&rank| {
            // ORDERING: only the state itself is used here.
            self.node.slot(rank).state.load(Ordering::Relaxed) == state::FINALIZING
        });
        let near = near.map(|rank| places.pe_at(rank));
        let far = places.far().find(|&pe| Farewell::of(pe).finalizing);
        near.into_iter().chain(far).min()
    }

    /// Returns the slots of all PEs; `None` where the slot of one cannot be read.
    fn sights(&self) -> Option<Vec<Sight>> {
        let near = self.node.ranks().map(|rank| {
            let slot = self.node.slot(rank);
            Some(Sight {
                // ORDERING: acquire keeps these loads in this order: a PE that is seen finalising here has
                // written all it will ever write before the looks that are counted from now on.
                finalizing: slot.state.load(Ordering::Acquire) == state::FINALIZING,
                blocked: slot.blocked.load(Ordering::Acquire),
                looks: slot.looks.load(Ordering::Acquire),
            })
        });
        // The endpoint is this thread's while this process has no other.
        let may_read = self.node.own().blocked.load(Ordering::Relaxed) % 2 == 1;
        let far = self.node.places.far().map(|pe| {
            let finalizing = Farewell::of(pe).finalizing;
            let Sleep { blocked, looks } = may_read.then(|| Sleep::of(pe))??;
            Some(Sight {
                finalizing,
                blocked,
                looks,
            })
        });
        near.chain(far).collect()
    }
}

impl Drop for Sleeping {
    fn drop(&mut self) {
        let own = &self.node.own().blocked;
        if own.load(Ordering::Relaxed) % 2 == 1 {
            // ORDERING: release: this PE's actions after the wait come after the mark is gone.
            own.fetch_add(1, Ordering::AcqRel);
            self.publish();
        }
    }
}

/// Returns the number of threads of this process without the library's own, where the system tells.
pub(crate) fn threads() -> Option<usize> {
    let all = std::fs::read_dir("/proc/self/task").ok()?.count();
    Some(all.saturating_sub(helper::threads() + fi_bootstrap::threads()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_counted_across_their_end() {
        let sight = |looks| Sight {
            finalizing: false,
            blocked: u32::MAX,
            looks,
        };
        for before in [0, u32::MAX - LOOKS, u32::MAX - 1, u32::MAX] {
            for (more, has_looked) in [(0, false), (LOOKS - 1, false), (LOOKS, true), (20, true)] {
                let now = sight(before.wrapping_add(more));
                assert_eq!(
                    now.has_looked(&sight(before)),
                    has_looked,
                    "{before} + {more}"
                );
                assert!(now.still_waits(&sight(before)));
            }
        }
    }

    #[test]
    fn a_pe_that_has_been_awake_does_not_wait_still_at_the_end_of_its_count() {
        let sight = |blocked| Sight {
            finalizing: false,
            blocked,
            looks: 0,
        };
        // Asleep, awake, asleep.
        let counts = [u32::MAX, 0, 1].map(sight);
        assert!(counts[0].still_waits(&counts[0]));
        assert!(!counts[1].still_waits(&counts[0]));
        assert!(!counts[2].still_waits(&counts[0]));
    }
}
