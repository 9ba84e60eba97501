//! Operations on several pieces of memory, each with one report for the whole.

#![expect(unsafe_code, reason = "pieces are raw memory")]

use super::messages::told_of_cuts;
use super::{LIMIT, Party, Way, bytes, check};
use fi_provider::raw::completion::{Context, CountedContext, Operation};
use fi_provider::raw::endpoint::{Atomic, Level, Range, RemoteRegion, Word};
use fi_provider::raw::error::Error;
use fi_provider::raw::region::{Addressing, Memory, Region, Rights};
use std::sync::atomic::Ordering;

const LEN: usize = 300_000;
const ARENA: u64 = 1;
const FOREIGN: u64 = 2;
const VIRTUAL: u64 = 3;

/// Random numbers that the writer and the target draw alike.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    /// Cuts `len` bytes into up to 6 pieces, some of which may be empty.
    fn cut(&mut self, len: usize) -> Vec<usize> {
        let mut cuts: Vec<_> = (0..self.below(6)).map(|_| self.below(len + 1)).collect();
        cuts.sort_unstable();
        cuts.push(len);
        let mut before = 0;
        cuts.into_iter()
            .map(|cut| cut - std::mem::replace(&mut before, cut))
            .collect()
    }

    /// Returns ranges of up to so many bytes in all, which do not touch each other: the key of
    /// each, its beginning, and its bytes.
    fn ranges(&mut self, keys: &[u64], most: usize) -> Vec<(u64, usize, usize)> {
        let total = self.below(most + 1);
        let lengths = self.cut(total);
        let slot = LEN / 8;
        (0..)
            .zip(lengths)
            .map(|(at, len)| {
                let key = keys[self.below(keys.len())];
                (key, at * slot + self.below(slot - len.min(slot - 1)), len)
            })
            .collect()
    }
}

/// The regions of a party: one of the arena, two of other memory.
struct Own {
    memory: Memory,
    others: [Vec<u8>; 2],
    _regions: [Region; 2],
}

impl Own {
    fn open(party: &Party<'_>) -> Self {
        let domain = &party.domain;
        let rights = Rights::ALL;
        let memory = domain.allocate(LEN, rights, Some(ARENA), Addressing::Offset);
        let mut others = [vec![0_u8; LEN], vec![0_u8; LEN]];
        let places = [others[0].as_mut_ptr(), others[1].as_mut_ptr()];
        // Peers give the address of the one by which they may.
        party.meeting.tell(party.rank, places[1].addr() as u64);
        // SAFETY: both are mapped until the regions are dropped, with them, or leaked by a panic.
        let regions = unsafe {
            [
                domain.register(places[0], LEN, rights, Some(FOREIGN), Addressing::Offset),
                domain.register(places[1], LEN, rights, Some(VIRTUAL), Addressing::Virtual),
            ]
        };
        let own = Self {
            memory: memory.unwrap(),
            others,
            _regions: regions.map(Result::unwrap),
        };
        party.meet();
        own
    }

    /// Returns the bytes of all, now.
    fn bytes(&self) -> [Vec<u8>; 3] {
        let places = [
            self.memory.as_ptr().cast_const(),
            self.others[0].as_ptr(),
            self.others[1].as_ptr(),
        ];
        // SAFETY: nobody writes the regions now.
        places.map(|place| unsafe { std::slice::from_raw_parts(place, LEN) }.to_vec())
    }
}

/// Returns a peer's regions, and the address of the first byte of each.
fn regions(party: &Party<'_>, peer: u32) -> [(RemoteRegion, u64); 3] {
    [ARENA, FOREIGN, VIRTUAL].map(|key| {
        let region = party.insist(|| party.endpoint.resolve(peer, key)).unwrap();
        let is_virtual = key == VIRTUAL;
        let start = if is_virtual {
            party.meeting.told(peer)
        } else {
            0
        };
        (region, start)
    })
}

fn ranges_of<'a>(
    regions: &'a [(RemoteRegion, u64); 3],
    ranges: &[(u64, usize, usize)],
) -> Vec<Range<'a>> {
    let range = |&(key, at, len): &(u64, usize, usize)| {
        let (region, start) = &regions[key as usize - 1];
        Range {
            region,
            address: start + at as u64,
            len,
        }
    };
    ranges.iter().map(range).collect()
}

