//! Another queue in the place of one that has failed.
//!
//! The first entry of a queue that fails is the cause; the device does none of those behind it.
//! They are still in the ring: they are posted again to the queue that takes its place.

#![expect(unsafe_code, reason = "reads the ring of a queue that has failed")]

use super::list::Unrung;
use super::{Lane, Posted};
use crate::entry::Block;
use crate::queue::{FLAGS, Queue, SendRing};
use crate::remote::Vector;
use fi_mlx5_defs::endian::Be32;
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::{self, UNIT, flags};

/// An entry that has failed, or that was behind one.
#[derive(Clone, Debug)]
pub struct Flushed {
    /// Place where it was posted.
    pub posted: Posted,
    /// Whether its queue is an initiator.
    enters: bool,
    blocks: Vec<Block>,
}

/// The entries that the device has not done of a queue that has failed.
#[derive(Debug)]
pub struct Undone {
    /// The entry that was the cause.
    pub failed: Flushed,
    /// The entries behind it, in their order.
    pub behind: Vec<Flushed>,
}

/// The bits of an entry's first word that do not depend on queue and index: modifier, opcode,
/// units.
const WHAT: u64 = 0xff | 0xff << 24 | 0xff << 56;

impl Flushed {
    /// Returns whether it enters the target to which `vector` leads, where its queue is an
    /// initiator.
    #[must_use]
    pub fn is_to(&self, vector: &Vector) -> bool {
        self.vector() == Some(vector.0)
    }

    /// Returns the address vector of the entry, where its queue is an initiator.
    #[must_use]
    pub fn vector(&self) -> Option<[u64; 2]> {
        self.enters.then(|| self.unit(1))
    }

    /// Returns the address of the remote memory, for an entry that has some.
    #[must_use]
    pub fn remote_address(&self) -> u64 {
        let [address, _] = self.unit(self.remote_unit());
        address.swap_bytes()
    }

    /// Returns the key of the remote memory, for an entry that has some.
    #[must_use]
    pub fn remote_key(&self) -> u32 {
        let [_, key] = self.unit(self.remote_unit());
        (key as u32).swap_bytes()
    }

    /// Has the entry access remote memory by another key, for an entry that accesses some.
    pub fn set_remote_key(&mut self, key: Be32) {
        let unit = self.remote_unit();
        self.blocks[unit / 4][2 * (unit % 4) + 1] = u64::from(key.raw());
    }

    /// Has the entry access remote memory at another address, for an entry that accesses some.
    pub fn set_remote_address(&mut self, address: u64) {
        let unit = self.remote_unit();
        self.blocks[unit / 4][2 * (unit % 4)] = address.swap_bytes();
    }

    fn remote_unit(&self) -> usize {
        1 + usize::from(self.enters)
    }

    /// Returns the units of the entry.
    fn units(&self) -> usize {
        units(self.blocks[0][0])
    }

    /// Returns the unit of the entry of this number.
    fn unit(&self, unit: usize) -> [u64; 2] {
        let block = &self.blocks[unit / 4];
        [block[2 * (unit % 4)], block[2 * (unit % 4) + 1]]
    }
}

/// Returns the units of an entry with this first word.
fn units(head: u64) -> usize {
    (head >> 56) as usize
}

impl Lane {
    /// Returns whether the device has told of all entries of the queue that peer `index` is reached
    /// by, which has failed.
    pub fn is_flushed(&self, index: u32) -> bool {
        let number = self.queue_of(index);
        let queue = &self.queues[number as usize];
        let end = self.fault_of(number).map(|fault| fault.last);
        end.is_some_and(|last| {
            let [head, _] = self.unit_of(queue, last, 0);
            let blocks = wqe::blocks(units(head)) as u16;
            last.wrapping_add(blocks) == queue.producer.get()
        })
    }

    /// Returns whether an entry is in the queue that peer `index` is reached by.
    pub fn is_to(&self, posted: Posted, index: u32) -> bool {
        posted.queue == self.queue_of(index)
    }

    /// Has the queue of this ring in the place of that by which peer `index` is reached, which has
    /// failed. Returns the entries that were not done, and posts none of them.
    ///
    /// # Panics
    /// If the queue has not failed, or is not flushed ([`Lane::is_flushed`]).
    ///
    /// # Safety
    /// As [`Lane::write_inline`], on a lane of one thread. The memory of the ring and its register
    /// live as long as the lane, or until another ring takes its place, nobody else uses them, and
    /// nothing was posted to it; it is as long as the old one, and has the same register.
    pub unsafe fn renew(&self, index: u32, ring: &SendRing) -> Undone {
        assert!(self.is_flushed(index) && !self.is_shared());
        let number = self.queue_of(index);
        let enters = self.enters_targets(number);
        let mut flushed = self.flushed(number).into_iter();
        let failed = flushed.next().expect("the entry that was the cause");
        let place = self.queues.place(number as usize);
        // SAFETY: nobody writes the record of a queue that nothing was posted to. Queues take their
        // next index from their records.
        unsafe { ring.record.write_volatile(Be32::new(0)) };
        let units = if enters {
            super::INITIATOR_UNITS
        } else {
            super::CONNECTED_UNITS
        };
        // SAFETY: the place is that of a queue, and this thread, which alone uses the lane, has no
        // reference to it now.
        unsafe { Queue::replace(place, ring, units) };
        self.forget_fault(number);
        self.note_numbers();
        // Lets posts go on to the queue.
        self.rest(&self.queues[number as usize]);
        Undone {
            failed,
            behind: flushed.collect(),
        }
    }

