//! One start, from the first agent to the end of the job.

use std::ops::AddAssign;

use fi_bootstrap::request;
use fi_bootstrap::server::{Effect, Host, Job, Pair};
use fi_bootstrap::wire::{Line, Message, VALLEN_MAX};

use super::super::hosts::{self, Account, Frame, VERSION, Way, parts};
use super::Costs;
use super::steps::{Network, Shape, Sizes, Step, ending, steps};

/// The job's name in PMI-1.
const KVSNAME: &str = "kvs_1000";

/// Messages and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// Number of messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Amount {
    fn of(bytes: usize) -> Self {
        Self {
            messages: 1,
            bytes: bytes as u64,
        }
    }

    fn times(self, count: u64) -> Self {
        Self {
            messages: self.messages * count,
            bytes: self.bytes * count,
        }
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.messages += other.messages;
        self.bytes += other.bytes;
    }
}

/// The messages up to one barrier of all PEs, and in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exchange {
    /// Requests of the PEs of the host that has most, and the bytes of these and their answers.
    pub requests: Amount,
    /// The frames of that host to oshrun.
    pub up: Amount,
    /// The frames of oshrun to one host.
    pub down: Amount,
    /// All frames that oshrun takes.
    pub taken: Amount,
    /// All frames that oshrun sends.
    pub sent: Amount,
    /// Until the last host has gone on, in seconds.
    pub time: f64,
    /// Of that, until the last host's PEs have asked for all that they need.
    pub asking: f64,
}

/// A start.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// Until all agents are known and PEs start, which is no exchange of PEs. Programs that start
    /// agents, and processes, take no time here.
    pub agents: Exchange,
    /// The exchanges of PEs, each of which ends with a barrier; the last is that of the job's end.
    pub exchanges: Vec<Exchange>,
    /// Bytes of the keys and values of all PEs that a host holds.
    pub published: u64,
    /// Lines of the account that oshrun would write, of barriers and of their values alone.
    account: Account,
}

impl Start {
    /// Returns the account of frames that oshrun has in the end (FARREACH_LAUNCH_ACCOUNT), of those
    /// that barriers send.
    #[must_use]
    pub fn account(&self) -> Vec<String> {
        self.account.lines().collect()
    }
}

/// One host, between two barriers.
#[derive(Default)]
struct Turn {
    requests: Amount,
    values: Vec<Pair>,
}

/// Plays a start.
#[must_use]
pub fn simulate(shape: &Shape, costs: &Costs) -> Start {
    let places = shape.places();
    let mut start = Start {
        agents: agents(shape, &places, costs),
        ..Start::default()
    };
    let mut jobs: Vec<Job> = Vec::new();
    let mut turns: Vec<Vec<(Amount, Vec<Amount>)>> = Vec::new();
    let mut opened: Vec<Option<Vec<Pair>>> = Vec::new();
    for host in 0..shape.hosts {
        let number = u32::try_from(host).unwrap_or(u32::MAX);
        let answers = Host::of(&places, number, KVSNAME);
        for (at, turn) in play(shape, answers).into_iter().enumerate() {
            if jobs.len() == at {
                jobs.push(Job::new(shape.pes(), shape.hosts));
                turns.push(Vec::new());
                opened.push(None);
            }
            let mut frames = Vec::new();
            for (values, last) in parts(turn.values.clone()) {
                let frame = Frame::Entered { values, last }.encode();
                start.account.add(Way::Taken, 1, &frame);
                frames.push(Amount::of(frame.len()));
            }
            turns[at].push((turn.requests, frames));
            if let Some(values) = jobs[at].enter(host, turn.values) {
                opened[at] = Some(values);
            }
        }
    }
    for (values, turns) in opened.into_iter().zip(turns) {
        let values = values.unwrap_or_default();
        let length = |(key, value): &Pair| (key.len() + value.len()) as u64;
        start.published += values.iter().map(length).sum::<u64>();
        let mut frames = Vec::new();
        for (values, last) in parts(values) {
            let frame = Frame::Open { values, last }.encode();
            start.account.add(Way::Sent, shape.hosts as u64, &frame);
            frames.push(Amount::of(frame.len()));
        }
        start.exchanges.push(exchange(&turns, &frames, costs));
    }
    start
}

