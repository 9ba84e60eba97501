//! Jobs on a device in software: it comes and goes with them, however they end.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::support::{
    Folder, Outcome, Running, children, oshrun, pe, run, runs, signal, softhca, wait_at_most,
};

const SECOND: Duration = Duration::from_secs(1);

/// Opens the device, which its process has to answer.
const OPEN: &str = "exec 3<>/dev/infiniband/uverbs0 && exec 3>&-";

/// Lets `command` have its temporary files in `folder`, and nothing of a device around the tests.
fn within<'a>(folder: &Folder, command: &'a mut Command) -> &'a mut Command {
    softhca();
    command
        .env("TMPDIR", folder.path())
        .env_remove("XDG_RUNTIME_DIR")
        .env_remove("FARREACH_FABRIC")
        .env_remove("FARREACH_SOFTHCA")
        .env_remove("LD_PRELOAD")
        .stdin(Stdio::null())
}

/// Runs a job on a device; nothing of it must be left when oshrun has ended.
#[track_caller]
fn launch(line: &str, words: &[&str]) -> Outcome {
    let folder = Folder::new(&format!("softhca-{}", words.len() + line.len()));
    let mut command = oshrun(&format!("--fabric softhca {line}"));
    let outcome = Running::start(within(&folder, command.args(words))).finish();
    assert_eq!(folder.count(), 0, "{outcome:?}");
    outcome
}

#[test]
fn every_pe_has_the_device() {
    for size in [1, 2, 3, 5] {
        let script = format!("{OPEN} && echo $FARREACH_FABRIC");
        let outcome = launch(&format!("-n {size} --ppn 2 sh -c"), &[&script]);
        assert_eq!(outcome.lines(), vec!["mlx5"; size], "{outcome:?}");
        // softhca ends with the job, and need not be killed.
        assert!(outcome.time < 2 * SECOND, "{outcome:?}");
        assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    }
    // One for all PEs of a job.
    let outcome = launch(
        "-n 3 --ppn 1 PE env:FARREACH_SOFTHCA init exchange finalize",
        &[],
    );
    let lines = outcome.lines();
    assert!(
        lines[0].contains("/softhca-") && lines[0] == lines[2],
        "{outcome:?}"
    );
    assert_eq!(lines[5], "2 of 3 on nodes [0, 1, 2]");
}

