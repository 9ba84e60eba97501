//! Threads that sleep on the descriptor of their endpoint: they are woken by all that comes, and by
//! nothing else.

#![expect(unsafe_code, reason = "sends and receives by C addresses")]

use super::{LIMIT, Party, Way, bytes, check};
use fi_provider::node::handover;
use fi_provider::raw::completion::{Context, Counted, Entry, Failure, Operation};
use fi_provider::raw::endpoint::{Level, Posted};
use fi_provider::raw::region::{Addressing, Rights};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Time that others wait until a thread sleeps that is about to.
pub(crate) const ASLEEP: Duration = Duration::from_millis(30);

/// The key of the memory that peers read and write.
const KEY: u64 = 5;
const LEN: usize = 1 << 20;

/// Returns the next entry, and how often the thread has slept before it came.
pub(crate) fn entry_asleep(party: &Party<'_>) -> (Result<Entry, Failure>, u32) {
    let descriptor = party.endpoint.descriptor().unwrap();
    let (start, mut sleeps) = (Instant::now(), 0);
    loop {
        party.endpoint.progress();
        if let Some(entry) = party.queue.next() {
            return (entry, sleeps);
        }
        if party.endpoint.arm() {
            sleeps += 1;
            let mut watch = [libc::pollfd {
                fd: descriptor.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            }];
            handover::poll(&mut watch, Some(LIMIT)).unwrap();
            assert!(watch[0].revents != 0, "nobody wakes this thread");
        } else {
            party.meeting.give_up_if_failed();
            assert!(start.elapsed() < LIMIT, "no entry in {LIMIT:?}");
            std::thread::yield_now();
        }
    }
}

/// Posts a buffer for a message.
fn post(party: &Party<'_>, buffer: &mut [u8]) {
    let posted = Posted {
        context: 1,
        source: None,
        least: None,
    };
    let (address, len) = (buffer.as_mut_ptr(), buffer.len());
    // SAFETY: each caller keeps the buffer until the entry.
    unsafe { party.endpoint.post_receive(address, len, posted) };
}

/// Sends a message of 8 bytes.
fn send(party: &Party<'_>, word: u64) {
    let message = word.to_le_bytes();
    let to = 1 - party.rank;
    party
        .insist(|| party.endpoint.inject(to, &message))
        .unwrap();
}

/// Waits until the other party sleeps, as it is about to, and makes progress until then.
fn let_sleep(party: &Party<'_>) {
    let start = Instant::now();
    while start.elapsed() < ASLEEP {
        party.endpoint.progress();
    }
}

/// Wakes threads by a message, short and long, by a write with data, and by the end of an own
/// operation.
pub(crate) fn wake_for_all_that_comes(way: Way) {
    check(way, 2, |party| {
        let mut memory = vec![0_u8; LEN];
        let place = memory.as_mut_ptr();
        let rights = Rights::ALL;
        let domain = &party.domain;
        // SAFETY: the memory stays until the region is dropped, before it; nobody looks at it.
        let region = unsafe { domain.register(place, LEN, rights, Some(KEY), Addressing::Offset) };
        let region = region.unwrap();
        party.meet();
        let peer = 1 - party.rank;
        let there = party.insist(|| party.endpoint.resolve(peer, KEY)).unwrap();
        let own = bytes(LEN, 3);
        let mut buffer = vec![0; LEN];
        for round in 0..4 {
            if party.rank == 0 {
                // The first use of the connections is over.
                send(party, round);
                party.meet();
                let_sleep(party);
                match round {
                    0 => send(party, 7),
                    1 => {
                        let (level, report) = (Level::Delivered, Counted);
                        // SAFETY: the message stays until the parties have met.
                        party
                            .insist(|| unsafe {
                                let endpoint = &party.endpoint;
                                endpoint.send(peer, own.as_ptr(), LEN, None, level, report)
                            })
                            .unwrap();
                    }
                    2 => {
                        // SAFETY: the bytes stay until the parties have met.
                        party
                            .insist(|| unsafe {
                                let source = (own.as_ptr(), 100);
                                let endpoint = &party.endpoint;
                                endpoint.write_with_data(&there, 8, source, 9, Counted)
                            })
                            .unwrap();
                    }
                    _ => {}
                }
                party.meet();
                continue;
            }
            post(party, &mut buffer);
            assert_eq!(party.entry().unwrap().len, 8);
            if round < 2 {
                post(party, &mut buffer);
            }
            party.meet();
            if round == 3 {
                // SAFETY: the buffer stays until the entry below.
                party
                    .insist(|| unsafe {
                        let report = Context(round);
                        party
                            .endpoint
                            .read(&there, 0, buffer.as_mut_ptr(), LEN, report)
                    })
                    .unwrap();
            }
            let (entry, sleeps) = entry_asleep(party);
            let entry = entry.unwrap();
            let expected = [
                (Operation::Receive, 8),
                (Operation::Receive, LEN),
                (Operation::RemoteWrite, 100),
                (Operation::Read, LEN),
            ];
            assert_eq!((entry.operation, entry.len), expected[round as usize]);
            assert!(sleeps > 0 || round == 3, "{round}");
            party.meet();
        }
        assert!(party.endpoint.quiet(LIMIT));
        party.meet();
        drop(region);
    });
}

