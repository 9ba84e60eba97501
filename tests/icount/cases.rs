//! Counts the calls of a program that runs loops of them, as cases.c describes.

use crate::Tools;
use crate::instructions::Disassembly;
use farreach_icount::callgrind::{self, Job, Profiles};
use farreach_icount::costs::{Costs, Layers};
use farreach_icount::layer::Layer;
use farreach_icount::profile;
use farreach_icount::source::Sources;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The smaller number of calls; the larger is twice as many. Send queues and their quarters divide
/// it, so that the entries with a completion weigh as much as in a long stream.
pub(crate) const ROUNDS: u64 = 1024;
/// The function of the program in which is counted; the parts that callgrind writes end with it. A part has every instruction
/// at its address within its file.
pub(crate) const OPTIONS: &str = "--toggle-collect=icount_counted --zero-before=icount_counted \
    --dump-after=icount_counted --dump-instr=yes --compress-pos=no --compress-strings=no";
/// Options that leave some functions within it uncounted: the software device's turn, asked for by
/// the program or by a lane that waits, and the look of remote calls at the clock, once in 256
/// turns. The compiler may have made a copy of the function, of another name.
pub(crate) const UNCOUNTED: &str = "'--toggle-collect=icount_uncounted*' '--toggle-collect=*Lane*::idle*' \
    '--toggle-collect=*calls*Core*::look_at_peers*'";
/// The function by which the fabric's own objects let the software device act: nor is it counted, but
/// by a subtraction, as it is also called where nothing is.
const ACTING: &str = "fi_provider::raw::far::device::Device::kick";
/// The library through which it acts.
const SHIM: &str = "libsofthca_shim.so";
/// A call whose count is known, which shows that counting works.
const KNOWN: (&str, &str, u64) = ("known_8", "-", 8);

/// A routine and the target of its call.
pub(crate) type Call = (String, String);

/// Instructions of one call. A fraction if not all calls take equally many.
pub(crate) type Counts = BTreeMap<Call, f64>;

/// The counts of calls.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// Instructions of each call.
    pub(crate) counts: Counts,
    /// Instructions of each call, by layer.
    pub(crate) layers: BTreeMap<Call, Layers>,
    /// Instructions that lock, among those that each call has executed.
    pub(crate) locking: BTreeMap<Call, BTreeSet<String>>,
}

impl Counted {
    /// Adds the counts of another program.
    pub(crate) fn extend(&mut self, other: Self) {
        self.counts.extend(other.counts);
        self.layers.extend(other.layers);
        self.locking.extend(other.locking);
    }

    /// Returns the same counts with other names.
    pub(crate) fn renamed(self, name: impl Fn(Call) -> Call) -> Self {
        fn keys<T>(map: BTreeMap<Call, T>, name: impl Fn(Call) -> Call) -> BTreeMap<Call, T> {
            map.into_iter()
                .map(|(call, value)| (name(call), value))
                .collect()
        }
        Self {
            counts: keys(self.counts, &name),
            layers: keys(self.layers, &name),
            locking: keys(self.locking, &name),
        }
    }
}

/// A program that runs loops of calls.
pub(crate) struct Program<'a> {
    /// The compiler.
    pub(crate) compiler: &'a Path,
    /// Its arguments: before the source.
    pub(crate) flags: Vec<OsString>,
    /// The source.
    pub(crate) source: PathBuf,
    /// Its arguments: behind the source.
    pub(crate) libraries: &'a [&'a str],
    /// The command that starts the program, and its arguments.
    pub(crate) launcher: Vec<OsString>,
    /// Variables of the job.
    pub(crate) environment: Vec<(&'a str, &'a str)>,
    /// Arguments of the program before the number of rounds.
    pub(crate) arguments: &'a [&'a str],
    /// callgrind's options.
    pub(crate) options: &'a str,
}

/// Counts the calls of cases.c, in `folder`: both PEs on one node.
pub(crate) fn near(
    tools: &Tools,
    folder: &Path,
    disassembly: &mut Disassembly,
) -> Result<Counted, String> {
    let program = Program {
        compiler: &tools.oshcc,
        flags: tools.oshcc_flags.clone(),
        source: folder.join("cases.c"),
        libraries: &[],
        launcher: vec![tools.oshrun.clone().into(), "-n".into(), "2".into()],
        environment: Vec::new(),
        arguments: &[],
        options: OPTIONS,
    };
    let mut counted = count(&program, disassembly)?;
    let (routine, target, known) = KNOWN;
    let call = (routine.to_owned(), target.to_owned());
    counted.layers.remove(&call);
    match counted.counts.remove(&call) {
        Some(count) if count == known as f64 => Ok(counted),
        count => Err(format!(
            "a call of {known} instructions was counted as {count:?}"
        )),
    }
}

