//! Remote calls: the programs of `tests/calls`, on one node and on several, the soak of processes that
//! are killed, and programs that do not compile.

use super::rust;
use crate::case::{Build, Case, Invocation};
use crate::session::Session;
use std::sync::Arc;
use std::time::Duration;

/// A configuration, and the programs that one job does with it, one after the other.
type Row = (&'static str, &'static [&'static str]);

const ALL: &[&str] = &[
    "arguments",
    "shared",
    "registered",
    "chunks",
    "long_index",
    "panics",
    "panic_behind_a_wait",
    "values_that_panic",
    "scope_panics",
    "collective_in_an_action",
    "differing_collectives",
    "storm",
    "threads",
    "calls_by_calls",
    "graph",
    "by_hand",
    "tokio",
    "left_behind",
];

/// Functions that are left behind, and values of panics: with pieces of any size they are the same.
const FUNCTIONS: Row = (
    "default",
    &[
        "collective_behind_a_call",
        "functions_in_functions",
        "left_too_late",
        "values_of_panics",
        "scope_behind_values_of_panics",
        "kept_handle",
    ],
);

/// A pool of the program's that panics.
const FALLS: Row = ("falls", &["pool_panics"]);

const LIMITED: Row = (
    "limited",
    &[
        "too_long",
        "no_room",
        "no_room_here",
        "scope_in_the_innermost_action",
    ],
);

/// Chunks of about the length of the shortest messages.
const SHORT_CHUNKS: Row = ("short_chunks", &["short_chunks"]);

/// The end of a process that has not closed its calls.
const FAREWELL: Row = ("farewell", &["farewell"]);

/// Calls by a handle that stays when another one has closed them.
const CLOSED: Row = ("closed", &["closed"]);

/// Programs for many processes, and for slow ones.
const FEW: &[&str] = &[
    "arguments",
    "registered",
    "long_index",
    "panics",
    "calls_by_calls",
    "by_hand",
];

const SOFTHCA: [&str; 4] = ["--fabric", "softhca", "--transport", "rc"];
const BY_DC: [&str; 4] = ["--fabric", "softhca", "--transport", "dc"];
const BY_LIBFABRIC: [&str; 2] = ["--fabric", "libfabric"];

/// Jobs: the number of processes, further words for oshrun, and the rows.
const JOBS: &[(&str, &[&str], &[Row])] = &[
    (
        "1",
        &[],
        &[("default", ALL), ("small", ALL), FUNCTIONS, LIMITED],
    ),
    (
        "2",
        &[],
        &[
            ("default", ALL),
            ("small", ALL),
            ("all_chunks", ALL),
            ("rayon", ALL),
            FUNCTIONS,
            FALLS,
            LIMITED,
            CLOSED,
        ],
    ),
    (
        "3",
        &[],
        &[("default", ALL), ("small", ALL), ("rayon", ALL), FUNCTIONS],
    ),
    ("4", &[], &[("default", ALL), LIMITED]),
    ("16", &[], &[("default", FEW)]),
    (
        "2",
        &["--ppn", "1"],
        &[
            ("default", ALL),
            ("small", ALL),
            FUNCTIONS,
            FALLS,
            LIMITED,
            FAREWELL,
            CLOSED,
        ],
    ),
    ("4", &["--ppn", "2"], &[("default", ALL), ("rayon", FEW)]),
];

/// Returns all cases.
pub(crate) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let args = [
        "build",
        "--package",
        "farreach-remote",
        "--example",
        "calls_programs",
    ];
    let build = Build::new(session.cargo(&args), Duration::from_secs(300));
    let program = session.place.target.join("debug/examples/calls_programs");
    let job = |name: String, run: Invocation, (config, programs): Row| {
        let run = run.arg(&program).arg(config).args(programs);
        let mut case = Case::new(
            format!("{config}: {} programs, {name}", programs.len()),
            60,
            run,
        );
        case.needs.push(Arc::clone(&build));
        case.leaves_nothing = true;
        let done = programs.iter().map(|name| format!("{name}: done"));
        case.expect.stdout = done.collect();
        case
    };
    let mut cases = Vec::new();
    for (ranks, words, rows) in JOBS {
        let fabrics: &[&[&str]] = if words.is_empty() {
            &[&[]]
        } else {
            &[&SOFTHCA, &BY_DC, &BY_LIBFABRIC]
        };
        for (fabric, row) in fabrics
            .iter()
            .flat_map(|&fabric| rows.iter().map(move |row| (fabric, row)))
        {
            let words = [&["-n", ranks], *words, fabric].concat();
            let run = Invocation::new(session.place.staged("bin/oshrun")).args(&words);
            cases.push(job(format!("oshrun {}", words.join(" ")), run, *row));
        }
    }
    let hydra = Invocation::new("/usr/bin/mpiexec.hydra").args(["-n", "3"]);
    cases.push(job(
        "mpiexec.hydra -n 3".to_owned(),
        hydra,
        ("default", ALL),
    ));
    let delayed = Invocation::new(session.place.staged("bin/softhca"))
        .args(["run", "--delay-seed", "1", "--"])
        .arg(session.place.staged("bin/oshrun"))
        .args(["-n", "4", "--ppn", "1"])
        .args(SOFTHCA);
    let name = "oshrun -n 4 --ppn 1, softhca that acts in any order";
    cases.push(job(name.to_owned(), delayed, SHORT_CHUNKS));
    for row in [("default", FEW), LIMITED] {
        let valgrind = ["-n", "2", "valgrind", "--quiet", "--error-exitcode=99"];
        let run = Invocation::new(session.place.staged("bin/oshrun")).args(valgrind);
        let mut case = job("oshrun -n 2 valgrind".to_owned(), run, row);
        case.limit = Duration::from_secs(120);
        cases.push(case);
    }
    let run = Invocation::new(session.place.staged("bin/oshrun")).args(["-n", "2"]);
    let case = job("oshrun -n 2".to_owned(), run, FAREWELL);
    cases.extend(rust::unknown_fabrics(&case));
    cases.extend(soaks(session));
    cases.extend(rust::misuses(session, "tests/calls/misuse", "calls")?);
    Ok(cases)
}

/// Returns the cases of processes that call each other: on a node while some of them are killed,
/// and on pretended nodes.
fn soaks(session: &Session) -> [Case; 2] {
    let args = [
        "build",
        "--package",
        "farreach-remote",
        "--example",
        "calls_soak",
    ];
    let program = session.place.target.join("debug/examples/calls_soak");
    let build = Build::new(session.cargo(&args), Duration::from_secs(300));
    let near = Invocation::new(&program).args(["--seconds", "5"]);
    // A device finds the end of a process after its retries, of some 10 s: nobody is killed.
    let far = Invocation::new(session.place.staged("bin/softhca"))
        .args(["run", "--"])
        .arg(&program)
        .args(["--device", "--seconds", "3", "--kills", "0"]);
    [("soak", near), ("soak, softhca", far)].map(|(name, run)| {
        let mut case = Case::new(name, 90, run);
        case.needs.push(Arc::clone(&build));
        case.leaves_nothing = true;
        case
    })
}
