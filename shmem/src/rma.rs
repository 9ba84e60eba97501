//! Remote memory access (OpenSHMEM 1.6, section 9.6): p, g, put, get and their nonblocking forms.
//!
//! Each routine is the near part of the fabric's operation, in line, and a call, in the tail position, of
//! the far part with what is to be said when it fails. So the path to a peer of the node has no frame; and
//! the far part takes the arguments of the C routine first, so that none of them has to be moved.

#![expect(
    unsafe_code,
    reason = "C addresses of symmetric objects are passed on to the fabric"
)]

use crate::ctx::Context;
use crate::report::{self, Routine};
use std::ffi::c_int;

/// Writes one element to PE `pe`; `value` is taken over at once (9.6.1.2).
///
/// # Safety
/// `dest` is symmetric and aligned for `T`.
#[inline(always)]
pub unsafe fn p<T: Copy>(ctx: &Context, at: Routine, dest: *mut T, value: T, pe: c_int) {
    // SAFETY: the contract is the same.
    unsafe {
        if !ctx.endpoint.inject_near(value, dest, pe as u32) {
            p_far(dest, value, pe, ctx, at);
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn p_far<T: Copy>(dest: *mut T, value: T, pe: c_int, ctx: &Context, at: Routine) {
    // SAFETY: the contract is that of `p`.
    if let Err(error) = unsafe { ctx.endpoint.inject_far(value, dest, pe as u32) } {
        report::transfer_on(ctx, at, error, "dest", (dest.addr(), size_of::<T>()), pe);
    }
}

/// Reads one element from PE `pe` (9.6.1.6).
///
/// # Safety
/// `source` is symmetric and aligned for `T`, for which every bit pattern is valid.
#[inline(always)]
pub unsafe fn g<T: Copy>(ctx: &Context, at: Routine, source: *const T, pe: c_int) -> T {
    // SAFETY: the contract is the same.
    unsafe {
        match ctx.endpoint.read_element_near(source, pe as u32) {
            Some(value) => value,
            None => g_far(source, pe, ctx, at),
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn g_far<T: Copy>(source: *const T, pe: c_int, ctx: &Context, at: Routine) -> T {
    // SAFETY: the contract is that of `g`.
    match unsafe { ctx.endpoint.read_element_far(source, pe as u32) } {
        Ok(value) => value,
        Err(error) => report::transfer_on(
            ctx,
            at,
            error,
            "source",
            (source.addr(), size_of::<T>()),
            pe,
        ),
    }
}

macro_rules! transfers {
    ($($(#[$doc:meta])* $name:ident($dest:ident, $source:ident): $near:ident, $far:ident, $far_method:ident, $remote:ident $label:literal;)*) => {$(
        $(#[$doc])* ///
        /// `nelems` elements of `size_of::<T>()` bytes; 0 does nothing, whatever the addresses.
        ///
        /// # Safety
        /// The remote side is symmetric, the local side holds `nelems` elements, and they do not overlap
        /// unless they are the same.
        #[inline(always)]
        pub unsafe fn $name<T: Copy>(ctx: &Context, at: Routine, $dest: *mut T, $source: *const T, nelems: usize, pe: c_int) {
            // SAFETY: the contract is the same.
            unsafe {
                if !ctx.endpoint.$near($dest, $source, nelems, pe as u32) {
                    $far($dest, $source, nelems, pe, ctx, at);
                }
            }
        }

        #[cold]
        #[inline(never)]
        unsafe fn $far<T: Copy>($dest: *mut T, $source: *const T, nelems: usize, pe: c_int, ctx: &Context, at: Routine) {
            // SAFETY: the contract is that of the near part.
            if let Err(error) = unsafe { ctx.endpoint.$far_method($dest, $source, nelems, pe as u32) } {
                let bytes = nelems.saturating_mul(size_of::<T>());
                report::transfer_on(ctx, at, error, $label, ($remote.addr(), bytes), pe);
            }
        }
    )*};
}

transfers! {
    /// Writes elements to PE `pe`; `source` may be changed when the call returns (9.6.1.1).
    put(dest, source): write_near, put_far, write_far, dest "dest";
    /// Reads elements from PE `pe`; they are there when the call returns (9.6.1.5).
    get(dest, source): read_near, get_far, read_far, source "source";
    /// Starts to write elements; `source` stays as it is until quiet (9.6.2.1).
    put_nbi(dest, source): write_near, put_nbi_far, start_write_far, dest "dest";
    /// Starts to read elements; they are there after quiet (9.6.2.2).
    get_nbi(dest, source): read_near, get_nbi_far, start_read_far, source "source";
}