/// Expects the entry of an operation, does something at once, and expects nothing else.
fn expect_end(
    party: &Party<'_>,
    (operation, len, context): (Operation, usize, u64),
    at_once: impl FnOnce(),
) {
    let entry = party.entry().unwrap();
    at_once();
    assert_eq!((entry.operation, entry.len), (operation, len));
    assert_eq!(entry.context, context);
    assert!(party.endpoint.quiet(LIMIT));
    assert_eq!(party.queue.next(), None, "another report");
}

/// Returns the ranges of a round of the contract below.
fn ranges_in(draw: &mut Draw, round: usize) -> Vec<(u64, usize, usize)> {
    let keys: [&[u64]; 4] = [&[ARENA], &[FOREIGN], &[VIRTUAL], &[ARENA, FOREIGN, VIRTUAL]];
    draw.ranges(keys[round % 4], [100, 3000, 30_000][round % 3])
}

/// Returns the three regions after as many rounds of the contract below.
fn model(seed: u64, rounds: usize) -> [Vec<u8>; 3] {
    let mut draw = Draw(seed);
    let mut model = [vec![0; LEN], vec![0; LEN], vec![0; LEN]];
    for round in 0..rounds {
        let ranges = ranges_in(&mut draw, round);
        let len: usize = ranges.iter().map(|(_, _, len)| len).sum();
        let data = bytes(len, round as u64);
        draw.cut(len);
        let mut done = 0;
        for (key, at, len) in ranges {
            let there = &mut model[key as usize - 1][at..at + len];
            there.copy_from_slice(&data[done..done + len]);
            done += len;
        }
    }
    model
}

/// Moves random pieces, private, registered and both, to random ranges, in one region and in
/// several, and back to other pieces.
pub(crate) fn are_written_and_read(way: Way) {
    check(way, 3, |party| {
        // Each choice of regions with each kind of pieces, once or twice.
        let rounds = if way.is_strict() { 12 } else { 24 };
        let own = Own::open(party);
        let target = (party.rank + 1) % party.parties;
        let regions = regions(party, target);
        let endpoint = &party.endpoint;
        let scratch = party
            .domain
            .allocate(LEN, Rights::READ, None, Addressing::Offset);
        let scratch = scratch.unwrap();
        let seed = |rank: u32| 0x9e37_79b9 * (u64::from(rank) + 1);
        let mut draw = Draw(seed(party.rank));
        for round in 0..rounds {
            let ranges = ranges_in(&mut draw, round);
            let len: usize = ranges.iter().map(|(_, _, len)| len).sum();
            let data = bytes(len, round as u64);
            let mut source = data.clone();
            // SAFETY: nobody reads or writes the scratch memory now.
            unsafe { data.as_ptr().copy_to(scratch.as_ptr(), len) };
            let mut back = vec![0_u8; len];
            let own_place = source.as_mut_ptr();
            let cuts = draw.cut(len);
            // Draws of this side alone.
            let mut choice = Draw(draw.0 | 1);
            let (mut at, mut sources, mut dests) = (0, Vec::new(), Vec::new());
            for &cut in &cuts {
                let is_private = [0, 1, choice.below(2)][round / 4 % 3] == 0;
                let place = if is_private {
                    own_place
                } else {
                    scratch.as_ptr()
                };
                sources.push((place.wrapping_add(at).cast_const(), cut));
                let is_back = round / 4 % 3 != 1;
                let place = if is_back { back.as_mut_ptr() } else { place };
                dests.push((place.wrapping_add(at), cut));
                at += cut;
            }
            let places = ranges_of(&regions, &ranges);
            let count = party.config.done.read();
            // SAFETY: the pieces stay until the entry below.
            let started = party.insist(|| unsafe {
                endpoint.write_vector(&places, &sources, CountedContext(round as u64))
            });
            started.unwrap();
            expect_end(party, (Operation::Write, len, round as u64), || {
                // SAFETY: both are this party's again, and as long.
                unsafe {
                    own_place.write_bytes(0xdd, len);
                    scratch.as_ptr().write_bytes(0xdd, len);
                }
            });
            let number = 1000 + round as u64;
            // SAFETY: the pieces stay until the entry below.
            let started = party.insist(|| unsafe {
                endpoint.read_vector(&places, &dests, CountedContext(number))
            });
            started.unwrap();
            expect_end(party, (Operation::Read, len, number), || {
                if round / 4 % 3 == 1 {
                    // SAFETY: nobody writes the scratch memory now.
                    unsafe { scratch.as_ptr().copy_to(back.as_mut_ptr(), len) };
                }
                assert!(back == data, "round {round}: {ranges:?} of {cuts:?}");
            });
            assert_eq!(party.config.done.read(), count + 2);
        }
        party.meet();
        let from = (party.rank + party.parties - 1) % party.parties;
        let model = model(seed(from), rounds);
        assert!(own.bytes() == model, "other bytes have changed");
        party.meet();
    });
}

