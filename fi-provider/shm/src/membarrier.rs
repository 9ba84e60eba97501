//! A barrier between processes of which one side is free: the other side, which needs it seldom, has
//! the kernel run it on the processors of all processes that take part (membarrier(2),
//! MEMBARRIER_CMD_GLOBAL_EXPEDITED).
//!
//! Where one side stores A, passes `light` and loads B, and the other one stores B, passes `heavy`
//! and loads A, one of the loads finds the other side's store.

use crate::sync::{Ordering, fence};
use std::sync::OnceLock;

/// Whether this process takes part.
static TAKES_PART: OnceLock<bool> = OnceLock::new();

/// Has this process take part. Returns whether the kernel lets it. The first call is quick as long as
/// there is one thread, and may take some 20 ms with more.
pub fn join() -> bool {
    *TAKES_PART.get_or_init(|| kernel::register() && heavy())
}

/// Returns whether this process takes part.
#[cfg(not(loom))]
pub(crate) fn has_joined() -> bool {
    TAKES_PART.get().copied().unwrap_or(false)
}

/// Orders every earlier store of a process that takes part before every later load, towards
/// [`heavy`]: the compiler alone is held back.
#[inline(always)]
pub(crate) fn light() {
    // The model checker knows no barriers but fences.
    #[cfg(loom)]
    fence(Ordering::SeqCst);
    // ORDERING: pairs with the barrier of `heavy`, wherever that finds this thread.
    #[cfg(not(loom))]
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
}

/// Orders every earlier store before every later load, towards [`light`] of all processes that take
/// part. Returns false where the kernel refuses it: then nothing is ordered.
#[cold]
pub(crate) fn heavy() -> bool {
    // ORDERING: for this thread, where the kernel runs it on the processors of others alone.
    fence(Ordering::SeqCst);
    kernel::run()
}

#[cfg(not(loom))]
mod kernel {
    #![expect(
        unsafe_code,
        reason = "makes a system call that libc has no function for"
    )]

    /// MEMBARRIER_CMD_GLOBAL_EXPEDITED and MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED of
    /// linux/membarrier.h.
    const RUN: libc::c_int = 1 << 1;
    const REGISTER: libc::c_int = 1 << 2;

    pub(super) fn register() -> bool {
        command(REGISTER)
    }

    pub(super) fn run() -> bool {
        command(RUN)
    }

    fn command(command: libc::c_int) -> bool {
        // SAFETY: the call takes numbers alone.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
}

#[cfg(loom)]
mod kernel {
    pub(super) fn register() -> bool {
        true
    }

    pub(super) fn run() -> bool {
        true
    }
}
