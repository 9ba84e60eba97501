//! The soak of the fabric's own objects: processes that send each other messages, and use each
//! other's memory, while now and then one of them is killed and another takes its place.
//!
//! Usage: `raw_soak [--seconds S] [--seed N] [--parties P] [--device rc|dc]`. With a device, two
//! places each are one pretended node, and others are reached by it.

mod model;
mod party;

use fi_provider::raw::far::Transport;
use model::Random;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

/// Time that the others may take to say that they have done with a process that was killed: longer
/// than each of them waits, as the machine may be busy.
const GONE: Duration = Duration::from_secs(20);
const GONE_BY_DEVICE: Duration = Duration::from_secs(45);
/// Time that the end may take: all operations that were begun are done.
const END: Duration = Duration::from_secs(60);

/// A line of a process, by its number; none where it has ended.
type Said = (u64, Option<String>);

struct Process {
    child: Child,
    rank: usize,
    address: String,
}

struct Soak {
    seed: u64,
    /// The name of the device's transport, or nothing.
    device: String,
    parties: usize,
    /// By their numbers, which no other ever has.
    living: BTreeMap<u64, Process>,
    next: u64,
    said: Receiver<Said>,
    say: Sender<Said>,
}

impl Soak {
    /// Starts a process, and makes it and the others known to each other.
    fn add(&mut self, rank: usize) -> Result<(), String> {
        let id = self.next;
        self.next += 1;
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let words = [id, rank as u64, self.seed, self.parties as u64].map(|word| word.to_string());
        let started = Command::new(program)
            .arg("party")
            .args(words)
            .args((!self.device.is_empty()).then_some(&self.device))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = started.map_err(|error| format!("starts no process: {error}"))?;
        let output = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        let say = self.say.clone();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = say.send((id, Some(line)));
            }
            let _ = say.send((id, None));
        });
        self.living.insert(
            id,
            Process {
                child,
                rank,
                address: String::new(),
            },
        );
        let address = self
            .answers("address", &[id], END)?
            .remove(&id)
            .unwrap_or_default();
        for (&other, process) in &self.living {
            if other != id {
                self.tell(
                    id,
                    &format!("peer {other} {} {}", process.rank, process.address),
                );
                self.tell(other, &format!("peer {id} {rank} {address}"));
            }
        }
        if let Some(process) = self.living.get_mut(&id) {
            process.address = address;
        }
        Ok(())
    }

    fn tell(&self, id: u64, line: &str) {
        if let Some(mut input) = self
            .living
            .get(&id)
            .and_then(|one| one.child.stdin.as_ref())
        {
            // One that has ended is noticed by its output.
            let _ = writeln!(input, "{line}");
        }
    }

    fn tell_all(&self, line: &str) {
        self.living.keys().for_each(|&id| self.tell(id, line));
    }

    /// Waits until each of these has said a line that begins so; returns the rest of it.
    fn answers(
        &mut self,
        begin: &str,
        of: &[u64],
        limit: Duration,
    ) -> Result<BTreeMap<u64, String>, String> {
        let mut told = BTreeMap::new();
        let deadline = Instant::now() + limit;
        while told.len() < of.len() {
            let left = deadline.saturating_duration_since(Instant::now());
            let missing: Vec<_> = of.iter().filter(|id| !told.contains_key(*id)).collect();
            match self.said.recv_timeout(left) {
                Ok((id, Some(line))) => {
                    let rest = line.strip_prefix(begin).map(|rest| rest.trim().to_owned());
                    let rest = rest.filter(|_| of.contains(&id));
                    told.insert(
                        id,
                        rest.ok_or_else(|| format!("process {id} said {line:?}, not {begin:?}"))?,
                    );
                }
                Ok((id, None)) if self.living.contains_key(&id) => {
                    return Err(format!("process {id} has ended"));
                }
                Ok((_, None)) => {}
                Err(_) => {
                    return Err(format!(
                        "{begin:?} was not said in {limit:?} by {missing:?}"
                    ));
                }
            }
        }
        Ok(told)
    }

    /// Kills a process and has another take its place.
    fn replace(&mut self, id: u64) -> Result<(), String> {
        let Some(mut one) = self.living.remove(&id) else {
            return Ok(());
        };
        one.child.kill().map_err(|error| error.to_string())?;
        one.child.wait().map_err(|error| error.to_string())?;
        self.tell_all(&format!("dead {id}"));
        let others: Vec<u64> = self.living.keys().copied().collect();
        let limit = if self.device.is_empty() {
            GONE
        } else {
            GONE_BY_DEVICE
        };
        self.answers(&format!("gone {id}"), &others, limit)?;
        self.add(one.rank)
    }

    fn run(&mut self, span: Duration) -> Result<String, String> {
        for rank in 0..self.parties {
            self.add(rank)?;
        }
        let mut random = Random::new(self.seed, [0, 0, 0]);
        let start = Instant::now();
        let mut killed = 0;
        while start.elapsed() < span {
            let pause = Duration::from_millis(random.below(1500) as u64);
            let died = self
                .said
                .recv_timeout(pause.min(span.saturating_sub(start.elapsed())));
            match died {
                Ok((id, Some(line))) => return Err(format!("process {id} said {line:?}")),
                Ok((id, None)) if self.living.contains_key(&id) => {
                    return Err(format!("process {id} has ended"));
                }
                _ => {}
            }
            // The oldest ones stay: the remains of others would pile up there.
            let ids: Vec<u64> = self.living.keys().copied().skip(2).collect();
            self.replace(ids[random.below(ids.len())])?;
            killed += 1;
        }
        let all: Vec<u64> = self.living.keys().copied().collect();
        self.tell_all("stop");
        for (id, sent) in self.answers("sent", &all, END)? {
            for pair in sent.split_whitespace() {
                let (to, count) = pair.split_once(':').ok_or("no pair")?;
                self.tell(
                    to.parse().map_err(|_| "no number")?,
                    &format!("expect {id} {count}"),
                );
            }
        }
        self.tell_all("check");
        let done = self.answers("done", &all, END)?;
        self.tell_all("end");
        for process in self.living.values_mut() {
            let status = process.child.wait().map_err(|error| error.to_string())?;
            if !status.success() {
                return Err(format!("rank {} ended with {status}", process.rank));
            }
        }
        let mut sums = [0_u64; 4];
        for counts in done.values() {
            for (sum, count) in sums.iter_mut().zip(counts.split_whitespace()) {
                *sum += count.parse::<u64>().map_err(|_| "no number")?;
            }
        }
        let [messages, writes, reads, atomics] = sums;
        Ok(format!(
            "{killed} processes killed; by those that lived to the end: \
             {messages} messages received, {writes} writes, {reads} reads, {atomics} atomic operations"
        ))
    }
}

