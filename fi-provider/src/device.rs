//! The node's device under a domain: what is registered with it, the default endpoint's gate, and the way to the peers.

#![expect(
    unsafe_code,
    reason = "registers memory, and keeps views of memory that peers write"
)]

use crate::address_vector::Peer as Record;
use crate::connector::{Connector, Surroundings};
use crate::domain::Placement;
pub use crate::gate::Gate;
use crate::gate::{Common, Plan, Queues};
use crate::lanes::Lanes;
pub use crate::lanes::{Report, Survey, survey};
use crate::memory::{MemoryRegion, Window};
use crate::registration::{Limits, Registrations, Statistics};
use crate::remote::Remote;
use crate::wire::Address;
use fi_mlx5::device::{self as hca, Peer, Region, Target};
pub use fi_mlx5::device::{Account, Features, Regime};
use fi_mlx5::lane::{Failure, Hook, To};
pub use fi_mlx5::policy::{Completions, DEFAULT as DEFAULT_POLICY, POLICIES, Policy};
use fi_mlx5::registers::Registers;
use fi_mlx5::remote::Vector;
use fi_mlx5_defs::endian::Be32;
use fi_shm::random;
use std::fmt::{self, Display};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// How a device reaches peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A connected queue pair for each peer (RC).
    Rc,
    /// Initiators that go to all peers, each with a target (DC).
    Dc,
    /// As DC, and in the background a connected queue pair for each peer that much is sent to (RC).
    Mixed,
}

impl Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rc => "RC",
            Self::Dc => "DC",
            Self::Mixed => "DC and RC",
        })
    }
}

