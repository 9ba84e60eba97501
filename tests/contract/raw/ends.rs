//! Peers that end: their operations fail soon, and the others go on.

#![expect(unsafe_code, reason = "ends the process, and sends by C addresses")]

use super::waiting::{ASLEEP, entry_asleep};
use super::{LIMIT, Party, Way, check};
use fi_provider::raw::completion::{CompletionQueue, Context, Silent};
use fi_provider::raw::domain::{self, Domain};
use fi_provider::raw::endpoint::{Config, Endpoint, Level, Posted};
use fi_provider::raw::error::Error;
use fi_provider::raw::region::{Addressing, Rights};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Checks that waiting operations with a process that is killed fail, and new ones are refused.
pub(crate) fn of_a_peer_are_errors(way: Way) {
    check(way, 3, |party| {
        let doomed = 2;
        for peer in party.others() {
            party
                .insist(|| party.endpoint.inject(peer, b"hello"))
                .unwrap();
        }
        let mut hellos = [[0_u8; 8]; 2];
        for buffer in &mut hellos {
            let posted = Posted {
                context: 0,
                source: None,
                least: None,
            };
            // SAFETY: the buffer stays until the entries below.
            unsafe { party.endpoint.post_receive(buffer.as_mut_ptr(), 8, posted) };
        }
        assert!((0..2).all(|_| party.entry().unwrap().len == 5));
        party.meet();
        let message = vec![1_u8; 1 << 20];
        if party.rank != doomed {
            let (source, len) = (message.as_ptr(), message.len());
            // SAFETY: the message stays until the entry below.
            party
                .insist(|| unsafe {
                    let report = Context(11);
                    party
                        .endpoint
                        .send(doomed, source, len, None, Level::Delivered, report)
                })
                .unwrap();
        }
        party.meet();
        if party.rank == doomed {
            std::thread::sleep(ASLEEP);
            party.meeting.leave();
            // SAFETY: ends this process at once, which is the point.
            unsafe { libc::_exit(0) };
        }
        // One of them asleep.
        let entry = match party.rank {
            0 => entry_asleep(party).0,
            _ => party.entry(),
        };
        let failure = entry.unwrap_err();
        assert_eq!(
            (failure.error, failure.entry.context),
            (Error::PeerGone, 11)
        );
        // Nothing else has come.
        party.meet();
        let sent = party.insist(|| party.endpoint.inject(doomed, b"x"));
        assert_eq!(sent, Err(Error::PeerGone));
        assert_eq!(
            party.endpoint.resolve(doomed, 1).map(drop),
            Err(Error::PeerGone)
        );
        let other = 1 - party.rank;
        // SAFETY: the buffer stays until the entry below.
        unsafe {
            let posted = Posted {
                context: 9,
                source: None,
                least: None,
            };
            party
                .endpoint
                .post_receive(hellos[0].as_mut_ptr(), 8, posted);
        }
        party
            .insist(|| party.endpoint.inject(other, b"there?"))
            .unwrap();
        assert_eq!(party.entry().unwrap().len, 6);
    });
}

/// Lets endpoints come and go: each is reached by its own address, and its memory comes back.
pub(crate) fn of_endpoints_free_their_memory(way: Way) {
    /// Each takes 140 KiB of an arena of 4 MiB.
    const ROUNDS: u64 = 200;
    check(way, 2, |party| {
        let config = domain::Config {
            arena_bytes: 4 << 20,
            ..domain::Config::default()
        };
        let small = Domain::open(config).unwrap();
        for round in 0..ROUNDS {
            let queue = CompletionQueue::new(4);
            // The memory of those before comes back when this party has heard of their end.
            let mut second = Err(Error::NoRoom);
            assert!(party.endpoint.wait(LIMIT, || {
                second = Endpoint::open(&small, &party.vector, Config::new(&queue));
                second.is_ok()
            }));
            let second = second.unwrap();
            let own = party.vector.insert(&second.address()).unwrap();
            let send = |endpoint: &Endpoint, bytes: [u8; 8]| {
                let mut sent = Err(Error::NoRoom);
                assert!(party.endpoint.wait(LIMIT, || {
                    // There may be no room for a ring yet.
                    sent = endpoint.inject(own, &bytes);
                    sent != Err(Error::NoRoom)
                }));
                assert_eq!(sent, Ok(()));
            };
            send(&second, round.to_le_bytes());
            send(&party.endpoint, round.to_be_bytes());
            let mut words = [[0_u8; 8]; 2];
            for (context, word) in (0..).zip(&mut words) {
                let posted = Posted {
                    context,
                    source: None,
                    least: None,
                };
                // SAFETY: the word stays until the entries below.
                unsafe { second.post_receive(word.as_mut_ptr(), 8, posted) };
            }
            let mut seen = 0;
            assert!(second.wait(LIMIT, || {
                seen += usize::from(queue.next().is_some_and(|entry| entry.is_ok()));
                seen == 2
            }));
            let mut numbers = [round.to_le_bytes(), round.to_be_bytes()];
            numbers.sort_unstable();
            words.sort_unstable();
            assert_eq!(words, numbers);
            drop(second);
            party.vector.remove(own).unwrap();
        }
    });
}

