//! `farreach icount`: the instructions of a program's calls, by layer.

use farreach_icount::calls::{self, Details, Routines, count};
use farreach_icount::table::Table;
use lexopt::prelude::*;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The help text.
pub(crate) const HELP: &str = "\
Usage: farreach icount [options] [--] PROGRAM [ARGUMENTS...]

Runs a job with one PE under valgrind's callgrind, and tells for each routine of Farreach's libraries
that the program calls how many instructions one call takes on that PE, on the average, by layer. The
counted library is the one that the program is linked with.

  -n PES                 number of PEs, started by oshrun (2)
  --launcher WORDS       start the job by these words, as 'oshrun -n 2 --ppn 1 --fabric softhca' or
                         'mpiexec -n 2'; 'env' for a program that is no job
  --pe PE                the PE on which is counted (0)
  --function NAME        count a function of the program, with all that it calls, in place of the
                         libraries' routines
  --lines                tell also of the source lines that the instructions are of
  --save FILE            write the counts to FILE
  --against FILE         tell also of the differences from counts that --save wrote
  -h, --help             print this

valgrind is needed (Debian: valgrind). Counts of one program and one build are the same in every run,
but for loops that wait (\"waiting\") and decisions that depend on another PE.

Exit status: 1 where the job fails or nothing is counted, 2 for a wrong command line.
";

/// The command line.
#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    launcher: Vec<OsString>,
    pe: u32,
    function: Option<String>,
    lines: bool,
    save: Option<PathBuf>,
    against: Option<PathBuf>,
    program: Vec<OsString>,
}

/// Reads the arguments behind `icount`; `None` where help is wanted, a message where they are
/// wrong.
pub(crate) fn parse(parser: &mut lexopt::Parser) -> Result<Option<Options>, String> {
    let text = |error: lexopt::Error| error.to_string();
    let mut pes = None;
    let mut launcher = None;
    let mut options = Options {
        launcher: Vec::new(),
        pe: 0,
        function: None,
        lines: false,
        save: None,
        against: None,
        program: Vec::new(),
    };
    while let Some(argument) = parser.next().map_err(text)? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Short('n') => pes = Some(whole(&parser.value().map_err(text)?, "-n")?),
            Long("launcher") => launcher = Some(parser.value().map_err(text)?),
            Long("pe") => options.pe = whole(&parser.value().map_err(text)?, "--pe")?,
            Long("function") => {
                let name = parser.value().map_err(text)?.string().map_err(text)?;
                options.function = Some(name);
            }
            Long("lines") => options.lines = true,
            Long("save") => options.save = Some(parser.value().map_err(text)?.into()),
            Long("against") => options.against = Some(parser.value().map_err(text)?.into()),
            Value(program) => {
                options.program.push(program);
                options.program.extend(parser.raw_args().map_err(text)?);
            }
            other => return Err(text(other.unexpected())),
        }
    }
    if options.program.is_empty() {
        return Err("icount needs a program".to_owned());
    }
    options.launcher = match (launcher, pes) {
        (Some(_), Some(_)) => return Err("-n and --launcher exclude each other".to_owned()),
        (Some(words), None) => {
            let words = words.string().map_err(text)?;
            words.split_whitespace().map(OsString::from).collect()
        }
        (None, pes) => {
            let pes = pes.unwrap_or(2);
            if pes == 0 {
                return Err("-n takes a number of PEs from 1, not 0".to_owned());
            }
            if options.pe >= pes {
                return Err(format!("there is no PE {} among {pes}", options.pe));
            }
            vec![oshrun(), "-n".into(), pes.to_string().into()]
        }
    };
    if options.launcher.is_empty() {
        return Err("--launcher needs a program".to_owned());
    }
    Ok(Some(options))
}

fn whole(text: &OsString, option: &str) -> Result<u32, String> {
    let number = text.to_str().and_then(|text| text.parse().ok());
    number.ok_or_else(|| format!("{option} takes a number, not {text:?}"))
}

/// Returns the oshrun beside this program; a name to be found in `PATH` where there is none.
fn oshrun() -> OsString {
    let beside = env::current_exe().map(|own| own.with_file_name("oshrun"));
    match beside {
        Ok(path) if path.is_file() => path.into(),
        _ => "oshrun".into(),
    }
}

