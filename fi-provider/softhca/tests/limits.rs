//! A device that runs out of doorbell pages, or of queue pairs: how much a process gets, and how the system's libmlx5 tells of it.
//!
//! It needs a C compiler and Debian's packages `libibverbs-dev` and `ibverbs-providers`.

mod support;

use support::{Under, program};

/// What a process gets that asks for 20 queue pairs with a thread domain and for 20 plain ones, in each of two contexts; the same twice.
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
