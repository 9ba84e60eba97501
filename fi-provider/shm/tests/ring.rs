//! Rings between threads and between processes, at the edges of their memory, and with an other
//! side that goes wrong.

#![cfg(not(loom))]
#![expect(unsafe_code, reason = "ends of rings in raw memory, forks")]

use fi_shm::bell::{self, Bells, RINGS_PER_WORD};
use fi_shm::copy::copy;
use fi_shm::ring::{
    self, Broken, HEAD_BYTES, Other, Receiver, SHORT, Sender, max_payload, record_bytes,
};
use fi_shm::segment::{Memfd, Reservation, page_size};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A mapping with pages around it that nobody can access.
struct Guarded {
    space: Reservation,
    memory: *mut u8,
    capacity: usize,
}

/// End of its pages at which a ring lies.
#[derive(Clone, Copy, Debug)]
enum Edge {
    Start,
    End,
}

impl Guarded {
    fn new(capacity: usize, edge: Edge) -> Self {
        let bytes = ring::bytes(capacity);
        let pages = bytes.next_multiple_of(page_size());
        let memory = Memfd::create(c"ring", pages).expect("a memory");
        let space = Reservation::anywhere(pages + 2 * page_size()).expect("addresses");
        space
            .map_shared(page_size(), &memory, 0, pages)
            .expect("mapped");
        let at = match edge {
            Edge::Start => space.base() + page_size(),
            Edge::End => space.base() + page_size() + pages - bytes,
        };
        Self {
            space,
            memory: at as *mut u8,
            capacity,
        }
    }

    fn sender(&self) -> Sender {
        assert!(!self.space.is_empty());
        // SAFETY: a page, or a multiple of 64 before the end of one; mapped until `self` is
        // dropped, zero, and no test makes a second sender.
        unsafe { Sender::new(self.memory, self.capacity) }
    }

    fn receiver(&self) -> Receiver {
        // SAFETY: a page, or a multiple of 64 before the end of one; mapped until `self` is
        // dropped, zero, and no test makes a second receiver.
        unsafe { Receiver::new(self.memory, self.capacity) }
    }

    /// Returns word number `index` of the memory, as the side writes it that goes wrong: first the
    /// head's line, then the records.
    fn word(&self, index: usize) -> &AtomicU64 {
        assert!(8 * index < ring::bytes(self.capacity));
        // SAFETY: aligned and mapped, as checked; the ends of the ring access it atomically, or
        // run in this thread.
        unsafe { AtomicU64::from_ptr(self.memory.cast::<u64>().add(index)) }
    }

    /// The first word of the records.
    const RECORDS: usize = HEAD_BYTES / 8;
}

/// Numbers that look random (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// Bytes to send.
static BYTES: [u8; 2048] = {
    let mut bytes = [0; 2048];
    let mut i = 0;
    while i < bytes.len() {
        bytes[i] = (7 * i + i / 256 + 1) as u8;
        i += 1;
    }
    bytes
};

/// Returns the kind and the bytes of record number `number`.
fn record(number: u64, most: usize) -> (u16, &'static [u8]) {
    let random = Random(number).next();
    let most = if random.is_multiple_of(16) {
        most
    } else {
        most.min(40)
    };
    let len = (random >> 32) as usize % (most + 1);
    (random as u16, &BYTES[number as usize % 1000..][..len])
}

/// Sends record number `number`. Returns whether there was room.
fn send(sender: &mut Sender, number: u64) -> Result<bool, Broken> {
    let (kind, bytes) = record(number, sender.max_payload());
    let Some(mut room) = sender.reserve(bytes.len())? else {
        return Ok(false);
    };
    assert_eq!(
        (room.len(), room.is_empty()),
        (bytes.len(), bytes.is_empty())
    );
    let payload = room.payload();
    assert_eq!(payload as usize % 8, 0);
    // SAFETY: the payload has room for so many bytes, which are the static's.
    unsafe { copy(payload, bytes.as_ptr(), bytes.len()) };
    room.publish(kind);
    Ok(true)
}

