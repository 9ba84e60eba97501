//! Nonsense in messages on sockets and in addresses: it is refused, and does no harm.

#![expect(unsafe_code, reason = "buffers for messages are given by address")]

use super::address::Address;
use super::address::Port;
use super::address_vector::AddressVector;
use super::completion::CompletionQueue;
use super::domain::{self, Domain};
use super::endpoint::{Config, Endpoint, Posted};
use super::error::Error;
use super::far::wire::{self as datagram, Body, Datagram};
use super::region::TABLE_BYTES;
use super::wire::{self, Grant, Request, Welcome};
use fi_shm::handover::{self, Offer, Ticket};
use fi_shm::segment::Memfd;
use proptest::prelude::*;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Longest time that anything may take.
const LIMIT: Duration = Duration::from_secs(20);

fn domain() -> Domain {
    let config = domain::Config {
        arena_bytes: 1 << 26,
        ..domain::Config::default()
    };
    Domain::open(config).unwrap()
}

fn endpoint(domain: &Domain) -> (Endpoint, AddressVector, CompletionQueue) {
    let (vector, queue) = (AddressVector::new(), CompletionQueue::new(8));
    let endpoint = Endpoint::open(domain, &vector, Config::new(&queue)).unwrap();
    (endpoint, vector, queue)
}

proptest! {
    #[test]
    fn messages_are_decoded_or_refused(
        kind in 0_u8..6,
        request in any::<[[u8; 20]; 3]>(),
        mut grant in any::<[u8; Grant::BYTES]>(),
    ) {
        let mut bytes = [0; Request::BYTES];
        bytes.copy_from_slice(request.as_flattened());
        bytes[0] = kind;
        for version in [bytes[4], wire::PROTOCOL as u8] {
            bytes[4..8].copy_from_slice(&u32::from(version).to_le_bytes());
            if let Some(request) = Request::decode(&bytes) {
                prop_assert_eq!(Request::decode(&request.encode()), Some(request));
            }
        }
        if let Ok(one) = Grant::decode(&grant) {
            // A truth value, and bytes that nobody looks at.
            let is_by_bytes = u64::from(grant[24] != 0);
            grant[24..].copy_from_slice(&is_by_bytes.to_le_bytes());
            prop_assert_eq!(Grant::encode_all(Ok(one)), grant);
        }
    }

    #[test]
    fn datagrams_are_decoded_or_refused(
        kind in 0_u8..8,
        rest in prop::collection::vec(any::<u8>(), datagram::BYTES..datagram::BYTES + 9),
        len in 0..datagram::BYTES + 9,
    ) {
        let port = Port { number: 3, ..Port::default() };
        let ticket = Ticket::parse("1-2-3").unwrap();
        let some = Datagram {
            token: [7; datagram::TOKEN],
            to: 1,
            from: wire::address(&ticket, 2, port),
            body: Body::Confirm,
        };
        // The head is one that makes sense, but for its kind.
        let mut bytes = rest;
        let head = datagram::BYTES - datagram::ENDS;
        bytes[..head].copy_from_slice(&some.encode()[..head]);
        bytes[28] = kind;
        bytes[29] = kind;
        for bytes in [&bytes[..], &bytes[..len.min(bytes.len())]] {
            if let Some(one) = Datagram::decode(bytes) {
                prop_assert!(bytes.len() >= datagram::BYTES);
                prop_assert_eq!(Datagram::decode(&one.encode()), Some(one));
            }
        }
    }

    #[test]
    fn addresses_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..2 * Address::BYTES),
        text in ".*",
        digits in "farreach:[0-9a-fA-F]{114,122}",
    ) {
        let mut whole = bytes.clone();
        whole.resize(Address::BYTES, 7);
        whole[..4].copy_from_slice(&[2, 0, 0, 0]);
        // Where the port is.
        whole[50] %= 3;
        whole[51] = 0;
        for bytes in [bytes, whole] {
            match Address::of_bytes(&bytes) {
                Ok(address) => {
                    prop_assert_eq!(&address.to_bytes()[..], &bytes[..]);
                    prop_assert_eq!(address.to_string().parse(), Ok(address));
                }
                Err(error) => prop_assert_eq!(error, Error::BadAddress),
            }
        }
        for text in [format!("farreach:{text}"), text, digits] {
            match text.parse::<Address>() {
                Ok(address) => {
                    let printed = address.to_string();
                    prop_assert!(printed.eq_ignore_ascii_case(text.trim()));
                }
                Err(error) => prop_assert_eq!(error, Error::BadAddress),
            }
        }
    }
}

