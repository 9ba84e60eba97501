//! The posts that take no decision: written from registers into the ring and the BlueFlame register.
//!
//! Each is compiled for a guard ([`crate::guard`]); [`crate::route`] says which of them a lane takes.

#![expect(
    unsafe_code,
    reason = "writes rings and doorbell registers through raw pointers"
)]

use crate::guard::{Alone, Guard};
use crate::head::{Slot, slot};
use crate::queue::{Control, Queue, count, what};
use crate::remote::Vector;
use crate::unit::{
    Unit, combine, entry_before_record, flush_register, record_before_register, store_to_register,
    twelve, unit,
};
use fi_mlx5_defs::endian::Be32;
use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::INLINE;

/// Keeps the compiler from making one of the ends of two paths: the values that they hold in
/// registers would have to be moved to the same ones.
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
pub(crate) use kept_apart;

/// Bytes of an element that fit into one block beside an address vector; into one unit in any case.
pub(crate) const BESIDE_VECTOR: usize = 12;

/// Writes `value` by an initiator, if nothing has to be waited for; returns the block of the entry.
///
/// # Safety
/// The queue is one of `queues`, which are a live lane's of guard `G`, and an initiator.
#[inline(always)]
pub(crate) unsafe fn element_to<T: Copy, G: Guard>(
    queues: *const Queue,
    queue: *const Queue,
    value: T,
    there: Unit,
    vector: &Vector,
) -> Option<u16> {
    if size_of::<T>() > BESIDE_VECTOR {
        return None;
    }
    // SAFETY: the queue is one of `queues`, which are a live lane's of guard `G`.
    let (queue, at) = unsafe { enter::<G>(queues, queue) }?;
    let record = queue.record;
    // SAFETY: the lane is alive, and with it the record.
    let control = control(queue, unsafe { next_place(record) });
    let [low, high] = vector.0;
    let entry = [control, unit(low, high), there, inline_units(value)[0]];
    // SAFETY: the block is free, and the queue was entered.
    unsafe { commit::<G>(queues, queue, record, at, entry, 4) };
    Some(at)
}

/// Writes `value` by a connected queue, if nothing has to be waited for; returns the block of the
/// entry.
///
/// # Safety
/// As [`element_to`], but that the queue is a connected one.
#[inline(always)]
pub(crate) unsafe fn element<T: Copy, G: Guard>(
    queues: *const Queue,
    queue: *const Queue,
    value: T,
    there: Unit,
) -> Option<u16> {
    // SAFETY: the queue is one of `queues`, which are a live lane's of guard `G`.
    let (queue, at) = unsafe { enter::<G>(queues, queue) }?;
    // SAFETY: the lane is alive, and with it the record.
    let (entry, used) = unsafe { described(queue, value, there) };
    // SAFETY: the block is free, and the queue was entered.
    unsafe { commit::<G>(queues, queue, queue.record, at, entry, used) };
    Some(at)
}

/// Returns the next entry of a connected queue, which writes `value`, and how many of its units
/// count.
///
/// # Safety
/// The queue's record is mapped, and nobody else writes it.
#[inline(always)]
pub(crate) unsafe fn described<T: Copy>(
    queue: &Queue,
    value: T,
    there: Unit,
) -> ([Unit; 4], usize) {
    let [first, second] = inline_units(value);
    // The second unit of a longer value is one more than the template says.
    let (longer, used) = if size_of::<T>() > BESIDE_VECTOR {
        (ONE_MORE, 4)
    } else {
        (0, 3)
    };
    // SAFETY: the record is mapped, and nobody else writes it.
    let control = control(queue, unsafe { next_place(queue.record) } ^ longer);
    ([control, there, first, second], used)
}

