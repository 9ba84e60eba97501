//! The same programs in jobs of several nodes: pretended ones (`oshrun --ppn`), with the software device between them.

use crate::runline::{Launcher, Nodes, Run};
use std::collections::BTreeMap;

/// The most PEs of a job, where a run line leaves the choice: each has its turn on the few cores of a test machine.
const PES: u32 = 4;
/// Ways to link after which a program cannot load the libraries of the device.
const STATIC: [&str; 2] = ["static", "static-pie"];

/// How the PEs of a job lie on nodes, and what is between these.
#[derive(Debug)]
pub(crate) struct Setting {
    /// What sets its cases apart from others.
    pub(crate) label: &'static str,
    /// The words for oshrun.
    pub(crate) words: [&'static str; 6],
    /// How many PEs a node has.
    per_node: u32,
}

/// All settings: each transport between all PEs, and one transport beside shared memory.
pub(crate) const SETTINGS: [Setting; 3] = [
    Setting {
        label: "rc ppn=1",
        words: ["--fabric", "softhca", "--transport", "rc", "--ppn", "1"],
        per_node: 1,
    },
    Setting {
        label: "dc ppn=1",
        words: ["--fabric", "softhca", "--transport", "dc", "--ppn", "1"],
        per_node: 1,
    },
    Setting {
        label: "rc ppn=2",
        words: ["--fabric", "softhca", "--transport", "rc", "--ppn", "2"],
        per_node: 2,
    },
];

impl Setting {
    /// The runs of a program that make sense here: of those that differ in the number of PEs alone, the one with the most
    /// PEs up to four, or the fewest if all have more.
    pub(crate) fn choose<'a>(&self, runs: &'a [Run]) -> Vec<&'a Run> {
        let mut chosen: BTreeMap<&str, &Run> = BTreeMap::new();
        for run in runs.iter().filter(|run| self.allows(run)) {
            let (_, key) = run.label.split_once(' ').unwrap_or((&run.label, ""));
            let best = chosen.entry(key).or_insert(run);
            if rank(run) > rank(best) {
                *best = run;
            }
        }
        chosen.into_values().collect()
    }

    fn allows(&self, run: &Run) -> bool {
        let loads = !run
            .link
            .as_deref()
            .is_some_and(|link| STATIC.contains(&link));
        run.launcher == Launcher::Oshrun
            && run.nodes != Nodes::One
            && run.np > self.per_node
            && loads
            && !run.valgrind
    }
}

/// The greater, the better.
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
    fn what_needs_one_node_is_left_out() {
        let source = "// run: np=2 nodes=1\n// run: np=2 link=static,pie\n// run: np=2 launcher=hydra\n\
                      // run: np=2 valgrind\n// run: np=2 nodes=several args=x\n";
        assert_eq!(chosen(1, source), ["np=2 args=x", "np=2 link=pie"]);
    }
}
