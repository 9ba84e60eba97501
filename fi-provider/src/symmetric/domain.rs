//! The domain: the node's memory, this process's window in it, and the peers (fi_domain(3)).

#![expect(
    unsafe_code,
    reason = "the direct map reads the peer table through a raw pointer, so that it can live in a static"
)]

use crate::device::{self, Config, Device};
use crate::libfabric::{self, Libfabric};
use crate::symmetric::address_vector::{AddressVector, Peer, PeerIndex, Records, Table};
use crate::symmetric::gate::Gate;
use crate::symmetric::network::Network;
use crate::symmetric::window::{ELEMENT_SLACK, Window};
use fi_shm::segment::{HUGE_PAGE, Memfd, Reservation, page_size};
use std::fmt::Display;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Peers of a job that are the processes of this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// This process.
    pub own: PeerIndex,
    /// The processes of this node in the order of their ranks on it, this one included.
    pub near: Vec<PeerIndex>,
    /// Processes of the job.
    pub count: u32,
}

impl Placement {
    /// Returns the placement of a job of `count` processes that are all on this node, of which this
    /// is number `own`.
    pub fn one_node(own: PeerIndex, count: u32) -> Self {
        Self {
            own,
            near: (0..count).collect(),
            count,
        }
    }

    /// Returns whether all processes of the job are on this node.
    pub fn is_one_node(&self) -> bool {
        self.near.len() == self.count as usize
    }
}

/// Places in the node's memory where the processes of a node keep their windows.
///
/// The memory begins with `control_len` bytes for the layers above; then follow the shares, one per
/// process in the order of the ranks on the node, `share_len` bytes each.
#[derive(Clone, Debug)]
pub struct NodeLayout {
    /// The node's memory.
    pub memory: Arc<Memfd>,
    /// Bytes before the first share.
    pub control_len: usize,
    /// Bytes of each process's share.
    pub share_len: usize,
    /// This process's rank on the node.
    pub rank: u32,
    /// Processes on the node.
    pub processes: u32,
}

impl NodeLayout {
    /// Returns the begin of the share of `rank` in the memory.
    pub fn share_offset(&self, rank: u32) -> usize {
        self.control_len + rank as usize * self.share_len
    }
}

/// An open domain: the peers' windows are mapped and their records made.
#[derive(Debug)]
pub struct Domain {
    /// The default endpoint's.
    gate: Option<Gate>,
    /// Dropped before the memory: threads of its read the peers' records, and write the window.
    network: Option<Network>,
    window: Window,
    peers: AddressVector,
    /// The peers' windows, in the order of their ranks, `stride` bytes each from `first`; unmapped on drop.
    mapped: Option<Reservation>,
    first: usize,
    stride: usize,
    placement: Placement,
}

impl Domain {
    /// Returns the bytes of address space that one peer's window of `len` bytes takes: the window,
    /// and at least a page behind it that nothing is mapped to.
    fn stride(len: usize) -> usize {
        (len + ELEMENT_SLACK + page_size()).next_multiple_of(HUGE_PAGE)
    }

    /// Returns the bytes of address space that the windows of `processes` take, each of `len`
    /// bytes.
    pub fn address_space(len: usize, processes: usize) -> Option<usize> {
        Self::stride(len)
            .checked_mul(processes)?
            .checked_add(HUGE_PAGE)
    }

