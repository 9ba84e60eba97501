//! Messages: whole, in order, never lost.

#![expect(unsafe_code, reason = "sends and receives by C addresses")]

use super::{ENTRIES, LIMIT, Party, Way, bytes, check};
use fi_provider::raw::address_vector::PeerIndex;
use fi_provider::raw::completion::{Context, Counted, CountedContext, Operation, Silent};
use fi_provider::raw::endpoint::{Level, Posted};
use fi_provider::raw::error::Error;
use fi_provider::raw::region::{Addressing, Rights};

/// Returns a buffer for one message of anybody.
fn any(context: u64) -> Posted {
    Posted {
        context,
        source: None,
        least: None,
    }
}

fn lengths(party: &Party<'_>) -> Vec<usize> {
    let inject = party.endpoint.inject_size();
    let around = inject - 9..inject + 9;
    let long = [40_000, 65_536, 300_001, 3 << 20];
    (0..40).chain(around).chain(long).chain(0..3).collect()
}

/// Sends from each to each, short and long, from an arena and from elsewhere, with and without
/// data, at all levels.
pub(crate) fn arrive_in_order(way: Way) {
    check(way, 3, |party| {
        let lengths = lengths(party);
        let seed = |from: PeerIndex, to: PeerIndex, at: usize| {
            u64::from(from) << 40 | u64::from(to) << 32 | at as u64
        };
        let longest = *lengths.iter().max().unwrap();
        let rights = Rights::READ;
        let arena = party
            .domain
            .allocate(longest, rights, None, Addressing::Offset);
        let arena = arena.unwrap();
        for to in 0..party.parties {
            party.meet();
            let data = |at: usize| (at % 3 == 1).then_some(at as u64 | 1 << 63);
            if party.rank == to {
                receive_all(party, longest, &lengths, |from, at| {
                    (bytes(lengths[at], seed(from, to, at)), data(at))
                });
                party.meet();
                continue;
            }
            for (at, &len) in lengths.iter().enumerate() {
                let levels = [
                    Level::Free,
                    Level::Delivered,
                    Level::Transmitted,
                    Level::Matched,
                ];
                let level = levels[at / 2 % 2 * 2 + at % 2];
                let message = bytes(len, seed(party.rank, to, at));
                let (mut source, len) = (message.as_ptr(), message.len());
                if at % 4 >= 2 {
                    // SAFETY: the memory is as long as the longest, and nobody reads it now.
                    unsafe { source.copy_to(arena.as_ptr(), len) };
                    source = arena.as_ptr();
                }
                let report = Context(at as u64);
                // SAFETY: the message stays until the entry below.
                party
                    .insist(|| unsafe {
                        let endpoint = &party.endpoint;
                        endpoint.send(to, source, len, data(at), level, report)
                    })
                    .unwrap();
                let entry = party.entry().unwrap();
                assert_eq!((entry.operation, entry.len), (Operation::Send, len));
                assert_eq!(entry.context, at as u64);
            }
            party.meet();
        }
    });
}

/// Checks that long messages come to their places while their sender does nothing.
pub(crate) fn are_fetched_without_their_sender(way: Way) {
    const LEN: usize = 1 << 20;
    check(way, 2, |party| {
        let rights = Rights::READ;
        let arena = party.domain.allocate(LEN, rights, None, Addressing::Offset);
        let arena = arena.unwrap();
        let own = bytes(LEN, 7);
        let mut buffer = vec![0; LEN];
        // SAFETY: the memory is as long, and nobody reads it now.
        unsafe { own.as_ptr().copy_to(arena.as_ptr(), LEN) };
        for (context, source) in [(1, own.as_ptr()), (2, arena.as_ptr().cast_const())] {
            if party.rank == 0 {
                // SAFETY: the message stays until the entry below.
                party
                    .insist(|| unsafe {
                        let (level, report) = (Level::Free, Context(context));
                        party.endpoint.send(1, source, LEN, None, level, report)
                    })
                    .unwrap();
                party.meeting.meet_while(|| {});
                assert_eq!(party.entry().unwrap().context, context);
            } else {
                buffer.fill(0);
                // SAFETY: the buffer stays until the entry below.
                unsafe {
                    let place = buffer.as_mut_ptr();
                    party.endpoint.post_receive(place, LEN, any(context));
                }
                assert_eq!(party.entry().unwrap().len, LEN);
                assert!(buffer == own);
                party.meeting.meet_while(|| {});
            }
        }
    });
}

