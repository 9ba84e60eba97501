//! Tagged messages: to the receives that want them, whole, in order, never lost.

#![expect(unsafe_code, reason = "sends and receives by C addresses")]

use super::messages::told_of_cuts;
use super::{ENTRIES, LIMIT, Party, Way, bytes, check};
use fi_provider::raw::address_vector::PeerIndex;
use fi_provider::raw::completion::{Context, CountedContext, Entry, Operation, Silent};
use fi_provider::raw::endpoint::{Level, Peeked, Posted, Wanted};
use fi_provider::raw::error::Error;
use fi_provider::raw::region::{Addressing, Rights};

/// Returns a buffer for one untagged message.
fn untagged(context: u64, source: Option<PeerIndex>) -> Posted {
    Posted {
        context,
        source,
        least: None,
    }
}

fn masked(tag: u64, ignore: u64) -> Wanted {
    Wanted {
        ignore,
        ..Wanted::tag(tag)
    }
}

fn of(source: PeerIndex, tag: u64) -> Wanted {
    Wanted {
        source: Some(source),
        ..Wanted::tag(tag)
    }
}

/// Posts a buffer, which has to stay until its entry is there.
fn post(party: &Party<'_>, buffer: &mut [u8], wanted: Wanted, context: u64) {
    let (place, len) = (buffer.as_mut_ptr(), buffer.len());
    // SAFETY: the caller keeps the buffer until its entry is there.
    unsafe { party.endpoint.post_tagged(place, len, wanted, context) };
}

fn inject(party: &Party<'_>, to: PeerIndex, message: &[u8], tag: u64, data: Option<u64>) {
    let inject = || party.endpoint.inject_tagged(to, message, tag, data);
    party.insist(inject).unwrap();
}

/// Sends a message, which has to stay until its entry is there.
fn send(
    party: &Party<'_>,
    to: PeerIndex,
    message: &[u8],
    beside: (u64, Option<u64>),
    level: Level,
    context: u64,
) {
    let message = (message.as_ptr(), message.len());
    let send = || {
        let report = CountedContext(context);
        // SAFETY: the caller keeps the message until its entry is there.
        unsafe { (party.endpoint).send_tagged(to, message, beside, level, report) }
    };
    party.insist(send).unwrap();
}

/// Takes the entry of a message that was received.
fn received(party: &Party<'_>) -> Entry {
    let entry = party.entry().unwrap();
    assert_eq!(entry.operation, Operation::Receive);
    assert!(entry.is_last && entry.offset == 0);
    entry
}

/// Makes progress until a message is there.
fn peek(party: &Party<'_>, wanted: Wanted) -> Peeked {
    let mut peeked = None;
    let is_there = party.endpoint.wait(LIMIT, || {
        peeked = party.endpoint.peek(wanted);
        party.meeting.give_up_if_failed();
        peeked.is_some()
    });
    assert!(is_there, "no message in {LIMIT:?}");
    peeked.expect("a message")
}

/// Checks that the first receive in posting order gets a message, be it exact, directed or masked;
/// a sender's first message in sending order goes to a receive.
pub(crate) fn match_by_tag_mask_and_source(way: Way) {
    // Each with the receive that it is for.
    const SENT: [(PeerIndex, u64, u64); 6] = [
        (1, 5, 2),
        (2, 5, 1),
        (2, 5, 3),
        (1, 0x105, 4),
        (2, 5, 6),
        (1, u64::MAX, 5),
    ];
    check(way, 3, |party| {
        for is_early in [false, true] {
            let mut buffers = [[0_u8; 8]; 7];
            let mut post_all = || {
                let all = [
                    of(2, 5),
                    masked(4, 3),
                    Wanted::tag(5),
                    masked(0x5, 0xff00),
                    masked(1 << 63, u64::MAX >> 1),
                    of(2, 5),
                ];
                for (context, wanted) in (1..).zip(all) {
                    post(party, &mut buffers[context as usize], wanted, context);
                }
            };
            if party.rank == 0 && !is_early {
                post_all();
            }
            for (from, tag, context) in SENT {
                party.meet();
                if party.rank == from {
                    inject(party, 0, &[tag as u8; 3], tag, Some(!tag));
                }
                if party.rank == 0 && is_early {
                    peek(party, of(from, tag));
                } else if party.rank == 0 {
                    let entry = received(party);
                    assert_eq!(entry.context, context);
                    assert_eq!((entry.source, entry.tag), (Some(from), Some(tag)));
                    assert_eq!((entry.len, entry.data), (3, Some(!tag)));
                }
                party.meet();
            }
            if party.rank == 0 {
                if is_early {
                    // The first in posting order takes the first that it wants.
                    post_all();
                    let told = (1..7).map(|context| (context, received(party)));
                    let told = told.map(|(context, entry)| {
                        assert_eq!(entry.context, context);
                        entry.tag.unwrap()
                    });
                    assert!(told.eq([5, 5, 5, 0x105, u64::MAX, 5]));
                }
                for (context, tag) in (1..).zip([5, 5, 5, 5, 0xff, 5]) {
                    assert_eq!(buffers[context][..4], [tag, tag, tag, 0]);
                }
            }
        }
    });
}