/// Checks that nothing is transferred where any of the ranges or lengths is wrong.
pub(crate) fn are_refused_whole(way: Way) {
    check(way, 3, |party| {
        let own = Own::open(party);
        let rights = Rights::READ;
        let guarded = party
            .domain
            .allocate(64, rights, Some(9), Addressing::Offset);
        let guarded = guarded.unwrap();
        party.meet();
        let [peer, another] = [1, 2].map(|by| (party.rank + by) % party.parties);
        let endpoint = &party.endpoint;
        let all = regions(party, peer);
        let elsewhere = party.insist(|| endpoint.resolve(another, ARENA)).unwrap();
        // Each finds out by itself that it is closed.
        let resolve = || party.insist(|| endpoint.resolve(peer, 9)).unwrap();
        let guarded_there: [RemoteRegion; 6] = std::array::from_fn(|_| resolve());
        let data = bytes(64, 1);
        let pieces = [(data.as_ptr(), 20), (data.as_ptr(), 20)];
        let write = |last: Range<'_>, pieces: &[(*const u8, usize)]| {
            for (region, start) in &all {
                let first = Range {
                    region,
                    address: start + 8,
                    len: 30,
                };
                // SAFETY: the pieces stay until the end of this function.
                let started = unsafe { endpoint.write_vector(&[first, last], pieces, Context(1)) };
                assert_eq!(started, write_end(&last), "{last:?}");
            }
        };
        for (region, start) in &all {
            let range = |address: u64, len| Range {
                region,
                address: start.wrapping_add(address),
                len,
            };
            for outside in [LEN as u64 - 9, LEN as u64 + 1, u64::MAX - 3] {
                write(range(outside, 10), &pieces);
            }
            for len in [9, 11] {
                let first = range(8, 30);
                // SAFETY: the pieces stay until the end of this function.
                let started = unsafe {
                    endpoint.write_vector(&[first, range(100, len)], &pieces, Context(1))
                };
                assert_eq!(started, Err(Error::OutOfRange), "of other lengths");
            }
        }
        let other = |region| Range {
            region,
            address: 0,
            len: 10,
        };
        write(other(&guarded_there[0]), &pieces);
        write(other(&elsewhere), &pieces);
        assert!(endpoint.quiet(LIMIT));
        assert_eq!(party.queue.next(), None);
        party.meet();
        let nothing = vec![0; LEN];
        assert!(own.bytes().iter().all(|region| *region == nothing));
        drop(guarded);
        party.meet();

        reads_of_closed_regions_fail(party, &all, &guarded_there);
        party.meet();
    });
}

/// Reads of an open region and of one that is closed fail, in either order.
fn reads_of_closed_regions_fail(
    party: &Party<'_>,
    all: &[(RemoteRegion, u64)],
    guarded_there: &[RemoteRegion],
) {
    let endpoint = &party.endpoint;
    // A device tells of a closed region when it has tried.
    for (at, closed) in guarded_there.iter().enumerate() {
        let (region, start) = &all[at / 2];
        let open = Range {
            region,
            address: *start,
            len: 10,
        };
        let mut words = [0_u8; 20];
        let place = words.as_mut_ptr();
        let dests = [(place, 5), (place.wrapping_add(5), 15)];
        let mut ranges = [
            open,
            Range {
                region: closed,
                address: 0,
                len: 10,
            },
        ];
        ranges.rotate_left(at % 2);
        // SAFETY: the words stay until the entry below.
        let started = party.insist(|| unsafe { endpoint.read_vector(&ranges, &dests, Context(4)) });
        let end = started.and_then(|()| party.entry().map_err(|failure| failure.error));
        assert_eq!(end.map(drop), Err(Error::NoSuchKey));
        assert!(endpoint.quiet(LIMIT));
        assert_eq!(party.queue.next(), None, "another report");
    }
}

