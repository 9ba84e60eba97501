//! Counts the instructions of the library's calls, by layer and against their budgets.
//!
//! docs/critical-path.md names the counted calls and the way of counting; `tests/icount/icount`
//! builds this and starts it.

mod am;
mod barriers;
mod cases;
mod claims;
mod far;
mod gasnet;
mod instructions;
mod ofi;
mod peers;
mod table;

use farreach_icount::table::Table;
use instructions::Disassembly;
use lexopt::Arg::{Long, Short, Value};
use lexopt::ValueExt;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const USAGE: &str = "\
tests/icount/icount [OPTIONS]
    counts the instructions of the library's calls, prints a table and fails if one is over its budget
  --near               leave out the calls to another node, and those of libfabric
  --only PART          count this part alone: near, line, raw, rust, far, beside, libfabric, ofi, am or gasnet
  --check              fail also if the table in docs/critical-path.md differs
  --against REV|FILE   tell of the differences from the counts of a revision, or from a stored table
  --update             write the table into docs/critical-path.md
  --root DIR           the project's folder (default: the current one)
  --budgets FILE       budgets (default: tests/icount/budgets.tsv in it)
  --document FILE      the document with the table (default: docs/critical-path.md in it)
  --oshcc PROGRAM      compile by this (default: the staged oshcc); may be another library's
  --oshcc-flag FLAG    give this to oshcc; may be repeated
  --oshrun PROGRAM     run by this (default: the staged oshrun); without the calls to another node
";

/// The options of the command line.
struct Options {
    near: bool,
    only: Option<(&'static str, Counter)>,
    check: bool,
    update: bool,
    against: Option<String>,
    root: PathBuf,
    budgets: Option<PathBuf>,
    document: Option<PathBuf>,
    tools: Tools,
}

/// The tools by which programs are compiled and started.
struct Tools {
    oshcc: PathBuf,
    oshcc_flags: Vec<OsString>,
    oshrun: PathBuf,
    softhca: PathBuf,
    /// The loops of the fabric's own objects.
    raw: PathBuf,
    /// The loops of the safe Rust interface.
    rust: PathBuf,
    /// The folder of the libfabric provider.
    provider: PathBuf,
    /// The folder of the libraries.
    libraries: PathBuf,
    /// Whether oshcc and oshrun may be those of another library, which has no software device.
    is_another: bool,
}

/// Counts the calls of one part of the table: the tools, and the folder of the programs.
type Counter = fn(&Tools, &Path, &mut Disassembly) -> Result<cases::Counted, String>;

/// All parts, by their names; the first is that of any OpenSHMEM library.
const PARTS: [(&str, Counter); 10] = [
    ("near", cases::near),
    ("line", |tools, folder, disassembly| {
        cases::in_line(tools, folder, &[], disassembly)
    }),
    ("raw", |tools, _, disassembly| {
        cases::raw(tools, disassembly)
    }),
    ("rust", |tools, _, disassembly| {
        cases::rust(tools, disassembly)
    }),
    ("far", far::far),
    ("beside", far::beside),
    ("libfabric", far::libfabric),
    ("ofi", ofi::ofi),
    ("am", am::am),
    ("gasnet", gasnet::gasnet),
];
/// Number of them that stay on the node.
const ON_NODE: usize = 4;

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("icount: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let file =
        |chosen: &Option<PathBuf>, name| chosen.clone().unwrap_or_else(|| options.root.join(name));
    let budgets = table::Budgets::read(&file(&options.budgets, "tests/icount/budgets.tsv"))?;
    // A mistake in the name is told before anything is counted.
    let old = options.against.as_deref();
    let old = old.map(|name| Ok::<_, String>((name, before(&options.root, name)?)));
    let old = old.transpose()?;
    let folder = options.root.join("tests/icount");
    if let Some((_, count)) = options.only {
        let counted = count(&options.tools, &folder, &mut Disassembly::default())?;
        return only(budgets, &counted);
    }
    let parts = if options.tools.is_another {
        1
    } else if options.near {
        ON_NODE
    } else {
        PARTS.len()
    };
    let counted = counted(&PARTS[..parts], &options.tools, &folder)?;
    let budgets = if options.tools.is_another {
        budgets.of_another().without_far()
    } else if options.near {
        budgets.without_far()
    } else {
        budgets
    };
    let mut wrong = budgets.broken(&counted);
    if !options.tools.is_another {
        let libshmem = options.tools.oshcc.with_file_name("../lib/libshmem.so");
        wrong.extend(barriers::broken(&options.root, &libshmem)?);
    }
    let rows = budgets.with_counts(&counted.counts)?;
    let layers = table::stored(&rows, &counted.layers);
    let document = file(&options.document, "docs/critical-path.md");
    let stored = options.root.join(LAYERS);
    print!("{}", table::printed(&rows));
    let mut parts = vec![table::counts(&rows), table::layers(&rows, &layers)];
    if !options.near && !options.tools.is_another {
        let path = folder.join("peers.tsv");
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = fs::read_to_string(&path).map_err(|error| named(&error))?;
        let peers = peers::table(&text, &layers).map_err(|error| named(&error))?;
        parts.push(table::peers(peers));
        parts.push(table::example(&layers)?);
    }
    if options.update {
        for part in &parts {
            table::update(&document, part)?;
        }
        fs::write(&stored, layers.text())
            .map_err(|error| format!("{}: {error}", stored.display()))?;
    }
    wrong.extend(table::over_budget(&rows));
    if !options.tools.is_another {
        wrong.extend(table::unaccounted(&layers));
    }
    if options.check {
        for part in &parts {
            wrong.extend(table::differences(&document, part)?);
        }
        wrong.extend(layers.against(&read(&stored)?));
    }
    if let Some((name, old)) = &old {
        print!("{}", told(&layers.against(old), name));
    }
    told_of(&wrong)
}

/// Counts these parts, one on each processor at a time: counts do not depend on other programs.
fn counted(
    parts: &[(&str, Counter)],
    tools: &Tools,
    folder: &Path,
) -> Result<cases::Counted, String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut done, mut disassembly) = (Vec::new(), Disassembly::default());
        // ORDERING: a number for each; nothing else is told by it.
        while let Some((at, (_, count))) =
            (parts.iter().enumerate()).nth(next.fetch_add(1, Ordering::Relaxed))
        {
            done.push((at, count(tools, folder, &mut disassembly)));
        }
        done
    };
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let done = thread::scope(|scope| {
        let workers: Vec<_> = (0..processors).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(thread::ScopedJoinHandle::join);
        ended.collect::<Result<Vec<_>, _>>()
    })
    .map_err(|_| "a part was not counted to its end")?;
    let mut done: Vec<_> = done.into_iter().flatten().collect();
    done.sort_by_key(|(at, _)| *at);
    let mut all = cases::Counted::default();
    for (_, counted) in done {
        all.extend(counted?);
    }
    Ok(all)
}

