//! Collectives of a team over little data: each PE shows its data in a slot of its block, and the
//! others read the part of it that they need.
//!
//! That takes one meeting, where [`super::flat`] takes two; or none: where each PE has its own
//! processor, a PE that needs the data waits for the turn that stands beside it. So a broadcast is
//! one cache line on its way, and its root waits for nobody, but for a meeting once all slots are
//! in use.

#![expect(
    unsafe_code,
    reason = "copies between arrays that C has given, and slots"
)]

use super::combine::{Kernel, Operation};
use super::flat::Chunk;
use super::party::Party;
use crate::job::workspace::SLOT;
use crate::routine::Routine;
use crate::team::group::Team;
use crate::team::slots::Shown;
use fi_provider::node::copy::copy;
use std::ops::Range;

/// The largest team of several nodes whose PEs read each other's slots; in larger ones few speak for many.
const MOST_FAR: usize = 8;

/// Returns whether `bytes` bytes of each PE of `team` go through its slots.
#[inline]
pub(super) fn fits(team: &Team, bytes: usize) -> bool {
    bytes <= SLOT && (team.is_near() || team.len() <= MOST_FAR)
}

/// See [`super::flat::broadcast`].
///
/// # Safety
/// As there, and the data fits.
pub(crate) unsafe fn broadcast(
    team: &Team,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: usize,
) {
    // SAFETY: `source` is readable and `dest` writable for `bytes` bytes, `SLOT` at most, which the
    // root shows.
    unsafe {
        if team.me() == root {
            team.show(at, source, bytes);
        } else {
            team.take_turn(at).read(at, root, 0, dest, bytes);
        }
    }
}

/// See [`super::flat::fcollect`].
///
/// # Safety
/// As there, and the data fits.
pub(crate) unsafe fn fcollect(
    team: &Team,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
) {
    // SAFETY: `source` is readable for `bytes` bytes, `SLOT` at most, which all show; `dest` has
    // room for those of each PE.
    unsafe {
        let shown = team.show(at, source, bytes);
        for index in 0..team.len() {
            shown.read(at, index, 0, dest.add(index * bytes), bytes);
        }
        shown.by_all();
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
    let mine = team.me() * bytes;
    // SAFETY: `source` is readable for all blocks, `SLOT` at most, which all show; `dest` has room
    // for a block of each PE.
    unsafe {
        let shown = team.show(at, source, team.len() * bytes);
        for index in 0..team.len() {
            shown.read(at, index, mine, dest.add(index * bytes), bytes);
        }
        shown.by_all();
    }
}

/// See [`super::flat::reduce`].
///
/// # Safety
/// As there, and the data fits.
pub(crate) unsafe fn reduce(
    team: &Team,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    count: usize,
    kernel: &Kernel,
) {
    // SAFETY: both arrays hold `count` elements, `SLOT` at most; the slot holds the source already
    // when `dest` is written.
    unsafe {
        let shown = team.show(at, source, count * kernel.size);
        combine(&shown, at, dest, count, kernel, 0..team.len());
        shown.by_all();
    }
}

/// See [`super::flat::scan`].
///
/// # Safety
/// As there, and the data fits.
pub(crate) unsafe fn scan(
    team: &Team,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    count: usize,
    kernel: &Kernel,
    inclusive: bool,
) {
    let of = 0..team.me() + usize::from(inclusive);
    let bytes = count * kernel.size;
    // SAFETY: both arrays hold `count` elements, `SLOT` at most; the slot holds the source already
    // when `dest` is written.
    unsafe {
        let shown = team.show(at, source, bytes);
        if of.is_empty() {
            let mut zeros = Chunk::new();
            zeros.bytes().write_bytes(0, bytes);
            copy(dest, zeros.bytes(), bytes);
        } else {
            combine(&shown, at, dest, count, kernel, of);
        }
    }
}

/// Combines the elements that the PEs `of` have shown.
///
/// # Safety
/// `dest` and every slot hold `count` elements.
#[inline]
unsafe fn combine(
    shown: &Shown<'_>,
    at: Routine,
    dest: *mut u8,
    count: usize,
    kernel: &Kernel,
    of: Range<usize>,
) {
    let bytes = count * kernel.size;
    // SAFETY: `dest`, every slot and the chunk hold `count` elements, and are aligned for them.
    unsafe {
        shown.read(at, of.start, 0, dest, bytes);
        for index in of.skip(1) {
            if let Some(theirs) = shown.near(at, index) {
                kernel.combine(dest, theirs, count);
            } else {
                let mut chunk = Chunk::new();
                shown.read(at, index, 0, chunk.bytes(), bytes);
                kernel.combine(dest, chunk.bytes(), count);
            }
        }
    }
}

/// Combines `words` of all PEs of `team`, in place.
pub(crate) fn reduce_words<O: Operation<u64>>(at: Routine, team: &Team, words: &mut [u64]) {
    let own = words.as_mut_ptr().cast();
    assert!(size_of_val(words) <= SLOT);
    let kernel = Kernel::of::<u64, O>();
    // SAFETY: the words are this thread's alone, and fit; only slots are read from others.
    unsafe { reduce(team, at, own, own, words.len(), &kernel) };
}
