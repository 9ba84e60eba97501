//! The command line.

use std::ffi::OsString;
use std::time::Duration;

use lexopt::prelude::*;

use super::{Failure, USAGE};

/// What is to be done.
#[derive(Debug)]
pub(super) enum Request {
    Run(Options),
    /// Print this and be done.
    Print(String),
}

/// How to run a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) pes: usize,
    pub(super) bind: bool,
    pub(super) label: bool,
    /// How the PEs' output gets out; `None` leaves it to what takes it.
    pub(super) passage: Option<Passage>,
    pub(super) timeout: Option<Duration>,
    /// Variables for the PEs: name and value.
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
}

/// The way of the PEs' output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passage {
    /// Through pipes, in whole lines.
    Lines,
    /// The PEs have oshrun's own stdout and stderr.
    Direct,
}

/// A larger number is a slip of the finger, and starting as many PEs would bring the machine down.
const MOST_PES: usize = 65_536;

const HELP: &str = "\
Usage: oshrun [options] [--] program [arguments]

Starts N PEs of an OpenSHMEM program on this machine. A program that ends in .c, .cc, .cpp or .cxx
is compiled first (with the oshcc or oshc++ beside oshrun, -O2 -g).

  -n N, -np N            how many PEs (1)
  --bind core|none       core: PE i runs on the i-th core only, which needs a core for each PE;
                         none (the default): the system places PEs as it likes
  --output lines|direct  lines: the PEs write into pipes, and oshrun writes their lines out whole;
                         direct: the PEs write to oshrun's stdout and stderr themselves;
                         by default, each of the two is lines when it is no terminal and N > 1
  -l, --label            begin each line of output with the PE's number, as in \"[3] text\";
                         lines come out whole
  -x, --env NAME=VALUE   set a variable for the PEs, which get oshrun's whole environment anyway
  --timeout SECONDS      end the job after this time, with exit status 124
  -h, --help             print this
  -V, --version          print the version

PE 0 reads oshrun's standard input, the others read none. A program's name without a slash is looked up
in PATH, then in the current folder.

Exit status: that of the first PE that failed (128 + N when signal N killed it), or what
shmem_global_exit was given; 2 for a wrong command line, 126 or 127 when the program cannot be run.
";

/// Reads the arguments, the program's name excluded.
pub(super) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Request, Failure> {
    let mut parser = lexopt::Parser::from_args(arguments);
    let mut options = Options {
        pes: 1,
        bind: false,
        label: false,
        passage: None,
        timeout: None,
        environment: Vec::new(),
        program: OsString::new(),
        arguments: Vec::new(),
    };
    loop {
        if let Some(word) = single_dash_word(&mut parser) {
            match word {
                "-np" => options.pes = count(&parser.value().map_err(usage)?)?,
                host => return Err(several_hosts(host)),
            }
            continue;
        }
        match parser.next().map_err(usage)? {
            Some(Short('n') | Long("np" | "n")) => {
                options.pes = count(&parser.value().map_err(usage)?)?
            }
            Some(Long("bind")) => options.bind = bind(&parser.value().map_err(usage)?)?,
            Some(Long("output")) => {
                options.passage = Some(passage(&parser.value().map_err(usage)?)?)
            }
            Some(Short('l') | Long("label")) => options.label = true,
            Some(Short('x') | Long("env")) => options
                .environment
                .extend(variable(&parser.value().map_err(usage)?)?),
            Some(Long("timeout")) => {
                options.timeout = Some(seconds(&parser.value().map_err(usage)?)?)
            }
            Some(Short('h') | Long("help")) => return Ok(Request::Print(HELP.to_owned())),
            Some(Short('V') | Long("version")) => {
                return Ok(Request::Print(format!(
                    "oshrun (Farreach) {}\n",
                    env!("CARGO_PKG_VERSION")
                )));
            }
            Some(Short('H')) => return Err(several_hosts("-H")),
            Some(Long(name @ ("host" | "hosts" | "hostfile" | "machinefile"))) => {
                return Err(several_hosts(&format!("--{name}")));
            }
            Some(Value(program)) => {
                options.program = program;
                options.arguments = parser.raw_args().map_err(usage)?.collect();
                if options.program.is_empty() {
                    return Err(Failure::new(USAGE, "the program's name is empty"));
                }
                if options.label && options.passage == Some(Passage::Direct) {
                    return Err(Failure::new(
                        USAGE,
                        "--label and --output direct exclude each other",
                    ));
                }
                return Ok(Request::Run(options));
            }
            Some(other) => return Err(usage(other.unexpected())),
            None => {
                return Err(Failure::new(
                    USAGE,
                    "no program is given; oshrun --help tells the usage",
                ));
            }
        }
    }
}

/// Takes one of the long words that other launchers write with a single dash.
fn single_dash_word(parser: &mut lexopt::Parser) -> Option<&'static str> {
    const WORDS: [&str; 6] = ["-np", "-host", "-hosts", "-hostfile", "-machinefile", "-f"];
    let mut raw = parser.try_raw_args()?;
    let next = raw.peek()?;
    let word = WORDS.into_iter().find(|word| next == *word)?;
    raw.next();
    Some(word)
}

fn usage(error: lexopt::Error) -> Failure {
    Failure::new(USAGE, format!("{error}; oshrun --help tells the usage"))
}

