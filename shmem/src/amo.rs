//! Atomic memory operations (OpenSHMEM 1.6, section 9.7).
//!
//! The nonblocking forms write the fetched value through `fetch`, which is valid after quiet.

#![expect(
    unsafe_code,
    reason = "C addresses of symmetric objects are passed on to the fabric"
)]

use crate::ctx::Context;
use crate::routine::Routine;
use fi_provider::symmetric::atomic;
pub use fi_provider::symmetric::atomic::{Integer, Word};
use std::ffi::c_int;

macro_rules! amos {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*): $kind:ident $(-> $ret:tt)?;)*) => {$(
        $(#[$doc])* ///
        /// # Safety
        /// `dest` is symmetric and aligned for `T`.
        #[inline(always)]
        pub unsafe fn $name<T: $kind>(
            ctx: &Context,
            at: Routine,
            dest: *mut T,
            $($arg: T,)*
            pe: c_int,
        ) $(-> $ret)? {
            // SAFETY: the rules of threads: this one may use the context's endpoint. `dest` is
            // symmetric and aligned for `T`.
            unsafe { atomic::$name(ctx, at, dest, $($arg,)* pe as u32) }
        }
    )*};
}

amos! {
    /// Writes `value` (9.7.1.2).
    set(value): Word;
    /// Writes `value` and returns the old value (9.7.1.4).
    swap(value): Word -> T;
    /// Writes `value` where `cond` stands and returns the old value (9.7.1.3).
    compare_swap(cond, value): Integer -> T;
    /// Adds `value` (9.7.1.8).
    add(value): Integer;
    /// Adds `value` and returns the old value (9.7.1.7).
    fetch_add(value): Integer -> T;
    /// Adds one (9.7.1.6).
    inc(): Integer;
    /// Adds one and returns the old value (9.7.1.5).
    fetch_inc(): Integer -> T;
    /// Combines by a bitwise and (9.7.1.10).
    and(value): Integer;
    /// Combines by a bitwise or (9.7.1.12).
    or(value): Integer;
    /// Combines by a bitwise exclusive or (9.7.1.14).
    xor(value): Integer;
    /// Combines by a bitwise and; returns the old value (9.7.1.9).
    fetch_and(value): Integer -> T;
    /// Combines by a bitwise or; returns the old value (9.7.1.11).
    fetch_or(value): Integer -> T;
    /// Combines by a bitwise exclusive or; returns the old value (9.7.1.13).
    fetch_xor(value): Integer -> T;
}

/// Reads the object on PE `pe` (9.7.1.1).
///
/// # Safety
/// `source` is symmetric and aligned for `T`.
#[inline(always)]
pub unsafe fn fetch<T: Word>(ctx: &Context, at: Routine, source: *const T, pe: c_int) -> T {
    // SAFETY: the rules of threads: this one may use the context's endpoint. `source` is symmetric
    // and aligned for `T`, and only read.
    unsafe { atomic::fetch(ctx, at, source.cast_mut(), pe as u32) }
}

/// Starts to read the object on PE `pe` (9.7.2.1).
///
/// # Safety
/// `source` is symmetric, `fetch` local, writable and left alone until quiet; both are aligned for
/// `T`.
#[inline(always)]
pub unsafe fn fetch_nbi<T: Word>(
    ctx: &Context,
    at: Routine,
    fetch: *mut T,
    source: *const T,
    pe: c_int,
) {
    // SAFETY: the rules of threads: this one may use the context's endpoint. `source` is symmetric
    // and aligned, and only read; `fetch` is local, aligned and left alone until quiet.
    unsafe { atomic::start_fetch(ctx, at, fetch, source.cast_mut(), pe as u32) }
}

macro_rules! amos_nbi {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*): $kind:ident, $operation:ident;)*) => {$(
        $(#[$doc])* ///
        /// # Safety
        /// `dest` is symmetric, `fetch` local, writable and left alone until quiet; both are
        /// aligned for `T`.
        #[inline(always)]
        pub unsafe fn $name<T: $kind>(
            ctx: &Context,
            at: Routine,
            fetch: *mut T,
            dest: *mut T,
            $($arg: T,)*
            pe: c_int,
        ) {
            // SAFETY: the rules of threads: this one may use the context's endpoint. `dest` is
            // symmetric and aligned; `fetch` is local, aligned and left alone until quiet.
            unsafe { atomic::$operation(ctx, at, fetch, dest, $($arg,)* pe as u32) }
        }
    )*};
}

amos_nbi! {
    /// Starts a swap (9.7.2.3).
    swap_nbi(value): Word, start_swap;
    /// Starts a compare-and-swap (9.7.2.2).
    compare_swap_nbi(cond, value): Integer, start_compare_swap;
    /// Starts a fetch-and-increment (9.7.2.4).
    fetch_inc_nbi(): Integer, start_fetch_inc;
    /// Starts a fetch-and-add (9.7.2.5).
    fetch_add_nbi(value): Integer, start_fetch_add;
    /// Starts a fetch-and-and (9.7.2.6).
    fetch_and_nbi(value): Integer, start_fetch_and;
    /// Starts a fetch-and-or (9.7.2.7).
    fetch_or_nbi(value): Integer, start_fetch_or;
    /// Starts a fetch-and-xor (9.7.2.8).
    fetch_xor_nbi(value): Integer, start_fetch_xor;
}
