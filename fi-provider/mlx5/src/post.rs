//! The posts that take one block and no decision: written from registers into the ring and the BlueFlame
//! register, in line at the place of the call.
//!
//! A [`Route`] is what an endpoint holds of its lane. The posts here take place when the lane belongs to one
//! thread, has BlueFlame and registers of its own, and the queue has room without looking; otherwise they decline, and the
//! lane's own functions ([`crate::lane`]) do the work.

#![expect(
    unsafe_code,
    reason = "writes rings and doorbell registers through raw pointers"
)]

use crate::endian::{Be32, Be64};
use crate::lane::Lane;
use crate::lane::head::slot;
use crate::opcode::Opcode;
use crate::queue::{Control, Queue, count, what};
use crate::remote::{Remote, Segment};
use crate::unit::{
    Unit, combine, entry_before_record, flush_register, record_before_register, store_to_register,
    unit,
};
use crate::wqe::INLINE;

/// Keeps the compiler from making one of the ends of two paths: what they hold in registers would have to be moved to
/// the same ones.
macro_rules! kept_apart {
    ($name:literal) => {
        // SAFETY: a comment of the assembler's.
        unsafe {
            core::arch::asm!(
                concat!("/* ", $name, " */"),
                options(nomem, nostack, preserves_flags)
            )
        }
    };
}

/// What an endpoint holds of its lane: job constants.
#[derive(Debug)]
#[repr(C)]
pub struct Route {
    /// Whether elements are posted in line by initiators, of which a peer has always the same.
    pub(crate) initiators: bool,
    /// Whether they are posted in line by a connected queue for each peer.
    pub(crate) connected: bool,
    /// Initiators minus one, a power of two of them.
    pub(crate) mask: u32,
    pub(crate) queues: *const Queue,
    /// The data segment of atomics whose result nobody wants, as it lies in an entry.
    pub(crate) discard: [u64; 2],
    pub(crate) lane: *const Lane,
}

/// Between the two halves of a BlueFlame register that posts alternate between.
pub(crate) const HALF: usize = 256;

impl Route {
    /// No route.
    pub const fn none() -> Self {
        Self {
            initiators: false,
            connected: false,
            mask: 0,
            queues: std::ptr::null(),
            discard: [0; 2],
            lane: std::ptr::null(),
        }
    }

    /// The same way, and nothing posted in line: for endpoints whose peers have other numbers than the lane's.
    #[must_use]
    pub fn out_of_line(self) -> Self {
        Self {
            initiators: false,
            connected: false,
            ..self
        }
    }

    /// The lane, if there is one.
    ///
    /// # Safety
    /// The lane that the route was made of is alive.
    #[inline(always)]
    pub unsafe fn lane(&self) -> Option<&Lane> {
        // SAFETY: null, or alive by contract.
        unsafe { self.lane.as_ref() }
    }

    /// Writes `value` to `address` of peer `index`, if nothing has to be waited for.
    ///
    /// # Safety
    /// The route's lane is alive and used by this thread alone; `index` is one of its peers, `remote` that peer's.
    #[inline(always)]
    pub unsafe fn inject<T: Copy>(
        &self,
        value: T,
        there: Segment,
        remote: &Remote,
        index: usize,
    ) -> bool {
        let Segment(there) = there;
        if self.initiators {
            if size_of::<T>() > 12 {
                return false;
            }
            // SAFETY: the mask is that of the lane's initiators.
            let queue = unsafe { &*self.queues.add(index & self.mask as usize) };
            let Some(at) = queue.free_block() else {
                return false;
            };
            let record = queue.record;
            // SAFETY: the lane is alive, and with it the record.
            let control = control(queue, unsafe { next_place(record) });
            let [low, high] = remote.vector;
            let entry = [control, unit(low, high), there, inline_units(value)[0]];
            // SAFETY: the block is free, and the queue this thread's.
            unsafe { self.commit(queue, record, at, entry, 4) };
            kept_apart!("initiator");
            return true;
        }
        if !self.connected {
            return false;
        }
        // SAFETY: a connected lane has a queue for each peer.
        let queue = unsafe { &*self.queues.add(index) };
        let Some(at) = queue.free_block() else {
            return false;
        };
        let [first, second] = inline_units(value);
        // The second unit of a longer value is one more than the template says.
        let longer = if size_of::<T>() > 12 { ONE_MORE } else { 0 };
        let record = queue.record;
        // SAFETY: the lane is alive, and with it the record.
        let control = control(queue, unsafe { next_place(record) } ^ longer);
        let used = if size_of::<T>() > 12 { 4 } else { 3 };
        // SAFETY: as above.
        unsafe { self.commit(queue, record, at, [control, there, first, second], used) };
        kept_apart!("connected");
        true
    }

