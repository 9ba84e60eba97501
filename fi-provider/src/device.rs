//! The node's device under a domain: what is registered with it, the default endpoint's gate, and the way to the peers.

#![expect(
    unsafe_code,
    reason = "registers memory, and keeps views of memory that peers write"
)]

use crate::domain::Placement;
pub use crate::gate::Gate;
use crate::gate::{Common, Plan, private_memory};
use crate::lanes::Lanes;
pub use crate::lanes::{Report, Survey, survey};
use crate::memory::{MemoryRegion, Window};
use crate::registration::{Limits, Registrations, Statistics};
use crate::wire::Address;
use fi_mlx5::device::{self as hca, Peer, Region, Target};
pub use fi_mlx5::device::{Account, Features, Regime};
use fi_mlx5::lane::{Hook, To};
pub use fi_mlx5::policy::{Completions, DEFAULT as DEFAULT_POLICY, POLICIES, Policy};
use fi_mlx5::registers::Registers;
use fi_mlx5::remote::Remote;
use fi_shm::segment::{Reservation, page_size};
use std::fmt::{self, Display};
use std::sync::Arc;
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
    /// Whether several threads may use the default endpoint at a time, or others that share its lane.
    pub shared: bool,
    /// What lanes share.
    pub policy: &'static Policy,
    /// Who uses a completion queue.
    pub completions: Completions,
    /// Words of 8 bytes that peers may write and read, for the layers above.
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
    /// All lanes are one, and there is one.
    #[error("all lanes are one")]
    NoLane,
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
/// The key by which initiators enter the targets. It keeps strangers out by accident only.
const DC_KEY: u64 = 0x6661_7272_6561_6368;
/// Bytes of a piece of the bounce memory: of the default endpoint's gate, and of those made later.
const PIECE: usize = 32 << 10;
pub(crate) const SMALL_PIECE: usize = 8 << 10;

unsafe extern "C" {
    fn dlsym(handle: *mut libc::c_void, name: *const libc::c_char) -> *mut libc::c_void;
}

/// What a software device calls itself by, if the process runs on one.
pub(crate) fn software_hook() -> Option<Hook> {
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
    /// The default endpoint's.
    gate: Arc<Gate>,
    lanes: Lanes,
    target: Option<Target>,
    /// The parts of the window in the order of their addresses.
    parts: Arc<[Part]>,
    mail: Region,
    mail_memory: Reservation,
    mailbox_words: usize,
    /// The peers' mailboxes: what to add to a place in the own one, and the key.
    mailboxes: Vec<Remote>,
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
        let hca = hca::Device::open(None)?;
        if !hca.features().host_endian_atomics {
            let what = "atomic operations with results in the machine's byte order";
            return Err(Error::lacks(&hca, what));
        }
        let parts = register(&hca, window)?;
        let registrations = Arc::new(Registrations::of(&hca, config.registrations));
        let mail_memory = private_memory(
            (config.mailbox_words * size_of::<u64>()).next_multiple_of(page_size()),
        )?;
        // SAFETY: the mapping was just made, and is used by atomics only.
        let mail = unsafe { hca.register(mail_memory.base() as *mut u8, mail_memory.len())? };
        let hook = software_hook();
        let plan = Plan {
            connected: (config.transport == Transport::Rc).then_some(placement.count),
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
        let lanes = Lanes::new(&hca, config.policy, Completions::Own, common);
        Ok(Self {
            gate: Arc::new(lanes.open(&plan, window)?),
            lanes,
            // Whatever the default endpoint goes by: lanes made later are initiators.
            target: if hca.features().dc {
                Some(hca.target(DC_KEY)?)
            } else {
                None
            },
            split: parts
                .get(1)
                .map_or(usize::MAX, |part| part.base - window.base()),
            parts,
            mail,
            mail_memory,
            mailbox_words: config.mailbox_words,
            mailboxes: Vec::new(),
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
            connected: None,
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
            bases,
            keys,
            mailbox: self.mailbox_base() as u64,
            mailbox_key: self.mail.rkey(),
            queues: self.gate.numbers(),
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
                let peer = Peer {
                    number,
                    lid: peer.lid,
                    mtu: peer.mtu,
                    max_read_atomic: peer.max_read_atomic,
                };
                self.gate.connect(index, &peer)?;
            }
            if peer.target == 0 {
                self.without_target = Some(index);
            }
            let (mut deltas, mut keys) = ([0; PARTS], [0; PARTS]);
            for (place, part) in self.parts.iter().enumerate() {
                deltas[place] = peer.bases[part.number].wrapping_sub(part.base as u64);
                keys[place] = peer.keys[part.number];
            }
            remotes.push(Remote::new(deltas, keys, DC_KEY, peer.target, peer.lid));
            let delta = peer.mailbox.wrapping_sub(self.mailbox_base() as u64);
            let keys = [peer.mailbox_key; PARTS];
            self.mailboxes.push(Remote::new(
                [delta; PARTS],
                keys,
                DC_KEY,
                peer.target,
                peer.lid,
            ));
        }
        Ok(remotes)
    }

    fn mailbox_base(&self) -> usize {
        self.mail_memory.base()
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

    /// Whether `bytes` bytes at `addr` are in one part of the own window, and so in one of every peer's.
    pub(crate) fn is_registered(&self, addr: usize, bytes: usize) -> bool {
        part_of(&self.parts, addr, bytes).is_some()
    }

    /// What became of private memory that was registered.
    pub(crate) fn registration_statistics(&self) -> Statistics {
        self.registrations.statistics()
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

/// Takes back what the library has asked of the kernel for registered memory: that forked children do not have it. They
/// would be without their static data. Pages that are shared are never copied for one of the processes that have them, so
/// that a device's are always those that the process has.
fn show_to_children(part: &MemoryRegion) {
    // SAFETY: the part is mapped, and nothing about this process's own use of it changes. A failure leaves what there was.
    unsafe { libc::madvise(part.base as *mut libc::c_void, part.len, libc::MADV_DOFORK) };
}
