//! Writes that are posted in lists, with one doorbell for all of a list (rdma-core has them as linked work requests).
//!
//! Who posts lists says which of its entries have completions. The lane adds some of its own only where half of the ring would
//! have none: otherwise a full ring could not be waited for.

use super::{Failure, Lane, Local};
use crate::endian::Be32;
use crate::entry::{Aligned, Entry};
use crate::opcode::Opcode;
use crate::queue::{Queue, count};
use crate::remote::Remote;
use crate::unit::{entry_before_record, flush_register, record_before_register};
use crate::wqe::flags;

/// What a write carries.
#[derive(Clone, Copy, Debug)]
pub enum Payload {
    /// The bytes at this address, so many, at most [`Lane::max_inline`]: the entry takes them with it.
    Inline(*const u8, usize),
    /// Registered memory, which has to stay as it is until the write is done.
    Local(Local),
}

/// A write of a list.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// The address at the peer.
    pub address: u64,
    /// Its key.
    pub key: Be32,
    /// What is written there.
    pub payload: Payload,
}

/// Which entries of someone's lists have completions: every so many-th, counted through all lists.
#[derive(Clone, Copy, Debug)]
pub struct Signals {
    every: u32,
    since: u32,
}

impl Signals {
    /// A completion for each `entries`-th entry; 1: for each.
    #[must_use]
    pub const fn every(entries: u32) -> Self {
        Self {
            every: entries,
            since: 0,
        }
    }

    /// Whether the next entry has one.
    fn next(&mut self) -> bool {
        self.since += 1;
        let due = self.since >= self.every;
        if due {
            self.since = 0;
        }
        due
    }
}

/// The entries of a queue that no doorbell has told of yet.
struct Unrung<'a> {
    lane: &'a Lane,
    queue: &'a Queue,
    entries: u32,
    /// The newest of them, and its blocks.
    last: Option<(Aligned, usize)>,
}

impl Unrung<'_> {
    /// Tells the device of the entries, if there are any.
    ///
    /// # Safety
    /// As [`Lane::write_list`].
    unsafe fn ring(&mut self) {
        let Some((entry, blocks)) = self.last.take() else {
            return;
        };
        entry_before_record();
        // SAFETY: the record is mapped as long as the queue.
        unsafe { count(self.queue.record, self.queue.producer.get()) };
        record_before_register();
        if std::mem::take(&mut self.entries) == 1 {
            // SAFETY: the entry is in the ring and counted; those that are made here fit into a half of the register.
            unsafe { self.lane.ring(self.queue, &entry, blocks) };
        } else {
            // SAFETY: the entries are in the ring and counted.
            unsafe { self.lane.ring_word(self.queue, entry[0][0]) };
        }
    }
}

impl Lane {
    /// Posts writes to peer `index`, in their order and with one doorbell for all: an entry by itself is copied to the register where
    /// that takes copies. Where the ring or the completion queue is full, what is in the ring is rung for, and waited for.
    ///
    /// What is posted last may have no completion: [`Lane::drain`] and [`Lane::quiet`] wait for it all the same.
    ///
    /// # Errors
    /// That the device has failed; some of the list may have been posted then.
    ///
    /// # Safety
    /// This thread holds the lane; the peer is one of the lane's, and `remote` that peer's. Inline payloads are there, and local
    /// memory is registered under its key.
    pub unsafe fn write_list(
        &self,
        index: u32,
        remote: &Remote,
        list: &[Write],
        signals: &mut Signals,
    ) -> Result<(), Failure> {
        if let Some(failure) = self.failure.get() {
            return Err(failure);
        }
        let index = self.queue_of(index);
        self.use_queue(index);
        let queue = &self.queues[index as usize];
        let mut unrung = Unrung {
            lane: self,
            queue,
            entries: 0,
            last: None,
        };
        let mut done = Ok(());
        for write in list {
            let mut entry = self.entry(index, remote);
            entry.remote(write.address, write.key);
            match write.payload {
                // SAFETY: by contract.
                Payload::Inline(source, len) => unsafe { entry.inline(source, len) },
                Payload::Local(local) => entry.data(local.address, local.length, local.key),
            }
            // SAFETY: by contract.
            done = unsafe { self.append(&mut unrung, &entry, signals) };
            if done.is_err() {
                break;
            }
        }
        // SAFETY: by contract.
        unsafe { unrung.ring() };
        // Posts in line have to look whether there is room.
        queue.limit.set(queue.producer.get());
        done
    }

    /// Puts an entry into the ring, for which no doorbell is rung yet.
    ///
    /// # Safety
    /// As [`Lane::write_list`].
    unsafe fn append(
        &self,
        unrung: &mut Unrung<'_>,
        entry: &Entry,
        signals: &mut Signals,
    ) -> Result<(), Failure> {
        let queue = unrung.queue;
        let ring = queue.mask + 1;
        let blocks = entry.blocks();
        let silent = queue.producer.get().wrapping_sub(queue.signalled_end.get());
        let signalled = signals.next() || u32::from(silent + blocks) > ring / 2;
        // The queue is not armed; others may be, and their completions are not counted.
        let most = self.completions.entries() + 1 - self.queues.len() as u32;
        while queue.in_flight() + u32::from(blocks) > ring
            || signalled && self.outstanding.get() >= most
        {
            // SAFETY: by contract.
            unsafe { unrung.ring() };
            self.wait_once()?;
        }
        let at = queue.producer.get();
        let next = at.wrapping_add(blocks);
        let mut flag = 0;
        if signalled {
            flag |= flags::COMPLETION;
            queue.signalled.set(at);
            queue.signalled_end.set(next);
            self.outstanding.set(self.outstanding.get() + 1);
        }
        if queue.fence.replace(false) {
            flag |= flags::FENCE;
        }
        let entry = entry.with_head(queue.head(Opcode::Write, 0, at, entry.units()), flag);
        for (place, block) in (0..).zip(entry.iter().take(blocks.into())) {
            let place = queue.block(at.wrapping_add(place));
            // SAFETY: there is room for the entry.
            unsafe { place.cast::<[u64; 8]>().write(*block) };
        }
        queue.producer.set(next);
        unrung.entries += 1;
        unrung.last = Some((entry, blocks.into()));
        Ok(())
    }

    /// Rings the register of a queue by the first word of the newest entry alone.
    ///
    /// # Safety
    /// The entries are in the ring and in the record.
    unsafe fn ring_word(&self, queue: &Queue, word: u64) {
        let slot = self.queues.slot(queue);
        if self.registers.is_empty() {
            // SAFETY: the register is mapped, and eight bytes are written at once.
            unsafe { slot.half().get().cast::<u64>().write_volatile(word) };
            flush_register();
            return;
        }
        // SAFETY: the lane has a share of its registers, to which its slots lead.
        let register = unsafe { &*slot.register() };
        // SAFETY: as above; copies of others are not mixed with it, as the register is locked.
        unsafe { register.lock().get().cast::<u64>().write_volatile(word) };
        flush_register();
        register.unlock();
    }
}