/// Counts the operations of direct.c, in `folder`, which are in line at the place of the call: on one
/// node, or started by other words, with a device.
pub(crate) fn in_line(
    tools: &Tools,
    folder: &Path,
    launcher: &[&str],
    disassembly: &mut Disassembly,
) -> Result<Counted, String> {
    let mut flags = tools.oshcc_flags.clone();
    flags.push("-DSHMEM_DIRECT".into());
    let mut words: Vec<OsString> = vec![tools.oshrun.clone().into(), "-n".into(), "2".into()];
    words.extend(launcher.iter().map(OsString::from));
    let options = format!("{OPTIONS} {UNCOUNTED}");
    let program = Program {
        compiler: &tools.oshcc,
        flags,
        source: folder.join("direct.c"),
        libraries: &[],
        launcher: words,
        environment: Vec::new(),
        arguments: &[],
        options: &options,
    };
    count(&program, disassembly)
}

/// Compiles a program, runs it and counts.
pub(crate) fn count(
    program: &Program<'_>,
    disassembly: &mut Disassembly,
) -> Result<Counted, String> {
    let folder = Profiles::new()?;
    let executable = compile(program, &folder)?;
    let counted = count_compiled(program, &executable, disassembly);
    disassembly.forget(&executable);
    counted
}

/// Compiles a program; the executable, whose path is returned, goes with `folder`.
pub(crate) fn compile(program: &Program<'_>, folder: &Profiles) -> Result<PathBuf, String> {
    let executable = folder.file("cases");
    let mut compiler = Command::new(program.compiler);
    compiler
        .arg("-O3")
        .args(&program.flags)
        .arg("-o")
        .arg(&executable)
        .arg(&program.source)
        .args(program.libraries);
    let status = compiler
        .status()
        .map_err(|error| format!("{}: {error}", program.compiler.display()))?;
    if !status.success() {
        return Err(format!("{}: {status}", program.compiler.display()));
    }
    Ok(executable)
}

/// Runs a program that is compiled, and counts.
pub(crate) fn count_compiled(
    program: &Program<'_>,
    executable: &Path,
    disassembly: &mut Disassembly,
) -> Result<Counted, String> {
    let mut words: Vec<OsString> = vec![executable.into()];
    words.extend(program.arguments.iter().map(OsString::from));
    words.push(ROUNDS.to_string().into());
    let job = Job {
        launcher: &program.launcher,
        environment: &program.environment,
        pe: 0,
        options: program.options,
        program: &words,
    };
    run(&job, &Profiles::new()?, disassembly)
}

/// Counts the operations of the fabric's own objects, on a node and over the software device: loops
/// in Rust, in the program of the tools.
pub(crate) fn raw(tools: &Tools, disassembly: &mut Disassembly) -> Result<Counted, String> {
    let options = format!("{OPTIONS} {UNCOUNTED}");
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    let on_device = [
        vec![tools.softhca.clone().into()],
        words(&["run", "--on-kicks", "--"]),
    ];
    let rounds = ROUNDS.to_string();
    let mut counted = Counted::default();
    for (launcher, arguments) in [
        (words(&["env"]), words(&[&rounds])),
        (on_device.concat(), words(&[&rounds, "rc"])),
    ] {
        let program = [vec![tools.raw.clone().into()], arguments].concat();
        let job = Job {
            launcher: &launcher,
            environment: &[],
            pe: 0,
            options: &options,
            program: &program,
        };
        counted.extend(run(&job, &Profiles::new()?, disassembly)?);
    }
    Ok(counted)
}

/// Counts the operations of the safe Rust interface, in the program of the tools: both PEs on one
/// node.
pub(crate) fn rust(tools: &Tools, disassembly: &mut Disassembly) -> Result<Counted, String> {
    let options = format!("{OPTIONS} {UNCOUNTED}");
    let launcher: [OsString; 3] = [tools.oshrun.clone().into(), "-n".into(), "2".into()];
    let job = Job {
        launcher: &launcher,
        environment: &[],
        pe: 0,
        options: &options,
        program: &[tools.rust.clone().into(), ROUNDS.to_string().into()],
    };
    run(&job, &Profiles::new()?, disassembly)
}

/// Runs a program and counts.
fn run(
    job: &Job<'_>,
    profiles: &Profiles,
    disassembly: &mut Disassembly,
) -> Result<Counted, String> {
    let output = callgrind::run(job, profiles, true)?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let program = job.program.first().ok_or("no program")?;
    let lines = Lines {
        program: Path::new(program),
        sources: &mut Sources::default(),
    };
    evaluate(&printed, &profiles.parts()?, lines, disassembly)
}

/// The files in which the layers of instructions are looked up.
struct Lines<'a> {
    program: &'a Path,
    sources: &'a mut Sources,
}

