//! The life of one process.

#![expect(unsafe_code, reason = "operations read and store at addresses")]

use crate::model::{self, LONGEST, Random};
use fi_provider::raw::address::Address;
use fi_provider::raw::address_vector::{AddressVector, PeerIndex};
use fi_provider::raw::completion::{CompletionQueue, Context, Entry, Failure, Operation};
use fi_provider::raw::domain::{self, Domain};
use fi_provider::raw::endpoint::{Atomic, Config, Endpoint, Level, Posted, RemoteRegion};
use fi_provider::raw::error::Error;
use fi_provider::raw::far::Transport;
use fi_provider::raw::region::{Addressing, Rights};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// Time in which the operations with a process that is gone have to end: with one of the node, and
/// with others, of which a device tells behind its retries.
const SOON: Duration = Duration::from_secs(5);
const SOON_BY_DEVICE: Duration = Duration::from_secs(30);
/// Time that a process waits for anything else.
const LIMIT: Duration = Duration::from_secs(60);
/// Bytes before the slots of a region: a word for each peer, by rank.
const WORDS: usize = 4096;
/// The keys of the two regions: in the arena, and in other memory.
const KEYS: [u64; 2] = [1, 2];
/// Buffers that are posted at a time: every third is for several messages.
const BUFFERS: u64 = 6;
/// Messages to one peer under way, at most.
const AHEAD: usize = 6;

/// An operation that waits for its entry.
struct Pending {
    peer: u64,
    bytes: Box<[u8]>,
    what: What,
}

enum What {
    Message,
    /// Of a region, from an offset of the own slot on.
    Write(usize),
    Read(usize, usize),
    Atomic(usize),
}

/// The part of a peer's region that is this process's: the slot, the word, and whether it is in use.
struct Place {
    region: RemoteRegion,
    slot: Vec<u8>,
    word: u64,
    is_busy: bool,
}

struct Peer {
    index: PeerIndex,
    places: Vec<Place>,
    sent: u64,
    ahead: usize,
}

struct Buffer {
    bytes: Box<[u8]>,
    context: u64,
}

struct Party {
    id: u64,
    rank: usize,
    /// Time in which operations with a process that is gone have to end.
    soon: Duration,
    /// Whether there is a device, which keeps its resources for peers that are gone.
    has_device: bool,
    seed: u64,
    random: Random,
    endpoint: Endpoint,
    queue: CompletionQueue,
    receive: CompletionQueue,
    vector: AddressVector,
    peers: BTreeMap<u64, Peer>,
    pending: BTreeMap<u64, Pending>,
    next: u64,
    buffers: Vec<Buffer>,
    /// By their senders: the messages that have come, without gaps up to a number, and behind it.
    come: BTreeMap<u64, (u64, BTreeSet<u64>)>,
    /// Peers with which an operation has failed, or that are known to be gone.
    failed: BTreeSet<u64>,
    counts: [u64; 4],
}

/// Lives as process `id` in place `rank`, by the commands of standard input.
pub(crate) fn live(id: u64, rank: usize, seed: u64, parties: usize, far: Option<Transport>) {
    let config = domain::Config {
        far,
        node: far.map(|_| rank as u32 / 2),
        ..domain::Config::default()
    };
    let domain = Domain::open(config).expect("a domain");
    let len = WORDS + parties * LONGEST;
    let addressing = Addressing::Offset;
    let arena = domain.allocate(len, Rights::ALL, Some(KEYS[0]), addressing);
    let arena = arena.expect("memory of the arena");
    let mut foreign = vec![0_u64; len / 8];
    // SAFETY: the memory is dropped behind the region.
    let region = unsafe {
        let place = foreign.as_mut_ptr().cast();
        domain.register(place, len, Rights::ALL, Some(KEYS[1]), addressing)
    };
    let region = region.expect("a region");
    let (vector, queue) = (AddressVector::new(), CompletionQueue::new(256));
    let mut config = Config::new(&queue);
    config.receive = CompletionQueue::new(64);
    let receive = config.receive.clone();
    let endpoint = Endpoint::open(&domain, &vector, config).expect("an endpoint");
    let mut party = Party {
        id,
        rank,
        has_device: far.is_some(),
        soon: if far.is_some() { SOON_BY_DEVICE } else { SOON },
        seed,
        random: Random::new(seed, [id, 0, 0]),
        endpoint,
        queue,
        receive,
        vector,
        peers: BTreeMap::new(),
        pending: BTreeMap::new(),
        next: 0,
        buffers: Vec::new(),
        come: BTreeMap::new(),
        failed: BTreeSet::new(),
        counts: [0; 4],
    };
    (0..BUFFERS).for_each(|context| party.post(context));
    let before = held();
    let (say, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            let _ = say.send(line);
        }
    });
    println!("address {}", party.endpoint.address());
    party.follow(&lines);
    party.check_held(before, (arena.len() + (8 << 20)) as u64);
    let [messages, writes, reads, atomics] = party.counts;
    println!("done {messages} {writes} {reads} {atomics}");
    // Others may still check theirs, for which this process answers.
    while lines.try_recv() != Ok("end".to_owned()) {
        party.turn();
        std::thread::yield_now();
    }
    drop((party, region, arena, foreign));
}

