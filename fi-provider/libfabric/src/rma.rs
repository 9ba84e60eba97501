//! Reading and writing memory of peers (fi_rma(3)).

use crate::ep::Object;
use crate::info::INJECT_SIZE;
use crate::msg::{Flags, piece, with_report};
use crate::object::{Code, object, only, size};
use crate::state::Counts;
use fi_ofi_abi::*;
use fi_provider::raw::completion::{Context, Counted, CountedContext, Silent};
use std::ffi::c_void;
use std::ptr::null_mut;

pub(crate) static OPS: FiOpsRma = FiOpsRma {
    size: size_of::<FiOpsRma>(),
    read,
    readv,
    readmsg,
    write,
    writev,
    writemsg,
    inject,
    writedata,
    injectdata,
};

/// Flags of fi_readmsg and of fi_writemsg: the fabric keeps FI_DELIVERY_COMPLETE with all of them.
const READMSG: u64 =
    FI_COMPLETION | FI_MORE | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE;
const WRITEMSG: u64 = READMSG | FI_INJECT | FI_REMOTE_CQ_DATA;

/// Memory of a peer.
#[derive(Clone, Copy, Debug)]
struct There {
    peer: u64,
    address: u64,
    key: u64,
}

/// # Safety
/// `source` holds `len` bytes, which stay as they are until the operation is reported.
unsafe fn start_write(
    ep: *mut FidEp,
    (source, len): (*const c_void, usize),
    there: There,
    data: Option<u64>,
    context: *mut c_void,
    flags: Flags,
) -> isize {
    let object = object!(Object, ep);
    let mut objects = object.shared.lock();
    let mut act = || -> Result<(), Code> {
        let ep = objects.endpoints.get_mut(object.number);
        let ep = ep.ok_or(libc::EINVAL)?;
        let how = flags.how(ep, Counts::Written);
        if how.injects && len > INJECT_SIZE {
            return Err(libc::EMSGSIZE);
        }
        let (source, at) = (source.cast(), there.address);
        ep.with_region(there.peer, there.key, |raw, region| {
            with_report!(how, context, |report| {
                // SAFETY: `source` holds the bytes, which stay as they are until the operation is
                // reported; so few as are injected are copied, or go whole, before the call
                // returns.
                unsafe {
                    match data {
                        None => raw.write(region, at, source, len, report),
                        Some(data) => raw.write_with_data(region, at, (source, len), data, report),
                    }
                }
            })
        })
    };
    let result = act();
    if result == Err(libc::EAGAIN) {
        // The peer may wait for room here.
        objects.progress();
    }
    size(result.map(|()| 0))
}

/// # Safety
/// `dest` has room for `len` bytes, and is nobody else's until the operation is reported.
unsafe fn start_read(
    ep: *mut FidEp,
    (dest, len): (*mut c_void, usize),
    there: There,
    context: *mut c_void,
    flags: Flags,
) -> isize {
    let object = object!(Object, ep);
    let mut objects = object.shared.lock();
    let mut act = || -> Result<(), Code> {
        let ep = objects.endpoints.get_mut(object.number);
        let ep = ep.ok_or(libc::EINVAL)?;
        let how = flags.how(ep, Counts::Read);
        ep.with_region(there.peer, there.key, |raw, region| {
            with_report!(how, context, |report| {
                // SAFETY: `dest` has room for the bytes, and is nobody else's until the operation
                // is reported.
                unsafe { raw.read(region, there.address, dest.cast(), len, report) }
            })
        })
    };
    let result = act();
    if result == Err(libc::EAGAIN) {
        // The peer may wait for room here.
        objects.progress();
    }
    size(result.map(|()| 0))
}

/// Returns the memory here and there that a record names: one piece each, of one length.
///
/// # Safety
/// The record's lists are as long as it says.
unsafe fn places(message: &FiMsgRma) -> Result<(Iovec, There), Code> {
    if message.rma_iov_count != 1 {
        return Err(libc::EINVAL);
    }
    // SAFETY: the lists are as long as the record says, and that of memory there has one piece.
    let (here, target) = unsafe { (piece(message.msg_iov, message.iov_count)?, *message.rma_iov) };
    if target.len != here.iov_len {
        return Err(libc::EINVAL);
    }
    let there = There {
        peer: message.addr,
        address: target.addr,
        key: target.key,
    };
    Ok((here, there))
}

