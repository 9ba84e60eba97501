//! Writes of few instructions: to memory that is mapped here, by posts in line to a device, and by
//! one call of the kernel. All others go on in functions that are called last, so that these need
//! no frame.

use super::{Way, start_plain};
use crate::info::INJECT_SIZE;
use crate::object::size;
use crate::state::Own;
use crate::transfer::{Flags, piece};
use crate::{ep, quick};
use fi_ofi_abi::FidEp;
use fi_provider::raw::completion::{Counted, CountedContext};
use fi_provider::raw::endpoint::{KernelWrite, RemoteRegion};
use std::ffi::c_void;
use std::ptr::{from_ref, null_mut};

/// The bytes of a word.
const WORD_BYTES: usize = size_of::<u64>();

pub(super) unsafe extern "C" fn write<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    _desc: *mut c_void,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the application leaves the bytes as they are until the completion, by fi_rma(3).
    unsafe {
        if len == WORD_BYTES {
            write_now::<SAFE, true>(ep, bytes, len, (peer, address, key), context)
        } else {
            write_few::<SAFE>(ep, bytes, len, peer, address, key, context)
        }
    }
}

/// Writes bytes that are no word.
///
/// # Safety
/// The application leaves the bytes as they are until the completion.
#[inline(never)]
unsafe extern "C" fn write_few<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    peer: u64,
    address: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: the application leaves the bytes as they are until the completion.
    unsafe { write_now::<SAFE, false>(ep, bytes, len, (peer, address, key), context) }
}

/// Writes where the region is known, a word of 8 bytes or others: at once where it is mapped here,
/// else by a function that is called last. Those have six arguments for a word, in registers, of
/// which the last ones are where they are here.
///
/// # Safety
/// The application leaves the bytes as they are until the completion; there are 8 where they are a
/// `WORD`.
#[inline(always)]
unsafe fn write_now<const SAFE: bool, const WORD: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    (peer, address, key): (u64, u64, u64),
    context: *mut c_void,
) -> isize {
    let Some(turn) = quick::turn_now::<SAFE>(ep) else {
        // SAFETY: the application leaves the bytes as they are until the completion.
        return unsafe { write_slowly::<WORD>(ep, bytes, context, key, peer, address, len) };
    };
    if let Some((own, raw)) = quick::quick(ep, &turn)
        && own.usual.is_plain.get()
        // SAFETY: of the endpoint's functions only `write_word_mapped` or `write_mapped` is called
        // before the last use.
        && let Some(region) = unsafe { raw.region_now(peer, key) }
    {
        let (source, report) = (bytes.cast(), CountedContext(context.addr() as u64));
        // SAFETY: `bytes` holds the bytes, 8 of a word.
        let is_written = unsafe {
            if WORD {
                raw.write_word_mapped(region, address, source, report)
            } else {
                raw.write_mapped(region, address, source, len, report)
            }
        };
        if is_written {
            return quick::done::<SAFE>(turn, ep);
        }
        let is_in_line = region.is_in_line();
        let region = from_ref(region);
        turn.leave();
        // SAFETY: the turn is left to the function; the region is the endpoint's, which knows it by
        // its key and is enabled, and posts to it are in line where it says so; the application
        // leaves the bytes as they are until the completion, 8 of a word.
        return unsafe {
            match (is_in_line, WORD) {
                (true, true) => write_in_line::<SAFE>(ep, bytes, context, region, peer, address),
                (true, false) => {
                    write_left::<SAFE, WORD>(ep, bytes, context, key, peer, address, len)
                }
                (false, _) => {
                    write_beyond::<SAFE, WORD>(ep, bytes, context, region, peer, address, len)
                }
            }
        };
    }
    turn.leave();
    // SAFETY: the turn is left to the function; the application leaves the bytes as they are until
    // the completion.
    unsafe { write_left::<SAFE, WORD>(ep, bytes, context, key, peer, address, len) }
}

