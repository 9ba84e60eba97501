//! Programs under `softhca run`: those of libibverbs and perftest, unmodified, a C program of our
//! own, and small shell scripts.
//!
//! They need Debian's packages `ibverbs-providers`, `ibverbs-utils`, `perftest` and
//! `libibverbs-dev`, and say so when those are missing.

mod support;

use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use support::{UNTIMED, Under, free_port, need, scratch, softhca, text};

const PLAIN: Under<'static> = Under {
    options: &[],
    environment: &[],
};

fn ping_pong(service: &str, options: &str) {
    let program = format!("ibv_{service}_pingpong");
    need(&program);
    let port = free_port();
    let program = format!("{program} -p {port} {options}");
    let printed = PLAIN.server_and_client(&program, &format!("{program} localhost"));
    assert!(printed.contains("8192000 bytes in"), "{printed}");
    assert!(printed.contains("1000 iters in"), "{printed}");
}

#[test]
fn datagrams_go_there_and_back() {
    need("ibv_ud_pingpong");
    for options in ["", "-s 4096 -n 300", "-e"] {
        let port = free_port();
        let program = format!("ibv_ud_pingpong -p {port} {options}");
        let printed = PLAIN.server_and_client(&program, &format!("{program} localhost"));
        let iterations = if options.contains("-n") { 300 } else { 1000 };
        let expected = format!("{iterations} iters in");
        assert!(printed.contains(&expected), "{printed}");
    }
}

#[test]
fn ibv_devices_lists_the_device() {
    need("ibv_devices");
    let printed = PLAIN.succeed(&["ibv_devices"]);
    assert!(printed.contains("mlx5_0"), "{printed}");
    assert!(printed.contains("0250f1000050ca01"), "{printed}");
}

/// A script goes from directory to directory, as `ibstatus` does.
#[test]
fn directories_are_entered() {
    let script = "cd /sys/class/infiniband; echo *; cd mlx5_0/ports/1; cat state lid";
    let printed = PLAIN.succeed(&["sh", "-euc", script]);
    assert_eq!(printed, "mlx5_0\n4: ACTIVE\n0x1\n");
}

#[test]
fn ibv_devinfo_tells_everything() {
    need("ibv_devinfo");
    let printed = PLAIN.succeed(&["ibv_devinfo", "-v"]);
    for expected in [
        "hca_id:\tmlx5_0",
        "vendor_part_id:\t\t\t4123",
        "fw_ver:\t\t\t\t20.35.2000",
        "ATOMIC_HCA (1)",
        "PORT_ACTIVE (4)",
        "port_lid:\t\t1",
        "link_layer:\t\tInfiniBand",
        "GID[  0]:\t\tfe80:0000:0000:0000:0250:f100:0050:ca01",
    ] {
        assert!(printed.contains(expected), "no {expected:?} in\n{printed}");
    }
}

#[test]
fn ping_pong_by_polling() {
    ping_pong("rc", "");
}

#[test]
fn ping_pong_with_checked_data() {
    ping_pong("rc", "-c");
}

#[test]
fn ping_pong_by_events() {
    ping_pong("rc", "-e");
}

#[test]
fn ping_pong_by_events_with_checked_data() {
    ping_pong("rc", "-c -e");
}

#[test]
fn ping_pong_without_acknowledgements() {
    for options in ["", "-e"] {
        ping_pong("uc", options);
    }
}

/// Runs a program of perftest, which measures (without meaning here) and counts its completions.
fn perftest(program: &str, service: &str, options: &str) {
    need(program);
    for queue_pairs in [1, 4] {
        let port = free_port();
        let line = format!("{program} -c {service} -n 200 -q {queue_pairs} -p {port} {options}");
        let printed = PLAIN.server_and_client(&line, &format!("{line} localhost"));
        let iterations = (200 * queue_pairs).to_string();
        let counted = printed
            .lines()
            .any(|line| line.split_whitespace().nth(1) == Some(&iterations));
        assert!(
            counted,
            "no line with {iterations} iterations in\n{printed}"
        );
    }
}

