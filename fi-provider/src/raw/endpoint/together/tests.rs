//! Two endpoints of this process, which copy memory of one of them that the other does not map.

use super::super::sharing::Sharing;
use super::*;
use crate::raw::address_vector::{AddressVector, PeerIndex};
use crate::raw::completion::{CompletionQueue, Silent};
use crate::raw::domain::{self, Domain};
use crate::raw::endpoint::{Config, Level, Posted};
use crate::raw::region::{Addressing, Region};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Longest time that anything may take.
const LIMIT: Duration = Duration::from_secs(30);
/// Time that the peer is at a piece.
const HELD: Duration = Duration::from_millis(50);
const KEY: u64 = 1;
const READABLE: u64 = 2;

#[test]
fn pieces_cover_all_bytes_once() {
    let long = [8_000_000, (64 << 20) - 1, usize::MAX >> 34];
    for len in [0, 1, LEAST, LEAST + 1].into_iter().chain(long) {
        let pieces = Pieces::of(len).unwrap();
        let mut end = 0;
        for piece in 0..pieces.count {
            let (at, bytes) = pieces.range(piece);
            assert_eq!(at, end);
            assert!(bytes > 0);
            end += bytes;
        }
        assert_eq!(end, len);
    }
    assert_eq!(Pieces::of(usize::MAX), None);
}

/// An endpoint with a domain of its own.
struct Side {
    endpoint: Endpoint,
    queue: CompletionQueue,
    vector: AddressVector,
    domain: Domain,
}

impl Side {
    fn open() -> Self {
        let config = domain::Config {
            arena_bytes: 1 << 28,
            ..domain::Config::default()
        };
        let domain = Domain::open(config).unwrap();
        let (vector, queue) = (AddressVector::new(), CompletionQueue::new(64));
        let endpoint = Endpoint::open(&domain, &vector, Config::new(&queue)).unwrap();
        Self {
            endpoint,
            queue,
            vector,
            domain,
        }
    }

    fn insert(&self, address: &crate::raw::address::Address) -> PeerIndex {
        self.vector.insert(address).unwrap()
    }

    fn register(&self, bytes: &mut [u8], rights: Rights, key: u64) -> Region {
        let (at, len) = (bytes.as_mut_ptr(), bytes.len());
        // SAFETY: the tests drop the region before the bytes.
        let region =
            unsafe { (self.domain).register(at, len, rights, Some(key), Addressing::Offset) };
        region.unwrap()
    }

    fn link(&self, peer: PeerIndex) -> Rc<Link> {
        let link = self.endpoint.with_link(peer, |link| Ok(Rc::clone(link)));
        link.unwrap()
    }
}

/// Returns bytes that differ from one place to another, and from one seed to another.
fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at.wrapping_mul(31) ^ (at >> 12) ^ seed) as u8)
        .collect()
}

/// Runs `body` with an endpoint, and the number of a peer which acts and makes progress until it
/// returns: a thread, whose memory of so many bytes is registered by [`KEY`], and by [`READABLE`] to
/// be read.
fn beside(len: usize, act: impl Fn(&Side, PeerIndex) + Sync, body: impl FnOnce(&Side, PeerIndex)) {
    let own = Side::open();
    let address = own.endpoint.address();
    let is_over = &AtomicBool::new(false);
    let (say, hear) = std::sync::mpsc::channel();
    thread::scope(|scope| {
        let act = &act;
        scope.spawn(move || {
            let side = Side::open();
            let other = side.insert(&address);
            let mut bytes = pattern(len, 0);
            let all = side.register(&mut bytes, Rights::ALL, KEY);
            let mut constant = pattern(len, 1);
            let readable = side.register(&mut constant, Rights::READ, READABLE);
            act(&side, other);
            say.send(side.endpoint.address()).unwrap();
            while !is_over.load(Ordering::Acquire) {
                act(&side, other);
                side.endpoint.progress();
            }
            drop((all, readable));
            assert!(constant == pattern(len, 1), "nobody has written them");
        });
        struct End<'a>(&'a AtomicBool);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Release);
            }
        }
        let _end = End(is_over);
        let peer = own.insert(&hear.recv().unwrap());
        body(&own, peer);
    });
}

/// Returns the number of pieces that the peer has copied.
fn theirs(link: &Link) -> u32 {
    match &link.path {
        Path::Near(path) => path.sharing.theirs.get(),
        Path::Far(_) | Path::Libfabric(_) => 0,
    }
}

fn sharing(link: &Link) -> &Sharing {
    match &link.path {
        Path::Near(path) => &path.sharing,
        Path::Far(_) | Path::Libfabric(_) => panic!("a path of the node"),
    }
}

fn read(side: &Side, peer: PeerIndex, at: usize, to: &mut [u8]) -> Result<(), Error> {
    let region = side.endpoint.resolve(peer, KEY).unwrap();
    // SAFETY: the bytes stay; the read is done when the call returns.
    unsafe { (side.endpoint).read(&region, at as u64, to.as_mut_ptr(), to.len(), Silent) }
}