/// Writes 8 bytes to a region to which posts are in line, in a turn that was left to it. Calls
/// nothing but at its end.
///
/// # Safety
/// As [`write_beyond`]; [`RemoteRegion::is_in_line`] of the region, and there are 8 bytes.
#[inline(never)]
unsafe extern "C" fn write_in_line<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    context: *mut c_void,
    region: *const RemoteRegion,
    peer: u64,
    address: u64,
) -> isize {
    let report = CountedContext(context.addr() as u64);
    // SAFETY: the turn was left to this function, which leaves it to the next; the region stays
    // where it is during the turn, as nothing is looked up, is known by its key, and posts to it
    // are in line; `bytes` holds 8 bytes.
    unsafe {
        let (turn, raw) = quick::turn_left::<SAFE>(ep);
        if raw.write_known_word_in_line(&*region, address, bytes.cast(), report) {
            return quick::done::<SAFE>(turn, ep);
        }
        turn.leave();
        write_wider::<SAFE>(ep, bytes, context, region, peer, address)
    }
}

/// Does as [`write_in_line`], which has declined: once more where there is more room than before.
///
/// # Safety
/// As [`write_in_line`].
#[inline(never)]
unsafe extern "C" fn write_wider<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    context: *mut c_void,
    region: *const RemoteRegion,
    peer: u64,
    address: u64,
) -> isize {
    // SAFETY: the turn is left to the next function, which has the same requirements; the region
    // stays where it is during the turn, which is at the endpoint that has found it.
    unsafe {
        if (*region).widen_at_once() {
            return write_in_line::<SAFE>(ep, bytes, context, region, peer, address);
        }
        let key = (*region).key();
        write_left::<SAFE, true>(ep, bytes, context, key, peer, address, WORD_BYTES)
    }
}

/// Writes by more than few instructions, and ends a turn that was left to it first.
///
/// # Safety
/// As [`quick::end_left`]; the application leaves the bytes as they are until the completion, 8 of
/// a `WORD`.
#[inline(never)]
unsafe extern "C" fn write_left<const SAFE: bool, const WORD: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    context: *mut c_void,
    key: u64,
    peer: u64,
    address: u64,
    len: usize,
) -> isize {
    // SAFETY: the turn was left to this function; the application leaves the bytes as they are
    // until the completion.
    unsafe {
        quick::end_left::<SAFE>(ep);
        write_slowly::<WORD>(ep, bytes, context, key, peer, address, len)
    }
}

/// # Safety
/// The application leaves the bytes as they are until the completion, 8 of a `WORD`.
#[inline(never)]
unsafe extern "C" fn write_slowly<const WORD: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    context: *mut c_void,
    key: u64,
    peer: u64,
    address: u64,
    len: usize,
) -> isize {
    let len = if WORD { WORD_BYTES } else { len };
    let (here, how) = ([piece(bytes, len)], (context, Flags::Usual));
    // SAFETY: the application leaves the bytes as they are until the completion.
    unsafe { start_plain(ep, Way::Write(None), Ok(&here), (peer, address, key), how) }
}

/// Arguments that a write needs behind the kernel's copy, beside the [`KernelWrite`]: in memory, so
/// that no register is saved for them, and restored.
struct Kept<'a> {
    ep: *mut FidEp,
    region: &'a RemoteRegion,
    peer: u64,
    context: *mut c_void,
}

impl Kept<'_> {
    /// Has the compiler read the fields from memory behind the next call, which may change them for
    /// all it knows.
    #[inline(always)]
    fn show(&mut self) {
        // SAFETY: no instruction.
        unsafe {
            core::arch::asm!("/* {} */", in(reg) self, options(nostack, preserves_flags));
        }
    }
}

/// Returns the kernel's copy of bytes, 8 where they are a `WORD`; none where there is none at once.
#[inline(always)]
fn by_kernel<const WORD: bool>(
    region: &RemoteRegion,
    address: u64,
    bytes: *const c_void,
    len: usize,
) -> Option<KernelWrite> {
    if WORD {
        region.word_by_kernel(address, bytes.cast())
    } else {
        region.by_kernel(address, bytes.cast(), len)
    }
}

