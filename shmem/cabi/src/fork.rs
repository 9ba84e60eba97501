//! The function that `fork.c` calls: `_Fork` of static executables.

use core::ffi::c_int;
use core::sync::atomic::AtomicI32;

/// # Safety
/// `fork` is the C library's `_Fork`, `threads` the lock of its lists of threads or null.
#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_fork_by(
    fork: unsafe extern "C" fn() -> c_int,
    threads: *const AtomicI32,
) -> c_int {
    // SAFETY: `fork` is the C library's `_Fork`, and `threads` null or its lock.
    unsafe { shmem::fork::by(fork, threads) }
}