/// How [`crate::domain::Domain::open_device`] opens the device.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// How it reaches peers.
    pub transport: Transport,
    /// The queues that the default endpoint has where peers do not have one each, a power of two: a peer has always the same of them.
    pub initiators: u32,
    /// Whether several threads may use the default endpoint at a time, or others that share its lane.
    pub shared: bool,
    /// What lanes share.
    pub policy: &'static Policy,
    /// Who uses a completion queue.
    pub completions: Completions,
    /// The address, in the window, of zeroed words of 8 bytes that peers may write and read, for the layers above; but with
    /// [`Transport::Mixed`] the last ones, one for each peer, are the fabric's.
    pub mailbox: usize,
    /// How many.
    pub mailbox_words: usize,
    /// How much private memory stays registered.
    pub registrations: Limits,
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
    /// A lane of the fabric's own has failed.
    #[error(transparent)]
    Lane(#[from] Failure),
    /// Memory for the device's own use cannot be had.
    #[error("memory for the device: {0}")]
    Memory(#[from] std::io::Error),
    /// The system has no random bytes for a key.
    #[error("a key for the device: {0}")]
    Key(std::io::Error),
    /// The window is in more parts than peers have keys for.
    #[error("the symmetric memory is in {0} parts, and a device takes at most {PARTS}")]
    Scattered(usize),
    /// What a peer told of its device makes no sense.
    #[error("what peer {0} told of its device makes no sense")]
    Garbled(usize),
    /// The domain has no device.
    #[error("the device is not open")]
    NotOpen,
    /// All lanes are one, and there is one.
    #[error("all lanes are one")]
    NoLane,
    /// A peer reaches others in another way than this process.
    #[error("peer {0} has another transport")]
    OtherTransport(usize),
    /// Lanes beside the default one go by dynamic connections, and some peer's device has none.
    #[error("peer {0} has no target of dynamic connections (DC)")]
    NoTarget(usize),
}

impl Error {
    /// This device has not `what`.
    pub(crate) fn lacks(hca: &hca::Device, what: &'static str) -> Self {
        Self::Lacks {
            device: hca.name().to_owned(),
            what,
        }
    }
}

/// Parts of a window that can be registered: a peer's record has a key for each.
pub(crate) const PARTS: usize = 2;
/// Bytes of a piece of the bounce memory: of the default endpoint's gate, and of those made later.
const PIECE: usize = 32 << 10;
pub(crate) const SMALL_PIECE: usize = 8 << 10;

unsafe extern "C" {
    fn dlsym(handle: *mut libc::c_void, name: *const libc::c_char) -> *mut libc::c_void;
}

/// The function by which a software device is made to act, if the process runs on one that lets
/// itself be made to.
pub(crate) fn software_hook() -> Option<Hook> {
    // SAFETY: the name is a C string, and the lookup has no other precondition.
    let found = unsafe { dlsym(libc::RTLD_DEFAULT, c"farreach_softhca_kick".as_ptr()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: the function of this name is of this type (docs/softhca.md).
    let hook = unsafe { std::mem::transmute::<*mut libc::c_void, Hook>(found) };
    let is_refused =
        hook() != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EOPNOTSUPP);
    (!is_refused).then_some(hook)
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
pub(crate) struct Part {
    region: Region,
    base: usize,
    len: usize,
    /// Its number among the window's parts, the same in all processes.
    number: usize,
}

/// An open device.
#[derive(Debug)]
pub(crate) struct Device {
    /// Dropped first: its thread uses everything else.
    connector: Option<Connector>,
    /// The default endpoint's.
    gate: Arc<Gate>,
    lanes: Lanes,
    target: Option<Target>,
    /// By which peers' initiators enter the target, and from which the numbers of first packets
    /// follow.
    key: u64,
    /// The parts of the window in the order of their addresses.
    parts: Arc<[Part]>,
    /// The window's base.
    base: usize,
    mailbox: usize,
    mailbox_words: usize,
    /// A peer without a DC target, once the device is connected.
    without_target: Option<usize>,
    split: usize,
    transport: Transport,
    registrations: Arc<Registrations>,
    hook: Option<Hook>,
    hca: hca::Device,
}

impl Device {
    /// Opens the device, registers the window and makes the default endpoint's gate.
    pub(crate) fn open(
        window: &Window,
        placement: &Placement,
        config: Config,
    ) -> Result<Self, Error> {
        let key = u64::from_ne_bytes(random::bytes().map_err(Error::Key)?);
        let hca = hca::Device::open(None)?.with_key(key);
        if !hca.features().host_endian_atomics {
            let what = "atomic operations with results in the machine's byte order";
            return Err(Error::lacks(&hca, what));
        }
        let parts = register(&hca, window)?;
        let registrations = Arc::new(Registrations::of(&hca, config.registrations));
        let hook = software_hook();
        let plan = Plan {
            queues: match config.transport {
                Transport::Rc => Queues::Connected(placement.count),
                Transport::Dc => Queues::Initiators(config.initiators),
                Transport::Mixed => Queues::Mixed {
                    initiators: config.initiators,
                    peers: placement.count,
                },
            },
            shared: config.shared,
            default: true,
            piece_len: PIECE,
            hook,
        };
        let common = Common {
            parts: Arc::clone(&parts),
            registrations: Arc::clone(&registrations),
            registers: Arc::new(Registers::new()),
        };
        let lanes = Lanes::new(&hca, config.policy, config.completions, common);
        Ok(Self {
            connector: None,
            gate: Arc::new(lanes.open(&plan, window)?),
            lanes,
            // Whatever the default endpoint goes by: lanes made later are initiators.
            target: if hca.features().dc {
                Some(hca.target(key)?)
            } else {
                None
            },
            key,
            split: parts
                .get(1)
                .map_or(usize::MAX, |part| part.base - window.base()),
            parts,
            base: window.base(),
            mailbox: config.mailbox,
            mailbox_words: config.mailbox_words,
            without_target: None,
            transport: config.transport,
            registrations,
            hook,
            hca,
        })
    }

    /// Makes a lane beside the default one, for memory in `window`; the default one where all lanes are one.
    pub(crate) fn open_gate(&self, shared: bool, window: &Window) -> Result<Arc<Gate>, Error> {
        let plan = Plan {
            queues: Queues::Initiators(1),
            shared,
            default: false,
            piece_len: SMALL_PIECE,
            hook: self.hook,
        };
        if self.lanes.are_one() {
            return Ok(Arc::clone(&self.gate));
        }
        if let Some(peer) = self.without_target {
            return Err(Error::NoTarget(peer));
        }
        let gate = self.lanes.open(&plan, window)?;
        Ok(Arc::new(gate))
    }

    /// The default lane for a context that cannot have its own.
    pub(crate) fn share_gate(&self, why: &Error) -> Arc<Gate> {
        self.lanes.note_shared(why);
        Arc::clone(&self.gate)
    }

    /// The lanes.
    pub(crate) fn report(&self) -> Report {
        self.lanes.report()
    }

    /// What peers have to know.
    pub(crate) fn address(&self) -> Vec<u8> {
        let features = self.hca.features();
        let (mut bases, mut keys) = ([0; PARTS], [0; PARTS]);
        for part in self.parts.iter() {
            bases[part.number] = part.base as u64;
            keys[part.number] = part.region.rkey();
        }
        Address {
            lid: features.lid,
            mtu: features.mtu,
            max_read_atomic: features.max_read_atomic,
            target: self.target.as_ref().map_or(0, Target::number),
            key: self.key,
            bases,
            keys,
            transport: self.transport,
            queues: match self.transport {
                Transport::Rc => self.gate.numbers(),
                Transport::Dc | Transport::Mixed => Vec::new(),
            },
        }
        .encode()
    }

    /// How a device reaches the peer of this address, for the table of a node.
    pub(crate) fn remote(&self, index: usize, address: &[u8]) -> Result<Remote, Error> {
        let peer = Address::decode(address).ok_or(Error::Garbled(index))?;
        if peer.transport != self.transport {
            return Err(Error::OtherTransport(index));
        }
        if peer.target == 0 && self.transport != Transport::Rc {
            return Err(Error::NoTarget(index));
        }
        let (mut bases, mut keys) = ([0; PARTS], [0; PARTS]);
        for (place, part) in self.parts.iter().enumerate() {
            bases[place] = peer.bases[part.number];
            keys[place] = peer.keys[part.number];
        }
        Ok(Remote::new(
            bases,
            keys,
            Vector::new(peer.key, peer.target, peer.lid),
        ))
    }

    /// Whether a table with this record of the own process has the window's parts the other way round.
    pub(crate) fn is_swapped(&self, own: usize, record: &Record) -> Result<bool, Error> {
        let lower = self.parts.first().map_or(0, |part| part.base as u64);
        let place = record.remote.bases.iter().position(|&base| base == lower);
        place.map(|place| place > 0).ok_or(Error::Garbled(own))
    }

    /// Connects to a peer of this address, where each has a queue.
    pub(crate) fn connect(&mut self, own: usize, index: usize, bytes: &[u8]) -> Result<(), Error> {
        let peer = Address::decode(bytes).ok_or(Error::Garbled(index))?;
        if peer.target == 0 {
            self.without_target = Some(index);
        }
        let number = *peer.queues.get(own).ok_or(Error::Garbled(index))?;
        let peer = Peer {
            number,
            lid: peer.lid,
            mtu: peer.mtu,
            max_read_atomic: peer.max_read_atomic,
            key: peer.key,
        };
        self.gate.connect(index, &peer)
    }

    /// Prepares to connect queues in the background to the peers of these records, if that is wanted. It begins with
    /// [`Device::connector`]'s start.
    ///
    /// Where the device has nothing left for it, nothing is connected: every peer is reached without.
    pub(crate) fn prepare_connections(&mut self, own: u32, records: &[Record]) {
        let Some(later) = self.gate.later() else {
            return;
        };
        let first = self.mailbox_words.saturating_sub(records.len());
        let words = &self.mailbox()[first..];
        let around = Surroundings {
            records: records.as_ptr(),
            count: records.len().min(words.len()) as u32,
            own,
            words: words.as_ptr(),
            offset: words.as_ptr().addr() - self.base,
            split: self.split,
        };
        let (gate, later) = (Arc::clone(&self.gate), Arc::clone(later));
        self.connector = Connector::new(&self.hca, self.hook, around, gate, later).ok();
    }

    /// What connects queues in the background.
    pub(crate) fn connector(&self) -> Option<&Connector> {
        self.connector.as_ref()
    }

    /// How it reaches peers.
    pub(crate) fn transport(&self) -> Transport {
        self.transport
    }

    /// The own words that peers write and read.
    pub(crate) fn mailbox(&self) -> &[AtomicU64] {
        // SAFETY: mapped as long as the window, and zeroed at first; everybody writes whole words.
        unsafe { std::slice::from_raw_parts(self.mailbox as *const AtomicU64, self.mailbox_words) }
    }

    /// Where word `slot` of the mailbox of `peer`, which has this record, is; `None` where there is none.
    pub(crate) fn mailbox_of<'a>(
        &self,
        peer: u32,
        record: &'a Record,
        slot: usize,
    ) -> Option<To<'a>> {
        if slot >= self.mailbox_words {
            return None;
        }
        let word = self.mailbox + slot * size_of::<u64>();
        let (address, key) = self.place(&record.remote, word);
        Some(To {
            peer,
            vector: &record.remote.vector,
            address,
            key,
        })
    }

    /// Where the object at the own address `addr` is on a peer, and by which key.
    fn place(&self, remote: &Remote, addr: usize) -> (u64, Be32) {
        remote.place(addr - self.base, self.split)
    }

    /// Whether `bytes` bytes at `addr` are in one part of the own window, and so in one of every peer's.
    pub(crate) fn is_registered(&self, addr: usize, bytes: usize) -> bool {
        part_of(&self.parts, addr, bytes).is_some()
    }

    /// What became of private memory that was registered.
    pub(crate) fn registration_statistics(&self) -> Statistics {
        self.registrations.statistics()
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

    /// Where the window's parts end, in bytes from its base.
    pub(crate) fn ends(&self) -> [usize; PARTS] {
        let base = self.parts.first().map_or(0, |part| part.base);
        let mut ends = [0; PARTS];
        for (end, part) in ends.iter_mut().zip(self.parts.iter()) {
            *end = part.base + part.len - base;
        }
        ends
    }

    /// The gate of the default endpoint.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }
}

impl Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.hca.name(), self.transport)
    }
}

