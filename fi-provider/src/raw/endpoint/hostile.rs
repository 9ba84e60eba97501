//! A peer that fills the ring of an endpoint with records of all kinds, of any words.

use super::injected::UNNUMBERED;
use super::link::Link;
use super::links::Beyond;
use super::{Atomic, Config, Endpoint, Few, Level, Posted, Typed, Wanted};
use crate::raw::address::Address;
use crate::raw::address_vector::{AddressVector, PeerIndex};
use crate::raw::completion::{CompletionQueue, Context, Counted, Operation, Silent};
use crate::raw::domain::{self, Domain};
use crate::raw::error::Error;
use crate::raw::protocol::Kind;
use crate::raw::region::{Addressing, Region, Rights, TABLE_BYTES};
use std::time::{Duration, Instant};

/// Longest time that the endpoint may take to serve an honest peer.
const LIMIT: Duration = Duration::from_secs(20);
/// Number of records that the hostile peer sends, for each way that its bytes go.
const RECORDS: u32 = 30_000;
/// Bytes around everything that may be written.
const GUARD: usize = 512;
/// The byte of guards, and of buffers that are posted to nobody.
const KEPT: u8 = 0xa5;
/// Bytes of each region.
const LEN: usize = 3000;
/// Bytes of the longest buffer for messages.
const LONGEST: usize = 4000;

/// Random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        ((self.next() >> 32) as usize) % bound
    }

    fn of(&mut self, choices: &[u64]) -> u64 {
        choices[self.below(choices.len())]
    }
}

/// Bytes between guards.
struct Guarded {
    bytes: Vec<u8>,
    start: *mut u8,
}

impl Guarded {
    fn new(len: usize) -> Self {
        let mut bytes = vec![KEPT; len + 2 * GUARD];
        let start = bytes.as_mut_ptr();
        Self { bytes, start }
    }

    fn as_ptr(&self) -> *mut u8 {
        self.start.wrapping_add(GUARD)
    }

    fn len(&self) -> usize {
        self.bytes.len() - 2 * GUARD
    }

    /// Returns a byte, counted from the first guard.
    fn byte(&self, index: usize) -> u8 {
        assert!(index < self.bytes.len());
        // SAFETY: the byte is of the vector, and no other thread writes it.
        unsafe { self.start.wrapping_add(index).read_volatile() }
    }

    fn check(&self, what: &str) {
        let is_kept = |index| self.byte(index) == KEPT;
        assert!((0..GUARD).all(is_kept), "bytes before {what}");
        let behind = GUARD + self.len();
        assert!((behind..behind + GUARD).all(is_kept), "bytes behind {what}");
    }

    fn check_all(&self, what: &str) {
        let changed = (0..self.bytes.len()).find(|&index| self.byte(index) != KEPT);
        assert_eq!(changed, None, "byte of {what}, guard included");
    }

    fn clear(&mut self) {
        // SAFETY: the bytes are the vector's, and nobody else uses them now.
        unsafe { self.start.write_bytes(KEPT, self.bytes.len()) };
    }
}

/// A domain with one endpoint.
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
            ring_bytes: 1 << 13,
            ..domain::Config::default()
        };
        let domain = Domain::open(config).unwrap();
        let (vector, queue) = (AddressVector::new(), CompletionQueue::new(64));
        let mut config = Config::new(&queue);
        // Answers that wait for the hostile peer take no room from messages.
        config.transmit = CompletionQueue::new(64);
        let endpoint = Endpoint::open(&domain, &vector, config).unwrap();
        Self {
            endpoint,
            queue,
            vector,
            domain,
        }
    }

    fn insert(&self, other: &Self) -> PeerIndex {
        self.vector.insert(&other.endpoint.address()).unwrap()
    }

    fn register(&self, memory: &Guarded, rights: Rights, key: u64, how: Addressing) -> Region {
        // SAFETY: the test drops the region before the memory.
        let region = unsafe {
            let (place, len) = (memory.as_ptr(), memory.len());
            self.domain.register(place, len, rights, Some(key), how)
        };
        region.unwrap()
    }
}

/// A buffer for messages, and whether it is posted.
struct Inlet {
    memory: Guarded,
    is_posted: bool,
    is_tagged: bool,
}

/// The endpoint that everything is sent to, and the memory that may change.
struct Victim {
    side: Side,
    inlets: Vec<Inlet>,
    open: Vec<(Guarded, Region)>,
    read_only: (Guarded, Region),
    /// Memory to which own operations store, and the number of those under way.
    found: Vec<Guarded>,
    hostile: PeerIndex,
    honest: PeerIndex,
    /// Messages of the honest peer.
    heard: u64,
}

