//! Memory management (OpenSHMEM 1.6, section 9.3): the routines on the symmetric heap.
//!
//! All are collective over all PEs, with equal arguments: every PE does the same bookkeeping on its own
//! [`crate::heap::Heap`], and so gets the same offset, or null, without asking the others.

#![expect(unsafe_code, reason = "clears and moves the contents of the own heap")]

use crate::arena::Arena;
use crate::collective::barrier_all;
use crate::job::window::HEAP_ALIGN;
use crate::job::{self, Phase, Session, message};
use crate::report;
use crate::routine::Routine;
use fi_provider::node::segment::{discard, page_size};
use std::ffi::{c_long, c_void};
use std::ptr::null_mut;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

/// The alignment in bytes that suits every type.
const ANY_TYPE: usize = 16;

/// Blocks of at least so many bytes are cleared by giving their pages back.
const DISCARD_FROM: usize = 1 << 20;

/// Returns the session of an initialised library; ends the job with a message otherwise.
fn session(at: Routine) -> &'static Session {
    match job::session() {
        Some(session) => session,
        None => report::call(at, fi_provider::symmetric::Error::NotEnabled),
    }
}

impl Session {
    pub(crate) fn with_arena<R>(&self, f: impl FnOnce(&mut Arena) -> R) -> R {
        let mut arena = self.arena.lock().unwrap_or_else(PoisonError::into_inner);
        let result = f(&mut arena);
        if let Some(used) = arena.newly_used() {
            self.space.put_into_cores(used);
        }
        result
    }

    fn pointer(&self, offset: usize) -> *mut c_void {
        (self.space.base() + offset) as *mut c_void
    }

    /// Returns the offset of the block that starts at `ptr`, and its size; ends the job where there
    /// is none.
    fn block(&self, at: Routine, ptr: *mut c_void) -> (usize, usize) {
        let offset = ptr.addr().wrapping_sub(self.space.base());
        match self.with_arena(|arena| arena.size_of(offset)) {
            Some(size) => (offset, size),
            None => report::bad_argument(
                at,
                "ptr",
                format_args!("{ptr:p}"),
                "the start of a block of the symmetric heap that is in use",
            ),
        }
    }

    fn allocate(&self, at: Routine, size: usize, align: usize, clear: bool) -> *mut c_void {
        let block = self.with_arena(|arena| arena.alloc(size, align));
        if let (Some((offset, used_to)), true) = (block, clear) {
            let (start, end) = (self.space.base() + offset, self.space.base() + used_to);
            // SAFETY: the bytes belong to the new block, which nobody knows yet; a device that knows the pages
            // would go on writing to those that were given back.
            unsafe { zero(start, end, self.domain.all_near()) };
        }
        // SAFETY: the rules of threads: this call's own caller keeps to them.
        unsafe { barrier_all(at) };
        block.map_or_else(
            || self.no_room(at, size),
            |(offset, _)| self.pointer(offset),
        )
    }

    /// Returns null, and tells that there is no room for a block: once, on PE 0, as all PEs are refused
    /// the same.
    #[cold]
    fn no_room(&self, at: Routine, size: usize) -> *mut c_void {
        static IS_TOLD: AtomicBool = AtomicBool::new(false);
        // ORDERING: no other data is behind the flag.
        if job::my_pe() == 0 && !IS_TOLD.swap(true, Ordering::Relaxed) {
            let heap = self.space.range().len();
            message::say(format_args!(
                "{at}: no room for {size} bytes in the symmetric heap of {heap} (SHMEM_SYMMETRIC_SIZE)"
            ));
        }
        null_mut()
    }

    fn release(&self, at: Routine, offset: usize) {
        if let Err(error) = self.with_arena(|arena| arena.free(offset)) {
            message::fatal(format_args!("{at}: {error}"));
        }
    }
}