    /// Lets the queue pair of this number be destroyed, in whose place another is: libmlx5 then goes
    /// through the completion queue from its first entry on, as it does not know how much is read,
    /// and would move entries behind those of the queue pair. No entry tells of it any more.
    ///
    /// # Safety
    /// This thread alone uses the lane, or the number is of no queue pair that it had.
    pub unsafe fn disown(&self, number: u32) {
        debug_assert!(!self.is_shared());
        self.completions.disown(number);
    }

    /// Posts entries of a queue that has failed to the one that has come in its place, by which
    /// peer `index` is reached; an entry may have another key. Returns their places. There is room
    /// for those that were in the queue before, and for one less where it has failed, too.
    ///
    /// # Safety
    /// As [`Lane::write_inline`], on a lane of one thread. Local memory that the entries name is as
    /// when they were posted.
    pub unsafe fn post_again(&self, index: u32, entries: &[Flushed]) -> Vec<Posted> {
        let number = self.queue_of(index);
        self.use_queue(number);
        // SAFETY: this thread alone uses the lane, and the queue is one of it.
        let append = |entry| unsafe { self.append_again(number, entry) };
        let places: Vec<_> = entries.iter().map(append).collect();
        if let Some(last) = places.last() {
            let mut unrung = Unrung {
                entries: places.len() as u32,
                last: (last.end - 1) as u16,
            };
            let queue = &self.queues[number as usize];
            // SAFETY: this thread alone uses the lane, and the queue is one of it.
            unsafe { self.ring_for(queue, &mut unrung) };
        }
        places
    }

    /// Returns the entries of a queue that are not done.
    fn flushed(&self, number: u32) -> Vec<Flushed> {
        let queue = &self.queues[number as usize];
        let mut all = Vec::new();
        let mut at = queue.consumed.get();
        while at != queue.posted() {
            let block = |at: u64| -> Block {
                // SAFETY: a block of the ring, which is mapped as long as the lane; nobody writes
                // to it until it is known to be done.
                unsafe { queue.block(at as u16).cast::<Block>().read() }
            };
            let first = block(at);
            let blocks = wqe::blocks(units(first[0])).max(1) as u64;
            all.push(Flushed {
                posted: Posted {
                    queue: number,
                    end: at + 1,
                },
                enters: self.enters_targets(number),
                blocks: (0..blocks).map(|more| block(at + more)).collect(),
            });
            at += blocks;
        }
        all
    }

    /// Puts an entry into a queue, with a completion. No doorbell is rung for it yet.
    ///
    /// # Safety
    /// This thread alone uses the lane, and the queue has room for the entry.
    unsafe fn append_again(&self, number: u32, entry: &Flushed) -> Posted {
        let queue = &self.queues[number as usize];
        let at = queue.producer.get();
        let next = at.wrapping_add(entry.blocks.len() as u16);
        let own = queue.head(Opcode::Nop, 0, at, 0) & !WHAT;
        let mut first = entry.blocks[0];
        first[0] = first[0] & WHAT | own;
        first[1] |= u64::from(flags::COMPLETION) << FLAGS;
        let rest = entry.blocks.iter().skip(1).copied();
        for (place, block) in (0..).zip(std::iter::once(first).chain(rest)) {
            let place = queue.block(at.wrapping_add(place));
            // SAFETY: there is room for the entry.
            unsafe { place.cast::<Block>().write(block) };
        }
        debug_assert_eq!(
            wqe::blocks(entry.units()),
            entry.blocks.len(),
            "of {UNIT} bytes"
        );
        queue.producer.set(next);
        queue.limit.set(next);
        queue.signalled.set(at);
        queue.signalled_end.set(next);
        // They may be reads and atomics.
        queue.unfenced.set(true);
        self.outstanding.set(self.outstanding.get() + 1);
        let before = queue.consumed.get();
        let end = before + u64::from(at.wrapping_sub(before as u16)) + 1;
        Posted { queue: number, end }
    }

    /// Has completions find the queues by the numbers that they have now.
    fn note_numbers(&self) {
        self.by_number.iter().for_each(|slot| slot.set(0));
        for index in 0..self.queues.count() {
            if self.queues.is_there(index) {
                self.note_number(self.queues[index].number(), index as u32);
            }
        }
    }
}
