//! Counts of the accesses of peers to a region.

#![expect(unsafe_code, reason = "regions are raw memory")]

use super::{LIMIT, Party, Way, bytes, check};
use fi_provider::raw::completion::{Context, Counted, CountedContext, Operation};
use fi_provider::raw::endpoint::{Atomic, Range, RemoteRegion};
use fi_provider::raw::error::Error;
use fi_provider::raw::region::{Accesses, Addressing, Memory, Rights};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const LEN: usize = 100_000;
const ARENA: u64 = 1;
const FOREIGN: u64 = 2;
const PLAIN: u64 = 3;

fn allocate(party: &Party<'_>, rights: Rights, key: u64) -> Memory {
    let memory = party
        .domain
        .allocate(LEN, rights, Some(key), Addressing::Offset);
    memory.unwrap()
}

fn accesses(writes: u64, reads: u64) -> Accesses {
    Accesses { writes, reads }
}

/// Does each kind of access once: 6 writes, among them one of two pieces and one of two
/// ranges, and 5 reads, two of them likewise.
fn access_in_all_ways(party: &Party<'_>, region: &RemoteRegion) {
    let endpoint = &party.endpoint;
    let data = bytes(70_000, 1);
    let mut back = vec![0; 70_000];
    let (source, dest) = (data.as_ptr(), back.as_mut_ptr());
    let mut word = 0_u64;
    let (rights, addressing) = (Rights::READ, Addressing::Offset);
    let scratch = party
        .domain
        .allocate(LEN, rights, None, addressing)
        .unwrap();
    // SAFETY: the memory stays until the operations are reported.
    unsafe {
        let short = || endpoint.inject_write(region, 0, &data[..8], Context(0));
        party.insist(short).unwrap();
        let long = || endpoint.write(region, 0, source, data.len(), Context(0));
        party.insist(long).unwrap();
        let told = || endpoint.write_with_data(region, 0, (source, 100), 7, Context(0));
        party.insist(told).unwrap();
        let range = Range {
            region,
            address: 0,
            len: 70_000,
        };
        // Of memory that a device takes by one entry elsewhere.
        let registered = scratch.as_ptr().cast_const();
        source.copy_to(scratch.as_ptr(), data.len());
        let pieces = [(registered, 30_000), (registered.add(30_000), 40_000)];
        let vector = || endpoint.write_vector(&[range], &pieces, Context(0));
        party.insist(vector).unwrap();
        let halves = [(0, 30_000), (30_000, 40_000)].map(|(address, len)| Range {
            region,
            address,
            len,
        });
        let pieces = [(source, 20_000), (source.add(20_000), 50_000)];
        let scattered = || endpoint.write_vector(&halves, &pieces, Context(0));
        party.insist(scattered).unwrap();
        let found = (&raw mut word).cast();
        let update =
            || endpoint.fetch_atomic(region, (70_000, 8), Atomic::Add, (1, 0), found, Context(0));
        party.insist(update).unwrap();
        let writes = (0..7).map(|_| party.entry().unwrap().operation);
        let told = writes.filter(|operation| *operation == Operation::RemoteWrite);
        assert_eq!(told.count(), 1, "and one report of each");
        for len in [8, 100, 70_000] {
            let read = || endpoint.read(region, 0, dest, len, Context(0));
            party.insist(read).unwrap();
            assert_eq!(party.entry().unwrap().operation, Operation::Read);
        }
        let pieces = [(dest, 20_000), (dest.add(20_000), 50_000)];
        for ranges in [&[range][..], &halves] {
            let read = || endpoint.read_vector(ranges, &pieces, Context(0));
            party.insist(read).unwrap();
            assert_eq!(party.entry().unwrap().operation, Operation::Read);
        }
    }
    assert!(endpoint.quiet(LIMIT));
    assert_eq!(party.queue.next(), None, "another report");
    assert!(back == data);
}

