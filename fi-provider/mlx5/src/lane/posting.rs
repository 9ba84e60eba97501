//! Puts entries into a lane's queues, after the waits that they need.

use super::{Atomic, Failure, Lane, Local, Posted, Threads, To};
use crate::entry::{Block, Entry};
use crate::queue::{Queue, count};
use crate::registers::other_half;
use crate::remote::Vector;
use crate::unit::{entry_before_record, flush_register, record_before_register, store_to_register};
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::flags;
use std::cell::Cell;
use std::sync::atomic::Ordering;

impl Lane {
    /// Makes an empty entry for a queue, which enters the target of the peer if it is an initiator.
    pub(super) fn entry(&self, queue: u32, vector: &Vector) -> Entry {
        let mut entry = Entry::new();
        if self.enters_targets(queue) {
            let [low, high] = vector.0;
            entry.words(low, high);
        }
        entry
    }

    /// Posts a write of the bytes at `source`, which the entry takes with it.
    ///
    /// # Safety
    /// This thread holds the lane; the peer is one of the lane's. `source` has `len` bytes, at most
    /// [`Lane::max_inline`].
    pub unsafe fn write_inline(
        &self,
        to: To<'_>,
        source: *const u8,
        len: usize,
    ) -> Result<Posted, Failure> {
        let queue = self.way_to(to.peer);
        let mut entry = self.entry(queue, to.vector);
        entry.remote(to.address, to.key);
        // SAFETY: `source` has `len` bytes.
        unsafe { entry.inline(source, len) };
        // SAFETY: this thread holds the lane, and the peer is one of the lane's.
        unsafe { self.post(queue, Opcode::Write, 0, &mut entry) }
    }

    /// The most pieces of local memory that one entry gathers or scatters.
    pub const SEGMENTS: usize = Entry::SEGMENTS;

    /// Posts a write of local memory, which has to stay as it is until the completion.
    ///
    /// # Safety
    /// As [`Lane::write_inline`]; the local memory is registered under its key.
    pub unsafe fn write(&self, to: To<'_>, local: Local) -> Result<Posted, Failure> {
        // SAFETY: this thread holds the lane, the peer is one of the lane's, and `local` is
        // registered.
        unsafe { self.write_gathered(to, [local]) }
    }

    /// Posts a write of pieces of local memory, at most [`Lane::SEGMENTS`], to one place: one behind the other.
    ///
    /// # Safety
    /// As [`Lane::write`].
    pub unsafe fn write_gathered(
        &self,
        to: To<'_>,
        pieces: impl IntoIterator<Item = Local>,
    ) -> Result<Posted, Failure> {
        let queue = self.way_to(to.peer);
        let mut entry = self.entry(queue, to.vector);
        entry.remote(to.address, to.key);
        entry.locals(pieces);
        // SAFETY: this thread holds the lane, and the peer is one of the lane's; the pieces are
        // registered.
        unsafe { self.post(queue, Opcode::Write, 0, &mut entry) }
    }

    /// Posts a read into local memory.
    ///
    /// # Safety
    /// As [`Lane::write`].
    pub unsafe fn read(&self, to: To<'_>, local: Local) -> Result<Posted, Failure> {
        // SAFETY: this thread holds the lane, the peer is one of the lane's, and `local` is
        // registered.
        unsafe { self.read_scattered(to, [local]) }
    }

    /// Posts a read of one place into pieces of local memory, at most [`Lane::SEGMENTS`], of which one is filled after the other.
    ///
    /// # Safety
    /// As [`Lane::write`].
    pub unsafe fn read_scattered(
        &self,
        to: To<'_>,
        pieces: impl IntoIterator<Item = Local>,
    ) -> Result<Posted, Failure> {
        let queue = self.way_to(to.peer);
        let mut entry = self.entry(queue, to.vector);
        entry.remote(to.address, to.key);
        entry.locals(pieces);
        // SAFETY: this thread holds the lane, and the peer is one of the lane's; the pieces are
        // registered.
        let posted = unsafe { self.post(queue, Opcode::Read, 0, &mut entry) };
        self.queues[queue as usize].unfenced.set(true);
        posted
    }

