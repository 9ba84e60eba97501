//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

use super::{Failure, USAGE};

/// The task of the command line.
#[derive(Debug)]
pub(super) enum Request {
    Run(Box<Options>),
    /// Print this and be done.
    Print(String),
}

/// The options of a job.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) pes: usize,
    /// Whether the user has said how many PEs.
    pub(super) counted: bool,
    /// Lists of hosts, as in `a,b:4`.
    pub(super) hosts: Vec<String>,
    /// Files that name hosts.
    pub(super) host_files: Vec<PathBuf>,
    /// The command that starts a program on a host.
    pub(super) launch_agent: Option<OsString>,
    /// The installation's folder on other hosts, where it is another than on this one.
    pub(super) prefix: Option<PathBuf>,
    pub(super) bind: bool,
    pub(super) label: bool,
    /// The way out of the PEs' output; `None` leaves it to the kind of file that takes it.
    pub(super) passage: Option<Passage>,
    pub(super) timeout: Option<Duration>,
    /// PEs that share a pretended node; `None` puts all on one.
    pub(super) per_node: Option<usize>,
    /// The way in which PEs on different nodes reach each other; `None` leaves it to the
    /// environment.
    pub(super) fabric: Option<Fabric>,
    /// The transport of the mlx5 fabric's queues; `None` leaves it to the environment.
    pub(super) transport: Option<Transport>,
    /// The resources that lanes of the device share, which the PEs know by this name; `None` leaves
    /// them to the environment.
    pub(super) lanes: Option<OsString>,
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

/// The fabric between the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fabric {
    Auto,
    Shm,
    Mlx5,
    Libfabric,
    /// mlx5, on a device in software that comes and goes with the job.
    Softhca,
}

impl Fabric {
    /// Returns the value of FARREACH_FABRIC for the PEs.
    pub(super) fn variable(self) -> &'static str {
        match self {
            Fabric::Auto => "auto",
            Fabric::Shm => "shm",
            Fabric::Libfabric => "libfabric",
            Fabric::Mlx5 | Fabric::Softhca => "mlx5",
        }
    }
}

/// The mlx5 fabric's queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Auto,
    Rc,
    Dc,
}

impl Transport {
    /// Returns the value of FARREACH_TRANSPORT for the PEs.
    pub(super) fn variable(self) -> &'static str {
        match self {
            Transport::Auto => "auto",
            Transport::Rc => "rc",
            Transport::Dc => "dc",
        }
    }
}

/// A larger number is a slip of the finger, and starting as many PEs would bring the machine down.
pub(super) const MOST_PES: usize = 65_536;

const HELP: &str = "\
Usage: oshrun [options] [--] program [arguments]

