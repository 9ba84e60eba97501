//! Reading and writing memory of peers (fi_rma(3)).

pub(crate) mod now;

use crate::info::MOST_PIECES;
use crate::object::{Code, only, size};
use crate::state::{Counts, Ep, Own};
use crate::transfer::{
    Flags, How, bytes_of, check_inject, list, piece, read_only, with_report, writable,
};
use crate::work::trigger;
use crate::{deferred::Later, ep};
use fi_ofi_abi::*;
use fi_provider::raw::address_vector::PeerIndex;
use fi_provider::raw::completion::{
    Context, CountedContext, CountedFailureContext, FailureContext,
};
use fi_provider::raw::endpoint::{Endpoint, Range};
use fi_provider::raw::error::Error;
use std::ffi::c_void;
use std::ptr::null_mut;

/// The functions in domains of several threads, and of one at a time.
pub(crate) static SAFE: FiOpsRma = ops::<true>();
pub(crate) static ALONE: FiOpsRma = ops::<false>();

pub(crate) const fn ops<const SAFE: bool>() -> FiOpsRma {
    FiOpsRma {
        size: size_of::<FiOpsRma>(),
        read,
        readv,
        readmsg,
        write: now::write::<SAFE>,
        writev,
        writemsg,
        inject: now::inject::<SAFE>,
        writedata,
        injectdata,
    }
}

/// Flags of fi_readmsg and of fi_writemsg: the fabric keeps FI_DELIVERY_COMPLETE with all of them.
pub(crate) const READMSG: u64 =
    FI_COMPLETION | FI_MORE | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE;
pub(crate) const WRITEMSG: u64 = READMSG | FI_INJECT | FI_REMOTE_CQ_DATA;

/// The direction of an access.
#[derive(Clone, Copy, Debug)]
enum Way {
    Read,
    /// With data for the peer, or without.
    Write(Option<u64>),
}

/// An access to memory of a peer.
#[derive(Clone, Copy, Debug)]
struct Access<'a> {
    way: Way,
    /// At least one.
    here: &'a [Iovec],
    peer: u64,
    /// At least one, of as many bytes as the pieces here.
    there: &'a [FiRmaIov],
    context: *mut c_void,
    flags: Flags,
}

/// Returns the one range of memory of a peer for these pieces.
fn range(here: &[Iovec], addr: u64, key: u64) -> Result<[FiRmaIov; 1], Code> {
    let len = bytes_of(here)?;
    Ok([FiRmaIov { addr, len, key }])
}

/// Starts an access.
///
/// # Safety
/// The memory here holds its bytes, or has room for them where they are read, and is left alone
/// until the operation is reported; where [`Flags`] say that they are injected, during this call.
unsafe fn start(ep: *mut FidEp, access: Access<'_>) -> isize {
    let act = |own: Own<'_>| {
        let counts = match access.way {
            Way::Read => Counts::Read,
            Way::Write(_) => Counts::Written,
        };
        let how = access.flags.how(own, counts)?;
        check_inject(how, access.here)?;
        let with_data = matches!(access.way, Way::Write(Some(_)));
        let (false, &[here], &[there]) = (how.injects && with_data, access.here, access.there)
        else {
            // SAFETY: the memory is as this function requires.
            return unsafe { start_several(own.ep, &access, how) };
        };
        let (memory, len, at) = (here.iov_base.cast::<u8>(), here.iov_len, there.addr);
        (own.ep).with_region(access.peer, there.key, |raw, region| {
            with_report!(how, access.context, |report| {
                // SAFETY: the memory holds the bytes, or has room for them, and is left alone until
                // the operation is reported; injected bytes are taken over before the call returns.
                unsafe {
                    match access.way {
                        Way::Read => raw.read(region, at, memory, len, report),
                        Way::Write(None) if how.injects => raw.inject_write(
                            region,
                            at,
                            crate::msg::bytes(memory.cast(), len),
                            report,
                        ),
                        Way::Write(None) => raw.write(region, at, memory, len, report),
                        Way::Write(Some(data)) => {
                            raw.write_with_data(region, at, (memory, len), data, report)
                        }
                    }
                }
            })
        })
    };
    ep::start(ep, act, |turn, object| {
        let flags = access.flags.of(object.own(turn).usual);
        // SAFETY: the memory is as this function requires.
        unsafe { trigger(turn, object, &access.later(), (access.context, flags)) }
    })
}

impl<'a> Access<'a> {
    fn later(&self) -> Later<'a> {
        let Self {
            here, there, peer, ..
        } = *self;
        match self.way {
            Way::Read => Later::Read {
                pieces: here,
                ranges: there,
                peer,
            },
            Way::Write(data) => Later::Write {
                pieces: here,
                ranges: there,
                data,
                peer,
            },
        }
    }
}

/// Starts an access of several pieces, or to several ranges.
///
/// # Safety
/// As [`start`].
#[cold]
unsafe fn start_several(ep: &Ep, access: &Access<'_>, how: How) -> Result<(), Code> {
    let (peer, raw) = (ep.peer(access.peer)?, ep.enabled()?);
    let act = |ranges: &[Range<'_>]| {
        with_report!(how, access.context, |report| {
            // SAFETY: the memory holds the bytes, or has room for them, and is left alone until the
            // operation is reported; where they are injected, the fabric takes them over.
            unsafe {
                match access.way {
                    Way::Read => raw.read_vector(ranges, &writable(access.here), report),
                    Way::Write(data) if how.injects => {
                        raw.inject_write_vector(ranges, &read_only(access.here), data, report)
                    }
                    Way::Write(None) => raw.write_vector(ranges, &read_only(access.here), report),
                    Way::Write(Some(data)) => {
                        let pieces = read_only(access.here);
                        raw.write_vector_with_data(ranges, &pieces, data, report)
                    }
                }
            }
        })
    };
    with_ranges(raw, peer, access.there, &[], &act).map_err(Error::code)
}

