//! Reading and writing memory of peers (fi_rma(3)).

use crate::ep;
use crate::info::INJECT_SIZE;
use crate::msg::{Flags, piece, with_report};
use crate::object::{Code, only, size};
use crate::state::Counts;
use fi_ofi_abi::*;
use fi_provider::raw::completion::{Context, Counted, CountedContext, Silent};
use std::ffi::c_void;
use std::ptr::null_mut;

/// The functions in domains of several threads, and of one at a time.
pub(crate) static SAFE: FiOpsRma = ops::<true>();
pub(crate) static ALONE: FiOpsRma = ops::<false>();

const fn ops<const SAFE: bool>() -> FiOpsRma {
    FiOpsRma {
        size: size_of::<FiOpsRma>(),
        read,
        readv,
        readmsg,
        write: write::<SAFE>,
        writev,
        writemsg,
        inject: inject::<SAFE>,
        writedata,
        injectdata,
    }
}

/// Flags of fi_readmsg and of fi_writemsg: the fabric keeps FI_DELIVERY_COMPLETE with all of them.
const READMSG: u64 =
    FI_COMPLETION | FI_MORE | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE;
const WRITEMSG: u64 = READMSG | FI_INJECT | FI_REMOTE_CQ_DATA;

/// The direction of an access.
#[derive(Clone, Copy, Debug)]
enum Way {
    Read,
    /// With data for the peer, or without.
    Write(Option<u64>),
}

/// An access to memory of a peer.
#[derive(Clone, Copy, Debug)]
struct Access {
    way: Way,
    here: Iovec,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
    flags: Flags,
}

/// Memory of this process that is only read.
fn source(source: *const c_void, iov_len: usize) -> Iovec {
    Iovec {
        iov_base: source.cast_mut(),
        iov_len,
    }
}

/// Starts an access, unless its arguments are wrong.
///
/// # Safety
/// The memory here holds its bytes, or has room for them where they are read, and is left alone
/// until the operation is reported; where [`Flags`] say that they are injected, during this call.
unsafe fn start(ep: *mut FidEp, access: Result<Access, Code>) -> isize {
    let access = match access {
        Ok(access) => access,
        Err(code) => return size(Err(code)),
    };
    let (memory, len) = (access.here.iov_base.cast::<u8>(), access.here.iov_len);
    ep::start(ep, |ep| {
        let counts = match access.way {
            Way::Read => Counts::Read,
            Way::Write(_) => Counts::Written,
        };
        let how = access.flags.how(ep, counts);
        if how.injects && len > INJECT_SIZE {
            return Err(libc::EMSGSIZE);
        }
        let at = access.address;
        ep.with_region(access.peer, access.key, |raw, region| {
            with_report!(how, access.context, |report| {
                // SAFETY: the memory holds the bytes, or has room for them, and is left alone until
                // the operation is reported; so few as are injected are copied, or go whole, before
                // the call returns.
                unsafe {
                    match access.way {
                        Way::Read => raw.read(region, at, memory, len, report),
                        Way::Write(None) => raw.write(region, at, memory, len, report),
                        Way::Write(Some(data)) => {
                            raw.write_with_data(region, at, (memory, len), data, report)
                        }
                    }
                }
            })
        })
    })
}

/// Returns the access that a record names: one piece of memory here and one there, of one length.
///
/// # Safety
/// The record's lists are as long as it says.
unsafe fn of_record(way: Way, message: &FiMsgRma, flags: u64) -> Result<Access, Code> {
    if message.rma_iov_count != 1 {
        return Err(libc::EINVAL);
    }
    // SAFETY: the lists are as long as the record says, and that of memory there has one piece.
    let (here, there) = unsafe { (piece(message.msg_iov, message.iov_count)?, *message.rma_iov) };
    if there.len != here.iov_len {
        return Err(libc::EINVAL);
    }
    Ok(Access {
        way,
        here,
        peer: message.addr,
        address: there.addr,
        key: there.key,
        context: message.context,
        flags: Flags::Own(flags),
    })
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
    let piece = Iovec {
        iov_base: dest,
        iov_len: len,
    };
    // SAFETY: there is one piece, which the application leaves alone until the completion, by
    // fi_rma(3).
    unsafe { readv(ep, &piece, null_mut(), 1, peer, address, key, context) }
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
    // SAFETY: `pieces` leads to `count` pieces, which the application leaves alone until the
    // completion, by fi_rma(3).
    unsafe {
        let access = piece(pieces, count).map(|here| Access {
            way: Way::Read,
            here,
            peer,
            address,
            key,
            context,
            flags: Flags::Usual,
        });
        start(ep, access)
    }
}

