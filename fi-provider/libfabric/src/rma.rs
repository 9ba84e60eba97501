//! Reading and writing memory of peers (fi_rma(3)).

use crate::info::{INJECT_SIZE, MOST_PIECES};
use crate::object::{Code, only, size};
use crate::state::{Counts, Ep, Own};
use crate::transfer::{
    Flags, How, bytes_of, check_inject, list, piece, read_only, with_report, writable,
};
use crate::work::trigger;
use crate::{deferred::Later, ep, quick};
use fi_ofi_abi::*;
use fi_provider::raw::address_vector::PeerIndex;
use fi_provider::raw::completion::{Context, Counted, CountedContext, Silent};
use fi_provider::raw::endpoint::{Endpoint, Range, RemoteRegion};
use fi_provider::raw::error::Error;
use std::ffi::c_void;
use std::ptr::{from_ref, null_mut};

/// The functions in domains of several threads, and of one at a time.
pub(crate) static SAFE: FiOpsRma = ops::<true>();
pub(crate) static ALONE: FiOpsRma = ops::<false>();

pub(crate) const fn ops<const SAFE: bool>() -> FiOpsRma {
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
    let Some(turn) = quick::turn_now::<SAFE>(ep) else {
        // SAFETY: the application leaves the bytes as they are until the completion, by fi_rma(3).
        return unsafe { write_slowly(ep, bytes, len, desc, peer, address, key, context) };
    };
    if let Some((own, raw)) = quick::quick(ep, &turn)
        && own.usual.is_plain.get()
        // SAFETY: of the endpoint's functions only `write_mapped` is called before the last use.
        && let Some(region) = unsafe { raw.region_now(peer, key) }
    {
        let report = CountedContext(context.addr() as u64);
        // SAFETY: `bytes` holds the bytes, by fi_rma(3).
        if unsafe { raw.write_mapped(region, address, bytes.cast(), len, report) } {
            return 0;
        }
        let is_in_line = region.is_in_line();
        let region = from_ref(region).cast_mut().cast();
        turn.leave();
        // SAFETY: the turn is left to the function, and the region is the endpoint's, which is
        // enabled; the application leaves the bytes as they are until the completion, by fi_rma(3).
        return unsafe {
            if is_in_line {
                write_in_line::<SAFE>(ep, bytes, len, region, peer, address, key, context)
            } else {
                write_beyond::<SAFE>(ep, bytes, len, region, peer, address, key, context)
            }
        };
    }
    turn.leave();
    // SAFETY: the turn is left to the function; the application leaves the bytes as they are until the
    // completion, by fi_rma(3).
    unsafe { write_left::<SAFE>(ep, bytes, len, desc, peer, address, key, context) }
}

/// Writes to a region to which posts are in line, in a turn that was left to it. Calls nothing but at
/// its end.
///
/// # Safety
/// As [`write_beyond`]; [`RemoteRegion::is_in_line`] of the region.
#[inline(never)]
unsafe extern "C" fn write_in_line<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    region: *mut c_void,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let report = CountedContext(context.addr() as u64);
    // SAFETY: the turn was left to this function, which leaves it to the next; the region stays where
    // it is during the turn, as nothing is looked up, and posts to it are in line; `bytes` holds the
    // bytes.
    unsafe {
        let (turn, raw) = quick::turn_left::<SAFE>(ep);
        let known = &*region.cast::<RemoteRegion>();
        if len == size_of::<u64>() && raw.write_word_in_line(known, address, bytes.cast(), report) {
            return 0;
        }
        turn.leave();
        write_widened::<SAFE>(ep, bytes, len, region, peer, address, key, context)
    }
}

/// Does as [`write_in_line`], which has found no room.
///
/// # Safety
/// As [`write_in_line`].
#[inline(never)]
unsafe extern "C" fn write_widened<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    region: *mut c_void,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let report = CountedContext(context.addr() as u64);
    // SAFETY: the turn was left to this function; the region stays where it is during the turn, as
    // nothing is looked up, and posts to it are in line; `bytes` holds the bytes.
    let is_written = unsafe {
        let (_turn, raw) = quick::turn_left::<SAFE>(ep);
        let region = &*region.cast::<RemoteRegion>();
        len == size_of::<u64>() && raw.write_word_widened(region, address, bytes.cast(), report)
    };
    if is_written {
        return 0;
    }
    // SAFETY: the application leaves the bytes as they are until the completion.
    unsafe { write_slowly(ep, bytes, len, null_mut(), peer, address, key, context) }
}