#[test]
fn both_read_and_write_whatever_the_length_and_the_place() {
    const LEN: usize = (9 << 20) + 100;
    beside(
        LEN,
        |_, _| (),
        |side, peer| {
            let all = pattern(LEN, 0);
            let begin = Instant::now();
            let lengths = [
                LEAST - 1,
                LEAST,
                LEAST + 1,
                (1 << 20) + 13,
                8_000_000,
                9 << 20,
            ];
            let mut rounds = 0;
            while rounds < 3 || theirs(&side.link(peer)) < 20 {
                rounds += 1;
                assert!(begin.elapsed() < LIMIT, "the peer takes no share");
                for (at, len) in (0..).map(|at| at * 7).zip(lengths) {
                    let mut found = vec![0; len + 2];
                    read(side, peer, at, &mut found[1..=len]).unwrap();
                    assert!(
                        found[1..=len] == all[at..at + len],
                        "{len} bytes from {at} on"
                    );
                    assert_eq!((found[0], found[len + 1]), (0, 0));
                }
            }
            let before = theirs(&side.link(peer));
            let region = side.endpoint.resolve(peer, KEY).unwrap();
            let mut expected = all;
            for seed in 2.. {
                for (at, len) in (0..).map(|at| at * 7).zip(lengths) {
                    let bytes = pattern(len, seed);
                    let source = bytes.as_ptr();
                    // SAFETY: the bytes stay; the write is done when the call returns.
                    unsafe { (side.endpoint).write(&region, at as u64, source, len, Silent) }
                        .unwrap();
                    expected[at..at + len].copy_from_slice(&bytes);
                }
                let mut found = vec![0; LEN];
                read(side, peer, 0, &mut found).unwrap();
                assert!(found == expected, "what was written, and nothing else");
                if seed >= 4 && theirs(&side.link(peer)) > before + 20 {
                    break;
                }
                assert!(begin.elapsed() < LIMIT, "the peer takes no share");
            }
            let read_only = side.endpoint.resolve(peer, READABLE).unwrap();
            let source = expected.as_ptr();
            // SAFETY: the bytes stay.
            let refused = unsafe { (side.endpoint).write(&read_only, 0, source, LEN, Silent) };
            assert_eq!(refused, Err(Error::NotAllowed));
        },
    );
}

#[test]
fn both_copy_a_message() {
    const LEN: usize = 3_000_001;
    let sent = pattern(LEN, 9);
    let send = |side: &Side, other: PeerIndex| {
        // SAFETY: the message stays until the thread has ended.
        let begun = unsafe {
            (side.endpoint).send(other, sent.as_ptr(), LEN, None, Level::Delivered, Silent)
        };
        assert!(matches!(begun, Ok(()) | Err(Error::Again)));
    };
    beside(1, send, |side, peer| {
        let mut got = vec![0; LEN];
        let begin = Instant::now();
        let mut round = 0;
        while round < 40 || theirs(&side.link(peer)) == 0 {
            // The peer may have no processor: behind a pause it has one beside this thread's.
            if round < 40 {
                thread::yield_now();
            } else {
                thread::sleep(Duration::from_millis(1));
            }
            got.fill(0);
            let posted = Posted {
                context: 3,
                source: None,
                least: None,
            };
            // SAFETY: the buffer stays until its entry is there.
            unsafe { (side.endpoint).post_receive(got.as_mut_ptr(), LEN, posted) };
            while side.queue.next().is_none() {
                side.endpoint.progress();
                assert!(begin.elapsed() < 2 * LIMIT, "no message");
            }
            assert!(got == sent);
            assert!(begin.elapsed() < LIMIT, "the peer takes no share");
            round += 1;
        }
    });
}

#[test]
fn one_copies_all_where_the_peer_cannot() {
    const LEN: usize = 5 << 20;
    let avoid = |side: &Side, other: PeerIndex| side.endpoint.avoid_kernel(other).unwrap();
    beside(LEN, avoid, |side, peer| {
        let all = pattern(LEN, 0);
        let begin = Instant::now();
        while !sharing(&side.link(peer)).is_refused.get() {
            let mut found = vec![0; LEN];
            read(side, peer, 0, &mut found).unwrap();
            assert!(found == all);
            assert!(begin.elapsed() < LIMIT, "the peer was not asked");
        }
        let before = theirs(&side.link(peer));
        let mut found = vec![0; LEN];
        read(side, peer, 0, &mut found).unwrap();
        assert!(found == all);
        assert_eq!(theirs(&side.link(peer)), before, "it is not asked again");
    });
}