/// Prints the counts of one part beside their budgets.
fn only(budgets: table::Budgets, counted: &cases::Counted) -> Result<(), String> {
    let rows = budgets.of(counted).with_counts(&counted.counts)?;
    print!("{}", table::printed(&rows));
    told_of(&table::over_budget(&rows))
}

/// Fails with these sentences, where there are some.
fn told_of(wrong: &[String]) -> Result<(), String> {
    match wrong {
        [] => Ok(()),
        wrong => Err(wrong.join("\nicount: ")),
    }
}

/// The counts by layer of all calls, as of the last --update.
const LAYERS: &str = "tests/icount/layers.tsv";

fn read(path: &Path) -> Result<Table, String> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| named(&error))?;
    Table::read(&text).map_err(|error| named(&error))
}

/// Returns the counts of a revision of the project, or of a file that farreach icount --save or an
/// earlier --update has written.
fn before(root: &Path, against: &str) -> Result<Table, String> {
    let path = Path::new(against);
    if path.is_file() {
        return read(path);
    }
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["show", &format!("{against}:{LAYERS}")])
        .output()
        .map_err(|error| format!("git: {error}"))?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "--against {against}: neither a file nor a revision with counts: {}",
            error.trim()
        ));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Table::read(&text).map_err(|error| format!("{against}:{LAYERS}: {error}"))
}

/// Tells of differences.
fn told(lines: &[String], against: &str) -> String {
    if lines.is_empty() {
        return format!("no differences from {against}\n");
    }
    format!(
        "differences from {against}, old -> new:\n  {}\n",
        lines.join("\n  ")
    )
}

/// Returns the target directory that this program was built into.
fn target() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("/proc/self/exe: {error}"))?;
    let target = own.ancestors().nth(2);
    Ok(target
        .ok_or("this program is not in a target directory")?
        .to_owned())
}

/// Returns a tool of the staged installation, which lies in the target directory.
fn staged(name: &str) -> Result<PathBuf, String> {
    Ok(target()?.join("farreach/bin").join(name))
}

fn options() -> Result<Options, String> {
    let text = |error: lexopt::Error| format!("{error}\n{USAGE}");
    let mut parser = lexopt::Parser::from_env();
    let mut options = Options {
        near: false,
        only: None,
        check: false,
        update: false,
        against: None,
        root: PathBuf::from("."),
        budgets: None,
        document: None,
        tools: Tools {
            oshcc: staged("oshcc")?,
            oshcc_flags: Vec::new(),
            oshrun: staged("oshrun")?,
            softhca: staged("softhca")?,
            raw: target()?.join("release/examples/icount-raw"),
            rust: target()?.join("release/examples/icount-rust"),
            provider: target()?.join("farreach/lib/farreach"),
            libraries: target()?.join("farreach/lib"),
            is_another: false,
        },
    };
    while let Some(arg) = parser.next().map_err(text)? {
        match arg {
            Long("near") => options.near = true,
            Long("only") => {
                let value = parser.value().map_err(text)?.string().map_err(text)?;
                let part = PARTS.into_iter().find(|(name, _)| *name == value);
                options.only =
                    Some(part.ok_or_else(|| format!("--only {value}: no such part\n{USAGE}"))?);
            }
            Long("check") => options.check = true,
            Long("update") => options.update = true,
            Long("against") => {
                let value = parser.value().map_err(text)?.string().map_err(text)?;
                options.against = Some(value);
            }
            Long("root") => options.root = parser.value().map_err(text)?.into(),
            Long("budgets") => options.budgets = Some(parser.value().map_err(text)?.into()),
            Long("document") => options.document = Some(parser.value().map_err(text)?.into()),
            Long("oshcc") => options.tools.oshcc = parser.value().map_err(text)?.into(),
            Long("oshcc-flag") => options
                .tools
                .oshcc_flags
                .push(parser.value().map_err(text)?),
            Long("oshrun") => {
                options.tools.oshrun = parser.value().map_err(text)?.into();
                options.tools.is_another = true;
            }
            Long("help") | Short('h') => {
                print!("{USAGE}");
                std::process::exit(0);
            }
            Value(_) | Long(_) | Short(_) => return Err(text(arg.unexpected())),
        }
    }
    let is_part = options.near || options.only.is_some();
    if is_part && options.update {
        return Err("--update needs all parts".to_owned());
    }
    if options.only.is_some() && (options.near || options.check || options.against.is_some()) {
        return Err("--only goes with neither --near, --check nor --against".to_owned());
    }
    Ok(options)
}
