//! Endpoints that a thread of their own serves, while the program's sleeps.

#![expect(unsafe_code, reason = "sends and receives by C addresses")]

use super::waiting::{ASLEEP, processor_time};
use super::{ENTRIES, LIMIT, Party, Way, bytes, check};
use fi_provider::raw::address::Address;
use fi_provider::raw::address_vector::AddressVector;
use fi_provider::raw::completion::{CompletionQueue, Context, Entry, Failure, Operation};
use fi_provider::raw::endpoint::{Config, Endpoint, Level, Posted};
use fi_provider::raw::error::Error;
use fi_provider::raw::progress::{Progress, Served};
use fi_provider::raw::region::{Addressing, Rights};
use std::time::Duration;

/// The key of the memory that peers read.
const KEY: u64 = 6;
const LEN: usize = 1 << 20;

/// An endpoint with all that belongs to it.
struct Service {
    endpoint: Endpoint,
    queue: CompletionQueue,
    vector: AddressVector,
    /// Takes the bytes that come.
    buffer: Vec<u8>,
    /// Holds the bytes that go away.
    message: Vec<u8>,
    entries: Vec<Result<Entry, Failure>>,
}

impl Served for Service {
    fn for_each(&self, act: &mut dyn FnMut(&Endpoint)) {
        act(&self.endpoint);
    }

    fn turn(&mut self) {
        self.entries
            .extend(std::iter::from_fn(|| self.queue.next()));
    }
}

impl Service {
    /// Opens the endpoint in the party's domain.
    fn start(party: &Party<'_>) -> Progress<Self> {
        let domain = party.domain.clone();
        let open = move || {
            let (queue, vector) = (CompletionQueue::new(ENTRIES), AddressVector::new());
            Ok(Self {
                endpoint: Endpoint::open(&domain, &vector, Config::new(&queue))?,
                queue,
                vector,
                buffer: vec![0; LEN],
                message: bytes(LEN, 1),
                entries: Vec::new(),
            })
        };
        Progress::start(open).unwrap()
    }

    /// Posts the buffer, and sends the message to the endpoint of this address.
    fn exchange(&mut self, way: Way, address: &Address) {
        let peer = self.vector.insert(address).unwrap();
        if way == Way::Rings {
            self.endpoint.avoid_kernel(peer).unwrap();
        }
        let posted = Posted {
            context: 1,
            source: None,
            least: None,
        };
        let (buffer, message) = (self.buffer.as_mut_ptr(), self.message.as_ptr());
        // SAFETY: the buffer is the service's, which has it as long as its endpoint.
        unsafe { self.endpoint.post_receive(buffer, LEN, posted) };
        let mut sent = Err(Error::Again);
        self.endpoint.wait(LIMIT, || {
            let (level, report) = (Level::Delivered, Context(2));
            // SAFETY: the message is the service's, which has it as long as its endpoint.
            sent = unsafe { (self.endpoint).send(peer, message, LEN, None, level, report) };
            sent != Err(Error::Again)
        });
        assert_eq!(sent, Ok(()));
    }
}

/// Checks that a process that sleeps answers a rendezvous in each direction, and lets its memory be
/// read.
pub(crate) fn answer_while_their_process_sleeps(way: Way) {
    check(way, 2, |party| {
        let own = bytes(LEN, 2);
        let rights = Rights::READ;
        let place = own.as_ptr().cast_mut();
        let domain = &party.domain;
        // SAFETY: the memory stays until the region is dropped, before it, and is only read.
        let region = unsafe { domain.register(place, LEN, rights, Some(KEY), Addressing::Offset) };
        let region = region.unwrap();
        let service = (party.rank == 1).then(|| Service::start(party));
        let address = match &service {
            Some(service) => service.with(|service| service.endpoint.address()),
            None => party.endpoint.address(),
        };
        let told = party.meeting.exchange(party.rank, &address.to_bytes());
        let other = Address::of_bytes(&told[1 - party.rank as usize]).unwrap();
        if let Some(service) = service {
            service.post(move |service| service.exchange(way, &other));
            while party.meeting.told(0) == 0 {
                party.meeting.give_up_if_failed();
                // The kernel's nanosleep.
                std::thread::sleep(Duration::from_millis(5));
            }
            let (entries, buffer) = service.with(|service| {
                let buffer = std::mem::take(&mut service.buffer);
                (std::mem::take(&mut service.entries), buffer)
            });
            assert!(buffer == bytes(LEN, 3));
            let told = entries.iter().map(|entry| {
                let entry = entry.expect("an operation that is done");
                (entry.operation, entry.context, entry.len)
            });
            let mut told: Vec<_> = told.collect();
            told.sort_by_key(|&(_, context, _)| context);
            let expected = [(Operation::Receive, 1, LEN), (Operation::Send, 2, LEN)];
            assert_eq!(told, expected);
            rests(way);
        } else {
            visit(way, party, &other);
            party.meeting.tell(0, 1);
        }
        party.meet();
        drop(region);
    });
}

/// Takes the message of a service, sends it one, and reads the memory of its process.
fn visit(way: Way, party: &Party<'_>, other: &Address) {
    let peer = party.vector.insert(other).unwrap();
    if way == Way::Rings {
        party.endpoint.avoid_kernel(peer).unwrap();
    }
    let (mut first, mut second) = (vec![0; LEN], vec![0; LEN]);
    let message = bytes(LEN, 3);
    let posted = Posted {
        context: 1,
        source: None,
        least: None,
    };
    let there = party.insist(|| party.endpoint.resolve(peer, KEY)).unwrap();
    // SAFETY: the buffers and the message stay until the entries below.
    unsafe {
        let endpoint = &party.endpoint;
        endpoint.post_receive(first.as_mut_ptr(), LEN, posted);
        let (level, report) = (Level::Delivered, Context(2));
        let message = message.as_ptr();
        party
            .insist(|| endpoint.send(peer, message, LEN, None, level, report))
            .unwrap();
        party
            .insist(|| endpoint.read(&there, 0, second.as_mut_ptr(), LEN, Context(3)))
            .unwrap();
    }
    let mut contexts = [(); 3].map(|()| party.entry().unwrap().context);
    contexts.sort_unstable();
    assert_eq!(contexts, [1, 2, 3]);
    assert!(first == bytes(LEN, 1) && second == bytes(LEN, 2));
    // So that the peer has been told that its message was taken.
    assert!(party.endpoint.quiet(LIMIT));
    std::thread::sleep(ASLEEP);
}

/// Checks that the thread sleeps where nothing is to do.
fn rests(way: Way) {
    const WHILE: Duration = Duration::from_millis(200);
    const MOST: Duration = Duration::from_millis(30);
    let before = processor_time(way);
    std::thread::sleep(WHILE);
    let taken = processor_time(way) - before;
    assert!(taken < MOST, "{taken:?} of {WHILE:?}");
}
