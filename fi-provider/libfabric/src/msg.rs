//! Messages (fi_msg(3)).

use crate::ep::{self, Object};
use crate::info::INJECT_SIZE;
use crate::object::{Code, object, only, size};
use crate::slab::is_number;
use crate::state::{Binding, Counts, Ep, Receive};
use fi_ofi_abi::*;
use fi_provider::raw::address_vector::PeerIndex;
use fi_provider::raw::completion::{Context, Counted, CountedContext, Silent};
use fi_provider::raw::endpoint::{Level, Posted};
use fi_provider::raw::error::Error;
use std::ffi::c_void;
use std::ptr::null_mut;

/// The functions in domains of several threads, and of one at a time.
pub(crate) static SAFE: FiOpsMsg = ops::<true>();
pub(crate) static ALONE: FiOpsMsg = ops::<false>();

const fn ops<const SAFE: bool>() -> FiOpsMsg {
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

/// Flags of one operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flags {
    /// Those of the endpoint: the call has none.
    Usual,
    /// Its own.
    Own(u64),
    /// Its bytes are taken over at once, and its success makes no completion.
    Inject,
}

/// How an operation reports, and when its bytes are free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) completes: bool,
    pub(crate) counts: bool,
    pub(crate) level: Level,
    pub(crate) injects: bool,
}

impl Flags {
    /// Finds out how an operation is done that an endpoint starts.
    pub(crate) fn how(self, ep: &Ep, what: Counts) -> How {
        let flags = match self {
            Self::Usual => ep.transmit_flags.get(),
            Self::Own(flags) => flags,
            Self::Inject => FI_INJECT,
        };
        let asks = flags & FI_COMPLETION != 0;
        let wants = |queue: Binding| asks || !queue.is_selective;
        How {
            completes: !matches!(self, Self::Inject) && ep.transmit.get().is_some_and(wants),
            counts: ep.counts(what),
            level: if flags & FI_DELIVERY_COMPLETE == 0 {
                Level::Free
            } else {
                Level::Delivered
            },
            injects: flags & FI_INJECT != 0,
        }
    }
}

/// Calls `$act` with the report of an operation.
macro_rules! with_report {
    ($how:expr, $context:expr, |$report:ident| $act:expr) => {{
        let context = $context.addr() as u64;
        match ($how.completes, $how.counts) {
            (true, true) => {
                let $report = CountedContext(context);
                $act
            }
            (true, false) => {
                let $report = Context(context);
                $act
            }
            (false, true) => {
                let $report = Counted;
                $act
            }
            (false, false) => {
                let $report = Silent;
                $act
            }
        }
    }};
}
pub(crate) use with_report;

/// Returns the one piece of a list of at most one: none has no bytes.
///
/// # Safety
/// `pieces` leads to `count` pieces.
pub(crate) unsafe fn piece(pieces: *const Iovec, count: usize) -> Result<Iovec, Code> {
    match count {
        0 => Ok(Iovec {
            iov_base: null_mut(),
            iov_len: 0,
        }),
        // SAFETY: there is one piece.
        1 => Ok(unsafe { *pieces }),
        _ => Err(libc::EINVAL),
    }
}

/// Flags of fi_sendmsg; all levels of completion before FI_DELIVERY_COMPLETE are kept by the
/// fabric's first, as the bytes are in the peer's memory, or fetched, by then.
const SENDMSG: u64 = FI_INJECT
    | FI_COMPLETION
    | FI_MORE
    | FI_REMOTE_CQ_DATA
    | FI_INJECT_COMPLETE
    | FI_TRANSMIT_COMPLETE
    | FI_DELIVERY_COMPLETE;

/// # Safety
/// `message` holds the bytes, which stay as they are until the operation is reported.
unsafe fn start(
    ep: *mut FidEp,
    (message, len): (*const c_void, usize),
    data: Option<u64>,
    to: u64,
    context: *mut c_void,
    flags: Flags,
) -> isize {
    ep::start(ep, |ep| {
        let (raw, peer, how) = (ep.enabled()?, ep.peer(to)?, flags.how(ep, Counts::Sent));
        if how.injects && len > INJECT_SIZE {
            return Err(libc::EMSGSIZE);
        }
        with_report!(how, context, |report| {
            // SAFETY: `message` holds the bytes, which stay as they are until the operation is
            // reported; so few as are injected go whole, so that they are taken over at once.
            unsafe { raw.send(peer, message.cast(), len, data, how.level, report) }
                .map_err(Error::code)
        })
    })
}

unsafe extern "C" fn send(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    _desc: *mut c_void,
    to: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the application leaves the bytes as they are until the completion, by fi_msg(3).
    unsafe { start(ep, (message, len), None, to, context, Flags::Usual) }
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
        match piece(pieces, count) {
            Ok(one) => send(ep, one.iov_base, one.iov_len, null_mut(), to, context),
            Err(code) => size(Err(code)),
        }
    }
}

unsafe extern "C" fn sendmsg(ep: *mut FidEp, message: *const FiMsg, flags: u64) -> isize {
    // SAFETY: `message` leads to a record with a list of pieces, whose bytes the application leaves
    // as they are until the completion, by fi_msg(3).
    unsafe {
        let message = &*message;
        let one = only(flags, SENDMSG).and_then(|()| piece(message.msg_iov, message.iov_count));
        let one = match one {
            Ok(one) => (one.iov_base.cast_const(), one.iov_len),
            Err(code) => return size(Err(code)),
        };
        let data = (flags & FI_REMOTE_CQ_DATA != 0).then_some(message.data);
        let flags = Flags::Own(flags);
        start(ep, one, data, message.addr, message.context, flags)
    }
}

