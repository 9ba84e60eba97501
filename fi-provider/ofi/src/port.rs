//! A process's objects of libfabric, opened for a job.

use crate::candidates::{self, Candidate};
use crate::error::{Error, Failure};
use crate::form::Forms;
use crate::helper::{self, Helper};
use crate::lane::Lane;
use crate::message::{Message, Request};
use crate::objects::{Objects, Registration};
use crate::operation::{Kind, Operation, Operations};
use crate::pieces::Pieces;
use crate::progress::{Batch, Receives};
use crate::transfer::Place;
use crate::watch::{Ring, Watch, Watching};
use fi_ofi_abi::{
    FI_MR_LOCAL, FI_ORDER_RMA_WAW, FI_ORDER_SAS, FI_ORDER_SAW, FI_ORDER_WAW, FiEpAttr, FiMsg,
    FiTxAttr,
};
use fi_shm::amo::Amo;
use fi_shm::lock::{Guard, Locked};
use fi_shm::random;
use fi_shm::wait::{Patience, Waiter};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::fmt::{self, Display};
use std::ops::Range;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The first byte of an address: the version of its form and of the messages. With the other one the
/// address has a port for other hosts, too.
const VERSION: u8 = 3;
const WITH_PORT: u8 = 4;

/// Configuration of a port.
#[derive(Clone, Debug)]
pub struct Config {
    /// The number of this process among its peers.
    pub number: u32,
    /// The provider to take; the best where it is not given.
    pub provider: Option<String>,
    /// Time for which a waiting thread stays awake.
    pub patience: Patience,
    /// Time for which the thread that serves peers leaves the queue to a program that looks at it
    /// itself.
    pub leave: Duration,
    /// Whether local memory is registered even where the provider does not ask for it (FI_MR_LOCAL).
    pub registers_local: bool,
    /// Watch over hosts, if there is one.
    pub watch: Option<Watch>,
}

/// Possible rest of a thread that has found the completion queue empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Not at all: something has come.
    None,
    /// Until the descriptor can be read.
    OnQueue,
    /// For a time: there is no descriptor, or it tells nothing.
    ByTime,
}

/// Number of times in a row that a descriptor may be readable beside an empty queue: writes by
/// peers are data without completions, but libfabric 1.17's `net` leaves its descriptor readable
/// from the first completion on (its fi_trywait takes nothing back).
const BARREN: u32 = 64;

/// A range of own memory as peers reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteKey {
    /// The address of the first byte, as accesses give it.
    pub base: u64,
    /// The key.
    pub key: u64,
}

/// A process's way to its peers over libfabric.
#[derive(Debug)]
pub struct Port {
    /// Dropped first: its thread uses everything else.
    helper: Option<Helper>,
    shared: Arc<Shared>,
}

/// The part that the program's threads and the port's own share.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Shared {
    pub(crate) state: Locked<State>,
    /// Guarded by the lock of the state.
    pub(crate) forms: Forms,
    /// Looks at the completion queue by threads of the program.
    pub(crate) looks: AtomicU32,
    /// Threads of the program that sleep on the queue: the next completion wakes them.
    pub(crate) sleepers: AtomicU32,
    /// Descriptor to sleep on; none where the provider has none.
    pub(crate) descriptor: Option<RawFd>,
    pub(crate) facts: Facts,
}

/// The part that does not change.
#[derive(Debug)]
pub(crate) struct Facts {
    provider: String,
    domain: String,
    /// Bytes that a call takes over at once.
    pub(crate) inject: usize,
    /// The longest transfer.
    pub(crate) longest: usize,
    /// Whether local memory has to be registered.
    pub(crate) registers_local: bool,
    /// Whether writes are seen in their order, and messages behind earlier writes and messages.
    pub(crate) is_ordered: bool,
    /// Whether an element of a write may be seen half written.
    pub(crate) is_stream: bool,
    pub(crate) elements: Elements,
    /// The number of this process among the peers.
    pub(crate) number: u32,
    patience: Patience,
    /// As [`Config::leave`].
    pub(crate) leave: Duration,
}

