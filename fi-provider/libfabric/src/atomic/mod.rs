//! Atomic operations on memory of peers (fi_atomic(3)).

mod add;
mod update;
mod word;

use crate::domain;
use crate::ep::Object;
use crate::object::{object, only, size, status};
use crate::quick;
use crate::transfer::Flags;
use fi_ofi_abi::*;
use fi_provider::raw::completion::Counted;
use fi_provider::raw::endpoint::{Few, RemoteRegion, Typed};
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::ptr::{from_ref, null, null_mut};
pub(crate) use update::{FLAGS, Kind, Update, here, list, there, typed};
use update::{MOST, start};
use word::{at_once, injected, native, one_word};

/// The functions in domains of several threads, and of one at a time.
pub(crate) static SAFE: FiOpsAtomic = ops::<true>();
pub(crate) static ALONE: FiOpsAtomic = ops::<false>();

pub(crate) const fn ops<const SAFE: bool>() -> FiOpsAtomic {
    FiOpsAtomic {
        size: size_of::<FiOpsAtomic>(),
        write: write::<SAFE>,
        writev,
        writemsg,
        inject: inject::<SAFE>,
        readwrite: readwrite::<SAFE>,
        readwritev,
        readwritemsg,
        compwrite: compwrite::<SAFE>,
        compwritev,
        compwritemsg,
        writevalid,
        readwritevalid,
        compwritevalid,
    }
}

unsafe extern "C" fn write<const SAFE: bool>(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    desc: *mut c_void,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
    context: *mut c_void,
) -> isize {
    let there = FiRmaIoc { addr, count, key };
    let (what, values) = ((datatype, operation), (operands, null()));
    // SAFETY: the operand is there during the call, by fi_atomic(3).
    let is_done = unsafe {
        at_once::<SAFE>(
            ep,
            Kind::Base,
            what,
            (peer, there),
            values,
            (null_mut(), context),
        )
    };
    if is_done {
        return 0;
    }
    // SAFETY: the operands are there during the call, by fi_atomic(3).
    unsafe {
        write_slowly(
            ep, operands, count, desc, peer, addr, key, datatype, operation, context,
        )
    }
}

#[inline(never)]
unsafe extern "C" fn write_slowly(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    _desc: *mut c_void,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
    context: *mut c_void,
) -> isize {
    let at = [FiRmaIoc { addr, count, key }];
    let what = (datatype, operation);
    let update = Update {
        operands: &here(operands, count),
        ..Update::usual(Kind::Base, (peer, &at), what, context)
    };
    // SAFETY: the operands are there during the call, by fi_atomic(3), and there are no results.
    unsafe { start(ep, &update) }
}

unsafe extern "C" fn writev(
    ep: *mut FidEp,
    operands: *const FiIoc,
    _desc: *mut *mut c_void,
    count: usize,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
    context: *mut c_void,
) -> isize {
    // SAFETY: there are `count` pieces, by fi_atomic(3).
    let operands = unsafe { list(operands, count) };
    let at = there(addr, key, operands);
    let what = (datatype, operation);
    let update = Update {
        operands,
        ..Update::usual(Kind::Base, (peer, &at), what, context)
    };
    // SAFETY: the operands are there during the call, by fi_atomic(3), and there are no results.
    unsafe { start(ep, &update) }
}

/// Starts the operation of a record.
///
/// # Safety
/// The lists of the record are as long as it says; the operands and comparands are there during the
/// call; the results have room, and are nobody else's until the operation is reported.
unsafe fn of_record(
    ep: *mut FidEp,
    kind: Kind,
    message: *const FiMsgAtomic,
    (comparands, results): (&[FiIoc], &[FiIoc]),
    flags: u64,
) -> isize {
    if let Err(code) = only(flags, FLAGS | FI_TRIGGER) {
        return size(Err(code));
    }
    // SAFETY: the record has lists as long as it says; operands, comparands and results are as
    // `start` requires.
    unsafe {
        let update = Update::of(kind, &*message, (comparands, results), flags);
        start(ep, &update)
    }
}

unsafe extern "C" fn writemsg(ep: *mut FidEp, message: *const FiMsgAtomic, flags: u64) -> isize {
    // SAFETY: the record's lists are as long as it says, and the operands are there during the call,
    // by fi_atomic(3); there are no results.
    unsafe { of_record(ep, Kind::Base, message, (&[], &[]), flags) }
}