/// Receives a record, which must be number `number`. Returns whether there was one.
fn receive(receiver: &mut Receiver, number: u64) -> Result<bool, Broken> {
    let (kind, bytes) = record(number, receiver.max_payload());
    let first = match number % 3 {
        0 => receiver.short(kind),
        1 => receiver.of_kind(kind),
        // Those have taken it, or `next` has it, which may give the room back.
        _ => Err(Other),
    };
    if let Ok(Some(record)) = first {
        let mut copied = [0; 1024];
        assert!(number % 3 == 1 || record.len() <= SHORT);
        // SAFETY: `copied` has room for the longest payload.
        unsafe { copy(copied.as_mut_ptr(), record.payload(), record.len()) };
        assert_eq!(&copied[..record.len()], bytes, "{number}");
        record.done();
        return Ok(true);
    }
    let Some(record) = receiver.next()? else {
        return Ok(false);
    };
    assert_eq!(
        (record.kind(), record.len()),
        (kind, bytes.len()),
        "{number}"
    );
    let mut copied = [0; 1024];
    // SAFETY: `copied` has so many bytes.
    let got = unsafe { record.copy_to(0, copied.as_mut_ptr(), copied.len()) };
    assert_eq!(&copied[..got], bytes, "{number}");
    record.done();
    Ok(true)
}

/// Fails a test that lasts for ever.
struct Limit(Instant);

impl Limit {
    fn new() -> Self {
        Self(Instant::now() + Duration::from_secs(60))
    }

    fn pause(&self) {
        assert!(Instant::now() < self.0, "for ever");
        std::thread::yield_now();
    }
}

#[test]
fn a_million_records_arrive_in_order() {
    let ring = Guarded::new(4096, Edge::End);
    let (mut sender, mut receiver) = (ring.sender(), ring.receiver());
    let count = 1_000_000;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let limit = Limit::new();
            for number in 0..count {
                while !send(&mut sender, number).expect("a whole ring") {
                    limit.pause();
                }
            }
            while sender.in_flight().expect("a whole ring") > 0 {
                limit.pause();
            }
        });
        let limit = Limit::new();
        for number in 0..count {
            while !receive(&mut receiver, number).expect("a whole ring") {
                limit.pause();
            }
        }
        assert!(receiver.is_idle());
        assert!(!receive(&mut receiver, 0).expect("a whole ring"));
    });
}

#[test]
fn seventy_rings_are_drained_by_their_bells_alone() {
    let count = 3000;
    let rings: Vec<Guarded> = (0..70).map(|_| Guarded::new(256, Edge::Start)).collect();
    let words = Guarded::new(bell::bytes(rings.len()).next_power_of_two(), Edge::Start);
    // SAFETY: aligned to a page, mapped for more bytes, zero, and outlives the scope.
    let bells = unsafe { Bells::new(words.memory, rings.len()) };
    let mut receivers: Vec<_> = rings.iter().map(|ring| (ring.receiver(), 0)).collect();
    let mut senders: Vec<_> = (0..)
        .zip(&rings)
        .map(|(i, ring)| (ring.sender(), bells.bell(i).expect("a bell"), 0))
        .collect();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (mut random, limit) = (Random(1), Limit::new());
            while senders.iter().any(|&(_, _, sent)| sent < count) {
                let which = random.below(70) as usize;
                let (sender, bell, sent) = &mut senders[which];
                let burst = random.below(5);
                for _ in 0..burst {
                    if *sent < count && send(sender, *sent).expect("a whole ring") {
                        *sent += 1;
                    }
                }
                bell.ring();
                if burst == 0 {
                    limit.pause();
                }
            }
        });
        let limit = Limit::new();
        while receivers.iter().any(|&(_, received)| received < count) {
            for word in 0..bells.words() {
                let mut taken = bells.take(word);
                while taken != 0 {
                    let which = RINGS_PER_WORD * word + taken.trailing_zeros() as usize;
                    taken &= taken - 1;
                    let (receiver, received) = &mut receivers[which];
                    while receive(receiver, *received).expect("a whole ring") {
                        *received += 1;
                    }
                }
            }
            limit.pause();
        }
    });
}

#[test]
fn a_full_ring_takes_nothing_and_an_empty_one_every_length() {
    for capacity in [64, 128, 256, 4096] {
        let most = max_payload(capacity);
        for len in (0..=most.min(70)).chain([most - 1, most]) {
            let ring = Guarded::new(capacity, Edge::End);
            let (mut sender, mut receiver) = (ring.sender(), ring.receiver());
            for lap in 0..20 {
                let mut sent = 0;
                while let Some(room) = sender.reserve(len).expect("a whole ring") {
                    room.publish(sent);
                    sent += 1;
                }
                let used = usize::from(sent) * record_bytes(len);
                let in_flight = sender.in_flight().expect("a whole ring");
                let rest = capacity - in_flight;
                assert!(used <= in_flight && in_flight < used + record_bytes(len));
                assert!(rest < 2 * record_bytes(len) + 8, "{rest} of {capacity}");
                assert!(sender.reserve(most + 1).expect("a whole ring").is_none());
                for number in 0..sent {
                    assert!(!receiver.is_idle());
                    let record = receiver.next().expect("a whole ring").expect("a record");
                    assert_eq!((record.kind(), record.len()), (number, len), "{lap}");
                }
                assert!(receiver.next().expect("a whole ring").is_none());
                assert_eq!(sender.in_flight(), Ok(0));
            }
        }
    }
}

