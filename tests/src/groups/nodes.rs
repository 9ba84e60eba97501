//! The same programs in jobs of several nodes: pretended ones (`oshrun --ppn`), with the software device or libfabric between
//! them.

use crate::runline::{Launcher, Nodes, Run};
use farreach_hosts::RSH;
use std::collections::BTreeMap;

/// The most PEs of a job, where a run line leaves the choice: each has its turn on the few cores of a test machine.
const PES: u32 = 4;
/// Ways to link after which a program cannot load the libraries of the device.
const STATIC: [&str; 2] = ["static", "static-pie"];
/// Option by which a program is told to use a context of its own beside the default one.
const OWN: &str = "-DOWN_CONTEXT=";

/// Programs that are run with each policy of lanes: those in which contexts and threads matter, and of each other kind of operation
/// one that does all there are.
const OF_LANES: &[&str] = &[
    "amo/contention.c",
    "context/",
    "order/",
    "rma/large.c",
    "rma/lengths.c",
    "signal/types_c99.c",
    "threads/",
];

/// Programs that are run with each transport, and on several hosts: of each kind of operation those that do all there are.
const OF_TRANSPORTS: &[&str] = &[
    "active_set/",
    "amo/contention.c",
    "amo/types_c99.c",
    "bad_input/stuck.c",
    "collective/",
    "context/lanes.c",
    "lock/",
    "memory/",
    "order/",
    "registration/",
    "rma/large.c",
    "rma/lengths.c",
    "rma/types_c99.c",
    "semantics/asleep.c",
    "semantics/late_pe.c",
    "setup/global_exit.c",
    "signal/types_c99.c",
    "sync/barriers.c",
    "team/",
    "threads/",
];

/// Programs that are run where the device is not asked to act: of each way to wait for it one.
const OF_WAITING: &[&str] = &[
    "context/lanes.c",
    "lock/exclusion.c",
    "order/quiet.c",
    "rma/lengths.c",
];

/// Examples by remote calls, which open connections of their own.
const OF_CALLS: &[&str] = &["rust/octree.rs", "rust/tiles.rs", "rust/wordcount.rs"];

/// The places of a job's PEs on nodes, and the fabric between these.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The words that tell its cases apart from others.
    pub(crate) label: &'static str,
    /// The words for oshrun.
    pub(crate) words: [&'static str; 6],
    /// Variables of the job.
    pub(crate) environment: &'static [(&'static str, &'static str)],
    /// Options of a device that is put around the job; without any, oshrun starts one.
    pub(crate) device: &'static [&'static str],
    /// The hosts that the job runs on, if these are not pretended, and how they are reached.
    pub(crate) lab: Option<Hosts>,
    /// Number of PEs of a node.
    per_node: u32,
    /// The beginnings of the names of its programs.
    programs: &'static [&'static str],
}

/// Hosts of a lab (tests/hosts) with libfabric between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hosts {
    /// Number of hosts, for `farreach-hosts with`.
    pub(crate) count: &'static str,
    /// Number of lost packets in a hundred of one host.
    pub(crate) lost: &'static str,
    /// Their names for mpiexec.hydra, where that starts the job.
    pub(crate) hydra: Option<&'static str>,
}

