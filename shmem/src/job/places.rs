//! The places of the PEs of the job.
//!
//! A PE has a number in the job, the same for everybody: programs and the fabric use it. On its
//! node it also has a [`Rank`], which finds its part of the node's memory. In a job of one node the
//! two are equal, and nothing else should rely on that.

use fi_provider::symmetric::address_vector::PeerIndex;
use fi_provider::symmetric::domain::Placement;

/// The place of a PE among those of its node, from 0: not its number in the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(pub(crate) u32);

/// The nodes of a job, and the place of one PE in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pe: PeerIndex,
    rank: Rank,
    /// The own node, as an index of `nodes`.
    node: usize,
    /// The PEs of each node in ascending order, so that the leader is the first; the nodes in the order of their leaders.
    nodes: Vec<Vec<PeerIndex>>,
    /// The node of every PE, as an index of `nodes`.
    node_of: Vec<usize>,
}

impl Places {
    /// Returns the place of `pe` in a job whose launcher has put PE `i` on the node that it calls
    /// `names[i]`; `None` where the job has no such PE.
    pub(crate) fn of(pe: PeerIndex, names: &[u32]) -> Option<Self> {
        let mut known = std::collections::HashMap::new();
        let mut nodes: Vec<Vec<PeerIndex>> = Vec::new();
        let mut node_of = Vec::with_capacity(names.len());
        for (pe, name) in (0..).zip(names) {
            let node = *known.entry(name).or_insert(nodes.len());
            if node == nodes.len() {
                nodes.push(Vec::new());
            }
            nodes[node].push(pe);
            node_of.push(node);
        }
        let node = *node_of.get(pe as usize)?;
        let rank = nodes[node].iter().position(|&other| other == pe)?;
        Some(Self {
            pe,
            rank: Rank(rank as u32),
            node,
            nodes,
            node_of,
        })
    }

    /// Returns the number of this PE.
    pub(crate) fn pe(&self) -> PeerIndex {
        self.pe
    }

    /// Returns the number of PEs of the job.
    pub(crate) fn pes(&self) -> u32 {
        self.node_of.len() as u32
    }

    /// Returns the rank of this PE on its node.
    pub(crate) fn rank(&self) -> Rank {
        self.rank
    }

    /// Returns the number of this PE's node, from 0, in the order of the nodes' leaders.
    pub(crate) fn node(&self) -> usize {
        self.node
    }

    /// Returns the number of nodes of the job.
    pub(crate) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether all PEs are on one node.
    pub(crate) fn is_one_node(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Returns the PE that acts for node `node`: the lowest there.
    pub(crate) fn leader(&self, node: usize) -> PeerIndex {
        self.nodes[node][0]
    }

    /// Returns the PEs of node `node`.
    pub(crate) fn on(&self, node: usize) -> &[PeerIndex] {
        &self.nodes[node]
    }

    /// Returns whether this PE acts for its node.
    pub(crate) fn is_leader(&self) -> bool {
        self.rank == Rank(0)
    }

    /// Returns the number of the node of `pe`.
    pub(crate) fn node_of(&self, pe: PeerIndex) -> usize {
        self.node_of[pe as usize]
    }

    /// Returns the PEs of this node in the order of their ranks.
    pub(crate) fn near(&self) -> &[PeerIndex] {
        &self.nodes[self.node]
    }

    /// Returns the PE of this node with rank `rank`.
    pub(crate) fn pe_at(&self, rank: Rank) -> PeerIndex {
        self.near()[rank.0 as usize]
    }

    /// Returns the PEs of the other nodes.
    pub(crate) fn far(&self) -> impl Iterator<Item = PeerIndex> + '_ {
        (0..)
            .zip(&self.node_of)
            .filter(|&(_, &node)| node != self.node)
            .map(|(pe, _)| pe)
    }

    /// Returns the places of the PEs, for the fabric.
    pub(crate) fn placement(&self) -> Placement {
        Placement {
            own: self.pe,
            near: self.near().to_vec(),
            count: self.pes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nodes_count_from_their_leaders_whatever_the_launcher_calls_them() {
        let places = Places::of(3, &[7, 7, 2, 7, 2]).unwrap();
        assert_eq!((places.pe(), places.pes(), places.nodes()), (3, 5, 2));
        assert_eq!((places.node(), places.rank()), (0, Rank(2)));
        assert_eq!(places.near(), [0, 1, 3]);
        assert_eq!(places.far().collect::<Vec<_>>(), [2, 4]);
        assert_eq!((places.leader(0), places.leader(1)), (0, 2));
        assert!(!places.is_leader());
        assert!(Places::of(2, &[7, 7, 2, 7, 2]).unwrap().is_leader());
    }

    #[test]
    fn on_one_node_ranks_are_numbers() {
        for pe in 0..4 {
            let places = Places::of(pe, &[0; 4]).unwrap();
            assert!(places.is_one_node());
            assert_eq!(places.rank(), Rank(pe));
            assert_eq!(places.placement(), Placement::one_node(pe, 4));
        }
        assert_eq!(Places::of(4, &[0; 4]), None);
    }

    proptest! {
        #[test]
        fn every_pe_has_one_place_and_all_agree(names in proptest::collection::vec(0_u32..6, 1..30)) {
            let all: Vec<Places> = (0..names.len() as u32).map(|pe| Places::of(pe, &names).unwrap()).collect();
            let leaders: Vec<_> = all.iter().filter(|p| p.is_leader()).map(Places::pe).collect();
            prop_assert_eq!(leaders.len(), all[0].nodes());
            for places in &all {
                let named_alike = |&pe: &u32| names[pe as usize] == names[places.pe() as usize];
                let near: Vec<u32> = (0..places.pes()).filter(named_alike).collect();
                prop_assert_eq!(places.near(), &near[..]);
                prop_assert_eq!(places.pe_at(places.rank()), places.pe());
                prop_assert_eq!(places.leader(places.node()), near[0]);
                let mut everybody = near;
                everybody.extend(places.far());
                everybody.sort_unstable();
                prop_assert_eq!(everybody, (0..places.pes()).collect::<Vec<_>>());
                for (node, &leader) in leaders.iter().enumerate() {
                    prop_assert_eq!(places.leader(node), leader);
                }
            }
        }
    }
}
