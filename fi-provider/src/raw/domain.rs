//! The domain: the memory of a process that peers reach, and the processes that it reaches
//! (fi_domain(3)).

#![expect(unsafe_code, reason = "registers raw memory")]

use super::address::{Address, Family, Port};
use super::arena::Arena;
use super::error::Error;
use super::far::device::Device;
use super::far::transport::Transport;
use super::near::Near;
use super::region::{Accesses, Addressing, Memory, Region, Regions, Rights, SLOTS, TABLE_BYTES};
use super::service::{Service, Shared};
use super::splits::Splits;
use fi_shm::handover::Ticket;
use fi_shm::ring;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Configuration of a domain.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The most bytes that the arena may ever have: address space, here and in every peer's process;
    /// memory is taken page by page at first use.
    pub arena_bytes: usize,
    /// The bytes of each ring to an endpoint, one for each endpoint that sends to it: a power of
    /// two, from 1 KiB to 1 GiB.
    pub ring_bytes: usize,
    /// Transport to endpoints of other nodes; without, there are none.
    pub far: Option<Transport>,
    /// Whether endpoints of the same node are reached in its memory, where they want that, too;
    /// without, as those of other nodes: a device does all atomic operations on the domain's memory
    /// then.
    pub near: bool,
    /// The node, if not the system that the process runs on: processes that tell different numbers
    /// reach each other as those of other nodes.
    pub node: Option<u32>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            arena_bytes: 16 << 30,
            ring_bytes: 64 << 10,
            far: None,
            near: true,
            node: None,
        }
    }
}

/// An open domain: a handle, whose clones are the same domain.
///
/// Threads may share it. A thread of its own answers peers: it sleeps but for that.
#[derive(Clone, Debug)]
pub struct Domain(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: Config,
    regions: Arc<Regions>,
    splits: Arc<Splits>,
    /// The processes that are reached: held by the thread that watches them while they live, and by
    /// their users.
    nears: Mutex<HashMap<[u8; Ticket::BYTES], Weak<Near>>>,
    /// Dropped last: its thread ends then.
    service: Service,
}

impl Domain {
    /// The number of regions for which a domain has room.
    pub const MOST_REGIONS: usize = SLOTS;

    /// Opens a domain of this process, without a job: peers find it by the addresses of its
    /// endpoints. libfabric is opened with the endpoints.
    ///
    /// # Errors
    /// [`Error::NoRoom`] where the configuration leaves none, [`Error::NoDevice`],
    /// [`Error::System`] where memory, a socket or a thread is refused.
    pub fn open(config: Config) -> Result<Self, Error> {
        let is_ring = ring::is_capacity(config.ring_bytes);
        if !is_ring || !(1 << 10..=1 << 30).contains(&config.ring_bytes) {
            return Err(Error::NoRoom);
        }
        if !config.near && config.far.is_none() {
            return Err(Error::NoDevice);
        }
        let qp_type = config.far.and_then(Transport::qp_type);
        let device = qp_type.map(Device::open).transpose()?.map(Arc::new);
        let arena = Arc::new(Arena::new(config.arena_bytes.max(2 * TABLE_BYTES))?);
        let node = config.node.unwrap_or_else(this_node);
        let port = Port {
            node,
            is_far: !config.near,
            ..Port::default()
        };
        Ok(Self(Arc::new(Inner {
            config,
            regions: Arc::new(Regions::new(Arc::clone(&arena), device.as_ref())?),
            splits: Arc::new(Splits::new(Arc::clone(&arena))),
            nears: Mutex::default(),
            service: Service::start(arena, device.as_ref(), port)?,
        })))
    }

    /// Takes `len` zeroed bytes of the arena and lets peers reach them: those of the node by loads
    /// and stores. The fabric chooses the key where none is given.
    ///
    /// # Errors
    /// [`Error::NoRoom`], [`Error::KeyTaken`].
    pub fn allocate(
        &self,
        len: usize,
        rights: Rights,
        key: Option<u64>,
        addressing: Addressing,
    ) -> Result<Memory, Error> {
        Memory::new(&self.0.regions, len, rights, key, addressing)
    }

