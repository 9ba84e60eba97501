//! A team as this PE sees it: who is in it, and who of them is near.

use super::{Config, INVALID, SHARED, WORLD, enter, remove};
use crate::job;
use crate::node::Node;
use crate::workspace::{self, Block, RING, TEAMS};
use fi_provider::node::barrier::Kind;
use fi_provider::node::turns::Turns;
use fi_provider::node::wait::Patience;
use fi_provider::symmetric::address_vector::PeerIndex;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// The last epoch of each team number that this PE has used, of 64 bits; no epoch in its
/// block is beyond.
static EPOCHS: [AtomicU64; TEAMS] = [const { AtomicU64::new(0) }; TEAMS];

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

/// What is decided when a team is made.
pub(super) struct Plan {
    pub(super) number: usize,
    /// The epoch behind which the team's begin.
    pub(super) epoch: u64,
    pub(super) pes: Vec<PeerIndex>,
    pub(super) config: Config,
}

impl Team {
    /// This PE's part of the team; it is one of `plan.pes`. There is a session.
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
            near.map(|&i| workspace::near(plan.number, plan.pes[i]).expect("a peer of the node"));
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

    /// Its number, equal on all its PEs.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// The PEs in the order of the team's numbers.
    pub(crate) fn pes(&self) -> &[PeerIndex] {
        &self.pes
    }

    /// The number of this PE in the team.
    pub(crate) fn me(&self) -> usize {
        self.me
    }

    pub(super) fn me_as_c(&self) -> c_int {
        self.me as c_int
    }

    pub(super) fn config(&self) -> Config {
        self.config
    }

    /// The members of each group, as numbers in the team.
    pub(crate) fn groups(&self) -> &[Box<[usize]>] {
        &self.groups
    }

    /// The own group, as an index of [`Team::groups`].
    pub(crate) fn group(&self) -> usize {
        self.group
    }

    /// The members of the own group, as numbers in the team.
    pub(crate) fn near(&self) -> &[usize] {
        &self.groups[self.group]
    }

    /// The own place in the own group.
    pub(crate) fn place(&self) -> usize {
        self.place
    }

    /// The own block.
    pub(crate) fn block(&self) -> &'static Block {
        self.blocks[self.place]
    }

    /// The last epoch that any flag of the team's blocks may show.
    pub(super) fn last_epoch(&self) -> u64 {
        let near = self.near_epoch.load(Ordering::Relaxed);
        near.max(self.all_epoch.load(Ordering::Relaxed))
            .max(self.turns.last())
    }
}

/// The indices of `pes` by what `group_of` says, in the order of the first of each group.
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

/// The last epoch of team number `number` on this PE.
pub(super) fn last_epoch_of(number: usize) -> u64 {
    EPOCHS[number].load(Ordering::Relaxed)
}

/// Lets the epochs of team number `number` go on from `epoch`, in the own block as well, to which
/// nobody comes meanwhile.
pub(super) fn skip_to(number: usize, epoch: u64) {
    EPOCHS[number].store(epoch, Ordering::Relaxed);
    if let Some(block) = workspace::own(number) {
        block.arrivals.reset();
        block.arrival.reset();
        block.central.skip_to(epoch);
        block.rounds.skip_to(epoch);
        for slot in &block.slots {
            slot.turn.post(epoch);
        }
        for word in &block.leaders {
            // ORDERING: the PEs of the team meet before one of them writes or awaits a word.
            word.store(epoch, Ordering::Release);
        }
    }
}

/// Forgets a team; its number may be given to another when all its PEs have done so.
pub(super) fn retire(number: usize) {
    if let Some(team) = remove(number) {
        EPOCHS[number].store(team.last_epoch(), Ordering::Relaxed);
    }
}

/// Makes the predefined teams at the beginning of a session, before its first barrier: their epochs
/// begin anew. Those of the session before need not be the same on all PEs, as the PEs of a node
/// may have met without the others.
pub(crate) fn set_up() {
    let Some(job) = job::job() else { return };
    let places = &job.node.places;
    let all = (0..places.pes()).collect();
    let near = places.near().to_vec();
    for (handle, pes) in [(WORLD, all), (SHARED, near)] {
        let number = handle - 1;
        skip_to(number, 0);
        let plan = Plan {
            number,
            epoch: 0,
            pes,
            config: Config::default(),
        };
        enter(Team::new(plan, &job.node));
    }
}

/// Forgets all teams at the end of a session.
pub(crate) fn tear_down() {
    (0..TEAMS).for_each(retire);
    super::split::forget_numbers();
}

const _: () = assert!(INVALID == 0 && WORLD == 1 && SHARED == 2);

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
