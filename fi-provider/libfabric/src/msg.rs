//! Messages (fi_msg(3)).

use crate::info::INJECT_SIZE;
use crate::object::{Code, only, size};
use crate::quick;
use crate::transfer::{self, Buffer, Flags, Message, SENDMSG, Which, list, piece};
use fi_ofi_abi::*;
use fi_provider::raw::endpoint::{Endpoint, Few, Posted};
use std::ffi::c_void;
use std::hint::black_box;
use std::ptr::null_mut;

/// The functions in domains of several threads, and of one at a time.
pub(crate) static SAFE: FiOpsMsg = ops::<true>();
pub(crate) static ALONE: FiOpsMsg = ops::<false>();

pub(crate) const fn ops<const SAFE: bool>() -> FiOpsMsg {
    FiOpsMsg {
        size: size_of::<FiOpsMsg>(),
        recv: recv::<SAFE>,
        recvv,
        recvmsg,
        send,
        sendv,
        sendmsg,
        inject: inject::<SAFE>,
        senddata,
        injectdata,
    }
}

/// Flags of fi_recvmsg.
pub(crate) const RECVMSG: u64 = FI_MULTI_RECV | FI_COMPLETION | FI_TRANSMIT_COMPLETE | FI_MORE;

/// Makes a message of these pieces, without data, with the endpoint's flags.
fn plain(pieces: &[Iovec], to: u64, context: *mut c_void) -> Message<'_> {
    Message {
        pieces,
        tag: None,
        data: None,
        to,
        context,
        flags: Flags::Usual,
    }
}

/// Makes a buffer of these pieces, with the endpoint's flags.
fn buffer(pieces: &[Iovec], from: u64, context: *mut c_void) -> Buffer<'_> {
    Buffer {
        pieces,
        which: Which::Untagged,
        from,
        context,
        flags: None,
    }
}

unsafe extern "C" fn send(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    _desc: *mut c_void,
    to: u64,
    context: *mut c_void,
) -> isize {
    let bytes = [piece(message, len)];
    // SAFETY: the application leaves the bytes as they are until the completion, by fi_msg(3).
    unsafe { transfer::send(ep, plain(&bytes, to, context)) }
}

unsafe extern "C" fn sendv(
    ep: *mut FidEp,
    pieces: *const Iovec,
    _desc: *mut *mut c_void,
    count: usize,
    to: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: `pieces` leads to `count` pieces, whose bytes the application leaves as they are
    // until the completion, by fi_msg(3).
    unsafe {
        match list(pieces, count) {
            Ok(pieces) => transfer::send(ep, plain(pieces, to, context)),
            Err(code) => size(Err(code)),
        }
    }
}

unsafe extern "C" fn sendmsg(ep: *mut FidEp, message: *const FiMsg, flags: u64) -> isize {
    // SAFETY: `message` leads to a record with a list of pieces, whose bytes the application leaves
    // as they are until the completion, by fi_msg(3).
    unsafe {
        let message = &*message;
        let pieces = only(flags, SENDMSG | FI_TRIGGER);
        let pieces = pieces.and_then(|()| list(message.msg_iov, message.iov_count));
        match pieces {
            Ok(pieces) => {
                let wanted = Message {
                    data: (flags & FI_REMOTE_CQ_DATA != 0).then_some(message.data),
                    flags: Flags::Own(flags),
                    ..plain(pieces, message.addr, message.context)
                };
                transfer::send(ep, wanted)
            }
            Err(code) => size(Err(code)),
        }
    }
}

