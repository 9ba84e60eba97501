//! The operations of the fabric's own objects (`fi_provider::raw`) whose instructions tests/icount
//! counts: on one node, 8 bytes, called from Rust in the same program, so that they are inlined.
//!
//! Each operation has two loops of the same shape, as in cases.c: one with the operation, and one
//! that only brings what it is given into registers. Two endpoints, of a domain each, are polled by
//! one thread. `icount_uncounted` is left out of the count: in the loop of the receive the other
//! endpoint sends in it. Messages that a loop leaves are taken behind it.

#![expect(
    unsafe_code,
    reason = "gives buffers by their C addresses, and functions names for callgrind"
)]

use fi_provider::raw::address_vector::{AddressVector, PeerIndex};
use fi_provider::raw::completion::{CompletionQueue, Context, Counted, Counter, Entry};
use fi_provider::raw::domain::{self, Domain};
use fi_provider::raw::endpoint::{Config, Endpoint, Posted, RemoteRegion};
use fi_provider::raw::region::{Addressing, Rights};
use std::arch::asm;
use std::cell::Cell;
use std::hint::black_box;

/// Entries of a queue.
const ENTRIES: usize = 64;
/// Messages that come at a time, if not one: a divisor of the rounds.
const BURST: u64 = 32;
/// Stands for the target in the lines for icount.
const TARGET: &str = "shm";

/// One end.
struct Party {
    endpoint: Endpoint,
    queue: CompletionQueue,
    received: Counter,
}

/// The objects that the loops use.
struct Bench {
    /// Starts operations.
    near: Party,
    /// Owns the region, and receives.
    far: Party,
    peer: PeerIndex,
    region: RemoteRegion,
    value: [u8; 8],
    buffer: *mut u8,
    /// Messages sent so far.
    sent: Cell<u64>,
}

type Loop = fn(&Bench, u64);

/// A value that the compiler does not know, in a register; memory may have changed, too.
#[inline(always)]
fn opaque(mut value: u64) -> u64 {
    // SAFETY: no instruction.
    unsafe { asm!("/* {0} */", inout(reg) value, options(nostack, preserves_flags)) };
    value
}

/// Ends the program where an operation has not done as it should.
#[inline(always)]
fn must(is_right: bool) {
    if !is_right {
        wrong();
    }
}

#[cold]
#[inline(never)]
fn wrong() -> ! {
    panic!("an operation has not done as it should");
}

/// Takes the next entry, which is of a success with this context.
#[inline(always)]
fn take(queue: &CompletionQueue, context: u64) {
    let Some(Ok(Entry { context: own, .. })) = queue.next() else {
        wrong();
    };
    must(own == context);
}

/// callgrind counts while this runs, and writes what it has counted at its end.
#[unsafe(no_mangle)]
#[inline(never)]
fn icount_counted(run: Loop, bench: &Bench, rounds: u64) {
    run(bench, rounds);
    opaque(0);
}

/// Sends a message to the far end, uncounted.
#[unsafe(no_mangle)]
#[inline(never)]
fn icount_uncounted(bench: &Bench) {
    let sent = bench.near.endpoint.inject(bench.peer, &bench.value);
    assert_eq!(sent, Ok(()));
    bench.sent.set(bench.sent.get() + 1);
}

fn write(bench: &Bench, rounds: u64) {
    let (endpoint, region, value) = (&bench.near.endpoint, &bench.region, &bench.value);
    for round in 0..rounds {
        let address = opaque(round % 64 * 8);
        let done = endpoint.inject_write(region, address, value, Counted);
        must(done.is_ok());
    }
}

fn write_and_entry(bench: &Bench, rounds: u64) {
    let (endpoint, region, value) = (&bench.near.endpoint, &bench.region, &bench.value);
    let queue = &bench.near.queue;
    for round in 0..rounds {
        let address = opaque(round % 64 * 8);
        let done = endpoint.inject_write(region, address, value, Context(address));
        must(done.is_ok());
        take(queue, address);
    }
}

fn bare(_: &Bench, rounds: u64) {
    for round in 0..rounds {
        opaque(round % 64 * 8);
    }
}

fn inject(bench: &Bench, rounds: u64) {
    let (endpoint, value) = (&bench.near.endpoint, &bench.value);
    for _ in 0..rounds {
        let peer = opaque(u64::from(bench.peer)) as PeerIndex;
        must(endpoint.inject(peer, value).is_ok());
    }
    bench.sent.set(bench.sent.get() + rounds);
}