/// Returns how a write of the contract above is refused.
fn write_end(last: &Range<'_>) -> Result<(), Error> {
    match last.region.len() {
        64 => Err(Error::NotAllowed),
        _ if last.address == 0 => Err(Error::NoSuchPeer),
        _ => Err(Error::OutOfRange),
    }
}

/// Moves more parts than rings, queues and tables have room for: one report when all are done.
pub(crate) fn wait_for_room(way: Way) {
    const MANY: usize = 2500;
    const EACH: usize = 3;
    check(way, 2, |party| {
        let own = Own::open(party);
        let peer = 1 - party.rank;
        let regions = regions(party, peer);
        let data = bytes(MANY * EACH, u64::from(party.rank));
        let pieces = [
            (data.as_ptr(), 1),
            (data.as_ptr().wrapping_add(1), data.len() - 1),
        ];
        for (at, key) in [ARENA, FOREIGN].into_iter().enumerate() {
            let ranges: Vec<_> = (0..MANY).map(|at| (key, at * 8, EACH)).collect();
            let ranges = ranges_of(&regions, &ranges);
            // SAFETY: the pieces stay until the entry below.
            let started = party.insist(|| unsafe {
                let report = CountedContext(at as u64);
                party.endpoint.write_vector(&ranges, &pieces, report)
            });
            started.unwrap();
            expect_end(party, (Operation::Write, data.len(), at as u64), || {});
            assert_eq!(party.config.done.read(), at as u64 + 1);
        }
        party.meet();
        let data = bytes(MANY * EACH, u64::from(peer));
        for there in &own.bytes()[..2] {
            for (at, word) in there.chunks_exact(8).take(MANY).enumerate() {
                assert_eq!(word[..EACH], data[at * EACH..][..EACH]);
                assert_eq!(word[EACH..], [0; 8 - EACH]);
            }
        }
        party.meet();
    });
}

/// Does atomic operations on several words at a time, by all parties at once.
pub(crate) fn of_words_add_up(way: Way) {
    const ROUNDS: u64 = 20;
    check(way, 3, |party| {
        let own = Own::open(party);
        let regions = regions(party, 0);
        let endpoint = &party.endpoint;
        let mut found = [77_u64; 5];
        let dests = found
            .each_mut()
            .map(|word| std::ptr::from_mut(word).cast::<u8>());
        let words = |last: u64| {
            let at = [(0, 0), (1, 8), (0, 16), (2, 24), (1, last)];
            let words = at.into_iter().zip(dests);
            let words = words.map(|((region, at), found): ((usize, u64), _)| Word {
                region: &regions[region].0,
                address: regions[region].1 + at,
                operand: at + 1,
                comparand: 0,
                found,
            });
            words.collect::<Vec<_>>()
        };
        let add = |last, bytes, report| {
            // SAFETY: the words stay until the entries below.
            party.insist(|| unsafe {
                endpoint.fetch_atomics(&words(last), bytes, Atomic::Add, CountedContext(report))
            })
        };
        assert_eq!(add(36, 8, 0), Err(Error::Misaligned));
        assert_eq!(add(LEN as u64, 8, 0), Err(Error::OutOfRange));
        assert_eq!(add(8, 2, 0), Err(Error::TooLong));
        party.meet();
        for round in 1..=ROUNDS {
            add(32, 8, round).unwrap();
            expect_end(party, (Operation::Atomic, 40, round), || {});
        }
        assert_eq!(party.config.done.read(), ROUNDS);
        party.meet();
        // SAFETY: the words are there, and were reported.
        let sums = dests.map(|word| unsafe { word.cast::<u64>().read() });
        for (sum, step) in sums.into_iter().zip([1, 9, 17, 25, 33]) {
            assert!(
                sum.is_multiple_of(step) && sum < 3 * ROUNDS * step,
                "{sums:?}"
            );
        }
        if party.rank == 0 {
            let all = own.bytes();
            let word = |region: usize, at: usize| {
                u64::from_ne_bytes(all[region][at..at + 8].try_into().unwrap())
            };
            let sums = [
                word(0, 0),
                word(1, 8),
                word(0, 16),
                word(2, 24),
                word(1, 32),
            ];
            assert_eq!(sums, [1, 9, 17, 25, 33].map(|step| step * 3 * ROUNDS));
            assert_eq!(own.memory.word(1).load(Ordering::Acquire), 0);
        }
        party.meet();
    });
}

