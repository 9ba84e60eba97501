//! One connected queue of a lane of one thread, prepared for posts in line by it: the queue that a
//! [`Route`](crate::route::Route) finds by the peer's place is found here once. For users that
//! follow entries by their blocks, and never call quiet ([`Lane::widen`]).

#![expect(unsafe_code, reason = "reaches a lane's queue through a raw pointer")]

use crate::head::{Slot, head, slot};
use crate::lane::{Atomic, Lane};
use crate::local::LocalWord;
use crate::post::{control, described, next_place, put, ring_alone};
use crate::queue::{Queue, what};
use crate::remote::Segment;
use crate::unit::{Unit, combine, now, unit};
use fi_mlx5_defs::endian::Be64;
use fi_mlx5_defs::opcode::Opcode;

/// See the module's documentation.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    queue: *const Queue,
    /// The slot of its register.
    slot: *const Slot,
    lane: *const Lane,
    /// The data segment of atomics whose result is not wanted.
    discard: [u64; 2],
}

impl Connection {
    /// Makes the connection of a queue, which is one of `queues`.
    ///
    /// # Safety
    /// The queues are those of the lane, which is alive, of one thread, and has registers of its
    /// own.
    pub(crate) unsafe fn new(queues: *const Queue, queue: *const Queue, lane: *const Lane) -> Self {
        // SAFETY: the queue is one of those of a live lane, whose registers have slots.
        unsafe {
            Self {
                queue,
                slot: slot(queues, (*queue).register),
                lane,
                discard: head(queues).discard,
            }
        }
    }

    /// Lets posts go on behind the one entry of an armed queue ([`Lane::widen`]), if no queue of
    /// the lane has failed. Returns false otherwise, and where the queue is in another state. Calls
    /// nothing.
    ///
    /// # Safety
    /// The lane is alive, and used by this thread alone.
    #[inline(always)]
    #[must_use]
    pub unsafe fn widen(&self) -> bool {
        // SAFETY: the lane is alive, with its queues, which this thread alone uses.
        let (queue, lane) = unsafe { (&*self.queue, &*self.lane) };
        lane.widen_at_once(queue)
    }

    /// Returns the queue, its next block, which is free, and the memory that `there` finds; looks
    /// for the block first. Returns `None` where one of the two is not there.
    ///
    /// # Safety
    /// As [`Connection::widen`].
    #[inline(always)]
    unsafe fn enter(
        &self,
        there: impl FnOnce() -> Option<Segment>,
    ) -> Option<(&Queue, u16, Segment)> {
        // SAFETY: the lane is alive, with its queues, which this thread alone uses.
        let queue = unsafe { &*self.queue };
        let at = queue.free_block()?;
        Some((queue, at, there()?))
    }

    /// Writes a value where `there` says, if nothing has to be waited for; returns the block of the
    /// entry, modulo 2^16.
    ///
    /// # Safety
    /// As [`Connection::widen`].
    #[inline(always)]
    pub unsafe fn inject<T: Copy>(
        &self,
        value: impl FnOnce() -> T,
        there: impl FnOnce() -> Option<Segment>,
    ) -> Option<u16> {
        // SAFETY: the lane is alive, with its queues, which this thread alone uses.
        let (queue, at, there) = unsafe { self.enter(there) }?;
        // SAFETY: the lane is alive, and with it the record, which this thread alone writes.
        let (entry, used) = unsafe { described(queue, value(), there.0) };
        // SAFETY: the block is free, and the lane this thread's.
        unsafe { self.commit(queue, at, entry, used) };
        Some(at)
    }

