//! `farreach measure`: where the time of a message goes on the device here.

use crate::model;
use crate::output::{Cell, Form, Table, print};
use fi_measure::assemble::{self, Given, Measured, Traces};
use fi_measure::samples::Samples;
use fi_measure::trace::Trace;
use fi_measure::{LEAST_SAMPLES, MOST_BATCH, Plan};
use fi_perfmodel::{Component, Entry, Ns, Total};
use lexopt::prelude::*;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Bars of the distribution of injection.
const BINS: usize = 20;
/// The most samples.
const MOST_SAMPLES: usize = 1_000_000;

/// A command line.
#[derive(Debug, Default)]
pub(crate) struct Options {
    device: Option<String>,
    plan: Plan,
    given: Given,
    trace: Option<PathBuf>,
    without_switch: Option<PathBuf>,
    /// The one benchmark that is to be run.
    alone: Option<Total>,
    output: Option<PathBuf>,
    form: Form,
}

/// A command line.
#[derive(Debug)]
pub(crate) enum Request {
    /// The help text.
    Help,
    /// Measure.
    Measure(Box<Options>),
}

fn help() -> String {
    format!(
        "\
Usage: farreach measure [options]

Measures on the mlx5 device here the parts of the driver and of the fabric in the time of a small message, and the rest
for PCIe, network and memory; prints it with its sources, the totals that the model makes of it beside those that
benchmarks show, the breakdowns, and the components that could not be measured (docs/model.md).

  --output FILE          write the system to FILE, for `farreach model` and `farreach whatif`
  --samples N            samples of each component (200), {LEAST_SAMPLES} at least
  --batch N              operations of a sample, where there are many (32), {MOST_BATCH} at most
  --device NAME          the device of this name; the fabric takes the first one
  --trace FILE           take PCIe, network and RC-to-MEM from a trace of PCIe transactions (CSV)
  --trace-without-switch FILE
                         a trace of the same system without the switch, which tells wire and switch apart
  --pcie, --wire, --switch, --rc-to-mem, --rc-to-mem-64 TIME
                         take this time (15ns, 1.5us)
  --run ping-pong|injection
                         run this benchmark of the driver alone, for somebody who records a trace
  --tsv                  tables with tabs between their columns
  --json                 tables as JSON
  -h, --help             print this

Components that are neither given nor in a trace are fitted from round trips within this process; the
sources name the assumptions.

Exit status: 1 where there is no device or a file is wrong, 2 for a wrong command line.
"
    )
}

fn usage(error: lexopt::Error) -> String {
    format!("{error}; farreach measure --help tells the usage")
}

/// Reads the arguments behind `measure`; why they are wrong otherwise.
pub(crate) fn parse(parser: &mut lexopt::Parser) -> Result<Request, String> {
    let mut options = Options::default();
    while let Some(argument) = parser.next().map_err(usage)? {
        let name = match argument {
            Short('h') => return Ok(Request::Help),
            Long(name) => name.to_owned(),
            other => return Err(usage(other.unexpected())),
        };
        match name.as_str() {
            "help" => return Ok(Request::Help),
            "tsv" => options.form = Form::Tsv,
            "json" => options.form = Form::Json,
            _ => with_value(&mut options, &name, parser)?,
        }
    }
    if options.without_switch.is_some() && options.trace.is_none() {
        return Err("--trace-without-switch is beside --trace".to_owned());
    }
    Ok(Request::Measure(Box::new(options)))
}

/// Reads an option that has a value.
fn with_value(
    options: &mut Options,
    name: &str,
    parser: &mut lexopt::Parser,
) -> Result<(), String> {
    let known = [
        "output",
        "samples",
        "batch",
        "device",
        "trace",
        "trace-without-switch",
        "pcie",
        "wire",
        "switch",
        "rc-to-mem",
        "rc-to-mem-64",
        "run",
    ];
    if !known.contains(&name) {
        return Err(usage(Long(name).unexpected()));
    }
    let value = parser.value().map_err(usage)?;
    let time = || {
        let time = Ns::parse(&value.to_string_lossy());
        time.map(Some).map_err(|why| format!("--{name}: {why}"))
    };
    match name {
        "output" => options.output = Some(value.into()),
        "samples" => {
            options.plan.samples = number(name, &value, LEAST_SAMPLES, MOST_SAMPLES)?;
        }
        "batch" => options.plan.batch = number(name, &value, 1, MOST_BATCH)?,
        "device" => options.device = Some(value.to_string_lossy().into_owned()),
        "trace" => options.trace = Some(value.into()),
        "trace-without-switch" => options.without_switch = Some(value.into()),
        "pcie" => options.given.pcie = time()?,
        "wire" => options.given.wire = time()?,
        "switch" => options.given.switch = time()?,
        "rc-to-mem" => options.given.memory = time()?,
        "rc-to-mem-64" => options.given.memory_64 = time()?,
        _ => {
            options.alone = Some(match value.to_str() {
                Some("ping-pong") => Total::LatencyLow,
                Some("injection") => Total::InjectionLow,
                _ => return Err(format!("--run takes ping-pong or injection, not {value:?}")),
            });
        }
    }
    Ok(())
}

fn number(name: &str, text: &OsString, least: usize, most: usize) -> Result<usize, String> {
    let number = text.to_str().and_then(|text| text.parse().ok());
    number
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("--{name} takes a number from {least} to {most}, not {text:?}"))
}

