//! Collectives of a team over little data: each PE shows its data in a slot of its block, all meet, and each reads what it
//! needs.
//!
//! That is one meeting, where [`super::flat`] needs two. Nobody writes a slot again before a meeting that comes after all
//! have read it: there are two of them, used in turns.

#![expect(
    unsafe_code,
    reason = "copies between arrays that C has given, and slots"
)]

use super::combine::Operation;
use super::flat::Chunk;
use super::party::{Party, fetch, near};
use crate::report::Routine;
use crate::team::Team;
use crate::workspace::SLOT;
use fi_provider::node::copy::copy;

/// The largest team of several nodes whose PEs read each other's slots; in larger ones few speak for many.
const MOST_FAR: usize = 8;

/// Whether `bytes` bytes of each PE of `team` go through its slots.
#[inline]
pub(super) fn fits(team: &Team, bytes: usize) -> bool {
    bytes <= SLOT && (team.is_near() || team.len() <= MOST_FAR)
}

/// Shows `bytes` bytes, and waits until all have done so; returns the own slot.
///
/// # Safety
/// `source` is readable for `bytes` bytes, which fit.
#[inline]
unsafe fn show(team: &Team, at: Routine, source: *const u8, bytes: usize) -> *const u8 {
    let slot = team.next_slot();
    // SAFETY: the slot has room, and nobody reads it: see above.
    unsafe { copy(slot, source, bytes) };
    team.meet(at);
    slot
}

/// See [`super::flat::broadcast`].
///
/// # Safety
/// As there, and the data fits.
pub(super) unsafe fn broadcast(
    team: &Team,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: usize,
) {
    let is_root = team.me() == root;
    // SAFETY: the contract is the same.
    unsafe {
        let slot = show(team, at, source, if is_root { bytes } else { 0 });
        if !is_root {
            fetch(team, at, dest, slot, bytes, root);
        }
    }
}

/// See [`super::flat::fcollect`].
///
/// # Safety
/// As there, and the data fits.
pub(super) unsafe fn fcollect(
    team: &Team,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
) {
    // SAFETY: the contract is the same.
    unsafe {
        let slot = show(team, at, source, bytes);
        for index in 0..team.len() {
            fetch(team, at, dest.add(index * bytes), slot, bytes, index);
        }
    }
}

/// See [`super::flat::alltoall`].
///
/// # Safety
/// As there, and the blocks of all PEs together fit.
pub(super) unsafe fn alltoall(
    team: &Team,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
) {
    // SAFETY: the contract is the same.
    unsafe {
        let slot = show(team, at, source, team.len() * bytes);
        let mine = slot.add(team.me() * bytes);
        for index in 0..team.len() {
            fetch(team, at, dest.add(index * bytes), mine, bytes, index);
        }
    }
}

/// See [`super::flat::reduce`].
///
/// # Safety
/// As there, and the data fits.
pub(super) unsafe fn reduce<T: Copy, O: Operation<T>>(
    team: &Team,
    at: Routine,
    dest: *mut T,
    source: *const T,
    count: usize,
) {
    // SAFETY: the contract is the same; the slot holds the source already.
    unsafe {
        let slot = show(team, at, source.cast(), count * size_of::<T>());
        combine_slots::<T, O>(team, at, dest, slot, count, 0..team.len());
    }
}

/// See [`super::flat::scan`].
///
/// # Safety
/// As there, and the data fits.
pub(super) unsafe fn scan<T: Copy, O: Operation<T>>(
    team: &Team,
    at: Routine,
    dest: *mut T,
    source: *const T,
    count: usize,
    inclusive: bool,
) {
    let of = 0..team.me() + usize::from(inclusive);
    // SAFETY: the contract is the same; the slot holds the source already.
    unsafe {
        let slot = show(team, at, source.cast(), count * size_of::<T>());
        if of.is_empty() {
            dest.write_bytes(0, count);
        } else {
            combine_slots::<T, O>(team, at, dest, slot, count, of);
        }
    }
}

/// Combines what the PEs `of` show in the slots that are called `slot` here.
///
/// # Safety
/// `dest` holds `count` elements, and each slot as well.
#[inline]
unsafe fn combine_slots<T: Copy, O: Operation<T>>(
    team: &Team,
    at: Routine,
    dest: *mut T,
    slot: *const u8,
    count: usize,
    of: std::ops::Range<usize>,
) {
    let bytes = count * size_of::<T>();
    // SAFETY: the contract is the same; a chunk has room for a slot.
    unsafe {
        fetch(team, at, dest.cast(), slot, bytes, of.start);
        if team.is_near() {
            for index in of.skip(1) {
                let theirs = near(team, at, "source", slot.addr(), bytes, index);
                O::combine(dest, theirs as *const T, count);
            }
            return;
        }
        let mut chunk = Chunk::new();
        for index in of.skip(1) {
            fetch(team, at, chunk.elements(), slot, bytes, index);
            O::combine(dest, chunk.elements(), count);
        }
    }
}

/// Combines `words` of all PEs of `team`, in place.
pub(crate) fn reduce_words<O: Operation<u64>>(at: Routine, team: &Team, words: &mut [u64]) {
    let own = words.as_mut_ptr();
    assert!(size_of_val(words) <= SLOT);
    // SAFETY: the words are this thread's alone, and fit; what is read from others are slots.
    unsafe { reduce::<u64, O>(team, at, own, own, words.len()) };
}
