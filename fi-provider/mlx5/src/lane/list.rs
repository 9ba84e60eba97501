//! Writes that are posted in lists, with one doorbell for all of a list (rdma-core has them as linked work requests).
//!
//! The caller that posts lists says which of their entries have completions. The lane adds some of
//! its own only where half of the ring would have none: otherwise a full ring could not be waited
//! for.

use super::{Failure, Lane, Local};
use crate::entry::{Block, Entry};
use crate::queue::{FLAGS, Queue, count};
use crate::registers::{Register, other_half};
use crate::remote::Vector;
use crate::unit::{
    Unit, entry_before_record, flush_register, record_before_register, store_to_register,
};
use fi_mlx5_defs::endian::{Be32, Be64};
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::{BASIC_BLOCK, INLINE, UNIT, flags, inline_len};

/// Payload of a write.
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
    /// Bytes to write there.
    pub payload: Payload,
}

/// Choice of the entries of a caller's lists that have completions: every so many-th, counted
/// through all lists.
#[derive(Clone, Copy, Debug)]
pub struct Signals {
    every: u32,
    since: u32,
}

impl Signals {
    /// Asks for a completion of each `entries`-th entry; 1: of each.
    #[must_use]
    pub const fn every(entries: u32) -> Self {
        Self {
            every: entries,
            since: 0,
        }
    }

    /// Returns whether the next entry has one.
    fn next(&mut self) -> bool {
        self.since += 1;
        let due = self.since >= self.every;
        if due {
            self.since = 0;
        }
        due
    }
}

/// The entries of a queue that no doorbell has told of yet: how many, and the first block of the newest.
#[derive(Clone, Copy, Default)]
pub(super) struct Unrung {
    pub(super) entries: u32,
    pub(super) last: u16,
}

impl Lane {
    /// Posts writes to peer `index`, in their order and with one doorbell for all: an entry by
    /// itself is copied to the register where that takes copies. Where the ring or the completion
    /// queue is full, the entries in the ring are rung for, and waited for.
    ///
    /// The last entries may have no completion: [`Lane::drain`] and [`Lane::quiet`] wait for them
    /// all the same.
    ///
    /// # Errors
    /// That the device has failed; some of the list may have been posted then.
    ///
    /// # Safety
    /// This thread holds the lane; the peer is one of the lane's, and `vector` leads to that peer.
    /// Inline payloads are there, and local memory is registered under its key.
    pub unsafe fn write_list(
        &self,
        index: u32,
        vector: &Vector,
        list: &[Write],
        signals: &mut Signals,
    ) -> Result<(), Failure> {
        let peer = index;
        let index = self.way_to(peer);
        let queue = &self.queues[index as usize];
        self.check(queue)?;
        self.use_queue(index);
        let entered = self.enters_targets(index).then_some(vector.0);
        let mut unrung = Unrung::default();
        let mut done = Ok(());
        for write in list {
            // SAFETY: this thread holds the lane, the peer is the lane's and `vector` leads to that peer;
            // the payload is there, or registered.
            done = unsafe {
                match short(entered, write) {
                    Some((block, units)) => {
                        self.append(queue, &mut unrung, &[block], units, signals)
                    }
                    None => {
                        let entry = self.long(index, vector, write);
                        self.append(queue, &mut unrung, entry.filled(), entry.units(), signals)
                    }
                }
            };
            if done.is_err() {
                break;
            }
        }
        // SAFETY: this thread holds the lane, and the queue is one of the lane's.
        unsafe { self.ring_for(queue, &mut unrung) };
        // Posts in line have to look whether there is room.
        queue.limit.set(queue.producer.get());
        self.note_list(peer);
        done
    }

    /// Returns the entry of a write, of any length, without its control segment.
    ///
    /// # Safety
    /// As [`Lane::write_list`].
    #[cold]
    unsafe fn long(&self, index: u32, vector: &Vector, write: &Write) -> Entry {
        let mut entry = self.entry(index, vector);
        entry.remote(write.address, write.key);
        match write.payload {
            // SAFETY: the inline payload has `len` bytes at `source`.
            Payload::Inline(source, len) => unsafe { entry.inline(source, len) },
            Payload::Local(local) => entry.data(local.address, local.length, local.key),
        }
        entry
    }