/// Measures, and returns the output; an exit status and a message where it cannot be.
pub(crate) fn run(request: &Request) -> Result<String, (u8, String)> {
    let options = match request {
        Request::Help => return Ok(help()),
        Request::Measure(options) => options,
    };
    let device = options.device.as_deref();
    let fails = |error: fi_measure::Error| (1, error.to_string());
    if let Some(total) = options.alone {
        let samples = assemble::run_alone(device, options.plan, total).map_err(fails)?;
        return Ok(print(&[of_one(total, &samples)], options.form));
    }
    // Files are read before anything is measured: so mistakes are told at once.
    let traces = Traces {
        whole: options.trace.as_deref().map(read).transpose()?,
        without_switch: options.without_switch.as_deref().map(read).transpose()?,
    };
    let measured =
        assemble::measure(device, options.plan, options.given, &traces).map_err(fails)?;
    if let Some(path) = &options.output {
        std::fs::write(path, measured.system.to_text())
            .map_err(|error| (1, format!("{}: {error}", path.display())))?;
    }
    Ok(print(&tables(&measured), options.form))
}

fn read(path: &Path) -> Result<(String, Trace), (u8, String)> {
    let fails = |why: String| (1, format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| fails(error.to_string()))?;
    let trace = Trace::parse(&text).map_err(fails)?;
    Ok((path.display().to_string(), trace))
}

/// Returns the table of one benchmark.
fn of_one(total: Total, samples: &Samples) -> Table {
    let columns = ["benchmark", "key", "ns", "spread ns", "samples"];
    let mut table = Table::new("benchmark", "One benchmark of the driver", &columns);
    table.rows.push(vec![
        Cell::text(total.words()),
        Cell::text(total.key()),
        Cell::Number(samples.mean().0),
        Cell::Number(samples.spread().0),
        Cell::Count(samples.len() as u64),
    ]);
    table
}

/// Returns all tables.
fn tables(measured: &Measured) -> Vec<Table> {
    let mut tables = model::report::tables(&measured.system);
    // The components that could not be measured come right behind the totals.
    tables.insert(2, missing(measured));
    tables.push(distribution(measured));
    tables.push(timer(measured));
    tables
}

fn missing(measured: &Measured) -> Table {
    let mut table = Table::new(
        "missing",
        "Not measured, or not apart from something else",
        &["component", "key", "why"],
    );
    for component in Component::ALL {
        let why = match measured.system.entry(component) {
            Entry::Known { .. } => continue,
            Entry::Within(host, why) => format!("in {}: {why}", host.key()),
            Entry::Unknown(why) => why.clone(),
        };
        table.rows.push(vec![
            Cell::text(measured.system.words(component)),
            Cell::text(component.key()),
            Cell::Text(why),
        ]);
    }
    table.notes.clone_from(&measured.notes);
    table
}

fn distribution(measured: &Measured) -> Table {
    let (gaps, source) = &measured.gaps;
    let title = format!("Distribution of injection (figure 7): {source}");
    let mut table = Table::new("distribution", title, &["from ns", "to ns", "posts", "%"]);
    for bin in gaps.histogram(BINS) {
        table.rows.push(vec![
            Cell::Number(bin.from.0),
            Cell::Number(bin.to.0),
            Cell::Count(bin.count),
            Cell::Number(bin.count as f64 / gaps.len() as f64 * 100.0),
        ]);
    }
    if let Some((least, median, most)) = gaps.range() {
        table.notes.push(format!(
            "Least {least}, median {median}, mean {}, most {most}, of {} posts.",
            gaps.mean_of_all(),
            gaps.len()
        ));
    }
    table
}

fn timer(measured: &Measured) -> Table {
    let columns = ["timer", "tick ns", "reading ns", "spread ns", "samples"];
    let title = "Timer: the time of a reading is taken off";
    let mut table = Table::new("timer", title, &columns);
    let readings = measured.clock.readings();
    table.rows.push(vec![
        Cell::text(fi_measure::clock::NAME),
        Cell::Number(measured.clock.tick().0),
        Cell::Number(readings.mean().0),
        Cell::Number(readings.spread().0),
        Cell::Count(readings.len() as u64),
    ]);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Options, String> {
        let mut parser = lexopt::Parser::from_args(line.split_whitespace());
        match parse(&mut parser)? {
            Request::Measure(options) => Ok(*options),
            Request::Help => Err(help()),
        }
    }

    #[test]
    fn what_is_to_be_measured() {
        let found = options("").expect("right");
        assert!(found.plan.samples >= LEAST_SAMPLES && found.trace.is_none());
        let line =
            "--samples 500 --batch 8 --pcie 137.49ns --switch=0ns --trace a.csv --output b --json";
        let found = options(line).expect("right");
        assert_eq!((found.plan.samples, found.plan.batch), (500, 8));
        assert_eq!(found.given.pcie, Some(Ns(137.49)));
        assert_eq!(found.given.switch, Some(Ns(0.0)));
        assert_eq!(found.trace, Some(PathBuf::from("a.csv")));
        let found = options("--run ping-pong").expect("right");
        assert_eq!(found.alone, Some(Total::LatencyLow));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("x", "\"x\""),
            ("--frob 1", "'--frob'; farreach measure --help"),
            ("--samples 99", "--samples takes a number from 100 to"),
            ("--batch 0", "--batch takes a number from 1 to"),
            ("--pcie 15", "--pcie: \"15\" is no time with its unit"),
            ("--pcie", "missing argument"),
            ("--run all", "ping-pong or injection, not \"all\""),
            ("--trace-without-switch a", "is beside --trace"),
        ] {
            let message = options(line).expect_err(line);
            assert!(message.contains(part), "{line}: {message}");
            assert!(!message.contains('\n'), "{message}");
        }
        assert!(
            options("--help")
                .expect_err("a text")
                .starts_with("Usage: farreach measure")
        );
    }
}