unsafe extern "C" fn inject<const SAFE: bool>(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    to: u64,
) -> isize {
    let Some(turn) = quick::turn_now::<SAFE>(ep) else {
        // SAFETY: `message` holds the bytes during the call, by fi_msg(3).
        return unsafe { inject_slowly(ep, message, len, to) };
    };
    if let Some((_, raw)) = quick::quick(ep, &turn) {
        // SAFETY: `message` holds the bytes, by fi_msg(3).
        match unsafe { raw.inject_few(to, message.cast(), len) } {
            Few::Sent => return 0,
            Few::Untold => {
                turn.leave();
                // SAFETY: the turn is left to the function.
                return unsafe { wake_left::<SAFE>(ep, to) };
            }
            Few::Not => {}
        }
        turn.leave();
        // SAFETY: the turn is left to the function, and the endpoint is enabled; `message` holds the
        // bytes.
        return unsafe { inject_beyond::<SAFE>(ep, message, len, to) };
    }
    turn.leave();
    // SAFETY: the turn is left to the function; `message` holds the bytes during the call, by fi_msg(3).
    unsafe { inject_left::<SAFE>(ep, message, len, to) }
}

/// Wakes the peer to which a message is sent, in a turn that was left to it.
///
/// # Safety
/// As [`quick::in_left`].
#[cold]
#[inline(never)]
pub(crate) unsafe extern "C" fn wake_left<const SAFE: bool>(ep: *mut FidEp, to: u64) -> isize {
    let wake = |raw: &Endpoint| {
        raw.wake_peer(to);
        true
    };
    // SAFETY: the turn was left to this function.
    unsafe { quick::in_left::<SAFE>(ep, |_, raw| wake(raw)) };
    // Known to nobody, so that the caller ends with the call.
    black_box(0)
}

/// Sends a message that no ring has taken, or of more than few bytes, in a turn that was left to it.
/// Calls nothing but at its end.
///
/// # Safety
/// As [`quick::turn_left`]; `message` holds the bytes.
#[inline(never)]
unsafe extern "C" fn inject_beyond<const SAFE: bool>(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    to: u64,
) -> isize {
    // SAFETY: the turn was left to this function, which leaves it to the next; `message` holds the
    // bytes.
    unsafe {
        let (turn, raw) = quick::turn_left::<SAFE>(ep);
        if len == size_of::<u64>() && raw.inject_word_over_device(to, message.cast()) {
            return 0;
        }
        turn.leave();
        inject_left::<SAFE>(ep, message, len, to)
    }
}

/// Sends a message by more than few instructions, in a turn that was left to it.
///
/// # Safety
/// As [`quick::in_left`]; `message` holds the bytes.
#[inline(never)]
unsafe extern "C" fn inject_left<const SAFE: bool>(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    to: u64,
) -> isize {
    // SAFETY: the turn was left to this function; `message` holds the bytes.
    let is_done = unsafe {
        quick::in_left::<SAFE>(ep, |_, raw| {
            if len == size_of::<u64>() {
                return raw.widen_to(to) && raw.inject_word_over_device(to, message.cast());
            }
            len <= INJECT_SIZE && raw.inject_now(to, bytes(message, len))
        })
    };
    if is_done {
        return 0;
    }
    // SAFETY: `message` holds the bytes during the call.
    unsafe { inject_slowly(ep, message, len, to) }
}

#[inline(never)]
unsafe extern "C" fn inject_slowly(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    to: u64,
) -> isize {
    let bytes = [piece(message, len)];
    let message = Message {
        flags: Flags::Inject,
        ..plain(&bytes, to, null_mut())
    };
    // SAFETY: the piece holds the bytes, by fi_msg(3), and they are taken over at once.
    unsafe { transfer::send(ep, message) }
}

/// Returns the bytes at an address, which may be any where there are none.
///
/// # Safety
/// `message` holds the bytes as long as the slice is used.
#[inline(always)]
pub(crate) unsafe fn bytes<'a>(message: *const c_void, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: there are so many bytes, at an address that is not NULL.
    unsafe { std::slice::from_raw_parts(message.cast(), len) }
}

unsafe extern "C" fn senddata(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    _desc: *mut c_void,
    data: u64,
    to: u64,
    context: *mut c_void,
) -> isize {
    let bytes = [piece(message, len)];
    let message = Message {
        data: Some(data),
        ..plain(&bytes, to, context)
    };
    // SAFETY: the application leaves the bytes as they are until the completion, by fi_msg(3).
    unsafe { transfer::send(ep, message) }
}