/// Returns the time and the sums of one exchange, of the requests of each host's PEs with the
/// frames that the host sends then (`turns`), and of the frames to each host (`down`).
fn exchange(turns: &[(Amount, Vec<Amount>)], down: &[Amount], costs: &Costs) -> Exchange {
    let mut sums = Exchange::default();
    let wire = |frame: &Amount| frame.bytes as f64 / costs.bandwidth;
    // oshrun takes frames one after the other, in the order in which they come.
    let mut arrivals = Vec::new();
    for (requests, up) in turns {
        let asked = requests.messages as f64 * costs.request;
        sums.asking = f64::max(sums.asking, asked);
        let mut own = Amount::default();
        let mut left = asked;
        for frame in up {
            left += costs.frame + wire(frame);
            arrivals.push((left + costs.latency, *frame));
            own += *frame;
        }
        sums.taken += own;
        if requests.messages > sums.requests.messages {
            sums.requests = *requests;
        }
        if own.bytes > sums.up.bytes {
            sums.up = own;
        }
    }
    arrivals.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut now = 0.0;
    for (at, frame) in &arrivals {
        now = f64::max(now, *at) + costs.frame + wire(frame);
    }
    // It sends each frame to all hosts, and then the next one.
    for frame in down {
        now += turns.len() as f64 * (costs.frame + wire(frame));
        sums.down += *frame;
        sums.sent += frame.times(turns.len() as u64);
    }
    let last = down.last().map_or(0.0, wire);
    sums.time = now + costs.latency + costs.frame + last;
    sums
}

/// Returns the frames before PEs start.
fn agents(shape: &Shape, places: &[u32], costs: &Costs) -> Exchange {
    let mut sums = Exchange::default();
    let nonce = [0; 16];
    let proof = [0; 32];
    let up = [
        Frame::Hello {
            version: VERSION,
            host: "node00000".to_owned(),
            nonce,
        },
        Frame::Known { proof },
        Frame::Ready {},
    ];
    let start = hosts::Start {
        hosts: places.to_vec(),
        kvsname: KVSNAME.to_owned(),
        ..hosts::Start::default()
    };
    let down = [
        Frame::Welcome {
            version: VERSION,
            nonce,
            proof,
            patience: 5000,
        },
        Frame::Start { start },
        Frame::Go {},
    ];
    let hosts = shape.hosts as u64;
    // Each pair is a round trip of all hosts at a time: the slower of the two ends counts.
    for (up, down) in up.iter().zip(&down) {
        let (up, down) = (up.encode().len(), down.encode().len());
        sums.up += Amount::of(up);
        sums.down += Amount::of(down);
        let both = (up + down) as f64 / costs.bandwidth + 2.0 * costs.frame;
        sums.time += hosts as f64 * both + 2.0 * costs.latency;
    }
    sums.taken = sums.up.times(hosts);
    sums.sent = sums.down.times(hosts);
    sums
}

/// Plays the PEs of one host, to which `answers` is: a turn for each barrier.
fn play(shape: &Shape, mut answers: Host) -> Vec<Turn> {
    let ranks: Vec<usize> = answers.ranks().collect();
    let mut scripts = Vec::new();
    for &pe in &ranks {
        let mut all = steps(shape, pe);
        all.extend(ending());
        scripts.push(all.into_iter());
    }
    let mut turns = Vec::new();
    loop {
        let mut turn = Turn::default();
        let mut over = false;
        for (&pe, script) in ranks.iter().zip(&mut scripts) {
            loop {
                match script.next() {
                    Some(Step::Barrier) => {
                        let line = request::barrier();
                        turn.requests += Amount::of(line.clone().finish().len());
                        let line = line.finish();
                        for effect in answers.receive(pe, line.trim_end().as_bytes()) {
                            if let Effect::Entered { values } = effect {
                                turn.values = values;
                            }
                        }
                        break;
                    }
                    Some(step) => turn.requests += act(&mut answers, pe, &step),
                    None => {
                        over = true;
                        break;
                    }
                }
            }
        }
        if over {
            // Requests of PEs after the last barrier take no other host's time.
            return turns;
        }
        let values = if turns.is_empty() {
            published(shape)
        } else {
            Vec::new()
        };
        for effect in answers.open(values) {
            if let Effect::Reply { line, .. } = effect {
                turn.requests.bytes += line.len() as u64;
            }
        }
        turns.push(turn);
    }
}