/// Sends a message of two or three words, by an initiator where there is a `vector`, if nothing has to be
/// waited for.
///
/// # Safety
/// As [`element_to`], but that the queue is an initiator only where there is a `vector`.
#[inline(always)]
pub(crate) unsafe fn message<const N: usize, G: Guard>(
    queues: *const Queue,
    queue: *const Queue,
    words: [u64; N],
    vector: Option<&Vector>,
) -> bool {
    // SAFETY: the queue is one of `queues`, which are a live lane's of guard `G`.
    let Some((queue, at)) = (unsafe { enter::<G>(queues, queue) }) else {
        return false;
    };
    // The segment takes two units, as a remote address and an element do.
    const OTHER: u64 = what(Opcode::Write, 0, 0) ^ what(Opcode::Send, 0, 0);
    let [first, second] = word_units(words);
    let record = queue.record;
    // SAFETY: the lane is alive, and with it the record.
    let control = control(queue, unsafe { next_place(record) } ^ OTHER);
    let (entry, used) = match vector {
        Some(Vector([low, high])) => ([control, unit(*low, *high), first, second], 4),
        None => ([control, first, second, second], 3),
    };
    // SAFETY: the block is free, and the queue was entered.
    unsafe { commit::<G>(queues, queue, record, at, entry, used) };
    true
}

/// Enters the queue; returns it, and its next block, which is free. Returns `None` where the post
/// has to decline.
///
/// # Safety
/// The queue is one of `queues`, which are a live lane's of guard `G`.
#[inline(always)]
pub(crate) unsafe fn enter<'a, G: Guard>(
    queues: *const Queue,
    queue: *const Queue,
) -> Option<(&'a Queue, u16)> {
    // SAFETY: the queue is one of `queues`, which are a live lane's of guard `G`, as the caller
    // promises.
    let queue = unsafe { entered::<G>(queues, queue) }?;
    let at = queue.free_block();
    if at.is_none() {
        // SAFETY: it was entered.
        unsafe { G::leave(queues, queue, 0) };
    }
    Some((queue, at?))
}

/// Returns the queue, once it is entered: from there on it is this thread's. Returns `None` where
/// the post has to decline.
///
/// # Safety
/// The queue is one of `queues`, which are a live lane's of guard `G`.
#[inline(always)]
pub(crate) unsafe fn entered<'a, G: Guard>(
    queues: *const Queue,
    queue: *const Queue,
) -> Option<&'a Queue> {
    // SAFETY: the queue is one of `queues`, which are a live lane's of guard `G`, as the caller
    // promises.
    let is_entered = unsafe { G::enter(queues, queue) };
    // SAFETY: the queue lives with its lane, and only the thread that has entered changes it, which
    // is this one.
    is_entered.then(|| unsafe { &*queue })
}

/// Writes an entry of one block, of which the first `used` units count, rings and leaves the queue.
///
/// # Safety
/// The record is the queue's, block `at` is free and the next one, and the queue was entered under its guard.
#[inline(always)]
pub(crate) unsafe fn commit<G: Guard>(
    queues: *const Queue,
    queue: &Queue,
    record: *mut Be32,
    at: u16,
    entry: [Unit; 4],
    used: usize,
) {
    // SAFETY: the block is free.
    unsafe { put(queue, at, &entry, used) };
    // SAFETY: the record is the queue's, the entry is complete now, and the queue was entered; a
    // half of the register has room for the entry's 64 bytes.
    unsafe {
        finish::<G>(queues, queue, record, at, 1, |half| {
            store_to_register(half, &entry)
        });
    }
}

/// Writes the first `used` units of an entry of one block into the ring.
///
/// # Safety
/// Block `at` is free.
#[inline(always)]
pub(crate) unsafe fn put(queue: &Queue, at: u16, entry: &[Unit; 4], used: usize) {
    let block = queue.block(at).cast::<Unit>();
    for (place, &unit) in entry.iter().take(used).enumerate() {
        // SAFETY: a block has four units, and this one is free.
        unsafe { block.add(place).write(unit) };
    }
}

