//! The examples, as a user would start them.

use super::programs;
use crate::case::Case;
use crate::runline::Launcher;
use crate::session::Session;

/// One case for each run that an example states. oshrun gets the source, not a compiled program.
pub(crate) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let dir = session.place.root.join("examples");
    let mut cases = Vec::new();
    for path in programs::sources(&dir, &["c", "cpp"])? {
        let name = path
            .strip_prefix(&dir)
            .unwrap_or(&path)
            .display()
            .to_string();
        for run in programs::runs(&path)? {
            if run.launcher != Launcher::Oshrun {
                return Err(format!("{}: examples are run by oshrun", path.display()));
            }
            cases.push(programs::case(session, &name, &run, &path));
        }
    }
    Ok(cases)
}