unsafe extern "C" fn inject<const SAFE: bool>(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
) -> isize {
    // SAFETY: the operands are there during the call, by fi_atomic(3); the one of an addition is
    // not NULL.
    unsafe {
        // The two types are one addition. The operation comes last: as nothing is known of it
        // before, the function below finds it where this one does.
        if !operands.is_null()
            && count == 1
            && datatype | (FI_INT64 ^ FI_UINT64) == FI_UINT64
            && operation == FI_SUM
        {
            return add::add::<SAFE>(ep, operands, peer, addr, key);
        }
        inject_word::<SAFE>(ep, operands, count, peer, addr, key, datatype, operation)
    }
}

/// Does any operation on one word as [`inject`] adds, which most do.
///
/// # Safety
/// The operands are there during the call.
#[inline(never)]
unsafe extern "C" fn inject_word<const SAFE: bool>(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
) -> isize {
    let turn = match injected(datatype, operation) {
        Some(what) if count == 1 && !operands.is_null() => {
            quick::turn_now::<SAFE>(ep).map(|turn| (turn, what))
        }
        _ => None,
    };
    let Some((turn, what)) = turn else {
        // SAFETY: the operands are there during the call.
        return unsafe { inject_slowly(ep, operands, count, peer, addr, key, datatype, operation) };
    };
    if let Some((_, raw)) = quick::quick(ep, &turn)
        // SAFETY: of the endpoint's functions only `update_injected` is called before the last use.
        && let Some(region) = unsafe { raw.region_now(peer, key) }
    {
        // SAFETY: the operand is there during the call.
        if unsafe { raw.update_injected(region, addr, what, operands.cast()) } {
            return 0;
        }
        let region = from_ref(region);
        turn.leave();
        let word = Typed::wire_of(datatype, operation);
        // SAFETY: the turn is left to the function, the endpoint is enabled, and the region is the
        // endpoint's; the operand is there during the call, of as many bytes as the function wants.
        return unsafe {
            if what.is_long() {
                inject_beyond::<SAFE>(ep, operands, region, peer, addr, word)
            } else {
                inject_far::<SAFE>(ep, operands, region, peer, addr, word)
            }
        };
    }
    turn.leave();
    // SAFETY: the turn is left to the function; the operands are there during the call.
    unsafe { inject_left::<SAFE>(ep, operands, count, peer, addr, key, datatype, operation) }
}

/// Has a word updated by more than few instructions, and ends a turn that was left to it first.
///
/// # Safety
/// As [`quick::end_left`]; the operands are there.
#[inline(never)]
unsafe extern "C" fn inject_left<const SAFE: bool>(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
) -> isize {
    // SAFETY: the turn was left to this function; the operands are there during the call.
    unsafe {
        quick::end_left::<SAFE>(ep);
        inject_slowly(ep, operands, count, peer, addr, key, datatype, operation)
    }
}

/// Has a word of 8 bytes updated that is not mapped here, in a turn that was left to it: by a peer of the
/// node.
///
/// # Safety
/// As [`quick::turn_left`]; the region is one that the endpoint knows by its key, and there is one operand,
/// of an operation on 8 bytes that [`injected`] knows, whose word is `what` ([`Typed::to_wire`]).
#[inline(never)]
unsafe extern "C" fn inject_beyond<const SAFE: bool>(
    ep: *mut FidEp,
    operand: *const c_void,
    region: *const RemoteRegion,
    peer: u64,
    addr: u64,
    what: u64,
) -> isize {
    // SAFETY: the turn was left to this function, which leaves it to the next; that has the same
    // requirements.
    unsafe { ask::<SAFE>(ep, operand, region, peer, addr, what) }
}

