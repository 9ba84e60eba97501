//! A send queue as the data path sees it: one cache line.

#![expect(unsafe_code, reason = "writes the doorbell record")]

use fi_mlx5_defs::endian::{Be16, Be32};
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::BASIC_BLOCK;
use std::cell::Cell;
use std::sync::atomic::{AtomicI32, Ordering};

/// A send queue's memory, as its owner mapped it and told the device.
#[derive(Clone, Copy, Debug)]
pub struct SendRing {
    /// The number of the queue pair.
    pub number: u32,
    /// The first basic block.
    pub base: *mut u8,
    /// Basic blocks, a power of two.
    pub blocks: u32,
    /// The send word of the doorbell record.
    pub record: *mut Be32,
    /// The doorbell register.
    pub register: *mut u8,
    /// Bytes of one half of the register that take BlueFlame copies; 0 where it takes none.
    pub register_size: u32,
    /// Bytes that an entry may hold inline.
    pub max_inline: u32,
}

/// Offset of a peer's queue in the lane's queues: 64 times the peer's index, as peers and queues
/// take 64 bytes each.
pub type Place = usize;

/// The words of a control segment, where they can be loaded as one.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct Control(pub(crate) [u64; 2]);

/// The state of one send queue. Counts are of basic blocks, modulo 2^16 unless said otherwise.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Queue {
    /// Blocks posted.
    pub(crate) producer: Cell<u16>,
    /// Block where the producer has to stop for the slow path: the next entry needs room, a
    /// completion, or a fence.
    pub(crate) limit: Cell<u16>,
    /// Blocks that threads may still take before they compete for the lane's lock, where they count.
    pub(crate) depth: AtomicI32,
    pub(crate) base: *mut u8,
    /// The control segment of the next write of one element, as it lies in memory, but for its index.
    pub(crate) control: Cell<Control>,
    pub(crate) record: *mut Be32,
    /// Blocks known to be done, not modulo anything.
    pub(crate) consumed: Cell<u64>,
    /// Blocks minus one.
    pub(crate) mask: u32,
    /// The newest entry with a completion, where the queue is not armed: its first block, and the
    /// block behind it.
    pub(crate) signalled: Cell<u16>,
    pub(crate) signalled_end: Cell<u16>,
    /// The next queue of the list of those in use: its index + 1, [`END`] for none; 0 when this one is not in it.
    pub(crate) link: Cell<u32>,
    /// Whether the queue was idle when `control` got the flag of a completion, which the one entry from `consumed` to `limit` has, or
    /// will have when it is posted. The lane does not count this completion among those outstanding.
    pub(crate) armed: Cell<bool>,
    /// Whether reads or atomics were posted that no fence has covered yet.
    pub(crate) unfenced: Cell<bool>,
    /// Whether the next entry is to wait for them.
    pub(crate) fence: Cell<bool>,
    /// The slot of the doorbell register in the lane's head.
    pub(crate) register: u8,
}

const _: () = assert!(std::mem::size_of::<Queue>() == 64);

/// The end of the list of queues in use.
pub(crate) const END: u32 = u32::MAX;

/// The bit of a word of eight bytes where its second four bytes begin.
const HIGH: u32 = 32;
/// The bit where the flags begin in the second word of a control segment.
pub(crate) const FLAGS: u32 = 24;

/// Returns opcode, modifier and length (in units) as they lie in the first eight bytes of a control
/// segment.
#[inline(always)]
pub(crate) const fn what(opcode: Opcode, modifier: u8, units: usize) -> u64 {
    modifier as u64 | (opcode as u64) << 24 | (units as u64) << (HIGH + 24)
}