#[test]
fn room_is_given_back_by_quarters_while_records_are_left() {
    let ring = Guarded::new(1024, Edge::Start);
    let (mut sender, mut receiver) = (ring.sender(), ring.receiver());
    for lap in 0..20 {
        for number in 0..30 {
            let room = sender.reserve(24).expect("a whole ring").expect("room");
            room.publish(number);
        }
        let mut given = Vec::new();
        for number in 0..30 {
            let record = receiver.next().expect("a whole ring").expect("a record");
            assert_eq!(record.kind(), number);
            record.done();
            given.push(960 - sender.in_flight().expect("a whole ring"));
        }
        // Eight records of 32 bytes are a quarter.
        let expected: Vec<usize> = (1..=30).map(|consumed| consumed / 8 * 256).collect();
        assert_eq!(given, expected, "{lap}");
        assert!(receiver.next().expect("a whole ring").is_none());
        assert_eq!(sender.in_flight(), Ok(0));
    }
}

#[test]
fn short_records_of_a_kind_are_taken_up_to_a_quarter() {
    let ring = Guarded::new(1024, Edge::End);
    let (mut sender, mut receiver) = (ring.sender(), ring.receiver());
    for lap in 0..20 {
        assert!(matches!(receiver.short(7), Ok(None)));
        for _ in 0..16 {
            let mut room = sender.reserve(8).expect("a whole ring").expect("room");
            room.set_word(0, lap);
            room.publish(7);
        }
        // Sixteen records of 16 bytes are a quarter, which the last one fills.
        for _ in 0..15 {
            assert_eq!(receiver.short(6).err(), Some(Other));
            assert_eq!(receiver.short(8).err(), Some(Other));
            // Without `done` it stays.
            assert!(matches!(receiver.short(7), Ok(Some(_))));
            assert!(receiver.exactly::<8>(6).is_none() && receiver.exactly::<9>(7).is_none());
            assert!(receiver.has_next(7) && !receiver.has_next(6));
            assert_eq!(receiver.exactly::<8>(7).map(|one| one.len()), Some(8));
            let record = match lap % 2 {
                0 => receiver.short(7).expect("a short one"),
                _ => receiver.exactly::<8>(7),
            };
            let record = record.expect("a record");
            assert_eq!((record.len(), record.is_empty()), (8, false));
            // SAFETY: the record has 8 bytes, and is aligned.
            assert_eq!(unsafe { record.payload().cast::<u64>().read() }, lap);
            record.done();
            assert_eq!(sender.in_flight(), Ok(256));
        }
        assert_eq!(receiver.short(7).err(), Some(Other));
        assert!(receiver.exactly::<8>(7).is_none());
        let record = receiver.next().expect("a whole ring").expect("a record");
        assert_eq!(record.word(0), Some(lap));
        record.done();
        assert_eq!(sender.in_flight(), Ok(0));
    }
    for (len, is_short) in [(0, true), (16, true), (17, false), (256, false)] {
        let room = sender.reserve(len).expect("a whole ring").expect("room");
        room.publish(u16::MAX);
        let short = receiver
            .short(u16::MAX)
            .map(|record| record.map(|one| one.len()));
        assert_eq!(short, if is_short { Ok(Some(len)) } else { Err(Other) });
        assert_eq!(receiver.of_kind(u16::MAX - 1).err(), Some(Other));
        let first = receiver.of_kind(u16::MAX);
        // That of 256 bytes reaches beyond a quarter.
        let is_within = len < 256;
        assert_eq!(
            first.is_ok_and(|one| one.is_some_and(|one| one.len() == len)),
            is_within
        );
        receiver
            .next()
            .expect("a whole ring")
            .expect("a record")
            .done();
    }
}