/// Receives the messages of all others, each in its order, into one buffer of `longest` bytes.
fn receive_all(
    party: &Party<'_>,
    longest: usize,
    lengths: &[usize],
    expected: impl Fn(PeerIndex, usize) -> (Vec<u8>, Option<u64>),
) {
    let mut buffer = vec![0; longest];
    let mut seen = vec![0; party.parties as usize];
    for _ in 1..party.parties {
        for _ in lengths {
            // SAFETY: the buffer stays until the entry below.
            unsafe {
                party
                    .endpoint
                    .post_receive(buffer.as_mut_ptr(), longest, any(1));
            }
            let entry = party.entry().unwrap();
            let from = entry.source.expect("a known peer");
            let at = &mut seen[from as usize];
            let (message, data) = expected(from, *at);
            assert_eq!(entry.operation, Operation::Receive);
            assert_eq!(
                (entry.len, entry.data),
                (message.len(), data),
                "from {from}"
            );
            assert!(entry.is_last && entry.offset == 0 && entry.context == 1);
            assert!(buffer[..entry.len] == message, "message {at} of {from}");
            *at += 1;
        }
    }
}

/// Sends many that nobody waits for yet: the sender is held up, and all arrive in the end.
pub(crate) fn wait_for_their_buffers(way: Way) {
    const MANY: u64 = 20_000;
    check(way, 2, |party| {
        if party.rank == 0 {
            let mut refused = 0;
            for number in 0..MANY {
                let len = (number % 700) as usize + 8;
                let mut message = bytes(len, number);
                message[..8].copy_from_slice(&number.to_le_bytes());
                let mut told = false;
                party
                    .insist(|| {
                        let sent = party.endpoint.inject(1, &message);
                        if sent == Err(Error::Again) {
                            refused += 1;
                            if !std::mem::replace(&mut told, true) && refused == 1 {
                                party.meeting.announce(0, 1);
                            }
                        }
                        sent
                    })
                    .unwrap();
            }
            assert!(refused > 0, "nothing holds the sender up");
        } else {
            // Takes messages, and has no buffers for them, until the sender is held up.
            while !party.meeting.has_come(0, 1) {
                party.endpoint.progress();
                party.meeting.give_up_if_failed();
            }
            let mut buffer = vec![0; 1000];
            for number in 0..MANY {
                // SAFETY: the buffer stays until the entry below.
                unsafe {
                    party
                        .endpoint
                        .post_receive(buffer.as_mut_ptr(), 1000, any(number));
                }
                let entry = party.entry().unwrap();
                let len = (number % 700) as usize + 8;
                assert_eq!((entry.context, entry.len), (number, len));
                assert_eq!(buffer[..8], number.to_le_bytes());
                assert!(buffer[8..len] == bytes(len, number)[8..]);
            }
        }
    });
}

