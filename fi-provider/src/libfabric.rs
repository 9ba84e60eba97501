//! A provider of the system's libfabric under a domain: its registered memory, and the lanes of
//! endpoints.

#![expect(unsafe_code, reason = "the window's parts are registered for peers")]

use crate::device::Error;
use crate::symmetric::address_vector::Peer as Record;
use crate::symmetric::parts::Parts;
use crate::symmetric::remote::{PARTS, Remote};
use crate::symmetric::window::Window;
use fi_ofi::{Lane, Port};
use fi_shm::wait::Patience;
use std::fmt::{self, Display};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::time::Duration;

pub use fi_ofi::{Candidate, Version, Watch, best, candidates, version};

/// [`Config::leave`] where nobody says otherwise.
pub const LEAVE: Duration = Duration::from_micros(200);

/// Configuration by which
/// [`Domain::open_libfabric`](crate::symmetric::domain::Domain::open_libfabric) opens it.
#[derive(Clone, Debug)]
pub struct Config {
    /// The provider to take; the best where none is given.
    pub provider: Option<String>,
    /// Whether several threads may use the default endpoint at a time.
    pub shared: bool,
    /// Whether processes share processors.
    pub is_crowded: bool,
    /// Time for which the thread that serves peers leaves the completion queue to a program that
    /// looks at it itself.
    pub leave: Duration,
    /// Whether local memory is registered where the provider does not ask for it (FI_MR_LOCAL).
    pub registers_local: bool,
    /// The address, in the window, of zeroed words of 8 bytes that peers may write and read, for
    /// the layers above.
    pub mailbox: usize,
    /// Number of those words.
    pub mailbox_words: usize,
    /// Watch over hosts, if there is one.
    pub watch: Option<Watch>,
}

/// An open port with the window registered.
#[derive(Debug)]
pub(crate) struct Libfabric {
    /// The default endpoint's.
    gate: Arc<Gate>,
    port: Arc<Port>,
    parts: Parts,
    base: usize,
    mailbox: Mailbox,
}

/// The lane of one context.
#[derive(Debug)]
pub struct Gate {
    /// In a place of its own: operations under way point to it. Leaks with them.
    way: ManuallyDrop<Box<Way>>,
    port: Arc<Port>,
    shared: bool,
    is_default: bool,
    mailbox: Mailbox,
    parts: Parts,
}

/// Fields that an endpoint reads first: its lane, and the gate that has it.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Way {
    lane: Lane,
    /// Null until an endpoint goes by it.
    gate: AtomicPtr<Gate>,
    /// As [`Gate::is_shared`].
    is_shared: bool,
}

impl Way {
    #[inline(always)]
    pub(crate) fn lane(&self) -> &Lane {
        &self.lane
    }

    #[inline(always)]
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Returns the gate; null for a way that is not of [`Gate::way`].
    #[inline(always)]
    pub(crate) fn gate(&self) -> *const Gate {
        // ORDERING: none; it is stored before the way is handed out.
        self.gate.load(Ordering::Relaxed)
    }
}

/// The own words that peers write and read.
#[derive(Clone, Copy, Debug)]
struct Mailbox {
    address: usize,
    words: usize,
}

impl Gate {
    fn new(port: &Arc<Port>, shared: bool, mailbox: Mailbox, parts: &Parts) -> Self {
        Self {
            way: ManuallyDrop::new(Box::new(Way {
                lane: Lane::new(port, shared),
                gate: AtomicPtr::default(),
                is_shared: shared,
            })),
            port: Arc::clone(port),
            shared,
            is_default: false,
            mailbox,
            parts: parts.clone(),
        }
    }

    /// Returns whether it is the default endpoint's.
    pub fn is_default(&self) -> bool {
        self.is_default
    }

    /// Returns whether several threads may use it at a time.
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    #[inline(always)]
    pub(crate) fn port(&self) -> &Port {
        &self.port
    }

    #[inline(always)]
    pub(crate) fn lane(&self) -> &Lane {
        &self.way.lane
    }

    /// Returns the way for an endpoint, which leads back to this gate as long as it is not moved.
    pub(crate) fn way(&self) -> &Way {
        // ORDERING: none; every call stores the same.
        let own = (&raw const *self).cast_mut();
        self.way.gate.store(own, Ordering::Relaxed);
        &self.way
    }

    /// Returns whether elements go as messages, of one thread.
    pub(crate) fn swaps_elements(&self) -> bool {
        self.port.swaps_elements() && !self.shared
    }

    /// Returns whether `bytes` bytes at the own address `addr` are in one part of the window.
    pub(crate) fn is_registered(&self, addr: usize, bytes: usize) -> bool {
        self.parts.place_of(addr, bytes).is_some()
    }

