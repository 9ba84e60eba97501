//! Memory regions (fi_mr(3)).

use crate::events::{Owner, Source};
use crate::object::{Code, give, no_control, object, only, status, stub, take};
use crate::state::Shared;
use crate::{cntr, domain};
use fi_ofi_abi::*;
use fi_provider::raw::error::Error;
use fi_provider::raw::region::{Addressing, Region, Rights};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// The C object.
#[repr(C)]
#[derive(Debug)]
struct Object {
    fid: FidMr,
    /// None where peers may do nothing.
    region: Option<Arc<Region>>,
    /// Whether accesses of peers are counted.
    is_counted: bool,
    shared: Arc<Shared>,
}

static FID_OPS: FiOps = FiOps {
    size: size_of::<FiOps>(),
    close,
    bind,
    control: no_control,
    ops_open: stub,
    tostr: stub,
    ops_set: stub,
};
pub(crate) static OPS: FiOpsMr = FiOpsMr {
    size: size_of::<FiOpsMr>(),
    reg,
    regv,
    regattr,
};

/// The memory to be registered.
struct Wanted {
    piece: Iovec,
    access: u64,
    offset: u64,
    key: u64,
    flags: u64,
    context: *mut c_void,
}

/// # Safety
/// The memory stays mapped until the region is closed, and `mr` may be written.
unsafe fn register(domain: *mut Fid, wanted: &Wanted, mr: *mut *mut FidMr) -> Result<(), Code> {
    let shared = &object!(domain::Object, domain).shared;
    only(wanted.flags, FI_RMA_EVENT)?;
    let is_counted = wanted.flags & FI_RMA_EVENT != 0 || shared.counts_accesses;
    if wanted.offset != 0 {
        return Err(libc::EINVAL);
    }
    let reads = wanted.access & FI_REMOTE_READ != 0;
    let writes = wanted.access & FI_REMOTE_WRITE != 0;
    let rights = match (reads, writes) {
        (false, false) => None,
        (true, false) => Some(Rights::READ),
        // Atomic operations without results, too.
        (false, true) => Some(Rights::WRITE.and(Rights::ATOMIC)),
        (true, true) => Some(Rights::ALL),
    };
    let addressing = if shared.by_address {
        Addressing::Virtual
    } else {
        Addressing::Offset
    };
    let key = (!shared.chooses_keys).then_some(wanted.key);
    let (memory, len) = (wanted.piece.iov_base.cast(), wanted.piece.iov_len);
    let register = |rights: Rights| {
        let rights = if is_counted {
            rights.and(Rights::COUNTED)
        } else {
            rights
        };
        // SAFETY: the memory stays mapped until the region is closed, by this function's
        // requirement, and is writable where the application lets peers write.
        let region = unsafe { shared.raw.register(memory, len, rights, key, addressing) };
        region.map(Arc::new).map_err(Error::code)
    };
    let region = rights.map(register).transpose()?;
    let object = Object {
        fid: FidMr {
            fid: Fid {
                fclass: FI_CLASS_MR,
                context: wanted.context,
                ops: &FID_OPS,
            },
            mem_desc: std::ptr::null_mut(),
            key: region
                .as_ref()
                .map_or(key.unwrap_or(FI_KEY_NOTAVAIL), |region| region.key()),
        },
        region,
        is_counted,
        shared: Arc::clone(shared),
    };
    shared.lock().regions += 1;
    // SAFETY: `mr` may be written, by this function's requirement; the object begins with its fid.
    unsafe { give(object, mr) };
    Ok(())
}

/// Returns the one piece of memory of a list.
///
/// # Safety
/// `pieces` leads to `count` pieces.
unsafe fn one(pieces: *const Iovec, count: usize) -> Result<Iovec, Code> {
    if count != 1 {
        return Err(libc::EINVAL);
    }
    // SAFETY: there is one piece.
    Ok(unsafe { *pieces })
}

