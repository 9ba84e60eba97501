//! The node's memory: one memfd that all PEs of the node map. Its control part, in a job of several nodes the table of all PEs of the
//! job, and a share per PE.
//!
//! The node's leader creates it and hands it over to the others; it has no name, so that nothing
//! is left behind when processes are killed. Each PE has a claim on it, by its rank, which ends
//! with its process.

#![expect(
    unsafe_code,
    reason = "the control part is a view of mapped memory that zero bytes initialise"
)]

use super::env;
use super::error::Error;
use super::places::{Places, Rank};
use super::statics::Image;
use super::workspace::WORKSPACE;
use fi_bootstrap::Bootstrap;
use fi_provider::node::barrier::{Central, Kind, Rounds};
use fi_provider::node::handover::{Offer, Ticket};
use fi_provider::node::processors::{Processors, each_has_its_own};
use fi_provider::node::segment::{HUGE_PAGE, Memfd, Reservation};
use fi_provider::node::wait::Patience;
use fi_provider::symmetric::address_vector::{PeerIndex, Table};
use fi_provider::symmetric::domain::NodeLayout;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// Memory that the PEs of a node share besides their symmetric memory. All zero bytes is the
/// initial state.
#[repr(C)]
pub(crate) struct Control {
    /// The leader's decision, written before any other PE reads it.
    pub(crate) barrier_kind: u32,
    /// Whether the PEs of the job on this machine, more than on this node where the launcher only
    /// pretends several, have fewer processors than they are: 1 or 0.
    is_crowded: u32,
    /// One more than the status given to shmem_global_exit, 0 while nobody called it.
    exit_request: AtomicI64,
    /// One more than the lowest PE whose device cannot be used, 0 where all can. The leader finds
    /// it when it makes the table of peers, and writes it before the launcher's barrier behind
    /// which the others read it.
    pub(crate) refused: AtomicU32,
    /// Whether [`Node::address`] has the addresses of all PEs, written with `refused`: 1 or 0.
    pub(crate) has_addresses: AtomicU32,
    pub(crate) central: Central,
}

/// One PE's part of the control memory. All zero bytes is the initial state.
#[repr(C, align(64))]
pub(crate) struct Slot {
    pub(crate) state: AtomicU32,
    /// The barriers that the PE had completed when it began to finalise.
    pub(crate) last_epoch: AtomicU64,
    /// Odd while the PE sleeps in a wait, and has no other thread and no handler of the program
    /// that may run. Goes up by two in such a wait, which takes 50 ms at least: in 32 bits it is
    /// back after three years.
    pub(crate) blocked: AtomicU32,
    /// The thread level that the initialisation gives the PE, which it writes before the barrier
    /// that ends it.
    pub(crate) thread_level: AtomicU32,
    /// Looks at the awaited memory since the PE began to sleep, modulo 2^32: they are compared
    /// after some 50 ms.
    pub(crate) looks: AtomicU32,
    pub(crate) rounds: Rounds,
    #[cfg(feature = "check")]
    pub(crate) board: crate::check::board::Board,
}

/// The states of a PE in [`Slot::state`]; 0 before its first initialisation.
pub(crate) mod state {
    /// Between initialisation and finalisation.
    pub(crate) const RUNNING: u32 = 1;
    /// In the barrier of its last finalisation, or past it.
    pub(crate) const FINALIZING: u32 = 2;
}

/// The node's memory as this PE sees it.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) layout: NodeLayout,
    pub(crate) places: Places,
    /// Bytes of heap per PE at the first initialisation.
    heap_len: usize,
    /// PEs that collectives of teams take for one node, instead of the launcher's number; for tests
    /// of collectives between nodes.
    node_size: Option<u32>,
    control: Reservation,
}

/// Values that all PEs must agree on; sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) static_len: usize,
    /// The fingerprint of the executable.
    pub(crate) executable: u64,
    pub(crate) heap_len: usize,
}

impl Sizes {
    pub(crate) fn of(image: &Image, heap_len: usize) -> Self {
        Self {
            static_len: image.statics().len(),
            executable: image.fingerprint,
            heap_len,
        }
    }

    /// Returns the place where workspace and heap begin in a PE's share: huge pages need it
    /// aligned.
    pub(crate) fn heap_offset(self) -> usize {
        self.static_len.next_multiple_of(HUGE_PAGE)
    }

