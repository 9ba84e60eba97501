//! The domain (fi_domain(3)).

use crate::object::{InUse, closing, give, object, status, stub, take};
use crate::state::Shared;
use crate::{
    atomic, automatic, av, cntr, contexts, cq, ep, fabric, log, mr, poll, settings,
    shared_contexts, work,
};
use fi_ofi_abi::*;
use fi_provider::device;
use fi_provider::raw::domain::{Config, Domain};
use fi_provider::raw::error::Error;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;

/// The C object.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Object {
    fid: FidDomain,
    /// Makes progress where that is automatic. Ended before all else goes.
    _thread: Option<automatic::Thread>,
    pub(crate) shared: Arc<Shared>,
    _fabric: InUse,
}

static OPS: FiOps = FiOps {
    control: work::control,
    ops_open,
    ..closing(close)
};
/// The further functions of a domain: `struct farreach_ops_memory` in farreach_fi.h.
#[repr(C)]
struct MemoryOps {
    size: usize,
    allocate: unsafe extern "C" fn(
        *mut FidDomain,
        usize,
        u64,
        u64,
        u64,
        *mut *mut c_void,
        *mut *mut FidMr,
        *mut c_void,
    ) -> c_int,
}

static MEMORY_OPS: MemoryOps = MemoryOps {
    size: size_of::<MemoryOps>(),
    allocate: mr::allocate,
};
static DOMAIN_OPS: FiOpsDomain = FiOpsDomain {
    size: size_of::<FiOpsDomain>(),
    av_open: av::open,
    cq_open: cq::open,
    endpoint: ep::open,
    scalable_ep: contexts::open,
    cntr_open: cntr::open,
    poll_open: poll::open,
    stx_ctx: shared_contexts::open_transmit,
    srx_ctx: shared_contexts::open_receive,
    query_atomic: atomic::query,
    query_collective: stub,
    endpoint2: stub,
    newer: [stub],
};

/// Bytes of each ring: the same in all processes, so that a message that goes whole here does so
/// everywhere.
pub(crate) const RING_BYTES: usize = 64 << 10;

pub(crate) unsafe extern "C" fn open(
    fabric: *mut FidFabric,
    info: *mut FiInfo,
    domain: *mut *mut FidDomain,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the fabric is open, and `info` a record of `getinfo` or NULL in its attributes, by
    // fi_domain(3).
    let (api_version, caps, mr_mode, is_alone, is_automatic) = unsafe {
        let caps = info.as_ref().map_or(0, |info| info.caps);
        let attr = info.as_ref().and_then(|info| info.domain_attr.as_ref());
        let attr = attr.map(|attr| {
            let is_alone = attr.threading == FI_THREAD_DOMAIN;
            (attr.mr_mode, is_alone, attr.data_progress)
        });
        let (mr_mode, is_alone, progress) = attr.unwrap_or_default();
        let is_automatic = progress == FI_PROGRESS_AUTO;
        ((*fabric).api_version, caps, mr_mode, is_alone, is_automatic)
    };
    let config = match settings::config() {
        Ok(config) => Config {
            ring_bytes: RING_BYTES,
            ..config
        },
        Err(why) => {
            log::tell(&format!("fi_domain: {why}"));
            return status(Err(libc::EINVAL));
        }
    };
    let raw = match Domain::open(config) {
        Ok(raw) => raw,
        Err(error) => {
            if error == Error::NoDevice {
                let why = device::probe().err();
                let why = why.map_or_else(|| error.to_string(), |why| why.to_string());
                log::tell(&format!("fi_domain: {why}"));
            }
            return status(Err(error.code()));
        }
    };
    let fid = FidDomain {
        fid: Fid {
            fclass: FI_CLASS_DOMAIN,
            context,
            ops: &OPS,
        },
        ops: &DOMAIN_OPS,
        mr: &mr::OPS,
    };
    // A thread of the domain's own is one more.
    let is_shared = !is_alone || is_automatic;
    let shared = Arc::new(Shared::new(raw, is_shared, (caps, mr_mode), api_version));
    let thread = is_automatic.then(|| automatic::start(&shared));
    let thread = match thread.transpose() {
        Ok(thread) => thread,
        Err(code) => return -code,
    };
    let object = Object {
        fid,
        _thread: thread,
        shared,
        _fabric: InUse::clone(&object!(fabric::Object, fabric).in_use),
    };
    // SAFETY: `domain` is where the caller wants the pointer; the object begins with its fid.
    unsafe { give(object, domain) };
    0
}

/// Opens the table of functions of a name (fi_open_ops).
unsafe extern "C" fn ops_open(
    _: *mut Fid,
    name: *const c_char,
    flags: u64,
    ops: *mut *mut c_void,
    _: *mut c_void,
) -> c_int {
    // SAFETY: `name` ends with a zero, by fi_domain(3).
    if unsafe { CStr::from_ptr(name) } != c"farreach_memory" {
        return -FI_ENOSYS;
    }
    if flags != 0 {
        return -FI_EBADFLAGS;
    }
    // SAFETY: `ops` is where the caller wants the pointer; applications only read the table.
    unsafe { ops.write((&raw const MEMORY_OPS).cast_mut().cast()) };
    0
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    if !object!(Object, fid).shared.lock().is_empty() {
        return status(Err(libc::EBUSY));
    }
    // SAFETY: `open` has given the object, and its caller uses it no more.
    drop(unsafe { take::<Object>(fid) });
    0
}
