//! The operations of the fabric's own objects (`fi_provider::raw`) whose instructions tests/icount
//! counts: 8 bytes, called from Rust in the same program, so that they are inlined; on one node or,
//! with the argument `rc`, over connected queues of the software device.
//!
//! Each operation has two loops of the same shape, as in cases.c: one with the operation, and one
//! that only brings its arguments into registers. Two endpoints, of a domain each, are polled by one
//! thread. `icount_uncounted` is left out of the count: in it the other endpoint sends and receives,
//! and the device acts. Messages that a loop leaves are taken behind it.

#![expect(
    unsafe_code,
    reason = "gives buffers by their C addresses, and functions names for callgrind"
)]

use fi_provider::raw::address_vector::{AddressVector, PeerIndex};
use fi_provider::raw::completion::{CompletionQueue, Context, Counted, Counter, Entry};
use fi_provider::raw::domain::{self, Domain};
use fi_provider::raw::endpoint::{Atomic, Config, Endpoint, Posted, RemoteRegion, Wanted};
use fi_provider::raw::far::Transport;
use fi_provider::raw::region::{Addressing, Rights};
use std::arch::asm;
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Duration;

/// Entries of a queue.
const ENTRIES: usize = 256;
/// Messages that come at a time, if not one: a divisor of the rounds.
const BURST: u64 = 32;
/// Operations over a device between two looks at it: fewer than a peer's credits, and a divisor of
/// the rounds.
const EACH: u64 = 16;
/// The tag of messages that have one.
const TAG: u64 = 0x1_0000_0007;
/// Time that something may take.
const LIMIT: Duration = Duration::from_secs(20);

/// One end.
struct Party {
    endpoint: Endpoint,
    queue: CompletionQueue,
    received: Counter,
    /// Counts all operations that it starts.
    done: Counter,
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
    /// Whether messages with tags are left, and no others.
    is_tagged: Cell<bool>,
    /// Lets the device act.
    kick: fn(),
    has_device: bool,
}

type Loop = fn(&Bench, u64);

/// Returns a value that the compiler does not know, in a register; memory may have changed, too.
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

/// callgrind counts while this runs, and writes the counts at its end.
#[unsafe(no_mangle)]
#[inline(never)]
fn icount_counted(run: Loop, bench: &Bench, rounds: u64) {
    run(bench, rounds);
    opaque(0);
}

/// Does something uncounted.
#[unsafe(no_mangle)]
#[inline(never)]
fn icount_uncounted(bench: &Bench, act: fn(&Bench)) {
    act(bench);
}

/// Sends a message to the far end.
fn send(bench: &Bench) {
    let sent = bench.near.endpoint.inject(bench.peer, &bench.value);
    assert_eq!(sent, Ok(()));
    bench.sent.set(bench.sent.get() + 1);
}

/// Sends a tagged message to the far end.
fn send_tagged(bench: &Bench) {
    let sent = (bench.near.endpoint).inject_tagged(bench.peer, &bench.value, TAG, None);
    assert_eq!(sent, Ok(()));
    bench.is_tagged.set(true);
    bench.sent.set(bench.sent.get() + 1);
}

/// Sends a tagged message to the far end, which it has when this returns.
fn send_tagged_over(bench: &Bench) {
    send_tagged(bench);
    bench.near.endpoint.progress();
    bench.near.endpoint.progress();
}

/// Sends a message to the far end, which it has when this returns.
fn send_over(bench: &Bench) {
    send(bench);
    // The device acts where somebody looks at it.
    bench.near.endpoint.progress();
    bench.near.endpoint.progress();
}

