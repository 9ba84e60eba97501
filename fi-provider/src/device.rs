//! The node's device under a domain: what is registered with it, the lane, and the way to the peers.

#![expect(
    unsafe_code,
    reason = "registers memory, and keeps views of memory that peers write"
)]

use crate::domain::Placement;
use crate::memory::Window;
use crate::wire::Address;
use fi_mlx5::device::{self as hca, CompletionQueue, Peer, QueuePair, Region, Target};
use fi_mlx5::lane::{Failure, Hook, Lane, Local, Parts, Posted, Queues, To};
use fi_mlx5::post::Route;
use fi_mlx5::remote::Remote;
use fi_shm::segment::{Memfd, Reservation, page_size};
use std::cell::Cell;
use std::fmt::{self, Display};
use std::sync::atomic::AtomicU64;

/// How a device reaches peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A connected queue pair for each peer (RC).
    Rc,
    /// One initiator for all peers, each with a target (DC).
    Dc,
}

impl Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rc => "RC",
            Self::Dc => "DC",
        })
    }
}

/// How [`crate::domain::Domain::open_device`] opens the device.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// How it reaches peers.
    pub transport: Transport,
    /// Whether several threads may use the default endpoint at a time.
    pub shared: bool,
    /// Words of 8 bytes that peers may write and read, for the layers above.
    pub mailbox_words: usize,
}

