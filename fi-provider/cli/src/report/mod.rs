//! `farreach report`: the model, the endpoints and counts as pictures on one page.

mod bars;
mod breakdowns;
mod counts;
mod curves;
mod distribution;
mod endpoints;
mod figure;
mod ink;
mod machine;
mod page;

use crate::model::{self, From};
use fi_perfmodel::System;
use lexopt::prelude::*;
use page::{Facts, Section};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// More threads than a device has registers for.
const MOST_THREADS: u32 = 65_536;

/// Where the page goes if nothing is said.
const PAGE: &str = "farreach-report.html";

/// A command line.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    from: From,
    /// The table of instructions by layer, and the calls of it that are drawn; all if there are
    /// none.
    counts: Option<PathBuf>,
    calls: Vec<String>,
    /// The output of `farreach measure --tsv`.
    measured: Option<PathBuf>,
    threads: Vec<u32>,
    output: PathBuf,
    /// A directory for the pictures.
    pictures: Option<PathBuf>,
}

/// The help of `farreach report`.
pub(crate) const HELP: &str = "\
Usage: farreach report [--paper|--system FILE] [options]

Draws the breakdowns of a system's injection overhead and latency, the speed-ups by reductions of its
components, the resources of lanes on the device here under each policy, and, where they are given, instructions by layer and
the distribution of injection. All of it is one page of HTML with nothing outside of it (docs/report.md).

  --paper                the system of \"Breaking Band\" (ICPP 2019), where nothing else is said
  --system FILE          a system that `farreach measure` or you have written
  --counts FILE          instructions by layer: a table of `farreach icount --save`
  --call NAME            of these, only the call of this name; may be repeated
  --measured FILE        the output of `farreach measure --tsv`, for the distribution
  --threads LIST         for how many threads lanes are made (1,2,4,8,16)
  -o, --output FILE      the page (farreach-report.html); it is replaced
  --svg DIR              each picture as a file in this directory, too
  -h, --help             print this

Without a device the figure of endpoints says so. Exit status: 1 where a file cannot be read or written, 2 for a wrong command
line.
";

fn usage(error: lexopt::Error) -> String {
    format!("{error}; farreach report --help tells the usage")
}

/// Reads the arguments behind `report`; none where help is asked for, and why they are wrong
/// otherwise.
pub(crate) fn parse(parser: &mut lexopt::Parser) -> Result<Option<Request>, String> {
    let mut from = None;
    let mut request = Request {
        from: From::Paper,
        counts: None,
        calls: Vec::new(),
        measured: None,
        threads: vec![1, 2, 4, 8, 16],
        output: PAGE.into(),
        pictures: None,
    };
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("paper") => model::choose(&mut from, From::Paper)?,
            Long("system") => {
                let file = parser.value().map_err(usage)?;
                model::choose(&mut from, From::File(file.into()))?;
            }
            Long("counts") => request.counts = Some(parser.value().map_err(usage)?.into()),
            Long("call") => {
                let name = parser.value().map_err(usage)?.string().map_err(usage)?;
                request.calls.push(name);
            }
            Long("measured") => request.measured = Some(parser.value().map_err(usage)?.into()),
            Long("threads") => request.threads = threads(&parser.value().map_err(usage)?)?,
            Short('o') | Long("output") => request.output = parser.value().map_err(usage)?.into(),
            Long("svg") => request.pictures = Some(parser.value().map_err(usage)?.into()),
            other => return Err(usage(other.unexpected())),
        }
    }
    if request.counts.is_none() && !request.calls.is_empty() {
        return Err("--call is for --counts".to_owned());
    }
    if request.output.as_os_str().is_empty() {
        return Err("--output takes the name of a file, not \"\"".to_owned());
    }
    request.from = from.unwrap_or(From::Paper);
    Ok(Some(request))
}

fn threads(list: &OsString) -> Result<Vec<u32>, String> {
    let one = |text: &str| {
        let number = text.parse().ok();
        number.filter(|number| (1..=MOST_THREADS).contains(number))
    };
    let text = list.to_str().unwrap_or_default();
    let numbers: Option<Vec<u32>> = text.split(',').map(one).collect();
    let rising = |numbers: &Vec<u32>| numbers.is_sorted_by(|a, b| a < b);
    numbers.filter(rising).ok_or_else(|| {
        format!("--threads takes rising numbers from 1 to {MOST_THREADS} with commas between them, not {list:?}")
    })
}

/// Writes the page, and returns the text to print; an exit status and a message where it cannot be
/// written.
pub(crate) fn run(request: &Request) -> Result<String, (u8, String)> {
    let system = model::load(&request.from)?;
    let (facts, sections) = sections(request, &system)?;
    let page = page::page("The critical path of a small message", &facts, &sections);
    write(&request.output, &page)?;
    let drawn = || sections.iter().flat_map(|section| &section.figures);
    if let Some(directory) = &request.pictures {
        std::fs::create_dir_all(directory).map_err(|error| fails(directory, &error))?;
        for figure in drawn() {
            if let Some(svg) = &figure.svg {
                write(
                    &directory.join(format!("{}.svg", figure.id)),
                    &ink::file(svg),
                )?;
            }
        }
    }
    let pictures = drawn().filter(|figure| figure.svg.is_some()).count();
    let mut said = format!("{}: {pictures} figures\n", request.output.display());
    for figure in drawn().filter(|figure| figure.svg.is_none()) {
        said += &format!("not drawn: {}: {}\n", figure.title, figure.notes.join(" "));
    }
    Ok(said)
}

