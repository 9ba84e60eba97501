//! The safe Rust interface: the programs of `tests/rust`, on one node and on several.

use crate::case::{Build, Case, Invocation, Status};
use crate::session::Session;
use std::sync::Arc;
use std::time::Duration;

/// Programs that succeed; those of a row run in one job, one after the other.
const ROWS: &[&[&str]] = &[
    &["phases", "conversion_quiets_threads", "threads"],
    &["forgotten", "twice", "caught"],
    &["transfers", "elements", "strided", "atomics"],
    &["signals", "waits", "statics", "locks", "sessions"],
    &["scopes", "scope_panics"],
    &["futures", "ops_dropped", "ops_of_threads"],
];

/// The PEs and nodes of a job: oshrun's arguments.
const JOBS: [&[&str]; 5] = [
    &["-n", "1"],
    &["-n", "2"],
    &["-n", "5"],
    &["-n", "2", "--ppn", "1", "--fabric", "softhca"],
    &["-n", "5", "--ppn", "2", "--fabric", "softhca"],
];

/// Programs in which PEs of a job of three call different things, and what they say of it.
const MISMATCHES: &[(&str, &[&str])] = &[
    (
        "alloc_lengths",
        &["PE 1 calls World::alloc of 11 elements of 4 bytes, and PE 0 calls alloc of 10 elements"],
    ),
    (
        "alloc_sizes",
        &[
            "PE 1 calls World::alloc of 10 elements of 4 bytes, and PE 0 calls alloc of 10 elements of 8 bytes",
        ],
    ),
    (
        "free_others",
        &["of 4 bytes at offset 0x40, and PE 1 calls free of 10 elements of 4 bytes at offset 0x0"],
    ),
    (
        "freeze_others",
        &[
            "of 4 bytes at offset 0x40, and PE 1 calls freeze of 10 elements of 4 bytes at offset 0x0",
        ],
    ),
    (
        "freeze_and_own",
        &["PE 1 calls World::freeze of 10", "PE 1 calls freeze of 10"],
    ),
    (
        "freeze_and_alloc",
        &["PE 1 calls World::freeze of 10", "PE 1 calls freeze of 10"],
    ),
];

/// All cases.
pub(crate) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let build = ["build", "--package", "farreach-tests", "--example", "safe"];
    let build = Build::new(session.cargo(&build), Duration::from_secs(300));
    let mut cases = Vec::new();
    for row in ROWS {
        for job in JOBS {
            let name = format!("{}, oshrun {}", row.join(" "), job.join(" "));
            cases.push(case(session, &build, name, &[], job, row));
        }
    }
    for (program, said) in MISMATCHES {
        for job in [
            &["-n", "3"][..],
            &["-n", "3", "--ppn", "2", "--fabric", "softhca"],
        ] {
            let name = format!("{program}, oshrun {}", job.join(" "));
            let mut case = case(session, &build, name, &[], job, &[program]);
            case.expect = fails(said);
            cases.push(case);
        }
    }
    // PEs that share a processor find out; others wait for ever for what never comes.
    let on_one = ["taskset", "--cpu-list", "0"];
    let name = "barrier_and_alloc, oshrun -n 2 on one processor".to_owned();
    let mut mixed = case(
        session,
        &build,
        name,
        &on_one,
        &["-n", "2"],
        &["barrier_and_alloc"],
    );
    mixed.expect = fails(&["PE 1 is in a barrier or another call"]);
    cases.push(mixed);
    Ok(cases)
}

/// A job that ends by a panic with these words.
fn fails(said: &[&str]) -> crate::case::Expect {
    crate::case::Expect {
        status: Status::Is(101),
        stderr: said.iter().map(|&text| text.to_owned()).collect(),
        ..Default::default()
    }
}

fn case(
    session: &Session,
    build: &Arc<Build>,
    name: String,
    before: &[&str],
    job: &[&str],
    programs: &[&str],
) -> Case {
    let oshrun = session.place.staged("bin/oshrun");
    let run = match before {
        [] => Invocation::new(oshrun),
        [first, rest @ ..] => Invocation::new(first).args(rest).arg(oshrun),
    };
    let program = session.place.target.join("debug/examples/safe");
    let run = run.args(job).arg(program).args(programs);
    let mut case = Case::new(name, 60, run);
    case.needs.push(Arc::clone(build));
    case.leaves_nothing = true;
    let done = programs.iter().map(|name| format!("{name}: done by PE 0"));
    case.expect.stdout = done.collect();
    case
}