/// Lets the device do an operation, which nobody looks for yet.
fn act(bench: &Bench) {
    (bench.kick)();
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

fn inject_tagged(bench: &Bench, rounds: u64) {
    let (endpoint, value) = (&bench.near.endpoint, &bench.value);
    for _ in 0..rounds {
        let peer = opaque(u64::from(bench.peer)) as PeerIndex;
        must(endpoint.inject_tagged(peer, value, TAG, None).is_ok());
    }
    bench.is_tagged.set(true);
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
        icount_uncounted(bench, send);
        post(bench, opaque(round));
        endpoint.progress();
        take(queue, round);
    }
}

fn bare_receive(bench: &Bench, rounds: u64) {
    for round in 0..rounds {
        icount_uncounted(bench, send);
        opaque(round);
    }
}

fn receive_tagged(bench: &Bench, rounds: u64) {
    let (endpoint, queue) = (&bench.far.endpoint, &bench.far.queue);
    for round in 0..rounds {
        icount_uncounted(bench, send_tagged);
        post_tagged(bench, opaque(round));
        endpoint.progress();
        take(queue, round);
    }
}

fn bare_receive_tagged(bench: &Bench, rounds: u64) {
    for round in 0..rounds {
        icount_uncounted(bench, send_tagged);
        opaque(round);
    }
}