/// Acts on ranges of a peer: those whose regions are found, and the rest, which it finds.
pub(crate) fn with_ranges(
    raw: &Endpoint,
    peer: PeerIndex,
    rest: &[FiRmaIov],
    found: &[Range<'_>],
    act: &dyn Fn(&[Range<'_>]) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some((&FiRmaIov { addr, len, key }, rest)) = rest.split_first() else {
        return act(found);
    };
    raw.on_region(peer, key, |region| {
        let mut found = found.to_vec();
        found.push(Range {
            region,
            address: addr,
            len,
        });
        with_ranges(raw, peer, rest, &found, act)
    })
}

/// Starts the access that a record names.
///
/// # Safety
/// As [`start`]; the record's lists are as long as it says.
unsafe fn start_record(ep: *mut FidEp, way: Way, message: &FiMsgRma, flags: u64) -> isize {
    let known = match way {
        Way::Read => READMSG,
        Way::Write(_) => WRITEMSG,
    };
    // SAFETY: the lists are as long as the record says, and the memory is as `start` requires.
    unsafe {
        let pieces = only(flags, known | FI_TRIGGER);
        let pieces = pieces.and_then(|()| list(message.msg_iov, message.iov_count));
        let both = pieces.and_then(|here| Ok((here, ranges_of(message, bytes_of(here)?)?)));
        match both {
            Ok((here, there)) => {
                let access = Access {
                    way,
                    here,
                    peer: message.addr,
                    there,
                    context: message.context,
                    flags: Flags::Own(flags),
                };
                start(ep, access)
            }
            Err(code) => size(Err(code)),
        }
    }
}

/// Returns the ranges there of a record, which are of so many bytes.
///
/// # Safety
/// The record's list is as long as it says.
pub(crate) unsafe fn ranges_of(message: &FiMsgRma, bytes: usize) -> Result<&[FiRmaIov], Code> {
    let count = message.rma_iov_count;
    if count == 0 || count > MOST_PIECES || message.rma_iov.is_null() {
        return Err(libc::EINVAL);
    }
    // SAFETY: the list is as long as the record says.
    let ranges = unsafe { std::slice::from_raw_parts(message.rma_iov, count) };
    let mut lengths = ranges.iter().map(|range| range.len);
    if lengths.try_fold(0, usize::checked_add) != Some(bytes) {
        return Err(libc::EINVAL);
    }
    Ok(ranges)
}

/// Starts the access of a call that has no record: to one range.
///
/// # Safety
/// As [`start`].
unsafe fn start_plain(
    ep: *mut FidEp,
    way: Way,
    here: Result<&[Iovec], Code>,
    (peer, address, key): (u64, u64, u64),
    (context, flags): (*mut c_void, Flags),
) -> isize {
    let both = here.and_then(|here| Ok((here, range(here, address, key)?)));
    match both {
        Ok((here, there)) => {
            let access = Access {
                way,
                here,
                peer,
                there: &there,
                context,
                flags,
            };
            // SAFETY: the memory is as this function requires.
            unsafe { start(ep, access) }
        }
        Err(code) => size(Err(code)),
    }
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
    let (here, how) = ([piece(dest, len)], (context, Flags::Usual));
    // SAFETY: the application leaves the buffer alone until the completion, by fi_rma(3).
    unsafe { start_plain(ep, Way::Read, Ok(&here), (peer, address, key), how) }
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
    let how = (context, Flags::Usual);
    // SAFETY: `pieces` leads to `count` pieces, which the application leaves alone until the
    // completion, by fi_rma(3).
    unsafe {
        let here = list(pieces, count);
        start_plain(ep, Way::Read, here, (peer, address, key), how)
    }
}

unsafe extern "C" fn readmsg(ep: *mut FidEp, message: *const FiMsgRma, flags: u64) -> isize {
    // SAFETY: `message` leads to a record with lists as long as it says, and the application leaves
    // the buffers alone until the completion, by fi_rma(3).
    unsafe { start_record(ep, Way::Read, &*message, flags) }
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
    let how = (context, Flags::Usual);
    // SAFETY: `pieces` leads to `count` pieces, whose bytes the application leaves as they are
    // until the completion, by fi_rma(3).
    unsafe {
        let here = list(pieces, count);
        start_plain(ep, Way::Write(None), here, (peer, address, key), how)
    }
}

unsafe extern "C" fn writemsg(ep: *mut FidEp, message: *const FiMsgRma, flags: u64) -> isize {
    // SAFETY: `message` leads to a record with lists as long as it says, and the application leaves
    // the bytes as they are until the completion, by fi_rma(3).
    unsafe {
        let message = &*message;
        let data = (flags & FI_REMOTE_CQ_DATA != 0).then_some(message.data);
        start_record(ep, Way::Write(data), message, flags)
    }
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
    let (here, how) = ([piece(bytes, len)], (context, Flags::Usual));
    let way = Way::Write(Some(data));
    // SAFETY: the application leaves the bytes as they are until the completion, by fi_rma(3).
    unsafe { start_plain(ep, way, Ok(&here), (peer, address, key), how) }
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
    let (here, how) = ([piece(bytes, len)], (null_mut(), Flags::Inject));
    let way = Way::Write(Some(data));
    // SAFETY: `bytes` holds the bytes during the call, by fi_rma(3).
    unsafe { start_plain(ep, way, Ok(&here), (peer, address, key), how) }
}