/// Checks that a thread that sleeps takes no time of a processor, and is not woken without a
/// reason.
pub(crate) fn take_no_time(way: Way) {
    const WHILE: Duration = Duration::from_millis(300);
    const MOST: Duration = Duration::from_millis(30);
    check(way, 2, |party| {
        let mut buffer = [0; 8];
        post(party, &mut buffer);
        send(party, 1);
        assert!(party.entry().is_ok());
        party.meet();
        if party.rank == 0 {
            for time in [ASLEEP, WHILE] {
                std::thread::sleep(time);
                send(party, 2);
                assert!(party.endpoint.quiet(LIMIT));
            }
        } else {
            post(party, &mut buffer);
            let (entry, sleeps) = entry_asleep(party);
            assert!(entry.is_ok() && sleeps > 0);
            // The descriptor is readable still.
            post(party, &mut buffer);
            let before = processor_time(way);
            let (entry, sleeps) = entry_asleep(party);
            let taken = processor_time(way) - before;
            assert_eq!(entry.unwrap().len, 8);
            assert!(taken < MOST, "{taken:?} of {WHILE:?}");
            assert!((1..=8).contains(&sleeps), "slept {sleeps} times");
        }
        party.meet();
    });
}

/// Returns the processor's time that this party has taken: its thread, or its process.
pub(crate) fn processor_time(way: Way) -> Duration {
    let clock = match way {
        Way::Threads => libc::CLOCK_THREAD_CPUTIME_ID,
        _ => libc::CLOCK_PROCESS_CPUTIME_ID,
    };
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: clock_gettime writes a time, which the place has room for.
    let got = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert_eq!(got, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Lets two send a word to and fro, each asleep, or about to be, when the other sends.
pub(crate) fn lose_no_wake_up(way: Way) {
    let rounds = match way {
        Way::Device(_) => 500,
        _ => 20_000,
    };
    // A look at libfabric's queues takes 0.8 us, and a word is there after some 100 of them.
    let most_looks = match way {
        Way::Libfabric(_) => 128,
        _ => 1024,
    };
    check(way, 2, |party| {
        let mut random = u64::from(party.rank) + 1;
        let mut slept = 0;
        for round in 0..rounds {
            let mut word = [0; 8];
            post(party, &mut word);
            if party.rank == 0 {
                send(party, round);
            }
            // Some go to sleep at once, others just when the word comes.
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let looks = if random >> 63 == 0 {
                0
            } else {
                (random >> 53) % most_looks
            };
            (0..looks).for_each(|_| party.endpoint.progress());
            let (entry, sleeps) = entry_asleep(party);
            slept += u64::from(sleeps > 0);
            assert_eq!(entry.unwrap().len, 8);
            assert_eq!(u64::from_le_bytes(word), round);
            if party.rank == 1 {
                send(party, round);
            }
        }
        assert!(slept > rounds / 10, "slept in {slept} of {rounds} rounds");
    });
}