/// Registers the parts of the window, in the order of their addresses.
pub(crate) fn register(hca: &hca::Device, window: &Window) -> Result<Arc<[Part]>, Error> {
    let parts: Vec<_> = window.parts().iter().filter(|part| part.len > 0).collect();
    if parts.len() > PARTS {
        return Err(Error::Scattered(parts.len()));
    }
    let mut registered = Vec::new();
    for (number, part) in parts.into_iter().enumerate() {
        // SAFETY: the part is mapped as long as the domain, and the fabric's users know that peers write it.
        let region = unsafe { hca.register(part.base as *mut u8, part.len)? };
        if hca.hides_memory_from_children() {
            show_to_children(part);
        }
        registered.push(Part {
            region,
            base: part.base,
            len: part.len,
            number,
        });
    }
    registered.sort_by_key(|part: &Part| part.base);
    Ok(registered.into())
}

/// The part that has `bytes` bytes at `addr`.
fn part_of(parts: &[Part], addr: usize, bytes: usize) -> Option<&Part> {
    parts.iter().find(|part| {
        let offset = addr.wrapping_sub(part.base);
        offset < part.len && bytes <= part.len - offset
    })
}

/// The local key of the part that has `bytes` bytes at `addr`.
pub(crate) fn key_of(parts: &[Part], addr: usize, bytes: usize) -> Option<u32> {
    part_of(parts, addr, bytes).map(|part| part.region.lkey())
}

/// The local keys of the parts, of which there are at most so many.
pub(crate) fn keys_of(parts: &[Part]) -> [u32; PARTS] {
    let mut keys = [0; PARTS];
    for (key, part) in keys.iter_mut().zip(parts) {
        *key = part.region.lkey();
    }
    keys
}

/// Takes back what the library has asked of the kernel for registered memory: that forked children do not have it. They
/// would be without their static data. Pages that are shared are never copied for one of the processes that have them, so
/// that a device's are always those that the process has.
fn show_to_children(part: &MemoryRegion) {
    // SAFETY: the part is mapped, and nothing about this process's own use of it changes. A failure leaves what there was.
    unsafe { libc::madvise(part.base as *mut libc::c_void, part.len, libc::MADV_DOFORK) };
}