#[test]
fn programs_under_valgrind_have_it_too() {
    let outcome = launch("-n 2 valgrind -q --error-exitcode=9 bash -c", &[OPEN]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
}

#[test]
fn preloaded_libraries_stay() {
    let shim = softhca().with_file_name("libsofthca_shim.so");
    // The C library itself: it may be preloaded anywhere.
    for (option, expected) in [("", "libc.so.6"), ("-x LD_PRELOAD=libm.so.6 ", "libm.so.6")] {
        let folder = Folder::new("softhca-preload");
        let line = format!("--fabric softhca {option}PE env:LD_PRELOAD");
        let mut command = oshrun(&line);
        within(&folder, &mut command).env("LD_PRELOAD", "libc.so.6");
        let outcome = Running::start(&mut command).finish();
        let expected = format!("{}:{expected}", shim.display());
        assert_eq!(outcome.lines(), [expected], "{outcome:?}");
    }
}

#[test]
fn options_of_the_address_sanitizer_stay() {
    let own = "verify_asan_link_order=0";
    for (option, expected) in [("", ""), ("-x ASAN_OPTIONS=a=1:b=2 ", ":a=1:b=2")] {
        let outcome = launch(&format!("{option}PE env:ASAN_OPTIONS"), &[]);
        assert_eq!(outcome.lines(), [format!("{own}{expected}")], "{outcome:?}");
    }
}

#[test]
fn the_rest_is_as_without() {
    assert_eq!(launch("-n 3 PE @1,exit:4 sleep:100", &[]).status, 4);
    let outcome = launch("-n 3 PE init barrier @2,abort:7 sleep:60000", &[]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (7, ""));
    launch("-n 3 PE init barrier @1,kill:KILL sleep:60000", &[])
        .assert_one_line(137, &["PE 1 (pid ", "signal 9"]);
    launch("--timeout 0.3 -n 2 sleep 60", &[]).assert_one_line(124, &["longer than"]);
    launch("-n 2 no-such-program", &[]).assert_one_line(127, &["no-such-program"]);
    let outcome = launch("-n 2 -l PE @1,say:one complain:two", &[]);
    assert_eq!(outcome.stdout, "[1] one\n");

    // A terminal: PE 0 reads from it and writes to it.
    let folder = Folder::new("softhca-terminal");
    let line = format!(
        "{} --fabric softhca -n 2 sh -c '[ $PMI_RANK = 1 ] || {{ read a; test -t 1 && echo $a $a; }}'",
        env!("CARGO_BIN_EXE_oshrun")
    );
    let mut command = Command::new("sh");
    command.args(["-c", "echo word | script -qec \"$0\" /dev/null", &line]);
    let outcome = Running::start(within(&folder, &mut command)).finish();
    assert!(outcome.stdout.contains("word word"), "{outcome:?}");
    assert_eq!(folder.count(), 0);
}

#[test]
fn a_device_around_the_job_is_used() {
    let folder = Folder::new("softhca-around");
    let mut command = Command::new(softhca());
    let script = "echo $FARREACH_SOFTHCA; \"$0\" --fabric softhca -n 2 \"$1\" env:FARREACH_SOFTHCA env:FARREACH_FABRIC; ls \"$TMPDIR\" | wc -l";
    command.args([
        "run",
        "--",
        "sh",
        "-c",
        script,
        env!("CARGO_BIN_EXE_oshrun"),
    ]);
    let outcome = Running::start(within(&folder, command.arg(pe()))).finish();
    let lines = outcome.lines();
    assert!(lines[0].contains("/softhca-"), "{outcome:?}");
    assert_eq!(lines[1..3], [lines[0]; 2]);
    assert_eq!(lines[3..], ["1", "mlx5", "mlx5"]);

    // One that is gone is not.
    let mut command = oshrun("--fabric softhca -n 2 sh -c");
    within(&folder, command.arg(OPEN)).env("FARREACH_SOFTHCA", folder.path().join("softhca-1-0"));
    let outcome = Running::start(&mut command).finish();
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    assert_eq!(folder.count(), 0);
}

#[test]
fn a_device_around_the_job_that_is_killed_ends_it() {
    let folder = Folder::new("softhca-around-killed");
    let mut command = Command::new(softhca());
    command.args(["run", "--", env!("CARGO_BIN_EXE_oshrun"), "-n", "2"]);
    command.arg(pe()).args(["pid", "sleep:60000"]);
    let mut job = Running::start(within(&folder, &mut command));
    let pids = job.numbers(2);
    signal("KILL", job.pid());
    assert!(wait_at_most(2 * SECOND, || !pids
        .iter()
        .any(|&pid| runs(pid))));
    let outcome = job.finish();
    assert!(
        outcome.stderr.contains("the job's device, has ended"),
        "{outcome:?}"
    );
}

/// A job on a device, with the numbers of all its processes.
struct Job {
    running: Running,
    folder: Folder,
    softhca: u32,
    holder: u32,
    runner: u32,
    all: Vec<u32>,
}

impl Job {
    /// Starts PEs that are shells with a child each, so that the kernel alone would not end them.
    fn start(name: &str, size: usize) -> Self {
        let folder = Folder::new(&format!("softhca-{name}-{size}"));
        let script = "echo $$; \"$0\" pid sleep:60000; true";
        let mut command = oshrun(&format!("--fabric softhca -n {size} --ppn 2 sh -c"));
        command.arg(script).arg(pe()).process_group(0);
        let mut running = Running::start(within(&folder, &mut command));
        let mut all = running.numbers(2 * size);
        let is_softhca = |pid: &u32| {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "softhca\n")
        };
        let (softhca, runner): (Vec<_>, Vec<_>) =
            children(running.pid()).into_iter().partition(is_softhca);
        let (softhca, runner) = (softhca[0], runner[0]);
        let holder = children(softhca)[0];
        all.extend([softhca, holder, runner, running.pid()]);
        Job {
            running,
            folder,
            softhca,
            holder,
            runner,
            all,
        }
    }

    /// Waits for the end of oshrun, then for that of everything, and for an empty folder.
    #[track_caller]
    fn finish(self) -> Outcome {
        let outcome = self.running.finish();
        let all = self.all;
        assert!(
            wait_at_most(2 * SECOND, || !all.iter().any(|&pid| runs(pid))),
            "{all:?}"
        );
        assert!(wait_at_most(SECOND, || self.folder.count() == 0));
        assert!(outcome.time < 3 * SECOND, "{outcome:?}");
        outcome
    }
}

#[test]
fn signals_end_the_device_after_the_job() {
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
        let job = Job::start(name, 2);
        signal(name, job.running.pid());
        let line = format!("signal {number} (SIG{name}) came");
        job.finish().assert_one_line(128 + number, &[&line]);
    }
}

#[test]
fn what_a_terminal_sends_leaves_the_device_to_pes_that_clean_up() {
    let folder = Folder::new("softhca-clean-up");
    let script = format!(
        "trap '' INT; trap 'sleep 0.1; {OPEN} && echo cleaned; exit 0' TERM; echo 1; while :; do sleep 0.01; done"
    );
    let mut command = oshrun("--fabric softhca -n 2 sh -c");
    let mut job = Running::start(within(&folder, command.arg(script)).process_group(0));
    assert_eq!(job.numbers(2), [1, 1]);
    let group = format!("-{}", job.pid());
    let sent = Command::new("kill").args(["-INT", "--", &group]).status();
    assert!(sent.unwrap().success());
    let outcome = job.finish();
    assert_eq!(
        (outcome.status, outcome.stdout.as_str()),
        (130, "cleaned\ncleaned\n"),
        "{outcome:?}"
    );
    assert_eq!(folder.count(), 0);
}