/// Writes by more than few instructions, and ends a turn that was left to it first.
///
/// # Safety
/// As [`quick::end_left`]; the application leaves the bytes as they are until the completion.
#[inline(never)]
unsafe extern "C" fn write_left<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    desc: *mut c_void,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the turn was left to this function; the application leaves the bytes as they are until
    // the completion.
    unsafe {
        quick::end_left::<SAFE>(ep);
        write_slowly(ep, bytes, len, desc, peer, address, key, context)
    }
}

/// What a write needs behind the kernel's copy: in memory, so that no register is saved for it, and
/// restored.
struct Kept<'a> {
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    region: &'a RemoteRegion,
    peer: u64,
    address: u64,
    context: *mut c_void,
}

impl Kept<'_> {
    /// Has the compiler read the fields from memory behind the next call, which may change them for all
    /// it knows.
    #[inline(always)]
    fn show(&mut self) {
        // SAFETY: no instruction.
        unsafe {
            core::arch::asm!("/* {} */", in(reg) self, options(nostack, preserves_flags));
        }
    }
}

/// Writes to a region that is not mapped here, or not as far, in a turn that was left to it: by the
/// kernel.
///
/// # Safety
/// As [`quick::turn_left`]; `region` leads to a region of the endpoint, and the application leaves the
/// bytes as they are until the completion.
#[inline(never)]
unsafe extern "C" fn write_beyond<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    region: *mut c_void,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let report = |context: *mut c_void| CountedContext(context.addr() as u64);
    // SAFETY: the region stays where it is during the turn, as nothing is looked up.
    let known = unsafe { &*region.cast::<RemoteRegion>() };
    // SAFETY: the turn was left to this function.
    let (turn, raw) = unsafe { quick::turn_left::<SAFE>(ep) };
    let may_report = raw.may_report(report(context));
    turn.leave();
    if !may_report {
        // SAFETY: the turn is left to the function; the application leaves the bytes as they are until
        // the completion.
        return unsafe {
            write_left::<SAFE>(ep, bytes, len, null_mut(), peer, address, key, context)
        };
    }
    let mut kept = Kept {
        ep,
        bytes,
        len,
        region: known,
        peer,
        address,
        context,
    };
    kept.show();
    // SAFETY: `bytes` holds the bytes.
    let is_written = unsafe { known.write_by_kernel(address, bytes.cast(), len) };
    // SAFETY: the turn was left to this function; the application leaves the bytes as they are until the
    // completion.
    unsafe {
        if is_written {
            let (_turn, raw) = quick::turn_left::<SAFE>(kept.ep);
            raw.report_written(kept.len, report(kept.context));
            return 0;
        }
        let Kept { ep, bytes, len, .. } = kept;
        let (peer, address, key) = (kept.peer, kept.address, kept.region.key());
        write_left::<SAFE>(ep, bytes, len, null_mut(), peer, address, key, kept.context)
    }
}

#[inline(never)]
unsafe extern "C" fn write_slowly(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    _desc: *mut c_void,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let (here, how) = ([piece(bytes, len)], (context, Flags::Usual));
    // SAFETY: the application leaves the bytes as they are until the completion, by fi_rma(3).
    unsafe { start_plain(ep, Way::Write(None), Ok(&here), (peer, address, key), how) }
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

unsafe extern "C" fn inject<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    peer: u64,
    address: u64,
    key: u64,
) -> isize {
    let Some(turn) = quick::turn_now::<SAFE>(ep) else {
        // SAFETY: `bytes` holds the bytes during the call, by fi_rma(3).
        return unsafe { inject_slowly(ep, bytes, len, peer, address, key) };
    };
    if let Some((_, raw)) = quick::quick(ep, &turn)
        // SAFETY: of the endpoint's functions only `write_mapped` is called before the last use.
        && let Some(region) = unsafe { raw.region_now(peer, key) }
    {
        // SAFETY: `bytes` holds the bytes, by fi_rma(3).
        if unsafe { raw.write_mapped(region, address, bytes.cast(), len, Counted) } {
            return 0;
        }
        let is_in_line = region.is_in_line();
        let region = from_ref(region);
        turn.leave();
        // SAFETY: the turn is left to the function, and the region is the endpoint's, which is
        // enabled; `bytes` holds the bytes.
        return unsafe {
            if is_in_line {
                inject_in_line::<SAFE>(ep, bytes, len, peer, address, region)
            } else {
                inject_beyond::<SAFE>(ep, bytes, len, peer, address, region)
            }
        };
    }
    turn.leave();
    // SAFETY: the turn is left to the function; `bytes` holds the bytes during the call, by fi_rma(3).
    unsafe { inject_left::<SAFE>(ep, bytes, len, peer, address, key) }
}

