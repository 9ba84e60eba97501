//! The node's device under a domain: its registered memory, the default endpoint's gate, and the way to
//! the peers.

pub(crate) mod amo;
mod config;
mod connector;
mod error;
mod gate;
pub(crate) mod hook;
mod lanes;
mod mailbox;
mod parts;
pub(crate) mod pieces;
mod plan;
mod results;
pub(crate) mod scratch;
mod wire;

pub use config::{Completions, Config, DEFAULT_POLICY, POLICIES, Policy, Transport};
pub use error::Error;
pub use gate::Gate;
pub(crate) use lanes::Lanes;
pub use lanes::{Account, Features, Regime, Report, Survey, survey};
pub(crate) use pieces::{Kept, Waiting};
pub(crate) use plan::{Plan, Queues};

use crate::registration::{Registrations, Statistics};
use crate::symmetric::address_vector::Peer as Record;
use crate::symmetric::remote::{PARTS, Remote};
use crate::symmetric::window::Window;
use connector::{Connector, Surroundings};
use fi_mlx5::device::{self as hca, Peer, Target};
use fi_mlx5::lane::Hook;
use fi_mlx5::registers::Registers;
use fi_mlx5::remote::Vector;
use fi_shm::random;
use gate::Common;
use hook::software_hook;
use mailbox::Mailbox;
use parts::WindowParts;
use std::fmt::{self, Display};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use wire::Address;

/// Returns whether there is a device that a domain can open.
///
/// # Errors
/// The missing part.
pub fn probe() -> Result<(), Error> {
    hca::Device::open(None)?;
    Ok(())
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
    /// Key by which peers' initiators enter the target, and from which the numbers of first packets
    /// follow.
    key: u64,
    parts: WindowParts,
    /// The window's base.
    base: usize,
    mailbox: Mailbox,
    /// A peer without a DC target, once the device is connected.
    without_target: Option<usize>,
    split: usize,
    transport: Transport,
    registrations: Arc<Registrations>,
    hook: Option<Hook>,
    hca: hca::Device,
}

impl Device {
    /// Opens the device for a job of so many peers, registers the window and makes the default
    /// endpoint's gate.
    pub(crate) fn open(window: &Window, peers: u32, config: Config) -> Result<Self, Error> {
        let key = u64::from_ne_bytes(random::bytes().map_err(Error::Key)?);
        let hca = hca::Device::open(None)?.with_key(key);
        if !hca.features().host_endian_atomics {
            let what = "atomic operations with results in the machine's byte order";
            return Err(Error::lacks(&hca, what));
        }
        let parts = WindowParts::register(&hca, window)?;
        let registrations = Arc::new(Registrations::of(&hca, config.registrations));
        let hook = software_hook();
        let plan = Plan::of_default(&config, peers, hook);
        let mailbox = Mailbox::of(&config);
        let common = Common {
            parts: parts.clone(),
            mailbox,
            registrations: Arc::clone(&registrations),
            registers: Arc::new(Registers::new()),
        };
        let lanes = Lanes::new(&hca, config.policy, config.completions, common);
        Ok(Self {
            connector: None,
            gate: Arc::new(lanes.open(&plan, window)?),
            lanes,
            // For any transport of the default endpoint: lanes made later are initiators.
            target: if hca.features().dc {
                Some(hca.target(key)?)
            } else {
                None
            },
            key,
            split: parts.split(window.base()),
            parts,
            base: window.base(),
            mailbox,
            without_target: None,
            transport: config.transport,
            registrations,
            hook,
            hca,
        })
    }

    /// Makes a lane beside the default one, for memory in `window`; the default one where all lanes are one.
    pub(crate) fn open_gate(&self, shared: bool, window: &Window) -> Result<Arc<Gate>, Error> {
        if self.lanes.are_one() {
            return Ok(Arc::clone(&self.gate));
        }
        if let Some(peer) = self.without_target {
            return Err(Error::NoTarget(peer));
        }
        let plan = Plan::beside(Queues::Initiators(1), shared, self.hook);
        let gate = self.lanes.open(&plan, window)?;
        Ok(Arc::new(gate))
    }

    /// Notes that a context has the default lane, because it cannot have its own.
    pub(crate) fn note_shared(&self, why: &Error) {
        self.lanes.note_shared(why);
    }

    /// Returns the default lane, for those that keep it.
    pub(crate) fn shared_gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// Returns the report on the lanes.
    pub(crate) fn report(&self) -> Report {
        self.lanes.report()
    }

    /// Returns the address that peers have to know.
    pub(crate) fn address(&self) -> Vec<u8> {
        let features = self.hca.features();
        let (bases, keys) = self.parts.for_peers();
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

    /// Returns the way in which a device reaches the peer of this address, for the table of a node.
    pub(crate) fn remote(&self, index: usize, address: &[u8]) -> Result<Remote, Error> {
        let peer = Address::decode(address).ok_or(Error::Garbled(index))?;
        if peer.transport != self.transport {
            return Err(Error::OtherTransport(index));
        }
        if peer.target == 0 && self.transport != Transport::Rc {
            return Err(Error::NoTarget(index));
        }
        let (bases, keys) = (
            self.parts.by_address(&peer.bases),
            self.parts.by_address(&peer.keys),
        );
        Ok(Remote::new(
            bases,
            keys,
            Vector::new(peer.key, peer.target, peer.lid),
        ))
    }

    /// Returns whether a table with this record of the own process has the window's parts the other
    /// way round.
    pub(crate) fn is_swapped(&self, own: usize, record: &Record) -> Result<bool, Error> {
        let lower = self.parts.lowest() as u64;
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

    /// Prepares to connect queues in the background to the peers of these records, if that is
    /// wanted. It begins with [`Device::connector`]'s start.
    ///
    /// Where the device has nothing left for it, nothing is connected: every peer is reached without.
    pub(crate) fn prepare_connections(&mut self, own: u32, records: &[Record]) {
        let Some(later) = self.gate.later() else {
            return;
        };
        let words = self.mailbox();
        let words = &words[words.len().saturating_sub(records.len())..];
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

    /// Returns the connector of queues in the background.
    pub(crate) fn connector(&self) -> Option<&Connector> {
        self.connector.as_ref()
    }

    /// Returns the transport by which it reaches peers.
    pub(crate) fn transport(&self) -> Transport {
        self.transport
    }

    /// Returns the own words that peers write and read.
    pub(crate) fn mailbox(&self) -> &[AtomicU64] {
        self.mailbox.words()
    }

    /// Returns the statistics of private memory that was registered.
    pub(crate) fn registration_statistics(&self) -> Statistics {
        self.registrations.statistics()
    }

    /// Returns the offset of the second part of the window, in bytes from its base.
    pub(crate) fn split(&self) -> usize {
        self.split
    }

    /// Returns the ends of the window's parts, in bytes from its base.
    pub(crate) fn ends(&self) -> [usize; PARTS] {
        self.parts.ends()
    }

    /// Returns the gate of the default endpoint.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }
}

impl Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.hca.name(), self.transport)
    }
}
