//! Memory ordering (OpenSHMEM 1.6, section 9.12): fence, quiet, pe_quiet.

#![expect(
    unsafe_code,
    reason = "pe_quiet reads an array of PEs given by C; threads keep to rules"
)]

use crate::ctx::{self, Context};
use crate::report;
use crate::routine::Routine;
use fi_provider::symmetric::{Error, order};
use std::ffi::c_int;

/// Orders earlier puts and atomics on the context to each PE before later ones (9.12.1).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
#[inline(always)]
pub unsafe fn fence(ctx: &Context, at: Routine) {
    // SAFETY: the rules of threads: this one may use the context's endpoint.
    unsafe { order::fence(ctx, at) }
}

/// Returns when every earlier operation on the context is delivered (9.12.2).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
#[inline(always)]
pub unsafe fn quiet(ctx: &Context, at: Routine) {
    // SAFETY: the rules of threads: this one may use the context's endpoint.
    unsafe { order::quiet(ctx, at) }
}

/// Returns whether every earlier operation on the context is delivered, after one look at the
/// device.
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub(crate) unsafe fn try_quiet(ctx: &Context, at: Routine) -> bool {
    match ctx.endpoint.try_quiet() {
        Ok(is_quiet) => is_quiet,
        Err(error) => report::call_on(ctx, at, error),
    }
}

/// Returns on SHMEM_CTX_INVALID, which has no PEs and nothing to wait for; ends the job on any
/// other context, where the PE does not exist.
#[cold]
#[inline(never)]
fn no_pe(ctx: &Context, at: Routine, pe: c_int) {
    if ctx.endpoint.peer_count() > 0 {
        report::pe_out_of_range(ctx, at, pe);
    } else if !ctx::is_invalid(ctx) {
        report::call(at, Error::NotEnabled);
    }
}

/// Waits as [`quiet`] does, for the operations to the `count` PEs at `pes` (9.12.3).
///
/// # Safety
/// `pes` holds `count` numbers, unless `count` is 0.
#[inline]
pub unsafe fn pe_quiet(ctx: &Context, at: Routine, pes: *const c_int, count: usize) {
    for i in 0..count {
        // SAFETY: `pes` holds `count` numbers, and `i` is below that.
        let pe = unsafe { pes.add(i).read() };
        if pe as u32 >= ctx.endpoint.peer_count() {
            return no_pe(ctx, at, pe);
        }
    }
    if count > 0 {
        // SAFETY: the rules of threads: this call's own caller keeps to them.
        unsafe { quiet(ctx, at) };
    }
}