#[test]
fn perftest_writes() {
    perftest("ib_write_bw", "RC", "");
    perftest("ib_write_bw", "RC", "-s 64 -I 64");
}

#[test]
fn perftest_reads() {
    perftest("ib_read_bw", "RC", "");
}

#[test]
fn perftest_sends() {
    perftest("ib_send_bw", "RC", "");
    perftest("ib_send_bw", "RC", "-e");
}

#[test]
fn perftest_without_acknowledgements() {
    perftest("ib_write_bw", "UC", "");
    perftest("ib_send_bw", "UC", "-s 64 -I 64");
}

#[test]
fn perftest_atomics() {
    perftest("ib_atomic_bw", "RC", "-A FETCH_AND_ADD");
    perftest("ib_atomic_bw", "RC", "-A CMP_AND_SWAP");
}

#[test]
fn programs_that_cannot_tell_the_time_start_again() {
    let scratch = scratch();
    let flag = scratch.join("has-started").display().to_string();
    let first = format!("touch {flag}; echo {UNTIMED}; false");
    let client = format!("sh -c 'test -e {flag} && echo now || {{ {first}; }}'");
    let printed = PLAIN.server_and_client("sleep 1", &client);
    assert_eq!(printed, "now\n");
    std::fs::remove_dir_all(scratch).expect("the directory is there");
}

#[test]
fn perftest_write_latency() {
    need("ib_write_lat");
    let line = format!("ib_write_lat -c RC -n 200 -p {}", free_port());
    let printed = PLAIN.server_and_client(&line, &format!("{line} localhost"));
    assert!(printed.contains("t_typical"), "{printed}");
}

/// Runs a case of `c/verbs.c`, which verifies its data.
fn verbs(case: &str) {
    PLAIN.succeed(&[&support::program("verbs", &["ibverbs", "mlx5"]), case]);
}

#[test]
fn datagrams_arrive_or_are_lost() {
    verbs("datagrams");
}

#[test]
fn writes_reads_and_atomics_are_done_when_the_kick_returns() {
    verbs("rdma");
}

#[test]
fn a_device_that_refuses_kicks_acts_by_itself() {
    let unasked = Under {
        options: &["--no-hook"],
        ..PLAIN
    };
    unasked.succeed(&[&support::program("verbs", &["ibverbs", "mlx5"]), "unasked"]);
}

#[test]
fn a_device_that_waits_for_kicks_seldom_acts_without() {
    let kicked = Under {
        options: &["--on-kicks"],
        ..PLAIN
    };
    kicked.succeed(&[&support::program("verbs", &["ibverbs", "mlx5"]), "kicked"]);
}

#[test]
fn a_stopped_process_receives_and_a_killed_one_does_not() {
    verbs("stopped");
}

#[test]
fn events_are_told_counted_and_taken_back() {
    verbs("events");
}

#[test]
fn the_status_of_the_program_is_handed_on() {
    let output = PLAIN.run(&["sh", "-c", "exit 42"]);
    assert_eq!(output.status.code(), Some(42), "{}", text(&output));
    let output = PLAIN.run(&["sh", "-c", "kill -KILL $$"]);
    assert_eq!(output.status.code(), Some(137), "{}", text(&output));
    let output = PLAIN.run(&["/nowhere/at/all"]);
    assert_eq!(output.status.code(), Some(127), "{}", text(&output));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("softhca: /nowhere/at/all: "), "{said}");
}

