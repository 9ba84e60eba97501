//! The fabric (fi_fabric(3)).

use crate::object::{InUse, closing, give, object, status, stub, take, unused};
use crate::{domain, eq, info, wait};
use fi_ofi_abi::*;
use std::ffi::{CStr, c_int, c_void};

/// The C object.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Object {
    fid: FidFabric,
    /// Held by its domains and event queues.
    pub(crate) in_use: InUse,
}

static OPS: FiOps = closing(close);
static FABRIC_OPS: FiOpsFabric = FiOpsFabric {
    size: size_of::<FiOpsFabric>(),
    domain: domain::open,
    passive_ep: stub,
    eq_open: eq::open,
    wait_open: stub,
    trywait: wait::trywait,
    domain2: stub,
};

/// Opens the fabric.
pub(crate) unsafe extern "C" fn open(
    attr: *mut FiFabricAttr,
    fabric: *mut *mut FidFabric,
    context: *mut c_void,
) -> c_int {
    // SAFETY: libfabric hands over attributes, whose name is NULL or a string that ends with a
    // zero.
    let is_ours = unsafe {
        let name = (*attr).name;
        name.is_null() || CStr::from_ptr(name) == info::NAME
    };
    if !is_ours {
        return status(Err(libc::ENODATA));
    }
    let fid = FidFabric {
        fid: Fid {
            fclass: FI_CLASS_FABRIC,
            context,
            ops: &OPS,
        },
        ops: &FABRIC_OPS,
        api_version: 0,
    };
    let in_use = InUse::default();
    // SAFETY: `fabric` is where the caller wants the pointer; the object begins with its fid.
    unsafe { give(Object { fid, in_use }, fabric) };
    0
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    if let Err(code) = unused(&object!(Object, fid).in_use) {
        return -code;
    }
    // SAFETY: `open` has given the object, and its caller uses it no more.
    drop(unsafe { take::<Object>(fid) });
    0
}
