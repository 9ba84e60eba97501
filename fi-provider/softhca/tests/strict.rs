//! Programs under `softhca run --strict`: those of libibverbs and perftest are found to be right, C programs with a data path of their own
//! are found out where they leave something out.
//!
//! They need an x86-64 processor and Debian's packages `ibverbs-providers`, `ibverbs-utils`, `perftest` and `libibverbs-dev`.
#![cfg(target_arch = "x86_64")]

mod support;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use support::{softhca, text};

/// Exit status of `softhca run` when there was a violation.
const VIOLATIONS: i32 = 99;

/// Builds a C program of `tests/c`.
fn build(name: &str) -> PathBuf {
    let directory = softhca()
        .parent()
        .expect("a directory")
        .join("softhca-tests/strict");
    std::fs::create_dir_all(&directory).expect("a directory for the program");
    let program = directory.join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/c")
        .join(name)
        .with_extension("c");
    let output = Command::new("cc")
        .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"])
        .args(["-pthread", "-o"])
        .args([&program, &source])
        .args(["-libverbs", "-lmlx5", "-ldl"])
        .output()
        .expect("cc runs");
    assert!(
        output.status.success(),
        "{name}.c does not build (it needs cc and libibverbs-dev): {}",
        text(&output)
    );
    program
}

/// Runs a command line in strict mode, for two minutes at most.
fn run(options: &str, arguments: &[&str]) -> Output {
    Command::new("timeout")
        .args(["--kill-after=5", "120"])
        .arg(softhca())
        .args(["run", "--strict", "--trace"])
        .args(options.split_whitespace())
        .arg("--")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("softhca starts")
}

/// Runs a program that makes no violation.
fn passes(options: &str, arguments: &[&str]) -> String {
    let output = run(options, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("softhca:"), "{arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the program of `c/strict.c`.
fn own_data_path() -> &'static str {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let program = BUILT.get_or_init(|| build("strict"));
    program.to_str().expect("a plain path")
}

/// Runs a case of it that makes no violation.
fn right(case: &str) {
    passes("", &[own_data_path(), case]);
}

/// Runs a case of it that ends well and leaves something out: the device tells of this, and nothing
/// else.
fn found_out(case: &str, expected: &[&str]) {
    let output = run("", &[own_data_path(), case]);
    assert_eq!(
        output.status.code(),
        Some(VIOLATIONS),
        "{case}: {}",
        text(&output)
    );
    let said = String::from_utf8_lossy(&output.stderr);
    let mut lines: Vec<&str> = said.lines().collect();
    let last = lines.pop().unwrap_or_default();
    let count = format!(
        "softhca: {} violations in strict mode (the program's own exit status was 0)",
        lines.len()
    );
    assert_eq!(last, count, "{case}: {said}");
    assert_eq!(lines.len(), expected.len(), "{case}: {said}");
    for (line, expected) in lines.iter().zip(expected) {
        let told = line.starts_with("softhca: process ") && line.ends_with(expected);
        assert!(told, "{case}: {line}\nand not: {expected}");
    }
}

#[test]
fn doorbells_and_copies_by_all_means_are_right() {
    right("plain");
}

#[test]
fn threads_ring_registers_of_one_page_at_once() {
    right("threads");
}

#[test]
fn a_signal_handler_rings_in_the_middle_of_a_copy() {
    right("interrupted");
}

#[test]
fn the_programs_own_handler_of_faults_goes_on_working() {
    right("handlers");
}

#[test]
fn children_and_the_programs_they_start_are_on_their_own() {
    right("children");
}

#[test]
fn who_never_rings_is_never_served() {
    let never = ": the doorbell record says 1, and only 0 blocks were rung";
    found_out("never", &[never]);
    found_out("abandoned", &[never]);
}

#[test]
fn ringing_before_the_record_is_found_out() {
    found_out(
        "early",
        &[" rang entry 0 before its doorbell record said so (0)"],
    );
}

#[test]
fn ringing_before_the_entry_is_found_out() {
    let late = "byte 38 of entry 0 was written after the entry had been rung";
    found_out("incomplete", &[late]);
    let late = "byte 3 of entry 0 was written after the entry had been rung";
    let differs = "the register's first 8 bytes are not those of the entry in the ring";
    found_out("unwritten", &[differs, late]);
}

#[test]
fn a_copy_that_is_not_the_entry_is_found_out() {
    found_out(
        "different",
        &[": BlueFlame byte 53 differs from the entry in the ring"],
    );
    found_out(
        "shortened",
        &[": a BlueFlame copy ended after 32 of 64 bytes"],
    );
}

#[test]
fn ringing_twice_is_found_out() {
    found_out(
        "twice",
        &[" rang up to block 1 after it had rung up to block 1"],
    );
}

#[test]
fn ringing_elsewhere_is_found_out() {
    let page = " was rung on doorbell page 2, and its own is 1";
    let never = ": the doorbell record says 1, and only 0 blocks were rung";
    found_out("elsewhere", &[page, never]);
    found_out(
        "foreign",
        &["a write to a doorbell page of another process's context"],
    );
}

#[test]
fn arming_without_the_record_is_found_out() {
    found_out(
        "armed",
        &["was armed with 0x10000000, and its doorbell record has 0xffffffff"],
    );
}

#[test]
fn two_threads_in_one_buffer_are_found_out() {
    let both = "doorbell page 1: two threads wrote to the buffer at 0x800 at the same time";
    let again = " rang up to block 1 after it had rung up to block 1";
    found_out("interleaved", &[both, again]);
}

#[test]
fn an_instruction_that_is_not_known_ends_the_program_and_is_named() {
    let output = run("", &[own_data_path(), "exchanged"]);
    assert_eq!(output.status.code(), Some(134), "{}", text(&output));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("strict mode does not know this instruction: at 0x"),
        "{said}"
    );
    assert!(said.contains("bytes 48 87 "), "{said}");
}