/// Checks that messages that are transmitted arrive after their sender has been killed, whose
/// receiver did nothing meanwhile.
pub(crate) fn of_senders_lose_nothing_transmitted(way: Way) {
    const MANY: u64 = 20;
    const LEN: usize = 3000;
    check(way, 2, |party| {
        if party.rank == 0 {
            for number in 0..MANY {
                let len = if number % 2 == 0 { 8 } else { LEN };
                let message = [number as u8; LEN];
                // SAFETY: the message stays until the entry below.
                let sent = party.insist(|| unsafe {
                    let (level, report) = (Level::Transmitted, Context(number));
                    let source = message.as_ptr();
                    party.endpoint.send(1, source, len, None, level, report)
                });
                sent.unwrap();
                assert_eq!(party.entry().unwrap().context, number);
            }
            party.meeting.announce(0, 1);
            party.meeting.leave();
            // SAFETY: ends this process at once, which is the point.
            unsafe { libc::_exit(0) };
        }
        while !party.meeting.has_come(0, 1) {
            std::thread::sleep(Duration::from_millis(1));
            party.meeting.give_up_if_failed();
        }
        std::thread::sleep(Duration::from_millis(50));
        let mut buffer = [0; LEN];
        for number in 0..MANY {
            let posted = Posted {
                context: number,
                source: None,
                least: None,
            };
            // SAFETY: the buffer stays until the entry below.
            unsafe {
                party
                    .endpoint
                    .post_receive(buffer.as_mut_ptr(), LEN, posted);
            }
            let entry = party.entry().unwrap();
            let len = if number % 2 == 0 { 8 } else { LEN };
            assert_eq!((entry.context, entry.len), (number, len));
            assert!(buffer[..len].iter().all(|byte| *byte == number as u8));
        }
    });
}

/// Checks that long memory of processes that are killed, some while they copy a share of it, is
/// read until each is gone.
pub(crate) fn of_peers_end_reads_of_their_memory(way: Way) {
    const LEN: usize = 8 << 20;
    const KEY: u64 = 1;
    check(way, 5, |party| {
        let byte = |rank: u32| 0x11 * rank as u8;
        let mut bytes = vec![byte(party.rank); LEN];
        let (domain, how) = (&party.domain, Addressing::Offset);
        // SAFETY: the bytes stay until the process ends, or the region is dropped.
        let region =
            unsafe { domain.register(bytes.as_mut_ptr(), LEN, Rights::READ, Some(KEY), how) };
        let _region = region.unwrap();
        party.meet();
        if party.rank > 0 {
            std::thread::scope(|scope| {
                let (meeting, rank) = (party.meeting, party.rank);
                scope.spawn(move || {
                    std::thread::sleep(Duration::from_micros(31_700 * u64::from(rank)));
                    meeting.leave();
                    // SAFETY: ends this process at once, which is the point.
                    unsafe { libc::_exit(0) };
                });
                loop {
                    party.endpoint.progress();
                }
            });
        }
        let mut found = vec![0; LEN];
        let mut alive: Vec<_> = party.others().collect();
        let begin = Instant::now();
        while !alive.is_empty() {
            assert!(begin.elapsed() < LIMIT, "{alive:?} are not gone");
            alive.retain(|&peer| {
                found.fill(0xee);
                let read = party.endpoint.resolve(peer, KEY).and_then(|region| {
                    let to = found.as_mut_ptr();
                    // SAFETY: the bytes stay; the read is done when the call returns.
                    unsafe { party.endpoint.read(&region, 0, to, LEN, Silent) }
                });
                match read {
                    Ok(()) => assert!(found.iter().all(|found| *found == byte(peer))),
                    Err(error) => assert_eq!(error, Error::PeerGone),
                }
                read.is_ok()
            });
        }
    });
}

