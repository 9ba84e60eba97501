//! A gate: one lane of the device, and the memory that it alone uses. Operations through one gate
//! neither wait for nor touch anything of another's.

#![expect(unsafe_code, reason = "posts from and into the memory that it has")]

use crate::device::error::Error;
use crate::device::mailbox::Mailbox;
use crate::device::parts::WindowParts;
use crate::device::pieces::{Kept, Piece, Pieces, Waiting};
use crate::device::plan::{BLOCKS, COMPLETIONS, Plan, Queues};
use crate::device::results::{Results, Slot};
use crate::device::scratch::Scratch;
use crate::registration::{Absent, Loan, Registrations};
use crate::symmetric::remote::PARTS;
use fi_mlx5::device::{CompletionQueue, Peer, QueuePair, ReceiveQueue, Seat};
use fi_mlx5::lane::{
    self, Failure, Flushed, Lane, Later, Local, Parts, Posted, Threads, To, Undone,
};
use fi_mlx5::queue::SendRing;
use fi_mlx5::registers::Registers;
use fi_shm::segment::page_size;
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that are copied in less time than it takes to look whether they are registered: a system
/// call and two locks, as long as copying 4 KiB that are in no cache, or 32 KiB that are.
const QUICKLY_COPIED: usize = 16 << 10;

/// Resources that the gates of a device context share.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    /// The window as the context knows it.
    pub(crate) parts: WindowParts,
    /// The words of it that peers write and read.
    pub(crate) mailbox: Mailbox,
    /// Private memory that is registered with the context.
    pub(crate) registrations: Arc<Registrations>,
    /// The registers that several lanes ring.
    pub(crate) registers: Arc<Registers>,
}

/// A lane of the device with the memory that it alone uses: see
/// [`crate::symmetric::domain::Domain::open_gate`].
#[derive(Debug)]
#[repr(align(128))]
pub struct Gate {
    lane: Lane,
    near_atomics: Cell<bool>,
    pieces: Pieces,
    results: Results,
    /// Bytes of the longest message, whole pages.
    max_message: usize,
    /// Private memory that is registered with the lane's context.
    registrations: Arc<Registrations>,
    /// Such memory that posted WQEs use, until quiet; each loan once, in the order of their
    /// identities.
    loans: RefCell<Vec<Loan>>,
    is_default: bool,
    parts: WindowParts,
    mailbox: Mailbox,
    /// Whether there are masked atomics of 4 and of 8 bytes.
    masked: [bool; 2],
    /// The local keys of the parts.
    keys: [u32; PARTS],
    /// Queues that come later, their basic blocks, and the queue pairs to which they belong.
    later: Option<Arc<Later>>,
    later_blocks: u32,
    late_pairs: Mutex<Vec<QueuePair>>,
    pairs: Vec<QueuePair>,
    completions: CompletionQueue,
    scratch: Scratch,
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
    /// Opens a gate whose queues are made in this seat.
    pub(crate) fn open(seat: Seat, plan: &Plan, common: Common) -> Result<Self, Error> {
        let hca = seat.device();
        let features = *hca.features();
        let piece_len = plan.piece_len.min(features.max_message as usize);
        let scratch = Scratch::new(hca, piece_len)?;
        let entries = plan.queues.completions(features.max_completions);
        if let Some(what) = plan.queues.lacking(hca, entries) {
            return Err(Error::lacks(hca, what));
        }
        let entries = entries.unwrap_or(COMPLETIONS);
        let overrun = plan.queues.overrun(entries);
        let (completions, source) = seat.completions(entries, overrun)?;
        let blocks = plan.queues.connected_blocks();
        let (mut pairs, mut queues) = (Vec::new(), lane::Queues::default());
        let (mut connected, initiators) = plan.queues.counts();
        if let Queues::Later(peers) = plan.queues {
            if !seat.has_domain() {
                return Err(Error::NoLane);
            }
            // Connected to nobody: it tells which register those that come later have.
            let pattern = seat.connected(&completions, blocks)?;
            queues.pattern = Some(pattern.ring());
            pairs.push(pattern);
            queues.later = Some(Later::new(peers));
            connected = 0;
        }
        if matches!(plan.queues, Queues::Mixed { .. }) {
            // Queues that come later have to have the register of the others.
            queues.later = seat.has_domain().then(|| Later::new(connected));
            connected = 0;
        }
        for _ in 0..connected {
            pairs.push(seat.connected(&completions, blocks)?);
        }
        if queues.pattern.is_none() {
            queues.connected = pairs.iter().map(QueuePair::ring).collect();
        }
        for _ in 0..initiators {
            let initiator = seat.initiator(&completions, BLOCKS)?;
            queues.initiators.push(initiator.ring());
            pairs.push(initiator);
        }
        let later = queues.later.clone();
        let discard = scratch.discard(0);
        let parts = Parts {
            queues,
            completions: source,
            discard: (discard.address, discard.key),
            threads: match (plan.shared, seat.is_only()) {
                (false, _) => Threads::One,
                (true, false) => Threads::Several,
                (true, true) => Threads::Counted,
            },
            registers: seat.shares_registers().then_some(common.registers),
            hook: plan.hook,
        };
        // SAFETY: the rings live as long as the queue pairs and the completion queue, which are
        // kept beside the lane.
        let lane = unsafe { Lane::new(parts) };
        Ok(Self {
            lane,
            near_atomics: Cell::new(false),
            pieces: Pieces::default(),
            results: Results::default(),
            max_message: features.max_message as usize & !(page_size() - 1),
            registrations: common.registrations,
            loans: RefCell::default(),
            is_default: plan.default,
            masked: [features.masked_atomics_4, features.masked_atomics_8],
            keys: common.parts.keys(),
            parts: common.parts,
            mailbox: common.mailbox,
            later,
            later_blocks: blocks,
            late_pairs: Mutex::default(),
            pairs,
            completions,
            scratch,
            seat,
        })
    }

