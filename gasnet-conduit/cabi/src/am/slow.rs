//! The rest of functions that are mostly done by few instructions: calls at their ends, with the same
//! arguments.

use super::{
    DONE, Done, Engine, Guard, Message, OK, REUSE, Replied, Sent, Source, Way, Word, code, ended,
    slice,
};
use std::ffi::c_int;

/// Polls where there is something to do.
///
/// # Safety
/// As the C function of this name: as for all of these.
#[inline(never)]
pub(super) unsafe fn poll<G: Guard>(am: *const Engine<G>) -> c_int {
    // SAFETY: the engine is open.
    unsafe {
        if (*am).attend() {
            return OK;
        }
        fail(am)
    }
}

/// Polls where there is an error to tell of.
///
/// # Safety
/// The engine is open.
#[cold]
#[inline(never)]
unsafe fn fail<G: Guard>(am: *const Engine<G>) -> c_int {
    // SAFETY: the engine is open.
    code(unsafe { (*am).poll() })
}

/// Sends a short request without arguments.
///
/// # Safety
/// The engine is open.
#[inline(always)]
pub(super) unsafe fn request<G: Guard>(am: *const Engine<G>, rank: u32, handler: u8) -> c_int {
    // SAFETY: the engine is open, the way is that of this request, and there are no arguments.
    unsafe {
        match (*am).request_short_now(rank, handler) {
            Sent::Yes => OK,
            Sent::More => poll(am),
            Sent::Beyond(beyond) => request_far(am, rank, beyond.word(), beyond.way()),
            Sent::No => request_short(am, rank, handler, std::ptr::null(), 0),
        }
    }
}

/// Sends a medium request without arguments.
///
/// # Safety
/// The engine is open, and the payload is there.
#[inline(always)]
pub(super) unsafe fn request_with<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    handler: u8,
    payload: *const u8,
    bytes: usize,
) -> c_int {
    // SAFETY: the engine is open, the payload is there, and the way is that of this request.
    unsafe {
        match (*am).request_medium_now(rank, handler, slice(payload, bytes)) {
            Sent::Yes => OK,
            Sent::More => poll(am),
            Sent::Beyond(beyond) => {
                request_medium_far(am, rank, beyond.word(), payload, bytes, beyond.way())
            }
            Sent::No => request_medium_plain(am, rank, handler, payload, bytes),
        }
    }
}

/// Sends a short request without arguments over the device.
///
/// # Safety
/// The engine is open, and the way is that of this request.
#[inline(never)]
pub(super) unsafe fn request_far<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    word: Word,
    way: Way<'_>,
) -> c_int {
    // SAFETY: the engine is open, and the way is that of this request.
    unsafe {
        match (*am).request_short_beyond(word, way) {
            Sent::Yes => OK,
            Sent::No => request_again(am, rank, word.handler()),
            _ => poll(am),
        }
    }
}

/// Sends a short request without arguments where the device has found no room in few instructions.
///
/// # Safety
/// The engine is open.
#[inline(never)]
unsafe fn request_again<G: Guard>(am: *const Engine<G>, rank: u32, handler: u8) -> c_int {
    // SAFETY: the engine is open, and there are no arguments.
    unsafe {
        if (*am).widen(rank) {
            return request(am, rank, handler);
        }
        request_short(am, rank, handler, std::ptr::null(), 0)
    }
}

/// Sends a short request with arguments over the device.
///
/// # Safety
/// The engine is open, the arguments are there, and the way is that of this request.
#[inline(never)]
unsafe fn request_args_far<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    handler: u8,
    args: *const u32,
    nargs: u32,
    way: Way<'_>,
) -> c_int {
    // SAFETY: the engine is open, the arguments are there, and the way is that of this request.
    unsafe {
        match (*am).request_args_beyond(handler, slice(args, nargs as usize), way) {
            Sent::Yes => OK,
            Sent::No => request_args_again(am, rank, handler, args, nargs),
            _ => poll(am),
        }
    }
}