fn receive_many(bench: &Bench, rounds: u64) {
    let (endpoint, queue) = (&bench.far.endpoint, &bench.far.queue);
    for burst in 0..rounds / BURST {
        let contexts = BURST * burst..BURST * (burst + 1);
        for context in contexts.clone() {
            icount_uncounted(bench, send);
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

/// Posts the buffer for one tagged message.
#[inline(always)]
fn post_tagged(bench: &Bench, context: u64) {
    let wanted = Wanted::tag(TAG);
    // SAFETY: the bytes at `buffer` are leaked, so that they stay mapped; nobody else has them.
    unsafe { (bench.far.endpoint).post_tagged(bench.buffer, 8, wanted, context) };
}

/// Ends a stretch of operations over the device.
#[inline(always)]
fn pause(bench: &Bench, round: u64) {
    if round % EACH == EACH - 1 {
        icount_uncounted(bench, settle);
    }
}

fn write_over(bench: &Bench, rounds: u64) {
    let (endpoint, region, value) = (&bench.near.endpoint, &bench.region, &bench.value);
    for round in 0..rounds {
        let address = opaque(round % 64 * 8);
        let done = endpoint.inject_write(region, address, value, Counted);
        must(done.is_ok());
        pause(bench, round);
    }
}

fn bare_over(bench: &Bench, rounds: u64) {
    for round in 0..rounds {
        opaque(round % 64 * 8);
        pause(bench, round);
    }
}

fn write_and_entry_over(bench: &Bench, rounds: u64) {
    let (endpoint, region, value) = (&bench.near.endpoint, &bench.region, &bench.value);
    for round in 0..rounds {
        let address = opaque(round % 64 * 8);
        let done = endpoint.inject_write(region, address, value, Context(address));
        must(done.is_ok());
        icount_uncounted(bench, act);
        let taken = endpoint.next(&bench.near.queue);
        must(matches!(taken, Some(Ok(Entry { context, .. })) if context == address));
    }
}

fn bare_acting(bench: &Bench, rounds: u64) {
    for round in 0..rounds {
        opaque(round % 64 * 8);
        icount_uncounted(bench, act);
    }
}

fn inject_over(bench: &Bench, rounds: u64) {
    let (endpoint, value) = (&bench.near.endpoint, &bench.value);
    for round in 0..rounds {
        let peer = opaque(u64::from(bench.peer)) as PeerIndex;
        must(endpoint.inject(peer, value).is_ok());
        bench.sent.set(bench.sent.get() + 1);
        pause(bench, round);
    }
}

fn bare_inject_over(bench: &Bench, rounds: u64) {
    for round in 0..rounds {
        opaque(u64::from(bench.peer));
        bench.sent.set(bench.sent.get());
        pause(bench, round);
    }
}

fn receive_over(bench: &Bench, rounds: u64) {
    let (endpoint, queue) = (&bench.far.endpoint, &bench.far.queue);
    for round in 0..rounds {
        icount_uncounted(bench, send_over);
        post(bench, opaque(round));
        endpoint.progress();
        take(queue, round);
        icount_uncounted(bench, settle);
    }
}

fn receive_tagged_over(bench: &Bench, rounds: u64) {
    let (endpoint, queue) = (&bench.far.endpoint, &bench.far.queue);
    for round in 0..rounds {
        icount_uncounted(bench, send_tagged_over);
        post_tagged(bench, opaque(round));
        endpoint.progress();
        take(queue, round);
        icount_uncounted(bench, settle);
    }
}

fn bare_receive_tagged_over(bench: &Bench, rounds: u64) {
    for round in 0..rounds {
        icount_uncounted(bench, send_tagged_over);
        opaque(round);
        icount_uncounted(bench, settle);
    }
}

fn bare_receive_over(bench: &Bench, rounds: u64) {
    for round in 0..rounds {
        icount_uncounted(bench, send_over);
        opaque(round);
        icount_uncounted(bench, settle);
    }
}

/// Waits for the operation that makes the counter pass this.
#[inline(always)]
fn wait(bench: &Bench, before: u64) {
    icount_uncounted(bench, act);
    while bench.near.done.read() == before {
        bench.near.endpoint.progress();
    }
}

fn read_over(bench: &Bench, rounds: u64) {
    let mut word = 0_u64;
    for round in 0..rounds {
        let (address, before) = (opaque(round % 64 * 8), bench.near.done.read());
        let dest = (&raw mut word).cast();
        // SAFETY: the word stays until the read is counted.
        let asked = unsafe {
            let endpoint = &bench.near.endpoint;
            endpoint.read(&bench.region, address, dest, 8, Counted)
        };
        must(asked.is_ok());
        wait(bench, before);
        opaque(word);
    }
}

fn fetch_add_over(bench: &Bench, rounds: u64) {
    let mut word = 0_u64;
    for round in 0..rounds {
        let (address, before) = (opaque(round % 64 * 8), bench.near.done.read());
        let dest = (&raw mut word).cast();
        let operands = (opaque(round), 0);
        // SAFETY: the word stays until the operation is counted, aligned.
        let asked = unsafe {
            let (endpoint, place) = (&bench.near.endpoint, (address, 8));
            endpoint.fetch_atomic(&bench.region, place, Atomic::Add, operands, dest, Counted)
        };
        must(asked.is_ok());
        wait(bench, before);
        opaque(word);
    }
}

type Case = (&'static str, Loop, Loop);

/// On a node.
const NEAR: [Case; 8] = [
    ("inject_write 8 B, counted", write, bare),
    ("inject_write 8 B, and its entry", write_and_entry, bare),
    ("inject 8 B", inject, bare_inject),
    ("idle progress, and no entry", poll, bare_poll),
    ("receive 8 B: post, progress, entry", receive, bare_receive),
    ("receive 8 B, of 32 at a time", receive_many, bare_receive),
    ("inject_tagged 8 B", inject_tagged, bare_inject),
    (
        "tagged receive 8 B: post, progress, entry",
        receive_tagged,
        bare_receive_tagged,
    ),
];

/// Over a device.
const FAR: [Case; 8] = [
    ("inject_write 8 B, counted", write_over, bare_over),
    (
        "inject_write 8 B, and its entry",
        write_and_entry_over,
        bare_acting,
    ),
    ("inject 8 B", inject_over, bare_inject_over),
    ("idle progress, and no entry", poll, bare_poll),
    (
        "receive 8 B: post, progress, entry",
        receive_over,
        bare_receive_over,
    ),
    (
        "tagged receive 8 B: post, progress, entry",
        receive_tagged_over,
        bare_receive_tagged_over,
    ),
    ("read 8 B, counted, wait left out", read_over, bare_acting),
    (
        "fetch_atomic 8 B, counted, wait left out",
        fetch_add_over,
        bare_acting,
    ),
];

/// Takes the messages that are left, and waits for everything that is under way.
fn settle(bench: &Bench) {
    let is_received = || bench.far.received.read() == bench.sent.get();
    while !is_received() {
        let before = bench.far.received.read();
        if bench.is_tagged.get() {
            post_tagged(bench, 0);
        } else {
            post(bench, 0);
        }
        let is_one_here = || {
            bench.near.endpoint.progress();
            bench.far.received.read() > before
        };
        assert!(bench.far.endpoint.wait(LIMIT, is_one_here));
        while bench.far.queue.next().is_some() {}
    }
    bench.is_tagged.set(false);
    for party in [&bench.near, &bench.far] {
        assert!(party.endpoint.quiet(LIMIT));
        (0..4).for_each(|_| party.endpoint.progress());
        // Nothing is left to look for: the device tells of messages taken in its own time.
        // SAFETY: there is one where the loops need a function that lets it act.
        while bench.has_device && !unsafe { party.endpoint.is_device_at_rest() } {
            party.endpoint.progress();
        }
    }
}

/// Runs the loops of one operation with so many rounds and twice as many, after a first one.
fn count(bench: &Bench, target: &str, (name, with, without): Case, rounds: u64) {
    let loops = [
        ("first", with, BURST),
        ("call", with, rounds),
        ("call", with, 2 * rounds),
        ("bare", without, rounds),
        ("bare", without, 2 * rounds),
    ];
    for (kind, run, rounds) in loops {
        println!("loop\t{name}\t{target}\t{kind}\t{rounds}");
        icount_counted(black_box(run), bench, rounds);
        settle(bench);
    }
}

fn party(vector: &AddressVector, far: Option<Transport>) -> (Domain, Party) {
    let config = domain::Config {
        arena_bytes: 64 << 20,
        near: far.is_none(),
        far,
        ..domain::Config::default()
    };
    let domain = Domain::open(config).expect("a domain");
    let queue = CompletionQueue::new(ENTRIES);
    let config = Config::new(&queue);
    let (received, done) = (config.received.clone(), config.done.clone());
    let endpoint = Endpoint::open(&domain, vector, config).expect("an endpoint");
    let party = Party {
        endpoint,
        queue,
        received,
        done,
    };
    (domain, party)
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let rounds = rounds.expect("the number of rounds");
    let device = match std::env::args().nth(2).as_deref() {
        None => None,
        Some("rc") => Some(Transport::Rc),
        Some(other) => panic!("no transport: {other}"),
    };
    let (target, cases) = match device {
        None => ("shm", &NEAR[..]),
        Some(_) => ("mlx5", &FAR[..]),
    };
    let vectors = [AddressVector::new(), AddressVector::new()];
    let (_domain, near) = party(&vectors[0], device);
    let (owner, far) = party(&vectors[1], device);
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
        is_tagged: Cell::new(false),
        kick: if device.is_some() { kick() } else { || () },
        has_device: device.is_some(),
    };
    send(&bench);
    settle(&bench);
    for case in cases {
        count(&bench, target, *case, rounds);
    }
}

/// Returns the function that lets the software device act (docs/softhca.md).
fn kick() -> fn() {
    unsafe extern "C" {
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    }
    static FOUND: OnceLock<extern "C" fn() -> c_int> = OnceLock::new();
    FOUND.get_or_init(|| {
        // SAFETY: the name is a C string; the null handle stands for the whole program.
        let found = unsafe { dlsym(std::ptr::null_mut(), c"farreach_softhca_kick".as_ptr()) };
        assert!(!found.is_null(), "no software device: softhca run");
        // SAFETY: the function of this name is of this type.
        unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> c_int>(found) }
    });
    || {
        let kick = FOUND.get().expect("it was looked up");
        assert_eq!(kick(), 0);
    }
}
