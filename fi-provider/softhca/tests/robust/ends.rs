//! Processes that end, are killed or become other programs, and those that go on (`ends.c` says how).

use crate::support::{softhca, text};
use crate::under::{Run, compile};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::Duration;

/// After this long a program is taken to hang.
const PATIENCE: Duration = Duration::from_secs(60);

fn program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| compile("ends", &["ends.c"]))
}

fn succeed(name: &str, arguments: &[&str]) {
    let output = Run::new(name, PATIENCE).of(program(), arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output));
}

#[test]
fn a_context_that_ends_takes_its_queue_pairs_along() {
    for how in ["close", "exit", "exec", "kill"] {
        succeed(&format!("closed-{how}"), &["closed", how]);
    }
}

#[test]
fn processes_killed_in_the_middle_of_requests_hold_nobody_up() {
    succeed("killed", &["killed"]);
}

#[test]
fn processes_may_become_others_in_the_middle_of_requests() {
    succeed("replaced", &["replaced"]);
}

#[test]
fn children_of_busy_processes_use_the_device_by_themselves() {
    succeed("forked", &["forked"]);
}

/// Runs the case `crowd` with limits of open files.
fn crowd(limit: &str) -> Output {
    let mut command = Command::new("prlimit");
    command.arg(format!("--nofile={limit}")).arg(softhca());
    let run = Run::new(&format!("crowd-{}", limit.replace(':', "-")), PATIENCE);
    let output = run.prepared(command, program(), &["crowd"]);
    assert!(output.status.success(), "{limit}: {}", text(&output));
    output
}

#[test]
fn more_processes_than_files_are_refused_and_do_not_hang() {
    for limit in 61..=65 {
        crowd(&format!("{limit}:{limit}"));
    }
}

#[test]
fn the_device_has_as_many_files_as_it_may() {
    let output = crowd("64:4096");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 refused\n");
}

#[test]
fn the_directory_of_temporary_files_may_have_a_long_name() {
    for length in [60, 100, 101, 150, 230, 900] {
        let mut parent = PathBuf::from(format!("/tmp/softhca-long-{}", std::process::id()));
        while parent.as_os_str().len() < length {
            let more = (length - parent.as_os_str().len()).clamp(2, 200) - 1;
            parent.push("x".repeat(more));
        }
        std::fs::create_dir_all(&parent).expect("a long name");
        let run = Run::within(&parent, "long", PATIENCE);
        let output = run.of(program(), &["alone", "20"]);
        drop(run);
        assert!(output.status.success(), "{length}: {}", text(&output));
    }
    let _ = std::fs::remove_dir_all(format!("/tmp/softhca-long-{}", std::process::id()));
}
