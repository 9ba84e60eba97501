//! The command: arguments, and the tables of docs/scale.md.

use std::fmt::Write as _;

use super::start::{Amount, Exchange, Start};
use super::{Costs, Network, Shape, Sizes, simulate};

/// The help text.
const HELP: &str = "\
Usage: scale [options]

Simulates how jobs start by oshrun on many hosts, and prints what it takes.

  --pes N[,N...]     PEs (1000,10000,100000,1000000)
  --each N           PEs of a host (100)
  --network dc|libfabric
                     an mlx5 device by DC, or libfabric over tcp (both, one after the other)
  --exchanges        each exchange with its messages and bytes, too
  --address BYTES    the address that a PE publishes, another than the network's
  --latency US       between hosts, in microseconds (20)
  --bandwidth GB     of a host's link, in gigabytes per second (3)
  --frame US         for a frame at oshrun or an agent, in microseconds (5)
  --request US       for the request of a PE at its agent, in microseconds (10)
  -h, --help         print this
";

/// The options of the command line.
#[derive(Debug, Clone, PartialEq)]
struct Request {
    pes: Vec<usize>,
    each: usize,
    networks: Vec<Network>,
    address: Option<usize>,
    /// Whether each exchange of each job is told.
    exchanges: bool,
    costs: Costs,
}

/// Runs the command with the arguments behind the program's name; returns its output, or why the
/// arguments are wrong.
///
/// # Errors
/// The words for a wrong command line.
pub fn main(arguments: impl Iterator<Item = std::ffi::OsString>) -> Result<String, String> {
    let Some(request) = parse(arguments)? else {
        return Ok(HELP.to_owned());
    };
    let mut text = String::new();
    for &network in &request.networks {
        let shapes: Vec<Shape> = request
            .pes
            .iter()
            .map(|&pes| {
                let mut sizes = Sizes::of(network);
                sizes.address = request.address.unwrap_or(sizes.address);
                let each = request.each.min(pes);
                Shape {
                    hosts: pes.div_ceil(each),
                    each,
                    network,
                    sizes,
                }
            })
            .collect();
        let starts: Vec<Start> = shapes
            .iter()
            .map(|shape| simulate(shape, &request.costs))
            .collect();
        let name = match network {
            Network::Dc => "mlx5, DC",
            Network::Libfabric => "libfabric, tcp;ofi_rxm",
        };
        let all: Vec<_> = shapes.iter().zip(&starts).collect();
        let _ = writeln!(
            text,
            "Over {name}: all exchanges of a start and of its end\n"
        );
        text += &summary(&all);
        let _ = writeln!(text, "\nOver {name}: the time of each exchange, by PEs\n");
        text += &times(&all);
        if request.exchanges {
            for (shape, start) in &all {
                let pes = shape.pes();
                let _ = writeln!(text, "\nOver {name}: each exchange of {pes} PEs\n");
                text += &exchanges(start);
            }
        }
        let _ = writeln!(text, "\nOver {name}: memory and queues of a node\n");
        text += &resources(&all, network);
        text.push('\n');
    }
    Ok(text)
}

/// Returns the rows of a table with this head.
fn table(head: &str) -> String {
    let columns = head.split(" | ").count();
    format!("| {head} |\n|{}\n", "---|".repeat(columns))
}

/// Returns the exchanges of a start, the first of which is that with agents, with their names.
fn named(start: &Start) -> impl Iterator<Item = (String, &Exchange)> {
    let barriers = start.exchanges.iter().enumerate();
    let barriers = barriers.map(|(at, one)| (format!("barrier {}", at + 1), one));
    std::iter::once(("agents".to_owned(), &start.agents)).chain(barriers)
}

