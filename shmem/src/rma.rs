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
use crate::report;
use crate::routine::Routine;
use fi_provider::guard::{Alone, Counted, Guard, Kind, OnBoth, OnLane, OnRegister};
use fi_provider::symmetric::address_vector::Peer;
use fi_provider::symmetric::short::{Beyond, Injected, Written};
use std::ffi::c_int;

/// Writes one element to PE `pe`; `value` is taken over at once (9.6.1.2).
///
/// # Safety
/// `dest` is symmetric and aligned for `T`.
#[inline(always)]
pub unsafe fn p<T: Copy>(ctx: &Context, at: Routine, dest: *mut T, value: T, pe: c_int) {
    // SAFETY: `dest` is symmetric and aligned for `T`; `offset` and `record` are those of the
    // result of `inject_near`.
    unsafe {
        match ctx.endpoint.inject_near(value, dest, pe as u32) {
            Injected::Done => {}
            Injected::Beyond(Beyond { offset, record }) => {
                p_on_register(dest, value, offset, ctx, at, record);
            }
            Injected::Not => p_far(dest, value, pe, ctx, at),
        }
    }
}

/// On a lane whose registers other lanes ring; and the way to all other guards.
///
/// # Safety
/// As [`p`]; `offset` and `record` are those of the result of `inject_near`.
#[cold]
#[inline(never)]
unsafe fn p_on_register<T: Copy>(
    dest: *mut T,
    value: T,
    offset: usize,
    ctx: &Context,
    at: Routine,
    record: &Peer,
) {
    // SAFETY: `dest` is symmetric and aligned for `T`, the record is of the result of
    // `inject_near`, and the guard is the lane's.
    unsafe {
        let beyond = Beyond { offset, record };
        match ctx.endpoint.inject_on_register(value, beyond) {
            Some(true) => return,
            Some(false) => {
                return p_far(dest, value, ctx.endpoint.peer_of(record) as c_int, ctx, at);
            }
            None => {}
        }
        match ctx.endpoint.guard() {
            Kind::Alone => p_by::<T, Alone>(dest, value, offset, ctx, at, record),
            Kind::OnRegister => p_by::<T, OnRegister>(dest, value, offset, ctx, at, record),
            Kind::OnLane => p_by::<T, OnLane>(dest, value, offset, ctx, at, record),
            Kind::OnBoth => p_by::<T, OnBoth>(dest, value, offset, ctx, at, record),
            Kind::Counted => p_by::<T, Counted>(dest, value, offset, ctx, at, record),
        }
    }
}

/// # Safety
/// As [`p_on_register`]; `G` is the lane's guard.
#[cold]
#[inline(never)]
unsafe fn p_by<T: Copy, G: Guard>(
    dest: *mut T,
    value: T,
    offset: usize,
    ctx: &Context,
    at: Routine,
    record: &Peer,
) {
    // SAFETY: `dest` is symmetric and aligned for `T`, the record is of the result of
    // `inject_near`, and `G` is the lane's guard.
    unsafe {
        if !ctx
            .endpoint
            .inject_by::<T, G>(value, Beyond { offset, record })
        {
            p_far(dest, value, ctx.endpoint.peer_of(record) as c_int, ctx, at);
        }
    }
}

/// # Safety
/// As [`p`].
#[cold]
#[inline(never)]
unsafe fn p_far<T: Copy>(dest: *mut T, value: T, pe: c_int, ctx: &Context, at: Routine) {
    // SAFETY: `dest` is symmetric and aligned for `T`.
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
    // SAFETY: `source` is symmetric and aligned for `T`, for which every bit pattern is valid.
    unsafe {
        match ctx.endpoint.read_element_near(source, pe as u32) {
            Some(value) => value,
            None => g_far(source, pe, ctx, at),
        }
    }
}

