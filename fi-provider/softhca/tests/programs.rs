//! Programs under `softhca run`: those of libibverbs and perftest, unmodified, a C program of our own, and small shell scripts.
//!
//! They need Debian's packages `ibverbs-providers`, `ibverbs-utils`, `perftest` and `libibverbs-dev`, and say so when those are missing.

use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// After this long a program is taken to hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// The command, with the shim built beside it.
fn softhca() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_softhca"));
        // target/PROFILE/softhca
        let profile = program.parent().expect("a directory");
        let target = profile.parent().expect("a target directory");
        let name = profile.file_name().and_then(|name| name.to_str());
        let name = match name {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let status = Command::new(env!("CARGO"))
            .args([
                "build",
                "--quiet",
                "--package",
                "softhca-shim",
                "--profile",
                name,
            ])
            .arg("--target-dir")
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo runs");
        assert!(status.success(), "the shim does not build");
        program
    })
}

/// Fails with the package's name when a program of the system is missing.
fn need(program: &str) {
    let found = std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
    });
    assert!(
        found,
        "{program} is missing: apt-get install ibverbs-providers ibverbs-utils perftest libibverbs-dev"
    );
}

/// A directory of a test's own, with a short name, as the device asks for.
fn scratch(name: &str) -> PathBuf {
    let scratch = Path::new("/tmp").join(format!("softhca-test-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("a scratch directory");
    scratch
}

/// Runs a command line under the device, in a directory for temporary files of its own, which must be empty in the end.
fn run(name: &str, arguments: &[&str]) -> Output {
    let scratch = scratch(name);
    let child = Command::new(softhca())
        .args(["run", "--trace", "--"])
        .args(arguments)
        .env("TMPDIR", &scratch)
        .env_remove("XDG_RUNTIME_DIR")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("softhca starts");
    let output = finish(child);
    let left: Vec<_> = std::fs::read_dir(&scratch)
        .expect("the scratch directory")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    std::fs::remove_dir(&scratch).expect("an empty directory");
    output
}

/// Waits for a child, and ends it when it hangs.
fn finish(child: std::process::Child) -> Output {
    let id = child.id();
    let (send, receive) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if receive.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            // The whole group: softhca, its program, and what that has started.
            let group = format!("-{id}");
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            return true;
        }
        false
    });
    let output = child.wait_with_output().expect("the program ends");
    drop(send);
    let hung = watch.join().expect("the watch ends");
    assert!(!hung, "hung: {}", text(&output));
    output
}

