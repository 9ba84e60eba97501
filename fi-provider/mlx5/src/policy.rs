//! Policies of sharing between lanes: those of Zambre, Chandramowlishwaran and Balaji, "Scalable
//! Communication Endpoints for MPI+Threads Applications", section VI.
//!
//! A policy is a row of [`POLICIES`], and nothing else knows one by its name:
//! [`crate::device::Pool`] makes the objects of the row, guards follow from the objects that lanes
//! then share, and accounts count the objects that were made. One more policy is one more row.

/// Tells which objects each lane of a device has of its own, and which ones lanes share.
#[derive(Debug, PartialEq, Eq)]
pub struct Policy {
    /// Name by which it is chosen and reported.
    pub name: &'static str,
    /// Whether each lane opens the device for itself, and so has all of a context.
    pub own_context: bool,
    /// Thread domains that are allocated for each lane, of which it uses the first. Two that follow
    /// each other share a page: with 1 two lanes share one, with 2 each has its own, and further
    /// ones serve spare queue pairs. With 0 the driver assigns registers.
    pub thread_domains: u32,
    /// Queue pairs and completion queues that are made for each one that is used; those beyond the first are spare.
    pub queues_per_lane: u32,
    /// Whether all lanes are one.
    pub one_lane: bool,
}

/// A context for each lane, registers by the driver: as many processes would have it.
const MPI_EVERYWHERE: Policy = Policy {
    name: "mpi-everywhere",
    own_context: true,
    thread_domains: 0,
    queues_per_lane: 1,
    one_lane: false,
};

/// A page for each lane, and as much again that is not used.
const TWICE_DYNAMIC: Policy = Policy {
    name: "2x-dynamic",
    own_context: false,
    thread_domains: 4,
    queues_per_lane: 2,
    one_lane: false,
};

/// A page for each lane.
const DYNAMIC: Policy = Policy {
    name: "dynamic",
    own_context: false,
    thread_domains: 2,
    queues_per_lane: 1,
    one_lane: false,
};

/// A register for each lane.
const SHARED_DYNAMIC: Policy = Policy {
    name: "shared-dynamic",
    own_context: false,
    thread_domains: 1,
    queues_per_lane: 1,
    one_lane: false,
};

/// The registers that a context has anyway, some of which serve several lanes.
const STATIC: Policy = Policy {
    name: "static",
    own_context: false,
    thread_domains: 0,
    queues_per_lane: 1,
    one_lane: false,
};

/// One lane for all.
const MPI_THREADS: Policy = Policy {
    name: "mpi+threads",
    own_context: false,
    thread_domains: 0,
    queues_per_lane: 1,
    one_lane: true,
};

/// All policies, from the one of least sharing among lanes to the one of most.
pub static POLICIES: [Policy; 6] = [
    MPI_EVERYWHERE,
    TWICE_DYNAMIC,
    DYNAMIC,
    SHARED_DYNAMIC,
    STATIC,
    MPI_THREADS,
];

/// The policy where the user chooses none: dynamic, in which no lane touches another's objects.
pub static DEFAULT: &Policy = &POLICIES[2];

impl Policy {
    /// Returns the policy of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        POLICIES.iter().find(|policy| policy.name == name)
    }

    /// Returns whether lanes of one context may find themselves on the same register.
    #[must_use]
    pub const fn shares_registers(&self) -> bool {
        self.thread_domains == 0 && !self.own_context && !self.one_lane
    }
}

/// Lanes that use a completion queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completions {
    /// One lane.
    #[default]
    Own,
    /// All lanes of a context of the device.
    Shared,
}

impl Completions {
    /// Both, the default first.
    pub const ALL: [Self; 2] = [Self::Own, Self::Shared];

    /// Returns the name by which it is chosen and reported.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Shared => "shared",
        }
    }

    /// Returns the one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|which| which.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_paper_and_find_their_rows() {
        let names = POLICIES.each_ref().map(|policy| policy.name);
        let expected = [
            "mpi-everywhere",
            "2x-dynamic",
            "dynamic",
            "shared-dynamic",
            "static",
            "mpi+threads",
        ];
        assert_eq!(names, expected);
        for policy in &POLICIES {
            assert_eq!(Policy::named(policy.name), Some(policy));
        }
        assert_eq!(Policy::named("Dynamic"), None);
        assert_eq!(DEFAULT.name, "dynamic");
        assert_eq!(Completions::named("shared"), Some(Completions::Shared));
        assert_eq!(Completions::named(""), None);
    }

    #[test]
    fn lanes_without_a_register_of_their_own_are_those_of_one_policy() {
        let shared = POLICIES.iter().filter(|policy| policy.shares_registers());
        let names: Vec<_> = shared.map(|policy| policy.name).collect();
        assert_eq!(names, ["static"]);
    }
}
