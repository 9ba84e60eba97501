//! What can be found without running anything.

use super::house_rules;
use crate::case::Case;
use crate::session::Session;

/// One case for each tool.
pub(crate) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let clippy = session.cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    let checking = session.cargo(&[
        "clippy",
        "--package",
        "shmem",
        "--package",
        "shmem-cabi",
        "--features",
        "shmem-cabi/check",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    let doc = session
        .cargo(&["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings");
    let mut cases = vec![
        Case::new(
            "fmt",
            60,
            session.cargo(&["fmt", "--all", "--check", "--", "--files-with-diff"]),
        ),
        Case::new("clippy", 300, clippy),
        Case::new("clippy of the checking library", 300, checking),
        Case::new("doc", 300, doc),
        Case::new("layers", 120, session.cargo(&["xtask", "layers"])),
    ];
    for own in house_rules::OWN {
        cases.push(own.case(&[])?);
    }
    Ok(cases)
}