/// Ways of elements of 4 or 8 bytes, which have to be seen whole, to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Elements {
    /// As writes.
    Written,
    /// Over a stream of bytes: as messages, behind writes before them.
    Swapped,
    /// As `Swapped`, where the order has to be waited for.
    Waited,
}

/// The part that the lock guards.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) objects: Objects,
    pub(crate) operations: Operations,
    pub(crate) pieces: Pieces,
    pub(crate) receives: Receives,
    pub(crate) peers: Vec<Peer>,
    /// The key of the job: the sum of the keys of all processes. Messages without it are dropped.
    pub(crate) key: u64,
    /// Whether the provider's number of each peer is the own one (FI_AV_TABLE).
    pub(crate) is_numbered: bool,
    pub(crate) batch: Batch,
    /// Answers that found no room.
    pub(crate) owed: VecDeque<(u32, crate::message::Answer)>,
    /// Number of times in a row that the descriptor could be read although the queue was empty, up
    /// to [`BARREN`].
    barren: u32,
    /// The watch over hosts: until all peers are known, and afterwards.
    ring: Option<Ring>,
    watching: Option<Watching>,
    pub(crate) own: Own,
}

/// The own memory.
#[derive(Debug)]
pub(crate) struct Own {
    /// The part of this process in the key of the job.
    pub(crate) key: u64,
    pub(crate) parts: Vec<(Range<usize>, Registration)>,
}

impl Own {
    /// Returns the own address of `bytes` bytes at the key and the address that a peer gives; none
    /// outside of the parts.
    pub(crate) fn place(&self, key: u64, address: u64, bytes: usize) -> Option<usize> {
        let mut parts = self.parts.iter();
        let (part, registration) = parts.find(|(_, one)| one.key == key)?;
        let offset = usize::try_from(address.checked_sub(registration.base)?).ok()?;
        let end = offset.checked_add(bytes)?;
        (end <= part.len()).then(|| part.start + offset)
    }

    /// Returns the descriptor of the part that has these bytes.
    pub(crate) fn descriptor(&self, addr: usize, bytes: usize) -> Option<*mut c_void> {
        let has = |part: &Range<usize>| part.contains(&addr) && bytes <= part.end - addr;
        let found = self.parts.iter().find(|(part, _)| has(part))?;
        Some(found.1.descriptor)
    }
}

/// A peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    /// The provider's number of it (fi_addr_t).
    pub(crate) address: u64,
    /// Whether a request that asked for no answer was refused to it: its later probes are answered so.
    pub(crate) is_refused: bool,
}

impl Port {
    /// Opens the objects and registers the parts of own memory that peers may reach.
    ///
    /// # Errors
    /// [`Error`], but for peers' addresses.
    ///
    /// # Safety
    /// The parts stay mapped until the port is dropped, and peers may read and write them.
    pub unsafe fn open(config: &Config, parts: &[Range<usize>]) -> Result<Self, Error> {
        let mut candidate = candidates::best(config.provider.as_deref())?;
        let facts = Facts::of(&candidate, config);
        let queue_size = candidate.queue_size();
        let mut objects = Objects::open(&mut candidate, queue_size)?;
        let system = |what| move |source| Error::System { what, source };
        let key = u64::from_ne_bytes(random::bytes().map_err(system("a key"))?);
        let mut own = Own {
            key,
            parts: Vec::new(),
        };
        for part in parts {
            // SAFETY: the part stays mapped, and peers may write it.
            let registered = unsafe { objects.register(part.start as *mut u8, part.len(), true) };
            own.parts.push((part.clone(), registered?));
        }
        let pieces = Pieces::new(&mut objects, facts.registers_local)?;
        let receives = Receives::new(&mut objects, facts.registers_local)?;
        let descriptor = objects.descriptor;
        let batch = Batch::new(&objects);
        // SAFETY: the endpoint is open.
        let forms = unsafe { Forms::new(objects.ep) };
        let mut state = State {
            objects,
            operations: Operations::new(config.number),
            pieces,
            receives,
            peers: Vec::new(),
            key: 0,
            is_numbered: true,
            batch,
            owed: VecDeque::new(),
            barren: 0,
            ring: None,
            watching: None,
            own,
        };
        if let Some(watch) = config.watch {
            let name = state.objects.name()?;
            let ring = Ring::new(watch, (config.number, key), &name);
            state.ring = ring.map_err(system("a port for other hosts"))?;
        }
        state.post_receives()?;
        let shared = Arc::new(Shared {
            state: Locked::new(state),
            forms,
            looks: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
            descriptor,
            facts,
        });
        // SAFETY: they stay with the shared part.
        unsafe { shared.forms.bind() };
        let helper = Helper::start(&shared).map_err(system("a thread that serves peers"))?;
        Ok(Self {
            helper: Some(helper),
            shared,
        })
    }