/// The context of the buffers of the honest peer.
const HONEST: u64 = 1000;

impl Victim {
    fn new(side: Side, hostile: &Side, honest: &Side) -> Self {
        let open = [(1, Addressing::Offset), (2, Addressing::Virtual)].map(|(key, how)| {
            let memory = Guarded::new(LEN);
            let region = side.register(&memory, Rights::ALL, key, how);
            (memory, region)
        });
        let memory = Guarded::new(LEN);
        let region = side.register(&memory, Rights::READ, 3, Addressing::Offset);
        let inlet = |index: u64| Inlet {
            memory: Guarded::new(LONGEST - 331 * index as usize),
            is_posted: false,
            is_tagged: false,
        };
        Self {
            open: open.into_iter().collect(),
            read_only: (memory, region),
            inlets: (0..10_u64).map(inlet).collect(),
            found: (0..8).map(|_| Guarded::new(LEN)).collect(),
            hostile: side.insert(hostile),
            honest: side.insert(honest),
            heard: 0,
            side,
        }
    }

    /// Posts buffers that are not: some for the hostile peer alone, some for several messages, some
    /// for tagged ones.
    fn post(&mut self, random: &mut Random) {
        for (context, inlet) in (0..).zip(&mut self.inlets) {
            if !inlet.is_posted && random.below(4) > 0 {
                inlet.memory.check_all("a buffer that is not posted");
                inlet.is_tagged = random.below(2) == 0;
                let endpoint = &self.side.endpoint;
                let (place, len) = (inlet.memory.as_ptr(), inlet.memory.len());
                // SAFETY: the buffer stays, and is left alone until its last entry.
                inlet.is_posted = unsafe {
                    if inlet.is_tagged {
                        post_tagged(endpoint, self.hostile, (place, len), context, random)
                    } else {
                        let posted = Posted {
                            context,
                            source: Some(self.hostile),
                            least: (random.below(2) == 0).then(|| random.below(200)),
                        };
                        endpoint.post_receive(place, len, posted);
                        true
                    }
                };
            }
        }
    }

    /// Makes progress, and takes entries.
    fn turn(&mut self) {
        self.side.endpoint.progress();
        while self.side.endpoint.config.transmit.next().is_some() {}
        while let Some(told) = self.side.queue.next() {
            let entry = told.unwrap_or_else(|failure| failure.entry);
            if entry.operation != Operation::Receive {
                continue;
            }
            if entry.context == HONEST {
                assert!(told.is_ok() && entry.source == Some(self.honest));
                self.heard += 1;
                continue;
            }
            let inlet = &mut self.inlets[entry.context as usize];
            // The end of a buffer may come without a message.
            let is_its = entry.source == Some(self.hostile) || entry.len == 0;
            assert!(inlet.is_posted && is_its, "{entry:?}");
            assert_eq!(entry.tag.is_some(), inlet.is_tagged, "{entry:?}");
            assert!(entry.offset + entry.len <= inlet.memory.len());
            inlet.memory.check("a buffer");
            if entry.is_last {
                inlet.is_posted = false;
                inlet.memory.clear();
            }
        }
    }

    /// Begins an operation with the hostile peer, if there is room for it.
    fn ask(&mut self, random: &mut Random) {
        let (endpoint, peer) = (&self.side.endpoint, self.hostile);
        let memory = &self.found[random.below(self.found.len())];
        let (place, len) = (memory.as_ptr(), 1 + random.below(LEN));
        let Ok(region) = endpoint.resolve(peer, 1) else {
            return;
        };
        // SAFETY: the memory is kept until the endpoint is dropped.
        let begun = unsafe {
            match random.below(5) {
                4 => match region.ask_injected(8, Typed::wire_of(7, 2), place) {
                    Few::Not => Err(Error::Again),
                    _ => {
                        region.wake_peer();
                        Ok(())
                    }
                },
                0 => endpoint.send(peer, place, len, Some(5), Level::Delivered, Context(7)),
                1 => endpoint.read(&region, 0, place, len, Counted),
                2 => endpoint.write(&region, 0, place, len, Silent),
                _ => endpoint.fetch_atomic(&region, (8, 8), Atomic::Add, (1, 2), place, Counted),
            }
        };
        let is_known = matches!(begun, Ok(()) | Err(Error::Again | Error::PeerGone));
        assert!(is_known, "{begun:?}");
    }