/// Returns the transport of this name.
fn transport(name: &str) -> Option<Transport> {
    match name {
        "rc" => Some(Transport::Rc),
        "dc" => Some(Transport::Dc),
        _ => None,
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("party", words)) = words
        .split_first()
        .map(|(first, rest)| (first.as_str(), rest))
    {
        let numbers: Vec<u64> = words.iter().filter_map(|word| word.parse().ok()).collect();
        if let [id, rank, seed, parties] = numbers[..] {
            let far = words.get(4).and_then(|name| transport(name));
            party::live(id, rank as usize, seed, parties as usize, far);
            return ExitCode::SUCCESS;
        }
    }
    let mut options = BTreeMap::from([("--seconds", 8), ("--parties", 8), ("--seed", 0)]);
    let mut device = String::new();
    for pair in words.chunks(2) {
        if let [option, name] = pair
            && option == "--device"
            && transport(name).is_some()
        {
            device.clone_from(name);
            continue;
        }
        let value = pair.get(1).and_then(|value| value.parse().ok());
        match (options.get_mut(pair[0].as_str()), value) {
            (Some(option), Some(value)) => *option = value,
            _ => {
                eprintln!(
                    "raw_soak [--seconds S] [--seed N] [--parties P] [--device rc|dc], not {pair:?}"
                );
                return ExitCode::from(2);
            }
        }
    }
    let now = || {
        std::time::UNIX_EPOCH
            .elapsed()
            .map_or(1, |time| time.as_secs())
    };
    let seed = Some(options["--seed"])
        .filter(|&seed| seed != 0)
        .unwrap_or_else(now);
    let (say, said) = mpsc::channel();
    let parties = (options["--parties"] as usize).clamp(4, 8);
    let mut soak = Soak {
        seed,
        device,
        parties,
        living: BTreeMap::new(),
        next: 1,
        said,
        say,
    };
    let done = soak.run(Duration::from_secs(options["--seconds"]));
    for process in soak.living.values_mut() {
        let _ = process.child.kill();
        let _ = process.child.wait();
    }
    match done {
        Ok(what) => {
            println!("seed {seed}: {what}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("raw_soak: seed {seed}: {why}");
            ExitCode::FAILURE
        }
    }
}
