//! A send queue as the data path sees it: one cache line.

use crate::endian::Be32;
use crate::opcode::Opcode;
use crate::wqe::BASIC_BLOCK;
use std::cell::Cell;

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

/// The state of one send queue. Counts are of basic blocks, modulo 2^16.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Queue {
    /// Blocks posted.
    pub(crate) producer: Cell<u16>,
    /// Where the producer has to stop for the slow path: the next entry needs room, a completion, or a fence.
    pub(crate) limit: Cell<u16>,
    /// Blocks minus one.
    pub(crate) mask: u32,
    pub(crate) base: *mut u8,
    pub(crate) record: *mut Be32,
    /// The first eight bytes of an entry of no units, opcode 0, at index 0, as they lie in memory.
    pub(crate) head: u64,
    /// Blocks known to be done, not modulo anything.
    pub(crate) consumed: Cell<u64>,
    /// The newest entry with a completion: its first block, and the block behind it.
    pub(crate) signalled: Cell<u16>,
    pub(crate) signalled_end: Cell<u16>,
    /// Whether reads or atomics were posted that no fence has covered yet.
    pub(crate) unfenced: Cell<bool>,
    /// Whether the next entry is to wait for them.
    pub(crate) fence: Cell<bool>,
    /// The next queue with entries outstanding: its index + 1, [`END`] for none; 0 when this one is idle.
    pub(crate) link: Cell<u32>,
    pub(crate) number: u32,
}

const _: () = assert!(std::mem::size_of::<Queue>() == 64);

/// The end of the list of queues with entries outstanding.
pub(crate) const END: u32 = u32::MAX;

impl Queue {
    /// The state of a queue that nothing was posted to yet.
    pub(crate) fn new(ring: &SendRing) -> Self {
        Self {
            producer: Cell::new(0),
            limit: Cell::new(0),
            mask: ring.blocks - 1,
            base: ring.base,
            record: ring.record,
            head: u64::from((ring.number << 8).to_be()) << HIGH,
            consumed: Cell::new(0),
            signalled: Cell::new(0),
            signalled_end: Cell::new(0),
            unfenced: Cell::new(false),
            fence: Cell::new(false),
            link: Cell::new(0),
            number: ring.number,
        }
    }

    /// The first eight bytes, as they lie in memory, of the entry at `index`.
    #[inline(always)]
    pub(crate) fn head(&self, opcode: Opcode, modifier: u8, index: u16, units: u64) -> u64 {
        let what = u32::from(modifier).to_le() | (u32::from(opcode.number()) << 24).to_le();
        // The index as a big-endian word has it in its last two bytes; one further to the front they are in place.
        let place = u64::from(u32::from(index).to_be() >> 8);
        self.head | place | u64::from(what) | units << (HIGH + 24)
    }

    /// The next block, if an entry of one block may be posted without looking: neither room nor a completion nor a
    /// fence is due.
    #[inline(always)]
    pub(crate) fn free_block(&self) -> Option<u16> {
        let at = self.producer.get();
        (at != self.limit.get()).then_some(at)
    }

    /// Where the block at `index` lies.
    #[inline(always)]
    pub(crate) fn block(&self, index: u16) -> *mut u8 {
        let at = (u32::from(index) & self.mask) as usize * BASIC_BLOCK;
        self.base.wrapping_add(at)
    }

    /// Blocks posted and not known to be done.
    pub(crate) fn in_flight(&self) -> u32 {
        u32::from(self.producer.get().wrapping_sub(self.consumed.get() as u16))
    }

    /// Notes that everything before block `end` is done.
    #[inline(always)]
    pub(crate) fn complete(&self, end: u16) {
        let before = self.consumed.get();
        let more = end.wrapping_sub(before as u16);
        self.consumed.set(before + u64::from(more));
    }
}

/// The bit of a word of eight bytes where its second four bytes begin.
const HIGH: u32 = 32;

#[cfg(target_endian = "big")]
compile_error!("entries are put together in little-endian words");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wqe::Control;

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
        let queue = Queue::new(&ring);
        for (opcode, modifier, index, units) in [
            (Opcode::Write, 0, 0, 3),
            (Opcode::MaskedFetchAdd, 9, 0xfedc, 5),
            (Opcode::Nop, 0, 0xffff, 1),
        ] {
            let control = Control::new(opcode, modifier, index, ring.number, units, 0);
            let head = queue.head(opcode, modifier, index, u64::from(units));
            assert_eq!(head.to_ne_bytes(), control.doorbell(), "{opcode:?}");
        }
    }
}
