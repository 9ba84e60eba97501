//! `farreach model` and `farreach whatif`: the model of `fi_perfmodel`, printed.

mod endpoints;
pub(crate) mod report;
mod whatif;

use crate::output::{Form, Table, print};
use fi_perfmodel::System;
use fi_perfmodel::whatif::{Amount, Change, GROUPS, Group};
use lexopt::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// More threads than a device has registers for.
const MOST_THREADS: u32 = 65_536;

/// Where the system comes from.
#[derive(Debug, PartialEq)]
pub(crate) enum From {
    Paper,
    File(PathBuf),
}

/// The kind of output.
#[derive(Debug, PartialEq)]
enum What {
    /// The system, its totals and breakdowns.
    Model(From),
    /// The same system with changes.
    Changed(From, Vec<Change>),
    /// The resources of lanes of so many threads.
    Endpoints(u32),
    /// The help text.
    Help(String),
}

/// A command line.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    what: What,
    form: Form,
}

/// The help of `farreach model`.
fn help_of_model() -> String {
    "\
Usage: farreach model --paper|--system FILE [options]
       farreach model --endpoints [--threads N] [options]

Prints a system, the time of each component with its source; the injection overhead and the latency that
the model makes of them, beside those of benchmarks; and the breakdowns (docs/model.md).

  --paper                the system of \"Breaking Band\" (ICPP 2019)
  --system FILE          a system that `farreach measure` or you have written
  --endpoints            instead, the resources of the lanes of threads on the device here under each policy, beside
                         mpi-everywhere
  --threads N            how many threads (16)
  --tsv                  tables with tabs between their columns
  --json                 tables as JSON
  -h, --help             print this

Exit status: 1 where there is no such file or no device, 2 for a wrong command line.
"
    .to_owned()
}

/// The help of `farreach whatif`.
fn help_of_whatif() -> String {
    let keys: Vec<&str> = GROUPS.iter().map(|group| group.key).collect();
    let lines: Vec<String> = keys
        .chunks(6)
        .map(|keys| format!("  {}\n", keys.join(", ")))
        .collect();
    format!(
        "\
Usage: farreach whatif [--paper|--system FILE] --COMPONENT CHANGE … [options]

Prints the injection overhead and the latency when components take another time, and the speed-ups by
a reduction of each component by 10 to 90 %. A speed-up is the time removed over the old time. CHANGE is
a time (--pio 15ns) or a part of the old one (--hlp -20%); changes follow each other. Components are

{}
  --paper                the system of \"Breaking Band\" (ICPP 2019), where nothing else is said
  --system FILE          a system that `farreach measure` or you have written
  --tsv                  tables with tabs between their columns
  --json                 tables as JSON
  -h, --help             print this

Exit status: 1 where there is no such file, 2 for a wrong command line.
",
        lines.concat()
    )
}

fn usage(error: lexopt::Error, verb: &str) -> String {
    format!("{error}; farreach {verb} --help tells the usage")
}

/// Reads the arguments behind `model`; why they are wrong otherwise.
pub(crate) fn parse_model(parser: &mut lexopt::Parser) -> Result<Request, String> {
    let fails = |error| usage(error, "model");
    let (mut from, mut is_account, mut threads) = (None, false, None);
    let mut form = Form::Text;
    while let Some(argument) = parser.next().map_err(fails)? {
        match argument {
            Short('h') | Long("help") => return Ok(help(help_of_model())),
            Long("paper") => choose(&mut from, From::Paper)?,
            Long("system") => {
                let file = parser.value().map_err(fails)?;
                choose(&mut from, From::File(file.into()))?;
            }
            Long("endpoints") => is_account = true,
            Long("threads") => threads = Some(count(&parser.value().map_err(fails)?)?),
            Long("tsv") => form = Form::Tsv,
            Long("json") => form = Form::Json,
            other => return Err(fails(other.unexpected())),
        }
    }
    let what = match (from, is_account) {
        (None, true) => What::Endpoints(threads.unwrap_or(16)),
        (Some(from), false) if threads.is_none() => What::Model(from),
        (_, false) if threads.is_some() => {
            return Err("--threads is for --endpoints".to_owned());
        }
        (None, false) => {
            return Err("model needs --paper, --system FILE or --endpoints".to_owned());
        }
        _ => return Err("--endpoints is of the device here, not of a system".to_owned()),
    };
    Ok(Request { what, form })
}