#[test]
fn a_device_that_ends_ends_the_job() {
    for size in [1, 2, 3, 5] {
        for end in ["KILL", "TERM"] {
            let job = Job::start(end, size);
            let line = format!("softhca (pid {}), the job's device, has ended", job.softhca);
            signal(end, job.softhca);
            job.finish().assert_one_line(1, &[&line]);
        }
    }
    let job = Job::start("holder", 2);
    signal("KILL", job.holder);
    job.finish()
        .assert_one_line(1, &["the job's device, has ended"]);
}

#[test]
fn whatever_is_killed_nothing_is_left() {
    for size in [1, 2, 3, 5] {
        let job = Job::start("runner", size);
        signal("KILL", job.runner);
        job.finish()
            .assert_one_line(137, &["was killed by signal 9"]);
        let job = Job::start("guard", size);
        signal("KILL", job.running.pid());
        let outcome = job.finish();
        assert_eq!((outcome.status, outcome.stderr.as_str()), (137, ""));
    }
    // Two at a time.
    let job = Job::start("guard-softhca", 2);
    kill(&[job.running.pid(), job.softhca]);
    assert_eq!(job.finish().status, 137);
    let job = Job::start("runner-softhca", 2);
    kill(&[job.runner, job.softhca]);
    assert_eq!(job.finish().status, 137);
    let job = Job::start("guard-runner", 2);
    kill(&[job.running.pid(), job.runner]);
    // Then nobody is there to end the processes that the PEs have started.
    kill(&job.all[..4]);
    assert_eq!(job.finish().status, 137);
}

/// Kills processes at once; that one of them has ended is no matter.
fn kill(pids: &[u32]) {
    let mut kill = Command::new("kill");
    kill.arg("-KILL").args(pids.iter().map(u32::to_string));
    kill.stderr(Stdio::null()).status().expect("a command kill");
}

/// Starts a job on a device from an installation, to be kept until its end, in which softhca is this script, or the real
/// one without its shim.
fn start_with(name: &str, script: Option<&str>) -> (Folder, Running) {
    let folder = Folder::new(&format!("softhca-{name}"));
    // By a process of its own: one that this process starts at the same time would keep a file open that it writes, and
    // such a file cannot be executed.
    let copy = "cd \"$1\" && cp \"$2\" oshrun && case $4 in '') cp \"$3\" softhca ;; *) printf '#!/bin/sh\\n%s\\n' \"$4\" >softhca && chmod +x softhca ;; esac";
    let mut command = Command::new("sh");
    command.args(["-c", copy, "sh"]).arg(folder.path());
    command.arg(env!("CARGO_BIN_EXE_oshrun")).arg(softhca());
    run(command.arg(script.unwrap_or("")));
    let running = start_from(&folder);
    (folder, running)
}

fn start_from(folder: &Folder) -> Running {
    let mut command = Command::new(folder.path().join("oshrun"));
    command.args(["--fabric", "softhca", "-n", "2", "echo", "ran"]);
    Running::start(within(folder, &mut command))
}

#[test]
fn a_device_that_does_not_start_is_explained() {
    let (folder, job) = start_with("broken", Some("echo why >&2; exit 3"));
    let outcome = job.finish();
    assert_eq!((outcome.status, outcome.stderr.as_str()), (3, "why\n"));
    fs::remove_file(folder.path().join("softhca")).unwrap();
    let outcome = start_from(&folder).finish();
    outcome.assert_one_line(1, &["softhca is missing", "--fabric softhca"]);
    assert_eq!(outcome.stdout, "");

    let (_folder, job) = start_with("killed", Some("kill -9 $$"));
    job.finish()
        .assert_one_line(137, &["softhca was killed by signal 9"]);
    let (_folder, job) = start_with("shim", None);
    let outcome = job.finish();
    let line = "libsofthca_shim.so is neither beside";
    assert!(
        outcome.status == 1 && outcome.stderr.contains(line),
        "{outcome:?}"
    );
    assert_eq!(outcome.stderr.lines().count(), 1);
}

#[test]
fn a_signal_ends_the_wait_for_the_device() {
    let (_folder, job) = start_with("slow", Some("exec sleep 60"));
    let mut sleeper = Vec::new();
    assert!(wait_at_most(SECOND, || {
        sleeper = children(job.pid());
        !sleeper.is_empty()
    }));
    signal("INT", job.pid());
    let outcome = job.finish();
    outcome.assert_one_line(130, &["SIGINT", "while the device was being set up"]);
    assert_eq!(outcome.stdout, "");
    assert!(
        outcome.time < 5 * SECOND && !runs(sleeper[0]),
        "{outcome:?}"
    );
}
