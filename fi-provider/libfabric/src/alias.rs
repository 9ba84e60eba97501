//! Aliases of endpoints (fi_endpoint(3), fi_ep_alias): objects of their own, with flags of their
//! own for operations that have none. Each call is that of a record, with the alias's flags.

use crate::ep::{CM_OPS, EP_OPS, Object};
use crate::object::{Code, InUse, closing, no_bind, object, only};
use crate::state::Turn;
use crate::{atomic, info, msg, rma, tagged};
use fi_ofi_abi::*;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

/// The C object: an endpoint's, and flags.
#[repr(C)]
#[derive(Debug)]
struct Alias {
    object: Object,
    transmit: u64,
    receive: u64,
    /// The endpoint's.
    _in_use: InUse,
}

static OPS: FiOps = FiOps {
    bind: no_bind,
    ..closing(close)
};
static MSG: FiOpsMsg = FiOpsMsg {
    recv,
    recvv,
    send,
    sendv,
    senddata,
    ..msg::ops::<true>()
};
static TAGGED: FiOpsTagged = FiOpsTagged {
    recv: trecv,
    recvv: trecvv,
    send: tsend,
    sendv: tsendv,
    senddata: tsenddata,
    ..tagged::ops::<true>()
};
static RMA: FiOpsRma = FiOpsRma {
    read,
    readv,
    write,
    writev,
    writedata,
    ..rma::ops::<true>()
};
static ATOMIC: FiOpsAtomic = FiOpsAtomic {
    write: update,
    writev: updatev,
    readwrite: fetch,
    readwritev: fetchv,
    compwrite: compare,
    compwritev: comparev,
    ..atomic::ops::<true>()
};

/// Opens an alias of an endpoint.
///
/// # Safety
/// `wanted` is NULL or leads to the record of the request.
pub(crate) unsafe fn open(
    endpoint: &Object,
    turn: &Turn<'_>,
    wanted: *const FiAlias,
) -> Result<(), Code> {
    // SAFETY: `wanted` is NULL or leads to the record of the request.
    let wanted = unsafe { wanted.as_ref() }.ok_or(libc::EINVAL)?;
    // Contexts of scalable endpoints have fewer functions.
    if endpoint.fid.fid.fclass != FI_CLASS_EP {
        return Err(FI_ENOSYS);
    }
    let (sides, flags) = (
        wanted.flags & (FI_SEND | FI_RECV),
        wanted.flags & !(FI_SEND | FI_RECV),
    );
    let ep = endpoint.ep.get(turn);
    let (mut transmit, mut receive) = (ep.transmit_flags.get(), ep.receive_flags.get());
    if flags & FI_TRIGGER != 0 && ep.caps & FI_TRIGGER == 0 {
        return Err(libc::EOPNOTSUPP);
    }
    if sides & FI_SEND != 0 {
        only(flags, info::TRANSMIT_FLAGS | FI_TRIGGER)?;
        transmit = flags;
    }
    if sides & FI_RECV != 0 {
        only(flags, info::RECEIVE_FLAGS | FI_TRIGGER)?;
        receive = flags;
    }
    if sides == 0 {
        return Err(libc::EINVAL);
    }
    let fid = FidEp {
        fid: Fid {
            fclass: FI_CLASS_EP,
            context: endpoint.fid.fid.context,
            ops: &OPS,
        },
        ops: &EP_OPS,
        cm: &CM_OPS,
        msg: &MSG,
        rma: &RMA,
        tagged: &TAGGED,
        atomic: &ATOMIC,
        collective: null_mut(),
    };
    let alias = Alias {
        object: Object::alias(endpoint, turn, fid),
        transmit,
        receive,
        _in_use: InUse::clone(&endpoint.aliases),
    };
    // SAFETY: `fid` is where the caller wants the pointer; the object begins with its fid.
    unsafe { crate::object::give(alias, wanted.fid) };
    Ok(())
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    let shared = Arc::clone(&object!(Alias, fid).object.shared);
    // Its handle of the endpoint goes in this turn.
    let turn = shared.lock();
    // SAFETY: `open` has given the object, and its caller uses it no more.
    drop(unsafe { crate::object::take::<Alias>(fid) });
    drop(turn);
    0
}

/// The flags of the sending side of an alias.
fn transmit_flags(ep: *mut FidEp) -> u64 {
    object!(Alias, ep).transmit
}

