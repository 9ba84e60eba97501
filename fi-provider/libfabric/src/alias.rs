//! Aliases of endpoints (fi_endpoint(3), fi_ep_alias): C objects of the same endpoint, with flags of
//! their own for operations that have none.

use crate::ep::Object;
use crate::info;
use crate::object::{Code, closing, give, object, only, take};
use crate::state::{Turn, Usual};
use fi_ofi_abi::*;
use std::ffi::c_int;
use std::sync::Arc;

static OPS: FiOps = closing(close);

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
    let (sides, flags) = (
        wanted.flags & (FI_SEND | FI_RECV),
        wanted.flags & !(FI_SEND | FI_RECV),
    );
    let own = endpoint.own(turn);
    let (mut transmit, mut receive) = (own.usual.transmit(), own.usual.receive());
    if flags & FI_TRIGGER != 0 && own.ep.caps & FI_TRIGGER == 0 {
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
    let alias = endpoint.alias(turn, &OPS, Usual::new(transmit, receive));
    // SAFETY: `fid` is where the caller wants the pointer; the object begins with its fid.
    unsafe { give(alias, wanted.fid) };
    Ok(())
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    let shared = Arc::clone(&object!(Object, fid).shared);
    // Its handle of the endpoint goes in this turn.
    let turn = shared.lock();
    // SAFETY: `open` has given the object, and its caller uses it no more.
    drop(unsafe { take::<Object>(fid) });
    drop(turn);
    0
}
