//! Jobs that start, end and die in every way, by the real oshrun and library.
//!
//! `tests/launch/job.c` is the program of most of them. A case of a single command line is a row of
//! [`commands`]; one that sends signals and looks at processes is written in Rust.

mod apart;
mod commands;
mod denied;
mod foreign;
mod hosts;
mod job;
mod kills;
mod mpi;
mod several;
mod signals;
mod worlds;

use crate::case::{Build, Case};
use crate::groups::programs;
use crate::own::Own;
use crate::session::Session;
use std::path::PathBuf;
use std::sync::Arc;

/// The cases that are written in Rust. Their argument is the compiled job.c.
pub(crate) const OWN: &[Own] = &[
    Own {
        name: "kill -9 of one PE",
        seconds: 300,
        run: kills::one_pe,
    },
    Own {
        name: "kill -9 of oshrun",
        seconds: 300,
        run: kills::oshrun,
    },
    Own {
        name: "kill -9 of all at once",
        seconds: 300,
        run: kills::all_at_once,
    },
    Own {
        name: "kill -9 of a PE under hydra",
        seconds: 120,
        run: kills::pe_under_hydra,
    },
    Own {
        name: "SIGINT and SIGTERM",
        seconds: 120,
        run: signals::end_the_job,
    },
    Own {
        name: "SIGTERM with a stopped PE",
        seconds: 30,
        run: signals::stopped_pe,
    },
    Own {
        name: "a reader that goes away",
        seconds: 30,
        run: signals::reader_goes_away,
    },
];

pub(crate) use foreign::OWN as OF_FOREIGN;
pub(crate) use hosts::OWN as OF_HOSTS;
pub(crate) use several::OWN as OF_OSHRUN;

/// Returns the cases of jobs on several hosts, which are another group: each has hosts of its own,
/// and may run beside others.
pub(crate) fn on_hosts(session: &Session) -> Result<Vec<Case>, String> {
    let mut cases = hosts::cases(session)?;
    cases.extend(several::cases(session, &Program::new(session, "job"))?);
    Ok(cases)
}

/// Returns all cases of the group.
pub(crate) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let job = Program::new(session, "job");
    let mut cases = commands::cases(session, &job)?;
    cases.extend(apart::cases(session, &job));
    cases.extend(worlds::cases(session));
    cases.extend(denied::cases(session, &job)?);
    cases.extend(foreign::cases(session)?);
    cases.extend(mpi::cases(session));
    for own in OWN {
        let mut case = own.case(&[job.executable.display().to_string()])?;
        case.needs.push(job.build.clone());
        case.leaves_nothing = true;
        cases.push(case);
    }
    Ok(cases)
}

/// A compiled program of tests/launch.
#[derive(Debug)]
struct Program {
    executable: PathBuf,
    build: Arc<Build>,
}

impl Program {
    fn new(session: &Session, name: &str) -> Self {
        Self::with(session, name, &[])
    }

    /// Returns one that is compiled with further flags.
    fn with(session: &Session, name: &str, flags: &[&str]) -> Self {
        let source = session.place.root.join(format!("tests/launch/{name}.c"));
        let executable = session.built(name);
        let flags: Vec<_> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let build = programs::compile(session, &source, &flags, None, &executable);
        Self { executable, build }
    }
}