/// Returns the lengths of messages of one tag, in sending order.
fn lengths(party: &Party<'_>) -> Vec<usize> {
    let inject = party.endpoint.inject_size();
    vec![
        0,
        8,
        1,
        40_000,
        100,
        inject,
        inject + 1,
        300_001,
        7,
        200_000,
        64,
        0,
    ]
}

const TAGS: [u64; 4] = [3, 1 << 63 | 1, 0, 0x1_0000_0000];

/// Sends short and long ones, from an arena and from elsewhere, with and without data, at all
/// levels, of several tags at once: each receive gets the next message of its tag, posted in time
/// or not.
pub(crate) fn arrive_in_order(way: Way) {
    check(way, 3, |party| {
        let lengths = lengths(party);
        let seed = |from: PeerIndex, tag: u64, at: usize| {
            tag.rotate_left(9) ^ u64::from(from) << 20 ^ at as u64
        };
        let data = |at: usize| (at % 3 == 1).then_some(at as u64 | 1 << 63);
        let sum = lengths
            .iter()
            .map(|len| len.next_multiple_of(8))
            .sum::<usize>();
        let rights = Rights::READ;
        let arena = (party.domain).allocate(TAGS.len() * sum, rights, None, Addressing::Offset);
        let arena = arena.unwrap();
        for is_early in [false, true] {
            if party.rank == 0 {
                if is_early {
                    party.meet();
                    party.meet();
                }
                receive_all(party, &lengths, is_early, |from, tag, at| {
                    (bytes(lengths[at], seed(from, tag, at)), data(at))
                });
                party.meet();
                continue;
            }
            party.meet();
            let mut at_arena = arena.as_ptr();
            let mut messages = Vec::new();
            for (at, &len) in lengths.iter().enumerate() {
                for tag in TAGS {
                    let message = bytes(len, seed(party.rank, tag, at));
                    if at % 2 == 0 {
                        messages.push((tag, at, message.as_ptr(), message));
                        continue;
                    }
                    // SAFETY: the memory is as long as all, and nobody reads it now.
                    unsafe { message.as_ptr().copy_to(at_arena, message.len()) };
                    messages.push((tag, at, at_arena.cast_const(), message));
                    at_arena = at_arena.wrapping_add(len.next_multiple_of(8));
                }
            }
            let levels = [Level::Free, Level::Delivered, Level::Transmitted];
            for (context, (tag, at, source, message)) in (0..).zip(&messages) {
                // SAFETY: so many bytes are there, until the entries below.
                let message = unsafe { std::slice::from_raw_parts(*source, message.len()) };
                send(
                    party,
                    0,
                    message,
                    (*tag, data(*at)),
                    levels[context % 3],
                    context as u64,
                );
            }
            if is_early {
                party.meet();
            }
            let mut told: Vec<_> = messages.iter().map(|_| party.entry().unwrap()).collect();
            told.sort_by_key(|entry| entry.context);
            for (at, (entry, message)) in told.iter().zip(&messages).enumerate() {
                assert_eq!(
                    (entry.operation, entry.context),
                    (Operation::Send, at as u64)
                );
                assert_eq!((entry.len, entry.tag), (message.3.len(), Some(message.0)));
            }
            party.meet();
        }
    });
}

