//! Strict mode: the device learns of every store to a doorbell page as it is made.
//!
//! The program's mappings of doorbell pages are made read-only. A store then faults, and the
//! handler of SIGSEGV does the instruction's work: it sends the bytes to the device, waits until
//! they are taken, and goes on behind the instruction. The page is never writable, so stores of
//! other threads cannot slip through, and each one is seen as it was made: address, length, bytes.

mod decode;
mod frame;
mod mappings;
mod pages;
mod signals;
mod stores;

pub(crate) use signals::watch;

use crate::{paths, wire};
use std::sync::OnceLock;

/// Returns true when the device wants to see stores.
pub(crate) fn is_wanted() -> bool {
    static WANTED: OnceLock<bool> = OnceLock::new();
    *WANTED.get_or_init(|| {
        paths::directory().is_some() && paths::variable(wire::STRICT_VARIABLE).is_some()
    })
}

/// Keeps errno over `act`: the program goes on with the errno that it had.
fn keeping_errno<T>(act: impl FnOnce() -> T) -> T {
    // SAFETY: the C library gives a valid pointer to the calling thread's own errno.
    let errno = unsafe { *libc::__errno_location() };
    let result = act();
    // SAFETY: the C library gives a valid pointer to the calling thread's own errno.
    unsafe { *libc::__errno_location() = errno };
    result
}

/// No signal is handled by this thread while this lives.
struct Blocked(u64);

/// Bytes of the kernel's set of signals.
const SET: usize = size_of::<u64>();

impl Blocked {
    fn new() -> Self {
        let (all, mut before) = (u64::MAX, 0_u64);
        set_mask(&all, Some(&mut before));
        Self(before)
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        set_mask(&self.0, None);
    }
}

/// Replaces this thread's set of blocked signals, past the C library.
fn set_mask(mask: &u64, before: Option<&mut u64>) {
    let before = before.map_or(std::ptr::null_mut(), |before| &raw mut *before);
    // SAFETY: both sets have the size that is given; the old one is null or may be written.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const *mask,
            before,
            SET,
        )
    };
}