    fn to_text(self) -> String {
        format!("{} {} {}", self.executable, self.static_len, self.heap_len)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        Some(Self {
            executable: words.next()?.parse().ok()?,
            static_len: words.next()?.parse().ok()?,
            heap_len: words.next()?.parse().ok()?,
        })
    }

    /// Compares them with those that PE 0 has told the launcher.
    fn agree(self, launcher: &mut Bootstrap) -> Result<(), Error> {
        let text = launcher.get(SIZES_KEY)?;
        let theirs = Self::parse(&String::from_utf8_lossy(&text))
            .ok_or_else(|| fi_bootstrap::Error::Garbled(SIZES_KEY.into()))?;
        if (theirs.executable, theirs.static_len) != (self.executable, self.static_len) {
            return Err(Error::OtherExecutable);
        }
        if theirs.heap_len != self.heap_len {
            return Err(Error::OtherHeap {
                mine: self.heap_len,
                theirs: theirs.heap_len,
            });
        }
        Ok(())
    }

    fn share(self) -> Option<usize> {
        self.heap_offset()
            .checked_add(WORKSPACE)?
            .checked_add(self.heap_len)?
            .checked_next_multiple_of(HUGE_PAGE)
    }
}

/// Under this key PE 0 tells its [`Sizes`].
const SIZES_KEY: &str = "sizes";

/// Returns the key under which PE `pe` tells which processors it may use.
fn processors_key(pe: PeerIndex) -> String {
    format!("processors-{pe}")
}

/// Returns the key under which the leader of node `node` tells where it is, and how its node's
/// memory is taken.
fn place_key(node: usize) -> String {
    format!("node-{node}")
}

impl Node {
    /// Creates (the node's leader) or takes the node's memory; all PEs of a node must be on one
    /// machine, and all of the job must have the same sizes.
    pub(crate) fn join(launcher: &mut Bootstrap, sizes: Sizes) -> Result<Self, Error> {
        let places = places(launcher)?;
        let node_size = env::collective_node_size()?;
        let led = if places.is_leader() {
            let memory = create(sizes, &places)?;
            let offer = match places.near().len() {
                1 => None,
                _ => Some(Offer::new().map_err(Error::system(HANDING_OVER))?),
            };
            let place = Place::of_own(offer.as_ref());
            launcher.put(&place_key(places.node()), place.to_text().as_bytes())?;
            Some((memory, offer))
        } else {
            None
        };
        if places.pe() == 0 {
            launcher.put(SIZES_KEY, sizes.to_text().as_bytes())?;
        }
        let own = Processors::own().to_text();
        launcher.put(&processors_key(places.pe()), own.as_bytes())?;
        launcher.barrier()?;
        sizes.agree(launcher)?;
        let is_leader = led.is_some();
        let memory = match led {
            Some((memory, offer)) => {
                if let Some(offer) = offer {
                    hand_over(launcher, &places, &memory, offer)?;
                }
                memory
            }
            None => find(launcher, &places)?,
        };
        let claim = Error::system("claiming a place in the node's memory");
        memory.claim(places.rank().0).map_err(claim)?;
        let mut node = Self::map(memory, sizes, places)?;
        node.node_size = node_size;
        if is_leader {
            node.decide(launcher)?;
        }
        // Nobody goes on until all have the memory and their claims.
        launcher.barrier()?;
        Ok(node)
    }

    fn map(memory: Memfd, sizes: Sizes, places: Places) -> Result<Self, Error> {
        let map = Error::system("mapping the node's control memory");
        let processes = places.near().len();
        let control_len = control_len(processes);
        let control = Reservation::anywhere(control_len)
            .and_then(|space| {
                space.map_shared(0, &memory, 0, control_len)?;
                Ok(space)
            })
            .map_err(map)?;
        let layout = NodeLayout {
            memory: Arc::new(memory),
            control_len: before_shares(&places),
            share_len: sizes.share().unwrap_or(0),
            rank: places.rank().0,
            processes: processes as u32,
        };
        Ok(Self {
            layout,
            places,
            heap_len: sizes.heap_len,
            node_size: None,
            control,
        })
    }

    /// Writes the fields that the others read after the launcher's barrier, as the leader.
    fn decide(&self, launcher: &mut Bootstrap) -> Result<(), Error> {
        let is_crowded = is_crowded(launcher, &self.places)?;
        let control = self.control.base() as *mut Control;
        // SAFETY: the control memory is mapped, and nobody reads these fields before the launcher's barrier.
        unsafe {
            (*control).is_crowded = u32::from(is_crowded);
            (*control).barrier_kind =
                Kind::for_processes(self.processes() as usize, is_crowded) as u32;
        }
        Ok(())
    }