    /// Maps the windows of all processes of the node and makes the address vector, in which the processes of
    /// other nodes cannot be reached before [`Domain::connect`].
    ///
    /// The own window must already be mapped from the own share, each part at its `file_offset`; all
    /// processes have parts of the same lengths at the same distances.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn open(layout: &NodeLayout, window: Window, placement: &Placement) -> io::Result<Self> {
        assert_eq!(placement.near.len(), layout.processes as usize);
        let stride = Self::stride(window.len());
        let mut peers = AddressVector::of_unreachable(placement.count)?;
        let mapped = if layout.processes > 1 {
            let space = Self::address_space(window.len(), layout.processes as usize)
                .ok_or(io::ErrorKind::OutOfMemory)?;
            Some(Reservation::anywhere(space)?)
        } else {
            None
        };
        // Windows lie at a multiple of a huge page from the own, so that pages that are huge in the
        // owner's mapping can be huge here.
        let first = mapped.as_ref().map_or(0, |space| {
            window.base().wrapping_sub(space.base()) % HUGE_PAGE
        });
        for rank in 0..layout.processes {
            let delta = match &mapped {
                Some(space) if rank != layout.rank => {
                    let at = first + rank as usize * stride;
                    for part in window.parts() {
                        let offset = layout.share_offset(rank) + part.file_offset;
                        let place = at + part.base - window.base();
                        space.map_shared(place, &layout.memory, offset, part.len)?;
                    }
                    (space.base() + at).wrapping_sub(window.base())
                }
                _ => 0,
            };
            let len = window.len();
            peers.set_on_node(placement.near[rank as usize], len, len, delta);
        }
        if let Some(space) = &mapped {
            space.keep_from_children();
            space.keep_from_cores();
        }
        Ok(Self {
            window,
            peers,
            mapped,
            first,
            stride,
            placement: placement.clone(),
            gate: None,
            network: None,
        })
    }

    /// Opens the node's device, registers the window with it and makes the default endpoint's lane;
    /// returns the address that every peer has to be told for [`Domain::connect`].
    ///
    /// # Errors
    /// The missing part, or the refusal of the device.
    pub fn open_device(&mut self, config: Config) -> Result<Vec<u8>, device::Error> {
        let device = Device::open(&self.window, self.placement.count, config)?;
        let address = device.address();
        self.gate = Some(Gate::Mlx5(Arc::clone(device.shared_gate())));
        self.network = Some(Network::Mlx5(Box::new(device)));
        Ok(address)
    }

    /// Does as [`Domain::open_device`], with a provider of the system's libfabric.
    ///
    /// # Errors
    /// The part that is missing, or libfabric's refusal.
    pub fn open_libfabric(&mut self, config: &libfabric::Config) -> Result<Vec<u8>, device::Error> {
        let port = Libfabric::open(&self.window, self.placement.own, config)?;
        let address = port.address()?;
        self.gate = Some(Gate::Libfabric(Arc::clone(port.gate())));
        self.network = Some(Network::Libfabric(Box::new(port)));
        Ok(address)
    }

    /// Connects to all peers, of which `addresses` are those that [`Domain::open_device`] returned
    /// there, in the order of the ranks. When every process has done so, operations to any peer may
    /// begin.
    ///
    /// [`Domain::fill`], [`Domain::adopt`] and [`Domain::connect_queue`] are the same in steps, of which the first is for one
    /// process of a node.
    ///
    /// # Errors
    /// The refusal of the device, or an address that makes no sense.
    pub fn connect(&mut self, addresses: &[Vec<u8>]) -> Result<(), device::Error> {
        let table = Table::private(self.placement.count)?;
        let mut filling = self.fill(&table)?;
        addresses
            .iter()
            .try_for_each(|address| filling.push(address))?;
        filling.finish()?;
        self.adopt(&table)?;
        if self.needs_queues() {
            for (peer, address) in (0..).zip(addresses) {
                self.connect_queue(peer, address)?;
            }
        }
        Ok(())
    }

    /// Begins to write the records of all peers, for all processes of this node.
    ///
    /// # Errors
    /// That there is no device, or that the memory cannot be mapped.
    pub fn fill(&self, table: &Table) -> Result<Filling<'_>, device::Error> {
        Ok(Filling {
            network: self.network().ok_or(device::Error::NotOpen)?,
            records: table.records()?,
            next: 0,
        })
    }

    /// Takes the peers of a table that one process of this node has filled: without queues of their own for each peer they are
    /// reached from then on.
    ///
    /// # Errors
    /// That there is no device, that the memory cannot be mapped, or that the table is not of this job.
    pub fn adopt(&mut self, table: &Table) -> Result<(), device::Error> {
        let network = self.network().ok_or(device::Error::NotOpen)?;
        let own = self.placement.own as usize;
        let mut peers = AddressVector::of_table(table)?;
        let record = peers.records().get(own);
        if network.is_swapped(own, record.ok_or(device::Error::Garbled(own))?)? {
            peers = peers.swapped(|remote| network.swapped(remote))?;
        }
        for &peer in &self.placement.near {
            let before = self.peers.records()[peer as usize];
            let atomic_len = match network.has_processors_atomics() {
                true => before.atomic_len,
                false => 0,
            };
            peers.set_on_node(peer, before.window_len, atomic_len, before.delta);
        }
        if let Some(Network::Mlx5(device)) = &mut self.network {
            device.prepare_connections(self.placement.own, peers.records());
        }
        self.peers = peers;
        Ok(())
    }

    /// Begins to connect queues in the background, with a thread of the fabric's own, if the transport is [`device::Transport::Mixed`]: every process has
    /// to have adopted its peers. The domain must not be moved apart from its memory; the thread ends with [`Domain::rest`] or the domain.
    pub fn connect_in_background(&self) {
        if let Some(connector) = self.device().and_then(Device::connector) {
            // SAFETY: records and words are the domain's, which drops the connector before them.
            unsafe { connector.start() };
        }
    }

    /// Ends the work that [`Domain::connect_in_background`] began, until it is called again.
    pub fn rest(&self) {
        if let Some(connector) = self.device().and_then(Device::connector) {
            connector.stop();
        }
    }

    /// Returns the number of peers that the default lane reaches by queues which were connected in
    /// the background.
    pub fn connected_in_background(&self) -> u32 {
        let later = self.device().and_then(|device| device.gate().later());
        later.map_or(0, |later| later.taken())
    }

    /// Returns whether [`Domain::connect_queue`] is needed for every peer.
    pub fn needs_queues(&self) -> bool {
        self.network().is_some_and(Network::needs_addresses)
    }

    /// Connects the own queue for `peer`, whose address is `address`.
    ///
    /// # Errors
    /// The refusal of the device, or an address that makes no sense.
    pub fn connect_queue(&mut self, peer: PeerIndex, address: &[u8]) -> Result<(), device::Error> {
        let network = self.network.as_mut().ok_or(device::Error::NotOpen)?;
        network.connect(self.placement.own as usize, peer as usize, address)
    }

    /// Makes a lane beside the default one, for
    /// [`Endpoint::enable_on`](crate::symmetric::endpoint::Endpoint::enable_on); `shared` if
    /// several threads may use it at a time. It reaches all peers at once, for any transport of the
    /// default one: it is an initiator of dynamic connections. Where the policy has one lane for
    /// all, that is the result. The device has to be connected; without one nothing is needed, and
    /// the result is none.
    ///
    /// # Errors
    /// The refusal of the device, or that some device has no dynamic connections.
    /// [`Domain::share_gate`] helps then.
    pub fn open_gate(&self, shared: bool) -> Result<Option<Gate>, device::Error> {
        let network = self.network.as_ref();
        network
            .map(|network| network.open_gate(shared, &self.window))
            .transpose()
    }

    /// Returns the default lane, for an endpoint that cannot have its own for this reason, which is
    /// kept for [`Domain::lanes`]; none without a device.
    pub fn share_gate(&self, why: &device::Error) -> Option<Gate> {
        if let Some(device) = self.device() {
            device.note_shared(why);
        }
        self.gate.clone()
    }

    /// Returns the policy of the lanes, their number, and the resources of the device that they
    /// take; none without one.
    pub fn lanes(&self) -> Option<device::Report> {
        self.device().map(Device::report)
    }

    /// Returns whether every process of the job is on this node.
    pub fn all_near(&self) -> bool {
        self.placement.is_one_node()
    }

    /// Returns the own words that peers write by [`crate::symmetric::endpoint::Endpoint::post`];
    /// none without a device.
    pub fn mailbox(&self) -> &[AtomicU64] {
        self.network().map_or(&[], Network::mailbox)
    }

    /// Returns the device, once it is open.
    pub(crate) fn device(&self) -> Option<&Device> {
        self.network().and_then(Network::device)
    }

    /// Returns the network, once it is open.
    pub(crate) fn network(&self) -> Option<&Network> {
        self.network.as_ref()
    }

    /// Returns the default endpoint's gate, once the network is open.
    pub(crate) fn gate(&self) -> Option<&Gate> {
        self.gate.as_ref()
    }

    /// Returns the name of the device, and how it reaches peers; `None` without one.
    pub fn device_name(&self) -> Option<impl Display> {
        self.network()
    }

    /// Returns the statistics of private memory that was registered with the device for long
    /// transfers; `None` without one.
    pub fn registration_statistics(&self) -> Option<crate::registration::Statistics> {
        self.device().map(Device::registration_statistics)
    }

    /// Returns the own symmetric memory.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Returns the peers.
    pub fn peers(&self) -> &AddressVector {
        &self.peers
    }

    /// Returns the process whose window `addr` lies in, the own or a peer's mapped here, and the
    /// same object's address in the own window: for explaining a fault. `None` for any other
    /// address.
    pub fn owner_of(&self, addr: usize) -> Option<(PeerIndex, usize)> {
        let own = addr.wrapping_sub(self.window.base());
        if own < self.window.len() {
            return Some((self.placement.own, addr));
        }
        let space = self.mapped.as_ref()?;
        let offset = addr.wrapping_sub(space.base() + self.first);
        let peer = *self.placement.near.get(offset / self.stride)?;
        Some((peer, self.window.base() + offset % self.stride))
    }

    /// Returns the map for [`DirectMap::pointer`].
    pub fn direct_map(&self) -> DirectMap {
        let (first, rest) = match self.window.parts() {
            [first, rest @ ..] => ((first.base, first.len), Window::spanning(rest.to_vec())),
            [] => ((0, 0), Window::spanning(Vec::new())),
        };
        DirectMap {
            peers: self.peers.records().as_ptr(),
            count: self.peers.len() as u32,
            direct: if self.all_near() {
                self.peers.len() as u32
            } else {
                0
            },
            first,
            rest: (rest.base(), rest.len()),
        }
    }
}