/// Checks that entries of single operations are taken by calls that make progress besides, in their
/// order, and counted where that is asked for: over the ends of rings and queues.
pub(crate) fn end_one_by_one(way: Way) {
    const ROUNDS: u64 = 1500;
    check(way, 2, |party| {
        let (peer, endpoint) = (1 - party.rank, &party.endpoint);
        let _own = allocate(party, Rights::ALL, ARENA);
        party.meet();
        let region = party.insist(|| endpoint.resolve(peer, ARENA)).unwrap();
        let before = party.config.done.read();
        let next = || {
            let mut entry = None;
            let start = std::time::Instant::now();
            while entry.is_none() {
                entry = endpoint.next(&party.queue);
                party.meeting.give_up_if_failed();
                assert!(start.elapsed() < LIMIT, "no entry in {LIMIT:?}");
            }
            entry.expect("an entry").unwrap()
        };
        for round in 0..ROUNDS {
            let mut word = 0_u64;
            let place = (&raw mut word).cast();
            let value = round.to_ne_bytes();
            let post = |report| {
                party
                    .insist(|| endpoint.inject_write(&region, 8, &value, report))
                    .unwrap();
            };
            post(Context(round));
            let entry = next();
            assert_eq!((entry.context, entry.operation), (round, Operation::Write));
            let report = CountedContext(round);
            // SAFETY: the word stays until each operation is reported.
            unsafe {
                let write = || endpoint.inject_write(&region, 8, &value, report);
                party.insist(write).unwrap();
                // Two may be under way at a time.
                if round % 3 == 0 {
                    post(Context(round + 1));
                }
                let entry = next();
                assert_eq!((entry.context, entry.len), (round, 8));
                if round % 3 == 0 {
                    assert_eq!(next().context, round + 1);
                }
                let read = || endpoint.read(&region, 8, place, 8, report);
                party.insist(read).unwrap();
                let entry = next();
                assert_eq!((entry.context, entry.operation), (round, Operation::Read));
                assert_eq!(word, round, "what was written");
                let add =
                    || endpoint.fetch_atomic(&region, (0, 8), Atomic::Add, (1, 0), place, report);
                party.insist(add).unwrap();
                assert_eq!(next().operation, Operation::Atomic);
                assert_eq!(word, round, "additions before");
            }
        }
        assert_eq!(party.config.done.read() - before, 3 * ROUNDS);
        assert_eq!(endpoint.next(&party.queue), None, "another report");
        party.meet();
    });
}

/// Writes words to two peers, and looks keys of one of them up between, with no other progress:
/// checks that all writes are counted.
fn write_beside_look_ups(party: &Party<'_>) {
    const ROUNDS: u64 = 400;
    const MOST: u64 = 70;
    let endpoint = &party.endpoint;
    let [one, other] = [1, 2].map(|peer| party.insist(|| endpoint.resolve(peer, ARENA)).unwrap());
    let post = |region, many| {
        let write = |_: &u64| {
            let posted = endpoint.inject_write(region, 0, &[7; 8], Counted);
            assert!(matches!(posted, Ok(()) | Err(Error::Again)), "{posted:?}");
            posted.is_ok()
        };
        (0..many).take_while(write).count() as u64
    };
    for round in 0..ROUNDS {
        let before = party.config.done.read();
        let at = round * 7919;
        let mut posted = post(&one, at % MOST) + post(&other, at / MOST % MOST);
        // The device does them meanwhile.
        std::thread::sleep(Duration::from_millis(2));
        let found = endpoint.resolve(2, ARENA);
        assert!(matches!(found, Ok(_) | Err(Error::Again)), "{found:?}");
        posted += post(&one, at / 3 % MOST);
        let is_over = endpoint.wait(Duration::from_secs(10), || {
            party.config.done.read() - before == posted
        });
        let done = party.config.done.read() - before;
        assert!(is_over, "{done} of {posted} in round {round}");
    }
}

/// Checks that writes in line are counted, whatever look-ups of keys come between them: with queues
/// that are nearly full, to the peer that is asked and to another one.
pub(crate) fn are_counted_beside_look_ups(way: Way) {
    check(way, 3, |party| {
        let _own = allocate(party, Rights::ALL, ARENA);
        party.meet();
        if party.rank == 0 {
            write_beside_look_ups(party);
        }
        party.meet();
    });
}