/// Returns a row for each job.
fn summary(all: &[(&Shape, &Start)]) -> String {
    let mut text = table(
        "PEs | hosts | requests on a host | a host sends | a host takes | oshrun takes | oshrun sends | time",
    );
    for (shape, start) in all {
        let mut requests = Amount::default();
        let [mut up, mut down, mut taken, mut sent] = [Amount::default(); 4];
        let mut time = 0.0;
        for (_, one) in named(start) {
            requests += one.requests;
            up += one.up;
            down += one.down;
            taken += one.taken;
            sent += one.sent;
            time += one.time;
        }
        let [requests, up, down, taken, sent] = [requests, up, down, taken, sent].map(frames);
        let _ = writeln!(
            text,
            "| {} | {} | {requests} | {up} | {down} | {taken} | {sent} | {} |",
            shape.pes(),
            shape.hosts,
            seconds(time)
        );
    }
    text
}

/// Returns a row for each exchange, a column for each job.
fn times(all: &[(&Shape, &Start)]) -> String {
    let pes: Vec<_> = all
        .iter()
        .map(|(shape, _)| shape.pes().to_string())
        .collect();
    let mut text = table(&format!("until | {}", pes.join(" | ")));
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for (_, start) in all {
        for (at, (name, one)) in named(start).enumerate() {
            if rows.len() == at {
                rows.push((name, Vec::new()));
            }
            rows[at].1.push(seconds(one.time));
        }
    }
    for (name, times) in rows {
        let _ = writeln!(text, "| {name} | {} |", times.join(" | "));
    }
    text
}

/// Returns a row for each exchange of one job.
fn exchanges(start: &Start) -> String {
    let mut text = table(
        "until | requests on a host | a host sends | a host takes | oshrun takes | oshrun sends | time of the requests | time",
    );
    for (name, one) in named(start) {
        let amounts = [one.requests, one.up, one.down, one.taken, one.sent].map(frames);
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} |",
            amounts.join(" | "),
            seconds(one.asking),
            seconds(one.time),
        );
    }
    text
}

/// Bytes of a peer in the table of a node (fi_provider::symmetric::address_vector).
const RECORD: usize = 64;

/// Bytes of a peer's address in a node's memory, over libfabric (shmem/src/job/node).
const ADDRESS: usize = 128;

/// Bytes of a peer in a process's own address vector of libfabric, at least: a sockaddr_in.
const NAME: usize = 16;

/// Initiators of the default context in a job of more than 32 PEs (FARREACH_DCIS).
const INITIATORS: usize = 4;

/// PEs of a job up to which those over DC get queues of their own, too (FARREACH_DC_PES).
const MIXED_PES: usize = 1024;

/// Returns memory and queues, a row for each job.
fn resources(all: &[(&Shape, &Start)], network: Network) -> String {
    let mut text = table(match network {
        Network::Dc => {
            "PEs | keys and values at an agent | table of peers | QPs, RC | QPs, DC | QPs, mixed, at most"
        }
        Network::Libfabric => {
            "PEs | keys and values at an agent | table of peers and addresses | address vectors, at least | connections, at most"
        }
    });
    for (shape, start) in all {
        let (pes, each) = (shape.pes(), shape.each);
        let dc = each * (INITIATORS + 1);
        let mixed = if pes <= MIXED_PES { each * pes } else { 0 };
        let (record, of_network) = match network {
            Network::Dc => (RECORD, format!("{} | {dc} | {}", each * pes, dc + mixed)),
            Network::Libfabric => {
                let vectors = bytes((each * pes * NAME) as u64);
                let connections = each * (pes - each);
                (RECORD + ADDRESS, format!("{vectors} | {connections}"))
            }
        };
        let _ = writeln!(
            text,
            "| {pes} | {} | {} | {of_network} |",
            bytes(start.published),
            bytes((pes * record) as u64),
        );
    }
    text
}

fn frames(amount: Amount) -> String {
    format!("{} ({})", amount.messages, bytes(amount.bytes))
}