/// Returns the open descriptors, mappings of arenas, and bytes of pages in the own one.
fn held() -> (usize, usize, u64) {
    let fds = std::fs::read_dir("/proc/self/fd").expect("descriptors");
    let fds: Vec<_> = fds.map_while(Result::ok).map(|fd| fd.path()).collect();
    let is_arena = |fd: &&std::path::PathBuf| {
        std::fs::read_link(fd).is_ok_and(|to| to.to_string_lossy().contains("farreach-arena"))
    };
    let arena = fds
        .iter()
        .filter(is_arena)
        .find_map(|fd| std::fs::metadata(fd).ok());
    let maps = std::fs::read_to_string("/proc/self/maps").expect("mappings");
    let maps = maps.lines().filter(|line| line.contains("farreach-arena"));
    (
        fds.len(),
        maps.count(),
        arena.map_or(0, |file| file.blocks() * 512),
    )
}

impl Party {
    /// Does as the lines say until everything is checked.
    fn follow(&mut self, lines: &Receiver<String>) {
        let (mut is_stopping, mut expected) = (false, Vec::new());
        loop {
            let line = lines.try_recv().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |index: usize| words[index].parse::<u64>().expect("a number");
            match words.first() {
                Some(&"peer") => self.meet(number(1), words[3]),
                Some(&"dead") => {
                    self.part(number(1));
                    println!("gone {}", number(1));
                }
                Some(&"stop") => {
                    is_stopping = true;
                    self.until("the own operations", LIMIT, |party| {
                        party.pending.is_empty()
                    });
                    let sent = |(id, peer): (&u64, &Peer)| format!(" {id}:{}", peer.sent);
                    println!("sent{}", self.peers.iter().map(sent).collect::<String>());
                }
                Some(&"expect") => expected.push((number(1), number(2))),
                Some(&"check") => break,
                _ => {}
            }
            let has_begun = !is_stopping && self.begin();
            if !self.turn() && !has_begun {
                std::thread::yield_now();
            }
        }
        assert_eq!(expected.len(), self.peers.len(), "peers that have sent");
        self.until("all messages", LIMIT, |party| {
            let all = |(from, count)| party.come.get(&from).map_or(0, |come| come.0) == count;
            expected.iter().copied().all(all)
        });
        let unknown = self.failed.iter().find(|id| self.peers.contains_key(id));
        assert_eq!(
            unknown, None,
            "operations have failed with a peer that lives"
        );
    }