#[test]
fn room_that_is_not_used_and_records_that_are_left_change_nothing() {
    let ring = Guarded::new(128, Edge::End);
    let (mut sender, mut receiver) = (ring.sender(), ring.receiver());
    for number in 0..100_u64 {
        for len in [32, 5, 16] {
            let room = sender.reserve(len).expect("a whole ring");
            assert!(room.is_some_and(|room| room.len() == len));
            // A skip that nobody has been told of does not count.
            assert_eq!(sender.in_flight(), Ok(0));
        }
        let mut room = sender.reserve(13).expect("a whole ring").expect("room");
        room.set_word(0, number);
        room.set_word(1, !number);
        // Belongs to the word behind the record.
        room.set_word(2, u64::MAX);
        room.publish(3);
        for _ in 0..3 {
            let record = receiver.next().expect("a whole ring").expect("a record");
            let words = [record.word(0), record.word(1), record.word(2)];
            assert_eq!(words, [Some(number), Some(!number), None]);
            let mut bytes = [0xee; 16];
            // SAFETY: the array has more bytes than are asked for, each time.
            let copied = unsafe {
                [
                    record.copy_to(0, bytes.as_mut_ptr(), 3),
                    record.copy_to(8, bytes.as_mut_ptr().add(8), 8),
                    record.copy_to(14, bytes.as_mut_ptr(), 8),
                ]
            };
            assert_eq!(copied, [3, 5, 0]);
            assert_eq!(bytes[..3], number.to_ne_bytes()[..3]);
            assert_eq!(bytes[8..13], (!number).to_ne_bytes()[..5]);
            assert_eq!((bytes[3], bytes[13]), (0xee, 0xee));
            record.leave();
        }
        receiver
            .next()
            .expect("a whole ring")
            .expect("a record")
            .done();
        assert!(receiver.next().expect("a whole ring").is_none());
    }
}

/// Returns the header word of a message as the sender writes it.
fn header(kind: u16, len: u32) -> u64 {
    let ring = Guarded::new(64, Edge::Start);
    let mut sender = ring.sender();
    let room = sender.reserve(0).expect("a whole ring").expect("room");
    room.publish(kind);
    ring.word(Guarded::RECORDS).load(Ordering::Relaxed) | u64::from(len)
}

/// Returns the mark of a skip, at the place of its header.
fn skip() -> u64 {
    let ring = Guarded::new(64, Edge::Start);
    let (mut sender, mut receiver) = (ring.sender(), ring.receiver());
    for _ in 0..2 {
        let room = sender.reserve(16).expect("a whole ring").expect("room");
        room.publish(0);
        receiver
            .next()
            .expect("a whole ring")
            .expect("a record")
            .done();
    }
    assert!(receiver.next().expect("a whole ring").is_none());
    assert!(matches!(sender.reserve(16), Ok(Some(_))));
    let header = ring.word(Guarded::RECORDS + 6).load(Ordering::Relaxed);
    assert_eq!(header as u32, 2);
    header & !u64::from(u32::MAX)
}

#[test]
fn headers_that_cannot_be_close_the_ring() {
    let good = header(5, 8);
    let bad = [
        header(5, 65),
        header(5, u32::MAX),
        header(5, 1 << 31),
        1,
        8,
        5 << 32,
        good & !(1 << 63),
        good | 1 << 56,
        good ^ 1 << 48,
        u64::MAX,
        // A skip of the whole ring, of more and of less than there is.
        skip() | 32,
        skip() | 33,
        skip() | 1,
        skip(),
    ];
    for bad in bad {
        let ring = Guarded::new(256, Edge::End);
        let mut receiver = ring.receiver();
        let first = ring.word(Guarded::RECORDS);
        first.store(bad, Ordering::Relaxed);
        assert!(!receiver.is_idle());
        assert_eq!(receiver.next().map(drop), Err(Broken), "{bad:x}");
        // For ever, also where a good header comes later.
        for later in [good, 0, header(5, 0), bad] {
            first.store(later, Ordering::Relaxed);
            assert!(!matches!(receiver.short(5), Ok(Some(_))), "{bad:x}");
            assert!(receiver.exactly::<0>(5).is_none(), "{bad:x}");
            assert_eq!(receiver.next().map(drop), Err(Broken), "{bad:x}");
        }
    }
    // Behind a message the ring has less room before its end.
    for bad in [header(0, 57), header(0, 64), skip() | 7, skip() | 9] {
        let ring = Guarded::new(256, Edge::End);
        let mut receiver = ring.receiver();
        for (word, len) in [(0, 64), (9, 64), (18, 40)] {
            ring.word(Guarded::RECORDS + word)
                .store(header(0, len), Ordering::Relaxed);
            receiver
                .next()
                .expect("a whole ring")
                .expect("a record")
                .done();
        }
        ring.word(Guarded::RECORDS + 24)
            .store(bad, Ordering::Relaxed);
        assert_eq!(receiver.next().map(drop), Err(Broken), "{bad:x}");
    }
    // Two skips never follow each other.
    let ring = Guarded::new(256, Edge::End);
    let mut receiver = ring.receiver();
    for (word, header) in [(0, header(0, 0)), (1, skip() | 31)] {
        ring.word(Guarded::RECORDS + word)
            .store(header, Ordering::Relaxed);
    }
    receiver
        .next()
        .expect("a whole ring")
        .expect("a record")
        .done();
    ring.word(Guarded::RECORDS)
        .store(skip() | 32, Ordering::Relaxed);
    assert_eq!(receiver.next().map(drop), Err(Broken));
}

