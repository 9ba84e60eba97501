//! Regions: written and read by peers, within their bounds and rights, until they are closed.

#![expect(unsafe_code, reason = "regions are raw memory")]

use super::{LIMIT, Party, Way, bytes, check};
use fi_provider::raw::completion::{Context, Counted, Operation};
use fi_provider::raw::endpoint::{Level, Posted, RemoteRegion};
use fi_provider::raw::error::Error;
use fi_provider::raw::region::{Addressing, Rights};

const LEN: usize = 1 << 20;
const ARENA: u64 = 1;
const FOREIGN: u64 = 2;
const VIRTUAL: u64 = 3;

/// Opens the three regions and runs `body`, in which peers use them.
fn with_regions(way: Way, body: impl Fn(&Party<'_>, &[*mut u8; 3]) + Sync) {
    check(way, 3, |party| {
        let domain = &party.domain;
        let arena = domain.allocate(LEN, Rights::ALL, Some(ARENA), Addressing::Offset);
        let arena = arena.unwrap();
        let mut own = [vec![0_u8; LEN], vec![0_u8; LEN]];
        let places = [arena.as_ptr(), own[0].as_mut_ptr(), own[1].as_mut_ptr()];
        // SAFETY: both are mapped until the regions are dropped, before them.
        let regions = unsafe {
            [
                domain.register(
                    places[1],
                    LEN,
                    Rights::ALL,
                    Some(FOREIGN),
                    Addressing::Offset,
                ),
                domain.register(
                    places[2],
                    LEN,
                    Rights::ALL,
                    Some(VIRTUAL),
                    Addressing::Virtual,
                ),
            ]
        };
        assert!(regions.iter().all(Result::is_ok));
        // Peers give the address of the one by which they may.
        party.meeting.tell(party.rank, places[2].addr() as u64);
        party.meet();
        body(party, &places);
        party.meet();
    });
}

/// Returns the address of the first byte of a region of `peer` for an operation.
fn start(party: &Party<'_>, peer: u32, key: u64) -> u64 {
    if key == VIRTUAL {
        party.meeting.told(peer)
    } else {
        0
    }
}

fn write(party: &Party<'_>, region: &RemoteRegion, address: u64, bytes: &[u8]) {
    let (source, len) = (bytes.as_ptr(), bytes.len());
    // SAFETY: the bytes stay until quiet.
    party
        .insist(|| unsafe { party.endpoint.write(region, address, source, len, Counted) })
        .unwrap();
    assert!(party.endpoint.quiet(LIMIT));
}

fn read(party: &Party<'_>, region: &RemoteRegion, address: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0xee; len];
    let dest = bytes.as_mut_ptr();
    // SAFETY: the bytes stay until quiet.
    party
        .insist(|| unsafe { party.endpoint.read(region, address, dest, len, Counted) })
        .unwrap();
    assert!(party.endpoint.quiet(LIMIT));
    bytes
}

/// Returns how the read of a byte ends: a device tells of a refusal when it has tried.
fn end_of_read(party: &Party<'_>, region: &RemoteRegion) -> Result<(), Error> {
    let mut byte = 0;
    party.insist(|| {
        // SAFETY: the byte stays until the entry below.
        unsafe { party.endpoint.read(region, 0, &raw mut byte, 1, Context(5)) }
    })?;
    party.entry().map_err(|failure| failure.error).map(drop)
}

/// Writes and reads regions of each kind, at the next party: bytes of all lengths, also the last
/// ones.
pub(crate) fn is_written_and_read(way: Way) {
    with_regions(way, |party, places| {
        let peer = (party.rank + 1) % party.parties;
        for (key, _) in (1..).zip(places) {
            let region = party.insist(|| party.endpoint.resolve(peer, key)).unwrap();
            let is_mapped = key == ARENA && way.is_near(party.rank, peer);
            assert_eq!((region.len(), region.is_mapped()), (LEN, is_mapped));
            let first = start(party, peer, key);
            let mut count = 0;
            for (at, len) in (0..70).map(|len| (len * 101, len)).chain([
                (0, 5000),
                (8192, 70_000),
                (LEN - 1, 1),
                (3, LEN - 3),
                (LEN, 0),
            ]) {
                let own = bytes(len, key << 32 | len as u64);
                write(party, &region, first + at as u64, &own);
                assert!(
                    read(party, &region, first + at as u64, len) == own,
                    "{key}: {len} at {at}"
                );
                count += 2;
            }
            let before = 2 * 75 * (key - 1);
            assert_eq!(party.config.done.read() - before, count);
        }
        party.meet();
        for (key, place) in (1_u64..).zip(places) {
            let len = LEN - 3;
            // SAFETY: the region is this party's, and nobody writes it now.
            let there = unsafe { std::slice::from_raw_parts(place.add(3), len) };
            assert!(there == bytes(len, key << 32 | len as u64), "{key}");
        }
    });
}

/// Tries ranges outside, accesses that are not allowed, keys that are not there.
pub(crate) fn has_bounds_and_rights(way: Way) {
    with_regions(way, |party, _| {
        let peer = (party.rank + 1) % party.parties;
        let endpoint = &party.endpoint;
        for key in [ARENA, FOREIGN, VIRTUAL] {
            let region = party.insist(|| endpoint.resolve(peer, key)).unwrap();
            let first = start(party, peer, key);
            let inject =
                |at: u64| endpoint.inject_write(&region, first.wrapping_add(at), &[1, 2], Counted);
            for wrong in [LEN as u64 - 1, LEN as u64 + 1, u64::MAX, u64::MAX - 1] {
                assert_eq!(inject(wrong), Err(Error::OutOfRange), "{key}: {wrong:#x}");
            }
        }
        let missing = party.insist(|| endpoint.resolve(peer, 77)).map(drop);
        assert_eq!(missing, Err(Error::NoSuchKey));
        assert_eq!(endpoint.resolve(9, 1).map(drop), Err(Error::NoSuchPeer));

        let guarded = party
            .domain
            .allocate(64, Rights::READ, Some(80), Addressing::Offset);
        let guarded = guarded.unwrap();
        let taken = party
            .domain
            .allocate(64, Rights::READ, Some(80), Addressing::Offset);
        assert_eq!(taken.map(drop), Err(Error::KeyTaken));
        party.meet();
        let region = party.insist(|| endpoint.resolve(peer, 80)).unwrap();
        assert_eq!(
            endpoint.inject_write(&region, 0, &[1], Counted),
            Err(Error::NotAllowed)
        );
        assert_eq!(read(party, &region, 60, 4), [0; 4]);
        party.meet();
        drop(guarded);
        party.meet();
        let refused = end_of_read(party, &region);
        assert_eq!(refused, Err(Error::NoSuchKey), "closed");
        let again = party
            .domain
            .allocate(64, Rights::ALL, Some(80), Addressing::Offset);
        let again = again.unwrap();
        again.word(0).store(5, std::sync::atomic::Ordering::Release);
        party.meet();
        let refused = end_of_read(party, &region);
        assert_eq!(refused, Err(Error::NoSuchKey), "another region");
        let region = party.insist(|| endpoint.resolve(peer, 80)).unwrap();
        assert_eq!(read(party, &region, 0, 8), 5_u64.to_ne_bytes());
        party.meet();
    });
}

/// Checks that an access to a region that is closed fails, and those behind it are done, each once.
pub(crate) fn fails_alone_where_it_is_closed(way: Way) {
    const MANY: u64 = 20;
    check(way, 2, |party| {
        let (peer, endpoint) = (1 - party.rank, &party.endpoint);
        let open = |key| {
            let (rights, addressing) = (Rights::ALL, Addressing::Offset);
            let memory = party.domain.allocate(4096, rights, Some(key), addressing);
            memory.unwrap()
        };
        let (closed, kept) = (open(1), open(2));
        party.meet();
        let [gone, there] = [1, 2].map(|key| party.insist(|| endpoint.resolve(peer, key)).unwrap());
        party.meet();
        drop(closed);
        party.meet();
        for round in 0..3 {
            let mut expected = 0;
            // A region that was found closed is refused at once from then on.
            let write = |region: &RemoteRegion, at: u64, context| {
                endpoint.inject_write(region, at, &(at + round).to_le_bytes(), Context(context))
            };
            let mut failed = usize::from(party.insist(|| write(&gone, 0, 1000)).is_err());
            for at in 1..=MANY {
                assert_eq!(party.insist(|| write(&there, 8 * at, at)), Ok(()));
                expected += 1;
            }
            for _ in 0..MANY + 1 - failed as u64 {
                match party.entry() {
                    Ok(entry) => {
                        assert!((1..=MANY).contains(&entry.context));
                        expected -= 1;
                    }
                    Err(failure) => {
                        assert_eq!(failure.error, Error::NoSuchKey);
                        assert_eq!(failure.entry.context, 1000);
                        failed += 1;
                    }
                }
            }
            assert_eq!((failed, expected), (1, 0), "round {round}");
            party.meet();
            for at in 1..=MANY {
                let word = kept.word(at as usize);
                let word = word.load(std::sync::atomic::Ordering::Acquire);
                assert_eq!(word, 8 * at + round);
            }
            party.meet();
        }
    });
}

/// Checks that words that are read behind a refused access come to their places, with any reads
/// meanwhile.
pub(crate) fn brings_words_behind_a_refused_access(way: Way) {
    const MANY: usize = 60;
    const AT_ONCE: usize = 20;
    check(way, 2, |party| {
        let (peer, endpoint) = (1 - party.rank, &party.endpoint);
        let open = |key| {
            let (rights, addressing) = (Rights::ALL, Addressing::Offset);
            let memory = party.domain.allocate(4096, rights, Some(key), addressing);
            memory.unwrap()
        };
        let (closed, kept) = (open(1), open(2));
        let value = |at: usize, rank: u32| (at as u64) << 8 | u64::from(rank);
        for at in 0..MANY {
            let word = kept.word(at);
            word.store(value(at, party.rank), std::sync::atomic::Ordering::Release);
        }
        party.meet();
        let [gone, there] = [1, 2].map(|key| party.insist(|| endpoint.resolve(peer, key)).unwrap());
        // The accesses below are not the first ones of a queue.
        for at in 0..30 {
            let write = || endpoint.inject_write(&there, 2048 + 8 * at, &[2; 8], Counted);
            party.insist(write).unwrap();
        }
        assert!(endpoint.quiet(LIMIT));
        party.meet();
        drop(closed);
        party.meet();
        let mut words = [u64::MAX; MANY];
        let word = words.as_mut_ptr();
        let mut asked = 0;
        let mut read_some = || {
            let end = MANY.min(asked + AT_ONCE);
            while asked < end {
                let at = asked;
                let (from, to) = (8 * at as u64, word.wrapping_add(at).cast());
                let report = Context(at as u64);
                // SAFETY: the word stays until the entry below.
                if unsafe { endpoint.read(&there, from, to, 8, report) } == Err(Error::Again) {
                    return;
                }
                asked = at + 1;
            }
        };
        let write = || endpoint.inject_write(&gone, 0, &[1; 8], Context(1000));
        let mut left = MANY + usize::from(party.insist(write).is_ok());
        while left > 0 {
            read_some();
            endpoint.progress();
            while let Some(entry) = party.queue.next() {
                left -= 1;
                match entry {
                    Ok(entry) => assert!(entry.context < MANY as u64),
                    Err(failure) => assert_eq!(
                        (failure.error, failure.entry.context),
                        (Error::NoSuchKey, 1000)
                    ),
                }
            }
            party.meeting.give_up_if_failed();
        }
        for (at, word) in words.iter().enumerate() {
            assert_eq!(*word, value(at, peer), "word {at}");
        }
        party.meet();
    });
}

/// Checks that an operation by key goes to the region that the peer has under it now.
pub(crate) fn is_found_by_key_again(way: Way) {
    check(way, 2, |party| {
        let peer = 1 - party.rank;
        let endpoint = &party.endpoint;
        let open = |key| {
            let memory = party
                .domain
                .allocate(64, Rights::ALL, Some(key), Addressing::Offset);
            memory.unwrap()
        };
        // Two keys at one place, in turns, and one that is kept.
        let mut memories = [open(7), open(7 + 256), open(9)];
        let mut plugs = Vec::new();
        for round in 1..20_u64 {
            party.meet();
            for key in [7, 7 + 256, 9] {
                let bytes = (round << 32 | key).to_le_bytes();
                let done = party.insist(|| {
                    endpoint.on_region(peer, key, |region| {
                        endpoint.inject_write(region, 8, &bytes, Counted)
                    })
                });
                assert_eq!(done, Ok(()), "key {key} in round {round}");
            }
            assert!(endpoint.quiet(LIMIT));
            party.meet();
            for (memory, key) in memories.iter_mut().zip([7, 7 + 256, 9]) {
                let word = memory.word(1).load(std::sync::atomic::Ordering::Acquire);
                assert_eq!(word, round << 32 | key);
                if round % 3 == 0 {
                    // The old one is closed before the new one is opened.
                    let gap = open(1000);
                    drop(std::mem::replace(memory, gap));
                    // A device may give the key of its own that became free to the next region.
                    plugs.push(open(2000 + plugs.len() as u64));
                    *memory = open(key);
                }
            }
        }
        party.meet();
        let missing = party.insist(|| endpoint.on_region(peer, 8, |_| Ok(())));
        assert_eq!(missing, Err(Error::NoSuchKey));
        drop(memories);
        party.meet();
        let closed = party.insist(|| {
            endpoint.on_region(peer, 7, |region| {
                endpoint.inject_write(region, 0, &[1], Context(6))
            })
        });
        let closed = closed.and_then(|()| party.entry().map_err(|failure| failure.error));
        assert_eq!(closed.map(drop), Err(Error::NoSuchKey));
    });
}

/// Checks that each write is reported, and counted by regions that count, where the regions of
/// several peers were opened anew at about the same time, so that look-ups of keys for one queue
/// meet the failures of others.
pub(crate) fn is_opened_anew_by_several_peers(way: Way) {
    const ROUNDS: u64 = 60;
    check(way, 4, |party| {
        let endpoint = &party.endpoint;
        let open = |key, rights| {
            let addressing = Addressing::Offset;
            let memory = party.domain.allocate(64, rights, Some(key), addressing);
            memory.unwrap()
        };
        let peers: Vec<_> = match party.rank {
            0 => party.others().collect(),
            _ => Vec::new(),
        };
        let (mut plugs, mut all) = (Vec::new(), 0);
        let mut memory = open(ARENA, Rights::ALL);
        for round in 1..=ROUNDS {
            party.meet();
            // The one before counts, this one, both or none.
            let is_counted = round / 2 % 2 == 1;
            let rights = match is_counted {
                true => Rights::ALL.and(Rights::COUNTED),
                false => Rights::ALL,
            };
            if party.rank != 0 {
                let gap = open(FOREIGN, Rights::ALL);
                drop(std::mem::replace(&mut memory, gap));
                // A device may give the key of its own that became free to the next region.
                plugs.push(open(2000 + round, Rights::ALL));
                memory = open(ARENA, rights);
            }
            party.meet();
            // Some of them behind others to the same region.
            let many = 1 + round % 3;
            let mut posted = 0;
            for turn in 0..peers.len() {
                let peer = peers[(turn + round as usize) % peers.len()];
                for at in 1..=many {
                    let write = |region: &RemoteRegion| {
                        let bytes = (round << 8 | at).to_le_bytes();
                        endpoint.inject_write(region, 8 * at, &bytes, Context(posted))
                    };
                    let by_key = || endpoint.on_region(peer, ARENA, write);
                    party.insist(by_key).unwrap();
                    posted += 1;
                }
                // A look-up behind a write that is refused is not done.
                if round % 4 == 0 {
                    let found = endpoint.resolve(peer, ARENA);
                    assert!(matches!(found, Ok(_) | Err(Error::Again)), "{found:?}");
                }
                // The others fail behind it, by so many turns.
                for _ in 0..round / 3 * turn as u64 {
                    endpoint.progress();
                }
            }
            let mut done: Vec<_> = (0..posted)
                .map(|_| party.entry().unwrap().context)
                .collect();
            done.sort_unstable();
            assert!(done.into_iter().eq(0..posted), "round {round}");
            // Also the counts of writes that were begun when the region was not counted.
            assert!(endpoint.quiet(LIMIT));
            party.meet();
            for at in (1..=many).filter(|_| party.rank != 0) {
                let word = memory.word(at as usize);
                let word = word.load(std::sync::atomic::Ordering::Acquire);
                assert_eq!(word, round << 8 | at);
            }
            let counted = if is_counted && party.rank != 0 {
                many
            } else {
                0
            };
            assert_eq!(memory.accesses().writes, counted, "round {round}");
            all += counted;
        }
        assert_eq!(party.domain.accesses().writes, all, "of closed ones, too");
    });
}

/// Checks that a write which was begun on a region that does not count is counted by the one that is
/// opened anew, where as many operations wait for the peer as may.
pub(crate) fn counts_when_opened_anew_behind_many(way: Way) {
    const MOST: u32 = 1024;
    check(way, 2, |party| {
        let (peer, endpoint) = (1 - party.rank, &party.endpoint);
        let open = |key, rights| {
            let addressing = Addressing::Offset;
            let memory = party.domain.allocate(64, rights, Some(key), addressing);
            memory.unwrap()
        };
        let mut memory = open(ARENA, Rights::ALL);
        party.meet();
        let write = |number: u64| {
            let write = |region: &RemoteRegion| {
                endpoint.inject_write(region, 8 * number, &number.to_le_bytes(), Counted)
            };
            endpoint.on_region(peer, ARENA, write)
        };
        if party.rank == 0 {
            party.insist(|| write(0)).unwrap();
            assert!(endpoint.quiet(LIMIT));
        }
        party.meet();
        if party.rank == 1 {
            let gap = open(FOREIGN, Rights::ALL);
            drop(std::mem::replace(&mut memory, gap));
            // A device may give the key of its own that became free to the next region.
            let _plug = open(2000, Rights::ALL);
            memory = open(ARENA, Rights::ALL.and(Rights::COUNTED));
        }
        party.meet();
        let message = [7; 8];
        let mut sent = 0;
        if party.rank == 0 {
            // Messages that wait until they are received, to the last one that there is room for.
            let mut send = || {
                let level = Level::Matched;
                // SAFETY: the message stays until all are received, below.
                unsafe {
                    endpoint.send(peer, message.as_ptr(), message.len(), None, level, Counted)
                }
            };
            while sent < MOST {
                party.insist(&mut send).unwrap();
                sent += 1;
            }
            assert_eq!(send(), Err(Error::Again), "more than {MOST} may wait");
            party.insist(|| write(1)).unwrap();
            // It is done, though no message is received.
            let done = endpoint.wait(LIMIT, || party.config.done.read() > 1);
            assert!(done, "the write is repeated");
        }
        party.meet();
        if party.rank == 1 {
            let word = memory.word(1).load(std::sync::atomic::Ordering::Acquire);
            assert_eq!(word, 1);
            let mut room = [0; 8];
            for number in 0..MOST {
                let posted = Posted {
                    context: u64::from(number),
                    source: None,
                    least: None,
                };
                // SAFETY: the buffer stays until the entry.
                unsafe { endpoint.post_receive(room.as_mut_ptr(), room.len(), posted) };
                assert_eq!(party.entry().unwrap().context, u64::from(number));
            }
        }
        assert!(endpoint.quiet(LIMIT));
        party.meet();
        assert_eq!(memory.accesses().writes, u64::from(party.rank));
    });
}

/// Checks that a key leads to the region that is opened anew, however often an access by it was
/// refused before.
pub(crate) fn is_opened_anew_without_end(way: Way) {
    const ROUNDS: u64 = 600;
    check(way, 2, |party| {
        let (peer, endpoint) = (1 - party.rank, &party.endpoint);
        let open = |key| {
            let (rights, addressing) = (Rights::ALL, Addressing::Offset);
            let memory = party.domain.allocate(64, rights, Some(key), addressing);
            memory.unwrap()
        };
        let mut memory = open(ARENA);
        let mut plug = open(2000);
        for round in 1..=ROUNDS {
            party.meet();
            if party.rank == 1 {
                let gap = open(FOREIGN);
                drop(std::mem::replace(&mut memory, gap));
                // A device may give the key of its own that became free to the next region.
                plug = open(2000 + round % 2);
                memory = open(ARENA);
            }
            party.meet();
            if party.rank == 0 {
                let write = |region: &RemoteRegion| {
                    endpoint.inject_write(region, 8, &round.to_le_bytes(), Counted)
                };
                let written = party.insist(|| endpoint.on_region(peer, ARENA, write));
                assert_eq!(written, Ok(()), "round {round}");
                assert!(endpoint.quiet(LIMIT), "round {round}");
            }
            party.meet();
            if party.rank == 1 {
                let word = memory.word(1).load(std::sync::atomic::Ordering::Acquire);
                assert_eq!(word, round, "round {round}");
            }
        }
        drop(plug);
        assert_eq!(party.config.done.read_failed(), 0);
    });
}

/// Checks that an entry tells the peer, with data, when the bytes are there.
pub(crate) fn tells_of_writes_with_data(way: Way) {
    const ROUNDS: u64 = 300;
    with_regions(way, |party, places| {
        let peer = (party.rank + 1) % party.parties;
        let from = (party.rank + party.parties - 1) % party.parties;
        for key in [ARENA, FOREIGN] {
            let region = party.insist(|| party.endpoint.resolve(peer, key)).unwrap();
            for round in 0..ROUNDS {
                let own = bytes(100, round);
                let report = Context(round);
                // SAFETY: the bytes stay until the entry below.
                party
                    .insist(|| unsafe {
                        let source = (own.as_ptr(), own.len());
                        party
                            .endpoint
                            .write_with_data(&region, 8, source, round | 1 << 62, report)
                    })
                    .unwrap();
                let mut left = [true; 2];
                while left != [false; 2] {
                    let entry = party.entry().unwrap();
                    if entry.operation == Operation::Write {
                        assert_eq!((entry.context, entry.len), (round, 100));
                        left[0] = false;
                    } else {
                        assert_eq!(entry.operation, Operation::RemoteWrite);
                        assert_eq!((entry.source, entry.len), (Some(from), 100));
                        assert_eq!(entry.data, Some(round | 1 << 62));
                        // SAFETY: the region is this party's, and the writer waits below.
                        let there = unsafe {
                            std::slice::from_raw_parts(places[key as usize - 1].add(8), 100)
                        };
                        assert!(there == bytes(100, round));
                        left[1] = false;
                    }
                }
                party.meet();
            }
        }
    });
}

/// Writes that nobody makes progress between until one is refused are all reported.
pub(crate) fn is_written_until_it_is_refused(way: Way) {
    const MANY: u64 = 1000;
    with_regions(way, |party, places| {
        let (endpoint, done) = (&party.endpoint, &party.config.done);
        let peer = (party.rank + 1) % party.parties;
        let region = party.insist(|| endpoint.resolve(peer, FOREIGN)).unwrap();
        // In line, and not.
        for len in [8, 100] {
            let before = done.read();
            for number in 0..MANY {
                let own = bytes(len, number);
                let write = || endpoint.inject_write(&region, number * 128, &own, Counted);
                let written = match write() {
                    Err(Error::Again) => party.insist(write),
                    written => written,
                };
                written.unwrap();
            }
            assert!(endpoint.quiet(LIMIT));
            assert_eq!(done.read() - before, MANY, "of {len} bytes");
            party.meet();
            for number in 0..MANY as usize {
                // SAFETY: the region is this party's, and nobody writes it now.
                let there = unsafe {
                    let place = places[FOREIGN as usize - 1].add(number * 128);
                    std::slice::from_raw_parts(place, len)
                };
                assert!(there == bytes(len, number as u64));
            }
            party.meet();
        }
    });
}