fn several_hosts(option: &str) -> Failure {
    Failure::new(
        USAGE,
        format!(
            "{option}: jobs over several hosts are not there yet; oshrun starts PEs on this machine only"
        ),
    )
}

fn count(text: &OsString) -> Result<usize, Failure> {
    let wrong = || {
        Failure::new(
            USAGE,
            format!("-n takes the number of PEs, from 1 to {MOST_PES}, not {text:?}"),
        )
    };
    let number = text
        .to_str()
        .and_then(|text| text.parse::<usize>().ok())
        .ok_or_else(wrong)?;
    if (1..=MOST_PES).contains(&number) {
        Ok(number)
    } else {
        Err(wrong())
    }
}

fn bind(text: &OsString) -> Result<bool, Failure> {
    match text.to_str() {
        Some("core") => Ok(true),
        Some("none") => Ok(false),
        _ => Err(Failure::new(
            USAGE,
            format!("--bind takes core or none, not {text:?}"),
        )),
    }
}

fn passage(text: &OsString) -> Result<Passage, Failure> {
    match text.to_str() {
        Some("lines") => Ok(Passage::Lines),
        Some("direct") => Ok(Passage::Direct),
        _ => Err(Failure::new(
            USAGE,
            format!("--output takes lines or direct, not {text:?}"),
        )),
    }
}

/// `NAME=VALUE`; a bare `NAME`, which other launchers know, asks for what happens anyway.
fn variable(text: &OsString) -> Result<Option<(OsString, OsString)>, Failure> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let bytes = text.as_bytes();
    let (name, value) = match bytes.iter().position(|&byte| byte == b'=') {
        Some(at) => (&bytes[..at], Some(&bytes[at + 1..])),
        None => (bytes, None),
    };
    if name.is_empty() {
        return Err(Failure::new(
            USAGE,
            format!("-x takes NAME=VALUE, not {text:?}"),
        ));
    }
    Ok(value.map(|value| {
        (
            OsString::from_vec(name.to_vec()),
            OsString::from_vec(value.to_vec()),
        )
    }))
}

fn seconds(text: &OsString) -> Result<Duration, Failure> {
    text.to_str()
        .and_then(|text| text.parse::<f64>().ok())
        .filter(|&seconds| seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            Failure::new(
                USAGE,
                format!("--timeout takes a number of seconds above 0, not {text:?}"),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str) -> Result<Options, String> {
        match parse(
            line.split(' ')
                .filter(|word| !word.is_empty())
                .map(OsString::from),
        ) {
            Ok(Request::Run(options)) => Ok(options),
            Ok(Request::Print(text)) => Err(text),
            Err(failure) => {
                assert_eq!(failure.status, USAGE);
                Err(failure.message)
            }
        }
    }

    #[test]
    fn every_form_of_the_number() {
        for line in [
            "-n 4 x",
            "-n4 x",
            "-np 4 x",
            "--np 4 x",
            "--np=4 x",
            "-n=4 x",
            "-l -np 4 x",
            "-n 2 -np 4 -- x",
        ] {
            assert_eq!(run(line).unwrap().pes, 4, "{line}");
        }
        assert_eq!(run("x").unwrap().pes, 1);
    }

    #[test]
    fn what_follows_the_program_is_its_own() {
        let options =
            run("--label -x A=b=c -x HOME --timeout 1.5 --bind core prog -n 3 -- -np --help")
                .unwrap();
        assert_eq!(options.program, "prog");
        assert_eq!(options.arguments, ["-n", "3", "--", "-np", "--help"]);
        assert_eq!(options.environment, [("A".into(), "b=c".into())]);
        assert_eq!(options.timeout, Some(Duration::from_millis(1500)));
        assert!(options.label && options.bind && options.pes == 1);
        assert_eq!(options.passage, None);
        let passage = |line| run(line).unwrap().passage;
        assert_eq!(passage("--output lines x"), Some(Passage::Lines));
        assert_eq!(passage("--output=direct x --output"), Some(Passage::Direct));
        assert_eq!(run("-n 2 -- -odd -np").unwrap().program, "-odd");
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("-n 0 x", "\"0\""),
            ("-n -1 x", "\"-1\""),
            ("-n four x", "\"four\""),
            ("-n 99999999999999999999 x", "from 1 to"),
            ("-np", "missing argument"),
            ("-n 2", "no program"),
            ("", "no program"),
            ("--frob x", "--frob"),
            ("--bind x", "core or none"),
            ("--output x", "lines or direct"),
            ("-l --output direct x", "exclude each other"),
            ("-x =3 x", "NAME=VALUE"),
            ("--timeout 0 x", "seconds"),
            ("--timeout nan x", "seconds"),
            ("--timeout 1e99 x", "seconds"),
            ("--label=3 x", "unexpected argument"),
        ] {
            let message = run(line).unwrap_err();
            assert!(
                message.contains(part) && !message.contains('\n'),
                "{line}: {message}"
            );
        }
    }

    #[test]
    fn several_hosts_are_refused() {
        for line in [
            "-H a,b x",
            "-host a x",
            "--host a x",
            "-hosts a x",
            "--hosts=a x",
            "--hostfile f x",
            "-f f x",
        ] {
            assert!(run(line).unwrap_err().contains("several hosts"), "{line}");
        }
    }

    #[test]
    fn help_and_version() {
        assert!(run("--help").unwrap_err().starts_with("Usage: oshrun"));
        assert!(run("-n 3 --version").unwrap_err().contains("Farreach"));
    }
}