impl Queue {
    /// Returns the state of a queue that nothing was posted to yet, in which an element is written
    /// by entries of `units` units, and which rings the register in this slot.
    pub(crate) fn new(ring: &SendRing, units: usize, register: u8) -> Self {
        let number = u64::from((ring.number << 8).to_be()) << HIGH;
        Self {
            producer: Cell::new(0),
            limit: Cell::new(0),
            depth: AtomicI32::new(ring.blocks.cast_signed()),
            base: ring.base,
            control: Cell::new(Control([number | what(Opcode::Write, 0, units), 0])),
            record: ring.record,
            consumed: Cell::new(0),
            mask: ring.blocks - 1,
            signalled: Cell::new(0),
            signalled_end: Cell::new(0),
            link: Cell::new(0),
            armed: Cell::new(false),
            unfenced: Cell::new(false),
            fence: Cell::new(false),
            register,
        }
    }

    /// Makes a place for a queue that is not there yet: posts in line find no room in it. Its depth
    /// is 1.
    pub(crate) fn absent(register: u8) -> Self {
        let nowhere = SendRing {
            number: 0,
            base: std::ptr::null_mut(),
            blocks: 1,
            record: std::ptr::null_mut(),
            register: std::ptr::null_mut(),
            register_size: 0,
            max_inline: 0,
        };
        Self::new(&nowhere, 0, register)
    }

    /// Has the queue of a ring in a place where it was [`Queue::absent`]: all other words are as in
    /// a new queue.
    ///
    /// # Safety
    /// The place is that of such a queue. Nobody else has a reference to it or uses it meanwhile,
    /// but for its depth.
    pub(crate) unsafe fn arrive(place: *mut Self, ring: &SendRing, units: usize) {
        let new = Self::new(ring, units, 0);
        // SAFETY: the place is valid for writes, and nobody else reads or writes these words
        // meanwhile. The reference is to the depth alone, which all others change by atomic
        // operations, too.
        unsafe {
            (&raw mut (*place).base).write(new.base);
            (&raw mut (*place).control).write(new.control);
            (&raw mut (*place).record).write(new.record);
            (&raw mut (*place).mask).write(new.mask);
            // ORDERING: none: threads that take of it look at the rest under the lane's lock.
            (*place)
                .depth
                .fetch_add(new.mask.cast_signed(), Ordering::Relaxed);
        }
    }

    /// Has the queue of a ring in the place of another: all words are as in a new queue, but that it
    /// stays in the list of those in use, and its blocks count on from a number that no block of
    /// the other had.
    ///
    /// # Safety
    /// The place is that of such a queue. Nobody else has a reference to it or uses it meanwhile.
    pub(crate) unsafe fn replace(place: *mut Self, ring: &SendRing, units: usize) {
        // SAFETY: the place is that of a queue, which nobody else uses meanwhile.
        unsafe {
            let new = Self::new(ring, units, (*place).register);
            new.link.set((*place).link.get());
            let next = ((*place).posted() >> 16) + 1;
            new.consumed.set(next << 16);
            place.write(new);
        }
    }

    /// Returns whether the queue at this place is there.
    ///
    /// # Safety
    /// The place is that of a queue, and nobody has it arrive meanwhile.
    pub(crate) unsafe fn is_there(place: *const Self) -> bool {
        // SAFETY: the place is valid for reads, and nobody writes the word meanwhile.
        !unsafe { (*place).base }.is_null()
    }

    /// Returns the number of blocks posted, not modulo anything.
    pub(crate) fn posted(&self) -> u64 {
        self.consumed.get() + u64::from(self.in_flight())
    }

    /// Returns the number of the queue pair.
    #[inline(always)]
    pub(crate) fn number(&self) -> u32 {
        ((self.control.get().0[0] >> HIGH) as u32).swap_bytes() >> 8
    }

    /// Returns the number as [`Cqe::opcode_qpn`](fi_mlx5_defs::cqe::Cqe::opcode_qpn) has it, as it
    /// lies in memory: behind a byte of another.
    #[inline(always)]
    pub(crate) fn number_as_read(&self) -> u32 {
        // A control segment has it in front of a byte of another.
        ((self.control.get().0[0] >> HIGH) as u32) << 8
    }

    /// Returns an index where the first eight bytes of a control segment have it.
    #[inline(always)]
    pub(crate) fn place(index: u16) -> u64 {
        u64::from(index.to_be()) << 8
    }