/// Brings together the loops that the program names and the parts that callgrind has written, one for one.
fn evaluate(
    printed: &str,
    parts: &[String],
    lines: Lines<'_>,
    disassembly: &mut Disassembly,
) -> Result<Counted, String> {
    let loops: Vec<_> = printed
        .lines()
        .filter_map(|line| line.strip_prefix("loop\t"))
        .collect();
    if loops.len() != parts.len() {
        return Err(format!(
            "{} loops were run, callgrind has written {} parts",
            loops.len(),
            parts.len()
        ));
    }
    let mut counted = Counted::default();
    let mut sums: BTreeMap<Call, Sum> = BTreeMap::new();
    for (line, part) in loops.iter().zip(parts) {
        let fields: Vec<_> = line.split('\t').collect();
        let [routine, target, kind, rounds] = fields[..] else {
            return Err(format!("a line of the program is not understood: {line}"));
        };
        // (call 2N - call N) - (bare 2N - bare N), divided by N
        let sign = match (kind, rounds.parse() == Ok(2 * ROUNDS)) {
            ("call", true) | ("bare", false) => 1,
            ("call", false) | ("bare", true) => -1,
            _ => continue,
        };
        let call = (routine.to_owned(), target.to_owned());
        if kind == "call" {
            let mut executed = Costs::default();
            executed.add(part, 1).map_err(|error| error.to_string())?;
            let locking = counted.locking.entry(call.clone()).or_default();
            locking.extend(disassembly.locking(&executed)?);
        }
        sums.entry(call).or_default().add(part, sign)?;
    }
    for (call, sum) in sums {
        let layers = sum.layers(lines.program, lines.sources)?;
        let of_layers: f64 = layers.values().sum();
        let all = sum.all as f64 / ROUNDS as f64;
        if (of_layers - all).abs() > 0.0005 {
            return Err(format!(
                "{}, {}: {all} instructions, those of the layers are {of_layers}",
                call.0, call.1
            ));
        }
        counted.counts.insert(call.clone(), all);
        counted.layers.insert(call, layers);
    }
    Ok(counted)
}

/// The parts of one call, added up.
#[derive(Default)]
struct Sum {
    /// All instructions, without those in which the device acts.
    all: i64,
    costs: Costs,
    /// Instructions in which the device acts, and which are among the costs: of the C library.
    acting: i64,
}

impl Sum {
    fn add(&mut self, part: &str, sign: i64) -> Result<(), String> {
        let text = |error: profile::NotUnderstood| error.to_string();
        let signed = |count: u64| sign * i64::try_from(count).unwrap_or(i64::MAX);
        let total = profile::total(part).ok_or("a part of callgrind's has no total")?;
        let acting = profile::inclusive(part, ACTING).map_err(text)?;
        let is_left_out = |object: &Path, function: &str| {
            acting > 0 && (object.ends_with(SHIM) || profile::is_named(function, ACTING))
        };
        let left_out = self.costs.add_but(part, sign, is_left_out).map_err(text)?;
        self.all += signed(total) - signed(acting);
        self.acting += signed(acting) - signed(left_out);
        Ok(())
    }

    /// Returns the instructions of one call by layer.
    fn layers(&self, program: &Path, sources: &mut Sources) -> Result<Layers, String> {
        let mut layers = self.costs.layers(program, sources)?;
        *layers.entry(Layer::Misc).or_default() -= self.acting as f64;
        layers
            .values_mut()
            .for_each(|count| *count /= ROUNDS as f64);
        Ok(layers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "loop\tr\theap\tfirst\t1\nloop\tr\theap\tcall\t1024\nloop\tr\theap\tcall\t2048\n\
        other output\nloop\tr\theap\tbare\t1024\nloop\tr\theap\tbare\t2048\n";

    /// Returns the address of the first instruction of a file of machine code.
    fn entry(file: &Path) -> u64 {
        let bytes = std::fs::read(file).expect("it can be read");
        let field = bytes[24..32].try_into().expect("8 bytes of its header");
        u64::from_le_bytes(field)
    }

    /// Evaluates parts whose instructions are all at the entry of this program.
    fn evaluated(totals: &[u64]) -> Result<Counted, String> {
        let own = std::env::current_exe().expect("the test has a file");
        let (name, entry) = (own.display(), entry(&own));
        let part = |total| {
            let costs = format!("ob={name}\nfn=_start\n{entry:#x} {total}");
            format!("positions: instr\n{costs}\ntotals: {total}\n")
        };
        let parts: Vec<_> = totals.iter().map(part).collect();
        let lines = Lines {
            program: &own,
            sources: &mut Sources::default(),
        };
        evaluate(PRINTED, &parts, lines, &mut Disassembly::default())
    }

    #[test]
    fn what_both_loops_have_is_taken_away() {
        let counted = evaluated(&[99, 20_490, 40_970, 6_149, 12_293]).expect("evaluated");
        let call = ("r".to_owned(), "heap".to_owned());
        assert_eq!(counted.counts.get(&call), Some(&14.0));
        let layers = [(Layer::Caller, 14.0), (Layer::Misc, 0.0)];
        assert_eq!(counted.layers.get(&call), Some(&layers.into()));
    }

    #[test]
    fn a_part_for_every_loop() {
        assert!(evaluated(&[1, 2, 3, 4]).is_err());
    }
}