/// Does as [`inject_beyond`], in line in functions that have the turn.
///
/// # Safety
/// As [`inject_beyond`].
#[inline(always)]
unsafe fn ask<const SAFE: bool>(
    ep: *mut FidEp,
    operand: *const c_void,
    region: *const RemoteRegion,
    peer: u64,
    addr: u64,
    what: u64,
) -> isize {
    // SAFETY: the region stays where it is during the turn, as nothing is looked up.
    let known = unsafe { &*region };
    // SAFETY: the operand is there, of 8 bytes; the endpoint knows the region by its key.
    let asked = unsafe { known.ask_injected(addr, what, operand.cast()) };
    if asked == Few::Not {
        // SAFETY: the turn is left to the function, which has the same requirements.
        return unsafe { inject_far::<SAFE>(ep, operand, region, peer, addr, what) };
    }
    if asked == Few::Untold {
        // SAFETY: the turn is left to the function, and the region is the endpoint's.
        return unsafe { wake_left::<SAFE>(ep, region) };
    }
    // SAFETY: the turn was left to this function.
    unsafe { quick::end_left::<SAFE>(ep) };
    0
}

/// Wakes the peer of a region, in a turn that was left to it.
///
/// # Safety
/// As [`quick::end_left`]; the region is one of the endpoint's.
#[cold]
#[inline(never)]
unsafe extern "C" fn wake_left<const SAFE: bool>(
    ep: *mut FidEp,
    region: *const RemoteRegion,
) -> isize {
    // SAFETY: the turn was left to this function, and the region stays where it is during the turn.
    unsafe {
        (*region).wake_peer();
        quick::end_left::<SAFE>(ep);
    }
    // Known to nobody, so that the caller ends with the call.
    black_box(0)
}

/// Has a word updated by the device, or in another way, in a turn that was left to it. Calls
/// nothing but at its end.
///
/// # Safety
/// As [`inject_beyond`], but that the word may have 4 bytes.
#[inline(never)]
unsafe extern "C" fn inject_far<const SAFE: bool>(
    ep: *mut FidEp,
    operand: *const c_void,
    region: *const RemoteRegion,
    peer: u64,
    addr: u64,
    what: u64,
) -> isize {
    // SAFETY: the turn was left to this function, which leaves it to the next; the region stays where
    // it is during the turn, as nothing is looked up; the operand is there, and there is no result.
    unsafe {
        let (turn, raw) = quick::turn_left::<SAFE>(ep);
        let known = &*region;
        if known.is_updated_in_line()
            && let Some(native) = native(Kind::Base, Typed::numbers_of(what))
        {
            let one = one_word(known, addr, native, (operand, null()), null_mut());
            if raw.update_word_in_line(&one, Counted) {
                return 0;
            }
        }
        turn.leave();
        inject_widened::<SAFE>(ep, operand, region, peer, addr, what)
    }
}

/// Does as [`inject_far`], which has found no room, or no device.
///
/// # Safety
/// As [`inject_far`].
#[inline(never)]
unsafe extern "C" fn inject_widened<const SAFE: bool>(
    ep: *mut FidEp,
    operand: *const c_void,
    region: *const RemoteRegion,
    peer: u64,
    addr: u64,
    what: u64,
) -> isize {
    let (datatype, operation) = Typed::numbers_of(what);
    // SAFETY: the turn was left to this function; the region stays where it is during the turn, as
    // nothing is looked up.
    let (turn, raw, region) = unsafe {
        let (turn, raw) = quick::turn_left::<SAFE>(ep);
        (turn, raw, &*region)
    };
    if let Some(native) = native(Kind::Base, (datatype, operation)) {
        // SAFETY: the operand is there during the call, and there is no result; posts to a region that
        // is updated in line are.
        let is_done = unsafe {
            let one = one_word(region, addr, native, (operand, null()), null_mut());
            if region.is_updated_in_line() {
                raw.update_word_widened(&one, Counted)
            } else {
                raw.update_beyond_now(&one, what, Counted)
            }
        };
        if is_done {
            return 0;
        }
    }
    let key = region.key();
    drop(turn);
    // SAFETY: the operand is there during the call.
    unsafe { inject_slowly(ep, operand, 1, peer, addr, key, datatype, operation) }
}

#[inline(never)]
unsafe extern "C" fn inject_slowly(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
) -> isize {
    let at = [FiRmaIoc { addr, count, key }];
    let what = (datatype, operation);
    let update = Update {
        operands: &here(operands, count),
        flags: Flags::Inject,
        ..Update::usual(Kind::Base, (peer, &at), what, null_mut())
    };
    // SAFETY: the operands are there during the call, by fi_atomic(3), and there are no results.
    unsafe { start(ep, &update) }
}