/// Runs the job and returns the report.
pub(crate) fn tell(options: &Options) -> Result<String, String> {
    if !is_in_path("valgrind") {
        return Err("valgrind is missing; on Debian: apt-get install valgrind".to_owned());
    }
    if let Some(name) = options.program.first() {
        check(name)?;
    }
    let old = match &options.against {
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|error| named(path, &error))?;
            Some(Table::read(&text).map_err(|error| named(path, &error))?)
        }
        None => None,
    };
    let routines = match &options.function {
        Some(name) => Routines::Named(name),
        None => Routines::OfLibraries,
    };
    let calls = count(&options.launcher, options.pe, &options.program, routines)?;
    if calls.is_empty() {
        return Err(nothing(options));
    }
    let details = Details {
        inside: options.function.is_some(),
        lines: options.lines,
    };
    let mut report = calls::report(options.pe, &calls, details);
    let mut table = Table::default();
    for (name, call) in &calls {
        let key = (name.clone(), format!("PE {}", options.pe));
        table.0.insert(key, call.layers.clone());
    }
    if let Some(path) = &options.save {
        fs::write(path, table.text()).map_err(|error| named(path, &error))?;
    }
    if let Some(old) = old {
        let lines = table.against(&old);
        report.push_str(if lines.is_empty() {
            "\nno differences\n"
        } else {
            "\ndifferences, old -> new:\n"
        });
        for line in lines {
            let _ = writeln!(report, "  {line}");
        }
    }
    Ok(report)
}

fn named(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

fn is_in_path(program: impl AsRef<Path>) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(&program).is_file())
}

/// Checks that there is a program of this name before a shell, valgrind and the launcher each find
/// that there is none.
fn check(name: &OsStr) -> Result<(), String> {
    let path = Path::new(name);
    let why = if name.is_empty() {
        return Err("the program's name is empty".to_owned());
    } else if !name.as_encoded_bytes().contains(&b'/') {
        (!is_in_path(path)).then_some(": no such program in PATH")
    } else if path.is_dir() {
        Some(" is a folder, not a program")
    } else {
        (!path.exists()).then_some(": no such file")
    };
    why.map_or(Ok(()), |why| Err(format!("{}{why}", path.display())))
}

fn nothing(options: &Options) -> String {
    match &options.function {
        Some(name) => format!(
            "{name} was not called on PE {}. If the program has a function of that name, the compiler may have inlined \
             it: declare it __attribute__((noinline)); and do not strip the program",
            options.pe
        ),
        None => format!(
            "the program calls no routine of libshmem.so, libfarreach-am.so or libfarreach-fi.so on PE {}: count a \
             function of a static program or of one in Rust by --function",
            options.pe
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Option<Options>, String> {
        parse(&mut lexopt::Parser::from_args(line.split_whitespace()))
    }

    #[test]
    fn arguments_of_the_program_are_its_own() {
        let options = parsed("-n 3 --pe 2 ./a.out -n 4")
            .expect("right")
            .expect("not help");
        assert_eq!(options.program, ["./a.out", "-n", "4"]);
        assert_eq!(
            (options.pe, &options.launcher[1..]),
            (2, &["-n".into(), "3".into()][..])
        );
        assert_eq!(parsed("--help"), Ok(None));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("", "needs a program"),
            ("--frob", "'--frob'"),
            ("-n many a", "-n takes a number, not \"many\""),
            ("--pe 2 a", "no PE 2 among 2"),
            ("-n 0 a", "-n takes a number of PEs from 1, not 0"),
            ("-n 2 --launcher x a", "exclude"),
            ("--launcher", "missing argument"),
        ] {
            let message = parsed(line).expect_err(line);
            assert!(message.contains(part), "{line}: {message}");
        }
    }

    #[test]
    fn programs_that_are_none_are_named() {
        for (name, part) in [
            ("", "the program's name is empty"),
            ("/nowhere/at/all", "/nowhere/at/all: no such file"),
            ("/tmp", "/tmp is a folder, not a program"),
            (
                "no-such-program",
                "no-such-program: no such program in PATH",
            ),
        ] {
            assert_eq!(check(name.as_ref()), Err(part.to_owned()));
        }
        assert_eq!(check("sh".as_ref()), Ok(()));
        assert_eq!(check("/bin/sh".as_ref()), Ok(()));
    }
}
