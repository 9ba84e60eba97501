//! `farreach info` over the software device, and without a device.
//!
//! It needs Debian's package `ibverbs-providers`.

use softhca_again::softhca;
use std::process::{Command, Output};

/// Runs `farreach` with these arguments under the device.
fn under(options: &[&str], environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    Command::new("timeout")
        .arg("60")
        .arg(softhca())
        .arg("run")
        .args(options)
        .arg("--")
        .arg(env!("CARGO_BIN_EXE_farreach"))
        .args(arguments)
        .envs(environment.iter().copied())
        .output()
        .expect("timeout starts")
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The rows of `--tsv`: policy, and the numbers from contexts to uUARs, the short and the shared ones.
fn rows(text: &str) -> Vec<(String, Vec<u64>)> {
    let mut lines = text
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    let place = |name| head.iter().position(|&word| word == name).expect(name);
    let names = [
        "contexts",
        "queue_pairs",
        "completion_queues",
        "uars",
        "uuars",
        "short",
        "shared",
    ];
    let places = names.map(place);
    lines
        .map(|line| {
            let number = |at: usize| line[at].parse().expect("a number");
            (line[0].to_owned(), places.map(number).to_vec())
        })
        .collect()
}

#[test]
fn the_account_of_each_policy_is_told() {
    let output = under(&["--legacy-uars"], &[], &["info", "--tsv"]);
    let expected: [(&str, [u64; 7]); 6] = [
        ("mpi-everywhere", [16, 16, 16, 128, 256, 0, 0]),
        ("2x-dynamic", [1, 32, 32, 40, 80, 0, 0]),
        ("dynamic", [1, 16, 16, 24, 48, 0, 0]),
        ("shared-dynamic", [1, 16, 16, 16, 32, 0, 0]),
        ("static", [1, 16, 16, 8, 16, 0, 0]),
        ("mpi+threads", [1, 1, 1, 8, 16, 0, 0]),
    ];
    let rows = rows(&printed(&output));
    for ((name, numbers), (expected_name, expected)) in rows.iter().zip(&expected) {
        assert_eq!(
            (name.as_str(), &numbers[..]),
            (*expected_name, &expected[..])
        );
    }
    assert_eq!(rows.len(), expected.len());
}

#[test]
fn it_is_told_in_words_too() {
    let arguments = [
        "info",
        "--lanes",
        "3",
        "--policy",
        "dynamic",
        "--completions",
        "shared",
    ];
    let text = printed(&under(&[], &[], &arguments));
    for part in [
        "device    mlx5_0, port 1: InfiniBand, LID 1, packets of 4096 bytes",
        "features  dynamic connections (DC), atomics of 8 bytes, masked",
        "registers by libmlx5",
        "3 lanes of a queue pair each, completion queues shared by",
    ] {
        assert!(text.contains(part), "{part:?} in\n{text}");
    }
    let row = text.lines().find(|line| line.starts_with("dynamic"));
    let words: Vec<_> = row.expect("a row").split_whitespace().collect();
    assert_eq!(words[1..6], ["1", "3", "1", "4", "8"], "{text}");
    assert!(!text.contains("had to share"), "{text}");
    let without = printed(&under(&["--no-masked-atomics"], &[], &arguments));
    assert!(
        without.contains("no masked atomics of 4 bytes"),
        "{without}"
    );
}

#[test]
fn lanes_that_had_to_do_with_less_are_counted() {
    let arguments = ["info", "--lanes", "6", "--policy", "dynamic"];
    let text = printed(&under(
        &["--legacy-uars", "--uar-pages", "12"],
        &[],
        &arguments,
    ));
    let says = "dynamic: 2 lanes have less than the policy says, 0 more had to share the first one";
    assert!(text.contains(says), "{text}");
    let text = printed(&under(&["--queue-pairs", "4"], &[], &arguments));
    let says = "dynamic: 0 lanes have less than the policy says, 2 more had to share the first one";
    assert!(text.contains(says), "{text}");
    let arguments = ["info", "--lanes", "6", "--policy", "dynamic", "--tsv"];
    let tsv = printed(&under(&["--queue-pairs", "4"], &[], &arguments));
    let (_, numbers) = &rows(&tsv)[0];
    assert_eq!((numbers[1], numbers[6]), (4, 2), "{tsv}");
}

#[test]
fn a_device_without_dynamic_connections_has_connected_lanes() {
    let arguments = ["info", "--lanes", "3", "--policy", "dynamic"];
    let text = printed(&under(&["--no-dc"], &[], &arguments));
    assert!(text.contains("no dynamic connections (DC)"), "{text}");
    let row = text.lines().find(|line| line.starts_with("dynamic"));
    let words: Vec<_> = row.expect("a row").split_whitespace().collect();
    assert_eq!(words[1..4], ["1", "3", "3"], "{text}");
}

/// Runs `farreach` without a device.
fn without(environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_farreach"))
        .args(arguments)
        .env("SYSFS_PATH", "/nonexistent")
        .envs(environment.iter().copied())
        .output()
        .expect("farreach starts")
}

/// Whether it says that there is no device, for one of the reasons that machines have.
fn has_no_device(text: &str) -> bool {
    text.contains("no mlx5 device") || text.contains("not installed")
}

const NO_LIBFABRIC: (&str, &str) = ("FARREACH_LIBFABRIC", "/nonexistent/libfabric.so");

#[test]
fn without_a_device_the_table_is_an_error() {
    let output = without(&[], &["info", "--tsv"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.starts_with("farreach: ") && said.lines().count() == 1,
        "{said}"
    );
    assert!(has_no_device(&said), "{said}");
    assert_eq!(output.stdout, b"");
}

#[test]
fn without_any_network_it_says_what_is_missing() {
    let output = without(&[NO_LIBFABRIC], &["info"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    for part in [
        "farreach: no network between nodes can be used\n",
        "libfabric cannot be used: /nonexistent/libfabric.so cannot be loaded (Debian: libfabric1)",
        "FARREACH_LIBFABRIC is /nonexistent/libfabric.so\n",
        "FARREACH_FABRIC=auto takes none",
    ] {
        assert!(said.contains(part), "{part:?} in\n{said}");
    }
    assert!(has_no_device(&said), "{said}");
    assert_eq!(output.stdout, b"");
}

/// It needs Debian's package `libfabric1`.
#[test]
fn without_a_device_libfabric_is_taken() {
    let text = printed(&without(&[], &["info"]));
    let lines: Vec<_> = text.lines().collect();
    assert!(
        lines[1].starts_with("mlx5 ") && has_no_device(lines[1]),
        "{text}"
    );
    let taken: Vec<_> = lines
        .iter()
        .filter(|line| line.ends_with("  taken"))
        .collect();
    assert_eq!(taken.len(), 1, "{text}");
    let mut words = taken[0].split_whitespace();
    let (provider, domain) = (words.next().expect("one"), words.next().expect("one"));
    let says = format!("\nFARREACH_FABRIC=auto takes {provider} on {domain}\n");
    assert!(text.contains(&says), "{text}");
    let shm = lines.iter().find(|line| line.starts_with("shm "));
    assert!(
        shm.expect("it is everywhere")
            .contains("not for peers on other nodes")
    );
    let mut names: Vec<_> = lines[1..]
        .iter()
        .take_while(|line| !line.is_empty())
        .collect();
    let pair = |line: &&&str| {
        line.split_whitespace()
            .take(2)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let count = names.len();
    names.sort_unstable_by_key(pair);
    names.dedup_by_key(|line| pair(&&*line));
    assert_eq!(names.len(), count, "{text}");
    assert!(
        text.contains("\nlanes     are an mlx5 device's: "),
        "{text}"
    );
}

#[test]
fn the_provider_that_the_user_names_is_taken() {
    let tcp = ("FARREACH_LIBFABRIC_PROVIDER", "tcp;ofi_rxm");
    let text = printed(&without(&[tcp], &["info"]));
    assert!(
        text.contains("\nFARREACH_FABRIC=auto takes tcp;ofi_rxm on "),
        "{text}"
    );
    assert!(
        text.contains("FARREACH_LIBFABRIC_PROVIDER is tcp;ofi_rxm\n"),
        "{text}"
    );
    let frob = ("FARREACH_LIBFABRIC_PROVIDER", "frob");
    let output = without(&[frob], &["info"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn a_device_is_taken_before_libfabric() {
    let arguments = ["info", "--lanes", "1", "--policy", "dynamic"];
    let text = printed(&under(&[], &[], &arguments));
    let line = text.lines().nth(1).expect("a line");
    assert!(
        line.starts_with("mlx5 ") && line.ends_with("  taken"),
        "{text}"
    );
    let says = "FARREACH_FABRIC=auto takes mlx5, if all nodes of the job have it\n";
    assert!(text.contains(says), "{text}");
    let text = printed(&under(&[], &[NO_LIBFABRIC], &arguments));
    assert!(
        text.contains(says) && text.contains("libfabric cannot be used"),
        "{text}"
    );
}

#[test]
fn a_wrong_command_line_is_explained() {
    let output = Command::new(env!("CARGO_BIN_EXE_farreach"))
        .args(["info", "--policy", "fast"])
        .output()
        .expect("farreach starts");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.starts_with("farreach: --policy takes mpi-everywhere, "),
        "{said}"
    );
}