/// Receives the messages of both others, tag by tag; posts all receives before the senders start,
/// or when all is sent.
fn receive_all(
    party: &Party<'_>,
    lengths: &[usize],
    is_early: bool,
    expected: impl Fn(PeerIndex, u64, usize) -> (Vec<u8>, Option<u64>),
) {
    let each = 2 * lengths.len();
    let mut buffers = vec![vec![0xee_u8; 300_009]; TAGS.len() * each];
    let tags = TAGS
        .iter()
        .rev()
        .flat_map(|&tag| std::iter::repeat_n(tag, each));
    for ((context, tag), buffer) in (0..).zip(tags).zip(&mut buffers) {
        let wanted = match tag {
            0 => of(1 + (context % 2) as u32, 0),
            3 => masked(3, 0xf0),
            _ => Wanted::tag(tag),
        };
        post(party, buffer, wanted, context);
    }
    if !is_early {
        party.meet();
    }
    let mut told: Vec<_> = (0..buffers.len()).map(|_| received(party)).collect();
    told.sort_by_key(|entry| entry.context);
    let mut seen = std::collections::HashMap::new();
    for (entry, buffer) in told.iter().zip(&buffers) {
        let (from, tag) = (entry.source.unwrap(), entry.tag.unwrap());
        let wanted = TAGS[TAGS.len() - 1 - entry.context as usize / each];
        assert_eq!(tag, wanted);
        if tag == 0 {
            assert_eq!(u64::from(from), 1 + entry.context % 2);
        }
        let at: &mut usize = seen.entry((from, tag)).or_default();
        let (message, data) = expected(from, tag, *at);
        assert_eq!(
            (entry.len, entry.data),
            (message.len(), data),
            "{at} of {from}, {tag:#x}"
        );
        assert!(buffer[..entry.len] == message, "{at} of {from}, {tag:#x}");
        assert_eq!(buffer[entry.len..][..8], [0xee; 8]);
        *at += 1;
    }
    assert!(seen.len() == 2 * TAGS.len() && seen.values().all(|&many| many == lengths.len()));
}

/// Sends many that nobody wants yet: the sender is held up, and all arrive in the end, untagged
/// ones behind them too.
pub(crate) fn wait_for_their_receives(way: Way) {
    const MANY: u64 = 6000;
    check(way, 2, |party| {
        let tag = |number: u64| number % 5;
        let len = |number: u64| (number % 700) as usize + 8;
        if party.rank == 0 {
            let mut refused = 0;
            for number in 0..MANY {
                let mut message = bytes(len(number), number);
                message[..8].copy_from_slice(&number.to_le_bytes());
                let inject = || {
                    let sent = (party.endpoint).inject_tagged(1, &message, tag(number), None);
                    if sent == Err(Error::Again) {
                        refused += 1;
                        if refused == 1 {
                            party.meeting.announce(0, 1);
                        }
                    }
                    sent
                };
                party.insist(inject).unwrap();
            }
            assert!(refused > 0, "nothing holds the sender up");
            party
                .insist(|| party.endpoint.inject(1, b"behind"))
                .unwrap();
            return;
        }
        while !party.meeting.has_come(0, 1) {
            party.endpoint.progress();
            party.meeting.give_up_if_failed();
        }
        let mut buffer = vec![0; 1000];
        for number in 0..MANY {
            post(party, &mut buffer, Wanted::tag(tag(number)), number);
            let entry = received(party);
            assert_eq!((entry.context, entry.len), (number, len(number)));
            assert_eq!(buffer[..8], number.to_le_bytes());
            assert!(buffer[8..entry.len] == bytes(entry.len, number)[8..]);
        }
        // SAFETY: the buffer stays until the entry below.
        unsafe { (party.endpoint).post_receive(buffer.as_mut_ptr(), 1000, untagged(1, None)) };
        assert_eq!((received(party).tag, &buffer[..6]), (None, &b"behind"[..]));
    });
}

