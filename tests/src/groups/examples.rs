//! The examples, as a user would start them.

use super::programs;
use crate::case::{Build, Case};
use crate::runline::Launcher;
use crate::session::Session;
use std::time::Duration;

/// The example that no launcher starts: tests/launch/by_hand.rs, a test program of the group unit,
/// starts it.
const BY_HAND: &str = "rust/by_hand.rs";

/// The folder of those that the group gasnet runs.
const OF_GASNET: &str = "gasnet/";

/// Returns one case for each run that an example states. oshrun gets the source of an example in C,
/// and the program that cargo has built of one in Rust.
pub(crate) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let dir = session.place.root.join("examples");
    // Without link-time optimisation, which takes a minute for all of them.
    let build = [
        "build",
        "--profile",
        "tools",
        "--package",
        "farreach-examples",
    ];
    let in_rust = session.cargo(&build);
    let in_rust = Build::new(in_rust, Duration::from_secs(300));
    let mut cases = Vec::new();
    for path in programs::sources(&dir, &["c", "cpp", "rs"])? {
        let name = path
            .strip_prefix(&dir)
            .unwrap_or(&path)
            .display()
            .to_string();
        if name == BY_HAND || name.starts_with(OF_GASNET) {
            continue;
        }
        let is_rust = path.extension().is_some_and(|end| end == "rs");
        let program = match path.file_stem() {
            Some(stem) if is_rust => session.place.target.join("tools").join(stem),
            _ => path.clone(),
        };
        let runs = programs::runs(&path)?;
        for (run, setting) in programs::jobs(&name, &runs) {
            if run.launcher != Launcher::Oshrun {
                return Err(format!("{}: examples are run by oshrun", path.display()));
            }
            let mut case = programs::case(session, &name, run, setting, &program);
            if is_rust {
                case.needs.push(in_rust.clone());
            }
            cases.push(case);
        }
    }
    Ok(cases)
}
