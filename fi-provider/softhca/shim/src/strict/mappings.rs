//! In strict mode the device hears of memory that is going to be unmapped, moved or emptied: hardware knows the pages that were
//! there when memory was registered, and would go on with those.
//!
//! Calls that the C library makes for itself, in `free`, do not go by here.

use super::{is_wanted, keeping_errno};
use crate::device;
use crate::wire::{Operation, pages};
use std::ffi::{c_int, c_long, c_void};

/// Tells the device of the addresses before the system call, as another thread may have them before
/// the call has come back.
fn tell(addr: *mut c_void, len: usize) {
    if is_wanted() && device::is_opened_here() {
        let pages = pages(addr.addr() as u64, len as u64);
        // Where there is no device any more, nobody needs to know.
        let _ = keeping_errno(|| device::request(Operation::Unmap, 0, pages));
    }
}

/// A system call with its result as an address.
macro_rules! address_of {
    ($number:ident, $($argument:expr),+) => {
        // SAFETY: nothing uses the mappings in the range that mmap(2) replaces or mremap(2) moves,
        // as both require of a C program.
        std::ptr::with_exposed_provenance_mut(unsafe { libc::syscall(libc::$number, $($argument),+) } as usize)
    };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(addr: *mut c_void, len: usize) -> c_int {
    tell(addr, len);
    // SAFETY: nothing uses the mappings in the range any more, as munmap(2) requires of a C
    // program.
    unsafe { libc::syscall(libc::SYS_munmap, addr, len) as c_int }
}

macro_rules! mapping {
    ($($name:ident)+) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(addr: *mut c_void, len: usize, rights: c_int, flags: c_int, fd: c_int, offset: c_long) -> *mut c_void {
            if flags & libc::MAP_FIXED != 0 {
                tell(addr, len);
            }
            address_of!(SYS_mmap, addr, len, rights, flags, fd, offset)
        }
    )+ };
}
mapping!(mmap mmap64);

/// Changes a mapping. It is variadic in C; the fifth argument counts with `MREMAP_FIXED` alone.
#[unsafe(no_mangle)]
unsafe extern "C" fn mremap(
    addr: *mut c_void,
    old: usize,
    new: usize,
    flags: c_int,
    to: *mut c_void,
) -> *mut c_void {
    if flags & libc::MREMAP_FIXED != 0 {
        tell(addr, old);
        tell(to, new);
    } else if new < old {
        tell(addr.wrapping_byte_add(new), old - new);
    }
    address_of!(SYS_mremap, addr, old, new, flags, to)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn madvise(addr: *mut c_void, len: usize, advice: c_int) -> c_int {
    if matches!(advice, libc::MADV_DONTNEED | libc::MADV_FREE) {
        tell(addr, len);
    }
    // SAFETY: nothing needs the contents of the range that the advice drops, as madvise(2) requires
    // of a C program.
    unsafe { libc::syscall(libc::SYS_madvise, addr, len, advice) as c_int }
}