/// Writes a table of peers, in the order of their ranks.
#[derive(Debug)]
pub struct Filling<'a> {
    network: &'a Network,
    records: Records,
    next: usize,
}

impl Filling<'_> {
    /// Adds the next peer, whose address is the one that [`Domain::open_device`] returned there.
    ///
    /// # Errors
    /// That the address makes no sense, or that there are more of them than peers.
    pub fn push(&mut self, address: &[u8]) -> Result<(), device::Error> {
        let remote = self.network.remote(self.next, address)?;
        let record = self.records.all_mut().get_mut(self.next);
        record.ok_or(device::Error::Garbled(self.next))?.remote = remote;
        self.next += 1;
        Ok(())
    }

    /// Ends the table.
    ///
    /// # Errors
    /// That there are fewer addresses than peers.
    pub fn finish(mut self) -> Result<(), device::Error> {
        if self.next < self.records.all_mut().len() {
            return Err(device::Error::Garbled(self.next));
        }
        Ok(())
    }
}

/// Map of the objects of peers in this process's address space: the hole behind the window's first
/// part is left out.
///
/// Plain data for a static. In a job where some peers are on other nodes every answer takes the cold path, so that
/// elsewhere no call has to ask where a peer is.
#[derive(Clone, Copy, Debug)]
pub struct DirectMap {
    peers: *const Peer,
    /// Peers.
    count: u32,
    /// Peers, if all of them are on this node, and else 0.
    direct: u32,
    /// Base and length in bytes of the window's first part, and of all that the others span.
    first: (usize, usize),
    rest: (usize, usize),
}