    /// Returns whether it has less than the policy of the lanes says, because the device has no
    /// more.
    pub(crate) fn is_short(&self) -> bool {
        self.seat.is_short()
    }

    /// Returns whether it is the default endpoint's.
    pub fn is_default(&self) -> bool {
        self.is_default
    }

    /// Returns the local key of the part of the own window that has `bytes` bytes at `addr`.
    pub(crate) fn own_key(&self, addr: usize, bytes: usize) -> Option<u32> {
        self.parts.key_of(addr, bytes)
    }

    /// Returns whether `bytes` bytes at `addr` are in one part of the own window, and so in one of
    /// every peer's.
    pub(crate) fn is_registered(&self, addr: usize, bytes: usize) -> bool {
        self.parts.has(addr, bytes)
    }

    /// Returns whether there are masked atomics of `bytes` bytes (4 or 8).
    pub(crate) fn has_masked_atomics(&self, bytes: usize) -> bool {
        self.masked[usize::from(bytes != 4)]
    }

    /// Returns the own address of word `slot` of the mailbox; `None` where there is none.
    pub(crate) fn mailbox_word(&self, slot: usize) -> Option<usize> {
        self.mailbox.address_of(slot)
    }

    /// Returns the local key of a part of the own window.
    #[inline(always)]
    pub(crate) fn key_of_part(&self, part: usize) -> u32 {
        self.keys[part]
    }

    /// Returns the bytes of the longest message, whole pages.
    #[inline(always)]
    pub(crate) fn max_message(&self) -> usize {
        self.max_message
    }

    /// Returns the numbers by which the device knows its queues.
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

    /// Asks for an event with the next completion, where the gate was opened for that; the caller
    /// looks behind this once more whether one is there.
    pub(crate) fn arm(&self) {
        self.completions.arm(self.lane.consumed());
    }

    /// Returns the lane.
    #[inline(always)]
    pub(crate) fn lane(&self) -> &Lane {
        &self.lane
    }

    /// Returns whether several threads may use it at a time.
    pub fn is_shared(&self) -> bool {
        self.lane.is_shared()
    }

    /// Returns registered memory for the result of a blocking operation of `bytes` bytes, at most
    /// [`RESULT_BYTES`](crate::device::scratch::RESULT_BYTES).
    pub(crate) fn result(&self, bytes: usize) -> Local {
        self.scratch.result(bytes)
    }