/// Makes a source of random numbers (xorshift).
fn numbers() -> impl FnMut() -> u64 {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap();
    let mut state = now.as_nanos() as u64 | 1;
    println!("seed {state}");
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Lets processes connect and say anything: requests that make sense at another time, parts of
/// them, wrong tokens, more connections than are waited for.
#[test]
fn a_domain_survives_clients_that_talk_nonsense() {
    let mut next = numbers();
    let (domain, other) = (domain(), domain());
    let (own, _, queue) = endpoint(&domain);
    let ticket = domain.shared().ticket().clone();
    let mut connections = Vec::new();
    for _ in 0..200 {
        let mut bytes = ticket.to_bytes();
        // The token is behind the name.
        bytes[16] ^= u8::from(next().is_multiple_of(4));
        let mut stream: UnixStream = Ticket::of_bytes(&bytes).call().unwrap();
        for _ in 0..next() % 8 {
            let request = match next() % 5 {
                0 => Request::Hello {
                    process: ticket.clone(),
                    port: Port::default(),
                },
                1 | 2 => Request::Ring {
                    from: next() as u32,
                    to: (next() % 2) as u32,
                },
                _ => Request::Release {
                    offset: (next() % 64) << 16,
                },
            };
            let mut bytes = request.encode();
            if next().is_multiple_of(4) {
                bytes[next() as usize % bytes.len()] = next() as u8;
            }
            let len = if next().is_multiple_of(8) {
                next() as usize % bytes.len()
            } else {
                bytes.len()
            };
            // The domain may have closed the connection.
            let _ = stream.write_all(&bytes[..len]);
        }
        connections.push(stream);
        if next().is_multiple_of(3) {
            connections.swap_remove(next() as usize % connections.len());
        }
        own.progress();
    }
    let (sender, vector, _) = endpoint(&other);
    let peer = vector.insert(&own.address()).unwrap();
    assert_eq!(sender.inject(peer, b"still there?"), Ok(()));
    let mut buffer = [0_u8; 16];
    let posted = Posted {
        context: 3,
        source: None,
        least: None,
    };
    // SAFETY: the buffer stays until its entry.
    unsafe { own.post_receive(buffer.as_mut_ptr(), buffer.len(), posted) };
    let mut entry = None;
    let is_there = own.wait(LIMIT, || {
        entry = queue.next();
        entry.is_some()
    });
    assert!(is_there && &buffer[..12] == b"still there?");
}

/// Answers one process: memory of `bytes` bytes of which it says `len`, and any grant.
fn serve(offer: Offer, bytes: usize, len: u64, grant: Grant) {
    let mut ready = [libc::pollfd {
        fd: std::os::fd::AsRawFd::as_raw_fd(&offer.as_fd()),
        events: libc::POLLIN,
        revents: 0,
    }];
    handover::poll(&mut ready, None).unwrap();
    let mut stream = offer.accept().unwrap().unwrap();
    // Nobody is waited for in vain.
    drop(offer);
    let mut hello = [0; 16 + Request::BYTES];
    stream.read_exact(&mut hello).unwrap();
    let memory = Memfd::create(c"nonsense", bytes).unwrap();
    handover::give(&stream, &Welcome { len }.encode(), &memory).unwrap();
    let mut request = [0; Request::BYTES];
    while stream.read_exact(&mut request).is_ok() {
        if request[0] == 2 && stream.write_all(&Grant::encode_all(Ok(grant))).is_err() {
            return;
        }
    }
}

/// Lets the process of an address tell of memory that it has not, and of rings that lie nowhere.
#[test]
fn a_domain_survives_servers_that_talk_nonsense() {
    let mut next = numbers();
    let mut reached = 0;
    let port = domain().shared().port();
    for round in 0..300 {
        let offer = Offer::new().unwrap();
        let address = wire::address(offer.ticket(), 0, port);
        let bytes = TABLE_BYTES + (1 << 20);
        let len = match round % 4 {
            0 => next() >> (next() % 64),
            1 => 2 * bytes as u64,
            _ => bytes as u64,
        };
        let near = |number: u64| (bytes as u64 - (number % 4) * 4096).wrapping_add(number >> 60);
        let words: [u64; 8] = std::array::from_fn(|_| next());
        let of = |at: usize, likely: u64| match words[at] % 8 {
            0 => words[at + 1],
            1 => near(words[at + 1]),
            _ => likely,
        };
        let grant = Grant {
            offset: of(0, TABLE_BYTES as u64),
            capacity: of(2, 1 << (6 + words[3] % 27)) as u32,
            bell: of(4, words[5] % 2000) as u32,
            bells: of(6, TABLE_BYTES as u64 + (1 << 19)),
            is_by_bytes: words[7].is_multiple_of(4),
        };
        std::thread::scope(|scope| {
            scope.spawn(move || serve(offer, bytes, len, grant));
            // Its connections end with it.
            let domain = domain();
            let (endpoint, vector, _) = endpoint(&domain);
            let peer = vector.insert(&address).unwrap();
            for _ in 0..3 {
                let sent = endpoint.inject(peer, b"hello");
                reached += u32::from(sent.is_ok());
                let is_known = matches!(
                    sent,
                    Ok(()) | Err(Error::Broken | Error::PeerGone | Error::Again | Error::TooLong)
                );
                assert!(is_known, "{grant:?} of {len} bytes: {sent:?}");
            }
            assert!(endpoint.resolve(peer, 1).is_err());
        });
    }
    assert!(
        reached > 10,
        "{reached} messages reached a peer whose grant made sense"
    );
}
