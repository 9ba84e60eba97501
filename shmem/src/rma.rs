//! Remote memory access (OpenSHMEM 1.6, section 9.6): p, g, put, get and their nonblocking forms.
//!
//! Each routine is the fabric's operation on behalf of the context, in line.

#![expect(
    unsafe_code,
    reason = "C addresses of symmetric objects are passed on to the fabric"
)]

use crate::ctx::Context;
use crate::routine::Routine;
use fi_provider::symmetric::{element, range};
use std::ffi::c_int;

/// Writes one element to PE `pe`; `value` is taken over at once (9.6.1.2).
///
/// # Safety
/// `dest` is symmetric and aligned for `T`.
#[inline(always)]
pub unsafe fn p<T: Copy>(ctx: &Context, at: Routine, dest: *mut T, value: T, pe: c_int) {
    // SAFETY: the rules of threads: this one may use the context's endpoint. `dest` is symmetric
    // and aligned for `T`.
    unsafe { element::write(ctx, at, dest, value, pe as u32) }
}

/// Reads one element from PE `pe` (9.6.1.6).
///
/// # Safety
/// `source` is symmetric and aligned for `T`, for which every bit pattern is valid.
#[inline(always)]
pub unsafe fn g<T: Copy>(ctx: &Context, at: Routine, source: *const T, pe: c_int) -> T {
    // SAFETY: the rules of threads: this one may use the context's endpoint. `source` is symmetric
    // and aligned for `T`, for which every bit pattern is valid.
    unsafe { element::read(ctx, at, source, pe as u32) }
}

macro_rules! transfers {
    ($($(#[$doc:meta])* $name:ident: $operation:ident;)*) => {$(
        $(#[$doc])* ///
        /// Copies `nelems` elements of `size_of::<T>()` bytes; 0 does nothing, whatever the
        /// addresses.
        ///
        /// # Safety
        /// The remote side is symmetric, the local side holds `nelems` elements, and they do not
        /// overlap unless they are the same. The nonblocking forms need the local side left alone
        /// until quiet.
        #[inline(always)]
        pub unsafe fn $name<T: Copy>(
            ctx: &Context,
            at: Routine,
            dest: *mut T,
            source: *const T,
            nelems: usize,
            pe: c_int,
        ) {
            // SAFETY: the rules of threads: this one may use the context's endpoint. The local side
            // holds `nelems` elements, does not overlap the remote one unless it is the same, and
            // is left alone until quiet where the routine says so.
            unsafe { range::$operation(ctx, at, dest, source, nelems, pe as u32) }
        }
    )*};
}

transfers! {
    /// Writes elements to PE `pe`; `source` may be changed when the call returns (9.6.1.1).
    put: write;
    /// Reads elements from PE `pe`; they are there when the call returns (9.6.1.5).
    get: read;
    /// Starts to write elements; `source` stays as it is until quiet (9.6.2.1).
    put_nbi: start_write;
    /// Starts to read elements; they are there after quiet (9.6.2.2).
    get_nbi: start_read;
}