    /// Lets peers reach any memory of the process: the kernel copies, or this process's own
    /// [`progress`](super::endpoint::Endpoint::progress). The fabric chooses the key where none is
    /// given.
    ///
    /// # Errors
    /// As [`Domain::allocate`].
    ///
    /// # Safety
    /// The `len` bytes at `memory` stay mapped, writable if `rights` say so, until the region is
    /// dropped, and longer if another thread makes progress by an endpoint of the domain just then,
    /// or an operation of a peer has begun before: until those have ended. Peers read and write the
    /// bytes at any time.
    pub unsafe fn register(
        &self,
        memory: *mut u8,
        len: usize,
        rights: Rights,
        key: Option<u64>,
        addressing: Addressing,
    ) -> Result<Region, Error> {
        let regions = &self.0.regions;
        // SAFETY: the bytes stay mapped, writable if the rights say so, until the region is dropped
        // and the operations that use it then have ended; peers read and write them at any time.
        unsafe { Region::new(regions, (memory, len), rights, key, addressing) }
    }

    /// Returns the number of accesses of peers to the regions of the domain that have
    /// [`Rights::COUNTED`], closed ones, too: the count of an endpoint with FI_REMOTE_WRITE or
    /// FI_REMOTE_READ, as accesses are to the memory of a domain.
    pub fn accesses(&self) -> Accesses {
        self.0.regions.all_accesses()
    }

    /// Keeps addresses for endpoints that belong together (fi_scalable_ep): for `count` that
    /// receive, and as many that only start operations, at most [`Family::MOST`]. See
    /// [`Endpoint::open_member`](super::endpoint::Endpoint::open_member).
    ///
    /// # Errors
    /// [`Error::NoRoom`]; [`Error::NoDevice`] where the domain goes by libfabric, which gives an
    /// endpoint its address when it is opened.
    pub fn keep_family(&self, count: u32) -> Result<Family, Error> {
        if self.libfabric().is_some() {
            return Err(Error::NoDevice);
        }
        if !(1..=Family::MOST).contains(&count) {
            return Err(Error::NoRoom);
        }
        let many = 2 * count.next_power_of_two();
        self.shared().keep(many).ok_or(Error::NoRoom)
    }

    /// Returns the address of a family, which is that of its first endpoint, too.
    pub fn address_of(&self, family: Family) -> Address {
        self.shared().address(family.0)
    }

    /// Returns whether it reaches peers by an mlx5 device.
    pub fn has_device(&self) -> bool {
        self.shared().exchange().is_some()
    }

    pub(crate) fn config(&self) -> &Config {
        &self.0.config
    }

    /// Returns the provider of libfabric that is named, or its best, if the domain goes by that.
    pub(crate) fn libfabric(&self) -> Option<Option<&'static str>> {
        match self.0.config.far {
            Some(Transport::Libfabric(provider)) => Some(provider),
            _ => None,
        }
    }

    pub(crate) fn regions(&self) -> &Arc<Regions> {
        &self.0.regions
    }

    pub(crate) fn splits(&self) -> &Arc<Splits> {
        &self.0.splits
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        self.0.service.shared()
    }

    /// Returns the process of an address, connected at the first use.
    pub(crate) fn near(&self, process: &Ticket) -> Result<Arc<Near>, Error> {
        let key = process.to_bytes();
        let nears = || self.0.nears.lock().unwrap_or_else(PoisonError::into_inner);
        let known = nears().get(&key).and_then(Weak::upgrade);
        if let Some(near) = known {
            return if near.is_alive() {
                Ok(near)
            } else {
                Err(Error::PeerGone)
            };
        }
        let near = Arc::new(Near::connect(
            process,
            self.shared().ticket(),
            self.shared().port(),
        )?);
        let mut nears = nears();
        if let Some(other) = nears.get(&key).and_then(Weak::upgrade) {
            // Another thread was faster.
            return Ok(other);
        }
        nears.retain(|_, near| near.strong_count() > 0);
        nears.insert(key, Arc::downgrade(&near));
        self.shared().watch(Arc::clone(&near));
        Ok(near)
    }
}

/// Returns a number that processes of one system have in common: of its boot (random(4), boot_id).
fn this_node() -> u32 {
    let boot = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    // Fowler, Noll and Vo's hash FNV-1a, of 32 bits.
    let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    boot.iter().fold(0x811c_9dc5, step)
}