    fn check(&self) {
        self.open.iter().for_each(|(one, _)| one.check("a region"));
        self.read_only
            .0
            .check_all("a region that peers may read alone");
        self.found
            .iter()
            .for_each(|one| one.check("where an operation stores"));
        for inlet in &self.inlets {
            inlet.memory.check("a buffer");
            if !inlet.is_posted {
                inlet.memory.check_all("a buffer that is not posted");
            }
        }
    }

    /// Serves an honest peer: a message, and operations on memory by the ring.
    fn serve(&mut self, honest: &Side, own: PeerIndex) {
        let mut message = [0_u8; 40];
        let posted = Posted {
            context: HONEST,
            source: Some(self.honest),
            least: None,
        };
        let heard = self.heard + 1;
        let (is_tagged, place) = (heard.is_multiple_of(2), message.as_mut_ptr());
        let wanted = Wanted {
            source: Some(self.honest),
            ..Wanted::tag(heard)
        };
        // SAFETY: the buffer stays until its entry, for which the loop below waits.
        unsafe {
            if is_tagged {
                (self.side.endpoint).post_tagged(place, 40, wanted, HONEST);
            } else {
                self.side.endpoint.post_receive(place, 40, posted);
            }
        }
        let before = honest.endpoint.config.done.read();
        let region = honest.endpoint.resolve(own, 4).unwrap();
        let (word, mut found) = (heard.to_le_bytes(), [0_u64; 2]);
        let start = Instant::now();
        let mut begun = 0;
        while self.heard < heard || honest.endpoint.config.done.read() < before + 3 {
            assert!(start.elapsed() < LIMIT, "an honest peer is not served");
            // SAFETY: the words stay until all three are done.
            let next = unsafe {
                let [old, read] = found.each_mut().map(|word| std::ptr::from_mut(word).cast());
                let to = &honest.endpoint;
                match begun {
                    0 if is_tagged => to.inject_tagged(own, &[7; 40], heard, None),
                    0 => to.inject(own, &[7; 40]),
                    1 => to.write(&region, 8, word.as_ptr(), 8, Counted),
                    2 => to.fetch_atomic(&region, (0, 8), Atomic::Add, (1, 0), old, Counted),
                    3 if to.config.done.read() > before => to.read(&region, 8, read, 8, Counted),
                    _ => Err(Error::Again),
                }
            };
            match next {
                Ok(()) => begun += 1,
                Err(error) => assert_eq!(error, Error::Again),
            }
            self.turn();
            honest.endpoint.progress();
        }
        assert_eq!((message, found), ([7; 40], [heard - 1, heard]));
    }
}

/// Posts a buffer for a tagged message of the hostile peer, or for one that was claimed, or drops
/// some. Returns whether the buffer is posted.
///
/// # Safety
/// As [`Endpoint::post_receive`].
unsafe fn post_tagged(
    endpoint: &Endpoint,
    hostile: PeerIndex,
    (place, len): (*mut u8, usize),
    context: u64,
    random: &mut Random,
) -> bool {
    let wanted = Wanted {
        tag: random.of(&[0, 1, 1 << 32, u64::MAX]),
        ignore: random.of(&[0, 0xf, !0, !0]),
        source: Some(hostile),
    };
    let is_it = |peeked: super::Peeked| peeked.source == Some(hostile);
    match random.below(6) {
        0 => {
            assert!(endpoint.claim(wanted, context).is_none_or(is_it));
            // SAFETY: `place` has room for `len` bytes and is nobody else's until the entry is there,
            // as `post_receive` asks, and the caller promises the same.
            unsafe { endpoint.receive_claimed(&[(place, len)], context, context) }.unwrap()
        }
        1 => {
            assert!(endpoint.claim(wanted, context).is_none_or(is_it));
            assert!(endpoint.peek(wanted).is_none_or(is_it));
            endpoint.discard_claimed(random.below(10) as u64);
            false
        }
        2 => {
            while endpoint.discard(wanted).is_some() {}
            false
        }
        _ => {
            // SAFETY: `place` has room for `len` bytes and is nobody else's until the entry is there,
            // as `post_receive` asks, and the caller promises the same.
            unsafe { endpoint.post_tagged(place, len, wanted, context) };
            true
        }
    }
}