/// Makes a setting by a transport, with so many PEs on each node.
const fn nodes(
    label: &'static str,
    transport: &'static str,
    (per_node, text): (u32, &'static str),
) -> Setting {
    Setting {
        label,
        words: [
            "--fabric",
            "softhca",
            "--transport",
            transport,
            "--ppn",
            text,
        ],
        environment: &[],
        device: &[],
        lab: None,
        per_node,
        programs: &[""],
    }
}

/// Makes a setting for the programs of lanes alone, with a variable.
const fn lanes(
    label: &'static str,
    transport: &'static str,
    per_node: (u32, &'static str),
    environment: &'static [(&'static str, &'static str)],
) -> Setting {
    Setting {
        environment,
        programs: OF_LANES,
        ..nodes(label, transport, per_node)
    }
}

/// By RC, with a device that acts at its own time: PEs wait as they do for hardware.
const UNASKED: Setting = Setting {
    device: &["--no-hook"],
    programs: OF_WAITING,
    ..nodes("rc ppn=1 no hook", "rc", ONE)
};

const ONE: (u32, &str) = (1, "1");
const TWO: (u32, &str) = (2, "2");

/// By libfabric, with the provider that it takes itself.
const LIBFABRIC: Setting = Setting {
    words: ["--fabric", "libfabric", "--transport", "auto", "--ppn", "2"],
    programs: OF_LANES,
    ..nodes("libfabric ppn=2", "auto", TWO)
};

/// All settings: each transport between all PEs, and one transport beside shared memory; libfabric;
/// those of remote calls; then each policy of lanes but the default one, in turn over these, one
/// completion queue for all lanes, and queue pairs that are connected in the background.
pub(crate) const SETTINGS: [Setting; 15] = [
    nodes("rc ppn=1", "rc", ONE),
    Setting {
        programs: OF_TRANSPORTS,
        ..nodes("dc ppn=1", "dc", ONE)
    },
    Setting {
        programs: OF_LANES,
        ..nodes("rc ppn=2", "rc", TWO)
    },
    LIBFABRIC,
    Setting {
        programs: OF_CALLS,
        ..nodes("rc ppn=2", "rc", TWO)
    },
    Setting {
        programs: OF_CALLS,
        ..nodes("dc ppn=2", "dc", TWO)
    },
    Setting {
        programs: OF_CALLS,
        ..LIBFABRIC
    },
    lanes(
        "rc ppn=1 mpi-everywhere",
        "rc",
        ONE,
        &[("FARREACH_LANES", "mpi-everywhere")],
    ),
    lanes(
        "dc ppn=2 2x-dynamic",
        "dc",
        TWO,
        &[("FARREACH_LANES", "2x-dynamic")],
    ),
    lanes(
        "rc ppn=1 static",
        "rc",
        ONE,
        &[("FARREACH_LANES", "static")],
    ),
    lanes(
        "dc ppn=1 mpi+threads",
        "dc",
        ONE,
        &[("FARREACH_LANES", "mpi+threads")],
    ),
    lanes(
        "rc ppn=1 shared CQ",
        "rc",
        ONE,
        &[("FARREACH_COMPLETIONS", "shared")],
    ),
    UNASKED,
    lanes(
        "auto ppn=1 connecting",
        "auto",
        ONE,
        &[("FARREACH_RC_PES", "1")],
    ),
    lanes(
        "auto ppn=2 connecting",
        "auto",
        TWO,
        &[("FARREACH_RC_PES", "1")],
    ),
];

/// On two hosts with two PEs each, by oshrun and by mpiexec.hydra, and where packets are lost; on four.
pub(crate) const HOSTS: [Setting; 4] = [
    hosts("2 hosts", "h1:2,h2:2", 2, TWO_HOSTS, OF_TRANSPORTS),
    hosts(
        "2 hosts, hydra",
        "",
        2,
        Hosts {
            hydra: Some("h1,h2"),
            ..TWO_HOSTS
        },
        OF_WAITING,
    ),
    hosts(
        "2 hosts, 1 % of packets lost",
        "h1:2,h2:2",
        2,
        ONE_IN_A_HUNDRED,
        OF_WAITING,
    ),
    hosts(
        "4 hosts",
        "h1,h2,h3,h4",
        1,
        Hosts {
            count: "4",
            ..TWO_HOSTS
        },
        OF_WAITING,
    ),
];

/// All programs, where packets are lost.
pub(crate) const LOSSY: [Setting; 1] = [hosts(
    "2 hosts, 1 % of packets lost",
    "h1:2,h2:2",
    2,
    ONE_IN_A_HUNDRED,
    &[""],
)];

const ONE_IN_A_HUNDRED: Hosts = Hosts {
    lost: "1",
    ..TWO_HOSTS
};

const TWO_HOSTS: Hosts = Hosts {
    count: "2",
    lost: "0",
    hydra: None,
};

/// Makes a setting on hosts of these names and slots.
const fn hosts(
    label: &'static str,
    names: &'static str,
    per_node: u32,
    lab: Hosts,
    programs: &'static [&'static str],
) -> Setting {
    Setting {
        words: [
            "--host",
            names,
            "--launch-agent",
            RSH,
            "--fabric",
            "libfabric",
        ],
        lab: Some(lab),
        programs,
        ..nodes(label, "auto", (per_node, ""))
    }
}

impl Setting {
    /// Returns whether the program of this name runs here.
    pub(crate) fn has(&self, program: &str) -> bool {
        self.programs
            .iter()
            .any(|prefix| program.starts_with(prefix))
    }

    /// Returns the runs of a program that make sense here: of those that differ in the number of
    /// PEs alone, the one with the most PEs up to four, or the fewest if all have more. With a
    /// policy of lanes, a program that has runs with a context of its own takes these alone: they
    /// use the default context, too.
    pub(crate) fn choose<'a>(&self, runs: &'a [Run]) -> Vec<&'a Run> {
        let mut chosen: BTreeMap<&str, &Run> = BTreeMap::new();
        for run in runs.iter().filter(|run| self.allows(run)) {
            let (_, key) = run.label.split_once(' ').unwrap_or((&run.label, ""));
            let best = chosen.entry(key).or_insert(run);
            if rank(run) > rank(best) {
                *best = run;
            }
        }
        let mut chosen: Vec<_> = chosen.into_values().collect();
        let has_own_context = |run: &&Run| run.cflags.iter().any(|flag| flag.starts_with(OWN));
        if !self.environment.is_empty() && chosen.iter().any(has_own_context) {
            chosen.retain(has_own_context);
        }
        chosen
    }

    /// Returns the transport, for run lines that name one.
    fn transport(&self) -> &str {
        if self.words.contains(&"libfabric") {
            "libfabric"
        } else {
            self.words[3]
        }
    }

    /// Returns whether a run is of this setting, if its program is.
    pub(crate) fn allows(&self, run: &Run) -> bool {
        let loads = !run
            .link
            .as_deref()
            .is_some_and(|link| STATIC.contains(&link));
        run.launcher == Launcher::Oshrun
            && run.nodes != Nodes::One
            && run
                .transport
                .as_deref()
                .is_none_or(|only| only == self.transport())
            && run.np > self.per_node
            // Options of the device are nothing to libfabric.
            && (run.device.is_empty() || self.transport() != "libfabric")
            && loads
            && !run.valgrind
    }
}