unsafe extern "C" fn readwrite<const SAFE: bool>(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    desc: *mut c_void,
    results: *mut c_void,
    result_desc: *mut c_void,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
    context: *mut c_void,
) -> isize {
    let there = FiRmaIoc { addr, count, key };
    let (what, values) = ((datatype, operation), (operands, null()));
    // SAFETY: the operand is there during the call, and the application leaves the result alone until
    // the completion, by fi_atomic(3).
    let is_done = unsafe {
        at_once::<SAFE>(
            ep,
            Kind::Fetch,
            what,
            (peer, there),
            values,
            (results, context),
        )
    };
    if is_done {
        return 0;
    }
    // SAFETY: the operands are there during the call, and the application leaves the results alone
    // until the completion, by fi_atomic(3).
    unsafe {
        readwrite_slowly(
            ep,
            operands,
            count,
            desc,
            results,
            result_desc,
            peer,
            addr,
            key,
            datatype,
            operation,
            context,
        )
    }
}

#[inline(never)]
unsafe extern "C" fn readwrite_slowly(
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
    operation: u32,
    context: *mut c_void,
) -> isize {
    let at = [FiRmaIoc { addr, count, key }];
    let what = (datatype, operation);
    let update = Update {
        operands: &here(operands, count),
        results: &here(results, count),
        ..Update::usual(Kind::Fetch, (peer, &at), what, context)
    };
    // SAFETY: the operands are there during the call, and the application leaves the results alone
    // until the completion, by fi_atomic(3).
    unsafe { start(ep, &update) }
}

unsafe extern "C" fn readwritev(
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
    operation: u32,
    context: *mut c_void,
) -> isize {
    // SAFETY: there are so many pieces of each, by fi_atomic(3).
    let (operands, results) = unsafe { (list(operands, count), list(results, result_count)) };
    let at = there(addr, key, results);
    let what = (datatype, operation);
    let update = Update {
        operands,
        results,
        ..Update::usual(Kind::Fetch, (peer, &at), what, context)
    };
    // SAFETY: the operands are there during the call, and the application leaves the results alone
    // until the completion, by fi_atomic(3).
    unsafe { start(ep, &update) }
}

unsafe extern "C" fn readwritemsg(
    ep: *mut FidEp,
    message: *const FiMsgAtomic,
    results: *mut FiIoc,
    _result_desc: *mut *mut c_void,
    result_count: usize,
    flags: u64,
) -> isize {
    // SAFETY: the lists are as long as is said, the operands are there during the call, and the
    // application leaves the results alone until the completion, by fi_atomic(3).
    unsafe {
        let results = list(results, result_count);
        of_record(ep, Kind::Fetch, message, (&[], results), flags)
    }
}

unsafe extern "C" fn compwrite<const SAFE: bool>(
    ep: *mut FidEp,
    operands: *const c_void,
    count: usize,
    desc: *mut c_void,
    comparands: *const c_void,
    compare_desc: *mut c_void,
    results: *mut c_void,
    result_desc: *mut c_void,
    peer: u64,
    addr: u64,
    key: u64,
    datatype: u32,
    operation: u32,
    context: *mut c_void,
) -> isize {
    let there = FiRmaIoc { addr, count, key };
    let (what, values) = ((datatype, operation), (operands, comparands));
    // SAFETY: operand and comparand are there during the call, and the application leaves the result
    // alone until the completion, by fi_atomic(3).
    let is_done = !comparands.is_null()
        && unsafe {
            at_once::<SAFE>(
                ep,
                Kind::Compare,
                what,
                (peer, there),
                values,
                (results, context),
            )
        };
    if is_done {
        return 0;
    }
    // SAFETY: operands and comparands are there during the call, and the application leaves the
    // results alone until the completion, by fi_atomic(3).
    unsafe {
        compwrite_slowly(
            ep,
            operands,
            count,
            desc,
            comparands,
            compare_desc,
            results,
            result_desc,
            peer,
            addr,
            key,
            datatype,
            operation,
            context,
        )
    }
}

#[inline(never)]
unsafe extern "C" fn compwrite_slowly(
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
    operation: u32,
    context: *mut c_void,
) -> isize {
    let at = [FiRmaIoc { addr, count, key }];
    let what = (datatype, operation);
    let update = Update {
        operands: &here(operands, count),
        comparands: &here(comparands, count),
        results: &here(results, count),
        ..Update::usual(Kind::Compare, (peer, &at), what, context)
    };
    // SAFETY: operands and comparands are there during the call, and the application leaves the
    // results alone until the completion, by fi_atomic(3).
    unsafe { start(ep, &update) }
}