/// Reads the arguments behind `whatif`; why they are wrong otherwise.
pub(crate) fn parse_whatif(parser: &mut lexopt::Parser) -> Result<Request, String> {
    let fails = |error| usage(error, "whatif");
    let (mut from, mut changes) = (None, Vec::new());
    let mut form = Form::Text;
    while let Some(argument) = parser.next().map_err(fails)? {
        match argument {
            Short('h') | Long("help") => return Ok(help(help_of_whatif())),
            Long("paper") => choose(&mut from, From::Paper)?,
            Long("system") => {
                let file = parser.value().map_err(fails)?;
                choose(&mut from, From::File(file.into()))?;
            }
            Long("tsv") => form = Form::Tsv,
            Long("json") => form = Form::Json,
            Long(key) => {
                let Some(group) = Group::named(key) else {
                    return Err(fails(Long(key).unexpected()));
                };
                let text = parser.value().map_err(fails)?;
                let amount = Amount::parse(&text.to_string_lossy());
                let amount = amount.map_err(|why| format!("--{}: {why}", group.key))?;
                changes.push(Change { group, amount });
            }
            other => return Err(fails(other.unexpected())),
        }
    }
    let from = from.unwrap_or(From::Paper);
    Ok(Request {
        what: What::Changed(from, changes),
        form,
    })
}

fn help(text: String) -> Request {
    Request {
        what: What::Help(text),
        form: Form::Text,
    }
}

/// Takes a system, of which there is one.
pub(crate) fn choose(from: &mut Option<From>, chosen: From) -> Result<(), String> {
    match from.replace(chosen) {
        None => Ok(()),
        Some(_) => Err("one system is enough: --paper or --system FILE".to_owned()),
    }
}

fn count(text: &OsString) -> Result<u32, String> {
    let number = text.to_str().and_then(|text| text.parse().ok());
    number
        .filter(|number| (1..=MOST_THREADS).contains(number))
        .ok_or_else(|| format!("--threads takes a number from 1 to {MOST_THREADS}, not {text:?}"))
}

/// Returns the output; an exit status and a message where it cannot be.
pub(crate) fn run(request: &Request) -> Result<String, (u8, String)> {
    let tables = match &request.what {
        What::Help(text) => return Ok(text.clone()),
        What::Model(from) => report::tables(&load(from)?),
        What::Changed(from, changes) => {
            whatif::tables(&load(from)?, changes).map_err(|message| (1, message))?
        }
        What::Endpoints(threads) => {
            endpoints::tables(*threads).map_err(|error| (1, error.to_string()))?
        }
    };
    Ok(print(&tables, request.form))
}

/// Returns the tables of a system's components and totals.
pub(crate) fn of_system(system: &System) -> [Table; 2] {
    [report::components(system), report::totals(system)]
}

/// Returns a system; an exit status and a message where it cannot be read.
pub(crate) fn load(from: &From) -> Result<System, (u8, String)> {
    match from {
        From::Paper => Ok(System::paper()),
        From::File(path) => {
            let fails = |why: String| (1, format!("{}: {why}", path.display()));
            let text = std::fs::read_to_string(path).map_err(|error| fails(error.to_string()))?;
            System::parse(&text).map_err(|error| fails(error.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Request, String> {
        let mut parser = lexopt::Parser::from_args(line.split_whitespace());
        match parser.next().expect("a word") {
            Some(Value(verb)) if verb == "model" => parse_model(&mut parser),
            _ => parse_whatif(&mut parser),
        }
    }

    #[test]
    fn what_is_asked_for() {
        let request = parse("model --paper --tsv").expect("right");
        assert_eq!(request.what, What::Model(From::Paper));
        assert_eq!(request.form, Form::Tsv);
        let request = parse("model --endpoints --threads 3").expect("right");
        assert_eq!(request.what, What::Endpoints(3));
        let request = parse("whatif --system f --pio 15ns --hlp -20%").expect("right");
        let What::Changed(from, changes) = request.what else {
            panic!("{request:?}");
        };
        assert_eq!(from, From::File("f".into()));
        assert_eq!(changes[0].group.key, "pio");
        assert_eq!(changes[1].amount, Amount::By(-20.0));
        let help = run(&parse("whatif --help").expect("right")).expect("a text");
        assert!(help.contains("hlp-rx-prog"), "{help}");
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("model", "needs --paper, --system FILE or --endpoints"),
            ("model --paper --system f", "one system is enough"),
            ("model --paper --endpoints", "of the device here"),
            ("model --paper --threads 3", "--threads is for --endpoints"),
            ("model --endpoints --threads 0", "1 to 65536, not \"0\""),
            ("model --frob", "'--frob'; farreach model --help"),
            ("model --system", "missing argument"),
            ("whatif --frob 3ns", "'--frob'; farreach whatif --help"),
            ("whatif --pio 15", "--pio: \"15\" is neither a time"),
            ("whatif --hlp 20%", "--hlp: \"20%\" has no sign"),
            ("whatif --hlp", "missing argument"),
            ("whatif x", "\"x\""),
        ] {
            let message = parse(line).expect_err(line);
            assert!(message.contains(part), "{line}: {message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }
}
