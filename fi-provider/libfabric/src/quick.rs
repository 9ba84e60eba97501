//! Calls of few instructions: how they take their turns, and leave them to others where more is to be
//! done.

use crate::ep::Object;
use crate::object::object;
use crate::state::{Own, Turn};
use fi_ofi_abi::FidEp;
use fi_provider::raw::endpoint::Endpoint;

/// Takes the turn of a call of few instructions: none where another thread has its turn. Such a call
/// leaves the turn, where it cannot be done so, to a function that it calls last ([`Turn::leave`]): it
/// needs no frame then.
#[inline(always)]
pub(crate) fn turn_now<'a, const SAFE: bool>(ep: *mut FidEp) -> Option<Turn<'a>> {
    object!(Object, ep).shared.lock_at_once::<SAFE>()
}

/// Returns the endpoint for such a call: none where it is not enabled, or calls have more to do
/// ([`crate::state::Objects::is_special`]).
#[inline(always)]
pub(crate) fn quick<'a>(ep: *mut FidEp, turn: &Turn<'_>) -> Option<(Own<'a>, &'a Endpoint)> {
    let own = object!(Object, ep).own(turn);
    Some((own, own.ep.quick()?))
}

/// Ends a turn that was left to the caller.
///
/// # Safety
/// As [`crate::state::Shared::left`].
#[inline(always)]
pub(crate) unsafe fn end_left<const SAFE: bool>(ep: *mut FidEp) {
    let shared = &object!(Object, ep).shared;
    // SAFETY: this thread has left the turn, for the caller alone.
    drop(unsafe { shared.left::<SAFE>() });
}

/// Ends the turn of a call that has done its operation; returns 0. Finds the lock by the object, so
/// that the caller keeps no register for it.
#[inline(always)]
pub(crate) fn done<const SAFE: bool>(turn: Turn<'_>, ep: *mut FidEp) -> isize {
    turn.leave();
    // SAFETY: the turn at the object's domain was just left, to this function alone.
    unsafe { end_left::<SAFE>(ep) };
    0
}

/// Does an operation in a turn that was left to the caller, whether it was done: not where
/// [`quick`] finds no endpoint. Ends the turn.
///
/// # Safety
/// As [`crate::state::Shared::left`].
#[inline(always)]
pub(crate) unsafe fn in_left<const SAFE: bool>(
    ep: *mut FidEp,
    act: impl FnOnce(Own<'_>, &Endpoint) -> bool,
) -> bool {
    let shared = &object!(Object, ep).shared;
    // SAFETY: this thread has left the turn, for the caller alone.
    let turn = unsafe { shared.left::<SAFE>() };
    quick(ep, &turn).is_some_and(|(own, raw)| act(own, raw))
}

/// Takes over the turn that was left to a function ([`Turn::leave`]), with the endpoint.
///
/// # Safety
/// As [`crate::state::Shared::left`]; the endpoint is enabled.
#[inline(always)]
pub(crate) unsafe fn turn_left<'a, const SAFE: bool>(ep: *mut FidEp) -> (Turn<'a>, &'a Endpoint) {
    let object = object!(Object, ep);
    // SAFETY: this thread has left the turn, for this function alone.
    let turn = unsafe { object.shared.left::<SAFE>() };
    // SAFETY: the endpoint is enabled.
    let raw = unsafe { object.ep.get(&turn).raw.get().unwrap_unchecked() };
    (turn, raw)
}

/// Does an operation of few instructions, whether it was done: not where there is no turn for it
/// ([`turn_now`]), nor an endpoint ([`quick`]). Functions that are called then do all that it does.
#[inline(always)]
pub(crate) fn at_once<const SAFE: bool>(
    ep: *mut FidEp,
    act: impl FnOnce(Own<'_>, &Endpoint) -> bool,
) -> bool {
    let Some(turn) = turn_now::<SAFE>(ep) else {
        return false;
    };
    quick(ep, &turn).is_some_and(|(own, raw)| act(own, raw))
}
