//! Times messages of the fabric between two processes of this node, each as a ratio to the
//! machine's time without a library, in the same run:
//!
//! * a message of 8 bytes there and back, to two flags that the processes set for each other;
//! * a message of 1 MiB, from the arena and from elsewhere, to the best copy of as many bytes in one
//!   process, of bytes that the other one has written.
//!
//! `cargo run --release -p farreach-bench-messages -- [ROUNDS]`. Each process is bound to a
//! processor of its own; the best of the rounds counts.

#![expect(
    unsafe_code,
    reason = "forks, binds processes to processors, and times raw copies"
)]

use fi_provider::node::copy;
use fi_provider::node::segment::{Memfd, Reservation};
use fi_provider::raw::address::Address;
use fi_provider::raw::address_vector::{AddressVector, PeerIndex};
use fi_provider::raw::completion::{CompletionQueue, Context};
use fi_provider::raw::domain::{self, Domain};
use fi_provider::raw::endpoint::{Config, Endpoint, Level, Posted};
use fi_provider::raw::error::Error;
use fi_provider::raw::region::{Addressing, Memory, Rights};
use std::error;
use std::hint::{black_box, spin_loop};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Messages of 8 bytes there and back in a round.
const TURNS: u64 = 20_000;
/// Long messages in a round.
const LONG: u64 = 200;
const MIB: usize = 1 << 20;
/// Bytes of shared memory for flags, before those to copy.
const FLAGS: usize = 4096;

type Failure = Box<dyn error::Error>;

fn main() -> Result<(), Failure> {
    let rounds = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 7,
    };
    let memory = Memfd::create(c"flags", FLAGS + MIB)?;
    let space = Reservation::anywhere(FLAGS + MIB)?;
    space.map_shared(0, &memory, 0, FLAGS + MIB)?;
    let (ours, theirs) = UnixStream::pair()?;
    // SAFETY: this process has one thread so far.
    let child = unsafe { libc::fork() };
    let (rank, stream) = if child == 0 { (1, theirs) } else { (0, ours) };
    bind(rank)?;
    let pair = Pair::open(rank, stream, &space)?;
    let mut best = [f64::INFINITY; 6];
    for _ in 0..rounds {
        let times = [
            pair.time(TURNS, || pair.flags()),
            pair.time(TURNS, || pair.short()),
            pair.time(LONG, || pair.copies(true)),
            pair.time(LONG, || pair.copies(false)),
            pair.time(LONG, || pair.long(pair.arena.as_ptr())),
            pair.time(LONG, || pair.long(pair.source.as_ptr())),
        ];
        for (best, time) in best.iter_mut().zip(times) {
            *best = best.min(time);
        }
    }
    if rank == 0 {
        let [flags, short, by_words, by_c, mapped, long] = best;
        let copies = by_words.min(by_c);
        println!("| there and back | ns | to two flags |\n|---|---|---|");
        println!("| two flags | {flags:.0} | |");
        println!("| message of 8 B | {short:.0} | {:.2} |", short / flags);
        println!("\n| 1 MiB | us | rate, to the best copy |\n|---|---|---|");
        println!("| the best copy | {:.1} | |", copies / 1e3);
        for (time, place) in [(mapped, "the arena"), (long, "elsewhere")] {
            println!(
                "| message from {place} | {:.1} | {:.2} |",
                time / 1e3,
                copies / time
            );
        }
        let mut status = 0;
        // SAFETY: the child is this process's own; the status is a local.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        if status != 0 {
            return Err("the other process failed".into());
        }
    }
    Ok(())
}

/// Binds this process to a processor of its own, where there are two.
fn bind(rank: usize) -> Result<(), Failure> {
    // SAFETY: a set of processors is plain bits, and the calls read and write this one.
    unsafe {
        let mut own: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of_val(&own);
        if libc::sched_getaffinity(0, size, &raw mut own) != 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        let mine = (0..1024)
            .filter(|&cpu| libc::CPU_ISSET(cpu, &own))
            .nth(rank);
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(mine.ok_or("fewer than two processors")?, &mut one);
        libc::sched_setaffinity(0, size, &raw const one);
    }
    Ok(())
}

/// One of the two processes.
struct Pair<'a> {
    rank: usize,
    other: PeerIndex,
    endpoint: Endpoint,
    queue: CompletionQueue,
    flags: [&'a AtomicU64; 2],
    stream: UnixStream,
    source: Vec<u8>,
    dest: Vec<u8>,
    arena: Memory,
    shared: &'a Reservation,
}

