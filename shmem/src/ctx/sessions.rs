//! Communication sessions (OpenSHMEM 1.6, section 9.9): hints about the operations that follow on a
//! context.
//!
//! None of them has an effect here. An operation is on its way when its call returns, for the price of a few dozen
//! instructions; to hold it back so as to send several at once would take more of them, and delay the first.

use super::{INVALID_HANDLE, created};
use crate::routine::Routine;
use std::ffi::c_long;

/// SHMEM_CTX_SESSION_BATCH: many small operations follow.
pub const SESSION_BATCH: c_long = 1 << 0;

/// SHMEM_CTX_SESSION_TOTAL_OPS: the bit for [`SessionConfig::total_ops`] in a configuration mask.
pub const SESSION_TOTAL_OPS: c_long = 1 << 0;

/// Configures a session beside its options (shmem_ctx_session_config_t, 9.9.1).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionConfig {
    /// The most operations that are expected.
    pub total_ops: usize,
}

/// Begins a session on a context (9.9.2), which has no effect; on SHMEM_CTX_INVALID nothing at all is done.
///
/// # Safety
/// None is needed; the configuration is not read.
pub unsafe fn session_start(
    at: Routine,
    ctx: usize,
    _options: c_long,
    _config: *const SessionConfig,
    _config_mask: c_long,
) {
    require(at, ctx);
}

/// Ends a session on a context (9.9.3), if there is one; on SHMEM_CTX_INVALID nothing is done.
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn session_stop(at: Routine, ctx: usize) {
    require(at, ctx);
}

fn require(at: Routine, ctx: usize) {
    if ctx != INVALID_HANDLE {
        created::running(at);
        created::require_context(at, ctx);
    }
}
