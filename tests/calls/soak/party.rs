//! The life of one process.

use calls::{Calls, Config, Error, Here, Meeting, RmaVec, action};
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Threads that call.
const THREADS: u64 = 3;
/// The longest time that a call may take.
const SOON: Duration = Duration::from_secs(20);
const SOON_BY_DEVICE: Duration = Duration::from_secs(45);

/// Numbers that seem random, of a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.next() % most.max(1)
    }
}

/// The process that has started this one brings all together, by lines.
#[derive(Debug)]
struct ByLines {
    rank: u32,
    ranks: u32,
    lines: Arc<Mutex<Receiver<String>>>,
}

impl Meeting for ByLines {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn exchange(&mut self, own: &[u8], all: &mut [u8]) -> Result<(), i32> {
        let text: String = own.iter().map(|byte| format!("{byte:02x}")).collect();
        say(&format!("all {text}"));
        let lines = self.lines.lock().map_err(|_| 1)?;
        let line = lines.recv().map_err(|_| 2)?;
        if line.len() != 2 * all.len() {
            return Err(3);
        }
        for (at, byte) in all.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&line[2 * at..][..2], 16).map_err(|_| 4)?;
        }
        Ok(())
    }
}

fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    let _ = writeln!(output, "{line}");
    let _ = output.flush();
}

/// Reason for which a call of a call has no result: the rank that is gone, or none where too many
/// waited.
type Lost = Option<u32>;

/// Adds `step` to all numbers, with the help of so many others, one behind the other.
#[action]
fn add(here: &Here, step: u64, hops: u32, mut numbers: Vec<u64>) -> Result<Vec<u64>, Lost> {
    numbers
        .iter_mut()
        .for_each(|one| *one = one.wrapping_add(step));
    let calls = here.calls();
    if hops == 0 {
        return Ok(numbers);
    }
    let to = (calls.rank() + 1 + (step % 5) as u32) % calls.ranks();
    let call = calls
        .to(to)
        .expect("a rank")
        .run(add, (step, hops - 1, numbers));
    match call.wait() {
        Ok(result) => result,
        Err(Error::Gone { rank }) => Err(Some(rank)),
        Err(Error::Nested(_)) => Err(None),
        Err(other) => panic!("a call of rank {}: {other}", calls.rank()),
    }
}

#[action]
fn add_in_place(step: u64, mut numbers: RmaVec<u64>) -> RmaVec<u64> {
    let all = numbers.get_mut().expect("the only handle");
    all.iter_mut().for_each(|one| *one = one.wrapping_add(step));
    numbers
}

static TOLD: AtomicU64 = AtomicU64::new(0);

#[action]
fn tell(bytes: Vec<u8>) {
    TOLD.fetch_add(bytes.len() as u64, Ordering::Relaxed);
}

/// State that the threads of a process share.
struct Party {
    calls: Calls,
    /// Ranks that are dead, or may be.
    dying: Vec<AtomicBool>,
    is_over: AtomicBool,
    done: AtomicU64,
    soon: Duration,
}

impl Party {
    /// Checks that a call may have failed as this rank is gone.
    fn check_gone(&self, rank: u32) {
        // ORDERING: the flag was set, and told of, before the process was killed.
        let is_dying = self.dying[rank as usize].load(Ordering::SeqCst);
        assert!(is_dying, "rank {rank} lives, and is said to be gone");
    }

    fn check_time(&self, since: Instant, rank: u32) {
        let taken = since.elapsed();
        assert!(taken < self.soon, "a call to rank {rank} took {taken:?}");
    }