unsafe extern "C" fn injectdata(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    data: u64,
    to: u64,
) -> isize {
    let bytes = [piece(message, len)];
    let message = Message {
        data: Some(data),
        flags: Flags::Inject,
        ..plain(&bytes, to, null_mut())
    };
    // SAFETY: the piece holds the bytes, by fi_msg(3), and they are taken over at once.
    unsafe { transfer::send(ep, message) }
}

unsafe extern "C" fn recv<const SAFE: bool>(
    ep: *mut FidEp,
    buffer: *mut c_void,
    len: usize,
    desc: *mut c_void,
    from: u64,
    context: *mut c_void,
) -> isize {
    let number = context.addr() as u64;
    let Some(turn) = quick::turn_now::<SAFE>(ep) else {
        // SAFETY: the application leaves the buffer alone until its completion, by fi_msg(3).
        return unsafe { recv_slowly(ep, buffer, len, desc, from, context) };
    };
    if let Some((own, raw)) = quick::quick(ep, &turn)
        && own.posts_plainly(number, from)
        // SAFETY: the application leaves the buffer alone until its completion, by fi_msg(3).
        && unsafe { raw.post_receive_now(buffer.cast(), len, number) }
    {
        return 0;
    }
    turn.leave();
    // SAFETY: the turn is left to the function; the application leaves the buffer alone until its
    // completion, by fi_msg(3).
    unsafe { recv_left::<SAFE>(ep, buffer, len, desc, from, context) }
}

/// Posts a buffer for which messages may wait, in a turn that was left to it.
///
/// # Safety
/// As [`quick::in_left`]; the application leaves the buffer alone until its completion.
#[inline(never)]
unsafe extern "C" fn recv_left<const SAFE: bool>(
    ep: *mut FidEp,
    buffer: *mut c_void,
    len: usize,
    desc: *mut c_void,
    from: u64,
    context: *mut c_void,
) -> isize {
    let number = context.addr() as u64;
    let posted = Posted {
        context: number,
        source: None,
        least: None,
    };
    // SAFETY: the turn was left to this function; the application leaves the buffer alone until its
    // completion.
    unsafe {
        let is_done = quick::in_left::<SAFE>(ep, |own, raw| {
            let is_plain = own.posts_plainly(number, from);
            if is_plain {
                raw.post_receive(buffer.cast(), len, posted);
            }
            is_plain
        });
        if is_done {
            return 0;
        }
        recv_slowly(ep, buffer, len, desc, from, context)
    }
}

#[inline(never)]
unsafe extern "C" fn recv_slowly(
    ep: *mut FidEp,
    memory: *mut c_void,
    len: usize,
    _desc: *mut c_void,
    from: u64,
    context: *mut c_void,
) -> isize {
    let memory = [piece(memory, len)];
    // SAFETY: the application leaves the buffer alone until its completion, by fi_msg(3).
    size(unsafe { transfer::receive(ep, buffer(&memory, from, context)) }.map(|()| 0))
}

unsafe extern "C" fn recvv(
    ep: *mut FidEp,
    pieces: *const Iovec,
    _desc: *mut *mut c_void,
    count: usize,
    from: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: `pieces` leads to `count` pieces, which the application leaves alone until the
    // completion, by fi_msg(3).
    let posted = unsafe {
        list(pieces, count).and_then(|all| transfer::receive(ep, buffer(all, from, context)))
    };
    size(posted.map(|()| 0))
}

unsafe extern "C" fn recvmsg(ep: *mut FidEp, message: *const FiMsg, flags: u64) -> isize {
    // SAFETY: `message` leads to a record with a list of pieces, which the application leaves alone
    // until the completion, by fi_msg(3).
    let posted = unsafe {
        let message = &*message;
        let post = |pieces| -> Result<(), Code> {
            let wanted = Buffer {
                flags: Some(flags),
                ..buffer(pieces, message.addr, message.context)
            };
            transfer::receive(ep, wanted)
        };
        only(flags, RECVMSG | FI_TRIGGER)
            .and_then(|()| list(message.msg_iov, message.iov_count))
            .and_then(post)
    };
    size(posted.map(|()| 0))
}