/// Sends a record of any kind: of words that make sense somewhere, or of others.
fn assail(random: &mut Random, link: &Link, addresses: &[u64]) -> Result<(), Error> {
    let kind = match random.below(64) {
        0 => random.next() as u16,
        1 => 10,
        other => {
            (1 + other % 9) as u16
                | if random.below(4) == 0 {
                    random.of(&FLAGS) as u16
                } else {
                    0
                }
        }
    };
    let mut word = |index: usize| {
        let number = ((1 + random.next() % 6) << 32) | (random.next() % 12);
        let near = (random.next() % (LEN as u64 + 16)).wrapping_sub(8);
        let address = random.of(addresses).wrapping_add(near);
        let likely = match index {
            0 => number,
            1 => random.of(&[1, 2, 3, 4, 77, address]),
            2 => random.of(&[address, near, LEN as u64]),
            _ => random.of(&[near, 1, 0x308, 0x104, 0x708, address]),
        };
        random.of(&[
            likely,
            likely,
            likely,
            likely,
            number,
            near,
            0,
            UNNUMBERED,
            u64::MAX,
            1 << 63,
        ])
    };
    let words: [u64; 6] = std::array::from_fn(&mut word);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let bytes = [bytes, vec![0x3c; link.eager]].concat();
    let len = match random.below(4) {
        0 => random.below(64),
        1 => random.below(bytes.len()),
        _ => 8 * random.below(9),
    };
    // SAFETY: there are at least so many bytes; a record takes those of six words beside `eager`.
    unsafe { link.post(kind, [], bytes.as_ptr(), len) }
}

const FLAGS: [u64; 11] = [
    0x100, 0x200, 0x300, 0x400, 0xff00, 0x1000, 0x1000, 0x1100, 0x1200, 0x1300, 0x1400,
];

/// Opens a link from the hostile peer to the endpoint of this address.
fn assailing(hostile: &Side, address: &Address) -> Link {
    let (domain, own) = (&hostile.domain, hostile.endpoint.number);
    Link::open(domain, own, Beyond::Nothing, address).unwrap()
}

/// Has a hostile peer go on for a while; `is_quick`: the kernel copies between the two.
fn endure(seed: u64, is_quick: bool) {
    let mut random = Random(seed);
    let [hostile, honest] = [Side::open(), Side::open()];
    let target = Guarded::new(LEN);
    let region = hostile.register(&target, Rights::ALL, 1, Addressing::Offset);
    let side = Side::open();
    let address = side.endpoint.address();
    let own = honest.insert(&side);
    let mut victim = Victim::new(side, &hostile, &honest);
    let own_memory = Guarded::new(16);
    // SAFETY: two words, which are zero for the honest peer's counter.
    unsafe { own_memory.as_ptr().write_bytes(0, 16) };
    let own_region = victim
        .side
        .register(&own_memory, Rights::ALL, 4, Addressing::Offset);
    honest.endpoint.avoid_kernel(own).unwrap();
    if !is_quick {
        victim.side.endpoint.avoid_kernel(victim.hostile).unwrap();
    }
    let addresses = [
        0,
        0,
        victim.open[1].0.as_ptr().addr() as u64,
        target.as_ptr().addr() as u64,
    ];
    let mut link = assailing(&hostile, &address);
    let mut sent = 0;
    while sent < RECORDS {
        victim.post(&mut random);
        for _ in 0..random.below(3) {
            victim.ask(&mut random);
        }
        let mut is_refused = false;
        for _ in 0..random.below(24) {
            let is_sent = assail(&mut random, &link, &addresses).is_ok();
            is_refused |= !is_sent;
            sent += u32::from(is_sent);
        }
        victim.turn();
        if random.below(16) == 0 {
            // A receiver that takes its answers, for once.
            hostile.endpoint.progress();
            while hostile.queue.next().is_some() {}
        }
        if is_refused && random.below(4) == 0 {
            // Its ring may be closed.
            link = assailing(&hostile, &address);
        }
        if random.below(32) == 0 {
            victim.check();
            // The hostile peer may have changed the word, too.
            // SAFETY: the word is of the memory, aligned as the allocator aligns so many bytes, and
            // nobody else uses it now.
            unsafe { own_memory.as_ptr().cast::<u64>().write(victim.heard) };
            victim.serve(&honest, own);
            own_memory.check("a region");
        }
    }
    // All that waits for the hostile peer ends with it.
    let before = victim.side.endpoint.resolve(victim.hostile, 1);
    drop(link);
    drop(hostile);
    let is_over = victim.side.endpoint.wait(LIMIT, || {
        while victim.side.queue.next().is_some() {}
        while victim.side.endpoint.config.transmit.next().is_some() {}
        let endpoint = &victim.side.endpoint;
        endpoint.pending.borrow().len() == 0 && !endpoint.has_unnumbered()
    });
    assert!(is_over, "operations with a peer that is gone wait for ever");
    if let Ok(region) = before {
        let endpoint = &victim.side.endpoint;
        // Its endpoint says that it is closed before its process is gone, whose memory can be read
        // until then.
        let is_noticed = endpoint.wait(LIMIT, || !region.link.is_alive());
        assert!(is_noticed, "the end of a peer is not noticed");
        let place = victim.found[0].as_ptr();
        // SAFETY: the memory is kept until the endpoint is dropped.
        let late = unsafe { endpoint.read(&region, 0, place, 8, Counted) };
        assert_eq!(
            late,
            Err(Error::PeerGone),
            "of a region that was looked up before"
        );
    }
    drop((own_region, region));
}