    /// Posts an atomic operation; the former value comes into local memory.
    ///
    /// # Safety
    /// As [`Lane::write`].
    pub unsafe fn atomic(
        &self,
        to: To<'_>,
        what: &Atomic,
        local: Local,
    ) -> Result<Posted, Failure> {
        let queue = self.way_to(to.peer);
        let mut entry = self.entry(queue, to.vector);
        entry.remote(to.address, to.key);
        for &[low, high] in &what.operands[..what.units] {
            entry.words(low, high);
        }
        entry.data(local.address, local.length, local.key);
        // SAFETY: this thread holds the lane, and the peer is one of the lane's; `local` is
        // registered.
        let posted = unsafe { self.post(queue, what.opcode, what.modifier, &mut entry) };
        self.queues[queue as usize].unfenced.set(true);
        posted
    }

    /// Posts an entry with a completion, and waits for room before that.
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    pub(super) unsafe fn post(
        &self,
        index: u32,
        opcode: Opcode,
        modifier: u8,
        entry: &mut Entry,
    ) -> Result<Posted, Failure> {
        let blocks = entry.blocks();
        let flags = self.prepare(index, blocks)?;
        let queue = &self.queues[index as usize];
        let at = queue.producer.get();
        let head = queue.head(opcode, modifier, at, entry.units());
        entry.set_head(head, flags);
        for (place, block) in (0..).zip(entry.filled()) {
            let place = queue.block(at.wrapping_add(place));
            // SAFETY: `prepare` has made room for the entry.
            unsafe { place.cast::<Block>().write(*block) };
        }
        let next = at.wrapping_add(blocks);
        queue.producer.set(next);
        self.count_depth(queue, blocks);
        entry_before_record();
        // SAFETY: the record is mapped as long as the queue.
        unsafe { count(queue.record, next) };
        record_before_register();
        // SAFETY: the entry is in the ring and counted, and no longer than a half of the register.
        unsafe { self.ring(queue, entry) };
        let before = queue.consumed.get();
        let end = before + u64::from(at.wrapping_sub(before as u16)) + 1;
        Ok(Posted { queue: index, end })
    }

    /// Takes blocks of a queue's depth, where threads count it. Below zero it keeps others away, and no more.
    pub(super) fn count_depth(&self, queue: &Queue, blocks: u16) {
        if self.threads == Threads::Counted {
            // ORDERING: none, as in `Counted::enter`.
            queue.depth.fetch_sub(blocks.into(), Ordering::Relaxed);
        }
    }

    /// Gives back blocks of a queue's depth that are done.
    #[inline(always)]
    pub(super) fn give_depth(&self, queue: &Queue, blocks: u16) {
        if self.threads == Threads::Counted {
            // ORDERING: none, as in `Counted::enter`.
            queue.depth.fetch_add(blocks.into(), Ordering::Relaxed);
        }
    }

    /// Rings the register of a queue for an entry.
    ///
    /// # Safety
    /// The entry is in the ring and in the record; it is no longer than a half of the register
    /// takes.
    unsafe fn ring(&self, queue: &Queue, entry: &Entry) {
        let slot = self.queues.slot(queue);
        if self.registers.is_empty() {
            // SAFETY: the register is the lane's own, which this thread holds; the entry is in the
            // ring and in the record, and no longer than a half.
            unsafe { self.ring_half(slot.half(), entry) };
            return;
        }
        // SAFETY: the lane has a share of its registers, to which its slots lead.
        let register = unsafe { &*slot.register() };
        // SAFETY: the register is locked; the entry is in the ring and in the record, and no longer
        // than a half.
        unsafe { self.ring_half(register.lock(), entry) };
        register.unlock();
    }