/// The flags of its receiving side.
fn receive_flags(ep: *mut FidEp) -> u64 {
    object!(Alias, ep).receive
}

/// A record of a message, which is good as long as the pieces are.
fn message(iov: &[Iovec], to: u64, context: *mut c_void, data: u64) -> FiMsg {
    FiMsg {
        msg_iov: iov.as_ptr(),
        desc: null_mut(),
        iov_count: iov.len(),
        addr: to,
        context,
        data,
    }
}

/// A record of a tagged message, which is good as long as the pieces are.
fn tagged_message(
    iov: &[Iovec],
    to: u64,
    (tag, ignore): (u64, u64),
    context: *mut c_void,
    data: u64,
) -> FiMsgTagged {
    FiMsgTagged {
        msg_iov: iov.as_ptr(),
        desc: null_mut(),
        iov_count: iov.len(),
        addr: to,
        tag,
        ignore,
        context,
        data,
    }
}

/// The piece of memory at an address.
fn piece(memory: *const c_void, len: usize) -> [Iovec; 1] {
    [crate::transfer::piece(memory, len)]
}

/// The pieces of a list; none where it is too long, which is refused.
///
/// # Safety
/// `pieces` leads to `count` pieces.
unsafe fn pieces<'a>(pieces: *const Iovec, count: usize) -> &'a [Iovec] {
    // SAFETY: there are so many pieces.
    unsafe { atomic::list(pieces, count) }
}

unsafe extern "C" fn send(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    _desc: *mut c_void,
    to: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_msg(3) requires.
    unsafe {
        let iov = piece(bytes, len);
        let message = message(&iov, to, context, 0);
        (MSG.sendmsg)(ep, &raw const message, transmit_flags(ep))
    }
}

unsafe extern "C" fn sendv(
    ep: *mut FidEp,
    iov: *const Iovec,
    _desc: *mut *mut c_void,
    count: usize,
    to: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_msg(3) requires.
    unsafe {
        let message = message(pieces(iov, count), to, context, 0);
        (MSG.sendmsg)(ep, &raw const message, transmit_flags(ep))
    }
}

unsafe extern "C" fn senddata(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    _desc: *mut c_void,
    data: u64,
    to: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_msg(3) requires.
    unsafe {
        let iov = piece(bytes, len);
        let message = message(&iov, to, context, data);
        let flags = transmit_flags(ep) | FI_REMOTE_CQ_DATA;
        (MSG.sendmsg)(ep, &raw const message, flags)
    }
}

unsafe extern "C" fn recv(
    ep: *mut FidEp,
    buffer: *mut c_void,
    len: usize,
    _desc: *mut c_void,
    from: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_msg(3) requires.
    unsafe {
        let iov = piece(buffer, len);
        let message = message(&iov, from, context, 0);
        (MSG.recvmsg)(ep, &raw const message, receive_flags(ep))
    }
}

unsafe extern "C" fn recvv(
    ep: *mut FidEp,
    iov: *const Iovec,
    _desc: *mut *mut c_void,
    count: usize,
    from: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_msg(3) requires.
    unsafe {
        let message = message(pieces(iov, count), from, context, 0);
        (MSG.recvmsg)(ep, &raw const message, receive_flags(ep))
    }
}

unsafe extern "C" fn tsend(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    _desc: *mut c_void,
    to: u64,
    tag: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_tagged(3) requires.
    unsafe {
        let iov = piece(bytes, len);
        let message = tagged_message(&iov, to, (tag, 0), context, 0);
        (TAGGED.sendmsg)(ep, &raw const message, transmit_flags(ep))
    }
}

unsafe extern "C" fn tsendv(
    ep: *mut FidEp,
    iov: *const Iovec,
    _desc: *mut *mut c_void,
    count: usize,
    to: u64,
    tag: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_tagged(3) requires.
    unsafe {
        let message = tagged_message(pieces(iov, count), to, (tag, 0), context, 0);
        (TAGGED.sendmsg)(ep, &raw const message, transmit_flags(ep))
    }
}

unsafe extern "C" fn tsenddata(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    _desc: *mut c_void,
    data: u64,
    to: u64,
    tag: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_tagged(3) requires.
    unsafe {
        let iov = piece(bytes, len);
        let message = tagged_message(&iov, to, (tag, 0), context, data);
        let flags = transmit_flags(ep) | FI_REMOTE_CQ_DATA;
        (TAGGED.sendmsg)(ep, &raw const message, flags)
    }
}

