//! Tagged messages (fi_tagged(3)).

use crate::ep::Object;
use crate::info::INJECT_SIZE;
use crate::msg::{bytes, wake_left};
use crate::object::{Code, object, only, size};
use crate::quick;
use crate::state::{Told, Turn, Wrong};
use crate::transfer::{self, Buffer, Flags, Message, SENDMSG, Which, list, piece};
use fi_ofi_abi::*;
use fi_provider::raw::address_vector::PeerIndex;
use fi_provider::raw::endpoint::{Endpoint, Few, Peeked, ReceiveContext, Wanted};
use std::ffi::c_void;
use std::ptr::null_mut;

/// The functions in domains of several threads, and of one at a time.
pub(crate) static SAFE: FiOpsTagged = ops::<true>();
pub(crate) static ALONE: FiOpsTagged = ops::<false>();

pub(crate) const fn ops<const SAFE: bool>() -> FiOpsTagged {
    FiOpsTagged {
        size: size_of::<FiOpsTagged>(),
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

/// The flags of fi_trecvmsg by which a message is looked at, kept, and dropped.
pub(crate) const LOOKS: u64 = FI_PEEK | FI_CLAIM | FI_DISCARD;
/// All its flags.
pub(crate) const RECVMSG: u64 = LOOKS | FI_COMPLETION | FI_TRANSMIT_COMPLETE | FI_MORE;
/// Results of looks that wait to be read, at most.
const MOST_HELD: usize = 1 << 16;

/// Makes a message of these pieces, without data, with the endpoint's flags.
fn plain(pieces: &[Iovec], to: u64, tag: u64, context: *mut c_void) -> Message<'_> {
    Message {
        pieces,
        tag: Some(tag),
        data: None,
        to,
        context,
        flags: Flags::Usual,
    }
}

unsafe extern "C" fn send(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    _desc: *mut c_void,
    to: u64,
    tag: u64,
    context: *mut c_void,
) -> isize {
    let bytes = [piece(message, len)];
    // SAFETY: the application leaves the bytes as they are until the completion, by fi_tagged(3).
    unsafe { transfer::send(ep, plain(&bytes, to, tag, context)) }
}

unsafe extern "C" fn sendv(
    ep: *mut FidEp,
    pieces: *const Iovec,
    _desc: *mut *mut c_void,
    count: usize,
    to: u64,
    tag: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: `pieces` leads to `count` pieces, whose bytes the application leaves as they are
    // until the completion, by fi_tagged(3).
    unsafe {
        match list(pieces, count) {
            Ok(pieces) => transfer::send(ep, plain(pieces, to, tag, context)),
            Err(code) => size(Err(code)),
        }
    }
}

unsafe extern "C" fn sendmsg(ep: *mut FidEp, message: *const FiMsgTagged, flags: u64) -> isize {
    // SAFETY: `message` leads to a record with a list of pieces, whose bytes the application leaves
    // as they are until the completion, by fi_tagged(3).
    unsafe {
        let message = &*message;
        let pieces = only(flags, SENDMSG | FI_TRIGGER);
        let pieces = pieces.and_then(|()| list(message.msg_iov, message.iov_count));
        match pieces {
            Ok(pieces) => {
                let wanted = Message {
                    data: (flags & FI_REMOTE_CQ_DATA != 0).then_some(message.data),
                    flags: Flags::Own(flags),
                    ..plain(pieces, message.addr, message.tag, message.context)
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
    tag: u64,
) -> isize {
    let Some(turn) = quick::turn_now::<SAFE>(ep) else {
        // SAFETY: `message` holds the bytes during the call, by fi_tagged(3).
        return unsafe { inject_slowly(ep, message, len, to, tag) };
    };
    if let Some((_, raw)) = quick::quick(ep, &turn) {
        // SAFETY: `message` holds the bytes, by fi_tagged(3).
        match unsafe { raw.inject_tagged_few(to, message.cast(), len, tag) } {
            Few::Sent => return 0,
            Few::Untold => {
                turn.leave();
                // SAFETY: the turn is left to the function.
                return unsafe { wake_left::<SAFE>(ep, to) };
            }
            Few::Not => {}
        }
    }
    turn.leave();
    // SAFETY: the turn is left to the function; `message` holds the bytes during the call, by
    // fi_tagged(3).
    unsafe { inject_left::<SAFE>(ep, message, len, to, tag) }
}

/// Sends a message that has more than few bytes, in a turn that was left to it.
///
/// # Safety
/// As [`quick::in_left`]; `message` holds the bytes.
#[inline(never)]
unsafe extern "C" fn inject_left<const SAFE: bool>(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    to: u64,
    tag: u64,
) -> isize {
    // SAFETY: the turn was left to this function; `message` holds the bytes.
    let is_done = unsafe {
        quick::in_left::<SAFE>(ep, |_, raw| {
            len <= INJECT_SIZE && raw.inject_tagged_now(to, bytes(message, len), tag)
        })
    };
    if is_done {
        return 0;
    }
    // SAFETY: `message` holds the bytes during the call.
    unsafe { inject_slowly(ep, message, len, to, tag) }
}

#[inline(never)]
unsafe extern "C" fn inject_slowly(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    to: u64,
    tag: u64,
) -> isize {
    let bytes = [piece(message, len)];
    let message = Message {
        flags: Flags::Inject,
        ..plain(&bytes, to, tag, null_mut())
    };
    // SAFETY: the piece holds the bytes, by fi_tagged(3), and they are taken over at once.
    unsafe { transfer::send(ep, message) }
}

unsafe extern "C" fn senddata(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    _desc: *mut c_void,
    data: u64,
    to: u64,
    tag: u64,
    context: *mut c_void,
) -> isize {
    let bytes = [piece(message, len)];
    let message = Message {
        data: Some(data),
        ..plain(&bytes, to, tag, context)
    };
    // SAFETY: the application leaves the bytes as they are until the completion, by fi_tagged(3).
    unsafe { transfer::send(ep, message) }
}

unsafe extern "C" fn injectdata(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    data: u64,
    to: u64,
    tag: u64,
) -> isize {
    let bytes = [piece(message, len)];
    let message = Message {
        data: Some(data),
        flags: Flags::Inject,
        ..plain(&bytes, to, tag, null_mut())
    };
    // SAFETY: the piece holds the bytes, by fi_tagged(3), and they are taken over at once.
    unsafe { transfer::send(ep, message) }
}

/// Makes a buffer of these pieces for a message of this tag but for these bits, with the endpoint's
/// flags.
fn buffer(
    pieces: &[Iovec],
    from: u64,
    (tag, ignore): (u64, u64),
    context: *mut c_void,
) -> Buffer<'_> {
    Buffer {
        pieces,
        which: Which::Tagged(tag, ignore),
        from,
        context,
        flags: None,
    }
}

unsafe extern "C" fn recv<const SAFE: bool>(
    ep: *mut FidEp,
    memory: *mut c_void,
    len: usize,
    desc: *mut c_void,
    from: u64,
    tag: u64,
    ignore: u64,
    context: *mut c_void,
) -> isize {
    let number = context.addr() as u64;
    let Some(turn) = quick::turn_now::<SAFE>(ep) else {
        // SAFETY: the application leaves the buffer alone until its completion, by fi_tagged(3).
        return unsafe { recv_slowly(ep, memory, len, desc, from, tag, ignore, context) };
    };
    let wanted = Wanted {
        tag,
        ignore,
        source: None,
    };
    if let Some((own, raw)) = quick::quick(ep, &turn)
        && own.posts_plainly(number, from)
        // SAFETY: the application leaves the buffer alone until its completion, by fi_tagged(3).
        && unsafe { raw.post_tagged_now(memory.cast(), len, wanted, number) }
    {
        return 0;
    }
    turn.leave();
    // SAFETY: the turn is left to the function; the application leaves the buffer alone until its
    // completion, by fi_tagged(3).
    unsafe { recv_left::<SAFE>(ep, memory, len, desc, from, tag, ignore, context) }
}

/// Posts a buffer for which messages may wait, in a turn that was left to it.
///
/// # Safety
/// As [`quick::in_left`]; the application leaves the buffer alone until its completion.
#[inline(never)]
unsafe extern "C" fn recv_left<const SAFE: bool>(
    ep: *mut FidEp,
    memory: *mut c_void,
    len: usize,
    desc: *mut c_void,
    from: u64,
    tag: u64,
    ignore: u64,
    context: *mut c_void,
) -> isize {
    let number = context.addr() as u64;
    let wanted = Wanted {
        tag,
        ignore,
        source: None,
    };
    // SAFETY: the turn was left to this function; the application leaves the buffer alone until its
    // completion.
    unsafe {
        let is_done = quick::in_left::<SAFE>(ep, |own, raw| {
            let is_plain = own.posts_plainly(number, from);
            if is_plain {
                raw.post_tagged(memory.cast(), len, wanted, number);
            }
            is_plain
        });
        if is_done {
            return 0;
        }
        recv_slowly(ep, memory, len, desc, from, tag, ignore, context)
    }
}

#[inline(never)]
unsafe extern "C" fn recv_slowly(
    ep: *mut FidEp,
    memory: *mut c_void,
    len: usize,
    _desc: *mut c_void,
    from: u64,
    tag: u64,
    ignore: u64,
    context: *mut c_void,
) -> isize {
    let memory = [piece(memory, len)];
    let wanted = buffer(&memory, from, (tag, ignore), context);
    // SAFETY: the application leaves the buffer alone until its completion, by fi_tagged(3).
    size(unsafe { transfer::receive(ep, wanted) }.map(|()| 0))
}

unsafe extern "C" fn recvv(
    ep: *mut FidEp,
    pieces: *const Iovec,
    _desc: *mut *mut c_void,
    count: usize,
    from: u64,
    tag: u64,
    ignore: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: `pieces` leads to `count` pieces, which the application leaves alone until the
    // completion, by fi_tagged(3).
    let posted = unsafe {
        list(pieces, count)
            .and_then(|pieces| transfer::receive(ep, buffer(pieces, from, (tag, ignore), context)))
    };
    size(posted.map(|()| 0))
}

unsafe extern "C" fn recvmsg(ep: *mut FidEp, message: *const FiMsgTagged, flags: u64) -> isize {
    // SAFETY: `message` leads to a record with a list of pieces, which the application leaves alone
    // until the completion, by fi_tagged(3).
    let posted = unsafe {
        let message = &*message;
        let which = match flags & LOOKS {
            0 => Some(Which::Tagged(message.tag, message.ignore)),
            FI_CLAIM => Some(Which::Claimed(message.tag)),
            _ => None,
        };
        let triggers = which.map_or(0, |_| FI_TRIGGER);
        only(flags, RECVMSG | triggers).and_then(|()| {
            let Some(which) = which else {
                return look(ep, message, flags & LOOKS);
            };
            let pieces = list(message.msg_iov, message.iov_count)?;
            let tags = (message.tag, message.ignore);
            let wanted = Buffer {
                which,
                flags: Some(flags),
                ..buffer(pieces, message.addr, tags, message.context)
            };
            transfer::receive(ep, wanted)
        })
    };
    size(posted.map(|()| 0))
}

/// Early tagged messages, of an endpoint or of a shared receive context.
pub(crate) trait EarlyMessages {
    fn peek(&self, wanted: Wanted) -> Option<Peeked>;
    fn claim(&self, wanted: Wanted, context: u64) -> Option<Peeked>;
    fn discard(&self, wanted: Wanted) -> Option<Peeked>;
    fn discard_claimed(&self, context: u64) -> Option<Peeked>;
}

macro_rules! early_messages {
    ($($of:ty),*) => {$(
        impl EarlyMessages for $of {
            fn peek(&self, wanted: Wanted) -> Option<Peeked> {
                self.peek(wanted)
            }

            fn claim(&self, wanted: Wanted, context: u64) -> Option<Peeked> {
                self.claim(wanted, context)
            }

            fn discard(&self, wanted: Wanted) -> Option<Peeked> {
                self.discard(wanted)
            }

            fn discard_claimed(&self, context: u64) -> Option<Peeked> {
                self.discard_claimed(context)
            }
        }
    )*};
}
early_messages!(Endpoint, ReceiveContext);

/// Looks for a message that has come, keeps it or drops it, and makes a completion of that.
fn look(ep: *mut FidEp, message: &FiMsgTagged, flags: u64) -> Result<(), Code> {
    let object = object!(Object, ep);
    let mut turn = object.shared.lock();
    // The message may have come, but not been seen.
    turn.progress();
    let ep = object.ep.get(&turn);
    let raw = ep.enabled()?;
    ep.receives_itself()?;
    let queue = ep.receive.get().ok_or(FI_ENOCQ)?.queue;
    let source = ep.source(message.addr)?;
    look_at(&mut turn, raw, (message, flags), source, queue)
}

/// Looks as the flags of a record say, among early messages of this source if it is given, and makes a
/// completion of that in the queue of this number.
pub(crate) fn look_at(
    turn: &mut Turn<'_>,
    early: &impl EarlyMessages,
    (message, flags): (&FiMsgTagged, u64),
    source: Option<PeerIndex>,
    queue: u64,
) -> Result<(), Code> {
    const PEEK_AND_CLAIM: u64 = FI_PEEK | FI_CLAIM;
    const PEEK_AND_DISCARD: u64 = FI_PEEK | FI_DISCARD;
    const CLAIM_AND_DISCARD: u64 = FI_CLAIM | FI_DISCARD;
    let queue = turn.queues.get(queue).ok_or(libc::EINVAL)?;
    if queue.held_many() >= MOST_HELD {
        return Err(libc::EAGAIN);
    }
    let claimed = message.context.addr() as u64;
    if flags & FI_CLAIM != 0 && claimed == 0 {
        return Err(libc::EINVAL);
    }
    let wanted = Wanted {
        tag: message.tag,
        ignore: message.ignore,
        source,
    };
    let found = match flags {
        FI_PEEK => early.peek(wanted),
        PEEK_AND_CLAIM => early.claim(wanted, claimed),
        PEEK_AND_DISCARD => early.discard(wanted),
        CLAIM_AND_DISCARD => Some(early.discard_claimed(claimed).ok_or(libc::EINVAL)?),
        _ => return Err(FI_EBADFLAGS),
    };
    let source = found.and_then(|found| found.source);
    let data = found.and_then(|found| found.data);
    let has_data = data.map_or(0, |_| FI_REMOTE_CQ_DATA);
    let told = Told {
        context: message.context,
        flags: FI_RECV | FI_TAGGED | has_data,
        len: found.map_or(0, |found| found.len),
        buffer: null_mut(),
        data: data.unwrap_or(0),
        source: source.map_or(FI_ADDR_NOTAVAIL, u64::from),
        tag: found.map_or(message.tag, |found| found.tag),
    };
    let missing = Wrong {
        told,
        code: libc::ENOMSG,
        cut: 0,
    };
    let told = found.map(|_| told).ok_or(missing);
    queue.hold_last(told);
    turn.tell_watchers();
    Ok(())
}
