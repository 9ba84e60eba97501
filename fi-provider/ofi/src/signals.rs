//! The process's signal handlers, which libraries replace as they are loaded: libpsm_infinipath.so.1,
//! which Debian's libfabric needs, takes SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGINT and SIGTERM, and
//! calls exit(1) in its handler.

use libc::{c_int, sigaction};

/// The last of the standard signals; behind it are those of the C library and real-time ones.
const LAST: c_int = 31;

/// The actions of all standard signals; none for those that have no action (SIGKILL, SIGSTOP).
pub(crate) struct Actions(Vec<Option<sigaction>>);

impl Actions {
    /// Returns the actions as they are now.
    pub(crate) fn read() -> Self {
        Self((1..=LAST).map(read).collect())
    }

    /// Sets the actions again that are others by now.
    pub(crate) fn restore(self) {
        for (signal, before) in (1..=LAST).zip(self.0) {
            let Some(before) = before else { continue };
            let is_same = |now: sigaction| {
                now.sa_sigaction == before.sa_sigaction && now.sa_flags == before.sa_flags
            };
            if read(signal).is_some_and(is_same) {
                continue;
            }
            // SAFETY: the action was the signal's before, and its handler is still there.
            unsafe { libc::sigaction(signal, &raw const before, std::ptr::null_mut()) };
        }
    }
}

fn read(signal: c_int) -> Option<sigaction> {
    // SAFETY: an all-zero action is a valid one to be filled in by the call.
    unsafe {
        let mut now: sigaction = std::mem::zeroed();
        let found = libc::sigaction(signal, std::ptr::null(), &raw mut now);
        (found == 0).then_some(now)
    }
}