unsafe extern "C" fn compwritev(
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
    operation: u32,
    context: *mut c_void,
) -> isize {
    // SAFETY: there are so many pieces of each, by fi_atomic(3).
    let (operands, comparands, results) = unsafe {
        let comparands = list(comparands, compare_count);
        (
            list(operands, count),
            comparands,
            list(results, result_count),
        )
    };
    let at = there(addr, key, results);
    let what = (datatype, operation);
    let update = Update {
        operands,
        comparands,
        results,
        ..Update::usual(Kind::Compare, (peer, &at), what, context)
    };
    // SAFETY: operands and comparands are there during the call, and the application leaves the
    // results alone until the completion, by fi_atomic(3).
    unsafe { start(ep, &update) }
}

unsafe extern "C" fn compwritemsg(
    ep: *mut FidEp,
    message: *const FiMsgAtomic,
    comparands: *const FiIoc,
    _compare_desc: *mut *mut c_void,
    compare_count: usize,
    results: *mut FiIoc,
    _result_desc: *mut *mut c_void,
    result_count: usize,
    flags: u64,
) -> isize {
    // SAFETY: the lists are as long as is said, operands and comparands are there during the call,
    // and the application leaves the results alone until the completion, by fi_atomic(3).
    unsafe {
        let lists = (list(comparands, compare_count), list(results, result_count));
        of_record(ep, Kind::Compare, message, lists, flags)
    }
}

/// Writes how many elements calls of a kind may have.
///
/// # Safety
/// `count` is NULL or may be written.
unsafe fn valid(ep: *mut FidEp, kind: Kind, what: (u32, u32), count: *mut usize) -> c_int {
    let domain = &object!(Object, ep).shared.raw;
    if !typed(kind, what).is_some_and(|typed| domain.updates(typed)) {
        return status(Err(libc::EOPNOTSUPP));
    }
    // SAFETY: `count` may be written if it is not NULL.
    match unsafe { count.as_mut() } {
        Some(count) => {
            *count = MOST;
            0
        }
        None => status(Err(libc::EINVAL)),
    }
}

unsafe extern "C" fn writevalid(
    ep: *mut FidEp,
    datatype: u32,
    op: u32,
    count: *mut usize,
) -> c_int {
    // SAFETY: `count` is NULL or may be written, by fi_atomic(3).
    unsafe { valid(ep, Kind::Base, (datatype, op), count) }
}

unsafe extern "C" fn readwritevalid(
    ep: *mut FidEp,
    datatype: u32,
    op: u32,
    count: *mut usize,
) -> c_int {
    // SAFETY: `count` is NULL or may be written, by fi_atomic(3).
    unsafe { valid(ep, Kind::Fetch, (datatype, op), count) }
}

unsafe extern "C" fn compwritevalid(
    ep: *mut FidEp,
    datatype: u32,
    op: u32,
    count: *mut usize,
) -> c_int {
    // SAFETY: `count` is NULL or may be written, by fi_atomic(3).
    unsafe { valid(ep, Kind::Compare, (datatype, op), count) }
}

/// Tells whether endpoints of the domain do an operation (fi_query_atomic).
pub(crate) unsafe extern "C" fn query(
    domain: *mut FidDomain,
    datatype: u32,
    operation: u32,
    attr: *mut FiAtomicAttr,
    flags: u64,
) -> c_int {
    let kind = match flags {
        0 => Kind::Base,
        FI_FETCH_ATOMIC => Kind::Fetch,
        FI_COMPARE_ATOMIC => Kind::Compare,
        _ => return -FI_EBADFLAGS,
    };
    let raw = &object!(domain::Object, domain).shared.raw;
    let typed = typed(kind, (datatype, operation)).filter(|typed| raw.updates(*typed));
    // SAFETY: `attr` is NULL or may be written, by fi_atomic(3).
    let attr = unsafe { attr.as_mut() };
    status(match (typed, attr) {
        (None, _) => Err(libc::EOPNOTSUPP),
        (_, None) => Err(libc::EINVAL),
        (Some(typed), Some(attr)) => {
            (attr.count, attr.size) = (MOST, typed.bytes());
            Ok(())
        }
    })
}