Starts N PEs of an OpenSHMEM program, on this machine or on several hosts. On this machine a program that
ends in .c, .cc, .cpp or .cxx is compiled first (with the oshcc or oshc++ beside oshrun, -O2 -g).

  -n N, -np N            how many PEs (1; with several hosts, one for each slot)
  -H, --host A,B:4       hosts, each with its slots (1), as in \"oshrun --host a:2,b:2 ./a.out\"; may be
                         repeated. Consecutive PEs fill the slots of the first host, then those of the next;
                         PEs that are more than slots go round again from the first host, in the same blocks
  --hostfile FILE        hosts by lines \"host\", \"host:4\" or \"host slots=4\"; \"#\" begins a comment. A host
                         that is there several times has as many slots, as in the node file of PBS
  --launch-agent CMD     the command that starts a program on a host, called as CMD HOST PROGRAM ARGUMENTS...,
                         as a line for a shell there (ssh -T -x -o BatchMode=yes -o ConnectTimeout=10); wins over
                         FARREACH_LAUNCH_AGENT. Without it this machine needs none for itself
  --prefix DIR           where Farreach is installed on the other hosts, if not in the same place
  --ppn K, -ppn K        pretend nodes of K PEs each, as in \"oshrun -n 5 --ppn 2\": {0,1} {2,3} {4};
                         PEs on different nodes have no memory in common and need a network
  --fabric NAME          what is between nodes; wins over FARREACH_FABRIC, which PEs read:
                         auto (the default): an mlx5 device, or else the system's libfabric;
                         mlx5, libfabric: that alone; shm: memory alone, on one node;
                         softhca: mlx5 on a device in software that comes and goes with the job,
                         as in \"oshrun -n 4 --ppn 2 --fabric softhca ./a.out\"; under \"softhca run\",
                         the device of that
  --transport NAME       the queues of mlx5: a connection to each PE (rc), queues that go to any (dc),
                         or by the size of the job (auto, the default), as in \"oshrun -n 4 --ppn 1
                         --fabric softhca --transport dc ./a.out\"; wins over FARREACH_TRANSPORT
  --lanes NAME           what lanes of the device share, one for each context: dynamic (the default),
                         static, ... (\"farreach info\" lists them); wins over FARREACH_LANES
  --bind core|none       core: PE i runs on the i-th core only, which needs a core for each PE;
                         none (the default): the system places PEs as it likes
  --output lines|direct  lines: the PEs write into pipes, and oshrun writes their lines out whole (up to
                         1 MiB each: of longer ones, parts may come between those of others);
                         direct: the PEs write to oshrun's stdout and stderr themselves;
                         by default, each of the two is lines when it is no terminal and N > 1
  -l, --label            begin each line of output with the PE's number, as in \"[3] text\";
                         lines come out whole
  -x, --env NAME=VALUE   set a variable for the PEs, which get oshrun's whole environment anyway
  --timeout SECONDS      end the job after this time, with exit status 124
  -h, --help             print this
  -V, --version          print the version

Names of other launchers are taken, too: --np, --n for -n; -host, -hosts, --hosts for --host;
-hostfile, -machinefile, --machinefile, -f for --hostfile; -x NAME changes nothing, as PEs get all
variables.

All PEs run one program: a \":\" among its arguments, where other launchers begin another (MPMD), is refused,
unless \"--\" stands before the program or nothing behind the \":\".
PE 0 reads oshrun's standard input, the others read none. A program's name without a slash is looked up
in PATH, then in the current folder.

Without --host and --hostfile, a job in an allocation of several nodes runs on these: those of the file in
PBS_NODEFILE, or of a Slurm job (SLURM_JOB_NODELIST, SLURM_TASKS_PER_NODE; by srun). PEs on other hosts have
oshrun's environment (except variables of one host, as HOSTNAME and SSH_*), its working directory, and the
program of the same path there. PE 0's input is passed on as it comes, and may be read before PE 0 asks.
FARREACH_HOST_TIMEOUT is how many seconds a host may be silent before the job ends (5; 0: for ever, for
debuggers), FARREACH_HOST_ADDRESS the addresses by which hosts reach this one, with commas between.

Exit status: that of the first PE that failed (128 + N when signal N killed it), or what
shmem_global_exit was given; 2 for a wrong command line, 126 or 127 when the program cannot be run,
1 when it does not compile or the job cannot be set up.
";

/// Reads the arguments, the program's name excluded.
pub(super) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Request, Failure> {
    let mut parser = lexopt::Parser::from_args(arguments);
    let mut options = Options {
        pes: 1,
        ..Options::default()
    };
    // Whether "--" says that all that follows is the program's.
    let mut literal = false;
    loop {
        let next = |raw: lexopt::RawArgs<'_>| raw.as_slice().first().cloned();
        literal |= parser
            .try_raw_args()
            .and_then(next)
            .is_some_and(|word| word == "--");
        if let Some(word) = single_dash_word(&mut parser) {
            match word {
                "-np" => options.take("-n", &mut parser)?,
                "-ppn" => options.take("--ppn", &mut parser)?,
                "-host" | "-hosts" => options.take("--host", &mut parser)?,
                _ => options.take("--hostfile", &mut parser)?,
            }
            continue;
        }
        match parser.next().map_err(usage)? {
            Some(Short('h') | Long("help")) => return Ok(Request::Print(HELP.to_owned())),
            Some(Short('V') | Long("version")) => {
                return Ok(Request::Print(format!(
                    "oshrun (Farreach) {}\n",
                    env!("CARGO_PKG_VERSION")
                )));
            }
            Some(Short('l') | Long("label")) => options.label = true,
            Some(Value(program)) => {
                options.program = program;
                options.arguments = parser.raw_args().map_err(usage)?.collect();
                if !literal {
                    options.refuse_several_programs()?;
                }
                let options = options.checked()?;
                return Ok(Request::Run(Box::new(options)));
            }
            Some(Short(letter)) => options.take(&format!("-{letter}"), &mut parser)?,
            Some(Long(name)) => {
                let option = format!("--{name}");
                options.take(&option, &mut parser)?;
            }
            None => {
                return Err(Failure::new(
                    USAGE,
                    "no program is given; oshrun --help tells the usage",
                ));
            }
        }
    }
}

impl Options {
    /// Takes an option that has a value, which the parser comes to next.
    fn take(&mut self, option: &str, parser: &mut lexopt::Parser) -> Result<(), Failure> {
        let mut value = || parser.value().map_err(usage);
        match option {
            "-n" | "--n" | "--np" => {
                self.pes = count("-n", &value()?)?;
                self.counted = true;
            }
            "-H" | "--host" | "--hosts" => {
                self.hosts.push(value()?.to_string_lossy().into_owned());
            }
            "--hostfile" | "--machinefile" => {
                let file = named("--hostfile", "a file", value()?)?;
                self.host_files.push(file.into());
            }
            "--launch-agent" => self.launch_agent = Some(value()?),
            "--prefix" => self.prefix = Some(absolute(&value()?)?),
            "--ppn" => self.per_node = Some(count("--ppn", &value()?)?),
            "--fabric" => self.fabric = Some(one_of("--fabric", &FABRICS, &value()?)?),
            "--transport" => self.transport = Some(one_of("--transport", &TRANSPORTS, &value()?)?),
            "--lanes" => self.lanes = Some(named("--lanes", "a policy", value()?)?),
            "--bind" => self.bind = one_of("--bind", &BINDINGS, &value()?)?,
            "--output" => self.passage = Some(one_of("--output", &PASSAGES, &value()?)?),
            "--timeout" => self.timeout = Some(seconds(&value()?)?),
            "-x" | "--env" => self.environment.extend(variable(&value()?)?),
            _ => return Err(usage(lexopt::Error::UnexpectedOption(option.to_owned()))),
        }
        Ok(())
    }

    /// Refuses several programs: other launchers take a ":" between arguments for the end of one
    /// program, and begin another with it.
    fn refuse_several_programs(&self) -> Result<(), Failure> {
        let colon = self.arguments.iter().position(|argument| argument == ":");
        match colon {
            Some(at) if at + 1 < self.arguments.len() => Err(Failure::new(
                USAGE,
                "several programs in one job (MPMD, with \":\" between them) are not there yet; \
                 for an argument \":\" of the program write -- before the program",
            )),
            _ => Ok(()),
        }
    }

    /// Returns these options, if they go together.
    fn checked(self) -> Result<Self, Failure> {
        if self.program.is_empty() {
            return Err(Failure::new(USAGE, "the program's name is empty"));
        }
        if self.label && self.passage == Some(Passage::Direct) {
            return Err(Failure::new(
                USAGE,
                "--label and --output direct exclude each other",
            ));
        }
        Ok(self)
    }
}

/// Takes one of the long words that other launchers write with a single dash.
fn single_dash_word(parser: &mut lexopt::Parser) -> Option<&'static str> {
    const WORDS: [&str; 7] = [
        "-np",
        "-ppn",
        "-host",
        "-hosts",
        "-hostfile",
        "-machinefile",
        "-f",
    ];
    let mut raw = parser.try_raw_args()?;
    let next = raw.peek()?;
    let word = WORDS.into_iter().find(|word| next == *word)?;
    raw.next();
    Some(word)
}