    /// # Safety
    /// Nobody else rings the register; the rest as [`Lane::ring`].
    unsafe fn ring_half(&self, half: &Cell<*mut u8>, entry: &Entry) {
        let register = half.get();
        let blocks = entry.filled();
        if self.blueflame > 0 {
            let units = blocks.as_ptr().cast();
            // SAFETY: the blocks have four units each and their alignment, and fit into the register.
            unsafe {
                store_to_register(
                    register,
                    std::slice::from_raw_parts(units, blocks.len() * 4),
                );
            }
            half.set(other_half(register));
        } else {
            // SAFETY: the register is mapped, and eight bytes are written at once.
            unsafe { register.cast::<u64>().write_volatile(blocks[0][0]) };
        }
        flush_register();
    }

    /// Makes room for an entry of `blocks` blocks, which must be posted next and with the flags returned, and for
    /// entries without looking behind it.
    fn prepare(&self, index: u32, blocks: u16) -> Result<u8, Failure> {
        let queue = &self.queues[index as usize];
        self.check(queue)?;
        self.use_queue(index);
        let ahead = Self::ahead(queue, blocks);
        while self.is_full(queue, ahead, 0) {
            self.wait_for_room(queue)?;
        }
        let at = queue.producer.get();
        queue.signalled.set(at);
        queue.signalled_end.set(at.wrapping_add(blocks));
        queue.limit.set(at.wrapping_add(ahead as u16));
        self.outstanding.set(self.outstanding.get() + 1);
        let fence = queue.fence.replace(false);
        Ok(flags::COMPLETION | if fence { flags::FENCE } else { 0 })
    }

    /// Returns the room for an entry of `blocks` blocks and for those in line behind it.
    #[inline(always)]
    pub(super) fn ahead(queue: &Queue, blocks: u16) -> u32 {
        u32::from(blocks) + (queue.mask + 1) / 4
    }

    /// Returns whether an entry that needs this room has to wait, for it or for its completion,
    /// when the post counts `more` completions first.
    #[inline(always)]
    pub(super) fn is_full(&self, queue: &Queue, ahead: u32, more: u32) -> bool {
        queue.in_flight() + ahead > queue.mask + 1 || !self.may_ask(more)
    }

    /// Returns whether there is room for a further completion, when the post counts `more`
    /// completions first.
    #[inline(always)]
    pub(super) fn may_ask(&self, more: u32) -> bool {
        // Armed queues have completions that are not counted.
        let most = self.completions.entries() - self.queues.len() as u32;
        self.outstanding.get() + more < most
    }

    /// Puts a queue into the list of those in use, and counts the completion of the entry that was
    /// posted to it in line.
    pub(super) fn use_queue(&self, index: u32) {
        let queue = &self.queues[index as usize];
        if queue.link.get() == 0 {
            queue.link.set(self.used.get());
            self.used.set(index + 1);
        }
        self.disarm(queue);
    }

    /// Gives the next entry, of a queue with nothing outstanding, a completion that is not counted.
    #[inline(always)]
    pub(super) fn arm(&self, queue: &Queue) {
        queue.limit.set(queue.producer.get().wrapping_add(1));
        queue.set_flags(flags::COMPLETION);
        queue.armed.set(true);
        queue.unfenced.set(false);
        queue.fence.set(false);
    }

    /// Takes that back where the entry was not posted, and otherwise counts its completion.
    #[inline(always)]
    pub(super) fn disarm(&self, queue: &Queue) {
        if !queue.armed.get() {
            return;
        }
        queue.limit.set(queue.producer.get());
        if queue.is_idle() {
            queue.armed.set(false);
            queue.set_flags(0);
            queue.signalled_end.set(queue.producer.get());
        } else {
            self.count_armed(queue);
        }
    }

    /// Counts the completion of the one entry of an armed queue, which was posted.
    #[inline(always)]
    pub(super) fn count_armed(&self, queue: &Queue) {
        queue.armed.set(false);
        queue.set_flags(0);
        queue.signalled.set(queue.consumed.get() as u16);
        queue.signalled_end.set(queue.producer.get());
        self.outstanding.set(self.outstanding.get() + 1);
    }
}