    /// Returns the result that an atomic operation on `bytes` bytes (4 or 8) has left in
    /// [`Gate::result`]. The lane is held.
    #[inline(always)]
    pub(crate) fn fetched(&self, bytes: usize) -> u64 {
        self.scratch.word_in(self.result(bytes))
    }

    /// Returns registered memory for results that nobody wants.
    pub(crate) fn discard(&self, bytes: usize) -> Local {
        self.scratch.discard(bytes)
    }

    /// Returns the bytes of a piece of the bounce memory.
    pub(crate) fn piece_len(&self) -> usize {
        self.scratch.piece_len()
    }

    /// Returns the bytes that the bounce memory holds at a time.
    pub(crate) fn bounce_len(&self) -> usize {
        self.scratch.bounce_len()
    }

    /// Claims a piece of the bounce memory that nobody uses any more, for `length` bytes of it;
    /// `None` while threads have claimed all. The lane is held.
    pub(crate) fn try_claim_piece(&self, length: usize) -> Option<Piece<'_>> {
        self.pieces.try_claim(&self.lane, &self.scratch, length)
    }

    /// Claims a piece of the bounce memory that nobody uses any more, for `length` bytes of it. The
    /// lane is held, and the caller has claimed no other piece: it waits for the callers that have.
    pub(crate) fn claim_piece(&self, length: usize) -> Result<Piece<'_>, Failure> {
        self.pieces.claim(&self.lane, &self.scratch, length)
    }

    /// Claims a piece of the bounce memory for `length` bytes of it, if there is one that nobody
    /// uses any more, as far as completions tell that were taken. The lane is held.
    pub(crate) fn claim_free(&self, length: usize) -> Option<Kept> {
        self.pieces.claim_free(&self.lane, &self.scratch, length)
    }

    /// Claims such a piece for bytes of a look-up: see [`Pieces::claim_for_look_up`].
    pub(crate) fn claim_for_look_up(&self, length: usize) -> Option<Kept> {
        (self.pieces).claim_for_look_up(&self.lane, &self.scratch, length)
    }

    /// Gives the piece of a look-up up: see [`Pieces::release_of_look_up`].
    pub(crate) fn release_of_look_up(&self, kept: Kept, unfinished: Option<Posted>) {
        self.pieces.release_of_look_up(kept, unfinished);
    }

    /// Gives such a piece up, at once or when an entry is done.
    pub(crate) fn release(&self, kept: Kept, user: Option<Posted>) {
        self.pieces.release(kept, user);
    }

    /// Registers private memory of `bytes` bytes at `addr`, if that can be.
    ///
    /// # Safety
    /// As [`Gate::lend`].
    pub(crate) unsafe fn lend_for(&self, addr: usize, bytes: usize) -> Option<Loan> {
        // SAFETY: the bytes are mapped, and stay so until the loan is given back.
        unsafe { self.registrations.lend(addr, bytes, Absent::Register) }
    }

    /// Makes a queue pair for the lane that is not connected yet, and whose messages go to
    /// `receives`; on any thread.
    pub(crate) fn make_receiving(&self, receives: &ReceiveQueue) -> Result<QueuePair, Error> {
        let (completions, blocks) = (&self.completions, self.later_blocks);
        Ok(self
            .seat
            .connected_receiving(completions, receives, blocks)?)
    }

    /// Makes a queue pair by which the peer accesses memory, and by which nothing is posted here;
    /// on any thread.
    pub(crate) fn make_passive(&self) -> Result<QueuePair, Error> {
        Ok(self.seat.device().passive()?)
    }

    /// Makes another initiator for the lane.
    pub(crate) fn make_initiator(&self) -> Result<QueuePair, Error> {
        Ok(self.seat.initiator(&self.completions, BLOCKS)?)
    }

    /// Has another queue in the place of one that has failed: see [`Lane::renew`]. Returns the
    /// pieces of the bounce memory, too, that the entries have.
    ///
    /// # Safety
    /// As [`Lane::renew`].
    pub(crate) unsafe fn renew(&self, index: u32, ring: &SendRing) -> (Undone, Vec<Waiting>) {
        // SAFETY: this thread alone uses the lane. The ring's memory and register live until another
        // takes its place, nobody else uses them, and nothing was posted to it.
        let mut undone = unsafe { self.lane.renew(index, ring) };
        let pieces = (self.pieces).take(&self.lane, &self.scratch, index, &mut undone);
        (undone, pieces)
    }

    /// Posts such entries to the new queue: see [`Lane::post_again`]. The pieces that they have are
    /// the device's then.
    ///
    /// # Safety
    /// As [`Lane::post_again`].
    pub(crate) unsafe fn post_again(
        &self,
        index: u32,
        entries: &[Flushed],
        pieces: &mut Vec<Waiting>,
    ) -> Vec<Posted> {
        // SAFETY: this thread alone uses the lane, and local memory that the entries name is as
        // when they were posted.
        let places = unsafe { self.lane.post_again(index, entries) };
        for (entry, now) in entries.iter().zip(&places) {
            for (_, kept) in pieces.extract_if(.., |(posted, _)| *posted == entry.posted) {
                self.release(kept, Some(*now));
            }
        }
        places
    }

    /// Notes that no queue takes the place of that by which peer `index` is reached.
    pub(crate) fn give_up(&self, index: u32) {
        self.pieces.give_up(&self.lane, index);
    }

    /// Claims a slot for a word. The lane is held; other threads may have it meanwhile.
    pub(crate) fn claim_result(&self) -> Result<Slot, Failure> {
        self.results.claim(&self.lane, &self.scratch)
    }

    /// Returns the registered memory of a slot, for a word of `bytes` bytes (4 or 8).
    pub(crate) fn result_in(&self, slot: &Slot, bytes: usize) -> Local {
        slot.place(&self.scratch, bytes)
    }

    /// Gives a slot back, which no entry uses any more.
    pub(crate) fn release_result(&self, slot: Slot) {
        self.results.release(&slot);
    }

    /// Has quiet deliver the word of `bytes` bytes (4 or 8) that an entry brings into a slot.
    ///
    /// # Safety
    /// `dest` has room for the word until quiet, and nobody else uses it.
    pub(crate) unsafe fn deliver_later(
        &self,
        posted: Posted,
        slot: Slot,
        bytes: usize,
        dest: *mut u8,
    ) {
        // SAFETY: `dest` has room for the word until quiet, and nobody else uses it.
        unsafe {
            self.results
                .deliver_later(&self.lane, posted, slot, bytes, dest);
        }
    }

    /// Returns private memory of `bytes` bytes at `addr` as registered memory, where that is better
    /// than the bounce memory: it is registered for a transfer that the bounce memory does not
    /// hold, and then used for shorter ones, too.
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

    /// Keeps the memory that an entry uses, until quiet. The lane is held.
    pub(crate) fn keep(&self, loan: Loan) {
        let mut loans = self.loans.borrow_mut();
        let place = loans.binary_search_by_key(&loan.identity(), Loan::identity);
        if let Err(place) = place {
            loans.insert(place, loan);
        }
    }

    /// Notes that the device does an atomic operation on memory of this node.
    pub(crate) fn note_near_atomic(&self) {
        self.near_atomics.set(true);
    }

    /// Returns whether atomic operations of the device on memory of this node may be outstanding.
    pub(crate) fn has_near_atomics(&self) -> bool {
        self.near_atomics.get()
    }

    /// Notes that no such operation is outstanding.
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
        self.results.deliver_all(&self.lane, &self.scratch);
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

    /// Returns whether [`Gate::quiet`] has nothing to wait for, after one look at the device.
    pub(crate) fn is_quiet(&self) -> Result<bool, Failure> {
        let held = self.lane.hold();
        // SAFETY: this thread holds the lane.
        let is_quiet = unsafe { self.lane.is_quiet() };
        drop(held);
        if !is_quiet {
            self.lane.progress()?;
        }
        Ok(is_quiet)
    }

    /// Writes the value of `write` to the word of a mailbox; without one, reads the word and
    /// returns it.
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
        let word = self.scratch.word_in(local);
        self.release_result(slot);
        done.map(|()| word)
    }
}