/// Reads long memory of an endpoint that makes no progress, in whose place a thread claims a piece,
/// holds it for a time and ends it so. Returns the result, whether it was right, and the time.
fn with_piece_held(end: impl Fn(&Split, &Near) + Sync) -> (Result<(), Error>, bool, Duration) {
    const LEN: usize = 4 << 20;
    let (own, other) = (Side::open(), Side::open());
    let mut bytes = pattern(LEN, 0);
    let _region = other.register(&mut bytes, Rights::ALL, KEY);
    let peer = own.insert(&other.endpoint.address());
    let link = own.link(peer);
    let words = sharing(&link).words().unwrap();
    let address = words.split.as_ptr().expose_provenance();
    // None so far.
    let turn = AtomicU32::new(u32::MAX);
    let Path::Near(path) = &link.path else {
        panic!("a path of the node");
    };
    let near = &path.near;
    let mut found = vec![0; LEN];
    let is_claimed = AtomicBool::new(false);
    let (done, time) = thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: the words are those of the link, which outlives the thread.
            let split = unsafe { Split::at(std::ptr::with_exposed_provenance_mut(address)) };
            let begin = Instant::now();
            let count = Pieces::of(LEN).unwrap().count;
            while split.claim(turn.load(Ordering::Acquire), count).is_none() {
                assert!(begin.elapsed() < LIMIT, "no turn");
            }
            is_claimed.store(true, Ordering::Release);
            thread::sleep(HELD);
            end(&split, near);
        });
        let started = Instant::now();
        loop {
            // As if the peer had taken its word of the turn before; the next one's number.
            words.split.see(sharing(&link).told.get());
            turn.store(words.next_turn() + 1, Ordering::Release);
            found.fill(0);
            let begin = Instant::now();
            let done = read(&own, peer, 0, &mut found);
            if is_claimed.load(Ordering::Acquire) {
                break (done, begin.elapsed());
            }
            assert!(started.elapsed() < LIMIT, "no piece was claimed");
        }
    });
    let is_right = found == bytes;
    (done, is_right, time)
}

#[test]
fn a_piece_of_the_peer_is_waited_for_until_the_peer_is_gone() {
    let (done, is_right, time) = with_piece_held(|split, _| split.end(true));
    assert!(done.is_ok() && time >= HELD);
    assert!(
        !is_right,
        "nobody has copied the piece: it was the peer's alone"
    );
    let (done, is_right, time) = with_piece_held(|split, _| split.end(false));
    assert!(
        done.is_ok() && is_right && time >= HELD,
        "it is copied here"
    );
    let (done, _, time) = with_piece_held(|_, near| near.note_end());
    assert!(done == Err(Error::PeerGone) && time >= HELD);
}

#[test]
fn a_peer_that_makes_no_progress_is_told_once_and_costs_nothing() {
    const LEN: usize = 1 << 20;
    let (own, other) = (Side::open(), Side::open());
    let mut bytes = pattern(LEN, 0);
    let _region = other.register(&mut bytes, Rights::ALL, KEY);
    let peer = own.insert(&other.endpoint.address());
    let mut found = vec![0; LEN];
    // More than its ring has room for.
    for _ in 0..3000 {
        read(&own, peer, 0, &mut found).unwrap();
    }
    assert!(found == bytes);
    let link = own.link(peer);
    assert!(!sharing(&link).is_seen());
    assert_eq!(theirs(&link), 0);
    own.endpoint.inject(peer, b"there is room").unwrap();
    // It comes late, to a turn that is over, and may be told anew.
    let begin = Instant::now();
    while !sharing(&link).is_seen() {
        other.endpoint.progress();
        assert!(begin.elapsed() < LIMIT, "the word was not taken");
    }
    found.fill(0);
    read(&own, peer, 0, &mut found).unwrap();
    assert!(found == bytes && !sharing(&link).is_seen());
}

#[test]
fn words_that_make_no_sense_move_nothing() {
    const LEN: usize = 1 << 20;
    let good =
        |there: u64, words: u64, turn: u32| [READABLE, 0, LEN as u64, there, words, turn.into()];
    // Changes of the words, and whether the ring is closed for each.
    type Change = fn(&mut [u64; 6]);
    let cases: [(Change, bool); 9] = [
        (|words| words[0] = 77, false),
        (|words| words[1] = 1, false),
        (|words| words[2] += 1, false),
        (|words| words[2] |= WRITES, false),
        (|words| words[2] |= OFFERED, false),
        (|words| words[5] += 1, false),
        (|words| words[4] += 8, true),
        (|words| words[4] = 1 << 40, true),
        (|words| words[5] = 1 << 32, true),
    ];
    let try_one = |change: Change, is_good: bool| {
        let mut is_closed = false;
        beside(
            LEN,
            |_, _| (),
            |side, peer| {
                let link = side.link(peer);
                let words = sharing(&link).words().unwrap();
                let turn = words.next_turn();
                words.split.begin(turn);
                let mut found = vec![0_u8; LEN];
                let there = found.as_mut_ptr().expose_provenance() as u64;
                let mut told = good(there, words.offset as u64, turn);
                change(&mut told);
                link.tell(Kind::Share, told).unwrap();
                let count = Pieces::of(LEN).unwrap().count;
                let begin = Instant::now();
                while words.split.ended().pieces < count && begin.elapsed() < 4 * HELD {
                    thread::yield_now();
                }
                words.split.stop(turn, count);
                let found = std::hint::black_box(&found);
                assert_eq!(found.iter().any(|byte| *byte != 0), is_good);
                is_closed = words.split.seen() == 0;
            },
        );
        is_closed
    };
    assert!(!try_one(|_| (), true));
    for (case, (change, closes)) in cases.into_iter().enumerate() {
        assert_eq!(try_one(change, false), closes, "{case}");
    }
}