/// Clears the own heap from `start` to `end`; whole pages of large ranges are given back if that is allowed.
///
/// # Safety
/// The range lies in the heap's mapping and nobody uses its contents; where pages may be given back, no device knows them.
unsafe fn zero(start: usize, end: usize, may_discard: bool) {
    let page = page_size();
    let (first, last) = (start.next_multiple_of(page), end / page * page);
    let whole_pages = may_discard
        && end - start >= DISCARD_FROM
        // SAFETY: whole pages of the range, whose contents nobody uses.
        && unsafe { discard(first, last - first) }.is_ok();
    let clear = |from: usize, to: usize| {
        // SAFETY: a part of the range.
        unsafe { (from as *mut u8).write_bytes(0, to - from) };
    };
    if whole_pages {
        clear(start, first);
        clear(last, end);
    } else {
        clear(start, end);
    }
}

/// Allocates `size` bytes (9.3.1); null for 0, without a barrier, and where there is no room.
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn malloc(at: Routine, size: usize) -> *mut c_void {
    let session = session(at);
    if size == 0 {
        return null_mut();
    }
    session.allocate(at, size, ANY_TYPE, false)
}

/// Allocates `size` bytes for the uses that `hints` names (9.3.5). All of the heap is fit for them.
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn malloc_with_hints(at: Routine, size: usize, _hints: c_long) -> *mut c_void {
    // SAFETY: the rules of threads: this call's own caller keeps to them.
    unsafe { malloc(at, size) }
}

/// Allocates `size` bytes at a multiple of `alignment`, a power of two of at most 64 MiB (9.3.4).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn align(at: Routine, alignment: usize, size: usize) -> *mut c_void {
    let session = session(at);
    if size == 0 || !alignment.is_power_of_two() || alignment > HEAP_ALIGN {
        return null_mut();
    }
    session.allocate(at, size, alignment.max(ANY_TYPE), false)
}

/// Allocates `count` objects of `size` bytes, all zero (9.3.6); null when the product overflows.
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn calloc(at: Routine, count: usize, size: usize) -> *mut c_void {
    let session = session(at);
    match count.checked_mul(size) {
        None | Some(0) => null_mut(),
        Some(bytes) => session.allocate(at, bytes, ANY_TYPE, true),
    }
}

/// Frees the block at `ptr` (9.3.2), behind a barrier; null is left alone.
///
/// After the end of main, which finalises, it does nothing: destructors of static objects call it then.
///
/// # Safety
/// Nothing uses the block any more, on any PE.
pub unsafe fn free(at: Routine, ptr: *mut c_void) {
    if job::phase() == Phase::Ended {
        return;
    }
    let session = session(at);
    if ptr.is_null() {
        return;
    }
    let (offset, _) = session.block(at, ptr);
    // SAFETY: the rules of threads: this call's own caller keeps to them.
    unsafe { barrier_all(at) };
    session.release(at, offset);
}

/// Changes the size of the block at `ptr`, moving it where it must (9.3.3). Where that fails the block
/// stays as it is and the result is null.
///
/// # Safety
/// Nothing uses the block by its old address any more, on any PE.
pub unsafe fn realloc(at: Routine, ptr: *mut c_void, size: usize) -> *mut c_void {
    if ptr.is_null() {
        // SAFETY: the rules of threads: this call's own caller keeps to them.
        return unsafe { malloc(at, size) };
    }
    if size == 0 {
        // SAFETY: nothing uses the block any more, on any PE.
        unsafe { free(at, ptr) };
        return null_mut();
    }
    let session = session(at);
    let (offset, old_size) = session.block(at, ptr);
    // SAFETY: the rules of threads: this call's own caller keeps to them.
    unsafe { barrier_all(at) };
    if session.with_arena(|arena| arena.resize(offset, size)) {
        return ptr;
    }
    let moved = session.with_arena(|arena| arena.alloc(size, ANY_TYPE));
    if let Some((new, _)) = moved {
        let (from, to) = (session.pointer(offset), session.pointer(new));
        // SAFETY: two blocks in use, which do not overlap; peers are between the two barriers.
        unsafe {
            to.cast::<u8>()
                .copy_from_nonoverlapping(from.cast(), old_size.min(size))
        };
        session.release(at, offset);
    }
    // SAFETY: the rules of threads: this call's own caller keeps to them.
    unsafe { barrier_all(at) };
    moved.map_or_else(
        || session.no_room(at, size),
        |(new, _)| session.pointer(new),
    )
}
