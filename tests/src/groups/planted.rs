//! Cases that have to fail, each in its own way, and one that passes: `tests/selftest/runner.rs` counts on it.

use crate::case::{Build, Case, Invocation, Status};
use crate::session::Session;
use std::time::Duration;

fn shell(name: &str, seconds: u64, script: &str) -> Case {
    Case::new(name, seconds, Invocation::new("sh").args(["-c", script]))
}

/// Returns the cases.
pub(crate) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let mut wrong_text = shell("says another thing", 10, "echo this");
    wrong_text.expect.stdout.push("that".to_owned());
    let mut refused_text = shell("says what it must not", 10, "echo oops >&2");
    refused_text.expect.refused.push("oops".to_owned());
    let mut no_failure = shell("succeeds but should not", 10, "exit 0");
    no_failure.expect.status = Status::Nonzero;
    let mut file = shell("leaves a file", 10, "echo > \"$TMPDIR/left\"");
    file.leaves_nothing = true;
    let mut unbuilt = shell("is not built", 10, "exit 0");
    unbuilt.needs.push(Build::new(
        Invocation::new("false"),
        Duration::from_secs(10),
    ));
    let missing = session.place.root.join("no-such-program");
    Ok(vec![
        shell("passes", 10, "exit 0"),
        shell("fails", 10, "echo the reason >&2; exit 3"),
        shell("dies", 10, "kill -KILL $$"),
        shell(
            "hangs for a second",
            1,
            "trap '' TERM INT; sleep 1000 & setsid sleep 1000 & sleep 1000",
        ),
        shell("hangs for long", 600, "setsid sleep 1000 & sleep 1000"),
        shell("leaves a process", 10, "sleep 1000 &"),
        shell(
            "leaves a daemon",
            10,
            "setsid setsid sleep 1000 & sleep 0.1",
        ),
        shell(
            "leaves shared memory",
            10,
            "echo > /dev/shm/\"$PLANTED_FILE\"",
        ),
        Case::new("does not start", 10, Invocation::new(missing)),
        wrong_text,
        refused_text,
        no_failure,
        file,
        unbuilt,
    ])
}