#[test]
fn wrong_words_are_named_with_their_option() {
    for (words, status, part) in [
        (
            &["run", "--queue-pairs", "x", "true"][..],
            2,
            "--queue-pairs takes a number from 0 to 4294967295, not \"x\"",
        ),
        (
            &["run", "--max-pinned", "", "true"],
            2,
            "--max-pinned takes a number",
        ),
        (
            &["run", "--delay-seed", "-1", "true"],
            2,
            "--delay-seed takes a number",
        ),
        (
            &["run", "--delays", "pcie=1", "true"],
            2,
            "--delays: \"1\" is no time",
        ),
        (
            &["run", "--transactions", "", "true"],
            2,
            "--transactions takes the name of a file",
        ),
        (&["run", ""], 2, "the program's name is empty"),
        (&["run", "/"], 126, "/ is a folder, not a program"),
        (
            &["run", "/etc/passwd"],
            126,
            "/etc/passwd: Permission denied",
        ),
        (
            &["run", "/nowhere/at/all"],
            127,
            "/nowhere/at/all: No such file",
        ),
    ] {
        let output = Command::new(softhca()).args(words).output();
        let output = output.expect("softhca starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {said}");
        assert!(
            said.starts_with(&format!("softhca: {part}")),
            "{words:?}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{words:?}: {said}");
    }
}

#[test]
fn text_that_cannot_be_written_is_told_of() {
    for words in [&["--help"][..], &["--version"], &["run", "--help"]] {
        let full = std::fs::File::create("/dev/full").expect("/dev/full");
        let output = Command::new(softhca()).args(words).stdout(full).output();
        let output = output.expect("softhca starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
        let part = "softhca: cannot write the output: No space left on device";
        assert!(
            said.starts_with(part) && said.lines().count() == 1,
            "{words:?}: {said}"
        );
    }
    // A reader that goes away wants no more.
    let script = "\"$0\" --help | true; test ${PIPESTATUS[0]} = 0";
    let output = Command::new("bash")
        .args(["-c", script])
        .arg(softhca())
        .output();
    let output = output.expect("bash starts");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        text(&output)
    );
}

#[test]
fn a_directory_that_stays_for_want_of_descriptors_is_removed_by_the_next_run() {
    let folder = support::scratch();
    let run = |limit: &str| {
        let script = format!("{limit} exec \"$0\" run true");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(softhca());
        command.env("TMPDIR", &folder).env_remove("XDG_RUNTIME_DIR");
        command.output().expect("sh starts")
    };
    run("ulimit -n 9;");
    let output = run("");
    assert!(output.status.success(), "{}", text(&output));
    let left = std::fs::read_dir(&folder).expect("the folder").count();
    assert_eq!(left, 0, "{}", folder.display());
    std::fs::remove_dir(&folder).expect("an empty folder");
}

#[test]
fn every_form_of_help_is_answered() {
    let printed = |arguments: &[&str]| {
        let output = Command::new(softhca()).args(arguments).output();
        let output = output.expect("softhca starts");
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let help = printed(&["--help"]);
    assert!(help.contains("--max-pinned"), "{help}");
    for arguments in [
        &["run", "--help"][..],
        &["run", "--strict", "-h"],
        &["account", "--help"],
    ] {
        assert_eq!(printed(arguments), help);
    }
    // Behind the program it is the program's.
    let printed = PLAIN.succeed(&["sh", "-c", "echo $1", "sh", "--help"]);
    assert_eq!(printed, "--help\n");
}

#[test]
fn a_place_that_is_not_there_is_named() {
    for (variable, other) in [("XDG_RUNTIME_DIR", "TMPDIR"), ("TMPDIR", "XDG_RUNTIME_DIR")] {
        // A folder that is there and takes nothing; in one that is not there, for the variable that
        // may name any.
        let place = if variable == "TMPDIR" {
            "/no/such"
        } else {
            "/proc"
        };
        let output = Command::new(softhca())
            .args(["run", "true"])
            .env_remove(other)
            .env(variable, place)
            .output()
            .expect("softhca starts");
        let told = format!(
            "softhca: cannot set up the device: cannot make a directory in {place} ({variable}): "
        );
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.starts_with(&told), "{stderr}");
    }
}