    /// Returns the first eight bytes, as they lie in memory, of the entry at `index`.
    pub(crate) fn head(&self, opcode: Opcode, modifier: u8, index: u16, units: usize) -> u64 {
        let number = u64::from((self.number() << 8).to_be()) << HIGH;
        number | Self::place(index) | what(opcode, modifier, units)
    }

    /// Gives the entries in line this flag, or none.
    pub(crate) fn set_flags(&self, flags: u8) {
        let Control([head, _]) = self.control.get();
        self.control.set(Control([head, u64::from(flags) << FLAGS]));
    }

    /// Returns the next block, if an entry of one block may be posted without looking: neither room
    /// nor a fence is due.
    #[inline(always)]
    pub(crate) fn free_block(&self) -> Option<u16> {
        let at = self.producer.get();
        (at != self.limit.get()).then_some(at)
    }

    /// Returns the next of `blocks` blocks, if an entry of so many may be posted without looking,
    /// and they follow each other. Where the queue is armed, all of the ring is free for its one
    /// entry.
    #[inline(always)]
    pub(crate) fn free_blocks(&self, blocks: u16) -> Option<u16> {
        let at = self.producer.get();
        let place = u32::from(at) & self.mask;
        if place + u32::from(blocks) > self.mask + 1 {
            return None;
        }
        if self.limit.get().wrapping_sub(at) < blocks {
            if !self.armed.get() || self.limit.get() == at {
                return None;
            }
            self.limit.set(at.wrapping_add(blocks));
        }
        Some(at)
    }

    /// Returns the address of the block at `index`.
    #[inline(always)]
    pub(crate) fn block(&self, index: u16) -> *mut u8 {
        let at = (u32::from(index) & self.mask) as usize * BASIC_BLOCK;
        self.base.wrapping_add(at)
    }

    /// Returns the number of blocks posted and not known to be done.
    #[inline(always)]
    pub(crate) fn in_flight(&self) -> u32 {
        u32::from(self.producer.get().wrapping_sub(self.consumed.get() as u16))
    }

    /// Returns whether all posted entries are known to be done.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight() == 0
    }

    /// Notes that everything before block `end` is done; returns how many blocks that were not.
    #[inline(always)]
    pub(crate) fn complete(&self, end: u16) -> u16 {
        let before = self.consumed.get();
        let more = end.wrapping_sub(before as u16);
        self.consumed.set(before + u64::from(more));
        more
    }
}

/// Writes the index of the next block into a doorbell record. It is big-endian, and its upper half is always zero.
///
/// # Safety
/// The record is mapped.
#[inline(always)]
pub(crate) unsafe fn count(record: *mut Be32, next: u16) {
    let low = record.cast::<Be16>().wrapping_add(1);
    // SAFETY: the record is mapped; volatile, because the device reads it.
    unsafe { low.write_volatile(Be16::new(next)) };
}

#[cfg(target_endian = "big")]
compile_error!("entries are put together in little-endian words");

#[cfg(test)]
mod tests {
    use super::*;
    use fi_mlx5_defs::wqe::Control;

    #[test]
    fn heads_are_those_of_control_segments() {
        let ring = SendRing {
            number: 0x12_3456,
            base: std::ptr::null_mut(),
            blocks: 64,
            record: std::ptr::null_mut(),
            register: std::ptr::null_mut(),
            register_size: 256,
            max_inline: 0,
        };
        let queue = Queue::new(&ring, 3, 0);
        assert_eq!(queue.number(), ring.number);
        for (opcode, modifier, index, units) in [
            (Opcode::Write, 0, 0, 3),
            (Opcode::MaskedFetchAdd, 9, 0xfedc, 5),
            (Opcode::Nop, 0, 0xffff, 1),
        ] {
            let control = Control::new(opcode, modifier, index, ring.number, units, 0);
            let head = queue.head(opcode, modifier, index, usize::from(units));
            assert_eq!(head.to_ne_bytes(), control.doorbell(), "{opcode:?}");
        }
    }
}