fn usage(error: lexopt::Error) -> Failure {
    Failure::new(USAGE, format!("{error}; oshrun --help tells the usage"))
}

fn count(option: &str, text: &OsString) -> Result<usize, Failure> {
    let what = if option == "-n" {
        "the number of PEs"
    } else {
        "the number of PEs on a node"
    };
    let wrong = || {
        Failure::new(
            USAGE,
            format!("{option} takes {what}, from 1 to {MOST_PES}, not {text:?}"),
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

const FABRICS: [(&str, Fabric); 5] = [
    ("auto", Fabric::Auto),
    ("shm", Fabric::Shm),
    ("mlx5", Fabric::Mlx5),
    ("libfabric", Fabric::Libfabric),
    ("softhca", Fabric::Softhca),
];
const TRANSPORTS: [(&str, Transport); 3] = [
    ("auto", Transport::Auto),
    ("rc", Transport::Rc),
    ("dc", Transport::Dc),
];
const BINDINGS: [(&str, bool); 2] = [("core", true), ("none", false)];
const PASSAGES: [(&str, Passage); 2] = [("lines", Passage::Lines), ("direct", Passage::Direct)];

/// Returns the meaning of the word `text`, which is one of `words`.
fn one_of<T: Copy>(option: &str, words: &[(&str, T)], text: &OsString) -> Result<T, Failure> {
    if let Some((_, meaning)) = words.iter().find(|(word, _)| text == word) {
        return Ok(*meaning);
    }
    let (last, others) = words.split_last().expect("options have words");
    let others: Vec<_> = others.iter().map(|(word, _)| *word).collect();
    Err(Failure::new(
        USAGE,
        format!(
            "{option} takes {} or {}, not {text:?}",
            others.join(", "),
            last.0
        ),
    ))
}

/// Parses `NAME=VALUE`; a bare `NAME`, which other launchers know, asks for the default.
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

/// Returns the installation's folder on other hosts, where nobody knows this one's working
/// directory.
fn absolute(text: &OsString) -> Result<PathBuf, Failure> {
    let path = PathBuf::from(text);
    if path.is_absolute() {
        return Ok(path);
    }
    Err(Failure::new(
        USAGE,
        format!("--prefix takes a path from the root, not {text:?}"),
    ))
}

/// Returns the name that an option has for its value.
fn named(option: &str, what: &str, text: OsString) -> Result<OsString, Failure> {
    if !text.is_empty() {
        return Ok(text);
    }
    Err(Failure::new(
        USAGE,
        format!("{option} takes the name of {what}, not \"\""),
    ))
}

/// The longest time of a job. The clock counts much longer ones no more.
const LONGEST: f64 = 1e9;

fn seconds(text: &OsString) -> Result<Duration, Failure> {
    text.to_str()
        .and_then(|text| text.parse::<f64>().ok())
        .filter(|&seconds| seconds > 0.0 && seconds <= LONGEST)
        .map(Duration::from_secs_f64)
        .ok_or_else(|| {
            Failure::new(
                USAGE,
                format!("--timeout takes seconds, above 0 and up to {LONGEST}, not {text:?}"),
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
            Ok(Request::Run(options)) => Ok(*options),
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
    fn every_form_of_nodes_and_fabrics() {
        for line in ["--ppn 2 x", "--ppn=2 x", "-ppn 2 x", "-n 3 -ppn 2 -- x"] {
            assert_eq!(run(line).unwrap().per_node, Some(2), "{line}");
        }
        for (line, fabric, variable) in [
            ("--fabric auto x", Fabric::Auto, "auto"),
            ("--fabric=shm x", Fabric::Shm, "shm"),
            ("--fabric shm --fabric mlx5 x", Fabric::Mlx5, "mlx5"),
            ("--fabric softhca x", Fabric::Softhca, "mlx5"),
        ] {
            let found = run(line).unwrap().fabric;
            assert_eq!(found, Some(fabric), "{line}");
            assert_eq!(fabric.variable(), variable);
        }
        let transport = |line| run(line).unwrap().transport.map(Transport::variable);
        assert_eq!(transport("--transport rc x"), Some("rc"));
        assert_eq!(transport("--transport=dc x"), Some("dc"));
        assert_eq!(run("--lanes static x").unwrap().lanes.unwrap(), "static");
        let options = run("x --ppn 2 --fabric shm --transport dc --lanes y").unwrap();
        assert_eq!(
            (options.per_node, options.fabric, options.transport),
            (None, None, None)
        );
        assert_eq!(options.lanes, None);
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("-n 0 x", "\"0\""),
            ("-n -1 x", "\"-1\""),
            ("-n four x", "\"four\""),
            ("-n 99999999999999999999 x", "from 1 to"),
            ("-np", "missing argument"),
            ("--ppn 0 x", "a node, from 1 to"),
            ("-ppn two x", "\"two\""),
            ("--ppn", "missing argument"),
            (
                "--fabric tcp x",
                "auto, shm, mlx5, libfabric or softhca, not \"tcp\"",
            ),
            ("--fabric", "missing argument"),
            ("--transport ud x", "auto, rc or dc, not \"ud\""),
            ("--lanes", "missing argument"),
            ("-q x", "'-q'"),
            ("-n 2", "no program"),
            ("", "no program"),
            ("--frob x", "--frob"),
            ("--bind x", "core or none"),
            ("--output x", "lines or direct"),
            ("-l --output direct x", "exclude each other"),
            ("-x =3 x", "NAME=VALUE"),
            ("--timeout 0 x", "seconds"),
            ("--timeout nan x", "seconds"),
            (
                "--timeout 1e99 x",
                "above 0 and up to 1000000000, not \"1e99\"",
            ),
            ("--timeout 1.8e19 x", "up to 1000000000"),
            ("--lanes= x", "--lanes takes the name of a policy, not \"\""),
            (
                "--hostfile= x",
                "--hostfile takes the name of a file, not \"\"",
            ),
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
    fn every_form_of_hosts() {
        for line in [
            "-H a,b:4 x",
            "-host a,b:4 x",
            "--host a,b:4 x",
            "-hosts a,b:4 x",
            "--hosts=a,b:4 x",
        ] {
            assert_eq!(run(line).unwrap().hosts, ["a,b:4"], "{line}");
        }
        for line in [
            "--hostfile f x",
            "-f f x",
            "-machinefile f x",
            "--machinefile=f x",
        ] {
            let options = run(line).unwrap();
            assert_eq!(options.host_files, [PathBuf::from("f")], "{line}");
            assert!(!options.counted);
        }
        let options = run("--host a --host b -n 3 --prefix /p --launch-agent=rsh x").unwrap();
        assert_eq!(options.hosts, ["a", "b"]);
        assert_eq!(options.launch_agent.unwrap(), "rsh");
        assert_eq!(options.prefix.unwrap(), PathBuf::from("/p"));
        assert!(options.counted && options.pes == 3);
        assert!(run("--prefix p x").unwrap_err().contains("from the root"));
    }

    #[test]
    fn several_programs_are_refused() {
        for line in ["-n 2 a : -n 2 b", "a x : b", "-n 2 a : b :"] {
            let message = run(line).unwrap_err();
            assert!(message.contains("MPMD"), "{line}: {message}");
        }
        for (line, count) in [
            ("sh -c :", 2),
            ("-- a : b", 2),
            ("-n 2 -- a : -n 2 b", 4),
            ("a :: b", 2),
        ] {
            assert_eq!(run(line).unwrap().arguments.len(), count, "{line}");
        }
        // Behind the program, "--" is its own.
        assert!(run("a -- : b").is_err());
    }

    #[test]
    fn help_and_version() {
        assert!(run("--help").unwrap_err().starts_with("Usage: oshrun"));
        assert!(run("-n 3 --version").unwrap_err().contains("Farreach"));
    }
}