unsafe extern "C" fn readmsg(ep: *mut FidEp, message: *const FiMsgRma, flags: u64) -> isize {
    // SAFETY: `message` leads to a record with lists as long as it says, and the application leaves
    // the buffer alone until the completion, by fi_rma(3).
    unsafe {
        let access = only(flags, READMSG).and_then(|()| of_record(Way::Read, &*message, flags));
        start(ep, access)
    }
}

unsafe extern "C" fn write<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    desc: *mut c_void,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let is_done = ep::at_once::<SAFE>(ep, |ep, raw| {
        let report = CountedContext(context.addr() as u64);
        // SAFETY: `bytes` holds the bytes, by fi_rma(3).
        ep.is_usual.get()
            && unsafe { raw.write_few((peer, key), address, bytes.cast(), len, report) }
    });
    if is_done {
        return 0;
    }
    // SAFETY: as this function's.
    unsafe { write_slowly::<SAFE>(ep, bytes, len, desc, peer, address, key, context) }
}

#[inline(never)]
unsafe extern "C" fn write_slowly<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    _desc: *mut c_void,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let is_done = len == size_of::<u64>()
        && ep::at_once::<SAFE>(ep, |ep, raw| {
            let report = CountedContext(context.addr() as u64);
            // SAFETY: `bytes` holds the bytes, by fi_rma(3).
            ep.is_usual.get()
                && unsafe { raw.write_word_in_line((peer, key), address, bytes.cast(), report) }
        });
    if is_done {
        return 0;
    }
    let piece = source(bytes, len);
    // SAFETY: there is one piece, whose bytes the application leaves as they are until the
    // completion, by fi_rma(3).
    unsafe { writev(ep, &piece, null_mut(), 1, peer, address, key, context) }
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
    // SAFETY: `pieces` leads to `count` pieces, whose bytes the application leaves as they are
    // until the completion, by fi_rma(3).
    unsafe {
        let access = piece(pieces, count).map(|here| Access {
            way: Way::Write(None),
            here,
            peer,
            address,
            key,
            context,
            flags: Flags::Usual,
        });
        start(ep, access)
    }
}

unsafe extern "C" fn writemsg(ep: *mut FidEp, message: *const FiMsgRma, flags: u64) -> isize {
    // SAFETY: `message` leads to a record with lists as long as it says, and the application leaves
    // the bytes as they are until the completion, by fi_rma(3).
    unsafe {
        let message = &*message;
        let data = (flags & FI_REMOTE_CQ_DATA != 0).then_some(message.data);
        let access = only(flags, WRITEMSG);
        start(
            ep,
            access.and_then(|()| of_record(Way::Write(data), message, flags)),
        )
    }
}

unsafe extern "C" fn inject<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    peer: u64,
    address: u64,
    key: u64,
) -> isize {
    let is_done = ep::at_once::<SAFE>(ep, |_, raw| {
        // SAFETY: `bytes` holds the bytes, by fi_rma(3).
        unsafe { raw.write_few((peer, key), address, bytes.cast(), len, Counted) }
    });
    if is_done {
        return 0;
    }
    // SAFETY: as this function's.
    unsafe { inject_slowly::<SAFE>(ep, bytes, len, peer, address, key) }
}

#[inline(never)]
unsafe extern "C" fn inject_slowly<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    peer: u64,
    address: u64,
    key: u64,
) -> isize {
    let is_done = len == size_of::<u64>()
        && ep::at_once::<SAFE>(ep, |_, raw| {
            // SAFETY: `bytes` holds the bytes, by fi_rma(3).
            unsafe { raw.write_word_in_line((peer, key), address, bytes.cast(), Counted) }
        });
    if is_done {
        return 0;
    }
    if len > INJECT_SIZE {
        return size(Err(libc::EMSGSIZE));
    }
    ep::start(ep, |ep| {
        ep.with_region(peer, key, |raw, region| {
            // SAFETY: `bytes` holds the bytes during the call, by fi_rma(3).
            let bytes = unsafe { crate::msg::bytes(bytes, len) };
            raw.inject_write(region, address, bytes, Counted)
        })
    })
}

unsafe extern "C" fn writedata(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    _desc: *mut c_void,
    data: u64,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let access = Access {
        way: Way::Write(Some(data)),
        here: source(bytes, len),
        peer,
        address,
        key,
        context,
        flags: Flags::Usual,
    };
    // SAFETY: the application leaves the bytes as they are until the completion, by fi_rma(3).
    unsafe { start(ep, Ok(access)) }
}

unsafe extern "C" fn injectdata(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    data: u64,
    peer: u64,
    address: u64,
    key: u64,
) -> isize {
    let access = Access {
        way: Way::Write(Some(data)),
        here: source(bytes, len),
        peer,
        address,
        key,
        context: null_mut(),
        flags: Flags::Inject,
    };
    // SAFETY: `bytes` holds the bytes during the call, by fi_rma(3).
    unsafe { start(ep, Ok(access)) }
}