unsafe extern "C" fn inject<const SAFE: bool>(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    to: u64,
) -> isize {
    let is_done = len <= INJECT_SIZE
        && ep::at_once::<SAFE>(ep, |_, raw| {
            // SAFETY: `message` holds the bytes, by fi_msg(3).
            let message = unsafe { bytes(message, len) };
            PeerIndex::try_from(to).is_ok_and(|to| raw.inject_counted(to, message).is_ok())
        });
    if is_done {
        return 0;
    }
    // SAFETY: as this function's.
    unsafe { inject_slowly(ep, message, len, to) }
}

#[inline(never)]
unsafe extern "C" fn inject_slowly(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    to: u64,
) -> isize {
    // SAFETY: `message` holds the bytes, by fi_msg(3), and they are taken over at once.
    unsafe { start(ep, (message, len), None, to, null_mut(), Flags::Inject) }
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
    // SAFETY: the application leaves the bytes as they are until the completion, by fi_msg(3).
    unsafe { start(ep, (message, len), Some(data), to, context, Flags::Usual) }
}

unsafe extern "C" fn injectdata(
    ep: *mut FidEp,
    message: *const c_void,
    len: usize,
    data: u64,
    to: u64,
) -> isize {
    let bytes = (message, len);
    // SAFETY: `message` holds the bytes, by fi_msg(3), and they are taken over at once.
    unsafe { start(ep, bytes, Some(data), to, null_mut(), Flags::Inject) }
}

/// # Safety
/// The bytes of `buffer` are nobody else's until a completion gives it back.
unsafe fn post(
    ep: *mut FidEp,
    buffer: Iovec,
    from: u64,
    context: *mut c_void,
    flags: Option<u64>,
) -> Result<(), Code> {
    let object = object!(Object, ep);
    let mut turn = object.shared.lock();
    let ep = object.ep.get(&turn);
    let raw = ep.enabled()?;
    let flags = flags.unwrap_or(ep.receive_flags.get());
    let is_multi = flags & FI_MULTI_RECV != 0;
    let asks = flags & FI_COMPLETION != 0;
    let is_directed = ep.caps & FI_DIRECTED_RECV != 0 && from != FI_ADDR_NOTAVAIL;
    let source = is_directed.then(|| ep.peer(from)).transpose()?;
    let wants = |queue: Binding| asks || !queue.is_selective;
    let reports = ep.receive.get().is_some_and(wants);
    let memory = buffer.iov_base.cast();
    let mut number = context.addr() as u64;
    // Most receives are their pointer alone.
    if is_multi || !reports || is_number(number) {
        number = turn.receives.add(Receive {
            context,
            buffer: memory,
            is_multi,
            // The application learns by completions alone where its messages lie.
            reports: reports || is_multi,
            endpoint: object.number,
        });
    }
    let posted = Posted {
        context: number,
        source,
        least: is_multi.then_some(ep.least.get()),
    };
    // SAFETY: the bytes are nobody else's until a completion gives the buffer back, by this
    // function's requirement, or the application cancels it or closes the endpoint.
    unsafe { raw.post_receive(memory, buffer.iov_len, posted) };
    Ok(())
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
    let is_done = ep::at_once::<SAFE>(ep, |ep, raw| {
        let is_plain = ep.is_plain_receive.get() && !is_number(number);
        if is_plain && (from == FI_ADDR_NOTAVAIL || ep.caps & FI_DIRECTED_RECV == 0) {
            let posted = Posted {
                context: number,
                source: None,
                least: None,
            };
            // SAFETY: the application leaves the buffer alone until its completion, by fi_msg(3).
            unsafe { raw.post_receive(buffer.cast(), len, posted) };
            return true;
        }
        false
    });
    if is_done {
        return 0;
    }
    // SAFETY: as this function's.
    unsafe { recv_slowly(ep, buffer, len, desc, from, context) }
}

#[inline(never)]
unsafe extern "C" fn recv_slowly(
    ep: *mut FidEp,
    buffer: *mut c_void,
    len: usize,
    _desc: *mut c_void,
    from: u64,
    context: *mut c_void,
) -> isize {
    let buffer = Iovec {
        iov_base: buffer,
        iov_len: len,
    };
    // SAFETY: the application leaves the buffer alone until its completion, by fi_msg(3).
    size(unsafe { post(ep, buffer, from, context, None) }.map(|()| 0))
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
    let posted =
        unsafe { piece(pieces, count).and_then(|buffer| post(ep, buffer, from, context, None)) };
    size(posted.map(|()| 0))
}

unsafe extern "C" fn recvmsg(ep: *mut FidEp, message: *const FiMsg, flags: u64) -> isize {
    // SAFETY: `message` leads to a record with a list of pieces, which the application leaves alone
    // until the completion, by fi_msg(3).
    let posted = unsafe {
        let message = &*message;
        only(flags, FI_MULTI_RECV | FI_COMPLETION | FI_MORE)
            .and_then(|()| piece(message.msg_iov, message.iov_count))
            .and_then(|buffer| post(ep, buffer, message.addr, message.context, Some(flags)))
    };
    size(posted.map(|()| 0))
}
