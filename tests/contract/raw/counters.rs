//! Counters: waits for thresholds, and operations that start at them.

#![expect(unsafe_code, reason = "operations are on memory by its C address")]

use super::{ENTRIES, LIMIT, Party, Way, check};
use fi_provider::raw::completion::{
    CompletionQueue, Context, Counted, CountedContext, Counter, Operation, Silent,
};
use fi_provider::raw::endpoint::{Atomic, Config, Endpoint, Level, Posted, Work};
use fi_provider::raw::error::Error;
use fi_provider::raw::region::{Addressing, Memory, Rights};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A time in which nothing comes that has not been asked for.
const MOMENT: Duration = Duration::from_millis(20);

fn open(party: &Party<'_>, len: usize, rights: Rights, key: u64) -> Memory {
    let memory = party
        .domain
        .allocate(len, rights, Some(key), Addressing::Offset);
    memory.unwrap()
}

fn post(party: &Party<'_>, buffer: &mut [u8], context: u64) {
    let posted = Posted {
        context,
        source: None,
        least: None,
    };
    // SAFETY: callers keep the buffer until its entry.
    unsafe {
        party
            .endpoint
            .post_receive(buffer.as_mut_ptr(), buffer.len(), posted);
    }
}

/// Checks that a wait ends when the threshold is reached, when the time is over, or with a
/// failure's error.
pub(crate) fn are_waited_for(way: Way) {
    const MANY: u64 = 20;
    check(way, 2, |party| {
        let (peer, endpoint, config) = (1 - party.rank, &party.endpoint, &party.config);
        let memory = open(party, 8 * MANY as usize, Rights::ALL, 1);
        party.meet();
        let region = party.insist(|| endpoint.resolve(peer, 1)).unwrap();
        for at in 0..MANY {
            let bytes = (at + 1).to_le_bytes();
            let written = party.insist(|| endpoint.inject_write(&region, 8 * at, &bytes, Counted));
            written.unwrap();
        }
        assert_eq!(endpoint.wait_for(&config.written, MANY, LIMIT), Ok(true));
        assert_eq!(config.written.read(), MANY);
        party.meet();
        for at in 0..MANY {
            let word = memory.word(at as usize).load(Ordering::Acquire);
            assert_eq!(word, at + 1);
        }
        let never = endpoint.wait_for(&config.written, MANY + 1, MOMENT);
        assert_eq!(never, Ok(false));

        // Messages of two words into buffers of one: all fail.
        let received = config.received.read();
        let mut short = [[0_u8; 8]; 2];
        if party.rank == 0 {
            short.iter_mut().for_each(|buffer| post(party, buffer, 5));
        }
        // Without progress: the receiver's wait begins before there is a failure that it could find.
        party.meeting.meet();
        let message = [1_u64; 2];
        if party.rank == 1 {
            let source = message.as_ptr().cast();
            for round in 1..=2 {
                // SAFETY: the message stays until the end of this function.
                let sent = party.insist(|| unsafe {
                    let level = Level::Delivered;
                    endpoint.send(peer, source, 16, None, level, Counted)
                });
                sent.unwrap();
                let ended = endpoint.wait_for(&config.done, MANY + 1, LIMIT);
                assert_eq!(ended, Err(Error::Truncated), "message {round}");
                assert_eq!(config.done.read_failed(), round);
            }
            // Failures from before are no reason to end.
            let ended = endpoint.wait_for(&config.done, MANY + 1, MOMENT);
            assert_eq!(ended, Ok(false));
            assert_eq!(endpoint.wait_for(&config.done, MANY, LIMIT), Ok(true));
            assert!((0..2).all(|_| party.entry().is_err()));
        } else {
            let ended = endpoint.wait_for(&config.received, received + 1, LIMIT);
            assert_eq!(ended, Err(Error::Truncated));
            assert!((0..2).all(|_| party.entry().is_err()));
        }
        party.meet();
    });
}

/// The memory and counters of the chain below.
#[derive(Default)]
struct Words {
    source: u64,
    read: u64,
    found: u64,
}