fn sections(request: &Request, system: &System) -> Result<(Facts, Vec<Section>), (u8, String)> {
    let wrong = |message| (1, message);
    let (endpoints, device) = endpoints::figure(&request.threads).map_err(wrong)?;
    let mut sections = vec![
        Section {
            title: "Breakdowns",
            lead: "Times of a small message, in ns: parts of each sum in the order in which they happen.".to_owned(),
            figures: breakdowns::figures(system).map_err(wrong)?,
            tables: Vec::new(),
        },
        Section {
            title: "What if",
            lead: "The speed-up of a total when one component takes less time. All components follow each other, so \
                   speed-ups are in proportion to reductions."
                .to_owned(),
            figures: curves::figures(system).map_err(wrong)?,
            tables: Vec::new(),
        },
        Section {
            title: "Injection",
            lead: "How long the device waits from one message to the next.".to_owned(),
            figures: vec![match &request.measured {
                Some(file) => distribution::figure(&read(file)?).map_err(|why| named(file, &why))?,
                None => distribution::none(),
            }],
            tables: Vec::new(),
        },
    ];
    if let Some(file) = &request.counts {
        sections.push(Section {
            title: "Instructions",
            lead: "Instructions of one call by layer, counted by callgrind.".to_owned(),
            figures: counts::figures(&read(file)?, &request.calls)
                .map_err(|why| named(file, &why))?,
            tables: Vec::new(),
        });
    }
    sections.push(Section {
        title: "Endpoints",
        lead: "Resources of the device for a lane of each thread under each policy, beside a device context for each \
               (mpi-everywhere)."
            .to_owned(),
        figures: vec![endpoints],
        tables: Vec::new(),
    });
    let tables = model::of_system(system).into_iter();
    sections.push(Section {
        title: "Components and totals",
        lead: "Each time with its source; modelled totals beside those of benchmarks.".to_owned(),
        figures: Vec::new(),
        tables: tables.collect(),
    });
    let device = device.map_or_else(|| "none".to_owned(), |name| machine::device(&name));
    let facts = vec![
        (
            "System",
            format!(
                "{} (upper layer {}, lower layer {})",
                system.name, system.upper, system.lower
            ),
        ),
        ("Made on", machine::machine()),
        ("Device there", device),
        ("Version", format!("farreach {}", env!("CARGO_PKG_VERSION"))),
        ("Date", machine::date()),
    ];
    Ok((facts, sections))
}

fn fails(path: &Path, error: &std::io::Error) -> (u8, String) {
    named(path, &error.to_string())
}

fn named(path: &Path, why: &str) -> (u8, String) {
    (1, format!("{}: {why}", path.display()))
}

fn read(path: &Path) -> Result<String, (u8, String)> {
    std::fs::read_to_string(path).map_err(|error| fails(path, &error))
}

fn write(path: &Path, text: &str) -> Result<(), (u8, String)> {
    std::fs::write(path, text).map_err(|error| fails(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Option<Request>, String> {
        parse(&mut lexopt::Parser::from_args(line.split_whitespace()))
    }

    #[test]
    fn what_is_asked_for() {
        let request = parsed("--system s --counts c --threads 1,3 -o o --svg d");
        let request = request.expect("right").expect("no help");
        assert_eq!(request.from, From::File("s".into()));
        assert_eq!(request.counts, Some("c".into()));
        assert_eq!((request.threads, request.output), (vec![1, 3], "o".into()));
        assert_eq!(request.pictures, Some("d".into()));
        assert_eq!(parsed("--help"), Ok(None));
        let plain = parsed("").expect("right").expect("no help");
        assert_eq!((plain.from, plain.output), (From::Paper, PAGE.into()));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("x", "\"x\""),
            ("--paper --system s", "one system is enough"),
            ("--threads 0", "not \"0\""),
            ("--threads 2,1", "not \"2,1\""),
            ("--threads 1,,2", "not \"1,,2\""),
            ("--counts", "missing argument"),
            ("--call put", "--call is for --counts"),
            ("--output=", "--output takes the name of a file"),
            ("--frob", "'--frob'; farreach report --help"),
        ] {
            let message = parsed(line).expect_err(line);
            assert!(message.contains(part), "{line}: {message}");
        }
    }

    #[test]
    fn files_that_cannot_be_read_are_named() {
        for option in ["--system", "--counts", "--measured"] {
            let request = parsed(&format!("{option} /nowhere/x -o /dev/null"));
            let request = request.expect("right").expect("no help");
            let (status, message) = run(&request).expect_err(option);
            assert_eq!(status, 1);
            assert!(message.starts_with("/nowhere/x: "), "{message}");
        }
    }
}