impl<'a> Pair<'a> {
    fn open(rank: usize, mut stream: UnixStream, space: &'a Reservation) -> Result<Self, Failure> {
        let domain = Domain::open(domain::Config::default())?;
        let vector = AddressVector::new();
        let queue = CompletionQueue::new(64);
        let endpoint = Endpoint::open(&domain, &vector, Config::new(&queue))?;
        let mut address = endpoint.address().to_bytes();
        stream.write_all(&address)?;
        stream.read_exact(&mut address)?;
        let flag = |at: usize| {
            let word = (space.base() + at) as *mut u64;
            // SAFETY: the words are mapped as long as `space`, which the result borrows.
            unsafe { AtomicU64::from_ptr(word) }
        };
        Ok(Self {
            rank,
            other: vector.insert(&Address::of_bytes(&address)?)?,
            endpoint,
            queue,
            flags: [flag(0), flag(1024)],
            stream,
            source: vec![1; MIB],
            dest: vec![2; MIB],
            arena: domain.allocate(MIB, Rights::READ, None, Addressing::Offset)?,
            shared: space,
        })
    }

    /// Returns the time in ns of each of `count` steps that `body` does, both processes at once.
    fn time(&self, count: u64, body: impl Fn()) -> f64 {
        let mut byte = [0];
        let met = (&self.stream)
            .write_all(&byte)
            .and_then(|()| (&self.stream).read_exact(&mut byte));
        met.expect("the other process is there");
        let start = Instant::now();
        body();
        start.elapsed().as_nanos() as f64 / count as f64
    }

    fn flags(&self) {
        let [mine, theirs] = [self.flags[self.rank], self.flags[1 - self.rank]];
        let base = mine.load(Ordering::Relaxed);
        let set = |turn: u64| mine.store(base + turn, Ordering::Release);
        for turn in 1..=TURNS {
            if self.rank == 0 {
                set(turn);
            }
            while theirs.load(Ordering::Acquire) != base + turn {
                spin_loop();
            }
            if self.rank == 1 {
                set(turn);
            }
        }
    }

    /// Posts a buffer for one message.
    fn post(&self, buffer: *mut u8, len: usize) {
        let posted = Posted {
            context: 0,
            source: None,
            least: None,
        };
        // SAFETY: all buffers live as long as the pair, or until their entry.
        unsafe { self.endpoint.post_receive(buffer, len, posted) };
    }

    fn entry(&self) {
        loop {
            self.endpoint.progress();
            if let Some(entry) = self.queue.next() {
                entry.expect("the operation succeeds");
                return;
            }
            spin_loop();
        }
    }

    fn short(&self) {
        let mut word = [0_u8; 8];
        let send = || {
            let sent = self.endpoint.inject(self.other, &[7; 8]);
            sent.expect("there is room for one");
        };
        for _ in 0..TURNS {
            self.post(word.as_mut_ptr(), 8);
            if self.rank == 0 {
                send();
            }
            self.entry();
            if self.rank == 1 {
                send();
            }
            black_box(&word);
        }
    }

    /// Copies from memory that the other process has written, in one of two ways.
    fn copies(&self, by_words: bool) {
        let source = (self.shared.base() + FLAGS) as *mut u8;
        if self.rank == 1 {
            // SAFETY: so many bytes are mapped there.
            return unsafe { source.write_bytes(3, MIB) };
        }
        let dest = self.dest.as_ptr().cast_mut();
        for _ in 0..LONG {
            // SAFETY: both have so many bytes, and nobody else uses the destination now.
            unsafe {
                if by_words {
                    copy::copy(dest, source, MIB);
                } else {
                    libc::memcpy(dest.cast(), source.cast(), MIB);
                }
            }
            black_box(dest);
        }
    }

    fn long(&self, source: *const u8) {
        if self.rank == 1 {
            // SAFETY: both sources have so many bytes.
            unsafe { source.cast_mut().write_bytes(3, MIB) };
        }
        for turn in 0..LONG {
            if self.rank == 0 {
                self.post(self.dest.as_ptr().cast_mut(), MIB);
                self.entry();
                continue;
            }
            let start = Instant::now();
            loop {
                let report = Context(turn);
                // SAFETY: the source lives as long as the pair.
                let sent = unsafe {
                    self.endpoint
                        .send(self.other, source, MIB, None, Level::Free, report)
                };
                match sent {
                    Err(Error::Again) if start.elapsed() < Duration::from_secs(10) => {
                        self.endpoint.progress();
                    }
                    sent => break sent.expect("the message is sent"),
                }
            }
            self.entry();
        }
    }
}
