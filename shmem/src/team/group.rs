//! A team as this PE sees it: its PEs, and those of them that are near.

use super::{Config, WORLD, blocks};
use crate::job::node::Node;
use crate::job::workspace::{Block, RING};
use fi_provider::node::barrier::Kind;
use fi_provider::node::turns::Turns;
use fi_provider::node::wait::Patience;
use fi_provider::symmetric::address_vector::PeerIndex;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// A team of this PE.
///
/// Its PEs are in groups, those of a node in one: a group meets by flags in shared memory, and the groups' first members,
/// the leaders, meet by words that they write to each other.
#[derive(Debug)]
pub(crate) struct Team {
    number: usize,
    pes: Box<[PeerIndex]>,
    me: usize,
    /// The members of each group, as indices of `pes` in ascending order; the groups in the order of their leaders.
    groups: Box<[Box<[usize]>]>,
    /// The own group, as an index of `groups`, and the own place in it.
    group: usize,
    place: usize,
    /// The blocks of the own group's members.
    pub(super) blocks: Box<[&'static Block]>,
    pub(super) kind: Kind,
    pub(super) patience: Patience,
    /// Whether the team is all PEs of the job, which meet in the barrier of all PEs.
    pub(super) is_job: bool,
    /// Meetings of the own group, and of all groups, of 64 bits as the flags that tell of them; one
    /// thread at a time is in a collective of the team.
    pub(super) near_epoch: AtomicU64,
    pub(super) all_epoch: AtomicU64,
    /// The slots' turns.
    pub(super) turns: Turns,
    config: Config,
}

/// Decisions that make a team.
pub(super) struct Plan {
    pub(super) number: usize,
    /// The epoch behind which the team's begin.
    pub(super) epoch: u64,
    pub(super) pes: Vec<PeerIndex>,
    pub(super) config: Config,
}

impl Team {
    /// Makes this PE's part of the team; it is one of `plan.pes`. There is a session.
    ///
    /// # Panics
    /// Where it is not.
    pub(super) fn new(plan: Plan, node: &Node) -> Self {
        let own = node.pe();
        let me = plan.pes.iter().position(|&pe| pe == own).expect("a member");
        let groups = in_groups(&plan.pes, |pe| node.group_of(pe));
        let group = groups
            .iter()
            .position(|group| group.contains(&me))
            .unwrap_or(0);
        let place = groups[group].iter().position(|&i| i == me).unwrap_or(0);
        let near = groups[group].iter();
        let blocks =
            near.map(|&i| blocks::near(plan.number, plan.pes[i]).expect("a peer of the node"));
        Self {
            number: plan.number,
            me,
            group,
            place,
            blocks: blocks.collect(),
            groups: groups.into_iter().map(Vec::into_boxed_slice).collect(),
            kind: node.barrier_kind(),
            patience: node.patience(),
            is_job: plan.number + 1 == WORLD && !node.has_other_groups(),
            near_epoch: AtomicU64::new(plan.epoch),
            all_epoch: AtomicU64::new(plan.epoch),
            turns: Turns::behind(plan.epoch, RING),
            config: plan.config,
            pes: plan.pes.into_boxed_slice(),
        }
    }

    /// Returns its number, equal on all its PEs.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Returns the PEs in the order of the team's numbers.
    pub(crate) fn pes(&self) -> &[PeerIndex] {
        &self.pes
    }

    /// Returns the number of this PE in the team.
    pub(crate) fn me(&self) -> usize {
        self.me
    }

    pub(super) fn me_as_c(&self) -> c_int {
        self.me as c_int
    }

    pub(super) fn config(&self) -> Config {
        self.config
    }

    /// Returns the members of each group, as numbers in the team.
    pub(crate) fn groups(&self) -> &[Box<[usize]>] {
        &self.groups
    }

    /// Returns the own group, as an index of [`Team::groups`].
    pub(crate) fn group(&self) -> usize {
        self.group
    }

    /// Returns the members of the own group, as numbers in the team.
    pub(crate) fn near(&self) -> &[usize] {
        &self.groups[self.group]
    }

    /// Returns the own place in the own group.
    pub(crate) fn place(&self) -> usize {
        self.place
    }

    /// Returns the own block.
    pub(crate) fn block(&self) -> &'static Block {
        self.blocks[self.place]
    }

    /// Returns the last epoch that any flag of the team's blocks may show.
    pub(super) fn last_epoch(&self) -> u64 {
        let near = self.near_epoch.load(Ordering::Relaxed);
        near.max(self.all_epoch.load(Ordering::Relaxed))
            .max(self.turns.last())
    }
}

/// Returns the indices of `pes` by the result of `group_of`, in the order of the first of each
/// group.
fn in_groups(pes: &[PeerIndex], group_of: impl Fn(PeerIndex) -> usize) -> Vec<Vec<usize>> {
    let mut names: Vec<usize> = Vec::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, &pe) in pes.iter().enumerate() {
        let name = group_of(pe);
        match names.iter().position(|&other| other == name) {
            Some(group) => groups[group].push(index),
            None => {
                names.push(name);
                groups.push(vec![index]);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_in_the_order_of_their_first_members() {
        let groups = in_groups(&[7, 2, 5, 0, 9], |pe| pe as usize % 2);
        assert_eq!(groups, [vec![0, 2, 4], vec![1, 3]]);
        assert!(in_groups(&[], |_| 0).is_empty());
    }
}
