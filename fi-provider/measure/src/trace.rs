//! Times from PCIe transactions: a CSV file of an analyzer, or of softhca (docs/softhca.md).
//!
//! The first line names the columns, of which `time_ns`, `direction` and `kind` have to be there,
//! and `bytes` for all that is not an `Ack`. The methods are those of section 4.3 of "Breaking Band":
//!
//! * PCIe: half the time from a write upstream to its acknowledgement;
//! * network: half the time from a post to its completion;
//! * RC-to-MEM: the time from an inbound pong to the outbound ping, without two PCIe, `LLP_prog`
//!   and `LLP_post`.

use crate::samples::Samples;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a post and of a completion.
const BLOCK: u64 = 64;

/// The kind of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Write,
    Read,
    Data,
    Acknowledgement,
}

/// One line.
#[derive(Clone, Debug)]
struct Transaction {
    ns: f64,
    is_down: bool,
    kind: Kind,
    bytes: u64,
    queue: String,
    what: String,
    side: String,
    operation: String,
}

/// A trace in the order of time.
#[derive(Clone, Debug)]
pub struct Trace(Vec<Transaction>);

/// The times between posts and completions of a trace.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// PCIe, one way.
    pub pcie: Samples,
    /// Wire and switch, one way.
    pub network: Samples,
    /// From an inbound pong to the outbound ping, of the end that answers at once.
    pub turn: Samples,
    /// From one post to the next.
    pub gaps: Samples,
}

impl Trace {
    /// Reads a file's text.
    ///
    /// # Errors
    /// Returns a sentence that says which line is wrong, and why.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate();
        let (_, head) = lines.next().ok_or("it has no lines")?;
        let names: Vec<&str> = head.trim().split(',').map(str::trim).collect();
        let column = |name: &str| names.iter().position(|&column| column == name);
        let needed =
            |name: &str| column(name).ok_or_else(|| format!("line 1: there is no column {name:?}"));
        let (time, direction, kind) = (needed("time_ns")?, needed("direction")?, needed("kind")?);
        let bytes = column("bytes");
        let words = ["queue_pair", "what", "side", "operation"].map(column);
        let mut all = Vec::new();
        for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            let field =
                |column: Option<usize>| column.and_then(|at| fields.get(at)).copied().unwrap_or("");
            let wrong = |name: &str, column| {
                format!("line {}: {:?} is no {name}", at + 1, field(Some(column)))
            };
            let ns = field(Some(time)).parse::<f64>().ok();
            let ns = ns.filter(|ns| ns.is_finite());
            let is_down = match field(Some(direction)) {
                "down" => true,
                "up" => false,
                _ => return Err(wrong("direction (down, up)", direction)),
            };
            let kind_of = match field(Some(kind)) {
                "MWr" => Kind::Write,
                "MRd" => Kind::Read,
                "CplD" => Kind::Data,
                "Ack" => Kind::Acknowledgement,
                _ => return Err(wrong("kind (MWr, MRd, CplD, Ack)", kind)),
            };
            let [queue, what, side, operation] = words.map(|column| field(column).to_owned());
            all.push(Transaction {
                ns: ns.ok_or_else(|| wrong("time in ns", time))?,
                is_down,
                kind: kind_of,
                bytes: match field(bytes) {
                    "" => 0,
                    text => text
                        .parse()
                        .map_err(|_| format!("line {}: {text:?} is no number of bytes", at + 1))?,
                },
                queue,
                what,
                side,
                operation: if operation == "0" {
                    String::new()
                } else {
                    operation
                },
            });
        }
        all.sort_by(|one, other| one.ns.total_cmp(&other.ns));
        Ok(Self(all))
    }

    /// Takes the times from it. Operations whose payload or entry the device reads are left out of
    /// all but PCIe: their way is another.
    #[must_use]
    pub fn times(&self) -> Found {
        let plain: Vec<&Transaction> = self.without_reads();
        Found {
            pcie: self.pcie(),
            network: network(&plain),
            turn: turn(&plain),
            gaps: gaps(&plain),
        }
    }

    fn without_reads(&self) -> Vec<&Transaction> {
        let is_read = |one: &&Transaction| matches!(one.kind, Kind::Read | Kind::Data);
        let read: BTreeSet<&str> = self
            .0
            .iter()
            .filter(is_read)
            .map(|one| one.operation.as_str())
            .filter(|operation| !operation.is_empty())
            .collect();
        let plain = self.0.iter();
        plain
            .filter(|one| !is_read(one) && !read.contains(one.operation.as_str()))
            .collect()
    }

    /// Halves the times from writes upstream to their acknowledgements.
    fn pcie(&self) -> Samples {
        let mut samples = Samples::new();
        // Writes that wait for an acknowledgement, by the fields that tell them apart.
        let mut open: BTreeMap<(&str, &str, &str), Vec<f64>> = BTreeMap::new();
        for one in &self.0 {
            let key = (one.operation.as_str(), one.what.as_str(), one.side.as_str());
            match (one.kind, one.is_down) {
                (Kind::Write, false) => open.entry(key).or_default().push(one.ns),
                (Kind::Acknowledgement, true) => {
                    let waiting = open.get_mut(&key).filter(|waiting| !waiting.is_empty());
                    if let Some(waiting) = waiting {
                        samples.add((one.ns - waiting.remove(0)) / 2.0);
                    }
                }
                _ => {}
            }
        }
        samples
    }
}

