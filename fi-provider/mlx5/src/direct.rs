//! Posts of registered memory that decide by the kind of the lane alone: transfers that are waited
//! for by quiet, under each guard; and reads and atomics that are waited for at once, on lanes of
//! one thread.
//!
//! The former decline where the queue has no room without looking. The latter are for a queue that
//! has nothing outstanding: its next entry has a completion anyway, and nothing else has to be
//! waited for.

#![expect(
    unsafe_code,
    reason = "writes rings and doorbell registers through raw pointers"
)]

use crate::entry::Entry;
use crate::guard::{Alone, Counted, Guard, Kind, OnBoth, OnLane, OnRegister};
use crate::lane::{Atomic, Failure, Local};
use crate::post::{commit, control, enter, next_place};
use crate::queue::{Queue, what};
use crate::route::Route;
use crate::short::{There, begin, finish_in_ring, guarded};
use crate::unit::{Unit, unit};
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::blocks;

impl Local {
    /// Returns the data segment.
    #[inline(always)]
    fn segment(self) -> Unit {
        let [low, high] = Entry::data_words(self.address, self.length, self.key);
        unit(low, high)
    }
}

impl Route {
    /// Writes local memory, which has to stay as it is until the lane is quiet, if nothing has to be waited for.
    ///
    /// # Safety
    /// As [`Route::inject_by`] with the lane's guard; the local memory is registered under its key, and no more than a message.
    #[inline(always)]
    pub unsafe fn start_write(&self, local: Local, there: There<'_>) -> bool {
        // SAFETY: the lane is alive, has the guard matched and is used as that allows; the place is
        // a peer's, and the memory is registered and no more than a message.
        unsafe { guarded!(self, [WRITE], start_by(local, there)) }
    }

    /// Reads into local memory, in which the bytes are when the lane is quiet, if nothing has to be waited for.
    ///
    /// # Safety
    /// As [`Route::start_write`].
    #[inline(always)]
    pub unsafe fn start_read(&self, local: Local, there: There<'_>) -> bool {
        // SAFETY: the lane is alive, has the guard matched and is used as that allows; the place is
        // a peer's, and the memory is registered and no more than a message.
        unsafe { guarded!(self, [READ], start_by(local, there)) }
    }

    /// # Safety
    /// As [`Route::start_write`]; `G` is the lane's guard.
    #[inline(always)]
    unsafe fn start_by<const OPCODE: u8, G: Guard>(&self, local: Local, there: There<'_>) -> bool {
        // SAFETY: the lane is alive, and the place is that of one of its peers.
        let Some((queue, is_initiator)) = (unsafe { self.queue_of(there.place) }) else {
            return false;
        };
        // SAFETY: the queue is one of the lane's, which is alive and has guard `G`.
        let Some((queue, at)) = (unsafe { enter::<G>(self.queues, queue) }) else {
            return false;
        };
        let mut change = 0;
        if OPCODE == READ {
            change = what(Opcode::Read, 0, 0) ^ what(Opcode::Write, 0, 0);
            queue.unfenced.set(true);
        }
        let record = queue.record;
        // SAFETY: the lane is alive, and with it the record.
        let control = control(queue, unsafe { next_place(record) } ^ change);
        let (data, address) = (local.segment(), there.segment.0);
        // SAFETY: the block is free, and the queue was entered.
        unsafe {
            if is_initiator {
                let [low, high] = there.vector.0;
                let entry = [control, unit(low, high), address, data];
                commit::<G>(self.queues, queue, record, at, entry, 4);
            } else {
                // The register gets whole blocks; the bytes that fill up this one are of no
                // account.
                let entry = [control, address, data, data];
                commit::<G>(self.queues, queue, record, at, entry, 3);
            }
        }
        true
    }

    /// Does an atomic operation, if nothing has to be waited for; the former value comes into local
    /// memory, where it is not wanted.
    ///
    /// # Safety
    /// As [`Route::start_write`].
    #[inline(always)]
    pub unsafe fn start_atomic(&self, atomic: &Atomic, local: Local, there: There<'_>) -> bool {
        // SAFETY: the lane is alive, has the guard matched and is used as that allows; the place is
        // a peer's, and the memory is registered and no more than a message.
        unsafe { guarded!(self, [], start_atomic_by(atomic, local, there)) }
    }

