//! Collectives of teams on several nodes: data from another node comes there once, and then goes on
//! through the node's memory.
//!
//! The PEs of a node share the work by their places on it.

#![expect(
    unsafe_code,
    reason = "copies between arrays that C has given as symmetric"
)]

use super::combine::Kernel;
use super::flat::{Chunk, copy_own, for_chunks, slice};
use super::party::{Party, fetch};
use crate::routine::Routine;
use crate::team::group::Team;
use std::ops::Range;

/// See [`super::flat::broadcast`]: each PE of a node gets a slice from the root, and the others' from them.
///
/// # Safety
/// As there.
pub(super) unsafe fn broadcast(
    team: &Team,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: usize,
) {
    let near = team.near();
    let part = |place| slice(bytes, 1, place, near.len());
    let read = |from: *const u8, part: Range<usize>, index| {
        // SAFETY: the part is one of both arrays, so that `dest` is writable for it.
        unsafe {
            fetch(
                team,
                at,
                dest.add(part.start),
                from.add(part.start),
                part.len(),
                index,
            )
        };
    };
    team.meet(at);
    if near.contains(&root) {
        if team.me() != root {
            read(source, 0..bytes, root);
        }
    } else {
        read(source, part(team.place()), root);
        team.meet_near(at);
        for (place, &index) in near.iter().enumerate() {
            if place != team.place() {
                read(dest, part(place), index);
            }
        }
    }
    team.meet(at);
}

/// See [`super::flat::fcollect`]: each PE of a node gets the data of some PEs elsewhere, for all.
///
/// # Safety
/// As there.
pub(super) unsafe fn fcollect(
    team: &Team,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
) {
    let near = team.near();
    let of = |index: usize| dest.wrapping_add(index * bytes);
    team.meet(at);
    for &index in near {
        // SAFETY: `dest` is writable for `bytes` bytes of each PE.
        unsafe { fetch(team, at, of(index), source, bytes, index) };
    }
    let far = || {
        (0..team.len())
            .filter(|index| !near.contains(index))
            .enumerate()
    };
    for (turn, index) in far() {
        if turn % near.len() == team.place() {
            // SAFETY: `dest` is writable for `bytes` bytes of each PE.
            unsafe { fetch(team, at, of(index), source, bytes, index) };
        }
    }
    team.meet_near(at);
    for (turn, index) in far() {
        let place = turn % near.len();
        if place != team.place() {
            // SAFETY: `dest` is writable for `bytes` bytes of each PE; the PE at that place has got
            // it.
            unsafe { fetch(team, at, of(index), of(index), bytes, near[place]) };
        }
    }
    team.meet(at);
}

/// See [`super::flat::reduce`]. Each node combines its sources, a slice by each of so many PEs as every node has; those
/// that have the same slice combine theirs, a piece each, and then spread the pieces.
///
/// All intermediate results are in `dest`: of a PE's own array, only its slice is written before the nodes' PEs have read
/// all, and of that, others read only the pieces that are not this PE's own.
///
/// # Safety
/// As there.
pub(super) unsafe fn reduce(
    team: &Team,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    count: usize,
    kernel: &Kernel,
) {
    let groups = team.groups();
    let owners = groups.iter().map(|group| group.len()).min().unwrap_or(1);
    let place = team.place();
    let slice_of = |place| slice(count, kernel.size, place, owners);
    let mine = if place < owners {
        slice_of(place)
    } else {
        0..0
    };
    let piece_of = |group| {
        let piece = slice(mine.len(), kernel.size, group, groups.len());
        mine.start + piece.start..mine.start + piece.end
    };
    let far = || (0..groups.len()).filter(|&group| group != team.group());
    let work = Work {
        team,
        at,
        dest,
        kernel,
    };
    // SAFETY: both arrays hold `count` elements, and are the same or do not overlap; a PE writes
    // parts of its own `dest` that no other PE reads in that step, and all meet before one does.
    unsafe {
        team.meet_near(at);
        work.combine(source, mine.clone());
        team.meet(at);
        for group in far() {
            work.add(dest, piece_of(team.group()), groups[group].get(place));
        }
        team.meet(at);
        for group in far() {
            work.read(piece_of(group), groups[group].get(place));
        }
        team.meet_near(at);
        for other in (0..owners).filter(|&other| other != place) {
            work.read(slice_of(other), team.near().get(other));
        }
        team.meet(at);
    }
}

/// Arguments that all steps of a reduction have in common.
struct Work<'a> {
    team: &'a Team,
    at: Routine,
    dest: *mut u8,
    kernel: &'a Kernel,
}

impl Work<'_> {
    /// Puts the elements that this node's PEs have at `source`, combined, into this PE's `dest`:
    /// the elements `part`.
    ///
    /// # Safety
    /// As [`super::flat::reduce`]; nobody writes those elements of a source, or reads those of this PE's `dest`.
    unsafe fn combine(&self, source: *const u8, part: Range<usize>) {
        let (start, bytes) = (part.start * self.kernel.size, part.len() * self.kernel.size);
        let others = self
            .team
            .near()
            .iter()
            .filter(|&&index| index != self.team.me());
        // The own source first, which may be `dest` itself.
        // SAFETY: `dest` is writable for the part and `source` holds it; nobody writes those of a
        // source, or reads those of `dest`.
        unsafe {
            copy_own(self.dest.add(start), source.add(start), bytes);
            for index in others {
                self.add(source, part.clone(), Some(index));
            }
        }
    }

    /// Combines the elements `part` of this PE's `dest` with those that PE `of` has at `from`.
    ///
    /// # Safety
    /// As [`Work::combine`].
    unsafe fn add(&self, from: *const u8, part: Range<usize>, of: Option<&usize>) {
        let Some(&index) = of else { return };
        for_chunks(part, self.kernel.size, |start, bytes| {
            let mut chunk = Chunk::new();
            let (theirs, count) = (chunk.bytes(), bytes / self.kernel.size);
            // SAFETY: the chunk has room for the elements, and `dest` holds the part, which nobody
            // else uses meanwhile.
            unsafe {
                fetch(
                    self.team,
                    self.at,
                    theirs,
                    from.wrapping_add(start),
                    bytes,
                    index,
                );
                self.kernel.combine(self.dest.add(start), theirs, count);
            }
        });
    }

    /// Reads the elements `part` of PE `of`'s `dest` into the own.
    ///
    /// # Safety
    /// As [`Work::combine`].
    unsafe fn read(&self, part: Range<usize>, of: Option<&usize>) {
        let Some(&index) = of else { return };
        let place = self.dest.wrapping_add(part.start * self.kernel.size);
        let bytes = part.len() * self.kernel.size;
        // SAFETY: `dest` is writable for the part, which nobody reads meanwhile.
        unsafe { fetch(self.team, self.at, place, place, bytes, index) };
    }
}
