//! Programs in Rust that end with status 0 while they have a `World`: `tests/launch/world.rs`, on
//! one node and on two.

use crate::case::{Build, Case, Invocation, Status};
use crate::session::Session;
use std::time::Duration;

/// Place of the `World`, and the end of the job.
const ROWS: &[(&str, Expected)] = &[
    ("used", Expected::Fails(ANOTHER)),
    ("exit", Expected::Fails(ANOTHER)),
    ("dropped", Expected::Fails(ANOTHER)),
    (
        "panic",
        Expected::Fails("after a panic has dropped the World"),
    ),
    ("ended", Expected::Succeeds("ended")),
    ("kept", Expected::Succeeds("kept by PE 1")),
    (
        "context",
        Expected::Fails("while a Ctx or a Team that was created is there"),
    ),
    ("threads", Expected::Succeeds("threads of PE 1")),
];

const ANOTHER: &str = "while another thread has the World";

enum Expected {
    /// With status 1, and these words on standard error.
    Fails(&'static str),
    /// With status 0, finalised, and these words on standard output.
    Succeeds(&'static str),
}

/// The nodes of a job, and oshrun's arguments for them.
const PLACES: [(&str, &[&str]); 2] = [
    ("one node", &["-n", "2"]),
    (
        "two nodes",
        &["-n", "2", "--ppn", "1", "--fabric", "softhca"],
    ),
];

/// Returns all cases.
pub(super) fn cases(session: &Session) -> Vec<Case> {
    let build = ["build", "--package", "farreach-tests", "--example", "world"];
    let build = Build::new(session.cargo(&build), Duration::from_secs(300));
    let program = session.place.target.join("debug/examples/world");
    let mut cases = Vec::new();
    for (name, expected) in ROWS {
        for (place, words) in PLACES {
            let run = Invocation::new(session.place.staged("bin/oshrun"))
                .args(words)
                .arg(&program)
                .arg(*name);
            let mut case = Case::new(format!("World {name}, {place}"), 20, run);
            match expected {
                Expected::Fails(text) => {
                    case.expect.status = Status::Is(1);
                    case.expect.stderr = vec!["farreach: PE ".to_owned(), (*text).to_owned()];
                }
                Expected::Succeeds(text) => case.expect.stdout = vec![(*text).to_owned()],
            }
            case.needs.push(build.clone());
            case.leaves_nothing = true;
            cases.push(case);
        }
    }
    cases
}
