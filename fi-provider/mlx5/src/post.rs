//! The posts that take one block and no decision: written from registers into the ring and the BlueFlame
//! register, in line at the place of the call.
//!
//! A [`Route`] is what an endpoint holds of its lane. The posts here take place when the lane belongs to one
//! thread, has BlueFlame, and the queue has room without looking; otherwise they decline, and the lane's own
//! functions ([`crate::lane`]) do the work.

#![expect(
    unsafe_code,
    reason = "writes rings and doorbell registers through raw pointers"
)]

use crate::endian::{Be32, Be64};
use crate::lane::Lane;
use crate::opcode::Opcode;
use crate::queue::Queue;
use crate::remote::Remote;
use crate::unit::{
    Unit, entry_before_record, flush_register, record_before_register, store_to_register, unit,
};
use crate::wqe::{INLINE, masked_modifier};
use std::cell::Cell;

/// How the posts of a lane find their queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// No lane.
    None,
    /// A connected queue for each peer.
    Connected,
    /// One queue for all peers (DC).
    Dynamic,
    /// A lane that is locked, or without BlueFlame: every post takes the slow path.
    Careful,
}

/// What an endpoint holds of its lane: job constants, and where the next BlueFlame copy goes.
#[derive(Debug)]
#[repr(C)]
pub struct Route {
    pub(crate) kind: Kind,
    /// The half of the doorbell register that is to be written next.
    pub(crate) register: Cell<*mut u8>,
    pub(crate) queues: *const Queue,
    /// The key of every peer's DC target, as it lies in an entry.
    pub(crate) key: u64,
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
            kind: Kind::None,
            register: Cell::new(std::ptr::null_mut()),
            queues: std::ptr::null(),
            key: 0,
            discard: [0; 2],
            lane: std::ptr::null(),
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
        address: u64,
        key: Be32,
        remote: &Remote,
        index: u32,
    ) -> bool {
        let there = raddr(address, key);
        if self.kind == Kind::Connected {
            // SAFETY: a connected lane has a queue for each peer.
            let queue = unsafe { &*self.queues.add(index as usize) };
            let Some(at) = queue.free_block() else {
                return false;
            };
            let [first, second] = inline_units(value);
            let units = if size_of::<T>() > 8 { 4 } else { 3 };
            let head = unit(queue.head(Opcode::Write, 0, at, units), 0);
            // SAFETY: the block is free, and the queue this thread's.
            unsafe { self.commit(queue, at, [head, there, first, second], units as usize) };
            return true;
        }
        if self.kind == Kind::Dynamic && size_of::<T>() <= 8 {
            // SAFETY: a dynamic lane has one queue.
            let queue = unsafe { &*self.queues };
            let Some(at) = queue.free_block() else {
                return false;
            };
            let head = unit(queue.head(Opcode::Write, 0, at, 4), 0);
            let address_vector = unit(self.key, remote.target);
            // SAFETY: as above.
            unsafe {
                self.commit(
                    queue,
                    at,
                    [head, address_vector, there, inline_units(value)[0]],
                    4,
                )
            };
            return true;
        }
        false
    }

    /// Adds `value`, of `SIZE` bytes (4 or 8), at `address` of peer `index`, if nothing has to be waited for.
    ///
    /// # Safety
    /// As [`Route::inject`]; the device has masked atomics if `SIZE` is 4.
    #[inline(always)]
    pub unsafe fn add<const SIZE: usize>(
        &self,
        value: u64,
        address: u64,
        key: Be32,
        index: u32,
    ) -> bool {
        if self.kind != Kind::Connected {
            return false;
        }
        // SAFETY: a connected lane has a queue for each peer.
        let queue = unsafe { &*self.queues.add(index as usize) };
        let Some(at) = queue.free_block() else {
            return false;
        };
        let (opcode, modifier, operand) = if SIZE == 8 {
            (Opcode::FetchAdd, 0, Be64::new(value).raw())
        } else {
            let operand = Be32::new(value as u32).raw();
            (
                Opcode::MaskedFetchAdd,
                masked_modifier(4),
                u64::from(operand),
            )
        };
        let head = unit(queue.head(opcode, modifier, at, 4), 0);
        // Four bytes of a result are the first of the eight that there is room for.
        let length = if SIZE == 8 { 0 } else { DIFFERENCE };
        let result = unit(self.discard[0] ^ length, self.discard[1]);
        queue.unfenced.set(true);
        // SAFETY: the block is free, and the queue this thread's.
        unsafe {
            self.commit(
                queue,
                at,
                [head, raddr(address, key), unit(operand, 0), result],
                4,
            )
        };
        true
    }

    /// Writes an entry of one block, of which the first `used` units count, and rings.
    ///
    /// # Safety
    /// Block `at` of `queue` is free and the next one, and this thread alone posts to it and to the register.
    #[inline(always)]
    unsafe fn commit(&self, queue: &Queue, at: u16, entry: [Unit; 4], used: usize) {
        let block = queue.block(at).cast::<Unit>();
        for (place, &unit) in entry.iter().take(used).enumerate() {
            // SAFETY: a block has four units, and this one is free.
            unsafe { block.add(place).write(unit) };
        }
        let next = at.wrapping_add(1);
        queue.producer.set(next);
        entry_before_record();
        // SAFETY: the record is mapped as long as the queue; volatile, because the device reads it.
        unsafe { queue.record.write_volatile(Be32::new(next.into())) };
        record_before_register();
        let register = self.register.get();
        // SAFETY: a route of this kind has a BlueFlame register of two halves.
        unsafe { store_to_register(register, &entry) };
        flush_register();
        self.register.set(other_half(register));
    }
}

/// What turns the length 8 of a data segment into the length 4, in its first word as it lies in memory.
const DIFFERENCE: u64 = (Be32::new(8).raw() ^ Be32::new(4).raw()) as u64;

/// The half of a doorbell register that is not `half`.
#[inline(always)]
pub(crate) fn other_half(half: *mut u8) -> *mut u8 {
    half.map_addr(|addr| addr ^ HALF)
}

/// A remote address segment.
#[inline(always)]
fn raddr(address: u64, key: Be32) -> Unit {
    unit(Be64::new(address).raw(), key.raw().into())
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
    [
        unit(count | low << 32, low >> 32 | high << 32),
        unit(high >> 32, 0),
    ]
}