/// Why the device cannot be used.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is none, or it refused something.
    #[error(transparent)]
    Hca(#[from] fi_mlx5::error::Error),
    /// The device does not do what this fabric needs.
    #[error("{device} has no {what}")]
    Lacks {
        /// The device's name.
        device: String,
        /// What it has not.
        what: &'static str,
    },
    /// Memory for the device's own use cannot be had.
    #[error("memory for the device: {0}")]
    Memory(#[from] std::io::Error),
    /// The window is in more parts than peers have keys for.
    #[error("the symmetric memory is in {0} parts, and a device takes at most {PARTS}")]
    Scattered(usize),
    /// What a peer told of its device makes no sense.
    #[error("what peer {0} told of its device makes no sense")]
    Garbled(usize),
    /// The domain has no device.
    #[error("the device is not open")]
    NotOpen,
}

/// Parts of a window that can be registered: a peer's record has a key for each.
pub(crate) const PARTS: usize = 2;
/// Basic blocks of each send queue.
const BLOCKS: u32 = 512;
/// Entries of a completion queue, beside one for each send queue: posts wait when as many completions are due.
const COMPLETIONS: u32 = 4096;
/// The key by which initiators enter the targets. It keeps strangers out by accident only.
const DC_KEY: u64 = 0x6661_7272_6561_6368;
/// Bytes of a piece of the bounce memory, and pieces.
pub(crate) const PIECE: usize = 32 << 10;
pub(crate) const PIECES: usize = 8;

/// Where things lie in the device's own memory, in bytes: results that nobody wants, results of blocking operations,
/// the mailbox, and then the bounce memory.
const DISCARD: usize = 0;
const RESULT: usize = 64;
const MAILBOX: usize = 128;

unsafe extern "C" {
    fn dlsym(handle: *mut libc::c_void, name: *const libc::c_char) -> *mut libc::c_void;
}

/// What a software device calls itself by, if the process runs on one.
fn software_hook() -> Option<Hook> {
    // SAFETY: the name is a C string, and the lookup has no other precondition.
    let found = unsafe { dlsym(libc::RTLD_DEFAULT, c"farreach_softhca_kick".as_ptr()) };
    // SAFETY: the function of this name is of this type (docs/softhca.md).
    (!found.is_null()).then(|| unsafe { std::mem::transmute::<*mut libc::c_void, Hook>(found) })
}

/// Whether there is a device that a domain can open.
///
/// # Errors
/// What is missing.
pub fn probe() -> Result<(), Error> {
    hca::Device::open(None)?;
    Ok(())
}

/// A registered part of the own window.
#[derive(Debug)]
struct Part {
    region: Region,
    base: usize,
    len: usize,
    /// Its number among the window's parts, the same in all processes.
    number: usize,
}

/// An open device.
#[derive(Debug)]
pub(crate) struct Device {
    lane: Lane,
    pairs: Vec<QueuePair>,
    _completions: CompletionQueue,
    target: Option<Target>,
    /// The parts of the window in the order of their addresses.
    parts: Vec<Part>,
    own: Region,
    memory: Reservation,
    mailbox_words: usize,
    /// What wrote or reads each piece of the bounce memory last.
    pub(crate) pieces: [Cell<Option<Posted>>; PIECES],
    pub(crate) next_piece: Cell<usize>,
    near_atomics: Cell<bool>,
    /// The peers' mailboxes: what to add to a place in the own one, and the key.
    mailboxes: Vec<Remote>,
    split: usize,
    transport: Transport,
    hca: hca::Device,
}

// SAFETY: a device that is not `shared` is used by one thread at a time (the contract of `Endpoint::enable`); one that
// is takes the lane's lock around every use of what changes. The raw pointers lead to memory that the device's objects keep.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl Device {
    /// Opens the device, registers the window and makes the lane.
    pub(crate) fn open(
        window: &Window,
        placement: &Placement,
        config: Config,
    ) -> Result<Self, Error> {
        let hca = hca::Device::open(None)?;
        let lacks = |what| Error::Lacks {
            device: hca.name().to_owned(),
            what,
        };
        if !hca.features().host_endian_atomics {
            return Err(lacks(
                "atomic operations with results in the machine's byte order",
            ));
        }
        if config.transport == Transport::Dc && !hca.features().dc {
            return Err(lacks("dynamic connections (DC); use RC"));
        }
        let registered = register(&hca, window)?;
        let memory = own_memory(config.mailbox_words)?;
        // SAFETY: the mapping was just made, and only this device uses it, by cells and atomics.
        let own = unsafe { hca.register(memory.base() as *mut u8, memory.len())? };
        let domain = hca.lane_domain()?;
        if !domain.exclusive() {
            // Its queue pairs would have different registers, and the lane writes one.
            return Err(lacks(
                "doorbell register for a lane of its own (thread domains)",
            ));
        }
        let entries = COMPLETIONS + placement.count;
        if entries > hca.features().max_completions {
            return Err(lacks("completion queue for so many peers; use DC"));
        }
        let completions = hca.completion_queue(&domain, entries)?;
        let mut pairs = Vec::new();
        let mut target = None;
        if config.transport == Transport::Rc {
            for _ in 0..placement.count {
                pairs.push(hca.connected(&domain, &completions, BLOCKS)?);
            }
        } else {
            pairs.push(hca.initiator(&domain, &completions, BLOCKS)?);
            target = Some(hca.target(DC_KEY)?);
        }
        let rings = pairs.iter().map(QueuePair::ring);
        let queues = match config.transport {
            Transport::Rc => Queues::Connected(rings.collect()),
            Transport::Dc => Queues::Dynamic(pairs[0].ring(), DC_KEY),
        };
        let parts = Parts {
            queues,
            completions: completions.ring(),
            discard: ((memory.base() + DISCARD) as u64, own.lkey()),
            shared: config.shared,
            hook: software_hook(),
        };
        // SAFETY: the rings live as long as the queue pairs and the completion queue, which are kept beside the lane.
        let lane = unsafe { Lane::new(parts) };
        Ok(Self {
            lane,
            pairs,
            _completions: completions,
            target,
            split: registered
                .get(1)
                .map_or(usize::MAX, |part| part.base - window.base()),
            parts: registered,
            own,
            memory,
            mailbox_words: config.mailbox_words,
            pieces: Default::default(),
            next_piece: Cell::new(0),
            near_atomics: Cell::new(false),
            mailboxes: Vec::new(),
            transport: config.transport,
            hca,
        })
    }

    /// What peers have to know.
    pub(crate) fn address(&self) -> Vec<u8> {
        let features = self.hca.features();
        let (mut bases, mut keys) = ([0; PARTS], [0; PARTS]);
        for part in &self.parts {
            bases[part.number] = part.base as u64;
            keys[part.number] = part.region.rkey();
        }
        Address {
            lid: features.lid,
            mtu: features.mtu,
            max_read_atomic: features.max_read_atomic,
            target: self.target.as_ref().map_or(0, Target::number),
            bases,
            keys,
            mailbox: self.mailbox_base() as u64,
            mailbox_key: self.own.rkey(),
            queues: self.pairs.iter().map(QueuePair::number).collect(),
        }
        .encode()
    }

    /// Connects to the peers of these addresses; returns how each is reached.
    pub(crate) fn connect(
        &mut self,
        own: usize,
        addresses: &[Vec<u8>],
    ) -> Result<Vec<Remote>, Error> {
        let mut remotes = Vec::with_capacity(addresses.len());
        for (index, bytes) in addresses.iter().enumerate() {
            let peer = Address::decode(bytes).ok_or(Error::Garbled(index))?;
            if self.transport == Transport::Rc {
                let number = *peer.queues.get(own).ok_or(Error::Garbled(index))?;
                self.pairs[index].connect(&Peer {
                    number,
                    lid: peer.lid,
                    mtu: peer.mtu,
                    max_read_atomic: peer.max_read_atomic,
                })?;
            }
            let (mut deltas, mut keys) = ([0; PARTS], [0; PARTS]);
            for (place, part) in self.parts.iter().enumerate() {
                deltas[place] = peer.bases[part.number].wrapping_sub(part.base as u64);
                keys[place] = peer.keys[part.number];
            }
            remotes.push(Remote::new(deltas, keys, peer.target, peer.lid));
            let delta = peer.mailbox.wrapping_sub(self.mailbox_base() as u64);
            let keys = [peer.mailbox_key; PARTS];
            self.mailboxes
                .push(Remote::new([delta; PARTS], keys, peer.target, peer.lid));
        }
        Ok(remotes)
    }

    fn mailbox_base(&self) -> usize {
        self.memory.base() + MAILBOX
    }

    /// The own words that peers write and read.
    pub(crate) fn mailbox(&self) -> &[AtomicU64] {
        // SAFETY: mapped and zeroed at first, as long as `self`; everybody writes whole words.
        unsafe {
            std::slice::from_raw_parts(self.mailbox_base() as *const AtomicU64, self.mailbox_words)
        }
    }

    /// Where word `slot` of the mailbox of `peer` is; `None` where there is none.
    pub(crate) fn mailbox_of(&self, peer: u32, slot: usize) -> Option<To<'_>> {
        let remote = self.mailboxes.get(peer as usize)?;
        if slot >= self.mailbox_words {
            return None;
        }
        let word = (self.mailbox_base() + slot * size_of::<u64>()) as u64;
        Some(To {
            peer,
            remote,
            address: word.wrapping_add(remote.deltas[0]),
            key: remote.keys[0],
        })
    }

    /// Eight bytes of registered memory for the result of a blocking operation of `bytes` bytes.
    pub(crate) fn result(&self, bytes: usize) -> Local {
        self.local(RESULT, bytes)
    }

    /// Registered memory for results that nobody wants.
    pub(crate) fn discard(&self, bytes: usize) -> Local {
        self.local(DISCARD, bytes)
    }

    /// `bytes` bytes of piece `index` of the bounce memory.
    pub(crate) fn piece(&self, index: usize, bytes: usize) -> Local {
        let bounce =
            (MAILBOX + self.mailbox_words * size_of::<u64>()).next_multiple_of(page_size());
        self.local(bounce + index * PIECE, bytes)
    }

    fn local(&self, offset: usize, bytes: usize) -> Local {
        Local {
            address: (self.memory.base() + offset) as u64,
            length: bytes as u32,
            key: self.own.lkey(),
        }
    }

    /// The local key of the part of the own window that has `bytes` bytes at `addr`.
    pub(crate) fn own_key(&self, addr: usize, bytes: usize) -> Option<u32> {
        self.part(addr, bytes).map(|part| part.region.lkey())
    }

    /// Whether `bytes` bytes at `addr` are in one part of the own window, and so in one of every peer's.
    pub(crate) fn is_registered(&self, addr: usize, bytes: usize) -> bool {
        self.part(addr, bytes).is_some()
    }

    fn part(&self, addr: usize, bytes: usize) -> Option<&Part> {
        self.parts.iter().find(|part| {
            let offset = addr.wrapping_sub(part.base);
            offset < part.len && bytes <= part.len - offset
        })
    }

    /// Bytes of the longest message.
    pub(crate) fn max_message(&self) -> usize {
        self.hca.features().max_message as usize & !(page_size() - 1)
    }

    /// Whether there are masked atomics of `bytes` bytes (4 or 8).
    pub(crate) fn has_masked_atomics(&self, bytes: usize) -> bool {
        let features = self.hca.features();
        if bytes == 4 {
            features.masked_atomics_4
        } else {
            features.masked_atomics_8
        }
    }

    /// Where the second part of the window begins, in bytes from its base.
    pub(crate) fn split(&self) -> usize {
        self.split
    }

    /// The lane of the default endpoint.
    pub(crate) fn lane(&self) -> &Lane {
        &self.lane
    }

    /// Notes that the device does an atomic operation on memory of this node.
    pub(crate) fn note_near_atomic(&self) {
        self.near_atomics.set(true);
    }

    /// Whether such operations may be outstanding.
    pub(crate) fn has_near_atomics(&self) -> bool {
        self.near_atomics.get()
    }

    /// Notes that none is.
    pub(crate) fn forget_near_atomics(&self) {
        self.near_atomics.set(false);
    }

    /// Looks at the completion queue; where it is empty the software device may act.
    pub(crate) fn progress(&self) -> Result<(), Failure> {
        let _held = self.lane.hold();
        if self.lane.poll()? {
            Ok(())
        } else {
            self.lane.idle()
        }
    }

    /// Waits until everything is done, and calls `idle` before another thread may post.
    pub(crate) fn quiet(&self, route: &Route, idle: impl FnOnce()) -> Result<(), Failure> {
        let _held = self.lane.hold();
        // SAFETY: the lane is held, and endpoints have no other route than its.
        unsafe { self.lane.quiet(route)? };
        self.forget_near_atomics();
        idle();
        Ok(())
    }

    /// Reads or writes the word of a mailbox: `write` is what to write, and else the word is returned.
    ///
    /// # Safety
    /// The route is that of the lane.
    pub(crate) unsafe fn mail(
        &self,
        route: &Route,
        to: To<'_>,
        write: Option<u64>,
    ) -> Result<u64, Failure> {
        let _held = self.lane.hold();
        if let Some(value) = write {
            // SAFETY: the lane is held, and the value is as long as said.
            unsafe {
                self.lane
                    .write_inline(route, to, (&raw const value).cast(), size_of::<u64>())?
            };
            return Ok(value);
        }
        let local = self.result(size_of::<u64>());
        // SAFETY: the lane is held, and the result registered.
        let posted = unsafe { self.lane.read(route, to, local)? };
        self.lane.wait(posted)?;
        // SAFETY: the device has written the word, which nobody else uses while the lane is held.
        Ok(unsafe { (local.address as *const u64).read_volatile() })
    }
}

