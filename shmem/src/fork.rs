//! fork: the child gets a private copy of the symmetric memory, and is not a PE.
//!
//! Shared mappings stay shared over fork, so that without this a child's writes to its globals would
//! change the parent's, and the parent's the child's. The child copies what has pages before fork returns
//! in either process. The peers' memory is not mapped in the child at all. (system, popen and
//! posix_spawn do not come by here: they share the parent's memory until they execute another program.)

#![expect(
    unsafe_code,
    reason = "fork handlers, pipes, and the replacement of mappings in the child"
)]

use crate::job::{self, Phase};
use fi_provider::memory::MemoryRegion;
use fi_provider::node::segment::Memfd;
use std::cell::Cell;
use std::ffi::c_int;

thread_local! {
    /// The pipe by which the child tells its parent that it has its copy: where to read and where to write, -1
    /// while there is none. Of the thread, because several may fork at once, and because statics of a static
    /// executable are shared by parent and child until the child has its copy.
    static PIPE: [Cell<c_int>; 2] = const { [Cell::new(-1), Cell::new(-1)] };
}

const READ_END: usize = 0;
const WRITE_END: usize = 1;

/// Registers the handlers, once for the life of the process.
pub(crate) fn install() {
    // SAFETY: the handlers are plain functions that live as long as the program.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

extern "C" fn before() {
    if job::phase() == Phase::Forked {
        // What this process has is its own already.
        return;
    }
    let mut ends = [-1; 2];
    // SAFETY: the array has room for two descriptors.
    unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    PIPE.with(|pipe| pipe[READ_END].set(ends[READ_END]));
    PIPE.with(|pipe| pipe[WRITE_END].set(ends[WRITE_END]));
}

extern "C" fn in_parent() {
    close(WRITE_END);
    let mut byte = 0_u8;
    let read_end = end(READ_END);
    // Ends with the byte, or with the child.
    // SAFETY: the buffer is one byte; a descriptor of -1 is refused.
    while unsafe { libc::read(read_end, (&raw mut byte).cast(), 1) } < 0
        && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
    {}
    close(READ_END);
}

extern "C" fn in_child() {
    if job::phase() == Phase::Forked {
        return;
    }
    close(READ_END);
    job::for_each_shared_region(|memory, region| {
        // SAFETY: in the child only this thread exists, and the region is its mapping of `memory`.
        if unsafe { make_private(memory, region) }.is_none() {
            // Going on would mean to write the parent's memory, and so would formatting a message.
            const WHY: &[u8] =
                b"farreach: fork: the system refuses the child memory for its copy of the symmetric memory\n";
            // SAFETY: the buffer has these bytes; _exit has no preconditions.
            unsafe {
                libc::write(libc::STDERR_FILENO, WHY.as_ptr().cast(), WHY.len());
                libc::_exit(crate::report::FAILURE)
            };
        }
    });
    job::become_child();
    let byte = 1_u8;
    // SAFETY: the buffer is one byte; a descriptor of -1 is refused.
    unsafe { libc::write(end(WRITE_END), (&raw const byte).cast(), 1) };
    close(WRITE_END);
}

/// The descriptor of one end of this thread's pipe.
fn end(which: usize) -> c_int {
    PIPE.with(|pipe| pipe[which].get())
}

fn close(which: usize) {
    // SAFETY: the descriptor is the pipe's, or -1, which is refused.
    unsafe { libc::close(PIPE.with(|pipe| pipe[which].replace(-1))) };
}

/// Puts a private copy of the region in its place.
///
/// # Safety
/// This thread is the only one, and the region is a mapping of `memory` in this process.
unsafe fn make_private(memory: &Memfd, region: &MemoryRegion) -> Option<()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping replaces nothing.
    let copy = unsafe { libc::mmap(std::ptr::null_mut(), region.len, access, flags, -1, 0) };
    if copy == libc::MAP_FAILED {
        return None;
    }
    let end = region.file_offset + region.len;
    let mut at = region.file_offset;
    // From here to the exchange nothing may write static data: plain copies and system calls only.
    while let Some((start, stop)) = memory.next_data(at, end) {
        let offset = start - region.file_offset;
        let source = (region.base + offset) as *const u8;
        // SAFETY: both ranges are mapped and apart.
        unsafe { source.copy_to_nonoverlapping(copy.cast::<u8>().add(offset), stop - start) };
        at = stop;
    }
    // SAFETY: the target is the region's own mapping, whose contents have been copied.
    let moved = unsafe {
        libc::mremap(
            copy,
            region.len,
            region.len,
            libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED,
            region.base as *mut libc::c_void,
        )
    };
    (moved != libc::MAP_FAILED).then_some(())
}
