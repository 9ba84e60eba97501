//! A gate: one lane of the device, and the memory that it alone uses. What goes through one gate neither waits for nor
//! touches anything of another's.

#![expect(
    unsafe_code,
    reason = "registers memory, and posts from it and into it"
)]

use crate::device::{Error, PARTS, Part, key_of, keys_of};
use crate::pieces::{PIECES, Pieces};
use crate::registration::{Absent, Loan, Registrations};
use crate::results::{self, Results};
use fi_mlx5::device::{self as hca, CompletionQueue, Peer, QueuePair, Region, Seat};
use fi_mlx5::lane::{self, Failure, Hook, Lane, Later, Local, Parts, Posted, Threads, To};
use fi_mlx5::registers::Registers;
use fi_shm::segment::{Memfd, Reservation, page_size};
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, PoisonError};

/// Basic blocks of a send queue: of an initiator, and of each of a few.
const BLOCKS: u32 = 512;
/// The fewest of one of many.
const FEWEST_BLOCKS: u32 = 64;
/// Basic blocks of all connected send queues of a lane, where they are not the fewest.
const ALL_BLOCKS: u32 = 16 * BLOCKS;
/// The fewest entries of a completion queue, beside one for each send queue, where the queues are many: posts wait when as many
/// completions are due.
const COMPLETIONS: u32 = 4096;
/// Bytes that are copied in less time than it takes to look whether they are registered: a system call and two locks, as long as
/// copying 4 KiB that are in no cache, or 32 KiB that are.
const QUICKLY_COPIED: usize = 16 << 10;

/// Where things lie in a gate's memory, in bytes: results that nobody wants; results of blocking
/// operations on a lane of one thread; slots for other results; and from the next page on the
/// bounce memory.
const DISCARD: usize = 0;
const RESULT: usize = 64;
const SLOTS: usize = 512;
const _: () = assert!(RESULT + RESULT_BYTES <= SLOTS && SLOTS + results::BYTES <= 4096);

/// Bytes that a result may have.
pub(crate) const RESULT_BYTES: usize = 256;

/// The send queues of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queues {
    /// A connected one for each of so many peers.
    Connected(u32),
    /// So many, a power of two, that enter the peers' targets.
    Initiators(u32),
    /// So many that enter the peers' targets, and a connected one for each of so many peers, which come later if they come.
    Mixed {
        /// A power of two.
        initiators: u32,
        /// Peers.
        peers: u32,
    },
}

impl Queues {
    /// Connected ones, those that come later included, and initiators.
    fn counts(self) -> (u32, u32) {
        match self {
            Self::Connected(count) => (count, 0),
            Self::Initiators(count) => (0, count),
            Self::Mixed { initiators, peers } => (peers, initiators),
        }
    }

    /// Basic blocks of each connected one: fewer where they are many.
    fn connected_blocks(self) -> u32 {
        let (count, _) = self.counts();
        let share = ALL_BLOCKS / count.clamp(1, ALL_BLOCKS).next_power_of_two();
        share.clamp(FEWEST_BLOCKS, BLOCKS)
    }

    /// Entries of their completion queue, of at most `most`, if so many will do: one for each block, because each entry that is
    /// flushed has one. Those of a device with fewer may overflow, but not before the one that tells why.
    fn completions(self, most: u32) -> Option<u32> {
        let (connected, initiators) = self.counts();
        let wanted = connected
            .saturating_mul(self.connected_blocks())
            .saturating_add(initiators * BLOCKS)
            .max(2 * BLOCKS);
        let fewest = wanted.min(COMPLETIONS.saturating_add(connected + initiators));
        (fewest <= most).then(|| wanted.min(most))
    }
}

/// How a gate is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Its send queues.
    pub(crate) queues: Queues,
    /// Whether several threads may use it at a time.
    pub(crate) shared: bool,
    /// Whether it is the default endpoint's.
    pub(crate) default: bool,
    /// Bytes of a piece of the bounce memory, which is at most a message.
    pub(crate) piece_len: usize,
    /// Called where the completion queue was found empty.
    pub(crate) hook: Option<Hook>,
}