/// Writes to a region that is not mapped here, or not as far, in a turn that was left to it: by the
/// kernel.
///
/// # Safety
/// As [`quick::turn_left`]; the region is one that the endpoint knows by its key, and the
/// application leaves the bytes as they are until the completion, 8 of a `WORD`.
#[inline(never)]
unsafe extern "C" fn write_beyond<const SAFE: bool, const WORD: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    context: *mut c_void,
    region: *const RemoteRegion,
    peer: u64,
    address: u64,
    len: usize,
) -> isize {
    let report = |context: *mut c_void| CountedContext(context.addr() as u64);
    // SAFETY: the region stays where it is during the turn, as nothing is looked up.
    let known = unsafe { &*region };
    // SAFETY: the turn was left to this function.
    let (turn, raw) = unsafe { quick::turn_left::<SAFE>(ep) };
    let may_report = raw.may_report(report(context));
    turn.leave();
    let write = by_kernel::<WORD>(known, address, bytes, len);
    let Some(write) = write.filter(|_| may_report) else {
        // SAFETY: the turn is left to the function; the application leaves the bytes as they are
        // until the completion.
        return unsafe {
            write_left::<SAFE, WORD>(ep, bytes, context, known.key(), peer, address, len)
        };
    };
    let mut kept = Kept {
        ep,
        region: known,
        peer,
        context,
    };
    kept.show();
    // SAFETY: `bytes` holds the bytes.
    let is_written = unsafe { write.run() };
    // SAFETY: the turn was left to this function, which leaves it to the next; the application
    // leaves the bytes as they are until the completion.
    unsafe {
        let Kept { ep, context, .. } = kept;
        if !is_written {
            let (bytes, address) = (write.source().cast(), kept.region.address_of(&write));
            let (key, peer, len) = (kept.region.key(), kept.peer, write.bytes());
            return write_left::<SAFE, WORD>(ep, bytes, context, key, peer, address, len);
        }
        let (turn, raw) = quick::turn_left::<SAFE>(ep);
        if raw.report_written_if_open(write.bytes(), report(context)) {
            return quick::done::<SAFE>(turn, ep);
        }
        turn.leave();
        write_reported::<SAFE>(ep, context, write.bytes())
    }
}

/// Reports a write that is done, in a turn that was left to it.
///
/// # Safety
/// As [`quick::turn_left`].
#[cold]
#[inline(never)]
unsafe extern "C" fn write_reported<const SAFE: bool>(
    ep: *mut FidEp,
    context: *mut c_void,
    len: usize,
) -> isize {
    // SAFETY: the turn was left to this function, and the endpoint is enabled.
    let (_turn, raw) = unsafe { quick::turn_left::<SAFE>(ep) };
    raw.report_written(len, CountedContext(context.addr() as u64));
    0
}

pub(crate) unsafe extern "C" fn inject<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    peer: u64,
    address: u64,
    key: u64,
) -> isize {
    // SAFETY: `bytes` holds the bytes during the call, by fi_rma(3).
    unsafe {
        if len == WORD_BYTES {
            inject_now::<SAFE, true>(ep, bytes, len, peer, address, key)
        } else {
            inject_few::<SAFE>(ep, bytes, len, peer, address, key)
        }
    }
}

/// Writes bytes that are no word.
///
/// # Safety
/// `bytes` holds the bytes.
#[inline(never)]
unsafe extern "C" fn inject_few<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    peer: u64,
    address: u64,
    key: u64,
) -> isize {
    // SAFETY: `bytes` holds the bytes.
    unsafe { inject_now::<SAFE, false>(ep, bytes, len, peer, address, key) }
}

/// Writes where the region is known, a word of 8 bytes or others: at once where it is mapped here,
/// else by a function that is called last.
///
/// # Safety
/// `bytes` holds the bytes, 8 where they are a `WORD`.
#[inline(always)]
unsafe fn inject_now<const SAFE: bool, const WORD: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    peer: u64,
    address: u64,
    key: u64,
) -> isize {
    let Some(turn) = quick::turn_now::<SAFE>(ep) else {
        // SAFETY: `bytes` holds the bytes.
        return unsafe { inject_slowly(ep, bytes, len, peer, address, key) };
    };
    if let Some((_, raw)) = quick::quick(ep, &turn)
        // SAFETY: of the endpoint's functions only `write_word_mapped` or `write_mapped` is called
        // before the last use.
        && let Some(region) = unsafe { raw.region_now(peer, key) }
    {
        let source = bytes.cast();
        // SAFETY: `bytes` holds the bytes, 8 of a word.
        let is_written = unsafe {
            if WORD {
                raw.write_word_mapped(region, address, source, Counted)
            } else {
                raw.write_mapped(region, address, source, len, Counted)
            }
        };
        if is_written {
            return quick::done::<SAFE>(turn, ep);
        }
        let is_in_line = region.is_in_line();
        let region = from_ref(region);
        turn.leave();
        // SAFETY: the turn is left to the function; the region is the endpoint's, which knows it by
        // its key and is enabled, and posts to it are in line where it says so; `bytes` holds the
        // bytes, 8 of a word.
        return unsafe {
            match (is_in_line, WORD) {
                (true, true) => inject_in_line::<SAFE>(ep, bytes, region, peer, address),
                (true, false) => inject_left::<SAFE>(ep, bytes, len, peer, address, key),
                (false, _) => inject_beyond::<SAFE, WORD>(ep, bytes, len, peer, address, region),
            }
        };
    }
    turn.leave();
    // SAFETY: the turn is left to the function; `bytes` holds the bytes.
    unsafe { inject_left::<SAFE>(ep, bytes, len, peer, address, key) }
}