/// Checks that a message that is there is told of, kept for one receive, or dropped: short or long,
/// and its sender hears that it was received.
pub(crate) fn are_peeked_at_claimed_and_discarded(way: Way) {
    check(way, 2, |party| {
        let endpoint = &party.endpoint;
        for len in [20, 100_000] {
            let message = |tag: u64| bytes(len, tag);
            if party.rank == 1 {
                let messages: Vec<_> = (0..5).map(message).collect();
                for (tag, message) in (0..).zip(&messages) {
                    send(
                        party,
                        0,
                        message,
                        (tag, Some(tag + 7)),
                        Level::Delivered,
                        tag,
                    );
                }
                let mut told: Vec<_> = (0..5).map(|_| party.entry().unwrap().context).collect();
                told.sort_unstable();
                assert_eq!(told, [0, 1, 2, 3, 4]);
                party.meet();
                continue;
            }
            let peeked = |tag: u64| Peeked {
                tag,
                len,
                source: Some(1),
                data: Some(tag + 7),
            };
            assert_eq!(peek(party, of(1, 4)), peeked(4));
            assert_eq!(endpoint.peek(masked(0, !0)), Some(peeked(0)), "the first");
            assert_eq!(endpoint.peek(of(0, 4)), None);
            assert_eq!(endpoint.peek(Wanted::tag(5)), None);
            assert_eq!(endpoint.claim(Wanted::tag(5), 11), None);
            assert_eq!(endpoint.claim(masked(0, 1), 11), Some(peeked(0)));
            assert_eq!(endpoint.claim(masked(2, 1), 11), Some(peeked(2)));
            assert_eq!(endpoint.claim(Wanted::tag(3), 12), Some(peeked(3)));
            assert_eq!(endpoint.peek(masked(2, 1)), None, "both are claimed");
            assert_eq!(endpoint.discard(Wanted::tag(3)), None);
            let mut buffers = vec![vec![0; len]; 3];
            let wanted = masked(0, !0);
            post(party, &mut buffers[1], wanted, 11);
            assert_eq!((received(party).tag, &buffers[1]), (Some(1), &message(1)));
            let mut claimed = |tag: usize| {
                let place = buffers[tag].as_mut_ptr();
                // SAFETY: the buffer stays until the entry below.
                let is_claimed = unsafe { endpoint.receive_claimed(&[(place, len)], 11, 21) };
                assert_eq!(is_claimed, Ok(true));
                let entry = received(party);
                assert_eq!((entry.tag, entry.context), (Some(tag as u64), 21));
                assert_eq!((entry.source, entry.data), (Some(1), Some(tag as u64 + 7)));
                assert!(buffers[tag] == message(tag as u64));
            };
            claimed(0);
            claimed(2);
            let nowhere = buffers[0].as_mut_ptr();
            // SAFETY: there is no such message, and so no receive.
            let is_claimed = unsafe { endpoint.receive_claimed(&[(nowhere, len)], 11, 22) };
            assert_eq!(is_claimed, Ok(false));
            assert_eq!(endpoint.discard_claimed(11), None);
            assert_eq!(endpoint.discard_claimed(12), Some(peeked(3)));
            assert_eq!(endpoint.discard(of(1, 4)), Some(peeked(4)));
            assert_eq!(endpoint.discard(masked(0, !0)), None);
            party.meet();
            assert_eq!(party.queue.next(), None);
        }
    });
}