unsafe extern "C" fn trecv(
    ep: *mut FidEp,
    buffer: *mut c_void,
    len: usize,
    _desc: *mut c_void,
    from: u64,
    tag: u64,
    ignore: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_tagged(3) requires.
    unsafe {
        let iov = piece(buffer, len);
        let message = tagged_message(&iov, from, (tag, ignore), context, 0);
        (TAGGED.recvmsg)(ep, &raw const message, receive_flags(ep))
    }
}

unsafe extern "C" fn trecvv(
    ep: *mut FidEp,
    iov: *const Iovec,
    _desc: *mut *mut c_void,
    count: usize,
    from: u64,
    tag: u64,
    ignore: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_tagged(3) requires.
    unsafe {
        let message = tagged_message(pieces(iov, count), from, (tag, ignore), context, 0);
        (TAGGED.recvmsg)(ep, &raw const message, receive_flags(ep))
    }
}

/// Starts an access of an alias, to one range.
///
/// # Safety
/// The memory is as fi_rma(3) requires.
unsafe fn access(
    ep: *mut FidEp,
    iov: &[Iovec],
    (peer, addr, key): (u64, u64, u64),
    context: *mut c_void,
    (start, data): (
        unsafe extern "C" fn(*mut FidEp, *const FiMsgRma, u64) -> isize,
        Option<u64>,
    ),
) -> isize {
    let len = crate::transfer::bytes_of(iov).unwrap_or(usize::MAX);
    let range = FiRmaIov { addr, len, key };
    let message = FiMsgRma {
        msg_iov: iov.as_ptr(),
        desc: null_mut(),
        iov_count: iov.len(),
        addr: peer,
        rma_iov: &raw const range,
        rma_iov_count: 1,
        context,
        data: data.unwrap_or(0),
    };
    let with_data = data.map_or(0, |_| FI_REMOTE_CQ_DATA);
    // SAFETY: the record's lists are as long as it says, and the memory is as fi_rma(3) requires.
    unsafe { start(ep, &raw const message, transmit_flags(ep) | with_data) }
}

unsafe extern "C" fn read(
    ep: *mut FidEp,
    buffer: *mut c_void,
    len: usize,
    _desc: *mut c_void,
    peer: u64,
    addr: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_rma(3) requires.
    unsafe {
        access(
            ep,
            &piece(buffer, len),
            (peer, addr, key),
            context,
            (RMA.readmsg, None),
        )
    }
}

unsafe extern "C" fn readv(
    ep: *mut FidEp,
    iov: *const Iovec,
    _desc: *mut *mut c_void,
    count: usize,
    peer: u64,
    addr: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_rma(3) requires.
    unsafe {
        access(
            ep,
            pieces(iov, count),
            (peer, addr, key),
            context,
            (RMA.readmsg, None),
        )
    }
}

unsafe extern "C" fn write(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    _desc: *mut c_void,
    peer: u64,
    addr: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_rma(3) requires.
    unsafe {
        access(
            ep,
            &piece(bytes, len),
            (peer, addr, key),
            context,
            (RMA.writemsg, None),
        )
    }
}

unsafe extern "C" fn writev(
    ep: *mut FidEp,
    iov: *const Iovec,
    _desc: *mut *mut c_void,
    count: usize,
    peer: u64,
    addr: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_rma(3) requires.
    unsafe {
        access(
            ep,
            pieces(iov, count),
            (peer, addr, key),
            context,
            (RMA.writemsg, None),
        )
    }
}

unsafe extern "C" fn writedata(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    _desc: *mut c_void,
    data: u64,
    peer: u64,
    addr: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_rma(3) requires.
    unsafe {
        let how = (RMA.writemsg, Some(data));
        access(ep, &piece(bytes, len), (peer, addr, key), context, how)
    }
}

