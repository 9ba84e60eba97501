//! The runner of `tests/run` finds the planted cases that hang, fail, or leave something behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Returns a mark in the environment by which all processes of one test can be found.
fn mark(test: &str) -> String {
    format!("{test}-{}", std::process::id())
}

fn runner(test: &str, cases: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_farreach-tests"));
    command.args(["--group", "planted"]);
    for case in cases {
        command.args(["--filter", case]);
    }
    command
        .env("PLANTED_MARK", mark(test))
        .env("PLANTED_FILE", mark(test));
    command.stdin(Stdio::null());
    command
}

fn run(test: &str, cases: &[&str]) -> (Output, String) {
    let output = runner(test, cases).output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    (output, text)
}

/// Returns the processes with the mark of a test in their environment.
fn marked(test: &str) -> Vec<PathBuf> {
    let wanted = format!("PLANTED_MARK={}", mark(test)).into_bytes();
    let holds = |path: &Path| {
        fs::read(path.join("environ")).is_ok_and(|text| {
            text.split(|&byte| byte == 0)
                .any(|variable| variable == wanted)
        })
    };
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| holds(path))
        .collect()
}

fn wait_for(mut there: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !there() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

#[track_caller]
fn assert_found(text: &str, case: &str, why: &str) {
    let mut lines = text
        .lines()
        .skip_while(|line| !(line.starts_with("FAIL") && line.ends_with(case)));
    assert!(lines.next().is_some(), "{case} has not failed:\n{text}");
    let mut details = lines.take_while(|line| line.starts_with(' '));
    assert!(
        details.any(|line| line.contains(why)),
        "{case} does not say \"{why}\":\n{text}"
    );
}

#[test]
fn a_passing_case_passes() {
    let (output, text) = run("pass", &["planted/passes"]);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.lines().last(), Some("2 passed, 0 failed"), "{text}");
}

#[test]
fn failing_cases_fail_and_say_why() {
    let cases = [
        "/fails",
        "/dies",
        "/says",
        "/succeeds",
        "/does not start",
        "/is not built",
        "/leaves a file",
    ];
    let (output, text) = run("fail", &cases);
    assert_eq!(output.status.code(), Some(1));
    assert_found(&text, "planted/fails", "exit status 3, expected 0");
    assert_found(&text, "planted/fails", "the reason");
    assert_found(&text, "planted/dies", "signal 9");
    assert_found(
        &text,
        "planted/says another thing",
        "standard output does not contain \"that\"",
    );
    assert_found(
        &text,
        "planted/says what it must not",
        "standard error contains \"oops\"",
    );
    assert_found(&text, "planted/succeeds but should not", "exit status 0");
    assert_found(&text, "planted/does not start", "no-such-program");
    assert_found(&text, "planted/is not built", "not built");
    assert_found(
        &text,
        "planted/leaves a file",
        "left behind in TMPDIR: left",
    );
    assert_eq!(text.lines().last(), Some("1 passed, 8 failed"), "{text}");
}

#[test]
fn a_hanging_case_is_ended_with_all_its_processes() {
    let started = Instant::now();
    let (output, text) = run("hang", &["/hangs for a second"]);
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(1));
    assert_found(&text, "planted/hangs for a second", "not over after 1 s");
    assert_eq!(marked("hang"), Vec::<PathBuf>::new());
}

#[test]
fn processes_left_behind_are_found_and_ended() {
    let (output, text) = run("leave", &["/leaves a process", "/leaves a daemon"]);
    assert_eq!(output.status.code(), Some(1));
    assert_found(&text, "planted/leaves a process", "sleep 1000");
    assert_found(&text, "planted/leaves a daemon", "sleep 1000");
    assert_eq!(marked("leave"), Vec::<PathBuf>::new());
}

#[test]
fn shared_memory_left_behind_fails_the_group() {
    let (output, text) = run("shm", &["/leaves shared memory"]);
    fs::remove_file(Path::new("/dev/shm").join(mark("shm"))).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_found(&text, "planted/leaves nothing behind", &mark("shm"));
    assert_eq!(text.lines().last(), Some("1 passed, 1 failed"), "{text}");
}

#[test]
fn a_run_without_a_case_fails() {
    let (output, text) = run("none", &["no such case"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text.lines().last(), Some("0 passed, 0 failed"), "{text}");
}

#[test]
fn a_wrong_command_line_is_refused() {
    for words in [
        ["--group", "nonsense"],
        ["--jobs", "0"],
        ["--nonsense", "1"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_farreach-tests"))
            .args(words)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
}

fn start_long(test: &str) -> Child {
    let child = runner(test, &["/hangs for long"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The runner, the supervising process, the shell, two sleeps.
    assert!(
        wait_for(|| marked(test).len() >= 5),
        "it has not started: {:?}",
        marked(test)
    );
    child
}

#[test]
fn nothing_outlives_the_runner() {
    let mut child = start_long("killed");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        wait_for(|| marked("killed").is_empty()),
        "{:?}",
        marked("killed")
    );
}
