//! Counts instructions: of the library's calls, against their budgets, and of a function of somebody's program.
//!
//! docs/critical-path.md says what is counted and how; `tests/icount/icount` builds this and starts it.

mod am;
mod barriers;
mod callgrind;
mod cases;
mod claims;
mod far;
mod function;
mod gasnet;
mod instructions;
mod ofi;
mod scratch;
mod table;

use instructions::Disassembly;
use lexopt::Arg::{Long, Short, Value};
use lexopt::ValueExt;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
tests/icount/icount [OPTIONS]
    counts the instructions of the library's calls, prints a table and fails if one is over its budget
  --near               leave out the calls to another node, and those of libfabric
  --check              fail also if the table in docs/critical-path.md differs
  --update             write the table into docs/critical-path.md
  --root DIR           the project's folder (default: the current one)
  --budgets FILE       budgets (default: tests/icount/budgets.tsv in it)
  --document FILE      the document with the table (default: docs/critical-path.md in it)
  --oshcc PROGRAM      compile by this (default: the staged oshcc); may be another library's
  --oshcc-flag FLAG    give this to oshcc; may be repeated
  --oshrun PROGRAM     run by this (default: the staged oshrun); without the calls to another node

tests/icount/icount --function NAME [OPTIONS] [--] PROGRAM ARGUMENTS...
    runs an OpenSHMEM program and counts the instructions of its function NAME on one PE, with all that it calls
  -n PES               number of PEs (default: 2)
  --pe PE              the PE on which is counted (default: 0)
  --oshrun PROGRAM     as above
";

/// What the command line asks for.
struct Options {
    near: bool,
    check: bool,
    update: bool,
    root: PathBuf,
    budgets: Option<PathBuf>,
    document: Option<PathBuf>,
    tools: Tools,
    function: Option<String>,
    pes: u32,
    pe: u32,
    program: Vec<OsString>,
}

/// How programs are compiled and started.
struct Tools {
    oshcc: PathBuf,
    oshcc_flags: Vec<OsString>,
    oshrun: PathBuf,
    softhca: PathBuf,
    /// The loops of the fabric's own objects.
    raw: PathBuf,
    /// The folder of the libfabric provider.
    provider: PathBuf,
    /// The folder of the libraries.
    libraries: PathBuf,
    /// Whether oshcc and oshrun may be those of another library, which has no software device.
    is_another: bool,
}

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
    if let Some(name) = &options.function {
        let measured = function::count(
            &options.tools.oshrun,
            name,
            options.pes,
            options.pe,
            &options.program,
        )?;
        print!("{measured}");
        return Ok(());
    }
    let file =
        |chosen: &Option<PathBuf>, name| chosen.clone().unwrap_or_else(|| options.root.join(name));
    let budgets = table::Budgets::read(&file(&options.budgets, "tests/icount/budgets.tsv"))?;
    let folder = options.root.join("tests/icount");
    let mut disassembly = Disassembly::default();
    let mut counted = cases::near(&options.tools, &folder, &mut disassembly)?;
    let budgets = if options.tools.is_another {
        budgets.of_another()
    } else {
        counted.extend(cases::in_line(
            &options.tools,
            &folder,
            &[],
            &mut disassembly,
        )?);
        counted.extend(cases::raw(&options.tools, &mut disassembly)?);
        budgets
    };
    let budgets = if options.near || options.tools.is_another {
        budgets.without_far()
    } else {
        counted.extend(far::far(&options.tools, &folder, &mut disassembly)?);
        counted.extend(far::beside(&options.tools, &folder, &mut disassembly)?);
        counted.extend(ofi::ofi(&options.tools, &folder, &mut disassembly)?);
        counted.extend(am::am(&options.tools, &folder, &mut disassembly)?);
        counted.extend(gasnet::gasnet(&options.tools, &folder, &mut disassembly)?);
        budgets
    };
    let mut wrong = budgets.broken(&counted);
    if !options.tools.is_another {
        let libshmem = options.tools.oshcc.with_file_name("../lib/libshmem.so");
        wrong.extend(barriers::broken(&options.root, &libshmem)?);
    }
    let rows = budgets.with_counts(&counted.counts)?;
    let document = file(&options.document, "docs/critical-path.md");
    print!("{}", table::printed(&rows));
    if options.update {
        table::update(&document, &rows)?;
    }
    wrong.extend(table::over_budget(&rows));
    if options.check {
        wrong.extend(table::differences(&document, &rows)?);
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\nicount: "))
    }
}

/// The target directory that this program was built into.
fn target() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("/proc/self/exe: {error}"))?;
    let target = own.ancestors().nth(2);
    Ok(target
        .ok_or("this program is not in a target directory")?
        .to_owned())
}

/// A tool of the staged installation, which lies in the target directory.
fn staged(name: &str) -> Result<PathBuf, String> {
    Ok(target()?.join("farreach/bin").join(name))
}

fn options() -> Result<Options, String> {
    let text = |error: lexopt::Error| format!("{error}\n{USAGE}");
    let mut parser = lexopt::Parser::from_env();
    let mut options = Options {
        near: false,
        check: false,
        update: false,
        root: PathBuf::from("."),
        budgets: None,
        document: None,
        tools: Tools {
            oshcc: staged("oshcc")?,
            oshcc_flags: Vec::new(),
            oshrun: staged("oshrun")?,
            softhca: staged("softhca")?,
            raw: target()?.join("release/examples/icount-raw"),
            provider: target()?.join("farreach/lib/farreach"),
            libraries: target()?.join("farreach/lib"),
            is_another: false,
        },
        function: None,
        pes: 2,
        pe: 0,
        program: Vec::new(),
    };
    while let Some(arg) = parser.next().map_err(text)? {
        match arg {
            Long("near") => options.near = true,
            Long("check") => options.check = true,
            Long("update") => options.update = true,
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
            Long("function") => {
                options.function = Some(parser.value().map_err(text)?.string().map_err(text)?);
            }
            Short('n') => options.pes = parser.value().map_err(text)?.parse().map_err(text)?,
            Long("pe") => options.pe = parser.value().map_err(text)?.parse().map_err(text)?,
            Long("help") | Short('h') => {
                print!("{USAGE}");
                std::process::exit(0);
            }
            Value(program) if options.function.is_some() => {
                options.program.push(program);
                options.program.extend(parser.raw_args().map_err(text)?);
            }
            Value(_) | Long(_) | Short(_) => return Err(text(arg.unexpected())),
        }
    }
    if options.function.is_some() && options.program.is_empty() {
        return Err(format!("--function needs a program\n{USAGE}"));
    }
    if options.near && options.update {
        return Err("--update needs the calls to another node, too".to_owned());
    }
    if options.pe >= options.pes {
        return Err(format!(
            "there is no PE {} among {}",
            options.pe, options.pes
        ));
    }
    Ok(options)
}
