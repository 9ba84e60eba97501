//! Atomic memory operations (OpenSHMEM 1.6, section 9.7).
//!
//! The nonblocking forms write the fetched value through `fetch`, which is valid after quiet.

#![expect(
    unsafe_code,
    reason = "C addresses of symmetric objects are passed on to the fabric"
)]

use crate::ctx::Context;
use crate::report;
use crate::routine::Routine;
pub use fi_provider::symmetric::atomic::{Integer, Word};
use std::ffi::c_int;

macro_rules! amos {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*), $far:ident: $kind:ident, $near_method:ident, $far_method:ident($($given:expr),*) $(-> $ret:tt)?;)*) => {$(
        $(#[$doc])* ///
        /// # Safety
        /// `dest` is symmetric and aligned for `T`.
        #[inline(always)]
        pub unsafe fn $name<T: $kind>(ctx: &Context, at: Routine, dest: *mut T $(, $arg: T)*, pe: c_int) $(-> $ret)? {
            // SAFETY: `dest` is symmetric and aligned for `T`.
            unsafe {
                match ctx.endpoint.$near_method(dest $(, $given)*, pe as u32) {
                    Some(done) => done,
                    None => $far(dest $(, $arg)*, pe, ctx, at),
                }
            }
        }

        /// # Safety
        /// As the near part.
        #[cold]
        #[inline(never)]
        unsafe fn $far<T: $kind>(dest: *mut T $(, $arg: T)*, pe: c_int, ctx: &Context, at: Routine) $(-> $ret)? {
            // SAFETY: `dest` is symmetric and aligned for `T`.
            match unsafe { ctx.endpoint.$far_method(dest $(, $given)*, pe as u32) } {
                Ok(done) => done,
                Err(error) => {
                    let name = report::object_name(at, "dest");
                    report::transfer_on(ctx, at, error, name, (dest.addr(), size_of::<T>()), pe)
                }
            }
        }
    )*};
}

amos! {
    /// Writes `value` (9.7.1.2).
    set(value), set_far: Word, atomic_set_near, atomic_set_far(value);
    /// Writes `value` and returns what was there (9.7.1.4).
    swap(value), swap_far: Word, atomic_swap_near, atomic_swap_far(value) -> T;
    /// Writes `value` where `cond` stands and returns what was there (9.7.1.3).
    compare_swap(cond, value), compare_swap_far: Integer, atomic_compare_swap_near, atomic_compare_swap_far(cond, value) -> T;
    /// Adds `value` (9.7.1.8).
    add(value), add_far: Integer, atomic_add_near, atomic_add_far(value);
    /// Adds `value` and returns what was there (9.7.1.7).
    fetch_add(value), fetch_add_far: Integer, atomic_fetch_add_near, atomic_fetch_add_far(value) -> T;
    /// Adds one (9.7.1.6).
    inc(), inc_far: Integer, atomic_add_near, atomic_add_far(T::ONE);
    /// Adds one and returns what was there (9.7.1.5).
    fetch_inc(), fetch_inc_far: Integer, atomic_fetch_add_near, atomic_fetch_add_far(T::ONE) -> T;
    /// Bitwise and (9.7.1.10).
    and(value), and_far: Integer, atomic_and_near, atomic_and_far(value);
    /// Bitwise or (9.7.1.12).
    or(value), or_far: Integer, atomic_or_near, atomic_or_far(value);
    /// Bitwise exclusive or (9.7.1.14).
    xor(value), xor_far: Integer, atomic_xor_near, atomic_xor_far(value);
    /// Bitwise and; returns what was there (9.7.1.9).
    fetch_and(value), fetch_and_far: Integer, atomic_fetch_and_near, atomic_fetch_and_far(value) -> T;
    /// Bitwise or; returns what was there (9.7.1.11).
    fetch_or(value), fetch_or_far: Integer, atomic_fetch_or_near, atomic_fetch_or_far(value) -> T;
    /// Bitwise exclusive or; returns what was there (9.7.1.13).
    fetch_xor(value), fetch_xor_far: Integer, atomic_fetch_xor_near, atomic_fetch_xor_far(value) -> T;
}

/// Reads the object on PE `pe` (9.7.1.1).
///
/// # Safety
/// `source` is symmetric and aligned for `T`.
#[inline(always)]
pub unsafe fn fetch<T: Word>(ctx: &Context, at: Routine, source: *const T, pe: c_int) -> T {
    let source = source.cast_mut();
    // SAFETY: `source` is symmetric and aligned for `T`, and only read.
    unsafe {
        match ctx.endpoint.atomic_fetch_near(source, pe as u32) {
            Some(value) => value,
            None => fetch_far(source, pe, ctx, at),
        }
    }
}