/// Does as [`request_again`], with arguments.
///
/// # Safety
/// The engine is open, and the arguments are there.
#[inline(never)]
unsafe fn request_args_again<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    handler: u8,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the engine is open, and the arguments are there.
    unsafe {
        if (*am).widen(rank) {
            return request_args(am, rank, handler, args, nargs);
        }
        request_short(am, rank, handler, args, nargs)
    }
}

/// Sends a medium request without arguments over the device.
///
/// # Safety
/// The engine is open, the payload is there, and the way is that of this request.
#[inline(never)]
pub(super) unsafe fn request_medium_far<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    word: Word,
    payload: *const u8,
    bytes: usize,
    way: Way<'_>,
) -> c_int {
    // SAFETY: the engine is open, the payload is there, and the way is that of this request.
    unsafe {
        match (*am).request_medium_beyond(word, (payload, bytes), way) {
            Sent::Yes => OK,
            Sent::No => request_medium_again(am, rank, word.handler(), payload, bytes),
            Sent::Beyond(_) => request_medium_by_others(am, rank, word, payload, bytes, way),
            Sent::More => poll(am),
        }
    }
}

/// Does as [`request_medium_far`], which has just left this to other queues.
///
/// # Safety
/// As [`request_medium_far`].
#[inline(never)]
unsafe fn request_medium_by_others<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    word: Word,
    payload: *const u8,
    bytes: usize,
    way: Way<'_>,
) -> c_int {
    // SAFETY: the engine is open, the payload is there, and the way is that of this request.
    unsafe {
        match (*am).request_medium_by_other_queues(word, (payload, bytes), way) {
            Sent::Yes => OK,
            Sent::No => request_medium_again(am, rank, word.handler(), payload, bytes),
            _ => poll(am),
        }
    }
}

/// Does as [`request_again`], for a medium one.
///
/// # Safety
/// The engine is open, and the payload is there.
#[inline(never)]
unsafe fn request_medium_again<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    handler: u8,
    payload: *const u8,
    bytes: usize,
) -> c_int {
    // SAFETY: the engine is open, and the payload is there.
    unsafe {
        if (*am).widen(rank) {
            return request_with(am, rank, handler, payload, bytes);
        }
        request_medium_plain(am, rank, handler, payload, bytes)
    }
}

/// Sends a medium request without arguments, by more instructions.
///
/// # Safety
/// The engine is open, and the payload is there.
#[inline(never)]
pub(super) unsafe fn request_medium_plain<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    handler: u8,
    payload: *const u8,
    bytes: usize,
) -> c_int {
    // SAFETY: the engine is open, and the payload is there.
    unsafe { request_medium(am, rank, handler, payload, bytes, std::ptr::null(), 0) }
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
            Sent::Beyond(beyond) => request_args_far(am, rank, handler, args, nargs, beyond.way()),
            Sent::No => request_short(am, rank, handler, args, nargs),
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

/// Sends a medium request with arguments.
///
/// # Safety
/// As the C function.
#[inline(never)]
pub(super) unsafe fn request_medium_args<G: Guard>(
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
        match nargs {
            1 | 2 => request_with_args::<_, 2>(am, rank, handler, payload, bytes, args, nargs),
            3 | 4 => request_with_args::<_, 3>(am, rank, handler, payload, bytes, args, nargs),
            _ => request_medium(am, rank, handler, payload, bytes, args, nargs),
        }
    }
}

/// Does as [`request_medium_args`] for arguments that take all of the `N` words but the first.
///
/// # Safety
/// As [`request_medium_args`].
#[inline(always)]
unsafe fn request_with_args<G: Guard, const N: usize>(
    am: *const Engine<G>,
    rank: u32,
    handler: u8,
    payload: *const u8,
    bytes: usize,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the engine is open, payload and arguments are there, and the way is that of this request.
    unsafe {
        let (held, given) = (slice(payload, bytes), slice(args, nargs as usize));
        match (*am).request_medium_args_now::<N>(rank, handler, held, given) {
            Sent::Yes => OK,
            Sent::More => poll(am),
            Sent::Beyond(beyond) => {
                let way = beyond.way();
                request_with_args_far::<_, N>(am, rank, handler, payload, bytes, args, nargs, way)
            }
            Sent::No => request_medium(am, rank, handler, payload, bytes, args, nargs),
        }
    }
}