fn text(output: &Output) -> String {
    format!(
        "{}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Runs a command line that must succeed; gives what it printed.
fn succeed(name: &str, arguments: &[&str]) -> String {
    let output = run(name, arguments);
    assert!(output.status.success(), "{}", text(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A TCP port that is free now, for programs that meet over TCP.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// Starts a server in the background and a client until it finds the server; both must succeed.
fn server_and_client(name: &str, server: &str, client: &str) -> String {
    let script = format!(
        "{server} > /dev/null & server=$!
        for attempt in 1 2 3 4 5 6 7 8 9 10; do
            sleep 0.3
            if out=$({client} 2>&1); then
                printf '%s\\n' \"$out\"
                wait $server || {{ echo \"the server failed\" >&2; exit 1; }}
                exit 0
            fi
            kill -0 $server 2>/dev/null || break
            case $out in *\"Couldn't connect\"*) ;; *) break ;; esac
        done
        printf '%s\\n' \"$out\" >&2
        kill $server 2>/dev/null
        exit 1"
    );
    succeed(name, &["sh", "-c", &script])
}

fn ping_pong(name: &str, options: &str) {
    need("ibv_rc_pingpong");
    let port = free_port();
    let program = format!("ibv_rc_pingpong -p {port} {options}");
    let printed = server_and_client(name, &program, &format!("{program} localhost"));
    assert!(printed.contains("8192000 bytes in"), "{printed}");
    assert!(printed.contains("1000 iters in"), "{printed}");
}

#[test]
fn ibv_devices_lists_the_device() {
    need("ibv_devices");
    let printed = succeed("devices", &["ibv_devices"]);
    assert!(printed.contains("mlx5_0"), "{printed}");
    assert!(printed.contains("0250f1000050ca01"), "{printed}");
}

#[test]
fn ibv_devinfo_tells_everything() {
    need("ibv_devinfo");
    let printed = succeed("devinfo", &["ibv_devinfo", "-v"]);
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
    ping_pong("plain", "");
}

#[test]
fn ping_pong_with_checked_data() {
    ping_pong("checked", "-c");
}

#[test]
fn ping_pong_by_events() {
    ping_pong("events", "-e");
}

#[test]
fn ping_pong_by_events_with_checked_data() {
    ping_pong("both", "-c -e");
}

/// Runs a program of perftest, which measures (without meaning here) and counts what it got.
fn perftest(program: &str, options: &str) {
    need(program);
    for queue_pairs in [1, 4] {
        let port = free_port();
        let line = format!("{program} -c RC -n 200 -q {queue_pairs} -p {port} {options}");
        let name = format!("{program}-{queue_pairs}{}", options.replace(' ', ""));
        let printed = server_and_client(&name, &line, &format!("{line} localhost"));
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
    perftest("ib_write_bw", "");
    perftest("ib_write_bw", "-s 64 -I 64");
}

#[test]
fn perftest_reads() {
    perftest("ib_read_bw", "");
}

#[test]
fn perftest_sends() {
    perftest("ib_send_bw", "");
    perftest("ib_send_bw", "-e");
}

#[test]
fn perftest_atomics() {
    perftest("ib_atomic_bw", "-A FETCH_AND_ADD");
    perftest("ib_atomic_bw", "-A CMP_AND_SWAP");
}

#[test]
fn perftest_write_latency() {
    need("ib_write_lat");
    let line = format!("ib_write_lat -c RC -n 200 -p {}", free_port());
    let printed = server_and_client("ib_write_lat", &line, &format!("{line} localhost"));
    assert!(printed.contains("t_typical"), "{printed}");
}

/// The cases of `c/verbs.c`, which verify their data.
fn verbs(case: &str) {
    let name = format!("verbs-{case}");
    let program = verbs_program().to_str().expect("a plain path");
    succeed(&name, &[program, case]);
}

/// The program of `c/verbs.c`, built.
fn verbs_program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let directory = softhca()
            .parent()
            .expect("a directory")
            .join("softhca-tests");
        std::fs::create_dir_all(&directory).expect("a directory for the program");
        let program = directory.join("verbs");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/verbs.c");
        let output = Command::new("cc")
            .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&program)
            .arg(source)
            .args(["-libverbs", "-lmlx5", "-ldl"])
            .output()
            .expect("cc runs");
        assert!(
            output.status.success(),
            "verbs.c does not build (it needs cc and libibverbs-dev): {}",
            text(&output)
        );
        program
    })
}

#[test]
fn writes_reads_and_atomics_are_done_when_the_kick_returns() {
    verbs("rdma");
}

#[test]
fn wrong_keys_and_ranges_are_access_errors() {
    verbs("rights");
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
fn dynamic_connections_work() {
    verbs("dc");
}

#[test]
fn masked_atomics_are_told_of_and_done() {
    verbs("masked");
}

/// The accounts of a context with 16 registers (4 of low latency), and with other counts, in both regimes.
#[test]
fn doorbell_registers_are_shared_as_on_hardware() {
    let program = verbs_program();
    let program = program.to_str().expect("a plain path");
    for (options, total, low_latency, domains, expected) in [
        ("", "16", "4", "plain", ["40", "16", "8"]),
        ("", "16", "15", "plain", ["40", "18", "9"]),
        ("", "32", "8", "plain", ["40", "32", "16"]),
        ("", "16", "4", "domains", ["20", "20", "10"]),
        ("--legacy-uars", "16", "4", "plain", ["40", "15", "8"]),
        ("--legacy-uars", "16", "15", "plain", ["40", "16", "8"]),
        ("--legacy-uars", "32", "8", "plain", ["40", "31", "16"]),
        ("--legacy-uars", "16", "4", "domains", ["20", "20", "10"]),
    ] {
        let output = Command::new(softhca())
            .arg("run")
            .args(options.split_whitespace())
            .args([program, "registers", expected[0], domains])
            .args(&expected[1..])
            .env("MLX5_TOTAL_UUARS", total)
            .env("MLX5_NUM_LOW_LAT_UUARS", low_latency)
            .output()
            .expect("softhca starts");
        let case = format!("{options} {total}/{low_latency} {domains}");
        assert!(output.status.success(), "{case}: {}", text(&output));
    }
}

#[test]
fn the_status_of_the_program_is_handed_on() {
    let output = run("status", &["sh", "-c", "exit 42"]);
    assert_eq!(output.status.code(), Some(42), "{}", text(&output));
    let output = run("signal", &["sh", "-c", "kill -KILL $$"]);
    assert_eq!(output.status.code(), Some(137), "{}", text(&output));
    let output = run("missing", &["/nowhere/at/all"]);
    assert_eq!(output.status.code(), Some(127), "{}", text(&output));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("softhca: /nowhere/at/all: "), "{said}");
}

#[test]
fn the_program_starts_with_no_signal_blocked() {
    let blocked = succeed("mask", &["grep", "SigBlk", "/proc/self/status"]);
    assert_eq!(blocked.trim(), "SigBlk:\t0000000000000000");
}

#[test]
fn signals_reach_the_program() {
    let script = "trap 'echo ended; exit 3' TERM; kill -TERM $PPID; while :; do sleep 0.1; done";
    let output = run("term", &["sh", "-c", script]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ended\n");
}

#[test]
fn a_killed_run_is_swept_by_the_next() {
    let scratch = scratch("swept");
    let start = |program: &[&str]| {
        Command::new(softhca())
            .arg("run")
            .args(program)
            .env("TMPDIR", &scratch)
            .env_remove("XDG_RUNTIME_DIR")
            .stdin(Stdio::null())
            .spawn()
            .expect("softhca starts")
    };
    let count = || std::fs::read_dir(&scratch).expect("scratch").count();
    let mut killed = start(&[
        "sh",
        "-c",
        "while kill -0 $PPID 2>/dev/null; do sleep 0.1; done",
    ]);
    let begin = Instant::now();
    while count() == 0 && begin.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
    killed.kill().expect("kill");
    killed.wait().expect("its end");
    assert_eq!(count(), 1);
    let status = start(&["true"]).wait().expect("its end");
    assert!(status.success());
    assert_eq!(count(), 0);
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