#[test]
fn heads_that_cannot_be_close_the_ring() {
    // Behind the tail, of 12 words, and before a head that was seen already.
    for (seen, bad) in [
        (0, 13),
        (0, u64::MAX),
        (0, 1 << 63),
        (0, 1 << 32),
        (4, 3),
        (4, 0),
    ] {
        let ring = Guarded::new(128, Edge::End);
        let mut sender = ring.sender();
        for _ in 0..3 {
            let room = sender.reserve(24).expect("a whole ring").expect("room");
            room.publish(0);
        }
        let head = ring.word(0);
        head.store(seen, Ordering::Relaxed);
        assert_eq!(sender.in_flight(), Ok(8 * (12 - seen as usize)));
        head.store(bad, Ordering::Relaxed);
        assert!(matches!(sender.reserve(32), Err(Broken)), "{bad}");
        for later in [seen, 12] {
            head.store(later, Ordering::Relaxed);
            assert!(matches!(sender.reserve(0), Err(Broken)));
            assert_eq!(sender.in_flight(), Err(Broken));
        }
    }
}

/// Returns a word of any kind: a header with a length that fits or that does not, a skip, anything.
fn any_word(random: &mut Random, capacity: usize) -> u64 {
    let (message, skip) = (0xfa5e << 48, 0xfa51 << 48);
    let words = capacity as u64 / 8;
    match random.below(10) {
        0 => random.next(),
        1 => 0,
        2 => skip | random.below(words + 2),
        3 => message | random.next() >> 16,
        _ => message | random.below(max_payload(capacity) as u64 + 2),
    }
}

#[test]
fn of_any_words_of_the_sender_nothing_outside_the_ring_is_read() {
    let (mut records, mut broken, mut short) = (0_u64, 0, 0);
    for (capacity, edge, rounds) in [
        (64, Edge::Start, 200),
        (64, Edge::End, 200),
        (4096, Edge::End, 40),
    ] {
        let ring = Guarded::new(capacity, edge);
        let range =
            ring.memory as usize + HEAD_BYTES..=ring.memory as usize + ring::bytes(capacity);
        let mut bytes = vec![0; max_payload(capacity)];
        for seed in 0..rounds {
            let mut random = Random(seed);
            let mut receiver = ring.receiver();
            for index in 0..ring::bytes(capacity) / 8 {
                ring.word(index)
                    .store(any_word(&mut random, capacity), Ordering::Relaxed);
            }
            let mut is_broken = false;
            for _ in 0..500 {
                let seen = match random.below(2) {
                    0 => receiver.short(0).unwrap_or(None),
                    _ => receiver.exactly::<16>(0),
                };
                if let Some(record) = seen {
                    assert!(!is_broken && record.len() <= SHORT);
                    let start = record.payload() as usize;
                    assert!(range.contains(&start), "{start:x}");
                    assert!(range.contains(&(start + record.len())), "{start:x}");
                    short += 1;
                    if random.below(2) == 0 {
                        record.done();
                    }
                }
                match receiver.next() {
                    Ok(Some(record)) => {
                        assert!(!is_broken && record.len() <= bytes.len());
                        let start = record.payload() as usize;
                        assert!(range.contains(&start), "{start:x}");
                        assert!(range.contains(&(start + record.len())), "{start:x}");
                        let from = random.below(bytes.len() as u64) as usize;
                        // SAFETY: the vector has as many bytes as a payload can have.
                        unsafe { record.copy_to(from, bytes.as_mut_ptr(), bytes.len()) };
                        record.word(random.below(bytes.len() as u64) as usize);
                        records += 1;
                    }
                    Ok(None) => assert!(!is_broken),
                    Err(Broken) => is_broken = true,
                }
                if random.below(2) == 0 {
                    let index = random.below(capacity as u64 / 8) as usize;
                    ring.word(Guarded::RECORDS + index)
                        .store(any_word(&mut random, capacity), Ordering::Relaxed);
                }
            }
            broken += u64::from(is_broken);
        }
    }
    // All were seen, and often.
    assert!(
        records > 300 && broken > 200 && short > 30,
        "{records} {broken} {short}"
    );
}

