//! The groups of cases.

mod abi;
mod calls;
mod cargo;
mod clients;
mod examples;
mod gasnet;
pub(crate) mod house_rules;
mod install;
mod lint;
mod nodes;
mod planted;
pub(crate) mod programs;
mod rust;

use crate::case::{Build, Case};
use crate::launch;
use crate::session::Session;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A group of cases.
#[derive(Debug)]
pub(crate) struct Group {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Its subject, in a few words.
    pub(crate) about: &'static str,
    /// Whether it runs when no group is named.
    pub(crate) by_default: bool,
    /// Whether its cases may run at the same time.
    pub(crate) parallel: bool,
    /// Whether many of its cases wait rather than compute, also for a build, or take the time that
    /// they are given, so that one more than `--jobs` says runs.
    pub(crate) waits: bool,
    /// Whether it needs the library and its tools staged.
    pub(crate) needs_staging: bool,
    /// Builds of its own that are made before.
    pub(crate) ahead: Option<Ahead>,
    /// Finds its cases. An error fails the group.
    pub(crate) cases: fn(&Session) -> Result<Vec<Case>, String>,
}

/// Builds of a group that are made beside the cases of another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    /// Returns the builds.
    pub(crate) builds: fn(&Session) -> Vec<Arc<Build>>,
    /// The name of the other group, whose cases leave processors idle.
    pub(crate) beside: &'static str,
}

/// All groups, in the order in which they run.
pub(crate) static ALL: [Group; 17] = [
    Group {
        name: "lint",
        about: "formatting, clippy, documentation, layers, house rules",
        by_default: true,
        parallel: true,
        waits: false,
        needs_staging: false,
        ahead: None,
        cases: lint::cases,
    },
    Group {
        name: "unit",
        about: "the test programs of all crates, and the examples in their documentation",
        by_default: true,
        parallel: true,
        waits: false,
        needs_staging: false,
        ahead: None,
        cases: cargo::unit,
    },
    Group {
        name: "contract",
        about: "what the fabric promises, over every transport (tests/contract)",
        by_default: true,
        parallel: true,
        waits: true,
        needs_staging: false,
        ahead: None,
        cases: cargo::contract,
    },
    Group {
        name: "loom",
        about: "models of what processes do to shared memory, and threads to the Rust interface, in \
                all orders",
        by_default: true,
        parallel: true,
        waits: false,
        needs_staging: false,
        ahead: None,
        cases: cargo::loom,
    },
    Group {
        name: "abi",
        about: "the generated header and the exported symbols",
        by_default: true,
        parallel: true,
        waits: false,
        needs_staging: true,
        ahead: None,
        cases: abi::cases,
    },
    Group {
        name: "conformance",
        about: "programs written from the specification (tests/conformance)",
        by_default: true,
        parallel: true,
        waits: true,
        needs_staging: true,
        ahead: None,
        cases: programs::conformance,
    },
    Group {
        name: "hosts",
        about: "jobs on several hosts, which are namespaces (tests/hosts): their ends, and the same programs",
        by_default: true,
        parallel: true,
        waits: true,
        needs_staging: true,
        ahead: None,
        cases: programs::on_hosts,
    },
    Group {
        name: "lossy",
        about: "every program of tests/conformance on two hosts that lose 1 % of packets (not run unless named)",
        by_default: false,
        parallel: true,
        waits: false,
        needs_staging: true,
        ahead: None,
        cases: programs::lossy,
    },
    Group {
        name: "soak",
        about: "a minute of random operations of all kinds against a model (tests/soak)",
        by_default: true,
        parallel: true,
        waits: true,
        needs_staging: true,
        ahead: None,
        cases: programs::soak,
    },
    Group {
        name: "launch",
        about: "jobs that start, end and die in every way",
        by_default: true,
        parallel: true,
        waits: true,
        needs_staging: true,
        ahead: None,
        cases: launch::cases,
    },
    Group {
        name: "install",
        about: "an installation in another place",
        by_default: true,
        parallel: true,
        waits: true,
        needs_staging: true,
        ahead: None,
        cases: install::cases,
    },
    Group {
        name: "examples",
        about: "the programs of examples/, as a user would start them",
        by_default: true,
        parallel: true,
        waits: true,
        needs_staging: true,
        ahead: None,
        cases: examples::cases,
    },
    Group {
        name: "gasnet",
        about: "programs of GASNet-1 (tests/gasnet, examples/gasnet), and of active messages (tests/am)",
        by_default: true,
        parallel: true,
        waits: true,
        needs_staging: true,
        ahead: None,
        cases: gasnet::cases,
    },
    Group {
        name: "rust",
        about: "the safe Rust interface: each section of the standard, and PEs that differ (tests/rust)",
        by_default: true,
        parallel: true,
        waits: true,
        needs_staging: true,
        ahead: None,
        cases: rust::cases,
    },
    Group {
        name: "calls",
        about: "remote calls: on one node and several, refused ones, killed processes (tests/calls)",
        by_default: true,
        parallel: true,
        waits: true,
        needs_staging: true,
        ahead: None,
        cases: calls::cases,
    },
    Group {
        name: "icount",
        about: "instruction budgets of the critical paths (tests/icount)",
        by_default: true,
        parallel: false,
        waits: false,
        needs_staging: true,
        ahead: Some(Ahead {
            builds: cargo::icount_ahead,
            beside: "hosts",
        }),
        cases: cargo::icount,
    },
    Group {
        name: "planted",
        about: "cases that have to fail, for the tests of this program (not run unless named)",
        by_default: false,
        parallel: true,
        waits: false,
        needs_staging: false,
        ahead: None,
        cases: planted::cases,
    },
];

/// Stages the library and its tools, as a case of its own.
pub(crate) fn stage(session: &Session) {
    let started = Instant::now();
    let build = Build::new(session.cargo(&["xtask", "stage"]), Duration::from_secs(600));
    let result = session.build(&build);
    session.finish("build", "stage", started.elapsed(), result);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_made_beside_a_group_that_runs_before() {
        for (at, group) in ALL.iter().enumerate() {
            let Some(ahead) = group.ahead else { continue };
            let beside = ALL.iter().position(|other| other.name == ahead.beside);
            assert!(beside.is_some_and(|beside| beside < at), "{}", group.name);
        }
    }
}