    /// Puts an entry, which lacks its control segment, into the ring. No doorbell is rung for it yet.
    ///
    /// # Safety
    /// As [`Lane::write_list`].
    #[inline(always)]
    unsafe fn append(
        &self,
        queue: &Queue,
        unrung: &mut Unrung,
        entry: &[Block],
        units: usize,
        signals: &mut Signals,
    ) -> Result<(), Failure> {
        let ring = queue.mask + 1;
        let blocks = entry.len() as u16;
        let silent = queue.producer.get().wrapping_sub(queue.signalled_end.get());
        let signalled = signals.next() || u32::from(silent + blocks) > ring / 2;
        // The queue is not armed; others may be, and their completions are not counted.
        let most = self.completions.entries() + 1 - self.queues.len() as u32;
        while queue.in_flight() + u32::from(blocks) > ring
            || signalled && self.outstanding.get() >= most
        {
            // SAFETY: this thread holds the lane, and the queue is one of the lane's.
            unsafe { self.ring_for(queue, unrung) };
            self.wait_for_room(queue)?;
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
        let mut first = entry[0];
        first[0] = queue.head(Opcode::Write, 0, at, units);
        first[1] = u64::from(flag) << FLAGS;
        // SAFETY: there is room for the entry.
        unsafe { queue.block(at).cast::<Block>().write(first) };
        for (place, block) in (1..).zip(&entry[1..]) {
            let place = queue.block(at.wrapping_add(place));
            // SAFETY: there is room for the entry.
            unsafe { place.cast::<Block>().write(*block) };
        }
        queue.producer.set(next);
        self.count_depth(queue, blocks);
        unrung.entries += 1;
        unrung.last = at;
        Ok(())
    }

    /// Tells the device of entries, if there are any.
    ///
    /// # Safety
    /// As [`Lane::write_list`].
    pub(super) unsafe fn ring_for(&self, queue: &Queue, unrung: &mut Unrung) {
        let Unrung { entries, last } = std::mem::take(unrung);
        if entries == 0 {
            return;
        }
        let end = queue.producer.get();
        entry_before_record();
        // SAFETY: the record is mapped as long as the queue.
        unsafe { count(queue.record, end) };
        record_before_register();
        let slot = self.queues.slot(queue);
        // SAFETY: the lane has a share of its registers, to which its slots lead then.
        let shared = (!self.registers.is_empty()).then(|| unsafe { &*slot.register() });
        let half = shared.map_or_else(|| slot.half(), Register::lock);
        let register = half.get();
        if entries == 1 && self.blueflame > 0 {
            for at in 0..end.wrapping_sub(last) {
                let block = queue.block(last.wrapping_add(at)).cast::<[Unit; 4]>();
                let place = register.wrapping_add(usize::from(at) * BASIC_BLOCK);
                // SAFETY: the entry is in the ring, and no longer than a half of the register, which nobody else rings.
                unsafe { store_to_register(place, &block.read()) };
            }
            half.set(other_half(register));
        } else {
            // SAFETY: the entry is in the ring; the register is mapped, and eight bytes are written at once.
            unsafe {
                let word = queue.block(last).cast::<u64>().read();
                register.cast::<u64>().write_volatile(word);
            }
        }
        flush_register();
        if let Some(register) = shared {
            register.unlock();
        }
    }
}

/// Returns the entry of a write, if it is one block long: all but its control segment, and its
/// units.
///
/// # Safety
/// As [`Lane::write_list`].
#[inline(always)]
unsafe fn short(vector: Option<[u64; 2]>, write: &Write) -> Option<(Block, usize)> {
    let mut block = [0; 8];
    let mut units = 1;
    if let Some([low, high]) = vector {
        (block[2], block[3]) = (low, high);
        units = 2;
    }
    block[2 * units] = Be64::new(write.address).raw();
    block[2 * units + 1] = write.key.raw().into();
    units += 1;
    match write.payload {
        Payload::Local(local) => {
            let words = Entry::data_words(local.address, local.length, local.key);
            (block[2 * units], block[2 * units + 1]) = (words[0], words[1]);
            Some((block, units + 1))
        }
        Payload::Inline(source, len) => {
            const COUNT: usize = size_of::<Be32>();
            if len > BASIC_BLOCK - units * UNIT - COUNT {
                return None;
            }
            let bytes = block.as_mut_ptr().cast::<u8>().wrapping_add(units * UNIT);
            // SAFETY: behind the units there is room for the count and as many bytes; `source` has
            // `len` bytes.
            unsafe {
                let count = Be32::new(INLINE | len as u32);
                bytes.cast::<u32>().write(count.raw());
                std::ptr::copy_nonoverlapping(source, bytes.add(COUNT), len);
            }
            Some((block, units + inline_len(len) / UNIT))
        }
    }
}
