//! The command: arguments, and the tables of docs/scale.md.

use std::fmt::Write as _;

use super::start::{Amount, Start};
use super::{Costs, Network, Shape, Sizes, simulate};

/// The help text.
const HELP: &str = "\
Usage: scale [options]

Simulates how jobs start by oshrun on many hosts, and prints what it takes.

  --pes N[,N...]     PEs (1000,10000,100000,1000000)
  --each N           PEs of a host (100)
  --network dc|libfabric
                     an mlx5 device by DC, or libfabric over tcp (both, one after the other)
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
        let name = match network {
            Network::Dc => "mlx5, DC",
            Network::Libfabric => "libfabric, tcp;ofi_rxm",
        };
        let mut shapes = Vec::new();
        for &pes in &request.pes {
            let mut sizes = Sizes::of(network);
            sizes.address = request.address.unwrap_or(sizes.address);
            shapes.push(Shape {
                hosts: pes.div_ceil(request.each),
                each: request.each.min(pes),
                network,
                sizes,
            });
        }
        for shape in &shapes {
            let start = simulate(shape, &request.costs);
            let _ = writeln!(
                text,
                "### {name}: {} PEs, {} hosts\n",
                shape.pes(),
                shape.hosts
            );
            text += &exchanges(&start);
            text.push('\n');
        }
        let _ = writeln!(text, "### {name}: memory and queues of a node\n");
        text += &resources(&shapes);
        text.push('\n');
    }
    Ok(text)
}

/// A row for each exchange.
fn exchanges(start: &Start) -> String {
    let mut text = "| until | requests on a host | bytes | a host sends | oshrun takes | oshrun sends | asking | whole |\n|---|---|---|---|---|---|---|---|\n".to_owned();
    let mut whole = 0.0;
    let agents = ("agents ready".to_owned(), &start.agents);
    let barrier = |(at, one)| (format!("barrier {}", at + 1), one);
    let barriers = start.exchanges.iter().enumerate().map(barrier);
    let mut sums = (Amount::default(), Amount::default());
    for (name, one) in std::iter::once(agents).chain(barriers) {
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} | {} |",
            one.requests.messages,
            bytes(one.requests.bytes),
            frames(one.up),
            frames(one.taken),
            frames(one.sent),
            seconds(one.asking),
            seconds(one.time),
        );
        whole += one.time;
        sums.0 += one.taken;
        sums.1 += one.sent;
    }
    let (taken, sent) = (frames(sums.0), frames(sums.1));
    let _ = writeln!(
        text,
        "| all | | | | {taken} | {sent} | | {} |",
        seconds(whole)
    );
    let _ = writeln!(
        text,
        "\nEach host holds {} of keys and values.",
        bytes(start.published)
    );
    text
}

/// Bytes of a peer in the table of a node (fi_provider::symmetric::address_vector).
const RECORD: usize = 64;

/// Bytes of a peer in a process's own address vector of libfabric, at least: a sockaddr_in.
const NAME: usize = 16;

/// Initiators of the default context in a job of more than 32 PEs (FARREACH_DCIS).
const INITIATORS: usize = 4;

/// PEs of a job up to which those over DC get queues of their own, too (FARREACH_DC_PES).
const MIXED_PES: usize = 1024;

/// Memory and queues, a row for each job.
fn resources(shapes: &[Shape]) -> String {
    let mut text = "| PEs | hosts | table of peers | libfabric's vectors, at least | RC queue pairs | DC queue pairs | mixed, at most | libfabric's connections, at most |\n|---|---|---|---|---|---|---|---|\n".to_owned();
    for shape in shapes {
        let (pes, each) = (shape.pes(), shape.each);
        let dc = each * (INITIATORS + 1);
        let mixed = if pes <= MIXED_PES { each * pes } else { 0 };
        let _ = writeln!(
            text,
            "| {pes} | {} | {} | {} | {} | {dc} | {} | {} |",
            shape.hosts,
            bytes((pes * RECORD) as u64),
            bytes((each * pes * NAME) as u64),
            each * pes,
            dc + mixed,
            each * (pes - each),
        );
    }
    text
}

fn frames(amount: Amount) -> String {
    format!("{} ({})", amount.messages, bytes(amount.bytes))
}

/// Bytes with a unit of 1000s.
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

/// The request; none where help is asked for.
fn parse(arguments: impl Iterator<Item = std::ffi::OsString>) -> Result<Option<Request>, String> {
    use lexopt::prelude::*;
    let mut parser = lexopt::Parser::from_args(arguments);
    let mut request = Request {
        pes: vec![1_000, 10_000, 100_000, 1_000_000],
        each: 100,
        networks: vec![Network::Dc, Network::Libfabric],
        address: None,
        costs: Costs::default(),
    };
    let wrong = |error: lexopt::Error| format!("{error}; --help tells the usage");
    while let Some(argument) = parser.next().map_err(wrong)? {
        let name = match argument {
            Short('h') | Long("help") => return Ok(None),
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