fn bare_inject(bench: &Bench, rounds: u64) {
    for _ in 0..rounds {
        opaque(u64::from(bench.peer));
    }
}

fn poll(bench: &Bench, rounds: u64) {
    let (endpoint, queue) = (&bench.far.endpoint, &bench.far.queue);
    for _ in 0..rounds {
        opaque(0);
        endpoint.progress();
        must(queue.next().is_none());
    }
}

fn bare_poll(_: &Bench, rounds: u64) {
    for _ in 0..rounds {
        opaque(0);
    }
}

fn receive(bench: &Bench, rounds: u64) {
    let (endpoint, queue) = (&bench.far.endpoint, &bench.far.queue);
    for round in 0..rounds {
        icount_uncounted(bench);
        post(bench, opaque(round));
        endpoint.progress();
        take(queue, round);
    }
}

fn bare_receive(bench: &Bench, rounds: u64) {
    for round in 0..rounds {
        icount_uncounted(bench);
        opaque(round);
    }
}

fn receive_many(bench: &Bench, rounds: u64) {
    let (endpoint, queue) = (&bench.far.endpoint, &bench.far.queue);
    for burst in 0..rounds / BURST {
        let contexts = BURST * burst..BURST * (burst + 1);
        for context in contexts.clone() {
            icount_uncounted(bench);
            post(bench, opaque(context));
        }
        endpoint.progress();
        for context in contexts {
            take(queue, context);
        }
    }
}

/// Posts the buffer for one message.
#[inline(always)]
fn post(bench: &Bench, context: u64) {
    let posted = Posted {
        context,
        source: None,
        least: None,
    };
    // SAFETY: the bytes at `buffer` are leaked, so that they stay mapped; nobody else has them.
    unsafe { bench.far.endpoint.post_receive(bench.buffer, 8, posted) };
}

/// Takes the messages that are left.
fn settle(bench: &Bench) {
    while bench.far.received.read() < bench.sent.get() {
        post(bench, 0);
        bench.far.endpoint.progress();
        while bench.far.queue.next().is_some() {}
    }
    bench.near.endpoint.progress();
}

const CASES: [(&str, Loop, Loop); 6] = [
    ("inject_write 8 B, counted", write, bare),
    ("inject_write 8 B, and its entry", write_and_entry, bare),
    ("inject 8 B", inject, bare_inject),
    ("idle progress, and no entry", poll, bare_poll),
    ("receive 8 B: post, progress, entry", receive, bare_receive),
    ("receive 8 B, of 32 at a time", receive_many, bare_receive),
];

/// Runs the loops of one operation with so many rounds and twice as many, after a first one.
fn count(bench: &Bench, (name, with, without): (&str, Loop, Loop), rounds: u64) {
    let loops = [
        ("first", with, BURST),
        ("call", with, rounds),
        ("call", with, 2 * rounds),
        ("bare", without, rounds),
        ("bare", without, 2 * rounds),
    ];
    for (kind, run, rounds) in loops {
        println!("loop\t{name}\t{TARGET}\t{kind}\t{rounds}");
        icount_counted(black_box(run), bench, rounds);
        settle(bench);
    }
}

fn party(vector: &AddressVector) -> (Domain, Party) {
    let config = domain::Config {
        arena_bytes: 64 << 20,
        ..domain::Config::default()
    };
    let domain = Domain::open(config).expect("a domain");
    let queue = CompletionQueue::new(ENTRIES);
    let config = Config::new(&queue);
    let received = config.received.clone();
    let endpoint = Endpoint::open(&domain, vector, config).expect("an endpoint");
    let party = Party {
        endpoint,
        queue,
        received,
    };
    (domain, party)
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let rounds = rounds.expect("the number of rounds");
    let vectors = [AddressVector::new(), AddressVector::new()];
    let (_domain, near) = party(&vectors[0]);
    let (owner, far) = party(&vectors[1]);
    let peer = vectors[0]
        .insert(&far.endpoint.address())
        .expect("a number");
    vectors[1]
        .insert(&near.endpoint.address())
        .expect("a number");
    let memory = owner.allocate(4096, Rights::ALL, None, Addressing::Offset);
    let memory = memory.expect("memory");
    let region = near.endpoint.resolve(peer, memory.key()).expect("a region");
    let bench = Bench {
        region,
        near,
        far,
        peer,
        value: *b"8 bytes.",
        buffer: Box::into_raw(Box::new(0_u64)).cast(),
        sent: Cell::new(0),
    };
    icount_uncounted(&bench);
    settle(&bench);
    for case in CASES {
        count(&bench, case, rounds);
    }
}