/// Returns the seed of a run, and prints it.
fn seed() -> u64 {
    let seed = std::env::var("FARREACH_SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    let now = || {
        std::time::UNIX_EPOCH
            .elapsed()
            .map_or(1, |time| time.as_nanos() as u64 | 1)
    };
    let seed = seed.unwrap_or_else(now);
    println!("FARREACH_SEED={seed}");
    seed
}

#[test]
fn records_by_the_kernels_copy_do_no_harm() {
    endure(seed(), true);
}

#[test]
fn records_by_rings_alone_do_no_harm() {
    endure(seed(), false);
}

/// Words of an entry in a table of regions, and the first of them, its state.
const ENTRY: usize = 8;

/// Writes nonsense over the table of regions of the peer that `link` leads to: every region lies at
/// `there`, ends nowhere, and allows everything; `is_used`: or there is none.
fn scribble(link: &Link, there: u64, is_used: bool) -> usize {
    let words = link.near().unwrap().at(0).cast::<u64>();
    let mut changed = 0;
    for entry in (0..TABLE_BYTES / 8).step_by(ENTRY) {
        // SAFETY: the words are of the peer's table, which is mapped, aligned, and not used by
        // another thread meanwhile.
        unsafe {
            if words.add(entry).read() != 0 {
                let state = words.add(entry).read() | 7 << 8;
                words.add(entry).write(if is_used { state & !2 } else { 0 });
                words.add(entry + 2).write(there);
                words.add(entry + 3).write(u64::MAX);
                words.add(entry + 4).write(0);
                changed += 1;
            }
        }
    }
    changed
}

#[test]
fn a_table_of_regions_that_a_peer_has_written_moves_none() {
    let [hostile, side] = [Side::open(), Side::open()];
    side.insert(&hostile);
    let open = Guarded::new(LEN);
    let read_only = Guarded::new(LEN);
    let secret = Guarded::new(LEN);
    let regions = [
        side.register(&open, Rights::ALL, 1, Addressing::Offset),
        side.register(&read_only, Rights::READ, 3, Addressing::Offset),
    ];
    let memory = side
        .domain
        .allocate(64, Rights::ALL, Some(2), Addressing::Offset);
    let memory = memory.unwrap();
    let address = side.endpoint.address();
    let link = Link::open(
        &hostile.domain,
        hostile.endpoint.number,
        Beyond::Nothing,
        &address,
    )
    .unwrap();
    let assail = || {
        for key in 1..=3 {
            for offset in [0, 8, LEN as u64 - 8, LEN as u64] {
                let add = [5 << 32, key, offset, 0x308, 1, 0];
                link.tell(Kind::Atomic, add).unwrap();
                let write = [5 << 32, key, offset, 1, u64::MAX];
                link.tell(Kind::Write, write).unwrap();
            }
            side.endpoint.progress();
            hostile.endpoint.progress();
        }
    };
    for is_used in [true, false] {
        let changed = scribble(&link, secret.as_ptr().addr() as u64, is_used);
        assert_eq!(changed, 3);
        assail();
        open.check("a region");
        read_only.check_all("a region that peers may read alone");
        secret.check_all("what is no region");
        assert_eq!(open.byte(GUARD + LEN - 1), 0xff, "a region is where it was");
        let again = side
            .domain
            .allocate(64, Rights::ALL, Some(2), Addressing::Offset);
        assert_eq!(again.err(), Some(Error::KeyTaken));
    }
    drop((regions, memory));
    open.check("a region");
    assail();
    secret.check_all("what is no region");
    let again = side.register(&open, Rights::ALL, 1, Addressing::Offset);
    let found = link.near().unwrap().table().find(1).unwrap();
    assert_eq!(
        (found.base, found.len),
        (open.as_ptr().addr() as u64, LEN as u64)
    );
    drop(again);
}
