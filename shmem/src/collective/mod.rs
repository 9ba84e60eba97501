//! Collective operations (OpenSHMEM 1.6, section 9.10): so far the barriers of all PEs.

mod barrier;
pub mod combine;
mod nodes;

pub(crate) use barrier::{barrier_kind, barriers_done, set_up, wait, wait_for_init};

use crate::ctx;
use crate::order;
use crate::report::Routine;
use crate::sync::require_initialized;

/// Waits for all PEs; every operation of theirs on the default context is delivered then (9.10.1).
#[inline]
pub fn barrier_all(at: Routine) {
    order::quiet(ctx::default_ctx(), at);
    wait(at);
}

/// Waits for all PEs; their stores to own memory are visible then (9.10.4).
#[inline]
pub fn sync_all(at: Routine) {
    require_initialized(at);
    wait(at);
}