/// Writes to a region to which posts are in line, in a turn that was left to it. Calls nothing but at
/// its end.
///
/// # Safety
/// As [`inject_beyond`]; [`RemoteRegion::is_in_line`] of the region.
#[inline(never)]
unsafe extern "C" fn inject_in_line<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    peer: u64,
    address: u64,
    region: *const RemoteRegion,
) -> isize {
    // SAFETY: the turn was left to this function, which leaves it to the next; the region stays where
    // it is during the turn, as nothing is looked up, and posts to it are in line; `bytes` holds the
    // bytes.
    unsafe {
        let (turn, raw) = quick::turn_left::<SAFE>(ep);
        if len == size_of::<u64>()
            && raw.write_word_in_line(&*region, address, bytes.cast(), Counted)
        {
            return 0;
        }
        turn.leave();
        inject_widened::<SAFE>(ep, bytes, len, peer, address, region)
    }
}

/// Does as [`inject_in_line`], which has found no room.
///
/// # Safety
/// As [`inject_in_line`].
#[inline(never)]
pub(crate) unsafe extern "C" fn inject_widened<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    peer: u64,
    address: u64,
    region: *const RemoteRegion,
) -> isize {
    // SAFETY: the turn was left to this function; the region stays where it is during the turn, as
    // nothing is looked up, and posts to it are in line; `bytes` holds the bytes.
    let key = unsafe {
        let (_turn, raw) = quick::turn_left::<SAFE>(ep);
        let region = &*region;
        let is_word = len == size_of::<u64>();
        if is_word && raw.write_word_widened(region, address, bytes.cast(), Counted) {
            return 0;
        }
        region.key()
    };
    // SAFETY: `bytes` holds the bytes during the call.
    unsafe { inject_slowly(ep, bytes, len, peer, address, key) }
}

/// Writes by more than few instructions, and ends a turn that was left to it first.
///
/// # Safety
/// As [`quick::end_left`]; `bytes` holds the bytes.
#[inline(never)]
unsafe extern "C" fn inject_left<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    peer: u64,
    address: u64,
    key: u64,
) -> isize {
    // SAFETY: the turn was left to this function; `bytes` holds the bytes during the call.
    unsafe {
        quick::end_left::<SAFE>(ep);
        inject_slowly(ep, bytes, len, peer, address, key)
    }
}

/// Writes to a region that is not mapped here, or not as far, in a turn that was left to it: by the
/// kernel.
///
/// # Safety
/// As [`quick::turn_left`]; the region is one of the endpoint's, and `bytes` holds the bytes.
#[inline(never)]
unsafe extern "C" fn inject_beyond<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    peer: u64,
    address: u64,
    region: *const RemoteRegion,
) -> isize {
    // SAFETY: the region stays where it is during the turn, as nothing is looked up.
    let known = unsafe { &*region };
    let mut kept = Kept {
        ep,
        bytes,
        len,
        region: known,
        peer,
        address,
        context: null_mut(),
    };
    kept.show();
    // SAFETY: `bytes` holds the bytes.
    let is_written = unsafe { known.write_by_kernel(address, bytes.cast(), len) };
    // SAFETY: the turn was left to this function; `bytes` holds the bytes.
    unsafe {
        if is_written {
            let (_turn, raw) = quick::turn_left::<SAFE>(kept.ep);
            raw.report_written(kept.len, Counted);
            return 0;
        }
        let Kept { ep, bytes, len, .. } = kept;
        let (peer, address, key) = (kept.peer, kept.address, kept.region.key());
        inject_left::<SAFE>(ep, bytes, len, peer, address, key)
    }
}

#[inline(never)]
unsafe extern "C" fn inject_slowly(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    peer: u64,
    address: u64,
    key: u64,
) -> isize {
    if len > INJECT_SIZE {
        return size(Err(libc::EMSGSIZE));
    }
    let act = |own: Own<'_>| {
        (own.ep).with_region(peer, key, |raw, region| {
            // SAFETY: `bytes` holds the bytes during the call, by fi_rma(3).
            let bytes = unsafe { crate::msg::bytes(bytes, len) };
            raw.inject_write(region, address, bytes, Counted)
        })
    };
    // It has no flags.
    ep::start(ep, act, |_, _| Err(libc::EINVAL))
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
