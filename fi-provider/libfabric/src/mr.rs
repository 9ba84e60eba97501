//! Memory regions (fi_mr(3)).

use crate::events::{Owner, Source};
use crate::object::{Code, give, no_control, no_ops, object, only, status, stub, take};
use crate::state::Shared;
use crate::{cntr, domain};
use fi_ofi_abi::*;
use fi_provider::raw::error::Error;
use fi_provider::raw::region::{Memory, Region, Rights};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// The C object.
#[repr(C)]
#[derive(Debug)]
struct Object {
    fid: FidMr,
    reached: Reached,
    /// Whether accesses of peers are counted.
    is_counted: bool,
    shared: Arc<Shared>,
}

/// The memory that peers reach by the object's key, until it is dropped.
#[derive(Debug)]
enum Reached {
    Nothing,
    Region(Arc<Region>),
    Arena { _memory: Memory },
}

static FID_OPS: FiOps = FiOps {
    size: size_of::<FiOps>(),
    close,
    bind,
    control: no_control,
    ops_open: no_ops,
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
    let key = (!shared.chooses_keys).then_some(wanted.key);
    let (memory, len) = (wanted.piece.iov_base.cast(), wanted.piece.iov_len);
    let Some(rights) = rights(wanted.access, is_counted) else {
        let key = key.unwrap_or(FI_KEY_NOTAVAIL);
        let reached = (Reached::Nothing, is_counted);
        // SAFETY: `mr` may be written, by this function's requirement.
        unsafe { give_region(shared, reached, key, wanted.context, mr) };
        return Ok(());
    };
    // SAFETY: the memory stays mapped until the region is closed, by this function's requirement, and
    // is writable where the application lets peers write.
    let region = unsafe {
        let addressing = shared.addressing();
        shared.raw.register(memory, len, rights, key, addressing)
    };
    let region = region.map_err(Error::code)?;
    let key = region.key();
    let reached = (Reached::Region(Arc::new(region)), is_counted);
    // SAFETY: `mr` may be written, by this function's requirement.
    unsafe { give_region(shared, reached, key, wanted.context, mr) };
    Ok(())
}

/// Returns the rights that an access gives to peers, whose accesses are counted if it is asked for.
fn rights(access: u64, is_counted: bool) -> Option<Rights> {
    let reads = access & FI_REMOTE_READ != 0;
    let writes = access & FI_REMOTE_WRITE != 0;
    let rights = match (reads, writes) {
        (false, false) => return None,
        (true, false) => Rights::READ,
        // Atomic operations without results, too.
        (false, true) => Rights::WRITE.and(Rights::ATOMIC),
        (true, true) => Rights::ALL,
    };
    Some(if is_counted {
        rights.and(Rights::COUNTED)
    } else {
        rights
    })
}

/// Takes memory of the arena (`struct farreach_ops_memory` in farreach_fi.h).
///
/// # Safety
/// `domain` is an open domain; `address` and `mr` may be written.
pub(crate) unsafe extern "C" fn allocate(
    domain: *mut FidDomain,
    len: usize,
    access: u64,
    key: u64,
    flags: u64,
    address: *mut *mut c_void,
    mr: *mut *mut FidMr,
    context: *mut c_void,
) -> c_int {
    let shared = &object!(domain::Object, domain).shared;
    if flags != 0 {
        return -FI_EBADFLAGS;
    }
    let Some(rights) = rights(access, shared.counts_accesses) else {
        return status(Err(libc::EINVAL));
    };
    let key = (!shared.chooses_keys).then_some(key);
    let memory = shared.raw.allocate(len, rights, key, shared.addressing());
    status(memory.map_err(Error::code).map(|memory| {
        let (place, key) = (memory.as_ptr(), memory.key());
        let reached = (Reached::Arena { _memory: memory }, false);
        // SAFETY: both may be written, by this function's requirement.
        unsafe {
            address.write(place.cast());
            give_region(shared, reached, key, context, mr);
        }
    }))
}

/// Gives a region to C.
///
/// # Safety
/// `mr` may be written.
unsafe fn give_region(
    shared: &Arc<Shared>,
    (reached, is_counted): (Reached, bool),
    key: u64,
    context: *mut c_void,
    mr: *mut *mut FidMr,
) {
    let object = Object {
        fid: FidMr {
            fid: Fid {
                fclass: FI_CLASS_MR,
                context,
                ops: &FID_OPS,
            },
            mem_desc: std::ptr::null_mut(),
            key,
        },
        reached,
        is_counted,
        shared: Arc::clone(shared),
    };
    shared.lock().regions += 1;
    // SAFETY: `mr` may be written, by this function's requirement; the object begins with its fid.
    unsafe { give(object, mr) };
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
    let Reached::Region(region) = &object.reached else {
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
    // SAFETY: `register` has given the object, and its caller uses it no more.
    let object = unsafe { take::<Object>(fid) };
    let shared = Arc::clone(&object.shared);
    let owner = object.owner();
    drop(object);
    let mut turn = shared.lock();
    turn.unbind_events(owner);
    turn.regions -= 1;
    0
}