/// Does as [`request_with_args`] over the device.
///
/// # Safety
/// As [`request_with_args`]; the way is that of this request.
#[inline(never)]
#[expect(
    clippy::too_many_arguments,
    reason = "those of the C function, and a way"
)]
unsafe fn request_with_args_far<G: Guard, const N: usize>(
    am: *const Engine<G>,
    rank: u32,
    handler: u8,
    payload: *const u8,
    bytes: usize,
    args: *const u32,
    nargs: u32,
    way: Way<'_>,
) -> c_int {
    // SAFETY: the engine is open, payload and arguments are there, and the way is that of this request.
    unsafe {
        let (held, given) = (slice(payload, bytes), slice(args, nargs as usize));
        match (*am).request_medium_args_beyond::<N>(handler, held, given, way) {
            Sent::Yes => OK,
            Sent::No => request_medium(am, rank, handler, payload, bytes, args, nargs),
            _ => poll(am),
        }
    }
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
    // SAFETY: the engine is open, and the rank one of the job's; the rest is the caller's promise.
    unsafe {
        let is_word = bytes == size_of::<u64>() && rank < (*am).ranks();
        if is_word && (*am).put_word_now(rank as usize, to, from, Done::new(done)) {
            return OK;
        }
        put_otherwise(am, rank, to, from, bytes, flags, done)
    }
}

/// # Safety
/// As the C function of this name.
#[inline(never)]
pub(super) unsafe fn put_word<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    to: u64,
    word: u64,
    done: *mut u64,
) -> c_int {
    let (from, bytes) = ((&raw const word).cast(), size_of::<u64>());
    // SAFETY: the engine is open; the word may be changed on return.
    unsafe {
        if (*am).put_now(rank, to, from, bytes) {
            return DONE;
        }
        put_otherwise(am, rank, to, from, bytes, REUSE, done)
    }
}