    fn until(&mut self, what: &str, limit: Duration, done: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            assert!(
                start.elapsed() < limit,
                "process {} waits for {what}",
                self.id
            );
            self.turn();
            std::thread::yield_now();
        }
    }

    /// Returns whether an error tells that a process is gone: a device cannot tell one that does
    /// not answer from that.
    fn is_gone(&self, error: Error) -> bool {
        error == Error::PeerGone || self.has_device && error == Error::Unreachable
    }

    fn meet(&mut self, id: u64, address: &str) {
        let index = self
            .vector
            .insert(&address.parse::<Address>().expect("an address"));
        let index = index.expect("room for a peer");
        // Half of the processes reach memory that is not mapped as where the kernel does not copy.
        if self.rank % 2 == 1 && self.endpoint.avoid_kernel(index).is_err() {
            self.failed.insert(id);
        }
        let peer = Peer {
            index,
            places: Vec::new(),
            sent: 0,
            ahead: 0,
        };
        self.peers.insert(id, peer);
    }

    /// Waits for the end of the operations with a process that is gone, and forgets it.
    fn part(&mut self, id: u64) {
        let start = Instant::now();
        let name = format!("the end of operations with {id}, which is gone");
        self.until(&name, self.soon, |party| {
            party.pending.values().all(|one| one.peer != id)
        });
        let index = self.peers[&id].index;
        loop {
            match self.endpoint.inject(index, &[]) {
                Err(error) if self.is_gone(error) => break,
                Ok(()) | Err(Error::Again) => {}
                Err(error) => panic!("process {}: to {id}, which is gone: {error:?}", self.id),
            }
            assert!(
                start.elapsed() < self.soon,
                "operations with {id}, which is gone, begin"
            );
            self.turn();
        }
        let soon = Instant::now() + Duration::from_millis(20);
        self.until("nothing", LIMIT, |_| Instant::now() > soon);
        self.vector.remove(index).expect("a peer");
        self.peers.remove(&id);
        self.come.remove(&id);
        self.failed.remove(&id);
    }

    /// Makes progress, and takes entries; whether there were any.
    fn turn(&mut self) -> bool {
        let mut is_news = false;
        while let Some(told) = self.endpoint.next(&self.queue) {
            is_news = true;
            self.finish(told);
        }
        while let Some(told) = self.receive.next() {
            is_news = true;
            self.receive(told);
        }
        is_news
    }

    fn post(&mut self, context: u64) {
        let is_for_several = context.is_multiple_of(3);
        let len = if is_for_several { 3 * LONGEST } else { LONGEST };
        let mut bytes = vec![0; len].into_boxed_slice();
        let least = is_for_several.then_some(LONGEST);
        // SAFETY: the bytes stay in `buffers` until their last entry.
        unsafe {
            let posted = Posted {
                context,
                source: None,
                least,
            };
            self.endpoint.post_receive(bytes.as_mut_ptr(), len, posted);
        }
        self.buffers.push(Buffer { bytes, context });
    }

    fn receive(&mut self, told: Result<Entry, Failure>) {
        let entry = told.unwrap_or_else(|failure| failure.entry);
        let is_it = |one: &Buffer| one.context == entry.context;
        let at = self
            .buffers
            .iter()
            .position(is_it)
            .expect("a buffer that is posted");
        match told {
            Ok(entry) => {
                // The end of a buffer may come without a message.
                if let Some(data) = entry.data {
                    let range = entry.offset..entry.offset + entry.len;
                    let (from, count) = (data >> 32, data & 0xffff_ffff);
                    let expected = model::message(self.seed, from, self.id, count);
                    assert!(
                        self.buffers[at].bytes[range] == *expected,
                        "process {}: message {count} of {from}, {} bytes instead of {}",
                        self.id,
                        entry.len,
                        expected.len()
                    );
                    let index = self.peers.get(&from).map(|peer| peer.index);
                    assert!(entry.source.is_none() || entry.source == index);
                    self.note(from, count);
                } else {
                    assert!(entry.is_last, "{entry:?}");
                }
            }
            Err(failure) => {
                assert_eq!(
                    failure.error,
                    Error::PeerGone,
                    "process {}: {failure:?}",
                    self.id
                );
                let source = entry.source;
                let whose = self
                    .peers
                    .iter()
                    .find(|(_, peer)| Some(peer.index) == source);
                self.failed.extend(whose.map(|(&id, _)| id));
            }
        }
        if entry.is_last {
            let context = self.buffers.swap_remove(at).context;
            self.post(context);
        }
    }

    /// Notes a message that has come: each comes once. Short ones may be done before longer ones
    /// that have come first.
    fn note(&mut self, from: u64, count: u64) {
        let (upto, behind) = self.come.entry(from).or_default();
        assert!(
            count >= *upto && behind.insert(count),
            "message {count} of {from} comes again"
        );
        while behind.remove(upto) {
            *upto += 1;
        }
        self.counts[0] += 1;
    }

    /// Begins an operation with any of the peers; whether one was begun.
    fn begin(&mut self) -> bool {
        let ids: Vec<u64> = self.peers.keys().copied().collect();
        if ids.is_empty() || self.pending.len() > 100 {
            return false;
        }
        let id = ids[self.random.below(ids.len())];
        if self.failed.contains(&id) {
            return false;
        }
        let begun = match self.random.below(3) {
            0 => self.send(id),
            _ => self.access(id),
        };
        match begun {
            Ok(()) => true,
            Err(Error::Again) => false,
            Err(error) if self.is_gone(error) => {
                self.failed.insert(id);
                false
            }
            Err(error) => panic!("process {}: with {id}: {error:?}", self.id),
        }
    }

    fn send(&mut self, id: u64) -> Result<(), Error> {
        let (own, seed, next) = (self.id, self.seed, self.next);
        let peer = self.peers.get_mut(&id).expect("a peer");
        if peer.ahead == AHEAD {
            return Err(Error::Again);
        }
        let bytes = model::message(seed, own, id, peer.sent).into_boxed_slice();
        let data = Some(own << 32 | peer.sent);
        let level = [Level::Free, Level::Delivered][self.random.below(2)];
        // SAFETY: the bytes stay in `pending` until the entry.
        unsafe {
            let (place, len) = (bytes.as_ptr(), bytes.len());
            self.endpoint
                .send(peer.index, place, len, data, level, Context(next))?;
        }
        peer.sent += 1;
        peer.ahead += 1;
        self.next += 1;
        self.pending.insert(
            next,
            Pending {
                peer: id,
                bytes,
                what: What::Message,
            },
        );
        Ok(())
    }

    /// Begins an operation on memory of a peer.
    fn access(&mut self, id: u64) -> Result<(), Error> {
        let which = self.random.below(KEYS.len());
        self.look_up(id)?;
        let (own, next) = (self.rank, self.next);
        let random = &mut self.random;
        let peer = self.peers.get_mut(&id).expect("a peer");
        let Some(place) = peer.places.get_mut(which).filter(|place| !place.is_busy) else {
            return Err(Error::Again);
        };
        let len = random.len();
        let offset = random.below(LONGEST - len + 1);
        let address = (WORDS + own * LONGEST + offset) as u64;
        let (endpoint, region, report) = (&self.endpoint, &place.region, Context(next));
        // SAFETY: the bytes stay in `pending` until the entry.
        let (what, bytes) = unsafe {
            match random.below(3) {
                0 => {
                    let bytes = random.bytes(len).into_boxed_slice();
                    endpoint.write(region, address, bytes.as_ptr(), len, report)?;
                    place.slot[offset..offset + len].copy_from_slice(&bytes);
                    (What::Write(which), bytes)
                }
                1 => {
                    let mut bytes = vec![0; len].into_boxed_slice();
                    endpoint.read(region, address, bytes.as_mut_ptr(), len, report)?;
                    (What::Read(which, offset), bytes)
                }
                _ => {
                    let mut bytes = vec![0; 8].into_boxed_slice();
                    let (word, found) = ((own as u64 * 8, 8), bytes.as_mut_ptr());
                    endpoint.fetch_atomic(region, word, Atomic::Add, (next, 0), found, report)?;
                    (What::Atomic(which), bytes)
                }
            }
        };
        place.is_busy = true;
        self.next += 1;
        self.pending.insert(
            next,
            Pending {
                peer: id,
                bytes,
                what,
            },
        );
        Ok(())
    }

    /// Looks the regions of a peer up, and at the own part of them: another may have had it before.
    fn look_up(&mut self, id: u64) -> Result<(), Error> {
        let peer = self.peers.get_mut(&id).expect("a peer");
        let done = peer.places.len();
        if done == KEYS.len() {
            return Ok(());
        }
        let region = self.endpoint.resolve(peer.index, KEYS[done])?;
        let slot = vec![0; LONGEST];
        peer.places.push(Place {
            region,
            slot,
            word: 0,
            is_busy: true,
        });
        let place = peer.places.last_mut().expect("one");
        let begin = |len: usize, address: usize, what: What, next: u64| {
            let mut bytes = vec![0; len].into_boxed_slice();
            let (found, address) = (bytes.as_mut_ptr(), address as u64);
            // SAFETY: the bytes stay in `pending` until the entry.
            let begun = unsafe {
                self.endpoint
                    .read(&place.region, address, found, len, Context(next))
            };
            begun.map(|()| Pending {
                peer: id,
                bytes,
                what,
            })
        };
        let (slot, word) = (WORDS + self.rank * LONGEST, self.rank * 8);
        let first = begin(LONGEST, slot, What::Read(done, usize::MAX), self.next);
        let both = first.map(|first| {
            let second = begin(8, word, What::Read(done, usize::MAX - 1), self.next + 1);
            (first, second)
        });
        let (first, second) = match both {
            Ok((first, Ok(second))) => (first, second),
            Ok((first, Err(error))) => {
                // Nothing uses the place: it is looked up again when this is over.
                self.pending.insert(self.next, first);
                self.next += 1;
                self.failed.extend((error == Error::PeerGone).then_some(id));
                peer.places.pop();
                return Err(error);
            }
            Err(error) => {
                peer.places.pop();
                return Err(error);
            }
        };
        self.pending.insert(self.next, first);
        self.pending.insert(self.next + 1, second);
        self.next += 2;
        Ok(())
    }

    /// Takes the entry of an own operation, and compares the data that it has found.
    fn finish(&mut self, told: Result<Entry, Failure>) {
        let (entry, error) = match told {
            Ok(entry) => (entry, None),
            Err(failure) => (failure.entry, Some(failure.error)),
        };
        let one = self
            .pending
            .remove(&entry.context)
            .expect("an operation under way");
        let own = self.id;
        if let Some(error) = error {
            assert_eq!(
                error,
                Error::PeerGone,
                "process {own}: {:?} with {}",
                entry,
                one.peer
            );
            self.failed.insert(one.peer);
            return;
        }
        let peer = self.peers.get_mut(&one.peer).expect("a peer");
        let expected = match one.what {
            What::Message => Operation::Send,
            What::Write(..) => Operation::Write,
            What::Read(..) => Operation::Read,
            What::Atomic(_) => Operation::Atomic,
        };
        assert_eq!((entry.operation, entry.len), (expected, one.bytes.len()));
        match one.what {
            What::Message => peer.ahead -= 1,
            What::Write(which) => {
                peer.places[which].is_busy = false;
                self.counts[1] += 1;
            }
            What::Read(which, usize::MAX) => {
                if let Some(place) = peer.places.get_mut(which) {
                    place.slot.copy_from_slice(&one.bytes);
                }
            }
            What::Read(which, offset) if offset == usize::MAX - 1 => {
                let word = u64::from_ne_bytes((*one.bytes).try_into().expect("a word"));
                peer.places[which].word = word;
            }
            What::Read(which, offset) => {
                let place = &mut peer.places[which];
                let range = offset..offset + one.bytes.len();
                let is_it = place.slot[range] == *one.bytes;
                assert!(
                    is_it,
                    "process {own}: read of {} at {offset}: {entry:?}",
                    one.peer
                );
                place.is_busy = false;
                self.counts[2] += 1;
            }
            What::Atomic(which) => {
                let place = &mut peer.places[which];
                let word = u64::from_ne_bytes((*one.bytes).try_into().expect("a word"));
                assert_eq!(word, place.word, "process {own}: the word of {}", one.peer);
                place.word = word.wrapping_add(entry.context);
                place.is_busy = false;
                self.counts[3] += 1;
            }
        }
        self.open_places(one.peer);
    }

    /// Lets operations use the places of a peer whose own parts have been read.
    fn open_places(&mut self, id: u64) {
        let is_first =
            |one: &Pending| matches!(one.what, What::Read(_, offset) if offset >= usize::MAX - 1);
        let mut waiting = self.pending.values().filter(|one| one.peer == id);
        if waiting.any(is_first) {
            return;
        }
        let busy: BTreeSet<usize> = self
            .pending
            .values()
            .filter(|one| one.peer == id)
            .filter_map(|one| match one.what {
                What::Write(which) | What::Read(which, _) | What::Atomic(which) => Some(which),
                What::Message => None,
            })
            .collect();
        let peer = self.peers.get_mut(&id).expect("a peer");
        for (which, place) in peer.places.iter_mut().enumerate() {
            place.is_busy = busy.contains(&which);
        }
    }

    /// Checks that nothing is held for processes that are gone. Each of the others has three
    /// descriptors of sockets, two of its way there and one of its way back, and one mapping of its
    /// arena.
    fn check_held(&mut self, before: (usize, usize, u64), most: u64) {
        // A lane keeps its queues as long as it is there (docs/fabric.md).
        if self.has_device {
            return;
        }
        let others = self.peers.len();
        let (fds, maps) = (before.0 + 3 * others, before.1 + others);
        let start = Instant::now();
        loop {
            let now = held();
            if now.0 <= fds && now.1 <= maps && now.2 <= most {
                return;
            }
            // The end of the last one may be noticed a moment later.
            assert!(
                start.elapsed() < self.soon,
                "process {}: descriptors, mappings and bytes of the arena: {now:?} of {:?}",
                self.id,
                (fds, maps, most)
            );
            self.turn();
        }
    }
}