    /// Checks that a later initialisation's heap fits where that of the first one was: behind it
    /// lies the next PE's share.
    pub(crate) fn check_heap_again(&self, heap_len: usize) -> Result<(), Error> {
        let first = self.heap_len;
        if heap_len > first {
            return Err(Error::HeapGrown {
                now: heap_len,
                first,
            });
        }
        Ok(())
    }

    /// Returns the table in which the leader writes how devices reach the PEs of the job, for all
    /// PEs of this node.
    pub(crate) fn peers(&self) -> Table {
        let layout = &self.layout;
        let behind_control = control_len(layout.processes as usize);
        Table::new(Arc::clone(&layout.memory), behind_control, self.pes())
    }

    /// Keeps the address of a PE's network for the other PEs of this node, as their leader; false
    /// where there is no room for it.
    pub(crate) fn keep_address(&self, pe: PeerIndex, address: &[u8]) -> Result<bool, Error> {
        let Some(length) = u8::try_from(address.len())
            .ok()
            .filter(|_| address.len() < ADDRESS_ROOM)
        else {
            return Ok(false);
        };
        let failed = Error::system("writing the node's addresses");
        let bytes = [&[length], address].concat();
        self.layout
            .memory
            .write_at(&bytes, self.address_place(pe))
            .map_err(failed)?;
        Ok(true)
    }

    /// Returns the address of a PE's network, where `has_addresses` says so.
    pub(crate) fn address(&self, pe: PeerIndex) -> Result<Vec<u8>, Error> {
        let failed = Error::system("reading the node's addresses");
        let mut bytes = [0; ADDRESS_ROOM];
        self.layout
            .memory
            .read_at(&mut bytes, self.address_place(pe))
            .map_err(failed)?;
        let [length, rest @ ..] = &bytes;
        Ok(rest[..usize::from(*length).min(rest.len())].to_vec())
    }

    /// Returns the place of a PE's address in the node's memory: behind the table of peers.
    fn address_place(&self, pe: PeerIndex) -> u64 {
        let before = control_len(self.layout.processes as usize) + Table::bytes(self.pes());
        (before + pe as usize * ADDRESS_ROOM) as u64
    }

    /// Returns the number of this PE.
    pub(crate) fn pe(&self) -> PeerIndex {
        self.places.pe()
    }

    /// Returns the number of PEs of the job.
    pub(crate) fn pes(&self) -> u32 {
        self.places.pes()
    }

    /// Returns the number of PEs of this node.
    pub(crate) fn processes(&self) -> u32 {
        self.layout.processes
    }

    /// Returns the ranks of the PEs of this node.
    pub(crate) fn ranks(&self) -> impl Iterator<Item = Rank> + use<> {
        (0..self.processes()).map(Rank)
    }

    /// Returns whether the PEs of this machine, on any of its nodes, share processors.
    pub(crate) fn is_crowded(&self) -> bool {
        self.control().is_crowded != 0
    }

    /// Returns the time to wait awake.
    pub(crate) fn patience(&self) -> Patience {
        Patience::new(self.is_crowded())
    }

    /// Returns the algorithm of barriers on this node.
    pub(crate) fn barrier_kind(&self) -> Kind {
        if self.control().barrier_kind == Kind::Dissemination as u32 {
            Kind::Dissemination
        } else {
            Kind::Central
        }
    }

    /// Returns a number that `pe` has in common with the PEs with which collectives share its
    /// memory: that of its node, or of the part that stands in for it.
    pub(crate) fn group_of(&self, pe: PeerIndex) -> usize {
        match self.node_size {
            // On pretended nodes of the launcher these are parts of them.
            Some(size) => self.places.node_of(pe) << 32 | (pe / size) as usize,
            None => self.places.node_of(pe),
        }
    }

    /// Returns whether collectives take other PEs for a node than the launcher.
    pub(crate) fn has_other_groups(&self) -> bool {
        self.node_size.is_some()
    }

    pub(crate) fn control(&self) -> &Control {
        // SAFETY: the memory is mapped as long as `self` and larger than a Control; fields that
        // others change meanwhile are atomic, the rest is written before the launcher's barrier
        // that ends `join`.
        unsafe { &*(self.control.base() as *const Control) }
    }