/// Does the work of [`put`], where that has found no room in few instructions.
///
/// # Safety
/// As [`put`].
#[inline(never)]
unsafe fn put_otherwise<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    to: u64,
    from: *const u8,
    bytes: usize,
    flags: u32,
    done: *mut u64,
) -> c_int {
    // SAFETY: the engine is open, and the rank one of the job's; the rest is the caller's promise.
    unsafe {
        let is_word = bytes == size_of::<u64>() && rank < (*am).ranks();
        if is_word && (*am).widen_words(rank as usize) {
            return put(am, rank, to, from, bytes, flags, done);
        }
        if (*am).put_beyond_now(rank, to, (from, bytes), Done::new(done)) {
            return OK;
        }
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
    // SAFETY: the engine is open, and the rank one of the job's; the rest is the caller's promise.
    unsafe {
        let is_word = bytes == size_of::<u64>() && rank < (*am).ranks();
        if is_word && (*am).get_word_now(rank as usize, to, from, Done::new(done)) {
            return OK;
        }
        get_otherwise(am, rank, to, from, bytes, done)
    }
}

/// Does the work of [`get`], where that has found no room in few instructions.
///
/// # Safety
/// As [`get`].
#[inline(never)]
unsafe fn get_otherwise<G: Guard>(
    am: *const Engine<G>,
    rank: u32,
    to: *mut u8,
    from: u64,
    bytes: usize,
    done: *mut u64,
) -> c_int {
    // SAFETY: the engine is open, and the rank one of the job's; the rest is the caller's promise.
    unsafe {
        let is_word = bytes == size_of::<u64>() && rank < (*am).ranks();
        if is_word
            && (*am).widen_words(rank as usize)
            && (*am).get_word_now(rank as usize, to, from, Done::new(done))
        {
            return OK;
        }
        ended((*am).get(rank, (to, bytes), from, Done::new(done)))
    }
}

/// Sends a short reply without arguments over the device.
///
/// # Safety
/// `request` is the message of the handler that runs: as for all of these.
#[inline(never)]
pub(super) unsafe fn reply_far(request: *const Message, handler: u8) -> c_int {
    // SAFETY: the message is there, and there are no arguments.
    unsafe {
        if (*request).reply_short_beyond(handler) {
            return OK;
        }
        reply_short(request, handler, std::ptr::null(), 0)
    }
}

/// Does the same with arguments.
///
/// # Safety
/// The arguments are there.
#[inline(never)]
unsafe fn reply_args_far(
    request: *const Message,
    handler: u8,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the message and the arguments are there.
    unsafe {
        if (*request).reply_args_beyond(handler, slice(args, nargs as usize)) {
            return OK;
        }
        reply_short(request, handler, args, nargs)
    }
}

/// Sends a short reply with arguments.
///
/// # Safety
/// As the C function of this name.
#[inline(never)]
pub(super) unsafe fn reply_args(
    request: *const Message,
    handler: u8,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the message and the arguments are there.
    unsafe {
        match (*request).reply_args_now(handler, slice(args, nargs as usize)) {
            Replied::Yes => OK,
            Replied::Beyond => reply_args_far(request, handler, args, nargs),
            Replied::No => reply_short(request, handler, args, nargs),
        }
    }
}

/// # Safety
/// As the C function of this name.
#[inline(never)]
pub(super) unsafe fn reply_short(
    request: *const Message,
    handler: u8,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the message and the arguments are there.
    code(unsafe { (*request).reply_short(handler, slice(args, nargs as usize)) })
}

/// Sends a medium reply with arguments.
///
/// # Safety
/// As the C function.
#[inline(never)]
pub(super) unsafe fn reply_medium_args(
    request: *const Message,
    handler: u8,
    payload: *const u8,
    bytes: usize,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the message, payload and arguments are there.
    unsafe {
        match nargs {
            1 | 2 => reply_with_args::<2>(request, handler, payload, bytes, args, nargs),
            3 | 4 => reply_with_args::<3>(request, handler, payload, bytes, args, nargs),
            _ => reply_medium(request, handler, payload, bytes, args, nargs),
        }
    }
}

/// Does as [`reply_medium_args`] for arguments that take all of the `N` words but the first.
///
/// # Safety
/// As [`reply_medium_args`].
#[inline(always)]
pub(super) unsafe fn reply_with_args<const N: usize>(
    request: *const Message,
    handler: u8,
    payload: *const u8,
    bytes: usize,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the message, payload and arguments are there.
    unsafe {
        let (held, given) = (slice(payload, bytes), slice(args, nargs as usize));
        match (*request).reply_medium_now::<N>(handler, held, given) {
            Replied::Yes => OK,
            Replied::Beyond => {
                reply_with_args_far::<N>(request, handler, payload, bytes, args, nargs)
            }
            Replied::No => reply_medium(request, handler, payload, bytes, args, nargs),
        }
    }
}

/// Does as [`reply_with_args`] over the device.
///
/// # Safety
/// As [`reply_with_args`].
#[inline(never)]
unsafe fn reply_with_args_far<const N: usize>(
    request: *const Message,
    handler: u8,
    payload: *const u8,
    bytes: usize,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the message, payload and arguments are there.
    unsafe {
        let (held, given) = (slice(payload, bytes), slice(args, nargs as usize));
        if (*request).reply_medium_beyond::<N>(handler, held, given) {
            return OK;
        }
        reply_medium(request, handler, payload, bytes, args, nargs)
    }
}

/// # Safety
/// As the C function of this name.
#[inline(never)]
pub(super) unsafe fn reply_medium(
    request: *const Message,
    handler: u8,
    payload: *const u8,
    bytes: usize,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the message, payload and arguments are there.
    code(unsafe {
        let args = slice(args, nargs as usize);
        (*request).reply_medium(handler, slice(payload, bytes), args)
    })
}