/// What the gates of a device context share.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    /// The window as the context knows it.
    pub(crate) parts: Arc<[Part]>,
    /// Private memory that is registered with the context.
    pub(crate) registrations: Arc<Registrations>,
    /// The registers that several lanes ring.
    pub(crate) registers: Arc<Registers>,
}

/// A lane of the device with the memory that it alone uses: see
/// [`crate::domain::Domain::open_gate`].
#[derive(Debug)]
#[repr(align(128))]
pub struct Gate {
    lane: Lane,
    near_atomics: Cell<bool>,
    pub(crate) pieces: Pieces,
    pub(crate) results: Results,
    piece_len: usize,
    /// Bytes of the longest message, whole pages.
    max_message: usize,
    /// Private memory that is registered with the lane's context.
    registrations: Arc<Registrations>,
    /// Such memory that what was posted uses, until quiet; each once, in the order of what tells them apart.
    loans: RefCell<Vec<Loan>>,
    is_default: bool,
    parts: Arc<[Part]>,
    /// The local keys of the parts.
    keys: [u32; PARTS],
    /// Queues that come later, their basic blocks, and what they belong to.
    later: Option<Arc<Later>>,
    later_blocks: u32,
    late_pairs: Mutex<Vec<QueuePair>>,
    pairs: Vec<QueuePair>,
    completions: CompletionQueue,
    own: Region,
    memory: Reservation,
    seat: Seat,
}

// SAFETY: a gate that is not `shared` is used by one thread at a time, as `Endpoint::enable`
// requires; one that is takes the lane's lock around every use of fields that change. The raw
// pointers lead to memory that the gate's objects keep.
unsafe impl Send for Gate {}
// SAFETY: one thread at a time uses the fields that change, on a gate of one thread or under the
// lane's lock.
unsafe impl Sync for Gate {}

impl Gate {
    /// A gate whose queues are made in this seat.
    pub(crate) fn open(seat: Seat, plan: &Plan, common: Common) -> Result<Self, Error> {
        let hca = seat.device();
        let bounce = page_size();
        let piece_len = plan.piece_len.min(hca.features().max_message as usize);
        let memory = private_memory(bounce + PIECES * piece_len)?;
        // SAFETY: the mapping was just made, and only this gate uses it, by cells.
        let own = unsafe { hca.register_local(memory.base() as *mut u8, memory.len())? };
        let entries = plan.queues.completions(hca.features().max_completions);
        if let Some(what) = lacking(hca, plan.queues, entries) {
            return Err(Error::lacks(hca, what));
        }
        let entries = entries.unwrap_or(COMPLETIONS);
        let (completions, source) = seat.completions(entries)?;
        let blocks = plan.queues.connected_blocks();
        let (mut pairs, mut queues) = (Vec::new(), lane::Queues::default());
        let (mut connected, initiators) = plan.queues.counts();
        if matches!(plan.queues, Queues::Mixed { .. }) {
            // Queues that come later have to have the register of the others.
            queues.later = seat.has_domain().then(|| Later::new(connected));
            connected = 0;
        }
        for _ in 0..connected {
            pairs.push(seat.connected(&completions, blocks)?);
        }
        queues.connected = pairs.iter().map(QueuePair::ring).collect();
        for _ in 0..initiators {
            let initiator = seat.initiator(&completions, BLOCKS)?;
            queues.initiators.push(initiator.ring());
            pairs.push(initiator);
        }
        let later = queues.later.clone();
        let parts = Parts {
            queues,
            completions: source,
            discard: ((memory.base() + DISCARD) as u64, own.lkey()),
            threads: match (plan.shared, seat.is_only()) {
                (false, _) => Threads::One,
                (true, false) => Threads::Several,
                (true, true) => Threads::Counted,
            },
            registers: seat.shares_registers().then_some(common.registers),
            hook: plan.hook,
        };
        // SAFETY: the rings live as long as the queue pairs and the completion queue, which are kept beside the lane.
        let lane = unsafe { Lane::new(parts) };
        Ok(Self {
            lane,
            near_atomics: Cell::new(false),
            pieces: Pieces::default(),
            results: Results::default(),
            piece_len,
            max_message: hca.features().max_message as usize & !(page_size() - 1),
            registrations: common.registrations,
            loans: RefCell::default(),
            is_default: plan.default,
            keys: keys_of(&common.parts),
            parts: common.parts,
            later,
            later_blocks: blocks,
            late_pairs: Mutex::default(),
            pairs,
            completions,
            own,
            memory,
            seat,
        })
    }

