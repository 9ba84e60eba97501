//! Counts the calls of cases.c and of far.c.

use crate::Tools;
use crate::callgrind::{self, Job};
use crate::scratch::Scratch;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The smaller number of calls; the larger is twice as many. Send queues and their quarters divide it, so that the entries
/// with a completion weigh what they do in a long stream.
const ROUNDS: u64 = 1024;
/// The function of cases.c in which is counted; the parts that callgrind writes end with it.
const OPTIONS: &str =
    "--toggle-collect=icount_counted --zero-before=icount_counted --dump-after=icount_counted";
/// What is not counted within it: the software device's turn, asked for by the program or by a lane that waits.
const UNCOUNTED: &str = "--toggle-collect=icount_uncounted '--toggle-collect=*::Lane::idle'";
/// A call whose count is known, which shows that counting works.
const KNOWN: (&str, &str, u64) = ("known_8", "-", 8);

/// Instructions of one call, by routine and target. A fraction if not all calls take equally many.
pub(crate) type Counts = BTreeMap<(String, String), f64>;

/// Counts the calls of cases.c, in `folder`: both PEs on one node.
pub(crate) fn near(tools: &Tools, folder: &Path) -> Result<Counts, String> {
    let mut counts = count(tools, &folder.join("cases.c"), &[], OPTIONS)?;
    let (routine, target, known) = KNOWN;
    match counts.remove(&(routine.to_owned(), target.to_owned())) {
        Some(counted) if counted == known as f64 => Ok(counts),
        counted => Err(format!(
            "a call of {known} instructions was counted as {counted:?}"
        )),
    }
}

/// Counts the calls of far.c, in `folder`: each PE on a pretended node of its own, over each transport of the software device.
/// The transport takes the place of the target.
pub(crate) fn far(tools: &Tools, folder: &Path) -> Result<Counts, String> {
    let mut counts = Counts::new();
    let options = format!("{OPTIONS} {UNCOUNTED}");
    for (transport, name) in [("rc", "RC"), ("dc", "DC")] {
        let arguments = [
            "--ppn",
            "1",
            "--fabric",
            "softhca",
            "--transport",
            transport,
        ];
        let counted = count(tools, &folder.join("far.c"), &arguments, &options)?;
        counts.extend(
            counted
                .into_iter()
                .map(|((routine, _), count)| ((routine, name.to_owned()), count)),
        );
    }
    Ok(counts)
}

/// Compiles `source`, runs it on two PEs and counts.
fn count(
    tools: &Tools,
    source: &Path,
    arguments: &[&str],
    options: &str,
) -> Result<Counts, String> {
    let scratch = Scratch::new()?;
    let program = scratch.file("cases");
    let mut compiler = Command::new(&tools.oshcc);
    compiler
        .arg("-O3")
        .args(&tools.oshcc_flags)
        .arg("-o")
        .arg(&program)
        .arg(source);
    let status = compiler
        .status()
        .map_err(|error| format!("{}: {error}", tools.oshcc.display()))?;
    if !status.success() {
        return Err(format!("{}: {status}", tools.oshcc.display()));
    }
    let program = [program.into(), ROUNDS.to_string().into()];
    let job = Job {
        oshrun: &tools.oshrun,
        pes: 2,
        pe: 0,
        arguments,
        options,
        program: &program,
    };
    let output = callgrind::run(&job, &scratch, true)?;
    evaluate(
        &String::from_utf8_lossy(&output.stdout),
        &callgrind::parts(&scratch)?,
    )
}

/// Brings together the loops that the program names and the totals that callgrind has written, one for one.
fn evaluate(printed: &str, totals: &[u64]) -> Result<Counts, String> {
    let loops: Vec<_> = printed
        .lines()
        .filter_map(|line| line.strip_prefix("loop\t"))
        .collect();
    if loops.len() != totals.len() {
        return Err(format!(
            "{} loops were run, callgrind has written {} parts",
            loops.len(),
            totals.len()
        ));
    }
    let mut counts = Counts::new();
    for (line, total) in loops.iter().zip(totals) {
        let fields: Vec<_> = line.split('\t').collect();
        let [routine, target, kind, rounds] = fields[..] else {
            return Err(format!("a line of the program is not understood: {line}"));
        };
        // (call 2N - call N) - (bare 2N - bare N), divided by N
        let sign = match (kind, rounds.parse() == Ok(2 * ROUNDS)) {
            ("call", true) | ("bare", false) => 1.0,
            ("call", false) | ("bare", true) => -1.0,
            _ => continue,
        };
        let count = counts
            .entry((routine.to_owned(), target.to_owned()))
            .or_insert(0.0);
        *count += sign * *total as f64;
    }
    for count in counts.values_mut() {
        *count /= ROUNDS as f64;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "loop\tr\theap\tfirst\t1\nloop\tr\theap\tcall\t1024\nloop\tr\theap\tcall\t2048\n\
        other output\nloop\tr\theap\tbare\t1024\nloop\tr\theap\tbare\t2048\n";

    #[test]
    fn what_both_loops_have_is_taken_away() {
        let counts = evaluate(PRINTED, &[99, 20_490, 40_970, 6_149, 12_293]).expect("evaluated");
        assert_eq!(
            counts.get(&("r".to_owned(), "heap".to_owned())),
            Some(&14.0)
        );
    }

    #[test]
    fn a_part_for_every_loop() {
        assert!(evaluate(PRINTED, &[1, 2, 3, 4]).is_err());
    }
}
