//! The command line.

use crate::icount;
use fi_provider::device::{Completions, DEFAULT_POLICY, POLICIES, Policy};
use lexopt::prelude::*;
use std::ffi::OsString;

/// A command line.
#[derive(Debug)]
pub(crate) enum Request {
    /// Tell of the device and its lanes.
    Info(Options),
    /// Measure the device.
    Measure(crate::measure::Request),
    /// Print the model.
    Model(crate::model::Request),
    /// Draw the model, the endpoints and counts.
    Report(crate::report::Request),
    /// Count instructions.
    Icount(icount::Options),
    /// Print this and be done.
    Print(String),
}

/// The content of `farreach info`.
#[derive(Debug)]
pub(crate) struct Options {
    /// Lanes of a process.
    pub(crate) lanes: u32,
    /// The policies to be tried.
    pub(crate) policies: Vec<&'static Policy>,
    pub(crate) completions: Completions,
    /// Whether the output is for a program to read.
    pub(crate) tsv: bool,
}

/// More lanes than a device has registers for.
const MOST_LANES: u32 = 65_536;

/// The help text.
fn help() -> String {
    format!(
        "\
Usage: farreach info [options]
       farreach measure|model|whatif|report|icount --help

Lists the networks that jobs of several nodes can go through: the mlx5 device, and each provider of libfabric on each
interface, with the reason why a job takes it or not. Of an mlx5 device it tells what the lanes of a process take of it
under each policy: it opens the device and makes lanes of one queue pair each, as contexts have them.

  --lanes N              how many lanes (16)
  --policy NAME|all      what they share (all): {}
  --completions own|shared
                         a completion queue for each lane (own, the default), or one for all of a device context
  --tsv                  the lanes' table alone, with tabs between its columns
  -h, --help             print this
  -V, --version          print the version

UARs are doorbell pages, uUARs the registers on them, of which queue pairs ring those \"used\"; bytes are those of queues. A lane
that is \"short\" has less than the policy says, and one that is \"shared\" is the first one, because the device has no more. Jobs
take {} where nothing is said (FARREACH_LANES, oshrun --lanes).

Exit status: 1 where there is no network between nodes (with --tsv, no device), 2 for a wrong command line.
",
        names().join(", "),
        DEFAULT_POLICY.name
    )
}

fn names() -> Vec<&'static str> {
    POLICIES.iter().map(|policy| policy.name).collect()
}

/// Reads the arguments, the program's name excluded; why they are wrong otherwise.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Request, String> {
    let mut parser = lexopt::Parser::from_args(arguments);
    match parser.next().map_err(usage)? {
        Some(Short('h') | Long("help")) => return Ok(Request::Print(help())),
        Some(Short('V') | Long("version")) => {
            let version = env!("CARGO_PKG_VERSION");
            return Ok(Request::Print(format!("farreach {version}\n")));
        }
        Some(Value(verb)) if verb == "info" => {}
        Some(Value(verb)) if verb == "measure" => {
            return crate::measure::parse(&mut parser).map(Request::Measure);
        }
        Some(Value(verb)) if verb == "model" => {
            return crate::model::parse_model(&mut parser).map(Request::Model);
        }
        Some(Value(verb)) if verb == "whatif" => {
            return crate::model::parse_whatif(&mut parser).map(Request::Model);
        }
        Some(Value(verb)) if verb == "report" => {
            let request = crate::report::parse(&mut parser)?;
            let help = || Request::Print(crate::report::HELP.to_owned());
            return Ok(request.map_or_else(help, Request::Report));
        }
        Some(Value(verb)) if verb == "icount" => {
            return match icount::parse(&mut parser) {
                Ok(Some(options)) => Ok(Request::Icount(options)),
                Ok(None) => Ok(Request::Print(icount::HELP.to_owned())),
                Err(message) => Err(format!("{message}; farreach icount --help tells the usage")),
            };
        }
        Some(other) => return Err(usage(other.unexpected())),
        None => return Err("nothing to do; farreach --help tells the usage".to_owned()),
    }
    let mut options = Options {
        lanes: 16,
        policies: POLICIES.iter().collect(),
        completions: Completions::Own,
        tsv: false,
    };
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Short('h') | Long("help") => return Ok(Request::Print(help())),
            Long("lanes") => options.lanes = lanes(&parser.value().map_err(usage)?)?,
            Long("policy") => options.policies = policies(&parser.value().map_err(usage)?)?,
            Long("completions") => {
                options.completions = completions(&parser.value().map_err(usage)?)?;
            }
            Long("tsv") => options.tsv = true,
            other => return Err(usage(other.unexpected())),
        }
    }
    Ok(Request::Info(options))
}

fn usage(error: lexopt::Error) -> String {
    format!("{error}; farreach --help tells the usage")
}

fn lanes(text: &OsString) -> Result<u32, String> {
    let number = text.to_str().and_then(|text| text.parse().ok());
    number
        .filter(|number| (1..=MOST_LANES).contains(number))
        .ok_or_else(|| format!("--lanes takes a number from 1 to {MOST_LANES}, not {text:?}"))
}

fn policies(text: &OsString) -> Result<Vec<&'static Policy>, String> {
    if text == "all" {
        return Ok(POLICIES.iter().collect());
    }
    let found = text.to_str().and_then(Policy::named);
    found.map(|policy| vec![policy]).ok_or_else(|| {
        let names = names().join(", ");
        format!("--policy takes {names} or all, not {text:?}")
    })
}

fn completions(text: &OsString) -> Result<Completions, String> {
    let found = text.to_str().and_then(Completions::named);
    found.ok_or_else(|| format!("--completions takes own or shared, not {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(line: &str) -> Result<Options, String> {
        match parse(line.split_whitespace().map(OsString::from)) {
            Ok(Request::Info(options)) => Ok(options),
            Ok(Request::Print(text)) => Err(text),
            Ok(other) => Err(format!("{other:?}")),
            Err(message) => Err(message),
        }
    }

    #[test]
    fn what_is_to_be_told() {
        let options = info("info").expect("it is right");
        assert_eq!((options.lanes, options.policies.len()), (16, 6));
        assert!(!options.tsv && options.completions == Completions::Own);
        let options = info("info --lanes 3 --policy=static --completions shared --tsv");
        let options = options.expect("it is right");
        assert_eq!((options.lanes, options.policies[0].name), (3, "static"));
        assert!(options.tsv && options.completions == Completions::Shared);
        assert_eq!(info("info --policy all").expect("right").policies.len(), 6);
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("", "nothing to do"),
            ("frob", "\"frob\""),
            ("--lanes 3", "--lanes"),
            ("info x", "\"x\""),
            ("info --lanes 0", "1 to 65536, not \"0\""),
            ("info --lanes many", "not \"many\""),
            ("info --lanes", "missing argument"),
            (
                "info --policy fast",
                "mpi-everywhere, 2x-dynamic, dynamic, shared-dynamic, static, mpi+threads or all, not \"fast\"",
            ),
            ("info --completions both", "own or shared, not \"both\""),
            ("info --frob", "'--frob'"),
        ] {
            let message = info(line).expect_err(line);
            assert!(message.contains(part), "{line}: {message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn help_and_version() {
        for line in ["--help", "-h", "info --help"] {
            let help = info(line).expect_err("a text");
            assert!(help.starts_with("Usage: farreach info"), "{help}");
        }
        assert!(info("-V").expect_err("a text").starts_with("farreach "));
    }
}