/// Checks that peers that are killed before they have answered anything, or while an answer is
/// awaited, are found while another peer keeps the endpoint busy. Also by programs that ask for
/// them now and then alone.
pub(crate) fn of_silent_peers_are_found(way: Way) {
    /// Time between two questions of those.
    const SELDOM: Duration = Duration::from_millis(700);
    /// Some 3 s on an idle machine.
    const SOON: Duration = Duration::from_secs(30);
    const DOOMED: u32 = 2;
    for is_greeted in [false, true] {
        check(way, 3, |party| {
            let endpoint = &party.endpoint;
            if is_greeted {
                for peer in party.others() {
                    party.insist(|| endpoint.inject(peer, b"hello")).unwrap();
                }
                party.meet();
            }
            // The doomed one makes no progress from here on.
            party.meeting.meet();
            if party.rank == DOOMED {
                while !(0..DOOMED).all(|other| party.meeting.has_come(other, 1)) {
                    std::thread::sleep(Duration::from_millis(1));
                    party.meeting.give_up_if_failed();
                }
                party.meeting.leave();
                // SAFETY: ends this process at once, which is the point.
                unsafe { libc::_exit(0) };
            }
            let talk = Talk::new(party);
            let mut asked = Instant::now();
            // Two kinds of programs; of a peer that has answered, one waits for a key alone.
            let mut ask = || match party.rank {
                0 if asked.elapsed() < SELDOM => Err(Error::Again),
                0 => {
                    asked = Instant::now();
                    endpoint.resolve(DOOMED, 1).map(drop)
                }
                _ => endpoint.inject(DOOMED, b"there?"),
            };
            let first = match party.rank {
                0 => endpoint.resolve(DOOMED, 1).map(drop),
                _ => ask(),
            };
            assert!(matches!(first, Err(Error::Again) | Ok(())), "{first:?}");
            for _ in 0..1000 {
                talk.turn();
            }
            party.meeting.announce(party.rank, 1);
            let start = Instant::now();
            loop {
                talk.turn();
                match ask() {
                    Err(Error::PeerGone) => break,
                    Err(Error::Again) | Ok(()) => {}
                    Err(error) => panic!("party {}: {error:?}", party.rank),
                }
                party.meeting.give_up_if_failed();
                assert!(start.elapsed() < SOON, "nothing in {SOON:?}");
            }
            // It stays so.
            let again = endpoint.resolve(DOOMED, 1).map(drop);
            assert_eq!(again, Err(Error::PeerGone));
            party.meeting.meet_while(|| talk.turn());
            assert!(talk.heard.get() > 0);
        });
    }
}

/// Messages between the first two parties, one behind the other.
struct Talk<'a> {
    party: &'a Party<'a>,
    buffer: *mut u8,
    heard: Cell<u64>,
}

impl<'a> Talk<'a> {
    fn new(party: &'a Party<'a>) -> Self {
        let buffer = Box::leak(Box::new([0_u8; 8])).as_mut_ptr();
        let heard = Cell::new(0);
        let talk = Self {
            party,
            buffer,
            heard,
        };
        (0..16).for_each(|_| talk.listen());
        talk
    }

    fn listen(&self) {
        let posted = Posted {
            context: 0,
            source: None,
            least: None,
        };
        // SAFETY: the buffer is leaked, and nobody reads it.
        unsafe { self.party.endpoint.post_receive(self.buffer, 8, posted) };
    }

    fn turn(&self) {
        let party = self.party;
        let said = party.endpoint.inject(1 - party.rank, b"again");
        assert!(matches!(said, Ok(()) | Err(Error::Again)), "{said:?}");
        party.endpoint.progress();
        while let Some(entry) = party.queue.next() {
            entry.unwrap();
            self.heard.set(self.heard.get() + 1);
            self.listen();
        }
    }
}
