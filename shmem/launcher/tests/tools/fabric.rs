//! Pretended nodes, and the words of the environment about the fabric between them.

use super::support::{Outcome, Running, launch, oshrun};

/// The number of messages that libfabric's ofi_rxm has buffers for.
const BUFFERS: &str = "FI_OFI_RXM_MSG_RX_SIZE";

/// Runs oshrun in an environment with no variables of the fabric but `variables`.
fn in_environment(variables: &[(&str, &str)], line: &str) -> Outcome {
    let mut command = oshrun(line);
    for name in [
        "FARREACH_FABRIC",
        "FARREACH_TRANSPORT",
        "FARREACH_LANES",
        "FARREACH_SOFTHCA",
        BUFFERS,
    ] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    Running::start(&mut command).finish()
}

#[test]
fn pes_are_told_their_nodes() {
    for (option, size, nodes) in [
        ("", 3, &[0, 0, 0][..]),
        ("--ppn 1", 1, &[0]),
        ("--ppn 1", 2, &[0, 1]),
        ("--ppn 2", 2, &[0, 0]),
        ("-ppn 2", 3, &[0, 0, 1]),
        ("--ppn=2", 5, &[0, 0, 1, 1, 2]),
        ("--ppn 3", 5, &[0, 0, 0, 1, 1]),
        ("--ppn 9", 5, &[0, 0, 0, 0, 0]),
    ] {
        let line = format!("-n {size} {option} PE init exchange barrier finalize");
        let outcome = launch(&line.replace("  ", " "));
        let expected: Vec<_> = (0..size)
            .map(|rank| format!("{rank} of {size} on nodes {nodes:?}"))
            .collect();
        assert_eq!(outcome.lines(), expected, "{outcome:?}");
        assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    }
}

#[test]
fn places_on_a_node_are_counted_there() {
    let places = |line: &str| {
        let mut command = oshrun(line);
        command.args([
            "sh",
            "-c",
            "echo $PMI_RANK: $MPI_LOCALRANKID of $MPI_LOCALNRANKS",
        ]);
        let outcome = Running::start(&mut command).finish();
        assert_eq!(outcome.status, 0, "{outcome:?}");
        outcome.lines().join(", ")
    };
    assert_eq!(places("-n 2"), "0: 0 of 2, 1: 1 of 2");
    assert_eq!(places("-n 2 --ppn 1"), "0: 0 of 1, 1: 0 of 1");
    assert_eq!(
        places("-n 5 --ppn 2"),
        "0: 0 of 2, 1: 1 of 2, 2: 0 of 2, 3: 1 of 2, 4: 0 of 1"
    );
    assert_eq!(places("-n 3 --ppn 4"), "0: 0 of 3, 1: 1 of 3, 2: 2 of 3");
}

#[test]
fn an_option_wins_over_the_variable() {
    for (option, variable, fabric) in [
        ("", None, ""),
        ("", Some("shm"), "shm"),
        ("-x FARREACH_FABRIC=auto", Some("shm"), "auto"),
        ("--fabric auto", Some("mlx5"), "auto"),
        ("--fabric shm", None, "shm"),
        ("--fabric=mlx5", Some("shm"), "mlx5"),
        ("--fabric mlx5 -x FARREACH_FABRIC=auto", None, "mlx5"),
    ] {
        let variable = variable.map(|value| ("FARREACH_FABRIC", value));
        let line = format!("-n 2 {option} PE env:FARREACH_FABRIC").replace("  ", " ");
        let outcome = in_environment(variable.as_slice(), &line);
        assert_eq!(outcome.lines(), [fabric; 2], "{line}: {outcome:?}");
    }
    for (option, transport) in [("", "dc"), ("--transport rc", "rc")] {
        let line = format!("{option} PE env:FARREACH_TRANSPORT");
        let outcome = in_environment(&[("FARREACH_TRANSPORT", "dc")], line.trim());
        assert_eq!(outcome.lines(), [transport], "{outcome:?}");
    }
    for (option, lanes) in [("", "static"), ("--lanes 2x-dynamic", "2x-dynamic")] {
        let line = format!("{option} PE env:FARREACH_LANES");
        let outcome = in_environment(&[("FARREACH_LANES", "static")], line.trim());
        assert_eq!(outcome.lines(), [lanes], "{outcome:?}");
    }
}

#[test]
fn buffers_of_libfabric_are_fewer_where_it_may_be_used() {
    for (option, variable, buffers) in [
        ("", None, ""),
        ("--fabric libfabric", None, "512"),
        ("", Some(("FARREACH_FABRIC", "libfabric")), "512"),
        ("--fabric shm", Some(("FARREACH_FABRIC", "libfabric")), ""),
        ("--fabric libfabric", Some((BUFFERS, "2048")), "2048"),
        (
            "--fabric libfabric -x FI_OFI_RXM_MSG_RX_SIZE=64",
            None,
            "64",
        ),
    ] {
        let line = format!("{option} PE env:{BUFFERS}");
        let outcome = in_environment(variable.as_slice(), line.trim());
        assert_eq!(outcome.lines(), [buffers], "{line}: {outcome:?}");
    }
}

#[test]
fn wrong_values_are_explained() {
    for (line, part) in [
        ("--ppn 0 true", "on a node, from 1"),
        ("-ppn two true", "\"two\""),
        ("--ppn=-1 true", "\"-1\""),
        (
            "--fabric tcp true",
            "auto, shm, mlx5, libfabric or softhca, not \"tcp\"",
        ),
        ("--fabric= true", "not \"\""),
        ("--transport ud true", "auto, rc or dc, not \"ud\""),
    ] {
        let outcome = launch(line);
        outcome.assert_one_line(2, &[part]);
        assert_eq!(outcome.stdout, "");
    }
}