/// Returns bytes with a unit of 1000s.
fn bytes(count: u64) -> String {
    let mut value = count as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 1000.0 {
            let digits = if unit == "B" || value >= 100.0 { 0 } else { 1 };
            return format!("{value:.digits$} {unit}");
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

fn seconds(value: f64) -> String {
    match value {
        0.0 => "-".to_owned(),
        _ if value < 1e-3 => format!("{:.0} us", value * 1e6),
        _ if value < 1.0 => format!("{:.1} ms", value * 1e3),
        _ => format!("{value:.1} s"),
    }
}

/// Returns the request; none where help is asked for.
fn parse(arguments: impl Iterator<Item = std::ffi::OsString>) -> Result<Option<Request>, String> {
    use lexopt::prelude::*;
    let mut parser = lexopt::Parser::from_args(arguments);
    let mut request = Request {
        pes: vec![1_000, 10_000, 100_000, 1_000_000],
        each: 100,
        networks: vec![Network::Dc, Network::Libfabric],
        address: None,
        exchanges: false,
        costs: Costs::default(),
    };
    let wrong = |error: lexopt::Error| format!("{error}; --help tells the usage");
    while let Some(argument) = parser.next().map_err(wrong)? {
        let name = match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("exchanges") => {
                request.exchanges = true;
                continue;
            }
            Long(name) => name.to_owned(),
            other => return Err(wrong(other.unexpected())),
        };
        let value = parser.value().map_err(wrong)?;
        let value = value.to_string_lossy();
        let bad = || format!("--{name} does not take {value:?}");
        let time = || {
            let number: Option<f64> = value.parse().ok();
            number.filter(|number| *number >= 0.0).ok_or_else(bad)
        };
        match name.as_str() {
            "pes" => {
                let numbers: Option<Vec<usize>> =
                    value.split(',').map(|one| one.parse().ok()).collect();
                let sane = |numbers: &Vec<usize>| !numbers.contains(&0);
                request.pes = numbers.filter(sane).ok_or_else(bad)?;
            }
            "each" => {
                let number: Option<usize> = value.parse().ok();
                request.each = number.filter(|&number| number > 0).ok_or_else(bad)?;
            }
            "network" => {
                request.networks = vec![Network::named(&value).ok_or_else(bad)?];
            }
            "address" => request.address = Some(value.parse().map_err(|_| bad())?),
            "latency" => request.costs.latency = time()? * 1e-6,
            "bandwidth" => request.costs.bandwidth = time()?.max(1e-6) * 1e9,
            "frame" => request.costs.frame = time()? * 1e-6,
            "request" => request.costs.request = time()? * 1e-6,
            _ => return Err(format!("--{name} is no option; --help tells the usage")),
        }
    }
    Ok(Some(request))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_500), "1.5 kB");
        assert_eq!(bytes(2_000_000_000_000), "2.0 TB");
        assert_eq!(seconds(2e-5), "20 us");
        assert_eq!(seconds(0.5), "500.0 ms");
    }

    /// Checks that the document has the tables of the command, of which the rows of small jobs are
    /// made again.
    #[test]
    fn the_document_is_as_the_command_says() {
        let document = include_str!("../../../../../docs/scale.md");
        let arguments = ["--pes", "1000,10000"].map(std::ffi::OsString::from);
        let text = main(arguments.into_iter()).unwrap();
        let rows: Vec<_> = text
            .lines()
            .filter(|line| line.starts_with("| 1000"))
            .collect();
        assert_eq!(rows.len(), 8);
        for row in rows {
            assert!(document.contains(row), "docs/scale.md lacks {row}");
        }
    }

    #[test]
    fn the_command_line_is_read() {
        let words = |line: &str| {
            let words: Vec<_> = line.split(' ').map(std::ffi::OsString::from).collect();
            parse(words.into_iter())
        };
        let request = words("--pes 4,8 --each 2 --network dc --latency 1").unwrap();
        let request = request.unwrap();
        assert_eq!((request.pes, request.each), (vec![4, 8], 2));
        assert_eq!(request.networks, [Network::Dc]);
        assert!((request.costs.latency - 1e-6).abs() < 1e-12);
        assert_eq!(words("--help"), Ok(None));
        for bad in ["--pes 0", "--each x", "--network rc", "--frob 1", "x"] {
            assert!(words(bad).is_err(), "{bad}");
        }
    }
}