    /// Returns the address of this process, for [`Port::insert`] of all peers.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn address(&self) -> Result<Vec<u8>, Error> {
        let state = self.shared.state.lock();
        let provider = self.shared.facts.provider.as_bytes();
        let port = state.ring.as_ref().map(Ring::port);
        let version = port.map_or(VERSION, |_| WITH_PORT);
        let mut address = vec![version, provider.len() as u8];
        address.extend(provider);
        address.extend(state.own.key.to_le_bytes());
        address.extend(port.into_iter().flat_map(u16::to_le_bytes));
        address.extend(state.objects.name()?);
        Ok(address)
    }

    /// Returns the keys of the own parts for peers, in the order in which they were given.
    pub fn keys(&self) -> Vec<RemoteKey> {
        let state = self.shared.state.lock();
        let keys = state.own.parts.iter().map(|(_, one)| RemoteKey {
            base: one.base,
            key: one.key,
        });
        keys.collect()
    }

    /// Adds the next peer, by the address that it has told: peers are numbered from 0.
    ///
    /// # Errors
    /// [`Error::Garbled`], [`Error::OtherProvider`], [`Error::Call`].
    pub fn insert(&self, address: &[u8]) -> Result<(), Error> {
        let mut state = self.shared.state.lock();
        let peer = state.peers.len();
        let (provider, key, port, name) = decode(address).ok_or(Error::Garbled(peer))?;
        if provider != self.shared.facts.provider.as_bytes() {
            return Err(Error::OtherProvider {
                peer,
                theirs: String::from_utf8_lossy(provider).into_owned(),
                own: self.shared.facts.provider.clone(),
            });
        }
        let address = state.objects.insert(name)?;
        state.is_numbered &= address == peer as u64;
        state.peers.push(Peer {
            address,
            is_refused: false,
        });
        state.key = state.key.wrapping_add(key);
        let key_of_job = state.key;
        state.operations.set_key(key_of_job);
        if let Some(mut ring) = state.ring.take() {
            ring.learn(peer as u32, key, port, name);
            if ring.is_whole(state.peers.len()) {
                state.watching = ring.start();
            } else {
                state.ring = Some(ring);
            }
        }
        Ok(())
    }

    /// Returns whether elements of 4 or 8 bytes go as messages by posts in short
    /// ([`Lane::try_swap`]).
    pub fn swaps_elements(&self) -> bool {
        self.shared.facts.elements == Elements::Swapped
    }

    /// Returns whether an element of a write may be seen half written.
    pub fn is_stream(&self) -> bool {
        self.shared.facts.is_stream
    }

    /// Returns the peer whose operation failed first on this lane, and why.
    pub fn culprit(&self, lane: &Lane) -> Option<(u32, Failure)> {
        let _state = self.shared.state.lock();
        lane.failure.get()
    }

    /// Looks at the completion queue once; returns whether there was something.
    pub fn progress(&self) -> bool {
        self.shared.look(&mut self.lock())
    }

    /// Sleeps for so long, or until there is something to look at; returns whether there is.
    pub fn sleep(&self, time: Duration) -> bool {
        self.shared.sleep(time)
    }

    /// Has [names](crate::Name) mean nothing on the lane any more.
    pub fn forget_names(&self, lane: &Lane) {
        let _state = self.lock();
        lane.forget_names();
    }

    /// Takes the operations of a lane that is not used any more, and on which nothing is under way.
    pub fn retire(&self, lane: &Lane) {
        self.lock().operations.retire(lane);
    }

    #[inline(always)]
    pub(crate) fn lock(&self) -> Guard<'_, State> {
        self.shared.state.lock()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.shared.facts
    }

    /// Looks at the completion queue until `is_over`, sleeping where that takes long; the lock is
    /// open between looks.
    #[inline(always)]
    pub(crate) fn wait<'a>(
        &'a self,
        mut state: Guard<'a, State>,
        is_over: impl Fn() -> bool,
    ) -> Guard<'a, State> {
        self.shared.look(&mut state);
        if is_over() {
            return state;
        }
        self.shared.wait_long(state, is_over)
    }
}

