//! The groups of cases.

mod abi;
mod cargo;
mod examples;
pub(crate) mod house_rules;
mod install;
mod lint;
pub(crate) mod programs;

use crate::case::{Build, Case};
use crate::launch;
use crate::session::Session;
use std::time::{Duration, Instant};

/// A group of cases.
#[derive(Debug)]
pub(crate) struct Group {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What it is about, in a few words.
    pub(crate) about: &'static str,
    /// Whether its cases may run at the same time.
    pub(crate) parallel: bool,
    /// Whether it needs the library and its tools staged.
    pub(crate) needs_staging: bool,
    /// Finds its cases. An error fails the group.
    pub(crate) cases: fn(&Session) -> Result<Vec<Case>, String>,
}

/// All groups, in the order in which they run.
pub(crate) static ALL: [Group; 9] = [
    Group {
        name: "lint",
        about: "formatting, clippy, documentation, layers, house rules",
        parallel: false,
        needs_staging: false,
        cases: lint::cases,
    },
    Group {
        name: "unit",
        about: "the test programs of all crates, and the examples in their documentation",
        parallel: false,
        needs_staging: false,
        cases: cargo::unit,
    },
    Group {
        name: "loom",
        about: "models of what processes do to shared memory, in all orders",
        parallel: false,
        needs_staging: false,
        cases: cargo::loom,
    },
    Group {
        name: "abi",
        about: "the generated header and the exported symbols",
        parallel: false,
        needs_staging: true,
        cases: abi::cases,
    },
    Group {
        name: "conformance",
        about: "programs written from the specification (tests/conformance)",
        parallel: true,
        needs_staging: true,
        cases: programs::conformance,
    },
    Group {
        name: "launch",
        about: "jobs that start, end and die in every way",
        parallel: false,
        needs_staging: true,
        cases: launch::cases,
    },
    Group {
        name: "install",
        about: "an installation in another place",
        parallel: false,
        needs_staging: true,
        cases: install::cases,
    },
    Group {
        name: "examples",
        about: "the programs of examples/, as a user would start them",
        parallel: true,
        needs_staging: true,
        cases: examples::cases,
    },
    Group {
        name: "icount",
        about: "instruction budgets of the critical paths (tests/icount)",
        parallel: false,
        needs_staging: true,
        cases: cargo::icount,
    },
];

/// Stages the library and its tools, as a case of its own.
pub(crate) fn stage(session: &Session) {
    let started = Instant::now();
    let build = Build::new(session.cargo(&["xtask", "stage"]), Duration::from_secs(600));
    let result = session.build(&build);
    session.finish("build", "stage", started.elapsed(), result);
}