    /// Adds `value`, of 8 bytes, at `address` of peer `index`, if nothing has to be waited for.
    ///
    /// # Safety
    /// As [`Route::inject`].
    #[inline(always)]
    pub unsafe fn add(&self, value: u64, there: Segment, index: usize) -> bool {
        if !self.connected {
            return false;
        }
        // SAFETY: a connected lane has a queue for each peer.
        let queue = unsafe { &*self.queues.add(index) };
        let Some(at) = queue.free_block() else {
            return false;
        };
        const OTHER: u64 = what(Opcode::Write, 0, 3) ^ what(Opcode::FetchAdd, 0, 4);
        let record = queue.record;
        // SAFETY: the lane is alive, and with it the record.
        let control = control(queue, unsafe { next_place(record) } ^ OTHER);
        let operand = unit(Be64::new(value).raw(), 0);
        let result = unit(self.discard[0], self.discard[1]);
        queue.unfenced.set(true);
        let entry = [control, there.0, operand, result];
        // SAFETY: the block is free, and the queue this thread's.
        unsafe { self.commit(queue, record, at, entry, 4) };
        true
    }

    /// Writes an entry of one block, of which the first `used` units count, and rings.
    ///
    /// # Safety
    /// The record is the queue's, block `at` is free and the next one, and this thread alone posts to it and to the register.
    #[inline(always)]
    unsafe fn commit(
        &self,
        queue: &Queue,
        record: *mut Be32,
        at: u16,
        entry: [Unit; 4],
        used: usize,
    ) {
        let block = queue.block(at).cast::<Unit>();
        for (place, &unit) in entry.iter().take(used).enumerate() {
            // SAFETY: a block has four units, and this one is free.
            unsafe { block.add(place).write(unit) };
        }
        let next = at.wrapping_add(1);
        queue.producer.set(next);
        entry_before_record();
        // SAFETY: the record is mapped as long as the queue.
        unsafe { count(record, next) };
        record_before_register();
        // SAFETY: the queues are a live lane's, whose queues have slots.
        let slot = unsafe { slot(self.queues, queue.register) }.half();
        // SAFETY: a route of this kind has BlueFlame registers of two halves, which are the lane's own.
        unsafe { store_to_register(slot.get(), &entry) };
        flush_register();
        // Read again: so it is changed in its place.
        slot.set(other_half(slot.get()));
    }
}

/// What makes an entry one unit longer or, as here, its length of 3 one of 4.
const ONE_MORE: u64 = what(Opcode::Nop, 0, 3 ^ 4);

/// [`Queue::place`] of the next block of the queue with this doorbell record, which holds its index as the device reads it.
///
/// # Safety
/// The record is mapped.
#[inline(always)]
unsafe fn next_place(record: *const Be32) -> u64 {
    // SAFETY: by contract; nobody else writes the record.
    let index = unsafe { record.read() };
    u64::from(index.raw() >> 8)
}

/// The queue's control segment with these bits of its first word changed.
#[inline(always)]
fn control(queue: &Queue, change: u64) -> Unit {
    let Control([first, second]) = queue.control.get();
    combine(unit(first, second), unit(change, 0))
}

/// The half of a doorbell register that is not `half`.
#[inline(always)]
pub(crate) fn other_half(half: *mut u8) -> *mut u8 {
    half.map_addr(|addr| addr ^ HALF)
}

/// The inline segment of one element of up to 16 bytes.
#[inline(always)]
fn inline_units<T: Copy>(value: T) -> [Unit; 2] {
    const { assert!(size_of::<T>() <= 16) };
    let mut words = [0_u64; 2];
    // SAFETY: the words hold as many bytes, and any bytes are valid words; bytes of padding are taken as they are.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw const value).cast::<u8>(),
            words.as_mut_ptr().cast::<u8>(),
            size_of::<T>(),
        );
    }
    let count = u64::from(Be32::new(INLINE | size_of::<T>() as u32).raw());
    let [low, high] = words;
    let first = unit(count | low << 32, low >> 32 | high << 32);
    // Where one unit suffices, what fills up the block is of no account: the register gets whole blocks.
    let second = if size_of::<T>() > 12 {
        unit(high >> 32, 0)
    } else {
        first
    };
    [first, second]
}