    /// Returns the slot of the PE with rank `rank` on this node.
    #[inline(always)]
    pub(crate) fn slot(&self, rank: Rank) -> &Slot {
        assert!(rank.0 < self.layout.processes);
        let slots = self.control.base() + size_of::<Control>();
        // SAFETY: the memory holds a slot for each process and is mapped as long as `self`; every field
        // is atomic.
        unsafe { &*(slots as *const Slot).add(rank.0 as usize) }
    }

    /// Returns the own slot.
    pub(crate) fn own(&self) -> &Slot {
        self.slot(self.places.rank())
    }

    /// Returns whether the process of the PE with rank `rank` on this node has ended, or has closed
    /// the node's memory.
    pub(crate) fn is_gone(&self, rank: Rank) -> bool {
        // A process is not told of its own claim. If this one has closed the memory, it knows of
        // nobody.
        rank != self.places.rank() && matches!(self.layout.memory.is_claimed(rank.0), Ok(false))
    }

    /// Returns a descriptor of the process of another PE of this node; none where that has ended or
    /// cannot be told.
    pub(crate) fn process_of(&self, rank: Rank) -> Option<OwnedFd> {
        self.layout.memory.claimant(rank.0).ok().flatten()
    }

    /// Asks the PEs of this node for the end of the job with `status`, unless somebody has before.
    pub(crate) fn request_exit(&self, status: i32) {
        // ORDERING: pairs with the load in `exit_status`; the number is all that is passed on.
        let _ = self.control().exit_request.compare_exchange(
            0,
            i64::from(status) + (1 << 32),
            Ordering::AcqRel,
            Ordering::Acquire,
        );
    }

    /// Returns the status that somebody asked the job to end with.
    pub(crate) fn exit_status(&self) -> Option<i32> {
        // ORDERING: pairs with the exchange in `request_exit`.
        match self.control().exit_request.load(Ordering::Acquire) {
            0 => None,
            request => Some((request - (1 << 32)) as i32),
        }
    }
}

const _: () = assert!(size_of::<Control>().is_multiple_of(align_of::<Slot>()));

/// Returns the places of the PEs of the job; all on one node when the launcher does not tell.
fn places(launcher: &mut Bootstrap) -> Result<Places, Error> {
    let size = launcher.size();
    let names = launcher.node_map()?.unwrap_or_else(|| vec![0; size]);
    Places::of(launcher.rank() as PeerIndex, &names)
        .ok_or_else(|| fi_bootstrap::Error::Garbled("PMI_process_mapping".into()).into())
}

/// Returns the bytes of the control part of a node with `processes` PEs.
fn control_len(processes: usize) -> usize {
    (size_of::<Control>() + processes * size_of::<Slot>()).next_multiple_of(HUGE_PAGE)
}

/// Bytes for the address of a PE's network and its length, which are less over libfabric.
const ADDRESS_ROOM: usize = 128;

/// Returns the bytes before the first share: of the control part, and where there are several nodes
/// of the table of peers and of their addresses.
fn before_shares(places: &Places) -> usize {
    let control = control_len(places.near().len());
    if places.is_one_node() {
        return control;
    }
    let addresses = places.pes() as usize * ADDRESS_ROOM;
    (control + Table::bytes(places.pes()) + addresses).next_multiple_of(HUGE_PAGE)
}

/// Creates this node's memory.
fn create(sizes: Sizes, places: &Places) -> Result<Memfd, Error> {
    let processes = places.near().len();
    let total = sizes
        .share()
        .and_then(|share| {
            share
                .checked_mul(processes)?
                .checked_add(before_shares(places))
        })
        .filter(|&total| total < isize::MAX as usize)
        .ok_or(Error::AddressSpace {
            heap: sizes.heap_len,
            processes,
        })?;
    check_file_size_limit(total)?;
    Memfd::create(c"farreach", total)
        .map_err(Error::system("creating the node's memory (memfd_create)"))
}

/// Fails where setting the size would be answered by SIGXFSZ.
fn check_file_size_limit(total: usize) -> Result<(), Error> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the record is valid for the call.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    if total as u64 > limit.rlim_cur {
        return Err(Error::FileSize {
            total,
            limit: limit.rlim_cur,
        });
    }
    Ok(())
}

/// The leader's step, as errors name it.
const HANDING_OVER: &str = "handing over the node's memory";

