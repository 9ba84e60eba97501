//! The meetings of the PEs of a team.

use super::group::Team;
use crate::barrier::{self, nodes};
use crate::ctx;
use crate::report;
use crate::rma;
use crate::routine::Routine;
use crate::stall::Watch;
use fi_provider::node::barrier::{Kind, disseminate};
use fi_provider::node::wait::Waiter;
use fi_provider::node::{arrival, order};
use fi_provider::symmetric::address_vector::PeerIndex;
use std::sync::atomic::Ordering;

impl Team {
    /// Waits for all PEs of the team; their stores before are visible then.
    #[inline]
    pub(crate) fn meet(&self, at: Routine) {
        self.turns.all_have_come();
        if self.is_job {
            barrier::wait(at);
        } else if self.groups().len() == 1 {
            self.meet_near(at);
        } else {
            self.meet_far(at);
        }
    }

    /// Waits for the PEs of the own group.
    #[inline]
    pub(crate) fn meet_near(&self, at: Routine) {
        let epoch = self.near_epoch.load(Ordering::Relaxed) + 1;
        self.near_epoch.store(epoch, Ordering::Relaxed);
        let mut watch = None;
        let idle = || {
            watch
                .get_or_insert_with(|| Watch::new(at))
                .look_around(None);
        };
        let processes = self.blocks.len() as u32;
        if processes == 1 {
            order::full();
        } else if self.kind == Kind::Dissemination {
            let rounds = |place: u32| &self.blocks[place as usize].rounds;
            let me = self.place() as u32;
            disseminate(rounds, me, processes, epoch, self.patience, idle);
        } else {
            let central = &self.blocks[0].central;
            central.wait(processes, epoch, self.patience, idle);
        }
    }

    /// Waits for all groups: each meets, then the leaders do, then each group again.
    #[cold]
    #[inline(never)]
    fn meet_far(&self, at: Routine) {
        let epoch = self.all_epoch.load(Ordering::Relaxed) + 1;
        self.all_epoch.store(epoch, Ordering::Relaxed);
        self.meet_near(at);
        if self.place() == 0 {
            self.meet_leaders(at, epoch);
        }
        self.meet_near(at);
    }

    /// Returns whether the PEs are on one node and share its processors.
    pub(crate) fn is_crowded(&self) -> bool {
        let count = self.blocks.len();
        self.kind == Kind::Central && self.groups().len() == 1 && count <= arrival::MOST
    }

    /// Calls `f` for each PE of the team that has come before this one to a collective at whose end all meet: for each pair
    /// on one of the two. The team is on one node.
    pub(crate) fn for_each_before_me(&self, f: impl FnMut(usize)) {
        let mut waiter = Waiter::new(self.patience);
        let pause = || {
            waiter.pause();
        };
        let of = |index: usize| &self.blocks[index].arrival;
        let (me, count) = (self.place(), self.blocks.len());
        arrival::for_each_before(&self.blocks[0].arrivals, of, me, count, pause, f);
    }

    fn meet_leaders(&self, at: Routine, epoch: u64) {
        let (me, count) = (self.group(), self.groups().len());
        let words = &self.block().leaders;
        let done = nodes::disseminate(me, count, |round, group| {
            let leader = self.pes()[self.groups()[group][0]];
            tell(at, words[round].as_ptr(), epoch, leader);
            let mut watch = Watch::new(at);
            // ORDERING: pairs with the write of the other leader, which comes behind all that it has stored before.
            while words[round].load(Ordering::Acquire) < epoch {
                watch.pause();
            }
            Ok::<(), std::convert::Infallible>(())
        });
        let Ok(()) = done;
    }
}

/// Writes `value` to the word `word` of `pe`, behind all that this PE has stored before.
pub(crate) fn tell(at: Routine, word: *mut u64, value: u64, pe: PeerIndex) {
    // ORDERING: pairs with the load of the PE that waits for the word.
    order::full();
    if let Err(error) = ctx::default_ctx().endpoint.fence() {
        report::call(at, error);
    }
    let pe = pe as std::ffi::c_int;
    // SAFETY: the word is symmetric: of the workspace, or of an array that C gave as such.
    unsafe { rma::p(ctx::default_ctx(), at, word, value, pe) };
}