/// Checks that messages of pieces come to pieces, cut elsewhere.
pub(crate) fn of_messages_arrive(way: Way) {
    check(way, 2, |party| {
        let endpoint = &party.endpoint;
        let lengths = [0, 1, 50, 7000, 16_000, 70_000, 200_000];
        let guard = 8;
        for (at, &len) in lengths.iter().enumerate() {
            for round in 0..4 {
                let number = (at * 4 + round) as u64;
                let mut draw = Draw(number + 1);
                let (cuts, places) = (draw.cut(len), draw.cut(len));
                let message = bytes(len, number);
                let data = (round % 2 == 1).then_some(number);
                let level = [Level::Free, Level::Delivered][round / 2];
                if party.rank == 0 {
                    let (mut pieces, mut at) = (Vec::new(), 0);
                    for cut in cuts {
                        pieces.push((message.as_ptr().wrapping_add(at), cut));
                        at += cut;
                    }
                    // SAFETY: the pieces stay until the entry below.
                    let sent = party.insist(|| unsafe {
                        endpoint.send_vector(1, &pieces, data, level, Context(number))
                    });
                    sent.unwrap();
                    expect_end(party, (Operation::Send, len, number), || {});
                    continue;
                }
                let mut memory = vec![0xee_u8; len + guard * places.len()];
                let (mut pieces, mut at) = (Vec::new(), 0);
                for &place in &places {
                    pieces.push((memory.as_mut_ptr().wrapping_add(at), place));
                    at += place + guard;
                }
                // SAFETY: the pieces stay until the entry below.
                unsafe {
                    endpoint
                        .post_receive_vector(&pieces, number, Some(0))
                        .unwrap()
                };
                let entry = party.entry().unwrap();
                assert_eq!((entry.operation, entry.len), (Operation::Receive, len));
                assert_eq!((entry.context, entry.data), (number, data));
                assert!(entry.is_last && entry.offset == 0);
                let (mut at, mut from) = (0, 0);
                for place in places {
                    let (piece, behind) = memory[at..at + place + guard].split_at(place);
                    assert!(
                        piece == &message[from..from + place],
                        "{len}, round {round}"
                    );
                    assert!(behind.iter().all(|byte| *byte == 0xee));
                    (at, from) = (at + place + guard, from + place);
                }
            }
        }
        party.meet();
    });
}

/// Checks that the rest of messages that are longer than their pieces is cut, and that nothing
/// behind the pieces changes; pieces that are taken back get nothing.
pub(crate) fn of_messages_are_cut(way: Way) {
    check(way, 2, |party| {
        let endpoint = &party.endpoint;
        for (context, len) in [(1, 30_usize), (2, 400_000)] {
            let mut ends = [0xee_u8; 16];
            let place = ends.as_mut_ptr();
            if party.rank == 0 {
                let message = bytes(len, 3);
                // SAFETY: the pieces stay until the entry below.
                let sent = party.insist(|| unsafe {
                    let half = len / 2;
                    let behind = message.as_ptr().wrapping_add(half);
                    let pieces = [(message.as_ptr(), half), (behind, len - half)];
                    endpoint.send_vector(1, &pieces, None, told_of_cuts(len), Context(context))
                });
                sent.unwrap();
                assert_eq!(party.entry().unwrap_err().error, Error::Truncated);
                continue;
            }
            let pieces = [(place, 3), (place.wrapping_add(8), 4)];
            // SAFETY: the pieces stay until the entry below, or are taken back.
            unsafe {
                endpoint.post_receive_vector(&pieces, 9, Some(1)).unwrap();
                assert!(endpoint.cancel_receive(9) && !endpoint.cancel_receive(9));
                endpoint
                    .post_receive_vector(&pieces, context, None)
                    .unwrap();
            }
            let failure = party.entry().unwrap_err();
            assert_eq!(
                (failure.error, failure.entry.context),
                (Error::Truncated, context)
            );
            let (head, stored) = (bytes(len, 3), failure.entry.len);
            assert_eq!((stored, failure.cut), (7, len - 7));
            assert_eq!((&ends[..3], &ends[8..12]), (&head[..3], &head[3..7]));
            assert_eq!((&ends[3..8], &ends[12..]), (&[0xee; 5][..], &[0xee; 4][..]));
        }
        party.meet();
    });
}