/// Defers a chain of operations on a region of party `next`: the first starts with a message that
/// comes, each other where the one before it has ended, and the last is a message to the party.
fn defer_chain(party: &Party<'_>, next: u32, round: u64, words: &mut Words) {
    let (endpoint, config) = (&party.endpoint, &party.config);
    let region = || party.insist(|| endpoint.resolve(next, 1)).unwrap();
    let base = config.done.read();
    let chain = [
        Work::Write {
            region: region(),
            address: 0,
            source: (&raw const words.source).cast(),
            len: 8,
        },
        Work::Read {
            region: region(),
            address: 0,
            dest: (&raw mut words.read).cast(),
            len: 8,
        },
        Work::Atomic {
            region: region(),
            word: (8, 8),
            operation: Atomic::Add,
            operands: (2, 0),
            found: (&raw mut words.found).cast(),
        },
        Work::InjectWrite {
            region: region(),
            address: 16,
            bytes: round.to_le_bytes().into(),
        },
        Work::Inject {
            peer: next,
            message: round.to_le_bytes().into(),
        },
    ];
    // The last comes first: thresholds tell the order, not the calls.
    for (at, work) in chain.into_iter().enumerate().rev() {
        let at = at as u64;
        let reached = match at {
            0 => (&config.received, config.received.read() + 1),
            _ => (&config.done, base + at),
        };
        // SAFETY: callers keep the words until the entry of the last operation.
        unsafe { endpoint.defer(reached, work, CountedContext(at)).unwrap() };
    }
}

/// Checks that a message starts a chain of operations on the next party, whose last is a message to
/// it: each starts where the one before it has ended, without a call but progress.
pub(crate) fn start_operations(way: Way) {
    const ROUNDS: u64 = 5;
    check(way, 3, |party| {
        let (rank, endpoint) = (party.rank, &party.endpoint);
        let next = (rank + 1) % party.parties;
        let from = (rank + party.parties - 1) % party.parties;
        let tag = |round: u64, rank: u32| (round << 32) | (u64::from(rank) + 1);
        let memory = open(party, 64, Rights::ALL, 1);
        let word = |at| memory.word(at).load(Ordering::Acquire);
        party.meet();
        let mut words = Words::default();
        let mut buffer = [0_u8; 8];
        for round in 0..ROUNDS {
            words.source = tag(round, rank);
            post(party, &mut buffer, 1);
            defer_chain(party, next, round, &mut words);
            endpoint.wait(MOMENT / 10, || false);
            assert!(word(0) == 0 || word(0) < tag(round, 0), "started early");
            party.meet();
            if rank == 0 {
                party.insist(|| endpoint.inject(0, b"go")).unwrap();
            }
            let ends: Vec<_> = (0..6).map(|_| party.entry().unwrap()).collect();
            assert_eq!(ends[0].operation, Operation::Receive);
            let contexts = ends[1..].iter().map(|entry| entry.context);
            assert!(contexts.eq(0..5), "{ends:?}");
            assert_eq!(words.read, words.source, "read behind the write");
            assert_eq!(words.found, 2 * round);
            party.meet();
            assert_eq!(word(0), tag(round, from));
            assert_eq!((word(1), word(2)), (2 * (round + 1), round));
            if rank == 0 {
                // That of the last party.
                post(party, &mut buffer, 1);
                assert_eq!(party.entry().unwrap().operation, Operation::Receive);
            }
            party.meet();
        }
    });
}