impl State {
    /// Says how a thread may rest that has found the queue empty.
    pub(crate) fn rest(&mut self) -> Rest {
        let Some(descriptor) = self.objects.descriptor else {
            return Rest::ByTime;
        };
        if !self.objects.may_sleep() {
            return Rest::None;
        }
        if !helper::is_readable(descriptor) {
            self.barren = 0;
            return Rest::OnQueue;
        }
        if self.barren < BARREN {
            self.barren += 1;
            return Rest::None;
        }
        Rest::ByTime
    }
}

impl Shared {
    /// Sleeps for so long, or until something comes; returns whether something may have.
    fn sleep(&self, time: Duration) -> bool {
        let rest = self.state.lock().rest();
        match (rest, self.descriptor) {
            (Rest::None, _) => true,
            (Rest::OnQueue, Some(descriptor)) => {
                // ORDERING: a hint for the helper.
                self.sleepers.fetch_add(1, Ordering::Relaxed);
                let is_ready = helper::sleep(&[descriptor], time);
                self.sleepers.fetch_sub(1, Ordering::Relaxed);
                is_ready
            }
            _ => {
                std::thread::sleep(time);
                false
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn wait_long<'a>(
        &'a self,
        mut state: Guard<'a, State>,
        is_over: impl Fn() -> bool,
    ) -> Guard<'a, State> {
        let mut waiter = Waiter::new(self.facts.patience);
        loop {
            drop(state);
            waiter.pause_by(|time| _ = self.sleep(time));
            state = self.state.lock();
            self.look(&mut state);
            if is_over() {
                return state;
            }
        }
    }

    /// Looks at the completion queue on behalf of the program.
    #[inline(always)]
    pub(crate) fn look(&self, state: &mut State) -> bool {
        self.note_look();
        state.progress()
    }

    /// Counts a look of the program, which has the lock.
    #[inline(always)]
    pub(crate) fn note_look(&self) {
        // ORDERING: a hint for the helper; under the lock, so that no look is lost.
        let looks = self.looks.load(Ordering::Relaxed);
        self.looks.store(looks.wrapping_add(1), Ordering::Relaxed);
    }

    /// Posts again as long as there is no room.
    #[cold]
    pub(crate) fn try_again(
        &self,
        state: &mut State,
        first: isize,
        post: impl Fn() -> isize,
    ) -> isize {
        let mut posted = first;
        while posted == -(libc::EAGAIN as isize) {
            if !self.look(state) {
                std::thread::yield_now();
            }
            posted = post();
        }
        posted
    }

    /// Returns the request for an atomic operation, as a call sends it, but for the provider's
    /// number of the peer, for which the own one is taken.
    ///
    /// # Safety
    /// This thread has the lock; the operation is the caller's, and the peer is one of the port's.
    #[inline(always)]
    pub(crate) unsafe fn request(
        &self,
        operation: *mut Operation,
        place: Place,
        bytes: usize,
        amo: Amo,
    ) -> *mut FiMsg {
        // SAFETY: the structs are guarded by the lock; the peer is one of so many, and the operation
        // the caller's.
        unsafe {
            let form = &mut *self.forms.get();
            let request = Message::Request(Request {
                key: (*operation).swap.key(),
                from: self.facts.number,
                token: (*operation).token,
                region: place.key,
                address: place.address,
                bytes: bytes as u8,
                amo,
                asks: (*operation).kind() != Kind::Silent,
            });
            let (words, bytes) = request.encode();
            form.message(words, bytes, place.peer.into(), operation)
        }
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        drop(self.helper.take());
        let mut state = self.shared.state.lock();
        state.watching = None;
        state.objects.close_endpoint();
        for (_, registration) in state.own.parts.drain(..) {
            Objects::deregister(&registration);
        }
        state.pieces.close();
        state.receives.close();
    }
}

impl Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Facts {
            provider, domain, ..
        } = &self.shared.facts;
        write!(f, "libfabric's {provider} on {domain}")
    }
}