/// Sends several into one buffer, each at a multiple of 8 bytes; a full one is given back.
pub(crate) fn share_a_buffer(way: Way) {
    const EACH: usize = 3000;
    check(way, 3, |party| {
        if party.rank == 0 {
            let mut buffers = [vec![0_u8; 10_000], vec![0_u8; 10_000]];
            let post = |number: usize, buffer: &mut Vec<u8>| {
                let posted = Posted {
                    context: number as u64,
                    source: None,
                    least: Some(600),
                };
                // SAFETY: the buffer stays until the end of the contract.
                unsafe {
                    party
                        .endpoint
                        .post_receive(buffer.as_mut_ptr(), 10_000, posted)
                };
            };
            post(0, &mut buffers[0]);
            post(1, &mut buffers[1]);
            let mut seen = [0_u64; 3];
            while seen[1..] != [EACH as u64; 2] {
                let entry = party.entry().unwrap();
                let number = entry.context as usize;
                if let Some(from) = entry.source {
                    let count = &mut seen[from as usize];
                    let message = bytes(entry.len, *count ^ u64::from(from) << 32);
                    assert_eq!(entry.offset % 8, 0);
                    assert!(buffers[number][entry.offset..][..entry.len] == message);
                    *count += 1;
                }
                if entry.is_last {
                    post(number, &mut buffers[number]);
                }
            }
        } else {
            for number in 0..EACH as u64 {
                let message = bytes(
                    (number % 531) as usize + 1,
                    number ^ u64::from(party.rank) << 32,
                );
                party.insist(|| party.endpoint.inject(0, &message)).unwrap();
            }
        }
    });
}

/// Checks that a buffer for one peer takes no message of another.
pub(crate) fn go_to_the_buffer_of_their_source(way: Way) {
    check(way, 3, |party| {
        if party.rank > 0 {
            party
                .insist(|| party.endpoint.inject(0, &[party.rank as u8; 5]))
                .unwrap();
            return;
        }
        let mut buffers = [[0_u8; 8]; 3];
        for from in [2_u32, 1] {
            let posted = Posted {
                context: u64::from(from),
                source: Some(from),
                least: None,
            };
            let buffer = &mut buffers[from as usize];
            // SAFETY: the buffer stays until both entries are there.
            unsafe { party.endpoint.post_receive(buffer.as_mut_ptr(), 8, posted) };
        }
        for _ in 0..2 {
            let entry = party.entry().unwrap();
            assert_eq!(entry.source.map(u64::from), Some(entry.context));
        }
        assert_eq!(buffers[1][..6], [1, 1, 1, 1, 1, 0]);
        assert_eq!(buffers[2][..6], [2, 2, 2, 2, 2, 0]);
    });
}

/// Returns the least level at which a sender is told that a message was cut, also where it came before
/// its buffer.
pub(super) fn told_of_cuts(len: usize) -> Level {
    // The receiver holds short ones, and has answered by then.
    if len < 1000 {
        Level::Matched
    } else {
        Level::Delivered
    }
}

/// Checks that a message that is longer than its buffer fills it, is an error for both sides that
/// ask, and tells the rest.
pub(crate) fn too_long_ones_are_cut(way: Way) {
    check(way, 2, |party| {
        for len in [100, 100_000] {
            let mut buffer = bytes(len, 7);
            if party.rank == 0 {
                let source = buffer.as_ptr();
                // SAFETY: the message stays until the entry below.
                party
                    .insist(|| unsafe {
                        let report = CountedContext(3);
                        party
                            .endpoint
                            .send(1, source, len, None, told_of_cuts(len), report)
                    })
                    .unwrap();
                let failure = party.entry().unwrap_err();
                assert_eq!(failure.error, Error::Truncated);
                assert_eq!(failure.entry.context, 3);
            } else {
                buffer.fill(9);
                // SAFETY: the buffer stays until the entry below.
                unsafe { party.endpoint.post_receive(buffer.as_mut_ptr(), 10, any(5)) };
                let failure = party.entry().unwrap_err();
                assert_eq!(
                    (failure.error, failure.entry.context),
                    (Error::Truncated, 5)
                );
                let stored = failure.entry.len;
                assert_eq!((stored + failure.cut, failure.entry.offset), (len, 0));
                assert!(stored == 10 && buffer[..stored] == bytes(len, 7)[..stored]);
                assert!(buffer[10..].iter().all(|&byte| byte == 9));
            }
        }
        let failed = if party.rank == 0 {
            party.config.done.read_failed()
        } else {
            party.config.received.read_failed()
        };
        assert_eq!(failed, 2);
    });
}