impl Transaction {
    fn is_post(&self) -> bool {
        let is_named = self.what.is_empty() || self.what == "post";
        self.is_down && self.kind == Kind::Write && self.bytes == BLOCK && is_named
    }

    fn is_completion(&self) -> bool {
        let is_named = self.what.is_empty() || self.what == "completion";
        let is_senders = self.side.is_empty() || self.side == "requester";
        !self.is_down && self.kind == Kind::Write && self.bytes == BLOCK && is_named && is_senders
    }

    /// Returns whether a message arrives by it.
    fn is_arrival(&self) -> bool {
        let is_up = !self.is_down && self.kind == Kind::Write;
        match (self.what.as_str(), self.side.as_str()) {
            ("", _) => is_up && self.bytes < BLOCK,
            ("payload", side) => is_up && side != "requester",
            _ => false,
        }
    }
}

/// Halves the times from posts to their completions: of the same operation or, where none is told,
/// to the next one, as in a ping-pong.
fn network(all: &[&Transaction]) -> Samples {
    let mut samples = Samples::new();
    let mut open: BTreeMap<&str, f64> = BTreeMap::new();
    for one in all {
        let operation = one.operation.as_str();
        if one.is_post() {
            open.insert(operation, one.ns);
        } else if one.is_completion()
            && let Some(posted) = open.remove(operation)
        {
            samples.add((one.ns - posted) / 2.0);
        }
    }
    samples
}

/// Returns the times from the arrival of a message to the post of the answer, of the queue pair that
/// answers fastest: the other one's program may do something between two rounds.
fn turn(all: &[&Transaction]) -> Samples {
    let mut by_queue: BTreeMap<&str, Samples> = BTreeMap::new();
    let mut arrived: BTreeMap<&str, f64> = BTreeMap::new();
    for one in all {
        let queue = one.queue.as_str();
        if one.is_arrival() {
            arrived.insert(queue, one.ns);
        } else if one.is_post()
            && let Some(at) = arrived.remove(queue)
        {
            by_queue.entry(queue).or_default().add(one.ns - at);
        }
    }
    // Of queue pairs that have answered a few times alone nothing is known.
    let most = by_queue.values().map(Samples::len).max().unwrap_or(0);
    by_queue.retain(|_, samples| samples.len() * 2 > most);
    let fastest = by_queue
        .into_values()
        .min_by(|one, other| one.mean().0.total_cmp(&other.mean().0));
    fastest.unwrap_or_default()
}