#[test]
fn for_any_head_nothing_outside_the_ring_is_written() {
    let (mut rooms, mut broken) = (0_u64, 0);
    for (capacity, edge) in [(64, Edge::Start), (64, Edge::End), (4096, Edge::End)] {
        let ring = Guarded::new(capacity, edge);
        let range =
            ring.memory as usize + HEAD_BYTES..=ring.memory as usize + ring::bytes(capacity);
        for seed in 0..200 {
            let mut random = Random(seed);
            ring.word(0).store(0, Ordering::Relaxed);
            let mut sender = ring.sender();
            let mut is_broken = false;
            for _ in 0..300 {
                let len = random.below(max_payload(capacity) as u64 + 2) as usize;
                match sender.reserve(len) {
                    Ok(Some(mut room)) => {
                        assert!(!is_broken && len <= max_payload(capacity));
                        let start = room.payload() as usize;
                        assert!(range.contains(&start) && range.contains(&(start + len)));
                        // SAFETY: the room is of `len` bytes.
                        unsafe { room.payload().write_bytes(0xff, len) };
                        room.publish(random.next() as u16);
                        rooms += 1;
                    }
                    Ok(None) => assert!(!is_broken || len > max_payload(capacity)),
                    Err(Broken) => is_broken = true,
                }
                let head = match random.below(30) {
                    0 => random.next(),
                    1 => random.below(2 * rooms + 1),
                    2..10 => ring
                        .word(0)
                        .load(Ordering::Relaxed)
                        .wrapping_add(random.below(5)),
                    _ => continue,
                };
                ring.word(0).store(head, Ordering::Relaxed);
            }
            broken += u64::from(is_broken);
        }
    }
    assert!(rooms > 2000 && broken > 300, "{rooms} {broken}");
}

/// A child of this process; killed when this value is dropped.
struct Child(libc::pid_t);

impl Child {
    /// Runs `body` in a child, for a minute at most.
    fn run(body: impl FnOnce()) -> Self {
        // SAFETY: the child runs `body`, which takes no lock that another thread may hold, and
        // ends without handlers.
        match unsafe { libc::fork() } {
            0 => {
                // SAFETY: alarm has no preconditions; its signal ends the process.
                unsafe { libc::alarm(60) };
                body();
                // SAFETY: _exit has no preconditions.
                unsafe { libc::_exit(0) }
            }
            child => Self(child),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: the child is this process's own and has not been waited for; nothing is written.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, std::ptr::null_mut(), 0);
        }
    }
}

#[test]
fn a_sender_that_is_killed_leaves_whole_records() {
    for round in 0..30 {
        let ring = Guarded::new(1024, Edge::End);
        let words = Guarded::new(64, Edge::Start);
        // SAFETY: aligned to a page, mapped for more bytes, zero, mapped until after the drain.
        let bells = unsafe { Bells::new(words.memory, 1) };
        let (mut sender, bell) = (ring.sender(), bells.bell(0).expect("a bell"));
        let child = Child::run(|| {
            for number in 0.. {
                while send(&mut sender, number) == Ok(false) {
                    std::thread::yield_now();
                }
                bell.ring();
            }
        });
        let (mut receiver, limit) = (ring.receiver(), Limit::new());
        let mut received = 0;
        let enough = 1 + 300 * round;
        while received < enough {
            if bells.take(0) != 0 {
                while receive(&mut receiver, received).expect("a whole ring") {
                    received += 1;
                }
            }
            limit.pause();
        }
        drop(child);
        while receive(&mut receiver, received).expect("a whole ring") {
            received += 1;
        }
        assert!(receiver.is_idle());
    }
}
