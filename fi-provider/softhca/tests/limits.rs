//! A device that runs out of doorbell pages, queue pairs, or memory that may be locked: how much a process gets, and how the
//! system's libmlx5 tells of it.
//!
//! It needs a C compiler and Debian's packages `libibverbs-dev` and `ibverbs-providers`.

mod support;

use std::os::unix::fs::MetadataExt;
use support::{Under, need, program};

/// Returns how many queue pairs a process gets that asks for 20 with a thread domain and for 20
/// plain ones, in each of two contexts; it gets the same twice.
fn given(options: &[&str]) -> Vec<String> {
    let under = Under {
        options,
        ..Under::default()
    };
    let printed = under.succeed(&[&program("limits", &["mlx5", "ibverbs"]), "20"]);
    let lines: Vec<String> = printed.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 4, "{printed}");
    assert_eq!(
        lines[..2],
        lines[2..],
        "what was given back is there again: {printed}"
    );
    lines[..2].to_vec()
}

#[test]
fn without_limits_there_is_enough() {
    assert_eq!(given(&[]), ["domains 20 0 plain 20 0"; 2]);
}

#[test]
fn pages_of_a_process() {
    // Each context has one from the beginning, two thread domains share one, and then there is none for plain queue pairs.
    let expected = ["domains 12 12 plain 0 12", "domains 0 12 plain 0 12"];
    assert_eq!(given(&["--uar-pages", "8"]), expected);
}

#[test]
fn pages_of_the_legacy_regime() {
    // Each context has 8 from the beginning, on which plain queue pairs always find a place.
    let expected = ["domains 20 0 plain 20 0", "domains 8 28 plain 20 0"];
    assert_eq!(given(&["--legacy-uars", "--uar-pages", "20"]), expected);
}

#[test]
fn queue_pairs_of_a_process() {
    let expected = ["domains 20 0 plain 20 0", "domains 10 12 plain 0 12"];
    assert_eq!(given(&["--queue-pairs", "50"]), expected);
}

/// Returns the number of regions of `bytes` bytes that a process gets, of 40. It is started by
/// these words; the number is the same twice.
fn registered(options: &[&str], words: &[&str], bytes: &str) -> String {
    let under = Under {
        options,
        ..Under::default()
    };
    let program = program("pinned", &["ibverbs"]);
    let printed = under.succeed(&[words, &[&program, bytes, "40"]].concat());
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines.len(), 2, "{printed}");
    assert_eq!(lines[0], lines[1], "what was given back is there again");
    lines[0].to_owned()
}

#[test]
fn memory_that_may_be_registered() {
    assert_eq!(registered(&[], &[], "8192"), "regions 40 0");
    // 16 pages are the program's own.
    let limited = ["--max-pinned", "131072"];
    assert_eq!(registered(&limited, &[], "8192"), "regions 8 12");
    // Two pages each.
    assert_eq!(registered(&limited, &[], "4097"), "regions 8 12");
    assert_eq!(
        registered(&["--max-pinned", "131071"], &[], "4096"),
        "regions 15 12"
    );
}

#[test]
fn memory_that_the_process_may_lock() {
    need("setpriv");
    need("prlimit");
    let limit = ["prlimit", "--memlock=131072"];
    // A process that may lock without a limit is not asked for its limit; a user that is not root
    // may not anyway.
    let without = [
        "setpriv",
        "--bounding-set=-ipc_lock",
        "--inh-caps=-ipc_lock",
    ];
    let root = std::fs::metadata("/proc/self").expect("proc(5)").uid() == 0;
    let limited = [&limit[..], if root { &without } else { &[] }].concat();
    assert_eq!(registered(&[], &limited, "8192"), "regions 8 12");
}