    /// # Safety
    /// As [`Route::start_write`]; `G` is the lane's guard.
    #[inline(always)]
    unsafe fn start_atomic_by<G: Guard>(
        &self,
        atomic: &Atomic,
        local: Local,
        there: There<'_>,
    ) -> bool {
        // SAFETY: the lane is alive, and the place is that of one of its peers.
        let Some((queue, is_initiator)) = (unsafe { self.queue_of(there.place) }) else {
            return false;
        };
        let blocks = atomic.blocks(is_initiator);
        // SAFETY: the queue is one of the lane's, which is alive and has guard `G`.
        let Some((queue, at)) = (unsafe { self.enter_some::<G>(queue, blocks) }) else {
            return false;
        };
        queue.unfenced.set(true);
        // SAFETY: the blocks are free and follow each other, and the queue was entered.
        unsafe { self.post::<G>((queue, is_initiator), at, atomic, local, there) };
        true
    }

    /// Does an atomic operation or, as [`Atomic::READ`], a read into local memory, and waits for it. None where the lane is of several
    /// threads, or the peer's queue has something outstanding.
    ///
    /// # Errors
    /// That of the device.
    ///
    /// # Safety
    /// As [`Route::start_write`].
    #[inline(always)]
    pub unsafe fn fetch(
        &self,
        atomic: &Atomic,
        local: Local,
        there: There<'_>,
    ) -> Option<Result<(), Failure>> {
        if self.is_shared() {
            return None;
        }
        // SAFETY: the lane is alive, and the place is that of one of its peers, as the caller
        // promises.
        let (queue, is_initiator) = unsafe { self.queue_of(there.place) }?;
        // SAFETY: the queue lives with its lane, which is of this thread alone.
        let queue = unsafe { &*queue };
        let way = (queue, is_initiator);
        if !queue.armed.get() || !queue.is_idle() {
            return None;
        }
        let at = queue.free_blocks(atomic.blocks(is_initiator))?;
        // SAFETY: the blocks are free and follow each other; a lane of one thread has nothing to enter.
        unsafe {
            if self.guard == Kind::Alone {
                self.post::<Alone>(way, at, atomic, local, there);
            } else {
                self.post::<OnRegister>(way, at, atomic, local, there);
            }
            Some((*self.lane).settle(queue))
        }
    }

    /// Writes an entry from block `at` on, rings and leaves the queue.
    ///
    /// # Safety
    /// The blocks are free and follow each other, and the queue was entered under its guard.
    #[inline(always)]
    unsafe fn post<G: Guard>(
        &self,
        (queue, is_initiator): (&Queue, bool),
        at: u16,
        atomic: &Atomic,
        local: Local,
        there: There<'_>,
    ) {
        let template = 3 + usize::from(is_initiator);
        let units = template + atomic.units;
        let (opcode, modifier) = (atomic.opcode, atomic.modifier);
        let change = what(opcode, modifier, units) ^ what(Opcode::Write, 0, template);
        let record = queue.record;
        // SAFETY: the blocks are free and follow each other, so that each unit has room in them;
        // the queue was entered, and its record is mapped as long as it.
        unsafe {
            let control = control(queue, next_place(record) ^ change);
            let first = queue.block(at).cast::<Unit>();
            begin(first, control, there, is_initiator);
            let [one, other] = atomic.operands.map(|[low, high]| unit(low, high));
            let mut next = first.add(template - 1);
            if atomic.units > 0 {
                next.write(one);
                next = next.add(1);
            }
            if atomic.units > 1 {
                next.write(other);
                next = next.add(1);
            }
            next.write(local.segment());
            let blocks = atomic.blocks(is_initiator);
            finish_in_ring::<G>(self.queues, queue, record, at, blocks);
        }
    }
}

impl Atomic {
    /// Reads of any length.
    pub const READ: Self = Self {
        opcode: Opcode::Read,
        modifier: 0,
        operands: [[0; 2]; 2],
        units: 0,
    };

    /// Returns the number of blocks of an entry.
    #[inline(always)]
    fn blocks(&self, is_initiator: bool) -> u16 {
        blocks(3 + usize::from(is_initiator) + self.units) as u16
    }
}

/// The opcodes of transfers, as numbers.
const WRITE: u8 = Opcode::Write as u8;
const READ: u8 = Opcode::Read as u8;