/// Checks that tagged messages and others leave each other's buffers alone.
pub(crate) fn keep_apart_from_untagged_ones(way: Way) {
    check(way, 2, |party| {
        let endpoint = &party.endpoint;
        for is_early in [false, true] {
            let mut buffers = [vec![0; 50_000], vec![0; 50_000], vec![0; 8], vec![0; 8]];
            let mut post_all = || {
                let [one, two, three, four] = &mut buffers;
                // SAFETY: the buffers stay until the entries below.
                unsafe { endpoint.post_receive(one.as_mut_ptr(), 50_000, untagged(0, None)) };
                post(party, two, masked(0, !0), 1);
                // SAFETY: as it says above, the buffers stay until the entries below.
                unsafe { endpoint.post_receive(three.as_mut_ptr(), 8, untagged(2, Some(1))) };
                post(party, four, Wanted::tag(0), 3);
            };
            if party.rank == 0 && !is_early {
                post_all();
            }
            party.meet();
            if party.rank == 1 {
                let (long, other) = (bytes(50_000, 1), bytes(50_000, 2));
                send(party, 0, &long, (0, None), Level::Delivered, 0);
                let report = Context(1);
                let (message, level) = (other.as_ptr(), Level::Delivered);
                // SAFETY: the message stays until the entry below.
                let send = || unsafe { endpoint.send(0, message, 50_000, None, level, report) };
                party.insist(send).unwrap();
                inject(party, 0, b"tagged", 0, None);
                party.insist(|| endpoint.inject(0, b"not")).unwrap();
                party.meet();
                assert!((0..2).all(|_| party.entry().is_ok()));
            } else {
                party.meet();
                if is_early {
                    post_all();
                }
                let mut told: Vec<_> = (0..4).map(|_| received(party)).collect();
                told.sort_by_key(|entry| entry.context);
                let told = told.iter().map(|entry| (entry.tag, entry.len));
                let all = [(None, 50_000), (Some(0), 50_000), (None, 3), (Some(0), 6)];
                assert!(told.eq(all), "{is_early}");
                assert!(buffers[0] == bytes(50_000, 2) && buffers[1] == bytes(50_000, 1));
                assert!(buffers[2][..3] == *b"not" && buffers[3][..6] == *b"tagged");
            }
            party.meet();
        }
    });
}

/// Checks that a message that is longer than its buffer fills it, and is an error for both sides
/// that ask, with its tag; a receive that was taken back gets none.
pub(crate) fn are_cut_and_cancelled(way: Way) {
    check(way, 2, |party| {
        let endpoint = &party.endpoint;
        for len in [100, 100_000] {
            let mut buffer = bytes(len, 7);
            if party.rank == 0 {
                party.meet();
                send(party, 1, &buffer, (9, None), told_of_cuts(len), 3);
                let failure = party.entry().unwrap_err();
                assert_eq!(
                    (failure.error, failure.entry.context),
                    (Error::Truncated, 3)
                );
            } else {
                buffer.fill(9);
                let mut others = [[0; 8]; 2];
                post(party, &mut others[0], Wanted::tag(9), 4);
                post(party, &mut others[1], masked(9, !0), 4);
                post(party, &mut buffer[..10], Wanted::tag(9), 5);
                let (one, other) = (endpoint.cancel_tagged(4), endpoint.cancel_tagged(4));
                assert!(one.is_some() && other.is_some());
                let (one, other) = (endpoint.cancel_tagged(4), endpoint.cancel_tagged(6));
                assert!(one.is_none() && other.is_none());
                assert!(!endpoint.cancel_receive(5), "of another kind");
                party.meet();
                let failure = party.entry().unwrap_err();
                let entry = failure.entry;
                assert_eq!((failure.error, entry.context), (Error::Truncated, 5));
                assert_eq!((entry.len + failure.cut, entry.offset), (len, 0));
                assert_eq!((entry.tag, entry.source), (Some(9), Some(0)));
                assert!(entry.len == 10 && buffer[..entry.len] == bytes(len, 7)[..entry.len]);
                assert!(buffer[10..].iter().all(|&byte| byte == 9) && others == [[0; 8]; 2]);
                assert_eq!(endpoint.cancel_tagged(5), None);
            }
        }
        let long = vec![0; endpoint.inject_size() + 1];
        let peer = 1 - party.rank;
        assert_eq!(
            endpoint.inject_tagged(peer, &long, 1, None),
            Err(Error::TooLong)
        );
        assert_eq!(
            endpoint.inject_tagged(7, b"x", 1, None),
            Err(Error::NoSuchPeer)
        );
        // SAFETY: there are no bytes.
        let sent = unsafe {
            let (nothing, level) = ((long.as_ptr(), 0), Level::Free);
            endpoint.send_tagged(7, nothing, (1, None), level, Silent)
        };
        assert_eq!(sent, Err(Error::NoSuchPeer));
    });
}