/// # Safety
/// As [`fetch`].
#[cold]
#[inline(never)]
unsafe fn fetch_far<T: Word>(source: *mut T, pe: c_int, ctx: &Context, at: Routine) -> T {
    // SAFETY: `source` is symmetric and aligned for `T`.
    match unsafe { ctx.endpoint.atomic_fetch_far(source, pe as u32) } {
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

/// Starts to read the object on PE `pe` (9.7.2.1).
///
/// # Safety
/// `source` is symmetric, `fetch` local and writable; both are aligned for `T`.
#[inline(always)]
pub unsafe fn fetch_nbi<T: Word>(
    ctx: &Context,
    at: Routine,
    fetch: *mut T,
    source: *const T,
    pe: c_int,
) {
    let source = source.cast_mut();
    // SAFETY: `source` is symmetric and aligned, and only read; `fetch` is local and aligned.
    unsafe {
        match ctx.endpoint.atomic_fetch_near(source, pe as u32) {
            Some(value) => fetch.write(value),
            None => fetch_nbi_far(source, fetch, pe, ctx, at),
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn fetch_nbi_far<T: Word>(
    source: *mut T,
    fetch: *mut T,
    pe: c_int,
    ctx: &Context,
    at: Routine,
) {
    // SAFETY: `source` is symmetric and aligned, and `fetch` the caller's until quiet, as 9.7.2
    // says.
    let started = unsafe { ctx.endpoint.atomic_fetch_start(source, fetch, pe as u32) };
    if let Err(error) = started {
        let place = (source.addr(), size_of::<T>());
        report::transfer_on(ctx, at, error, "source", place, pe);
    }
}

macro_rules! amos_nbi {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*), $far:ident: $kind:ident, $near_method:ident, $start_method:ident($($given:expr),*);)*) => {$(
        $(#[$doc])* ///
        /// # Safety
        /// `dest` is symmetric, `fetch` local and writable; both are aligned for `T`.
        #[inline(always)]
        pub unsafe fn $name<T: $kind>(ctx: &Context, at: Routine, fetch: *mut T, dest: *mut T $(, $arg: T)*, pe: c_int) {
            // SAFETY: `dest` is symmetric and aligned, `fetch` local and aligned.
            unsafe {
                match ctx.endpoint.$near_method(dest $(, $given)*, pe as u32) {
                    Some(old) => fetch.write(old),
                    None => $far(dest $(, $arg)*, fetch, pe, ctx, at),
                }
            }
        }

        #[cold]
        #[inline(never)]
        unsafe fn $far<T: $kind>(dest: *mut T $(, $arg: T)*, fetch: *mut T, pe: c_int, ctx: &Context, at: Routine) {
            // SAFETY: `dest` is symmetric and aligned, and `fetch` the caller's until quiet, as
            // 9.7.2 says.
            let started = unsafe { ctx.endpoint.$start_method(dest $(, $given)*, fetch, pe as u32) };
            if let Err(error) = started {
                report::transfer_on(ctx, at, error, "dest", (dest.addr(), size_of::<T>()), pe);
            }
        }
    )*};
}

amos_nbi! {
    /// Starts a swap (9.7.2.3).
    swap_nbi(value), swap_nbi_far: Word, atomic_swap_near, atomic_swap_start(value);
    /// Starts a compare-and-swap (9.7.2.2).
    compare_swap_nbi(cond, value), compare_swap_nbi_far: Integer, atomic_compare_swap_near, atomic_compare_swap_start(cond, value);
    /// Starts a fetch-and-increment (9.7.2.4).
    fetch_inc_nbi(), fetch_inc_nbi_far: Integer, atomic_fetch_add_near, atomic_fetch_add_start(T::ONE);
    /// Starts a fetch-and-add (9.7.2.5).
    fetch_add_nbi(value), fetch_add_nbi_far: Integer, atomic_fetch_add_near, atomic_fetch_add_start(value);
    /// Starts a fetch-and-and (9.7.2.6).
    fetch_and_nbi(value), fetch_and_nbi_far: Integer, atomic_fetch_and_near, atomic_fetch_and_start(value);
    /// Starts a fetch-and-or (9.7.2.7).
    fetch_or_nbi(value), fetch_or_nbi_far: Integer, atomic_fetch_or_near, atomic_fetch_or_start(value);
    /// Starts a fetch-and-xor (9.7.2.8).
    fetch_xor_nbi(value), fetch_xor_nbi_far: Integer, atomic_fetch_xor_near, atomic_fetch_xor_start(value);
}
