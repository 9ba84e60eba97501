//! The soak of remote calls: processes call each other from several threads, and some of them are
//! killed meanwhile. Calls to these end, and those among the others go on.
//!
//! Usage: `calls_soak [--seconds S] [--seed N] [--parties P] [--kills K] [--device]`. With a device,
//! two ranks each are one pretended node.

mod party;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// Time that all may take to come together, and to end.
const LIMIT: Duration = Duration::from_secs(60);
/// Time that the others may take to have ended all calls to one that was killed.
const GONE: Duration = Duration::from_secs(20);
const GONE_BY_DEVICE: Duration = Duration::from_secs(45);

struct Soak {
    children: Vec<Child>,
    inputs: Vec<ChildStdin>,
    /// Ranks that were not killed.
    living: Vec<usize>,
    said: Receiver<(usize, Option<String>)>,
}

impl Soak {
    fn start(parties: usize, seed: u64, has_device: bool) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let (say, said) = mpsc::channel();
        let (mut children, mut inputs) = (Vec::new(), Vec::new());
        for rank in 0..parties {
            let words = [rank as u64, parties as u64, seed, has_device.into()];
            let mut child = Command::new(&program)
                .arg("party")
                .args(words.map(|word| word.to_string()))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .map_err(|error| format!("starts no process: {error}"))?;
            inputs.push(child.stdin.take().ok_or("no pipe")?);
            let output = BufReader::new(child.stdout.take().ok_or("no pipe")?);
            children.push(child);
            let say = say.clone();
            std::thread::spawn(move || {
                for line in output.lines().map_while(Result::ok) {
                    let _ = say.send((rank, Some(line)));
                }
                let _ = say.send((rank, None));
            });
        }
        Ok(Self {
            children,
            inputs,
            living: (0..parties).collect(),
            said,
        })
    }

    fn tell_all(&mut self, line: &str) {
        for &rank in &self.living {
            // One that has ended is noticed by its output.
            let _ = writeln!(self.inputs[rank], "{line}");
        }
    }

    /// Waits until all that live have said a line of which the first word is this.
    fn all_say(&mut self, word: &str, limit: Duration) -> Result<BTreeMap<usize, String>, String> {
        let mut told = BTreeMap::new();
        let deadline = Instant::now() + limit;
        while told.len() < self.living.len() {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.said.recv_timeout(left) {
                Ok((rank, Some(line))) => match line.split_once(' ') {
                    Some((first, rest)) if first == word => {
                        told.insert(rank, rest.to_owned());
                    }
                    _ => return Err(format!("rank {rank} said {line:?}, not {word:?}")),
                },
                Ok((rank, None)) if self.living.contains(&rank) => {
                    return Err(format!("rank {rank} has ended"));
                }
                Ok(_) => {}
                Err(_) => {
                    let missing = self.living.iter().filter(|rank| !told.contains_key(rank));
                    let missing: Vec<_> = missing.collect();
                    return Err(format!("{word:?} was not said in {limit:?} by {missing:?}"));
                }
            }
        }
        Ok(told)
    }

    /// Brings all together, until they have opened their calls.
    fn meet(&mut self) -> Result<(), String> {
        loop {
            let all = self.all_say("all", LIMIT)?;
            if all.values().all(|bytes| bytes == "open") {
                return Ok(());
            }
            let all: Vec<String> = all.into_values().collect();
            self.tell_all(&all.concat());
        }
    }

    fn kill(&mut self, rank: usize, limit: Duration) -> Result<(), String> {
        self.tell_all(&format!("dying {rank}"));
        self.all_say("knows", LIMIT)?;
        self.living.retain(|&one| one != rank);
        self.children[rank]
            .kill()
            .map_err(|error| error.to_string())?;
        self.children[rank]
            .wait()
            .map_err(|error| error.to_string())?;
        self.tell_all(&format!("dead {rank}"));
        self.all_say("gone", limit).map(drop)
    }

    fn run(
        &mut self,
        seed: u64,
        span: Duration,
        kills: u64,
        limit: Duration,
    ) -> Result<String, String> {
        self.meet()?;
        let mut random = party::Random(seed);
        let start = Instant::now();
        for number in 0..kills {
            // Each in its part of the time.
            let part = span.as_micros() as u64 / (kills + 1);
            let at = Duration::from_micros(part * (number + 1) / 2 + random.below(part));
            std::thread::sleep((start + at).saturating_duration_since(Instant::now()));
            let victim = self.living[random.below(self.living.len() as u64) as usize];
            self.kill(victim, limit)
                .map_err(|error| format!("behind the end of rank {victim}: {error}"))?;
        }
        std::thread::sleep((start + span).saturating_duration_since(Instant::now()));
        self.tell_all("stop");
        let done = self.all_say("done", limit)?;
        let done = done.values().map(|count| count.parse::<u64>());
        let done: u64 = done.map(|count| count.unwrap_or_default()).sum();
        self.tell_all("settle");
        let settled = self.all_say("settled", limit)?;
        let wanted = if kills > 0 { "gone" } else { "all" };
        if let Some((rank, other)) = settled.iter().find(|(_, how)| *how != wanted) {
            return Err(format!("rank {rank}: settle told {other}, not {wanted}"));
        }
        self.tell_all("end");
        for &rank in &self.living {
            let status = self.children[rank]
                .wait()
                .map_err(|error| error.to_string())?;
            if !status.success() {
                return Err(format!("rank {rank} ended with {status}"));
            }
        }
        Ok(format!(
            "{kills} processes killed; {done} calls of the others"
        ))
    }
}

impl Drop for Soak {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("party", words)) = words.split_first().map(|(first, rest)| (&**first, rest)) {
        let numbers: Vec<u64> = words.iter().filter_map(|word| word.parse().ok()).collect();
        if let [rank, ranks, seed, has_device] = numbers[..] {
            party::live(rank as u32, ranks as u32, seed, has_device != 0);
            return ExitCode::SUCCESS;
        }
    }
    let mut options = BTreeMap::from([
        ("--seconds", 5),
        ("--parties", 8),
        ("--kills", 3),
        ("--seed", 0),
    ]);
    let mut has_device = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--device" {
            has_device = true;
            continue;
        }
        let value = words.next().and_then(|value| value.parse::<u64>().ok());
        match (options.get_mut(&**word), value) {
            (Some(option), Some(value)) => *option = value,
            _ => {
                eprintln!("calls_soak: {word}: unknown, or without a number");
                return ExitCode::from(2);
            }
        }
    }
    let seed = match options["--seed"] {
        0 => std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(1, |now| now.as_micros() as u64 % 1_000_000_000),
        seed => seed,
    };
    println!("seed {seed}");
    let span = Duration::from_secs(options["--seconds"]);
    let limit = if has_device { GONE_BY_DEVICE } else { GONE };
    let kills = options["--kills"];
    let ran = Soak::start(options["--parties"] as usize, seed, has_device)
        .and_then(|mut soak| soak.run(seed, span, kills, limit));
    match ran {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("calls_soak: seed {seed}: {why}");
            ExitCode::FAILURE
        }
    }
}