/// # Safety
/// As [`g`].
#[cold]
#[inline(never)]
unsafe fn g_far<T: Copy>(source: *const T, pe: c_int, ctx: &Context, at: Routine) -> T {
    // SAFETY: `source` is symmetric and aligned for `T`, for which every bit pattern is valid.
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
    ($($(#[$doc:meta])* $name:ident($dest:ident, $source:ident): $near:ident, $far:ident, $far_method:ident, $remote:ident $label:literal $(, $short:ident)?;)*) => {$(
        $(#[$doc])* ///
        /// `nelems` elements of `size_of::<T>()` bytes; 0 does nothing, whatever the addresses.
        ///
        /// # Safety
        /// The remote side is symmetric, the local side holds `nelems` elements, and they do not overlap
        /// unless they are the same. The nonblocking forms need the local side left alone until
        /// quiet.
        #[inline(always)]
        pub unsafe fn $name<T: Copy>(ctx: &Context, at: Routine, $dest: *mut T, $source: *const T, nelems: usize, pe: c_int) {
            // SAFETY: the local side holds `nelems` elements, and does not overlap the remote one
            // unless it is the same.
            unsafe {
                transfers!(@near $near $far $($short)? (ctx, at, $dest, $source, nelems, pe));
            }
        }

        /// # Safety
        /// As the near part.
        #[cold]
        #[inline(never)]
        unsafe fn $far<T: Copy>($dest: *mut T, $source: *const T, nelems: usize, pe: c_int, ctx: &Context, at: Routine) {
            // SAFETY: the local side holds `nelems` elements, does not overlap the remote one
            // unless it is the same, and is left alone until quiet where the routine says so.
            if let Err(error) = unsafe { ctx.endpoint.$far_method($dest, $source, nelems, pe as u32) } {
                let bytes = nelems.saturating_mul(size_of::<T>());
                report::transfer_on(ctx, at, error, $label, ($remote.addr(), bytes), pe);
            }
        }
    )*};
    (@near $near:ident $far:ident ($ctx:ident, $at:ident, $dest:ident, $source:ident, $nelems:ident, $pe:ident)) => {
        if !$ctx.endpoint.$near($dest, $source, $nelems, $pe as u32) {
            $far($dest, $source, $nelems, $pe, $ctx, $at);
        }
    };
    (@near $near:ident $far:ident $short:ident ($ctx:ident, $at:ident, $dest:ident, $source:ident, $nelems:ident, $pe:ident)) => {
        match $ctx.endpoint.$near($dest, $source, $nelems, $pe as u32) {
            Written::Done => {}
            // What is too much to be multiplied is too much for any way.
            Written::Beyond(record) => {
                let bytes = $nelems.saturating_mul(size_of::<T>());
                $short($dest.cast(), $source.cast(), bytes, record, $ctx, $at);
            }
            Written::Not => $far($dest, $source, $nelems, $pe, $ctx, $at),
        }
    };
}

transfers! {
    /// Writes elements to PE `pe`; `source` may be changed when the call returns (9.6.1.1).
    put(dest, source): write_near, put_far, write_far, dest "dest", put_word;
    /// Reads elements from PE `pe`; they are there when the call returns (9.6.1.5).
    get(dest, source): read_near, get_far, read_far, source "source";
    /// Starts to write elements; `source` stays as it is until quiet (9.6.2.1).
    put_nbi(dest, source): write_near, put_nbi_far, start_write_far, dest "dest", put_nbi_word;
    /// Starts to read elements; they are there after quiet (9.6.2.2).
    get_nbi(dest, source): read_near, get_nbi_far, start_read_far, source "source";
}

/// What `put` and its nonblocking form do over the device with a few bytes, before anything that takes longer. Each part is called in
/// the tail position of the one before.
macro_rules! short {
    ($($word:ident, $block:ident, $short:ident, $far:ident;)*) => {$(
        /// # Safety
        /// As the near part, of whose result the record is; `source` holds `bytes` bytes.
        #[cold]
        #[inline(never)]
        unsafe fn $word(dest: *mut u8, source: *const u8, bytes: usize, record: &Peer, ctx: &Context, at: Routine) {
            // SAFETY: `source` holds `bytes` bytes and is apart from the target or the same; the
            // record is of the near part's result.
            unsafe {
                if bytes != size_of::<u64>() {
                    return $block(dest, source, bytes, record, ctx, at);
                }
                match ctx.endpoint.write_word(dest.addr(), source, record) {
                    Some(true) => {}
                    Some(false) => $far(dest, source, bytes, ctx.endpoint.peer_of(record) as c_int, ctx, at),
                    None => $short(dest, source, bytes, record, ctx, at),
                }
            }
        }

        /// # Safety
        /// As the part for a word.
        #[cold]
        #[inline(never)]
        unsafe fn $block(dest: *mut u8, source: *const u8, bytes: usize, record: &Peer, ctx: &Context, at: Routine) {
            // SAFETY: `source` holds `bytes` bytes and is apart from the target or the same; the
            // record is of the near part's result.
            unsafe {
                match ctx.endpoint.write_block(dest.addr(), source, bytes, record) {
                    Some(true) => {}
                    Some(false) => $far(dest, source, bytes, ctx.endpoint.peer_of(record) as c_int, ctx, at),
                    None => $short(dest, source, bytes, record, ctx, at),
                }
            }
        }

        /// # Safety
        /// As the part for a word.
        #[cold]
        #[inline(never)]
        unsafe fn $short(dest: *mut u8, source: *const u8, bytes: usize, record: &Peer, ctx: &Context, at: Routine) {
            // SAFETY: `source` holds `bytes` bytes and is apart from the target or the same; the
            // record is of the near part's result.
            unsafe {
                if !ctx.endpoint.write_short(dest.addr(), source, bytes, record) {
                    $far(dest, source, bytes, ctx.endpoint.peer_of(record) as c_int, ctx, at);
                }
            }
        }
    )*};
}

short! {
    put_word, put_block, put_short, put_far;
    put_nbi_word, put_nbi_block, put_nbi_short, put_nbi_far;
}