    /// Whether it has less than the policy of the lanes says, because the device has no more.
    pub(crate) fn is_short(&self) -> bool {
        self.seat.is_short()
    }

    /// Whether it is the default endpoint's.
    pub fn is_default(&self) -> bool {
        self.is_default
    }

    /// The local key of the part of the own window that has `bytes` bytes at `addr`.
    pub(crate) fn own_key(&self, addr: usize, bytes: usize) -> Option<u32> {
        key_of(&self.parts, addr, bytes)
    }

    /// The local key of a part of the own window.
    #[inline(always)]
    pub(crate) fn key_of_part(&self, part: usize) -> u32 {
        self.keys[part]
    }

    /// Bytes of the longest message, whole pages.
    #[inline(always)]
    pub(crate) fn max_message(&self) -> usize {
        self.max_message
    }

    /// The numbers by which the device knows its queues.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.pairs.iter().map(QueuePair::number).collect()
    }

    /// Connects the queue for peer `index`, where there is one for each.
    pub(crate) fn connect(&self, index: usize, peer: &Peer) -> Result<(), Error> {
        match self.pairs.get(index) {
            Some(pair) => Ok(pair.connect(peer)?),
            None => Err(Error::Garbled(index)),
        }
    }

    /// Queues that the lane gets later, if there shall be any.
    pub(crate) fn later(&self) -> Option<&Arc<Later>> {
        self.later.as_ref()
    }

    /// Makes a queue pair for the lane that is not connected yet; on any thread.
    pub(crate) fn make_connected(&self) -> Result<QueuePair, Error> {
        Ok(self.seat.connected(&self.completions, self.later_blocks)?)
    }

    /// Keeps a queue pair that the lane was given as long as the lane.
    pub(crate) fn keep_pair(&self, pair: QueuePair) {
        let mut pairs = self
            .late_pairs
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        pairs.push(pair);
    }

    /// The lane.
    #[inline(always)]
    pub(crate) fn lane(&self) -> &Lane {
        &self.lane
    }

    /// Whether several threads may use it at a time.
    pub fn is_shared(&self) -> bool {
        self.lane.is_shared()
    }

    /// Registered memory for the result of a blocking operation of `bytes` bytes, at most [`RESULT_BYTES`].
    pub(crate) fn result(&self, bytes: usize) -> Local {
        self.local(RESULT, bytes)
    }

    /// What an atomic operation on `bytes` bytes (4 or 8) has left in [`Gate::result`]. The lane is held.
    #[inline(always)]
    pub(crate) fn fetched(&self, bytes: usize) -> u64 {
        self.word_in(self.result(bytes))
    }

    /// The result of an atomic operation, in a word of the gate's memory. The lane is held.
    #[inline(always)]
    pub(crate) fn word_in(&self, local: Local) -> u64 {
        let address = local.address;
        // SAFETY: the word is in the gate's memory, which is mapped as long as the gate, and
        // aligned there; volatile, because the device has written it. It gives results of four
        // bytes in its own byte order, whatever it does with those of eight.
        unsafe {
            if local.length as usize == size_of::<u32>() {
                u32::from_be((address as *const u32).read_volatile()).into()
            } else {
                (address as *const u64).read_volatile()
            }
        }
    }

    /// Registered memory for `bytes` bytes of the slots.
    pub(crate) fn slot_memory(&self, offset: usize, bytes: usize) -> Local {
        self.local(SLOTS + offset, bytes)
    }

    /// Registered memory for results that nobody wants.
    pub(crate) fn discard(&self, bytes: usize) -> Local {
        self.local(DISCARD, bytes)
    }

    /// Bytes of a piece of the bounce memory.
    pub(crate) fn piece_len(&self) -> usize {
        self.piece_len
    }

    /// `length` bytes of piece `index` of the bounce memory.
    pub(crate) fn piece(&self, index: usize, length: usize) -> Local {
        self.local(page_size() + index * self.piece_len, length)
    }

    /// Bytes that the bounce memory holds at a time.
    pub(crate) fn bounce_len(&self) -> usize {
        PIECES * self.piece_len
    }

    /// Private memory of `bytes` bytes at `addr` as registered memory, where that is better than the bounce memory: it
    /// is registered for a transfer that the bounce memory does not hold, and then used for shorter ones, too.
    ///
    /// # Safety
    /// The bytes are mapped, and stay so until the loan is given back.
    pub(crate) unsafe fn lend(&self, addr: usize, bytes: usize) -> Option<Loan> {
        let absent = if bytes > self.bounce_len() {
            Absent::Register
        } else if bytes > QUICKLY_COPIED {
            Absent::Leave
        } else {
            return None;
        };
        // SAFETY: the bytes are mapped, and stay so until the loan is given back.
        unsafe { self.registrations.lend(addr, bytes, absent) }
    }

    /// Keeps what an entry uses until quiet. The lane is held.
    pub(crate) fn keep(&self, loan: Loan) {
        let mut loans = self.loans.borrow_mut();
        let place = loans.binary_search_by_key(&loan.identity(), Loan::identity);
        if let Err(place) = place {
            loans.insert(place, loan);
        }
    }

    fn local(&self, offset: usize, bytes: usize) -> Local {
        Local {
            address: (self.memory.base() + offset) as u64,
            length: bytes as u32,
            key: self.own.lkey(),
        }
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

    /// Waits until everything is done that was posted before, and calls `idle` on a lane of one
    /// thread, which has nothing outstanding then. Threads that share the lane may have it
    /// meanwhile.
    pub(crate) fn quiet(&self, idle: impl FnOnce()) -> Result<(), Failure> {
        let _held = self.lane.hold();
        // Operations that other threads post from now on may use other loans.
        let loans = self.loans.take();
        // SAFETY: this thread holds the lane.
        let done = unsafe { self.lane.quiet() };
        self.deliver_all();
        if !loans.is_empty() {
            drop(loans);
            self.registrations.drop_invalid();
        }
        done?;
        if !self.is_shared() || self.lane.is_idle() {
            self.forget_near_atomics();
        }
        idle();
        Ok(())
    }

    /// Reads or writes the word of a mailbox: `write` is what to write, and else the word is returned.
    pub(crate) fn mail(&self, to: To<'_>, write: Option<u64>) -> Result<u64, Failure> {
        let _held = self.lane.hold();
        if let Some(value) = write {
            // SAFETY: the lane is held, and the value is as long as said.
            unsafe {
                self.lane
                    .write_inline(to, (&raw const value).cast(), size_of::<u64>())?
            };
            return Ok(value);
        }
        // SAFETY: this thread holds the lane, and the result is registered.
        self.await_word(size_of::<u64>(), |local| unsafe {
            self.lane.read(to, local)
        })
    }

    /// Posts an operation that brings a word of `bytes` bytes (4 or 8), and waits for it. The lane
    /// is held; other threads may have it meanwhile.
    pub(crate) fn await_word(
        &self,
        bytes: usize,
        post: impl FnOnce(Local) -> Result<Posted, Failure>,
    ) -> Result<u64, Failure> {
        let slot = self.claim_result()?;
        let local = self.result_in(&slot, bytes);
        let done = post(local).and_then(|posted| self.lane.wait(posted));
        let word = self.word_in(local);
        self.release_result(slot);
        done.map(|()| word)
    }
}

/// What the device has not that such a gate needs.
fn lacking(hca: &hca::Device, queues: Queues, entries: Option<u32>) -> Option<&'static str> {
    match (queues, entries) {
        (_, None) => Some("completion queue for so many peers; use DC"),
        (Queues::Initiators(_) | Queues::Mixed { .. }, _) if !hca.features().dc => {
            Some("dynamic connections (DC); use RC")
        }
        _ => None,
    }
}

/// Memory for the device's own use. It is shared, so that a fork does not part the process from its device.
pub(crate) fn private_memory(len: usize) -> std::io::Result<Reservation> {
    let memory = Memfd::create(c"farreach-device", len)?;
    let space = Reservation::anywhere(len)?;
    space.map_shared(0, &memory, 0, len)?;
    space.keep_from_cores();
    Ok(space)
}