#[test]
fn the_program_starts_with_no_signal_blocked() {
    let blocked = PLAIN.succeed(&["grep", "SigBlk", "/proc/self/status"]);
    assert_eq!(blocked.trim(), "SigBlk:\t0000000000000000");
}

#[test]
fn signals_reach_the_program() {
    let script = "trap 'echo ended; exit 3' TERM; kill -TERM $PPID; while :; do sleep 0.1; done";
    let output = PLAIN.run(&["sh", "-c", script]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ended\n");
}

#[test]
fn a_killed_run_is_swept_by_the_next() {
    let scratch = scratch();
    let start = |program: &[&str]| {
        Command::new(softhca())
            .arg("run")
            .args(program)
            .env("TMPDIR", &scratch)
            .env_remove("XDG_RUNTIME_DIR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("softhca starts")
    };
    let count = || std::fs::read_dir(&scratch).expect("scratch").count();
    // It reads until this end of the pipe is closed, which `wait` does. Before it runs, the process
    // that is to become it has the lock, too.
    let mut killed = start(&["sh", "-c", "echo runs; exec cat"]);
    let mut said = String::new();
    let output = killed.stdout.take().expect("a pipe");
    let read = BufReader::new(output).read_line(&mut said);
    assert_eq!((read.expect("a line"), said.as_str()), (5, "runs\n"));
    killed.kill().expect("kill");
    killed.wait().expect("its end");
    assert_eq!(count(), 1);
    let status = start(&["true"]).wait().expect("its end");
    assert!(status.success());
    assert_eq!(count(), 0);
    std::fs::remove_dir(&scratch).expect("an empty directory");
}

/// Makes a command that runs `softhca` in a PID namespace of its own, with this directory for
/// temporary files. An ordinary user needs a user namespace, too.
fn in_a_namespace(scratch: &Path, script: &str) -> Command {
    need("unshare");
    let root = std::fs::metadata("/proc/self").expect("proc(5)").uid() == 0;
    let mut command = Command::new("unshare");
    command
        .args(if root { &[][..] } else { &["-U", "-r"] })
        .args(["-p", "-f", "--mount-proc", "sh", "-c", script])
        .arg(softhca())
        .env("TMPDIR", scratch)
        .env_remove("XDG_RUNTIME_DIR");
    command
}

#[test]
fn a_live_run_of_another_namespace_keeps_its_directory() {
    let scratch = scratch();
    // In the second namespace no process has the number of the first one's softhca.
    let script = "for n in 1 2 3 4 5 6 7 8 9; do /bin/true; done
        \"$0\" run sh -c 'echo $FARREACH_SOFTHCA; read line; \"$0\" account' \"$0\"; exit $?";
    let mut live = in_a_namespace(&scratch, script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("unshare starts");
    let mut directory = String::new();
    let mut printed = BufReader::new(live.stdout.take().expect("a pipe"));
    printed.read_line(&mut directory).expect("the directory");
    let directory = Path::new(directory.trim_end());
    assert!(directory.is_dir(), "{directory:?}");
    let other = in_a_namespace(&scratch, "exec \"$0\" run true").output();
    let other = other.expect("unshare starts");
    assert!(other.status.success(), "{}", text(&other));
    let kept = directory.join("sys").is_dir();
    // It reads until this end of the pipe is closed.
    drop(live.stdin.take());
    let status = live.wait().expect("its end");
    assert!(kept, "{directory:?} was removed while its owner lived");
    assert!(status.success(), "the device does not answer: {status}");
    std::fs::remove_dir(&scratch).expect("an empty directory");
}

#[test]
fn there_is_no_device_outside() {
    need("ibv_devinfo");
    let shim = softhca().with_file_name("libsofthca_shim.so");
    let output = Command::new("ibv_devinfo")
        .env("LD_PRELOAD", shim)
        .output()
        .expect("ibv_devinfo starts");
    assert!(!text(&output).contains("0250:f100"), "{}", text(&output));
}