unsafe extern "C" fn reg(
    domain: *mut Fid,
    memory: *const c_void,
    len: usize,
    access: u64,
    offset: u64,
    key: u64,
    flags: u64,
    mr: *mut *mut FidMr,
    context: *mut c_void,
) -> c_int {
    let piece = Iovec {
        iov_base: memory.cast_mut(),
        iov_len: len,
    };
    let wanted = Wanted {
        piece,
        access,
        offset,
        key,
        flags,
        context,
    };
    // SAFETY: the application keeps the memory mapped until it closes the region, and `mr` is where
    // it wants the pointer, by fi_mr(3).
    status(unsafe { register(domain, &wanted, mr) })
}

unsafe extern "C" fn regv(
    domain: *mut Fid,
    pieces: *const Iovec,
    count: usize,
    access: u64,
    offset: u64,
    key: u64,
    flags: u64,
    mr: *mut *mut FidMr,
    context: *mut c_void,
) -> c_int {
    // SAFETY: `pieces` leads to `count` pieces, by fi_mr(3).
    let piece = match unsafe { one(pieces, count) } {
        Ok(piece) => piece,
        Err(code) => return -code,
    };
    let (memory, len) = (piece.iov_base, piece.iov_len);
    // SAFETY: the application keeps the memory mapped until it closes the region, and `mr` is where
    // it wants the pointer, by fi_mr(3).
    unsafe { reg(domain, memory, len, access, offset, key, flags, mr, context) }
}

unsafe extern "C" fn regattr(
    domain: *mut Fid,
    attr: *const FiMrAttr,
    flags: u64,
    mr: *mut *mut FidMr,
) -> c_int {
    let has_iface = object!(domain::Object, domain).shared.api_version >= fi_version(1, 10);
    // SAFETY: `attr` leads to attributes, by fi_mr(3); `iface` is read where it has a meaning only.
    let (attr, is_host) = unsafe { (&*attr, !has_iface || (*attr).iface == FI_HMEM_SYSTEM) };
    if !is_host {
        return -FI_ENOSYS;
    }
    let (pieces, count) = (attr.mr_iov, attr.iov_count);
    let (access, offset, key) = (attr.access, attr.offset, attr.requested_key);
    let context = attr.context;
    // SAFETY: the attributes have a list of `iov_count` pieces of memory that the application keeps
    // mapped until it closes the region, and `mr` is where it wants the pointer, by fi_mr(3).
    unsafe {
        regv(
            domain, pieces, count, access, offset, key, flags, mr, context,
        )
    }
}

/// Binds a region to an endpoint, which changes nothing: it is the domain's; or a counter to the
/// region.
unsafe extern "C" fn bind(fid: *mut Fid, other: *mut Fid, flags: u64) -> c_int {
    let object = object!(Object, fid);
    // SAFETY: `other` is an open object, by fi_mr(3).
    match unsafe { (*other).fclass } {
        FI_CLASS_EP if flags == 0 => 0,
        FI_CLASS_CNTR => {
            let (shared, counter) = object!(cntr::Object, other).place();
            status(bind_counter(object, shared, counter, flags))
        }
        _ => -FI_ENOSYS,
    }
}

fn bind_counter(
    object: &Object,
    shared: &Arc<Shared>,
    counter: u64,
    flags: u64,
) -> Result<(), Code> {
    only(flags, FI_REMOTE_READ | FI_REMOTE_WRITE)?;
    if !Arc::ptr_eq(shared, &object.shared) {
        return Err(FI_EDOMAIN);
    }
    if flags == 0 || !object.is_counted {
        return Err(libc::EINVAL);
    }
    // Nobody accesses a region without rights.
    let Some(region) = &object.region else {
        return Ok(());
    };
    let (owner, source) = (object.owner(), Source::Region(Arc::clone(region)));
    shared.lock().bind_events(owner, &source, counter, flags)
}

impl Object {
    fn owner(&self) -> Owner {
        Owner::Region(std::ptr::from_ref(self).addr())
    }
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: `register` has given the object, and whoever closes it uses it no more.
    let object = unsafe { take::<Object>(fid) };
    let mut objects = object.shared.lock();
    objects.unbind_events(object.owner());
    objects.regions -= 1;
    drop(objects);
    0
}