/// Writes 8 bytes to a region to which posts are in line, in a turn that was left to it. Calls
/// nothing but at its end.
///
/// # Safety
/// As [`inject_beyond`]; [`RemoteRegion::is_in_line`] of the region, which the endpoint knows by
/// its key, and there are 8 bytes.
#[inline(never)]
unsafe extern "C" fn inject_in_line<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    region: *const RemoteRegion,
    peer: u64,
    address: u64,
) -> isize {
    // SAFETY: the turn was left to this function, which leaves it to the next; the region stays
    // where it is during the turn, as nothing is looked up, is known by its key, and posts to it
    // are in line; `bytes` holds 8 bytes.
    unsafe {
        let (turn, raw) = quick::turn_left::<SAFE>(ep);
        if raw.write_known_word_in_line(&*region, address, bytes.cast(), Counted) {
            return quick::done::<SAFE>(turn, ep);
        }
        turn.leave();
        inject_wider::<SAFE>(ep, bytes, region, peer, address)
    }
}

/// Does as [`inject_in_line`], which has declined: once more where there is more room than before.
///
/// # Safety
/// As [`inject_in_line`].
#[inline(never)]
pub(crate) unsafe extern "C" fn inject_wider<const SAFE: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    region: *const RemoteRegion,
    peer: u64,
    address: u64,
) -> isize {
    // SAFETY: the turn is left to the next function, which has the same requirements; the region
    // stays where it is during the turn, which is at the endpoint that has found it.
    unsafe {
        if (*region).widen_at_once() {
            return inject_in_line::<SAFE>(ep, bytes, region, peer, address);
        }
        inject_left::<SAFE>(ep, bytes, WORD_BYTES, peer, address, (*region).key())
    }
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
/// As [`quick::turn_left`]; the region is one of the endpoint's, and `bytes` holds the bytes, 8 of
/// a `WORD`.
#[inline(never)]
unsafe extern "C" fn inject_beyond<const SAFE: bool, const WORD: bool>(
    ep: *mut FidEp,
    bytes: *const c_void,
    len: usize,
    peer: u64,
    address: u64,
    region: *const RemoteRegion,
) -> isize {
    // SAFETY: the region stays where it is during the turn, as nothing is looked up.
    let known = unsafe { &*region };
    let Some(write) = by_kernel::<WORD>(known, address, bytes, len) else {
        // SAFETY: the turn is left to the function; `bytes` holds the bytes.
        return unsafe { inject_left::<SAFE>(ep, bytes, len, peer, address, known.key()) };
    };
    let mut kept = Kept {
        ep,
        region: known,
        peer,
        context: null_mut(),
    };
    kept.show();
    // SAFETY: `bytes` holds the bytes.
    let is_written = unsafe { write.run() };
    // SAFETY: the turn was left to this function, which leaves it to the next; `bytes` holds the
    // bytes.
    unsafe {
        let ep = kept.ep;
        if !is_written {
            let (bytes, address) = (write.source().cast(), kept.region.address_of(&write));
            let (key, peer, len) = (kept.region.key(), kept.peer, write.bytes());
            return inject_left::<SAFE>(ep, bytes, len, peer, address, key);
        }
        let (turn, raw) = quick::turn_left::<SAFE>(ep);
        raw.report_written(write.bytes(), Counted);
        quick::done::<SAFE>(turn, ep)
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
