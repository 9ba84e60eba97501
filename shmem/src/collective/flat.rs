//! Collectives in which every PE reads the data that it needs from the others' memory: all meet,
//! read, and meet again.
//!
//! On a node that is one copy, from the owner's source. The first meeting tells that all sources are complete, the
//! second that everybody has read them.

#![expect(
    unsafe_code,
    reason = "copies between arrays that C has given as symmetric"
)]

use super::combine::Kernel;
use super::party::{Party, fetch, near};
use crate::report;
use crate::routine::Routine;
use crate::strided::{self, Least};
use fi_provider::node::copy::copy;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Bytes that are reduced at a time: so that they stay in the processor's first cache.
const CHUNK: usize = 8192;

/// A chunk on the stack, aligned for every type.
#[repr(C, align(64))]
pub(super) struct Chunk(MaybeUninit<[u8; CHUNK]>);

impl Chunk {
    pub(super) fn new() -> Self {
        Self(MaybeUninit::uninit())
    }

    /// Returns the address of its bytes.
    pub(super) fn bytes(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// Copies within this PE, unless the ends are the same.
///
/// # Safety
/// The ranges are mapped and do not overlap unless they are equal.
#[inline]
pub(super) unsafe fn copy_own(dest: *mut u8, source: *const u8, bytes: usize) {
    if !std::ptr::eq(dest, source) {
        // SAFETY: the ranges are mapped, and do not overlap: they are not equal.
        unsafe { copy(dest, source, bytes) };
    }
}

/// Copies `root`'s `bytes` bytes at `source` to everybody's `dest`, but for its own.
///
/// # Safety
/// Both are arrays of `bytes` bytes on every PE that do not overlap.
pub(crate) unsafe fn broadcast(
    party: &impl Party,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: usize,
) {
    party.meet(at);
    if party.me() != root {
        // SAFETY: `dest` is writable for `bytes` bytes.
        unsafe { fetch(party, at, dest, source, bytes, root) };
    }
    party.meet(at);
}

/// Copies everybody's `bytes` bytes at `source`, one behind the other, to everybody's `dest`.
///
/// # Safety
/// `source` is an array of `bytes` bytes on every PE, and `dest` one of as many for each of them; they do not overlap.
pub(crate) unsafe fn fcollect(
    party: &impl Party,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
) {
    party.meet(at);
    for index in from_me(party) {
        // SAFETY: `dest` is writable for `bytes` bytes of each PE.
        unsafe { fetch(party, at, dest.add(index * bytes), source, bytes, index) };
    }
    party.meet(at);
}

/// Gathers as [`fcollect`] does, where each PE has its own number of elements of `size` bytes.
///
/// # Safety
/// `source` is an array of `count` elements, and `dest` one of as many as all have together; they do not overlap.
pub(crate) unsafe fn collect(
    party: &impl Party,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    count: usize,
    size: usize,
) {
    party.publish(count);
    party.meet(at);
    let mut offset = 0;
    for index in 0..party.len() {
        let bytes = party.published(at, index).saturating_mul(size);
        // SAFETY: `dest` is writable for as many bytes as all have together, of which these are the
        // next.
        unsafe { fetch(party, at, dest.wrapping_add(offset), source, bytes, index) };
        offset += bytes;
    }
    party.meet(at);
}

/// Gathers as [`collect`] does, where this PE has been told how many bytes each has.
///
/// # Safety
/// `dest` is an array of as many bytes as `bytes` has together, which overlaps with no PE's source.
pub(crate) unsafe fn collect_told(
    party: &impl Party,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    bytes: &[usize],
) {
    party.meet(at);
    let mut offset = 0;
    for (index, &bytes) in bytes.iter().enumerate() {
        // SAFETY: `dest` is writable for as many bytes as all have together, of which these are the
        // next.
        unsafe { fetch(party, at, dest.wrapping_add(offset), source, bytes, index) };
        offset += bytes;
    }
    party.meet(at);
}

/// Copies the `me`th of everybody's blocks of `bytes` bytes at `source`, one behind the other, to
/// `dest`.
///
/// # Safety
/// Both are arrays of a block for each PE that do not overlap.
pub(crate) unsafe fn alltoall(
    party: &impl Party,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
) {
    party.meet(at);
    let mine = source.wrapping_add(party.me() * bytes);
    for index in from_me(party) {
        // SAFETY: `dest` is writable for `bytes` bytes of each PE.
        unsafe { fetch(party, at, dest.add(index * bytes), mine, bytes, index) };
    }
    party.meet(at);
}

/// Exchanges as [`alltoall`] does, for blocks of `count` elements, of which one is `dst` elements
/// behind the other in `dest`, and `sst` elements in `source`.
///
/// Ends the job, before anybody waits, where the blocks are not in the own symmetric memory.
///
/// # Safety
/// Both are arrays that hold the blocks of all PEs and do not overlap.
pub(crate) unsafe fn alltoalls<T: Copy>(
    party: &impl Party,
    at: Routine,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    count: usize,
) {
    let all = strided::shape(at, dst, sst, (1, count * party.len()), Least::One);
    for (stride, name, addr, of) in [
        ("dst", "dest", dest.addr(), all.dest_stride),
        ("sst", "source", source.addr(), all.source_stride),
    ] {
        let bytes = all.span(of).saturating_mul(size_of::<T>());
        if bytes > isize::MAX as usize {
            stride_too_great(at, stride, of, count, party.len());
        }
        near(party, at, name, addr, bytes, party.me());
    }
    party.meet(at);
    let block = count as isize;
    let mine = source.wrapping_offset(party.me() as isize * block * sst);
    for index in from_me(party) {
        let to = dest.wrapping_offset(index as isize * block * dst);
        let pe = party.pe(index) as std::ffi::c_int;
        // SAFETY: `dest` has room for the blocks of all PEs, a source that is not symmetric is
        // refused, and the arrays do not overlap.
        unsafe { strided::iget(crate::ctx::default_ctx(), at, to, mine, dst, sst, count, pe) };
    }
    party.meet(at);
}

/// Blocks of `count` elements for `pes` PEs are too long with a stride, the argument `name`.
#[cold]
#[inline(never)]
fn stride_too_great(at: Routine, name: &str, stride: usize, count: usize, pes: usize) -> ! {
    let allowed =
        format!("a stride for nelems {count} of {pes} PEs: the length is over PTRDIFF_MAX bytes");
    report::bad_argument(at, name, format_args!("{stride}"), &allowed)
}

/// Returns the numbers of a party, each PE's own first, so that not all read from one at the same
/// time.
fn from_me(party: &impl Party) -> impl Iterator<Item = usize> {
    let (me, len) = (party.me(), party.len());
    (me..len).chain(0..me)
}

/// Returns the part of `count` elements of `size` bytes that is number `index` of `parts`: whole
/// cache lines, but for the end.
pub(super) fn slice(count: usize, size: usize, index: usize, parts: usize) -> Range<usize> {
    let line = (64 / size).max(1);
    let each = count.div_ceil(parts).next_multiple_of(line);
    let start = (index * each).min(count);
    start..(start + each).min(count)
}

/// Combines all PEs' `source`, element by element, into every PE's `dest`.
///
/// On a node each PE does its slice, for all; nobody else touches it, so that both may be the same array.
///
/// # Safety
/// Both are arrays of `count` of the kernel's elements on every PE, which are equal or do not overlap.
pub(crate) unsafe fn reduce(
    party: &impl Party,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    count: usize,
    kernel: &Kernel,
) {
    if !party.is_near() {
        let all = 0..party.len();
        // SAFETY: both are arrays of `count` elements on every PE, which are equal or do not
        // overlap.
        return unsafe { reduce_by_reading(party, at, dest, source, count, kernel, all) };
    }
    party.meet(at);
    let mine = slice(count, kernel.size, party.me(), party.len());
    for_chunks(mine, kernel.size, |start, bytes| {
        let mut chunk = Chunk::new();
        let sum = chunk.bytes();
        let source = |index| near(party, at, "source", source.addr() + start, bytes, index);
        // SAFETY: the chunk holds the elements; the sources are complete, and so many bytes are in reach. Nobody else
        // uses these elements of any PE until all have met.
        unsafe {
            copy(sum, source(0) as *const u8, bytes);
            for index in 1..party.len() {
                kernel.combine(sum, source(index) as *const u8, bytes / kernel.size);
            }
            for index in from_me(party) {
                let to = near(party, at, "dest", dest.addr() + start, bytes, index);
                copy(to as *mut u8, sum, bytes);
            }
        }
    });
    party.meet(at);
}

/// Reduces as [`reduce`] does, of the PEs `of` only, each PE for itself: a chunk is written when
/// everybody has read it everywhere.
///
/// # Safety
/// As [`reduce`].
unsafe fn reduce_by_reading(
    party: &impl Party,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    count: usize,
    kernel: &Kernel,
    of: Range<usize>,
) {
    party.meet(at);
    for_chunks(0..count, kernel.size, |start, bytes| {
        let (mut chunk, mut other) = (Chunk::new(), Chunk::new());
        let (sum, other) = (chunk.bytes(), other.bytes());
        let source = source.wrapping_add(start);
        // SAFETY: both chunks hold the elements, which are written before they are read; this PE's part of `dest` is
        // written when nobody reads it any more.
        unsafe {
            sum.write_bytes(0, bytes);
            for index in of.clone() {
                if index == of.start {
                    fetch(party, at, sum, source, bytes, index);
                } else {
                    fetch(party, at, other, source, bytes, index);
                    kernel.combine(sum, other, bytes / kernel.size);
                }
            }
            party.meet(at);
            copy(dest.add(start), sum, bytes);
        }
    });
}

/// Combines the `source` of the PEs up to this one (`inclusive`) or before it into this PE's
/// `dest`; an exclusive scan gives the first of them zeros.
///
/// # Safety
/// As [`reduce`]; all bits zero is the operation's identity.
pub(crate) unsafe fn scan(
    party: &impl Party,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    count: usize,
    kernel: &Kernel,
    inclusive: bool,
) {
    if !party.is_near() {
        let of = 0..party.me() + usize::from(inclusive);
        // SAFETY: both are arrays of `count` elements on every PE, which are equal or do not
        // overlap.
        return unsafe { reduce_by_reading(party, at, dest, source, count, kernel, of) };
    }
    party.meet(at);
    let mine = slice(count, kernel.size, party.me(), party.len());
    for_chunks(mine, kernel.size, |start, bytes| {
        let (mut chunk, mut before) = (Chunk::new(), Chunk::new());
        let (sum, before) = (chunk.bytes(), before.bytes());
        // SAFETY: the chunks hold the elements; the sources are complete, and so many bytes are in
        // reach. Nobody else uses these elements of any PE until all have met, and where the arrays
        // are equal each is read before it is written.
        unsafe {
            sum.write_bytes(0, bytes);
            for index in 0..party.len() {
                let from = near(party, at, "source", source.addr() + start, bytes, index);
                let to = near(party, at, "dest", dest.addr() + start, bytes, index);
                copy(before, sum, bytes);
                kernel.combine(sum, from as *const u8, bytes / kernel.size);
                let result = if inclusive { sum } else { before };
                copy(to as *mut u8, result, bytes);
            }
        }
    });
    party.meet(at);
}

/// Calls `f` with the first byte and the bytes of each chunk of the elements `range`, of `size` bytes each.
pub(super) fn for_chunks(range: Range<usize>, size: usize, mut f: impl FnMut(usize, usize)) {
    let mut start = range.start;
    while start < range.end {
        let count = (range.end - start).min(CHUNK / size);
        f(start * size, count * size);
        start += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slices_follow_one_another_and_are_all(count in 0_usize..5000, parts in 1_usize..20, log in 0_u32..5) {
            let mut end = 0;
            for index in 0..parts {
                let part = slice(count, 1 << log, index, parts);
                prop_assert_eq!(part.start, end);
                end = part.end;
            }
            prop_assert_eq!(end, count);
        }

        #[test]
        fn chunks_are_no_longer_than_their_memory(start in 0_usize..5000, len in 0_usize..5000) {
            let mut next = start;
            for_chunks(start..start + len, 8, |at, bytes| {
                assert_eq!(at, next * 8);
                assert!(bytes > 0 && bytes <= CHUNK);
                next += bytes / 8;
            });
            prop_assert_eq!(next, start + len);
        }
    }
}