/// Sends thousands of tags, in the reverse order of their receives; then before these.
pub(crate) fn of_many_tags_find_their_receives(way: Way) {
    const MANY: u64 = 3000;
    check(way, 2, |party| {
        let tag = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if party.rank == 1 {
            for _ in 0..2 {
                party.meet();
                for number in (0..MANY).rev() {
                    inject(party, 0, &number.to_le_bytes(), tag(number), None);
                }
                party.meet();
            }
            return;
        }
        for is_early in [false, true] {
            let mut buffers = vec![[0_u8; 8]; MANY as usize];
            if is_early {
                party.meet();
                peek(party, Wanted::tag(tag(0)));
            }
            let is_free = |number: u64| !is_early && number % 7 == 3;
            let mut seen = 0;
            for (number, buffer) in (0..MANY).zip(&mut buffers) {
                let ignore = if is_free(number) { 0xff << 56 } else { 0 };
                post(party, buffer, masked(tag(number), ignore), number);
                while is_early && seen < number {
                    assert_eq!(received(party).context, seen);
                    seen += 1;
                }
            }
            if !is_early {
                party.meet();
            }
            for _ in seen..MANY {
                let entry = received(party);
                assert_eq!(entry.tag, Some(tag(entry.context)));
            }
            let numbers = buffers.iter().map(|buffer| u64::from_le_bytes(*buffer));
            assert!(numbers.eq(0..MANY));
            party.meet();
        }
    });
}

/// Checks that messages of a sender that is not in the vector have no source, and go to receives
/// for anybody; as soon as it is inserted, they go to those for it, before later ones: tagged or
/// not.
pub(crate) fn of_strangers_are_matched_when_they_are_known(way: Way) {
    check(way, 2, |party| {
        for is_late in [true, false] {
            if party.rank == 0 {
                know_a_stranger(party, is_late);
                continue;
            }
            let send = |number: u8| {
                inject(party, 0, &[number], 6, None);
                let inject = || party.endpoint.inject(0, &[10 + number]);
                party.insist(inject).unwrap();
            };
            party.meet();
            (0..3).for_each(send);
            party.meet();
            party.meet();
            send(3);
            party.meet();
        }
    });
}

/// Inserts the other party when three of its messages of each kind have come, and receives the
/// fourth ones; these come behind that, or lie there when it happens.
fn know_a_stranger(party: &Party<'_>, is_late: bool) {
    let address = party.vector.address(1).unwrap();
    party.vector.remove(1).unwrap();
    party.meet();
    party.meet();
    let mut places = [[0xee_u8; 1]; 8];
    assert_eq!(peek(party, Wanted::tag(6)).source, None);
    assert_eq!(party.endpoint.peek(of(1, 6)), None);
    let (tagged, others) = places.split_at_mut(4);
    let post_other = |place: &mut [u8; 1], context, source| {
        let posted = untagged(context, source);
        // SAFETY: the byte stays until its entry below.
        unsafe { (party.endpoint).post_receive(place.as_mut_ptr(), 1, posted) };
    };
    for at in 1..4 {
        post(party, &mut tagged[at], of(1, 6), at as u64);
        post_other(&mut others[at], 10 + at as u64, Some(1));
    }
    post(party, &mut tagged[0], Wanted::tag(6), 0);
    post_other(&mut others[0], 10, None);
    let mut first = [received(party), received(party)].map(|entry| (entry.context, entry.source));
    first.sort_unstable();
    assert_eq!(first, [(0, None), (10, None)]);
    peek(party, Wanted::tag(6));
    party.endpoint.progress();
    assert_eq!(party.queue.next(), None);
    let mut told = Vec::new();
    if is_late {
        assert_eq!(party.vector.insert(&address), Ok(1));
        told.extend((0..4).map(|_| received(party)));
        party.meet();
        told.extend((0..2).map(|_| received(party)));
        party.meet();
    } else {
        // The last ones lie in the ring.
        party.meeting.meet_while(|| {});
        party.meeting.meet_while(|| {});
        assert_eq!(party.vector.insert(&address), Ok(1));
        told.extend((0..6).map(|_| received(party)));
    }
    assert!(told.iter().all(|entry| entry.source == Some(1)));
    told.sort_by_key(|entry| entry.context);
    let contexts = told.iter().map(|entry| entry.context);
    assert!(contexts.eq([1, 2, 3, 11, 12, 13]));
    assert_eq!(places.as_flattened(), [0, 1, 2, 3, 10, 11, 12, 13]);
}