    /// Makes one call, or a few of them at a time.
    fn call(&self, random: &mut Random) {
        let to = random.below(self.calls.ranks().into()) as u32;
        let peer = self.calls.to(to).expect("a rank");
        let most = [4, 64, 1 << 10, 1 << 15][random.below(4) as usize];
        let len = random.below(most) as usize;
        let step = random.next();
        let begin = Instant::now();
        let kind = random.below(8);
        match kind {
            0 => {
                let all = vec![1_u64; len];
                let all = self.calls.rma_vec(&all).expect("room");
                match peer.run(add_in_place, (step, all.clone())).wait() {
                    Ok(back) => assert!(
                        back.len() == len && back.iter().all(|one| *one == step.wrapping_add(1))
                    ),
                    Err(Error::Gone { rank }) => self.check_gone(rank),
                    Err(other) => panic!("a call to rank {to}: {other}"),
                }
            }
            1 => (0..20).for_each(|_| peer.tell(tell, (vec![0; len / 64],))),
            2 => {
                let numbers = vec![7_u64; len];
                let call = self
                    .calls
                    .scope(|scope| scope.run(to, add, (step, 0, &numbers[..])));
                self.check(call.expect("a rank").wait(), 7, (step, 0), len);
            }
            _ => {
                let hops = random.below(3) as u32;
                let many = 1 + random.below(10);
                let all: Vec<_> = (0..many)
                    .map(|first| (first, peer.run(add, (step, hops, vec![first; len]))))
                    .collect();
                for (first, call) in all {
                    self.check(call.wait(), first, (step, hops), len);
                }
            }
        }
        self.check_time(begin, to);
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn check(
        &self,
        result: Result<Result<Vec<u64>, Lost>, Error>,
        first: u64,
        (step, hops): (u64, u32),
        len: usize,
    ) {
        match result {
            Ok(Ok(back)) => {
                let wanted = step.wrapping_mul(u64::from(hops) + 1).wrapping_add(first);
                assert!(back.len() == len && back.iter().all(|one| *one == wanted));
            }
            Ok(Err(Some(rank))) | Err(Error::Gone { rank }) => self.check_gone(rank),
            Ok(Err(None)) => {}
            Err(other) => panic!("a call: {other}"),
        }
    }

    /// Returns whether calls to a rank end, and fail.
    fn find_gone(&self, rank: u32) {
        let begin = Instant::now();
        let peer = self.calls.to(rank).expect("a rank");
        match peer.run(add, (1, 0, vec![1; 2000])).wait() {
            Err(Error::Gone { rank: gone }) => assert_eq!(gone, rank),
            other => panic!("rank {rank} is dead, and a call to it returned {other:?}"),
        }
        self.check_time(begin, rank);
    }

    /// Takes lines that tell of deaths, until another one comes.
    fn hear_of_deaths(&self, lines: &Mutex<Receiver<String>>) {
        loop {
            let line = line(&self.calls, lines);
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            let rank = || rest.parse::<u32>().expect("a rank");
            match word {
                "dying" => {
                    // ORDERING: before the process is killed.
                    self.dying[rank() as usize].store(true, Ordering::SeqCst);
                    say("knows it");
                }
                "dead" => {
                    self.find_gone(rank());
                    say("gone it");
                }
                _ => break,
            }
        }
    }

    /// Makes calls until the end.
    fn work(&self, seed: u64) {
        let mut random = Random(seed);
        // ORDERING: a flag alone.
        while !self.is_over.load(Ordering::Relaxed) {
            self.call(&mut random);
        }
    }
}

/// Polls until there is a line.
fn line(calls: &Calls, lines: &Mutex<Receiver<String>>) -> String {
    let lines = lines.lock().expect("no panic");
    loop {
        match lines.try_recv() {
            Ok(line) => return line,
            Err(mpsc::TryRecvError::Empty) => {
                calls.poll();
                std::thread::yield_now();
            }
            // The parent is gone.
            Err(mpsc::TryRecvError::Disconnected) => std::process::exit(3),
        }
    }
}

pub(crate) fn live(rank: u32, ranks: u32, seed: u64, has_device: bool) {
    // A thread that fails ends the process.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        eprintln!("rank {rank}, seed {seed}:");
        hook(panic);
        std::process::exit(1);
    }));
    let (send, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let _ = send.send(line);
        }
    });
    let lines = Arc::new(Mutex::new(lines));
    let meeting = ByLines {
        rank,
        ranks,
        lines: Arc::clone(&lines),
    };
    let calls = Calls::open_with(Config {
        meeting: Some(Box::new(meeting)),
        node: has_device.then_some(rank / 2),
        ring: 1 << 13,
        pool_limit: 1 << 30,
        waiting: 1 << 20,
        ..Config::default()
    });
    let party = Party {
        calls: calls.expect("all come together"),
        dying: (0..ranks).map(|_| AtomicBool::new(false)).collect(),
        is_over: AtomicBool::new(false),
        done: AtomicU64::new(0),
        soon: if has_device { SOON_BY_DEVICE } else { SOON },
    };
    say("all open");
    let calls = &party.calls;
    std::thread::scope(|threads| {
        for thread in 0..THREADS {
            let seed = seed ^ u64::from(rank) << 32 ^ thread << 48;
            let party = &party;
            threads.spawn(move || party.work(seed));
        }
        party.hear_of_deaths(&lines);
        // ORDERING: a flag alone.
        party.is_over.store(true, Ordering::Relaxed);
    });
    // Others may still wait for this process.
    match calls.wait_all() {
        Ok(()) => {}
        Err(Error::Gone { rank }) => party.check_gone(rank),
        Err(other) => panic!("{other}"),
    }
    say(&format!("done {}", party.done.load(Ordering::Relaxed)));
    assert_eq!(line(calls, &lines), "settle");
    let begin = Instant::now();
    let settled = calls.settle().and_then(|()| calls.settle());
    let how = match settled {
        Ok(()) => "all".to_owned(),
        Err(Error::Gone { rank }) => {
            party.check_gone(rank);
            "gone".to_owned()
        }
        Err(other) => other.to_string(),
    };
    party.check_time(begin, rank);
    say(&format!("settled {how}"));
    assert_eq!(line(calls, &lines), "end");
}
