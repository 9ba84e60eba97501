//! In which order the PEs of a team on one node come to a collective.

use super::Team;
use fi_provider::node::wait::Waiter;
use std::sync::atomic::Ordering;

/// Splits what [`crate::workspace::Block::arrival`] holds: the collective, counted modulo 2^32, and the place in its order.
const PLACE: u64 = u32::MAX as u64;

impl Team {
    /// Calls `f` for each of the team's PEs that have come to this collective before this one, and whose memory is
    /// reached by loads and stores; for each pair of PEs that is so on one of them. All have to meet at the end.
    pub(crate) fn for_each_before_me(&self, mut f: impl FnMut(usize)) {
        let count = self.blocks.len() as u64;
        // ORDERING: the counter orders the PEs; it releases what this one has stored before to those behind, and acquires
        // what those before have stored. All PEs have counted before one of them counts again.
        let arrived = self.blocks[0].arrivals.fetch_add(1, Ordering::AcqRel);
        let (turn, place) = ((arrived / count) & PLACE, arrived % count);
        let own = turn << 32 | place;
        // ORDERING: pairs with the load below, in those that come later.
        self.block().arrival.store(own + 1, Ordering::Release);
        let mut found = 0;
        let mut seen = [0_u64; MOST_CROWDED / 64];
        let mut waiter = Waiter::new(self.patience);
        while found < place {
            for (index, block) in self.blocks.iter().enumerate() {
                let bit = 1 << (index % 64);
                if index == self.me() || seen[index / 64] & bit != 0 {
                    continue;
                }
                // ORDERING: pairs with the store above.
                let theirs = block.arrival.load(Ordering::Acquire).wrapping_sub(1);
                if theirs >> 32 == turn && theirs & PLACE < place {
                    seen[index / 64] |= bit;
                    found += 1;
                    f(index);
                }
            }
            if found < place {
                // One that has counted has not said so yet.
                waiter.pause();
            }
        }
    }

    /// Whether the PEs share processors, and are few enough for [`Team::for_each_before_me`].
    pub(crate) fn is_crowded(&self) -> bool {
        self.kind == fi_provider::node::barrier::Kind::Central
            && self.groups().len() == 1
            && self.blocks.len() <= MOST_CROWDED
    }
}

/// The largest team whose order of arrival is told.
const MOST_CROWDED: usize = 1024;