impl Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.hca.name(), self.transport)
    }
}

/// Registers the parts of the window, in the order of their addresses.
fn register(hca: &hca::Device, window: &Window) -> Result<Vec<Part>, Error> {
    let parts: Vec<_> = window.parts().iter().filter(|part| part.len > 0).collect();
    if parts.len() > PARTS {
        return Err(Error::Scattered(parts.len()));
    }
    let mut registered = Vec::new();
    for (number, part) in parts.into_iter().enumerate() {
        // SAFETY: the part is mapped as long as the domain, and the fabric's users know that peers write it.
        let region = unsafe { hca.register(part.base as *mut u8, part.len)? };
        registered.push(Part {
            region,
            base: part.base,
            len: part.len,
            number,
        });
    }
    registered.sort_by_key(|part| part.base);
    Ok(registered)
}

/// Memory for the device's own use. It is shared, so that a fork does not part the process from its device.
fn own_memory(mailbox_words: usize) -> std::io::Result<Reservation> {
    let bounce = (MAILBOX + mailbox_words * size_of::<u64>()).next_multiple_of(page_size());
    let len = bounce + PIECES * PIECE;
    let memory = Memfd::create(c"farreach-device")?;
    memory.set_len(len)?;
    let space = Reservation::anywhere(len)?;
    space.map_shared(0, &memory, 0, len)?;
    Ok(space)
}