// SAFETY: the records are never written while the domain is open, and a map is used only so long.
unsafe impl Sync for DirectMap {}
// SAFETY: the records are never written while the domain is open, and a map is used only so long.
unsafe impl Send for DirectMap {}

impl DirectMap {
    /// Makes a map without peers.
    pub const fn empty() -> Self {
        Self {
            peers: std::ptr::null(),
            count: 0,
            direct: 0,
            first: (0, 0),
            rest: (0, 0),
        }
    }

    /// Returns the number of peers, if all are in reach of loads and stores, else 0, and the ranges
    /// of symmetric memory: the base of each, and its length in bytes.
    pub fn direct(&self) -> (u32, [(usize, usize); 2]) {
        (self.direct, [self.first, self.rest])
    }

    /// Returns the address, in this process, of the object on `peer` whose own address is `addr`;
    /// `None` where there is none.
    ///
    /// # Safety
    /// The domain of the map is open, or the map is empty.
    #[inline(always)]
    pub unsafe fn pointer(&self, addr: usize, peer: PeerIndex) -> Option<usize> {
        if peer >= self.direct {
            // SAFETY: the domain of the map is open, or the map is empty.
            return unsafe { self.pointer_among_nodes(addr, peer) };
        }
        let inside = |(base, len): (usize, usize)| addr.wrapping_sub(base) < len;
        if !inside(self.first) && !inside(self.rest) {
            return None;
        }
        // SAFETY: `peers` points to `count` records that live while the domain is open.
        let record = unsafe { &*self.peers.add(peer as usize) };
        Some(addr.wrapping_add(record.delta))
    }

    /// Does as [`DirectMap::pointer`], where some peers are on other nodes or none exist.
    ///
    /// # Safety
    /// As [`DirectMap::pointer`].
    #[cold]
    #[inline(never)]
    unsafe fn pointer_among_nodes(&self, addr: usize, peer: PeerIndex) -> Option<usize> {
        if peer >= self.count {
            return None;
        }
        // SAFETY: `peers` points to `count` records that live while the domain is open.
        let near = unsafe { (*self.peers.add(peer as usize)).window_len > 0 };
        let all_near = Self {
            direct: self.count,
            ..*self
        };
        // SAFETY: the domain is open: the map is not empty. Now it answers in line.
        near.then(|| unsafe { all_near.pointer(addr, peer) })?
    }
}