/// Checks that each access that is done is counted once, of regions that count; refused ones are
/// not.
pub(crate) fn are_counted(way: Way) {
    check(way, 2, |party| {
        let (peer, endpoint) = (1 - party.rank, &party.endpoint);
        let rights = Rights::ALL.and(Rights::COUNTED);
        let arena = allocate(party, rights, ARENA);
        let plain = allocate(party, Rights::ALL, PLAIN);
        let mut own = vec![0_u8; LEN];
        let place = own.as_mut_ptr();
        let register = || {
            let addressing = Addressing::Offset;
            // SAFETY: the bytes are mapped until the region is dropped, before them.
            unsafe {
                party
                    .domain
                    .register(place, LEN, rights, Some(FOREIGN), addressing)
            }
        };
        let foreign = register().unwrap();
        party.meet();
        let mut expected = Accesses::default();
        for (key, region_accesses) in [
            (ARENA, &(|| arena.accesses()) as &dyn Fn() -> Accesses),
            (FOREIGN, &|| foreign.accesses()),
        ] {
            let region = party.insist(|| endpoint.resolve(peer, key)).unwrap();
            for round in 1..=2 {
                access_in_all_ways(party, &region);
                party.meet();
                assert_eq!(region_accesses(), accesses(6 * round, 5 * round));
                party.meet();
            }
            let outside = endpoint.inject_write(&region, LEN as u64, &[1], Counted);
            assert_eq!(outside, Err(Error::OutOfRange));
            let mut word = 0_u64;
            let found = (&raw mut word).cast();
            // SAFETY: nothing is done.
            let misaligned = unsafe {
                endpoint.fetch_atomic(&region, (1, 8), Atomic::Add, (1, 0), found, Counted)
            };
            assert_eq!(misaligned, Err(Error::Misaligned));
            party.meet();
            assert_eq!(region_accesses(), accesses(12, 10));
            expected = accesses(expected.writes + 12, expected.reads + 10);
            assert_eq!(party.domain.accesses(), expected);
            party.meet();
        }
        let region = party.insist(|| endpoint.resolve(peer, PLAIN)).unwrap();
        access_in_all_ways(party, &region);
        party.meet();
        assert_eq!(plain.accesses(), Accesses::default());

        // Another region begins at 0, and is not touched by accesses to the one before.
        let region = party.insist(|| endpoint.resolve(peer, FOREIGN)).unwrap();
        party.meet();
        drop(foreign);
        let foreign = register().unwrap();
        party.meet();
        let refused = party.insist(|| endpoint.inject_write(&region, 0, &[1], Context(3)));
        let refused = refused.and_then(|()| party.entry().map_err(|failure| failure.error));
        assert_eq!(refused.map(drop), Err(Error::NoSuchKey));
        assert!(endpoint.quiet(LIMIT));
        assert_eq!(party.queue.next(), None, "another report");
        party.meet();
        assert_eq!(foreign.accesses(), Accesses::default());
        assert_eq!(party.domain.accesses(), expected, "of closed ones, too");
        party.meet();
    });
}

/// Checks that the bytes of a write that is counted are there.
pub(crate) fn come_behind_the_bytes(way: Way) {
    const ROUNDS: u64 = 300;
    check(way, 2, |party| {
        let (peer, endpoint) = (1 - party.rank, &party.endpoint);
        let rights = Rights::ALL.and(Rights::COUNTED);
        let arena = allocate(party, rights, ARENA);
        let words = [AtomicU64::new(0), AtomicU64::new(0)];
        let addressing = Addressing::Offset;
        let place = words.as_ptr().cast_mut().cast();
        // SAFETY: the words are mapped until the region is dropped, before them.
        let foreign = unsafe {
            party
                .domain
                .register(place, 16, rights, Some(FOREIGN), addressing)
        };
        let foreign = foreign.unwrap();
        party.meet();
        for key in [ARENA, FOREIGN] {
            if party.rank == 0 {
                let region = party.insist(|| endpoint.resolve(peer, key)).unwrap();
                for round in 1..=ROUNDS {
                    let bytes = round.to_le_bytes();
                    let write = || endpoint.inject_write(&region, 8, &bytes, Counted);
                    party.insist(write).unwrap();
                }
                assert!(endpoint.quiet(LIMIT));
            } else {
                let (count, word): (&dyn Fn() -> u64, _) = if key == ARENA {
                    (&|| arena.accesses().writes, arena.word(1))
                } else {
                    (&|| foreign.accesses().writes, &words[1])
                };
                let are_all_there = endpoint.wait(LIMIT, || {
                    let count = count();
                    let word = word.load(Ordering::Acquire);
                    assert!(word >= count, "{count} writes, but {word} in the word");
                    party.meeting.give_up_if_failed();
                    count == ROUNDS
                });
                assert!(are_all_there, "{} are counted", count());
            }
            party.meet();
        }
    });
}