/// Returns the rank of a run: the greater, the better.
fn rank(run: &Run) -> i64 {
    let np = i64::from(run.np);
    if run.np <= PES { np } else { -np }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runline;

    fn chosen(setting: usize, source: &str) -> Vec<String> {
        let runs = runline::parse(source).unwrap();
        let chosen = SETTINGS[setting].choose(&runs);
        chosen.iter().map(|run| run.label.clone()).collect()
    }

    #[test]
    fn each_line_runs_once_with_the_most_of_up_to_four() {
        let source = "// run: np=1,2,3,7\n// run: np=16,64 args=many\n";
        assert_eq!(chosen(0, source), ["np=3", "np=16 args=many"]);
        assert_eq!(chosen(2, "// run: np=1,2\n"), [""; 0]);
    }

    #[test]
    fn programs_of_lanes() {
        let [.., policy] = &SETTINGS;
        assert!(policy.has("context/lanes.c") && !policy.has("amo/types_c99.c"));
        assert!(SETTINGS[0].has("setup/query.c") && !SETTINGS[1].has("setup/query.c"));
    }

    #[test]
    fn a_policy_takes_the_runs_with_a_context() {
        let source = "// run: np=3\n// run: np=3 cflags=-DOWN_CONTEXT=1\n";
        let with_context = "np=3 cflags=-DOWN_CONTEXT=1";
        assert_eq!(chosen(0, source), ["np=3", with_context]);
        assert_eq!(chosen(SETTINGS.len() - 1, source), [with_context]);
        assert_eq!(chosen(SETTINGS.len() - 1, "// run: np=3\n"), ["np=3"]);
    }

    #[test]
    fn a_line_of_one_transport_runs_with_that() {
        let source = "// run: np=2 nodes=several transport=dc\n";
        assert_eq!(chosen(0, source), [""; 0]);
        assert_eq!(chosen(1, source), ["np=2"]);
    }

    #[test]
    fn a_line_with_options_of_the_device_runs_over_that() {
        let source = "// run: np=3 nodes=several device=--strict\n";
        assert_eq!(chosen(0, source), ["np=3 device=--strict"]);
        assert_eq!(chosen(3, source), [""; 0]);
    }

    #[test]
    fn what_needs_one_node_is_left_out() {
        let source = "// run: np=2 nodes=1\n// run: np=2 link=static,pie\n// run: np=2 launcher=hydra\n\
                      // run: np=2 valgrind\n// run: np=2 nodes=several args=x\n";
        assert_eq!(chosen(1, source), ["np=2 args=x", "np=2 link=pie"]);
    }
}