/// Writes the record, which counts all entries before block `next`, and orders it between the entry
/// and the register.
///
/// # Safety
/// The record is mapped.
#[inline(always)]
pub(crate) unsafe fn count_to(record: *mut Be32, next: u16) {
    entry_before_record();
    // SAFETY: the record is mapped.
    unsafe { count(record, next) };
    record_before_register();
}

/// Counts an entry of `blocks` blocks that is in the ring, rings by `store` and leaves the queue.
///
/// # Safety
/// The record is the queue's, the entry at block `at` is complete, and the queue was entered under its guard. `store` stores
/// the entry into half a register.
#[inline(always)]
pub(crate) unsafe fn finish<G: Guard>(
    queues: *const Queue,
    queue: &Queue,
    record: *mut Be32,
    at: u16,
    blocks: u16,
    store: impl FnOnce(*mut u8),
) {
    let next = at.wrapping_add(blocks);
    queue.producer.set(next);
    // SAFETY: the record is mapped as long as the queue.
    unsafe { count_to(record, next) };
    // SAFETY: the queues are a live lane's, whose queues have slots. Its registers have two halves for BlueFlame.
    unsafe {
        G::ring(slot(queues, queue.register), |half| {
            store(half);
            flush_register();
        });
        G::leave(queues, queue, blocks);
    }
}

/// Counts all entries before block `next`, of which the last one is `entry`, and rings by that.
///
/// # Safety
/// The record is mapped, the entry is in the ring, and the slot is that of a live register that nobody
/// else rings.
#[inline(always)]
pub(crate) unsafe fn ring_alone(slot: &Slot, record: *mut Be32, next: u16, entry: &[Unit; 4]) {
    // SAFETY: the record is mapped.
    unsafe { count_to(record, next) };
    // SAFETY: nobody else rings the register of the slot, a half of which has room for 64 bytes.
    unsafe {
        Alone::ring(slot, |half| {
            store_to_register(half, entry);
            flush_register();
        });
    }
}

/// Change to a control segment that makes an entry one unit longer or, as here, its length of 3 one
/// of 4.
const ONE_MORE: u64 = what(Opcode::Nop, 0, 3 ^ 4);

/// Returns [`Queue::place`] of the next block of the queue with this doorbell record, which holds
/// its index as the device reads it.
///
/// # Safety
/// The record is mapped, and nobody else writes it.
#[inline(always)]
pub(crate) unsafe fn next_place(record: *const Be32) -> u64 {
    // SAFETY: the record is mapped, and nobody else writes it.
    let index = unsafe { record.read() };
    u64::from(index.raw() >> 8)
}

/// Returns the queue's control segment with these bits of its first word changed.
#[inline(always)]
pub(crate) fn control(queue: &Queue, change: u64) -> Unit {
    let Control([first, second]) = queue.control.get();
    combine(unit(first, second), unit(change, 0))
}

/// Returns the inline segment of two or three words.
#[inline(always)]
fn word_units<const N: usize>(words: [u64; N]) -> [Unit; 2] {
    const { assert!(N == 2 || N == 3) };
    let count = u64::from(Be32::new(INLINE | size_of::<[u64; N]>() as u32).raw());
    let (low, high) = (words[0], words[1]);
    let first = unit(count | low << 32, low >> 32 | high << 32);
    let second = match words.get(2) {
        None => unit(high >> 32, 0),
        Some(last) => unit(high >> 32 | last << 32, last >> 32),
    };
    [first, second]
}

/// Returns the inline segment of one element of up to 16 bytes.
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
    if size_of::<T>() == size_of::<u64>() {
        return [twelve(count as u32, low); 2];
    }
    let first = unit(count | low << 32, low >> 32 | high << 32);
    // Where one unit suffices, the bytes that fill up the block are of no account: the register
    // gets whole blocks.
    let second = if size_of::<T>() > 12 {
        unit(high >> 32, 0)
    } else {
        first
    };
    [first, second]
}