/// Returns the pairs of PEs of all hosts, as a host learns them by a barrier: of keys with numbers
/// of as many digits the first, since a PE asks for no other ([`act`]).
fn published(shape: &Shape) -> Vec<Pair> {
    let Sizes {
        place,
        sizes,
        processors,
        address,
    } = shape.sizes;
    let of = |prefix: &'static str, count, bytes| {
        let first = by_digits(count).into_iter().map(|(first, _)| first);
        first.map(move |number| (format!("{prefix}-{number}"), bytes))
    };
    let mut keys = vec![("sizes".to_owned(), sizes)];
    keys.extend(of("node", shape.hosts, place));
    keys.extend(of("processors", shape.pes(), processors));
    match shape.network {
        Network::Dc => keys.extend(of("device", shape.pes(), 1 + address)),
        Network::Libfabric => {
            keys.push(("device-0".to_owned(), 1));
            keys.extend(of("libfabric", shape.pes(), 1 + address));
        }
    }
    let mut pairs = Vec::new();
    for (key, bytes) in keys {
        for line in put(&key, bytes) {
            let line = line.finish();
            let message = Message::parse(line.as_bytes());
            let field = |name| Some(message.as_ref().ok()?.get(name)?.to_owned());
            pairs.extend(field("key").zip(field("value")));
        }
    }
    pairs
}

/// Returns the lines that publish so many bytes.
fn put(key: &str, bytes: usize) -> Vec<Line> {
    let bytes = vec![0xa5; bytes];
    request::put(KVSNAME, VALLEN_MAX, key, &bytes).unwrap_or_default()
}

/// Sends a line; returns the bytes of it and of its answer.
fn ask(host: &mut Host, pe: usize, line: Line) -> Amount {
    let line = line.finish();
    let mut amount = Amount::of(line.len());
    for effect in host.receive(pe, line.trim_end().as_bytes()) {
        match effect {
            Effect::Reply { line: answer, .. } => {
                let parsed = Message::parse(answer.as_bytes());
                assert!(
                    parsed.is_ok_and(|parsed| parsed.succeeded()),
                    "{line}{answer}"
                );
                amount.bytes += answer.len() as u64;
            }
            other => unreachable!("a PE that keeps to the protocol is answered, not {other:?}"),
        }
    }
    amount
}

/// Does a step that is no barrier.
fn act(host: &mut Host, pe: usize, step: &Step) -> Amount {
    let mut amount = Amount::default();
    match step {
        Step::Introduce => {
            for (line, _) in request::introduction() {
                amount += ask(host, pe, line);
            }
        }
        Step::NodeMap => amount += ask(host, pe, request::node_map(KVSNAME)),
        Step::Put(key, bytes) => {
            for line in put(key, *bytes) {
                amount += ask(host, pe, line);
            }
        }
        Step::Get(key) => amount += get(host, pe, key),
        Step::GetAll { prefix, count, but } => {
            for (first, keys) in by_digits(*count) {
                let left_out = but.is_some_and(|but| but >= first && but < first + keys);
                let one = get(host, pe, &format!("{prefix}-{first}"));
                amount += one.times((keys - usize::from(left_out)) as u64);
            }
        }
        Step::Finalize => amount += ask(host, pe, request::finalize()),
        Step::Barrier => {}
    }
    amount
}

/// Asks for a key: for its first piece, and for those that this says there are.
fn get(host: &mut Host, pe: usize, key: &str) -> Amount {
    let line = request::get(KVSNAME, key, 0).finish();
    let mut pieces = 1;
    for effect in host.receive(pe, line.trim_end().as_bytes()) {
        if let Effect::Reply { line, .. } = effect
            && let Ok(answer) = Message::parse(line.as_bytes())
        {
            pieces = answer.get("value").and_then(request::pieces).unwrap_or(1);
        }
    }
    let mut amount = Amount::default();
    for piece in 0..pieces {
        amount += ask(host, pe, request::get(KVSNAME, key, piece));
    }
    amount
}

/// Returns the numbers below `count` by their digits: the first of as many digits, and their
/// number.
fn by_digits(count: usize) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut first = 0;
    let mut end = 10;
    while first < count {
        ranges.push((first, end.min(count) - first));
        first = end;
        end *= 10;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expects the exchanges that libshmem itself takes, as tests/run counts them.
    #[test]
    fn a_start_has_so_many_exchanges() {
        for (shape, exchanges) in [("2,2,dc", 5), ("2,2,libfabric", 8)] {
            let shape = Shape::read(shape).unwrap();
            let start = simulate(&shape, &Costs::default());
            assert_eq!(start.exchanges.len(), exchanges);
            // One frame of each host, and one to each.
            for one in &start.exchanges {
                assert_eq!((one.taken.messages, one.sent.messages), (2, 2));
            }
        }
    }

    #[test]
    fn numbers_are_counted_by_their_digits() {
        assert_eq!(by_digits(7), [(0, 7)]);
        assert_eq!(by_digits(10), [(0, 10)]);
        assert_eq!(by_digits(250), [(0, 10), (10, 90), (100, 150)]);
    }
}