/// Checks that many at once wait for room in rings and queues, and start in their order; failures
/// are reported.
pub(crate) fn start_operations_when_there_is_room(way: Way) {
    const MANY: u64 = 5 * ENTRIES as u64;
    const LEN: usize = 2000;
    check(way, 2, |party| {
        let (peer, endpoint, config) = (1 - party.rank, &party.endpoint, &party.config);
        let guarded = open(party, 64, Rights::READ, 2);
        party.meet();
        if party.rank == 0 {
            let go = Counter::new();
            for number in 0..MANY {
                let mut message = vec![number as u8; LEN].into_boxed_slice();
                message[..8].copy_from_slice(&number.to_le_bytes());
                let work = Work::Inject { peer, message };
                // SAFETY: the operation holds its bytes.
                unsafe {
                    endpoint
                        .defer((&go, 3), work, CountedContext(number))
                        .unwrap();
                }
            }
            go.add(2);
            endpoint.wait(MOMENT, || false);
            assert_eq!((config.done.read(), party.queue.next()), (0, None));
            go.add(1);
            for number in 0..MANY {
                let entry = party.entry().unwrap();
                assert_eq!((entry.context, entry.len), (number, LEN));
            }
            assert_eq!(config.done.read(), MANY);

            are_told_of_failures(party, &go);
            assert_eq!((config.done.read(), config.done.read_failed()), (MANY, 2));
        } else {
            let mut buffer = vec![0; LEN];
            for number in 0..MANY {
                post(party, &mut buffer, number);
                let entry = party.entry().unwrap();
                assert_eq!((entry.context, entry.len), (number, LEN));
                assert_eq!(buffer[..8], number.to_le_bytes(), "in their order");
            }
        }
        party.meet();
        assert_eq!(guarded.word(0).load(Ordering::Acquire), 0);
    });
}

/// Defers operations on the other party that fail: entries tell how.
fn are_told_of_failures(party: &Party<'_>, go: &Counter) {
    let (peer, endpoint) = (1 - party.rank, &party.endpoint);
    let failing = |work, error, operation, context: Option<u64>| {
        let reached = (go, 1);
        // SAFETY: the operation holds its bytes.
        unsafe {
            match context {
                Some(context) => endpoint.defer(reached, work, CountedContext(context)),
                None => endpoint.defer(reached, work, Silent),
            }
            .unwrap();
        }
        let failure = party.entry().unwrap_err();
        let entry = failure.entry;
        assert_eq!((failure.error, entry.operation), (error, operation));
        assert_eq!(entry.context, context.unwrap_or(0));
    };
    let message = || Box::from([1; 8]);
    let lost = Work::Inject {
        peer: 77,
        message: message(),
    };
    failing(lost, Error::NoSuchPeer, Operation::Send, Some(8));
    let region = party.insist(|| endpoint.resolve(peer, 2)).unwrap();
    let refused = Work::InjectWrite {
        region,
        address: 0,
        bytes: message(),
    };
    failing(
        refused.clone(),
        Error::NotAllowed,
        Operation::Write,
        Some(9),
    );
    failing(refused, Error::NotAllowed, Operation::Write, None);
    let long = Work::Inject {
        peer,
        message: vec![0; endpoint.inject_size() + 1].into(),
    };
    // SAFETY: nothing is started.
    let long = unsafe { endpoint.defer((go, 1), long, Counted) };
    assert_eq!(long, Err(Error::TooLong));
}

/// Checks that an endpoint that closes drops the operations that have not started.
pub(crate) fn start_nothing_behind_the_end(way: Way) {
    check(way, 2, |party| {
        let peer = 1 - party.rank;
        let memory = open(party, 64, Rights::ALL, 1);
        party.meet();
        let queue = CompletionQueue::new(ENTRIES);
        let config = Config::new(&queue);
        let other = Endpoint::open(&party.domain, &party.vector, config).unwrap();
        let region = party.insist(|| {
            other.progress();
            other.resolve(peer, 1)
        });
        let region = region.unwrap();
        let go = Counter::new();
        for threshold in 1..=2 {
            let work = Work::InjectWrite {
                region: region.clone(),
                address: 8 * threshold,
                bytes: [7; 8].into(),
            };
            // SAFETY: the operation holds its bytes.
            unsafe {
                other
                    .defer((&go, threshold), work, Context(threshold))
                    .unwrap()
            };
        }
        go.add(1);
        // The peer's other endpoint waits for progress of this rank's first one.
        let is_quiet = party.endpoint.wait(LIMIT, || other.quiet(Duration::ZERO));
        assert!(is_quiet, "waits for what is due");
        let entry = queue.next().expect("an entry").unwrap();
        assert_eq!(entry.context, 1);
        drop((other, region));
        go.add(1);
        party.endpoint.wait(MOMENT, || false);
        party.meet();
        let words = [1, 2].map(|at| memory.word(at).load(Ordering::Acquire));
        assert_eq!((words, queue.next()), ([0x0707_0707_0707_0707, 0], None));
    });
}