    /// Returns the own address of a word of the mailbox.
    pub(crate) fn mailbox_word(&self, slot: usize) -> Option<usize> {
        let Mailbox { address, words } = self.mailbox;
        (slot < words).then(|| address + slot * size_of::<u64>())
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        if self.port.is_quiet(self.lane()) {
            self.port.retire(self.lane());
            // SAFETY: no operation points to the lane any more, and nobody uses it after this.
            unsafe { ManuallyDrop::drop(&mut self.way) };
        }
    }
}

impl Libfabric {
    /// Opens a port for process `own` and registers the window.
    pub(crate) fn open(window: &Window, own: u32, config: &Config) -> Result<Self, Error> {
        let parts = Parts::of(window).map_err(Error::Scattered)?;
        let ranges: Vec<_> = parts.all().iter().map(|part| part.region.range()).collect();
        let wishes = fi_ofi::Config {
            number: own,
            provider: config.provider.clone(),
            patience: Patience::new(config.is_crowded),
            leave: config.leave,
            registers_local: config.registers_local,
            watch: config.watch,
        };
        // SAFETY: the parts are mapped as long as the domain, which drops the port before, and the
        // fabric's users know that peers write them.
        let port = Arc::new(unsafe { Port::open(&wishes, &ranges)? });
        let mailbox = Mailbox {
            address: config.mailbox,
            words: config.mailbox_words,
        };
        let mut gate = Gate::new(&port, config.shared, mailbox, &parts);
        gate.is_default = true;
        Ok(Self {
            gate: Arc::new(gate),
            port,
            parts,
            base: window.base(),
            mailbox,
        })
    }

    /// Returns the address of this process, for peers: bases and keys of the parts, then the
    /// port's.
    pub(crate) fn address(&self) -> Result<Vec<u8>, Error> {
        let keys = self.port.keys();
        let bases: Vec<_> = keys.iter().map(|one| one.base).collect();
        let keys: Vec<_> = keys.iter().map(|one| one.key).collect();
        let words = self.parts.by_number(&bases).into_iter();
        let words = words.chain(self.parts.by_number(&keys));
        let mut address: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        address.extend(self.port.address()?);
        Ok(address)
    }

    /// Returns the way to the peer of this address, for the table of a node.
    pub(crate) fn remote(&self, index: usize, address: &[u8]) -> Result<Remote, Error> {
        let (bases, keys, _) = decode(address).ok_or(Error::Garbled(index))?;
        let (bases, keys) = (self.parts.by_address(&bases), self.parts.by_address(&keys));
        Ok(Remote::with_long_keys(index as u32, bases, keys))
    }

    /// Returns whether a table with this record of the own process has the window's parts the other
    /// way round.
    pub(crate) fn is_swapped(&self, own: usize, record: &Record) -> Result<bool, Error> {
        // The keys are in the order of the parts' addresses.
        let keys = self.port.keys();
        let Some(lower) = keys.first() else {
            return Ok(false);
        };
        let place = record
            .remote
            .long_keys()
            .iter()
            .position(|&key| key == lower.key);
        place.map(|place| place > 0).ok_or(Error::Garbled(own))
    }

    /// Adds the next peer.
    pub(crate) fn connect(&self, index: usize, address: &[u8]) -> Result<(), Error> {
        let (.., name) = decode(address).ok_or(Error::Garbled(index))?;
        Ok(self.port.insert(name)?)
    }

    /// Opens a lane for one more context.
    pub(crate) fn open_gate(&self, shared: bool) -> Gate {
        Gate::new(&self.port, shared, self.mailbox, &self.parts)
    }

    /// Returns the default endpoint's lane.
    pub(crate) fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// Returns the own words that peers write and read.
    pub(crate) fn mailbox(&self) -> &[AtomicU64] {
        let Mailbox { address, words } = self.mailbox;
        if words == 0 {
            return &[];
        }
        // SAFETY: `Config::mailbox` is in the window: aligned, and mapped as long as the port is
        // open. The words are zeroed at first, and everybody writes whole ones.
        unsafe { std::slice::from_raw_parts(address as *const AtomicU64, words) }
    }

    /// Returns the offset of the second part of the window, in bytes from its base.
    pub(crate) fn split(&self) -> usize {
        self.parts.split(self.base)
    }

    /// Returns the ends of the window's parts, in bytes from its base.
    pub(crate) fn ends(&self) -> [usize; PARTS] {
        self.parts.ends()
    }
}

impl Display for Libfabric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.port.fmt(f)
    }
}

/// Returns the bases and the keys of an address, in the order of the parts' numbers, and the port's
/// address.
fn decode(address: &[u8]) -> Option<([u64; PARTS], [u64; PARTS], &[u8])> {
    let mut rest = address;
    let mut word = || {
        let (first, after) = rest.split_first_chunk()?;
        rest = after;
        Some(u64::from_le_bytes(*first))
    };
    let bases = [word()?, word()?];
    let keys = [word()?, word()?];
    Some((bases, keys, rest))
}