    /// Adds to a word of 8 bytes, as [`Connection::inject`] writes; the word that was there comes
    /// where nobody wants it.
    ///
    /// # Safety
    /// As [`Connection::widen`].
    #[inline(always)]
    pub unsafe fn add(
        &self,
        value: impl FnOnce() -> u64,
        there: impl FnOnce() -> Option<Segment>,
    ) -> Option<u16> {
        const OTHER: u64 = what(Opcode::Write, 0, 3) ^ what(Opcode::FetchAdd, 0, 4);
        // SAFETY: the lane is alive, with its queues, which this thread alone uses.
        let (queue, at, there) = unsafe { self.enter(there) }?;
        queue.unfenced.set(true);
        // SAFETY: the lane is alive, and with it the record, which this thread alone writes.
        let control = control(queue, unsafe { next_place(queue.record) });
        // In a vector register, where the rest of it is.
        let control = combine(now(control), unit(OTHER, 0));
        let [low, high] = self.discard;
        let operand = unit(Be64::new(value()).raw(), 0);
        // SAFETY: the block is free, and the lane this thread's.
        unsafe { self.commit(queue, at, [control, there.0, operand, unit(low, high)], 4) };
        Some(at)
    }

    /// Reads a word into the local memory that `local` has for the block of the entry, as
    /// [`Connection::inject`] writes.
    ///
    /// # Safety
    /// As [`Connection::widen`]; the local memory is registered under its key.
    #[inline(always)]
    pub unsafe fn read(&self, local: impl FnOnce(u16) -> LocalWord, there: Segment) -> Option<u16> {
        const OTHER: u64 = what(Opcode::Read, 0, 0) ^ what(Opcode::Write, 0, 0);
        // SAFETY: the lane is alive, with its queues, which this thread alone uses.
        let (queue, at, there) = unsafe { self.enter(|| Some(there)) }?;
        queue.unfenced.set(true);
        // SAFETY: the lane is alive, and with it the record, which this thread alone writes.
        let control = control(queue, unsafe { next_place(queue.record) });
        // In a vector register, where the rest of it is.
        let control = combine(now(control), unit(OTHER, 0));
        let LocalWord(data) = local(at);
        // The register gets whole blocks; the bytes that fill up this one are of no account.
        // SAFETY: the block is free, and the lane this thread's.
        unsafe { self.commit(queue, at, [control, there.0, data, data], 3) };
        Some(at)
    }

    /// Does an atomic operation on a word whose operands take one unit; the word that was there
    /// comes as that of [`Connection::read`].
    ///
    /// # Safety
    /// As [`Connection::read`].
    #[inline(always)]
    pub unsafe fn update(
        &self,
        atomic: &Atomic,
        local: impl FnOnce(u16) -> LocalWord,
        there: Segment,
    ) -> Option<u16> {
        if atomic.units != 1 {
            return None;
        }
        let other = what(atomic.opcode, atomic.modifier, 4) ^ what(Opcode::Write, 0, 3);
        // SAFETY: the lane is alive, with its queues, which this thread alone uses.
        let (queue, at, there) = unsafe { self.enter(|| Some(there)) }?;
        queue.unfenced.set(true);
        // SAFETY: the lane is alive, and with it the record, which this thread alone writes.
        let control = control(queue, unsafe { next_place(queue.record) });
        // In a vector register, where the rest of it is.
        let control = combine(now(control), unit(other, 0));
        let [low, high] = atomic.operands[0];
        let entry = [control, there.0, unit(low, high), local(at).0];
        // SAFETY: the block is free, and the lane this thread's.
        unsafe { self.commit(queue, at, entry, 4) };
        Some(at)
    }

    /// Writes an entry of one block, of which the first `used` units count, and rings.
    ///
    /// # Safety
    /// As [`Connection::widen`]; the queue is this one's, and block `at` is free and the next one.
    #[inline(always)]
    unsafe fn commit(&self, queue: &Queue, at: u16, entry: [Unit; 4], used: usize) {
        let record = queue.record;
        // SAFETY: the block is free.
        unsafe { put(queue, at, &entry, used) };
        let next = at.wrapping_add(1);
        queue.producer.set(next);
        // SAFETY: the record is mapped as long as the queue, and the slot is its register's, which
        // the lane alone rings.
        unsafe { ring_alone(&*self.slot, record, next, &entry) };
    }
}