/// Gives the node's memory to the other PEs of the node, as their leader. The socket is closed
/// then: a process that comes later finds nobody.
fn hand_over(
    launcher: &Bootstrap,
    places: &Places,
    memory: &Memfd,
    offer: Offer,
) -> Result<(), Error> {
    let others = places.near().len() - 1;
    offer
        .serve(memory, others, launcher.lifeline())
        .map_err(|source| match source.kind() {
            ErrorKind::NotConnected => fi_bootstrap::Error::Closed.into(),
            _ => Error::system(HANDING_OVER)(source),
        })
}

/// Takes the memory of this node's leader.
fn find(launcher: &mut Bootstrap, places: &Places) -> Result<Memfd, Error> {
    let place = Place::of_leader(launcher, places.node())?;
    let (pe, leader) = (places.pe(), places.leader(places.node()));
    if place.machine != machine() {
        return Err(Error::OtherMachine { pe, leader });
    }
    let ticket = place
        .ticket
        .ok_or_else(|| fi_bootstrap::Error::Garbled(place_key(places.node())))?;
    ticket
        .take(launcher.lifeline())
        .map_err(|source| match source.kind() {
            ErrorKind::AddrNotAvailable => Error::OtherNetwork { pe, leader },
            ErrorKind::NotConnected => fi_bootstrap::Error::Closed.into(),
            _ => Error::NotHandedOver { leader, source },
        })
}

/// Returns whether the PEs of the job on the machine of this node, whose leader calls this, share
/// processors. All leaders of a machine find the same, from the masks and limits that the PEs have
/// put.
fn is_crowded(launcher: &mut Bootstrap, places: &Places) -> Result<bool, Error> {
    let own = machine();
    let mut all = Vec::new();
    for node in 0..places.nodes() {
        if node == places.node() || Place::of_leader(launcher, node)?.machine == own {
            for &pe in places.on(node) {
                all.push(processors_of(launcher, pe)?);
            }
        }
    }
    Ok(!each_has_its_own(&all))
}

/// Returns the processors that `pe` has put.
fn processors_of(launcher: &mut Bootstrap, pe: PeerIndex) -> Result<Processors, Error> {
    let key = processors_key(pe);
    let text = launcher.get(&key)?;
    Processors::parse(&String::from_utf8_lossy(&text))
        .ok_or_else(|| fi_bootstrap::Error::Garbled(key).into())
}

/// The machine of a node's leader, and the ticket by which the node's memory is taken from it.
struct Place {
    /// None where it has the node for itself.
    ticket: Option<Ticket>,
    machine: String,
}

impl Place {
    fn of_own(offer: Option<&Offer>) -> Self {
        Self {
            ticket: offer.map(|offer| offer.ticket().clone()),
            machine: machine(),
        }
    }

    /// Returns the place that the leader of node `node` has put.
    fn of_leader(launcher: &mut Bootstrap, node: usize) -> Result<Self, Error> {
        let key = place_key(node);
        let text = launcher.get(&key)?;
        Self::parse(&String::from_utf8_lossy(&text))
            .ok_or_else(|| fi_bootstrap::Error::Garbled(key).into())
    }

    fn to_text(&self) -> String {
        let ticket = self.ticket.as_ref().map(Ticket::to_text);
        format!(
            "{} {}",
            ticket.as_deref().unwrap_or(NO_TICKET),
            self.machine
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let (ticket, machine) = text.split_once(' ')?;
        Some(Self {
            ticket: match ticket {
                NO_TICKET => None,
                ticket => Some(Ticket::parse(ticket)?),
            },
            machine: machine.to_owned(),
        })
    }
}

/// Stands for a ticket where there is none.
const NO_TICKET: &str = "-";

/// Returns a name that two processes share when one kernel runs both: its boot. Empty where `/proc`
/// does not tell.
fn machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    boot.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_launcher_carries_is_read_as_it_was_written() {
        let sizes = Sizes {
            static_len: 8192,
            executable: u64::MAX,
            heap_len: 1 << 40,
        };
        assert_eq!(Sizes::parse(&sizes.to_text()), Some(sizes));
        assert_eq!(Sizes::parse("1 2"), None);
        let offer = Offer::new().unwrap();
        for offer in [Some(&offer), None] {
            let place = Place::of_own(offer);
            let read = Place::parse(&place.to_text()).unwrap();
            assert_eq!((read.ticket, read.machine), (place.ticket, machine()));
        }
        assert!(Place::parse("7").is_none() && Place::parse("7 boot").is_none());
    }
}