/// Checks that a receive that finds its message when the queue has no room is reported before
/// others, as soon as there is some.
pub(crate) fn wait_for_room_in_the_queue(way: Way) {
    check(way, 2, |party| {
        if party.rank == 1 {
            for number in 0..3 {
                inject(party, 0, &[number; 2], number.into(), None);
            }
            party.meet();
            inject(party, 0, &[3; 2], 3, None);
            party.meet();
            return;
        }
        peek(party, Wanted::tag(2));
        let send = |context| {
            let (level, report) = (Level::Free, Context(context));
            // SAFETY: a static message.
            unsafe { (party.endpoint).send(1, b"x".as_ptr(), 1, None, level, report) }
        };
        for context in 0..ENTRIES as u64 {
            assert_eq!(party.insist(|| send(context)), Ok(()));
        }
        let mut buffers = [[9_u8; 2]; 4];
        for (tag, buffer) in (0..).zip(&mut buffers) {
            post(party, buffer, Wanted::tag(tag), 100 + tag);
        }
        assert_eq!(
            party.endpoint.cancel_tagged(101),
            None,
            "it has its message"
        );
        party.meet();
        for context in 0..ENTRIES as u64 {
            party.endpoint.progress();
            assert_eq!(party.queue.next().unwrap().unwrap().context, context);
        }
        assert!((100..104).all(|context| received(party).context == context));
        assert_eq!(buffers, [[0; 2], [1; 2], [2; 2], [3; 2]]);
        party.meet();
    });
}

/// Sends messages of pieces to buffers of pieces, short and long, in time and early.
pub(crate) fn of_pieces_arrive(way: Way) {
    check(way, 2, |party| {
        let endpoint = &party.endpoint;
        // The last ones are plain: short, without data, and nobody waits for their end.
        for (round, len) in (0..).zip([0, 30, 200_000, 30, 200_000, 30, 5000, 30]) {
            let (message, wanted) = (bytes(len, 3), Wanted::tag(round));
            let (cut, other) = (len / 3, len / 2);
            let is_early = [3, 4, 7].contains(&round);
            let is_plain = round > 4;
            let data = (!is_plain).then_some(round);
            if party.rank == 0 {
                party.meet();
                let (one, two) = message.split_at(cut);
                let pieces = [(one.as_ptr(), cut), (two.as_ptr(), len - cut)];
                let send = || {
                    let level = if is_plain {
                        Level::Free
                    } else {
                        Level::Delivered
                    };
                    let (beside, report) = ((round, data), Context(5));
                    // SAFETY: the pieces stay until the entry below.
                    unsafe { endpoint.send_tagged_vector(1, &pieces, beside, level, report) }
                };
                party.insist(send).unwrap();
                assert_eq!(party.entry().unwrap().len, len);
                continue;
            }
            let mut buffer = vec![0; len + 5];
            if is_early {
                party.meet();
                assert_eq!(peek(party, wanted).len, len);
            }
            let (one, two) = buffer.split_at_mut(other);
            let pieces = [(one.as_mut_ptr(), other), (two.as_mut_ptr(), two.len())];
            // SAFETY: the pieces stay until the entry below, or are taken back here.
            unsafe {
                let nothing = Wanted::tag(99);
                endpoint.post_tagged_vector(&pieces, nothing, 8).unwrap();
                assert!(endpoint.cancel_tagged(8).is_some());
                endpoint.post_tagged_vector(&pieces, wanted, 9).unwrap();
            }
            if !is_early {
                party.meet();
            }
            let entry = received(party);
            assert_eq!((entry.context, entry.len), (9, len));
            assert_eq!((entry.tag, entry.data), (Some(round), data));
            assert!(buffer[..len] == message && buffer[len..] == [0; 5]);
        }
    });
}
