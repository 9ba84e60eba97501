//! The rest of functions that are mostly done by few instructions: calls at their ends, with the same
//! arguments.

use super::{Done, Engine, Guard, OK, REUSE, Sent, Source, code, ended, slice};
use std::ffi::c_int;

/// # Safety
/// As the C function of this name: as for all of these.
#[inline(never)]
pub(super) unsafe fn poll<G: Guard>(am: *const Engine<G>) -> c_int {
    // SAFETY: the engine is open.
    code(unsafe { (*am).poll() })
}

/// Sends a short request without arguments that does not go by a ring at once.
///
/// # Safety
/// The engine is open.
#[inline(never)]
pub(super) unsafe fn request_far<G: Guard>(am: *const Engine<G>, rank: u32, handler: u8) -> c_int {
    // SAFETY: the engine is open, and there are no arguments.
    unsafe {
        match (*am).request_short_far_now(rank, handler) {
            Sent::Yes => OK,
            Sent::No => request_short(am, rank, handler, std::ptr::null(), 0),
            _ => poll(am),
        }
    }
}

/// # Safety
/// The engine is open.
#[inline(never)]
pub(super) unsafe fn wake<G: Guard>(am: *const Engine<G>, rank: u32) -> c_int {
    // SAFETY: the engine is open.
    code(unsafe { (*am).wake(rank) })
}

/// Sends a short request with arguments that does not go by a ring at once.
///
/// # Safety
/// The engine is open, and the arguments are there.
#[inline(never)]
unsafe fn request_args_far<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    handler: u8,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the engine is open, and payload and arguments are there.
    unsafe {
        match (*am).request_args_far_now(rank, handler, slice(args, nargs as usize)) {
            Sent::Yes => OK,
            Sent::No => request_short(am, rank, handler, args, nargs),
            _ => poll(am),
        }
    }
}

/// Sends a medium request that does not go by a ring at once.
///
/// # Safety
/// The engine is open, and payload and arguments are there.
#[inline(never)]
pub(super) unsafe fn request_medium_far<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    handler: u8,
    payload: *const u8,
    bytes: usize,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the engine is open, and payload and arguments are there.
    unsafe {
        if nargs == 0 {
            match (*am).request_medium_far_now(rank, handler, slice(payload, bytes)) {
                Sent::Yes => return OK,
                Sent::No => {}
                _ => return poll(am),
            }
        }
        request_medium(am, rank, handler, payload, bytes, args, nargs)
    }
}

/// Sends a short request with arguments.
///
/// # Safety
/// The engine is open, and the arguments are there.
#[inline(never)]
pub(super) unsafe fn request_args<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    handler: u8,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the engine is open, and payload and arguments are there.
    unsafe {
        match (*am).request_args_now(rank, handler, slice(args, nargs as usize)) {
            Sent::Yes => OK,
            Sent::More => poll(am),
            Sent::Unheard => wake(am, rank),
            Sent::No => request_args_far(am, rank, handler, args, nargs),
        }
    }
}

/// # Safety
/// As the C function of this name.
#[inline(never)]
pub(super) unsafe fn request_short<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    handler: u8,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the engine is open, and the arguments are there.
    code(unsafe { (*am).request_short(rank, handler, slice(args, nargs as usize)) })
}

/// # Safety
/// As the C function of this name.
#[inline(never)]
pub(super) unsafe fn request_medium<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    handler: u8,
    payload: *const u8,
    bytes: usize,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the engine is open, and payload and arguments are there.
    code(unsafe {
        let args = slice(args, nargs as usize);
        (*am).request_medium(rank, handler, slice(payload, bytes), args)
    })
}

/// # Safety
/// As the C function of this name.
#[inline(never)]
pub(super) unsafe fn put<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    to: u64,
    from: *const u8,
    bytes: usize,
    flags: u32,
    done: *mut u64,
) -> c_int {
    // SAFETY: the engine is open; the rest is the caller's promise.
    if unsafe { (*am).put_beyond_now(rank, to, (from, bytes), Done::new(done)) } {
        return OK;
    }
    let source = if flags & REUSE != 0 {
        Source::Reused
    } else {
        Source::Kept
    };
    // SAFETY: the engine is open; the rest is the caller's promise.
    ended(unsafe { (*am).put(rank, to, (from, bytes), source, Done::new(done)) })
}

/// # Safety
/// As the C function of this name.
#[inline(never)]
pub(super) unsafe fn get<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    to: *mut u8,
    from: u64,
    bytes: usize,
    done: *mut u64,
) -> c_int {
    // SAFETY: the engine is open; the rest is the caller's promise.
    ended(unsafe { (*am).get(rank, (to, bytes), from, Done::new(done)) })
}