/// Calls `act` with the record of an atomic operation, and the alias's flags.
fn with_record(
    ep: *mut FidEp,
    operands: &[FiIoc],
    counts: &[FiIoc],
    (peer, addr, key): (u64, u64, u64),
    (datatype, op, context): (u32, u32, *mut c_void),
    act: impl FnOnce(*const FiMsgAtomic, u64) -> isize,
) -> isize {
    let [there] = atomic::there(addr, key, counts);
    let message = FiMsgAtomic {
        msg_iov: operands.as_ptr(),
        desc: null_mut(),
        iov_count: operands.len(),
        addr: peer,
        rma_iov: &raw const there,
        rma_iov_count: 1,
        datatype,
        op,
        context,
        data: 0,
    };
    act(&raw const message, transmit_flags(ep))
}

unsafe extern "C" fn update(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    _desc: *mut c_void,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    op: u32,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_atomic(3) requires.
    unsafe {
        let here = atomic::here(operands, count);
        with_record(
            ep,
            &here,
            &here,
            (peer, addr, key),
            (datatype, op, context),
            |message, flags| (ATOMIC.writemsg)(ep, message, flags),
        )
    }
}

unsafe extern "C" fn updatev(
    ep: *mut FidEp,
    operands: *const FiIoc,
    _desc: *mut *mut c_void,
    count: usize,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    op: u32,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_atomic(3) requires.
    unsafe {
        let here = atomic::list(operands, count);
        with_record(
            ep,
            here,
            here,
            (peer, addr, key),
            (datatype, op, context),
            |message, flags| (ATOMIC.writemsg)(ep, message, flags),
        )
    }
}

unsafe extern "C" fn fetch(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    _desc: *mut c_void,
    results: *mut c_void,
    _result_desc: *mut c_void,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    op: u32,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_atomic(3) requires.
    unsafe {
        let here = atomic::here(operands, count);
        let mut back = atomic::here(results, count);
        let all = back;
        with_record(
            ep,
            &here,
            &all,
            (peer, addr, key),
            (datatype, op, context),
            |message, flags| {
                let none = null_mut();
                (ATOMIC.readwritemsg)(ep, message, back.as_mut_ptr(), none, 1, flags)
            },
        )
    }
}

unsafe extern "C" fn fetchv(
    ep: *mut FidEp,
    operands: *const FiIoc,
    _desc: *mut *mut c_void,
    count: usize,
    results: *mut FiIoc,
    _result_desc: *mut *mut c_void,
    result_count: usize,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    op: u32,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_atomic(3) requires.
    unsafe {
        let here = atomic::list(operands, count);
        let back = atomic::list(results.cast_const(), result_count);
        with_record(
            ep,
            here,
            back,
            (peer, addr, key),
            (datatype, op, context),
            |message, flags| {
                let none = null_mut();
                (ATOMIC.readwritemsg)(ep, message, results, none, result_count, flags)
            },
        )
    }
}

unsafe extern "C" fn compare(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    _desc: *mut c_void,
    comparands: *const c_void,
    _compare_desc: *mut c_void,
    results: *mut c_void,
    _result_desc: *mut c_void,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    op: u32,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_atomic(3) requires.
    unsafe {
        let here = atomic::here(operands, count);
        let with = atomic::here(comparands, count);
        let mut back = atomic::here(results, count);
        let all = back;
        with_record(
            ep,
            &here,
            &all,
            (peer, addr, key),
            (datatype, op, context),
            |message, flags| {
                let (with, none) = (with.as_ptr(), null_mut());
                let back = back.as_mut_ptr();
                (ATOMIC.compwritemsg)(ep, message, with, none, 1, back, none, 1, flags)
            },
        )
    }
}

unsafe extern "C" fn comparev(
    ep: *mut FidEp,
    operands: *const FiIoc,
    _desc: *mut *mut c_void,
    count: usize,
    comparands: *const FiIoc,
    _compare_desc: *mut *mut c_void,
    compare_count: usize,
    results: *mut FiIoc,
    _result_desc: *mut *mut c_void,
    result_count: usize,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    op: u32,
    context: *mut c_void,
) -> isize {
    // SAFETY: the arguments are as fi_atomic(3) requires.
    unsafe {
        let here = atomic::list(operands, count);
        let back = atomic::list(results.cast_const(), result_count);
        with_record(
            ep,
            here,
            back,
            (peer, addr, key),
            (datatype, op, context),
            |message, flags| {
                let (with, many, none) = (comparands, compare_count, null_mut());
                let compare = ATOMIC.compwritemsg;
                compare(
                    ep,
                    message,
                    with,
                    none,
                    many,
                    results,
                    none,
                    result_count,
                    flags,
                )
            },
        )
    }
}
