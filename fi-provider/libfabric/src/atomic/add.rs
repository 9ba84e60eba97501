//! Additions to one word that do not return its former value, which are most atomic operations.

use super::{ask, inject_slowly};
use crate::quick;
use fi_ofi_abi::*;
use fi_provider::raw::endpoint::{RemoteRegion, Typed};
use std::ffi::c_void;
use std::ptr::from_ref;

/// The addition of [`add`], as peers are asked for it.
const ADDITION: u64 = Typed::wire_of(FI_UINT64, FI_SUM);

/// Adds to one word of 8 bytes.
///
/// # Safety
/// The operand is there during the call.
#[inline(always)]
pub(super) unsafe fn add<const SAFE: bool>(
    ep: *mut FidEp,
    operand: *const c_void,
    peer: u64,
    addr: u64,
    key: u64,
) -> isize {
    let Some(turn) = quick::turn_now::<SAFE>(ep) else {
        // SAFETY: the operand is there during the call.
        return unsafe { add_slowly(ep, operand, key, peer, addr) };
    };
    if let Some((_, raw)) = quick::quick(ep, &turn)
        // SAFETY: of the endpoint's functions only `add_injected` is called before the last use.
        && let Some(region) = unsafe { raw.region_now(peer, key) }
    {
        // SAFETY: the operand is there during the call.
        if unsafe { raw.add_injected(region, addr, operand.cast()) } {
            return quick::done::<SAFE>(turn, ep);
        }
        let is_in_line = region.is_updated_in_line();
        let region = from_ref(region);
        turn.leave();
        // SAFETY: the turn is left to the function, the endpoint is enabled and knows the region by
        // its key, and the device adds where it says so; the operand is there during the call, of 8
        // bytes.
        return unsafe {
            if is_in_line {
                add_in_line::<SAFE>(ep, operand, region, peer, addr)
            } else {
                add_beyond::<SAFE>(ep, operand, region, peer, addr)
            }
        };
    }
    turn.leave();
    // SAFETY: the turn is left to the function; the operand is there during the call.
    unsafe { add_left::<SAFE>(ep, operand, key, peer, addr) }
}

/// Has a peer of the node add, in a turn that was left to it.
///
/// # Safety
/// As [`super::inject_beyond`], of an addition.
#[inline(never)]
unsafe extern "C" fn add_beyond<const SAFE: bool>(
    ep: *mut FidEp,
    operand: *const c_void,
    region: *const RemoteRegion,
    peer: u64,
    addr: u64,
) -> isize {
    // SAFETY: the turn was left to this function, which leaves it to the next; that has the same
    // requirements.
    unsafe { ask::<SAFE>(ep, operand, region, peer, addr, ADDITION) }
}

/// Has the device add, in a turn that was left to it. Calls nothing but at its end.
///
/// # Safety
/// As [`super::inject_beyond`], of an addition; [`RemoteRegion::is_updated_in_line`] of the region.
#[inline(never)]
unsafe extern "C" fn add_in_line<const SAFE: bool>(
    ep: *mut FidEp,
    operand: *const c_void,
    region: *const RemoteRegion,
    peer: u64,
    addr: u64,
) -> isize {
    // SAFETY: the turn was left to this function, which leaves it to the next; the region stays
    // where it is during the turn, as nothing is looked up, and is known by its key; the operand is
    // there, of 8 bytes.
    unsafe {
        let (turn, raw) = quick::turn_left::<SAFE>(ep);
        if raw.add_in_line(&*region, addr, operand.cast()) {
            return quick::done::<SAFE>(turn, ep);
        }
        turn.leave();
        add_wider::<SAFE>(ep, operand, region, peer, addr)
    }
}

/// Does as [`add_in_line`], which has declined: once more where there is more room than before.
///
/// # Safety
/// As [`add_in_line`].
#[inline(never)]
unsafe extern "C" fn add_wider<const SAFE: bool>(
    ep: *mut FidEp,
    operand: *const c_void,
    region: *const RemoteRegion,
    peer: u64,
    addr: u64,
) -> isize {
    // SAFETY: the turn is left to the next function, which has the same requirements; the region
    // stays where it is during the turn, which is at the endpoint that has found it.
    unsafe {
        if (*region).widen_at_once() {
            return add_in_line::<SAFE>(ep, operand, region, peer, addr);
        }
        add_left::<SAFE>(ep, operand, (*region).key(), peer, addr)
    }
}

/// Adds by more than few instructions, and ends a turn that was left to it first.
///
/// # Safety
/// As [`quick::end_left`]; the operand is there.
#[inline(never)]
unsafe extern "C" fn add_left<const SAFE: bool>(
    ep: *mut FidEp,
    operand: *const c_void,
    key: u64,
    peer: u64,
    addr: u64,
) -> isize {
    // SAFETY: the turn was left to this function; the operand is there during the call.
    unsafe {
        quick::end_left::<SAFE>(ep);
        add_slowly(ep, operand, key, peer, addr)
    }
}

#[inline(never)]
unsafe extern "C" fn add_slowly(
    ep: *mut FidEp,
    operand: *const c_void,
    key: u64,
    peer: u64,
    addr: u64,
) -> isize {
    // SAFETY: the operand is there during the call.
    unsafe { inject_slowly(ep, operand, 1, peer, addr, key, FI_UINT64, FI_SUM) }
}