impl Facts {
    fn of(candidate: &Candidate, config: &Config) -> Self {
        let info = candidate.info();
        // SAFETY: the attributes of an entry are there.
        let (transmit, endpoint, domain): (&FiTxAttr, &FiEpAttr, _) =
            unsafe { (&*info.tx_attr, &*info.ep_attr, &*info.domain_attr) };
        let behind = FI_ORDER_SAW | FI_ORDER_SAS;
        let in_order = FI_ORDER_WAW | FI_ORDER_RMA_WAW;
        let is_ordered = transmit.msg_order & behind == behind
            && transmit.msg_order & in_order != 0
            && endpoint.max_order_waw_size >= endpoint.max_msg_size;
        let elements = match (candidate.is_stream(), is_ordered) {
            (false, _) => Elements::Written,
            (true, true) => Elements::Swapped,
            (true, false) => Elements::Waited,
        };
        Self {
            elements,
            provider: candidate.provider.clone(),
            domain: candidate.domain.clone(),
            inject: transmit.inject_size,
            longest: endpoint.max_msg_size.min(1 << 30),
            registers_local: config.registers_local || domain.mr_mode & FI_MR_LOCAL != 0,
            is_ordered,
            is_stream: candidate.is_stream(),
            number: config.number,
            patience: config.patience,
            leave: config.leave,
        }
    }
}

/// Returns the provider, the key, the port for other hosts (0 where there is none) and the name of
/// an address.
fn decode(address: &[u8]) -> Option<(&[u8], u64, u16, &[u8])> {
    let (&[version, len], rest) = address.split_first_chunk::<2>()?;
    let (provider, rest) = rest.split_at_checked(len as usize)?;
    let (key, rest) = rest.split_first_chunk::<8>()?;
    let (port, name) = match version {
        VERSION => (0, rest),
        WITH_PORT => {
            let (port, name) = rest.split_first_chunk::<2>()?;
            (u16::from_le_bytes(*port), name)
        }
        _ => return None,
    };
    (!name.is_empty()).then(|| (provider, u64::from_le_bytes(*key), port, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_cut_into_their_parts() {
        let (key, port) = (7_u64.to_le_bytes(), 8_u16.to_le_bytes());
        let address = [&[VERSION, 3][..], b"tcp", &key, b"name"].concat();
        assert_eq!(decode(&address), Some((&b"tcp"[..], 7, 0, &b"name"[..])));
        let longer = [&[WITH_PORT, 3][..], b"tcp", &key, &port, b"name"].concat();
        assert_eq!(decode(&longer), Some((&b"tcp"[..], 7, 8, &b"name"[..])));
        for cut in 0..address.len() - 3 {
            assert_eq!(decode(&address[..cut]), None, "{cut} bytes");
            assert_eq!(decode(&longer[..cut]), None, "{cut} bytes");
        }
        assert_eq!(decode(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]), None);
    }
}