#[test]
fn stores_are_done_as_the_processor_does_them() {
    let program = build("stores");
    let output = run("", &[program.to_str().expect("a plain path")]);
    // The stores ring nothing that is there.
    assert_eq!(output.status.code(), Some(VIOLATIONS), "{}", text(&output));
    let printed = String::from_utf8_lossy(&output.stdout);
    let mut words = printed.split_whitespace();
    let forms: u32 = words.next().and_then(|n| n.parse().ok()).expect("a number");
    assert!(forms > 25, "{printed}");
    assert!(printed.ends_with(" forms, 0 wrong\n"), "{}", text(&output));
}

#[test]
fn what_libmlx5_posts_is_right() {
    let [program, operations] = ["verbs", "each"].map(build);
    let program = program.to_str().expect("a plain path");
    let operations = operations.to_str().expect("a plain path");
    for options in ["", "--legacy-uars"] {
        for case in ["rdma", "stopped", "events"] {
            passes(options, &[program, case]);
        }
        for case in ["write", "masked_swap_8", "masked_add_4"] {
            passes(options, &[operations, "rc", case]);
            passes(options, &[operations, "dc", case]);
        }
    }
}

/// Starts a server in the background and a client until it finds the server; both must succeed.
fn server_and_client(line: &str) -> String {
    let program = line.split(' ').next().expect("a name");
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|at| at.join(program).is_file()));
    assert!(
        found,
        "{program} is missing: apt-get install ibverbs-utils perftest"
    );
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let line = format!("{line} -p {port}");
    let script = format!(
        "{line} > /dev/null & server=$!
        for attempt in 1 2 3 4 5 6 7 8 9 10; do
            sleep 0.3
            if out=$({line} localhost 2>&1); then
                printf '%s\\n' \"$out\"
                wait $server
                exit
            fi
            kill -0 $server 2>/dev/null || break
            case $out in *\"Couldn't connect\"*) ;; *) break ;; esac
        done
        printf '%s\\n' \"$out\" >&2
        kill $server 2>/dev/null
        exit 1"
    );
    passes("", &["sh", "-c", &script])
}

#[test]
fn ping_pong_is_right() {
    for options in ["", " -c", " -e", " -c -e"] {
        let printed = server_and_client(&format!("ibv_rc_pingpong{options}"));
        assert!(printed.contains("1000 iters in"), "{printed}");
    }
}

#[test]
fn bandwidths_are_right() {
    for options in [
        "ib_write_bw",
        "ib_write_bw -s 64 -I 64",
        "ib_read_bw",
        "ib_send_bw -e",
        "ib_atomic_bw",
    ] {
        for queue_pairs in [1, 4] {
            let printed = server_and_client(&format!("{options} -c RC -n 200 -q {queue_pairs}"));
            let expected = (200 * queue_pairs).to_string();
            let counted = printed
                .lines()
                .any(|line| line.split_whitespace().nth(1) == Some(&expected));
            assert!(counted, "{options}: no {expected} iterations in\n{printed}");
        }
    }
}

#[test]
fn latencies_are_right() {
    for options in ["", " -s 64 -I 64", " -s 200 -I 200"] {
        let printed = server_and_client(&format!("ib_write_lat -c RC -n 200{options}"));
        assert!(printed.contains("t_typical"), "{printed}");
    }
}

#[test]
fn memory_that_is_not_what_was_registered() {
    let program = build("unmapped");
    let program = program.to_str().expect("a plain path");
    for how in ["nothing", "fork"] {
        assert_eq!(passes("", &[program, how]), "success\n", "{how}");
    }
    for how in ["fixed", "munmap", "moved", "emptied"] {
        assert_eq!(
            passes("", &[program, how]),
            "local protection error\n",
            "{how}"
        );
    }
}