unsafe extern "C" fn read(
    ep: *mut FidEp,
    dest: *mut c_void,
    len: usize,
    _desc: *mut c_void,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let there = There { peer, address, key };
    // SAFETY: the application leaves the buffer alone until its completion, by fi_rma(3).
    unsafe { start_read(ep, (dest, len), there, context, Flags::Usual) }
}

unsafe extern "C" fn readv(
    ep: *mut FidEp,
    pieces: *const Iovec,
    _desc: *mut *mut c_void,
    count: usize,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let desc = null_mut();
    // SAFETY: `pieces` leads to `count` pieces, which the application leaves alone until the
    // completion, by fi_rma(3).
    unsafe {
        match piece(pieces, count) {
            Ok(one) => {
                let (dest, len) = (one.iov_base, one.iov_len);
                read(ep, dest, len, desc, peer, address, key, context)
            }
            Err(code) => size(Err(code)),
        }
    }
}

unsafe extern "C" fn readmsg(ep: *mut FidEp, message: *const FiMsgRma, flags: u64) -> isize {
    // SAFETY: `message` leads to a record with lists as long as it says, and the application leaves
    // the buffer alone until the completion, by fi_rma(3).
    unsafe {
        let message = &*message;
        match only(flags, READMSG).and_then(|()| places(message)) {
            Ok((one, there)) => {
                let here = (one.iov_base, one.iov_len);
                start_read(ep, here, there, message.context, Flags::Own(flags))
            }
            Err(code) => size(Err(code)),
        }
    }
}

unsafe extern "C" fn write(
    ep: *mut FidEp,
    source: *const c_void,
    len: usize,
    _desc: *mut c_void,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let there = There { peer, address, key };
    // SAFETY: the application leaves the bytes as they are until the completion, by fi_rma(3).
    unsafe { start_write(ep, (source, len), there, None, context, Flags::Usual) }
}

unsafe extern "C" fn writev(
    ep: *mut FidEp,
    pieces: *const Iovec,
    _desc: *mut *mut c_void,
    count: usize,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let desc = null_mut();
    // SAFETY: `pieces` leads to `count` pieces, whose bytes the application leaves as they are
    // until the completion, by fi_rma(3).
    unsafe {
        match piece(pieces, count) {
            Ok(one) => {
                let (source, len) = (one.iov_base, one.iov_len);
                write(ep, source, len, desc, peer, address, key, context)
            }
            Err(code) => size(Err(code)),
        }
    }
}

unsafe extern "C" fn writemsg(ep: *mut FidEp, message: *const FiMsgRma, flags: u64) -> isize {
    // SAFETY: `message` leads to a record with lists as long as it says, and the application leaves
    // the bytes as they are until the completion, by fi_rma(3).
    unsafe {
        let message = &*message;
        match only(flags, WRITEMSG).and_then(|()| places(message)) {
            Ok((one, there)) => {
                let here = (one.iov_base.cast_const(), one.iov_len);
                let data = (flags & FI_REMOTE_CQ_DATA != 0).then_some(message.data);
                let flags = Flags::Own(flags);
                start_write(ep, here, there, data, message.context, flags)
            }
            Err(code) => size(Err(code)),
        }
    }
}

unsafe extern "C" fn inject(
    ep: *mut FidEp,
    source: *const c_void,
    len: usize,
    peer: u64,
    address: u64,
    key: u64,
) -> isize {
    let there = There { peer, address, key };
    // SAFETY: `source` holds the bytes, by fi_rma(3), and they are taken over at once.
    unsafe { start_write(ep, (source, len), there, None, null_mut(), Flags::Inject) }
}

unsafe extern "C" fn writedata(
    ep: *mut FidEp,
    source: *const c_void,
    len: usize,
    _desc: *mut c_void,
    data: u64,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let there = There { peer, address, key };
    let data = Some(data);
    // SAFETY: the application leaves the bytes as they are until the completion, by fi_rma(3).
    unsafe { start_write(ep, (source, len), there, data, context, Flags::Usual) }
}

unsafe extern "C" fn injectdata(
    ep: *mut FidEp,
    source: *const c_void,
    len: usize,
    data: u64,
    peer: u64,
    address: u64,
    key: u64,
) -> isize {
    let there = There { peer, address, key };
    let here = (source, len);
    // SAFETY: `source` holds the bytes, by fi_rma(3), and they are taken over at once.
    unsafe { start_write(ep, here, there, Some(data), null_mut(), Flags::Inject) }
}