/// Returns the times between posts of one queue pair.
fn gaps(all: &[&Transaction]) -> Samples {
    let mut samples = Samples::new();
    let mut last: BTreeMap<&str, f64> = BTreeMap::new();
    for one in all.iter().filter(|one| one.is_post()) {
        if let Some(before) = last.insert(one.queue.as_str(), one.ns) {
            samples.add(one.ns - before);
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of a ping-pong of `rounds` with P 10, N 100, M 30 and a program that takes
    /// 7.
    fn ping_pong(rounds: u32, labels: bool) -> String {
        let mut lines: Vec<(f64, String)> = Vec::new();
        let mut line = |ns: f64, rest: &str, labelled: String| {
            let rest = if labels {
                format!("{ns},{rest},{labelled}")
            } else {
                format!("{ns},{rest}")
            };
            lines.push((ns, rest));
        };
        let mut t = 1000.0;
        for round in 0..rounds {
            let operation = round + 1;
            let (queue, peer) = (1 + round % 2, 2 - round % 2);
            let (post, arrival) = (t + 10.0, t + 110.0);
            // Without labels the trace is that of the one NIC of queue pair 1.
            let mut at = |nic, ns: f64, rest: &str, what: &str, side: &str| {
                if labels || nic == 1 {
                    line(ns, rest, format!("{nic},{what},9,{side},{operation}"));
                }
            };
            at(queue, post, "down,MWr,64", "post", "requester");
            at(peer, arrival, "up,MWr,8", "payload", "responder");
            at(peer, arrival + 20.0, "down,Ack,0", "payload", "responder");
            at(queue, post + 200.0, "up,MWr,64", "completion", "requester");
            at(queue, post + 220.0, "down,Ack,0", "completion", "requester");
            t = arrival + 10.0 + 30.0 + 7.0;
            if round % 2 == 1 {
                // The work of the first end between two rounds.
                t += 50.0;
            }
        }
        lines.sort_by(|one, other| one.0.total_cmp(&other.0));
        let head = if labels {
            "time_ns,direction,kind,bytes,queue_pair,what,process,side,operation"
        } else {
            "time_ns,direction,kind,bytes"
        };
        let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
        format!("{head}\n{}\n", lines.join("\n"))
    }

    #[test]
    fn times_of_a_ping_pong() {
        let found = Trace::parse(&ping_pong(200, true)).expect("right").times();
        assert_eq!(found.pcie.mean().0, 10.0);
        assert_eq!(found.network.mean().0, 100.0);
        assert_eq!(found.turn.mean().0, 2.0 * 10.0 + 30.0 + 7.0);
        assert_eq!(found.network.len(), 200);
        assert_eq!(found.turn.len(), 100);
    }

    #[test]
    fn times_of_one_analyzer_that_knows_no_operations() {
        let found = Trace::parse(&ping_pong(200, false)).expect("right").times();
        assert_eq!(found.pcie.mean().0, 10.0);
        assert_eq!(found.network.mean().0, 100.0);
        // The end at the analyzer is the one that does something between two rounds.
        assert_eq!(found.turn.mean().0, 2.0 * 10.0 + 30.0 + 7.0 + 50.0);
    }

    #[test]
    fn operations_that_the_device_reads_for_are_left_out() {
        let text = "time_ns,direction,kind,bytes,queue_pair,what,process,side,operation\n\
                    10,down,MWr,64,1,post,9,requester,1\n\
                    10,up,MRd,8,1,payload,9,requester,1\n\
                    30,down,CplD,8,1,payload,9,requester,1\n\
                    900,up,MWr,64,1,completion,9,requester,1\n\
                    920,down,Ack,0,1,completion,9,requester,1\n";
        let found = Trace::parse(text).expect("right").times();
        assert_eq!((found.pcie.len(), found.network.len()), (1, 0));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_named() {
        let head = "time_ns,direction,kind,bytes\n";
        for (text, part) in [
            (String::new(), "it has no lines"),
            ("time,direction\n".to_owned(), "no column \"time_ns\""),
            (
                format!("{head}x,up,MWr,8\n"),
                "line 2: \"x\" is no time in ns",
            ),
            (format!("{head}1,left,MWr,8\n"), "\"left\" is no direction"),
            (format!("{head}1,up,Foo,8\n"), "\"Foo\" is no kind"),
            (
                format!("{head}\n1,up,MWr,many\n"),
                "line 3: \"many\" is no number",
            ),
        ] {
            let error = Trace::parse(&text).expect_err(part);
            assert!(error.contains(part), "{error}");
        }
    }
}
