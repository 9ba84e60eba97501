//! Put with signal and the signal operations (OpenSHMEM 1.6, section 9.8).

#![expect(
    unsafe_code,
    reason = "C addresses of symmetric objects are passed on to the fabric"
)]

use crate::amo;
use crate::ctx::Context;
use crate::report;
use crate::routine::Routine;
use crate::{rma, sync};
use std::ffi::c_int;

/// SHMEM_SIGNAL_SET: the signal replaces the value of the signal word.
pub const SIGNAL_SET: c_int = 0;
/// SHMEM_SIGNAL_ADD: the signal is added to the signal word.
pub const SIGNAL_ADD: c_int = 1;

macro_rules! put_signals {
    ($($(#[$doc:meta])* $name:ident: $put:ident;)*) => {$(
        $(#[$doc])* ///
        /// Puts `nelems` elements of `size_of::<T>()` bytes; with 0 only the signal is sent. `op`
        /// is [`SIGNAL_SET`] or [`SIGNAL_ADD`].
        ///
        /// # Safety
        /// `dest` and `sig` are symmetric, `sig` is aligned, and `source` holds `nelems` elements;
        /// nothing overlaps. The nonblocking form needs `source` left alone until quiet.
        #[inline(always)]
        #[expect(clippy::too_many_arguments, reason = "the standard's routine has them")]
        pub unsafe fn $name<T: Copy>(
            ctx: &Context,
            at: Routine,
            dest: *mut T,
            source: *const T,
            nelems: usize,
            sig: *mut u64,
            signal: u64,
            op: c_int,
            pe: c_int,
        ) {
            // SAFETY: `dest` is symmetric, `source` holds `nelems` elements, and they do not
            // overlap.
            unsafe { rma::$put(ctx, at, dest, source, nelems, pe) };
            ctx.endpoint.order_writes_before_atomics();
            // SAFETY: `sig` is symmetric and aligned.
            unsafe {
                match op {
                    SIGNAL_SET => signal_set(ctx, at, sig, signal, pe),
                    SIGNAL_ADD => signal_add(ctx, at, sig, signal, pe),
                    _ => report::bad_argument(at, "sig_op", format_args!("{op}"), "SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD"),
                }
            }
        }
    )*};
}

put_signals! {
    /// Puts elements and then updates the signal word on the same PE: a PE that sees the signal
    /// sees the elements (9.8.1).
    put_signal: put;
    /// Starts the work of [`put_signal`]; `source` stays as it is until quiet (9.8.2).
    put_signal_nbi: put_nbi;
}

/// Writes the signal word on PE `pe` atomically (9.8.5).
///
/// # Safety
/// `sig` is symmetric and aligned.
#[inline(always)]
pub unsafe fn signal_set(ctx: &Context, at: Routine, sig: *mut u64, signal: u64, pe: c_int) {
    // SAFETY: `sig` is symmetric and aligned.
    unsafe { amo::set(ctx, at, sig, signal, pe) }
}

/// Adds to the signal word on PE `pe` atomically (9.8.3).
///
/// # Safety
/// `sig` is symmetric and aligned.
#[inline(always)]
pub unsafe fn signal_add(ctx: &Context, at: Routine, sig: *mut u64, signal: u64, pe: c_int) {
    // SAFETY: `sig` is symmetric and aligned.
    unsafe { amo::add(ctx, at, sig, signal, pe) }
}

/// Reads the own signal word (9.8.4).
///
/// # Safety
/// `sig` is an aligned word of the calling PE.
#[inline(always)]
pub unsafe fn signal_fetch(at: Routine, sig: *const u64) -> u64 {
    sync::require_initialized(at);
    // SAFETY: `sig` is an aligned word of this PE.
    unsafe { <u64 as amo::Word>::fetch(sig.cast_mut()) }
}

/// Waits until the own signal word satisfies the comparison; returns the value that did (9.11.15).
///
/// # Safety
/// As [`signal_fetch`].
#[inline]
pub unsafe fn signal_wait_until(at: Routine, sig: *mut u64, cmp: c_int, value: u64) -> u64 {
    // SAFETY: `sig` is an aligned word of this PE.
    unsafe { sync::wait_for(at, sig, cmp, value) }
}