/// Checks that "matched" is not said before the receiver has a buffer, and that "delivered" is where
/// it holds the message.
pub(crate) fn are_matched_by_buffers_alone(way: Way) {
    check(way, 2, |party| {
        let levels = [Level::Matched, Level::Matched, Level::Delivered];
        for ((round, len), level) in (1..).zip([8, 200_000, 8]).zip(levels) {
            let mut message = bytes(len, 1);
            if party.rank == 0 {
                let source = message.as_ptr();
                // SAFETY: the message stays until the counter says so.
                party
                    .insist(|| unsafe { party.endpoint.send(1, source, len, None, level, Counted) })
                    .unwrap();
                if level == Level::Delivered {
                    assert!(party.endpoint.quiet(LIMIT), "the receiver has no buffer");
                } else {
                    for _ in 0..1000 {
                        party.endpoint.progress();
                    }
                    assert_eq!(party.config.done.read(), round - 1);
                }
                party.meeting.announce(0, round);
                assert!(party.endpoint.quiet(LIMIT));
                assert_eq!(party.config.done.read(), round);
            } else {
                while !party.meeting.has_come(0, round) {
                    party.endpoint.progress();
                    party.meeting.give_up_if_failed();
                }
                // SAFETY: the buffer stays until the entry below.
                unsafe {
                    party
                        .endpoint
                        .post_receive(message.as_mut_ptr(), len, any(0))
                };
                party.entry().unwrap();
                assert_eq!(party.config.received.read(), round);
            }
        }
    });
}

/// Checks that a queue that nobody reads refuses operations, and loses nothing.
pub(crate) fn are_refused_by_a_full_queue(way: Way) {
    check(way, 2, |party| {
        let mut buffer = [0_u8; 64];
        if party.rank == 0 {
            let send = |context| {
                // SAFETY: a static message.
                unsafe {
                    let report = Context(context);
                    party
                        .endpoint
                        .send(1, b"x".as_ptr(), 1, None, Level::Free, report)
                }
            };
            for context in 0..ENTRIES as u64 {
                assert_eq!(party.insist(|| send(context)), Ok(()));
            }
            assert_eq!(send(99), Err(Error::Again));
            assert_eq!(party.queue.next().unwrap().unwrap().context, 0);
            assert_eq!(party.insist(|| send(99)), Ok(()));
            for context in 1..ENTRIES as u64 {
                assert_eq!(party.queue.next().unwrap().unwrap().context, context);
            }
            party.meet();
        } else {
            party.meet();
            for context in 0..=ENTRIES as u64 {
                let place = &raw mut buffer[context as usize % 64];
                // SAFETY: the byte stays until the end of the contract; all messages are the same.
                unsafe { party.endpoint.post_receive(place, 1, any(context)) };
                party.endpoint.progress();
            }
            for context in 0..=ENTRIES as u64 {
                assert_eq!(party.entry().unwrap().context, context);
            }
        }
    });
}

/// Refuses calls about peers that are not there and messages too long to inject; takes buffers back.
pub(crate) fn are_refused_without_a_peer(way: Way) {
    check(way, 2, |party| {
        let endpoint = &party.endpoint;
        assert_eq!(endpoint.inject(2, b"x"), Err(Error::NoSuchPeer));
        let long = vec![0; endpoint.inject_size() + 1];
        assert_eq!(endpoint.inject(1 - party.rank, &long), Err(Error::TooLong));
        // SAFETY: there are no bytes.
        let sent = unsafe { endpoint.send(7, long.as_ptr(), 0, None, Level::Free, Silent) };
        assert_eq!(sent, Err(Error::NoSuchPeer));
        let mut byte = 0_u8;
        // SAFETY: the byte is cancelled below.
        unsafe { endpoint.post_receive(&raw mut byte, 1, any(4)) };
        assert!(endpoint.cancel_receive(4) && !endpoint.cancel_receive(4));
        party.meet();
        party.vector.remove(1 - party.rank).unwrap();
        assert_eq!(
            endpoint.inject(1 - party.rank, b"x"),
            Err(Error::NoSuchPeer)
        );
        assert_eq!(party.queue.next(), None);
    });
}
