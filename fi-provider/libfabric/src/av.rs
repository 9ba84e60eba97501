//! Address vectors (fi_av(3)).

use crate::direct;
use crate::domain;
use crate::eq::{self, Events, Failed};
use crate::object::{Code, InUse, closing, give, object, only, status, stub, take};
use crate::state::{Shared, Vector};
use fi_ofi_abi::*;
use fi_provider::raw::address::Address;
use fi_provider::raw::address_vector::{AddressVector, PeerIndex};
use fi_provider::raw::error::Error;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, OnceLock};

/// The C object.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Object {
    fid: FidAv,
    number: u64,
    shared: Arc<Shared>,
    /// Whether the ends of insertions are told to a queue of events.
    tells: bool,
    /// The queue of events, once it is bound.
    events: OnceLock<(Arc<Events>, InUse)>,
}

static OPS: FiOps = FiOps {
    bind,
    ..closing(close)
};
static AV_OPS: FiOpsAv = FiOpsAv {
    size: size_of::<FiOpsAv>(),
    insert,
    insertsvc,
    insertsym,
    remove,
    lookup,
    straddr,
    av_set: stub,
    newer: [stub; 4],
};

/// Bits for receive contexts, at most: a peer of context 0 is its number alone, and no address with
/// another context may be a number.
const MOST_CONTEXT_BITS: u32 = 32;

impl Object {
    /// Returns the domain, and the number there.
    pub(crate) fn place(&self) -> (&Arc<Shared>, u64) {
        (&self.shared, self.number)
    }
}

pub(crate) unsafe extern "C" fn open(
    domain: *mut FidDomain,
    attr: *mut FiAvAttr,
    av: *mut *mut FidAv,
    context: *mut c_void,
) -> c_int {
    let shared = &object!(domain::Object, domain).shared;
    let (mut context_bits, mut tells) = (0, false);
    let mut raw = AddressVector::new();
    // SAFETY: `attr` is NULL or attributes, which nobody else uses meanwhile, by fi_av(3).
    if let Some(attr) = unsafe { attr.as_mut() } {
        let bits = u32::try_from(attr.rx_ctx_bits).ok();
        let bits = bits.filter(|&bits| bits <= MOST_CONTEXT_BITS);
        let (Some(bits), ..=FI_AV_TABLE) = (bits, attr.r#type) else {
            return status(Err(libc::EINVAL));
        };
        context_bits = bits;
        if let Err(code) = only(attr.flags, FI_SYMMETRIC | FI_EVENT | FI_READ) {
            return -code;
        }
        let is_read_only = attr.flags & FI_READ != 0;
        if !attr.name.is_null() {
            // SAFETY: the name ends with a zero, by fi_av(3).
            let name = unsafe { CStr::from_ptr(attr.name) };
            raw = match AddressVector::open_shared(name.to_bytes(), !is_read_only) {
                Ok(raw) => raw,
                Err(error) => return status(Err(error.code())),
            };
            if attr.map_addr.is_null() {
                let numbers = raw.shared_numbers();
                attr.map_addr = numbers.map_or(null_mut(), |it| it.cast_mut().cast());
            }
        } else if is_read_only {
            return status(Err(libc::EINVAL));
        }
        tells = attr.flags & FI_EVENT != 0;
        if attr.r#type == FI_AV_UNSPEC {
            attr.r#type = FI_AV_TABLE;
        }
    }
    let number = shared.lock().vectors.add(Vector {
        raw,
        context_bits,
        users: 0,
    });
    let fid = FidAv {
        fid: Fid {
            fclass: FI_CLASS_AV,
            context,
            ops: &OPS,
        },
        ops: &AV_OPS,
    };
    let shared = Arc::clone(shared);
    let object = Object {
        fid,
        number,
        shared,
        tells,
        events: OnceLock::new(),
    };
    // SAFETY: `av` is where the caller wants the pointer; the object begins with its fid.
    unsafe { give(object, av) };
    0
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    let object = object!(Object, fid);
    let mut objects = object.shared.lock();
    if objects
        .vectors
        .get(object.number)
        .is_some_and(|one| one.users > 0)
    {
        return status(Err(libc::EBUSY));
    }
    objects.vectors.remove(object.number);
    drop(objects);
    // SAFETY: `open` has given the object, and its caller uses it no more.
    drop(unsafe { take::<Object>(fid) });
    0
}

/// Binds a queue of events, to which the ends of insertions are told.
unsafe extern "C" fn bind(fid: *mut Fid, other: *mut Fid, flags: u64) -> c_int {
    let object = object!(Object, fid);
    // SAFETY: `other` is an open object, by fi_av(3).
    if unsafe { (*other).fclass } != FI_CLASS_EQ {
        return -FI_ENOSYS;
    }
    let queue = object!(eq::Object, other);
    let events = (Arc::clone(&queue.events), InUse::clone(&queue.in_use));
    let bound = only(flags, 0).and_then(|()| {
        let is_free = object.events.set(events).is_ok();
        is_free.then_some(()).ok_or(libc::EINVAL)
    });
    status(bound)
}

impl Object {
    /// Tells the queue of events of insertions, if that is asked for, or returns how many there
    /// were.
    fn end(&self, context: *mut c_void, codes: &[Code]) -> c_int {
        let inserted = codes.iter().filter(|code| **code == 0).count();
        let Some((events, _)) = self.events.get().filter(|_| self.tells) else {
            return inserted as c_int;
        };
        let fid = (&raw const self.fid.fid).cast_mut();
        for (data, code) in (0..).zip(codes).filter(|(_, code)| **code != 0) {
            let code = *code;
            events.tell_failure(Failed {
                fid,
                context,
                data,
                code,
            });
        }
        let data = inserted as u64;
        events.tell(FI_AV_COMPLETE, &FiEqEntry { fid, context, data });
        0
    }

    /// Inserts addresses, or none where there is no such address.
    ///
    /// # Safety
    /// `numbers` is NULL or has room for as many numbers, and `context` for as many codes where
    /// FI_SYNC_ERR is given.
    unsafe fn insert(
        &self,
        addresses: impl Iterator<Item = Result<Address, Error>>,
        numbers: *mut u64,
        (flags, context): (u64, *mut c_void),
    ) -> c_int {
        if let Err(code) = only(flags, FI_MORE | FI_SYNC_ERR) {
            return -code;
        }
        let tells_each = flags & FI_SYNC_ERR != 0;
        if tells_each && (context.is_null() || self.tells) {
            return status(Err(libc::EINVAL));
        }
        if self.tells && self.events.get().is_none() {
            return -FI_ENOEQ;
        }
        let objects = self.shared.lock();
        let Some(vector) = objects.vectors.get(self.number) else {
            return status(Err(libc::EINVAL));
        };
        if !vector.raw.may_change() {
            return status(Err(libc::EACCES));
        }
        let mut codes = Vec::new();
        for (index, address) in addresses.enumerate() {
            let number = address.and_then(|address| vector.raw.insert(&address));
            let code = number.err().map_or(0, Error::code);
            // SAFETY: `numbers` is NULL or has room for as many numbers, and `context` for as many
            // codes where FI_SYNC_ERR is given, by this function's requirement.
            unsafe {
                if !numbers.is_null() {
                    let number = number.map_or(FI_ADDR_NOTAVAIL, u64::from);
                    numbers.add(index).write(number);
                }
                if tells_each {
                    context.cast::<c_int>().add(index).write(code);
                }
            }
            codes.push(code);
        }
        drop(objects);
        self.end(context, &codes)
    }
}

/// Inserts the address that a text names, as fi_getinfo(3) takes it; a service names nothing.
unsafe extern "C" fn insertsvc(
    av: *mut FidAv,
    node: *const c_char,
    _service: *const c_char,
    number: *mut u64,
    flags: u64,
    context: *mut c_void,
) -> c_int {
    if node.is_null() {
        return status(Err(libc::EINVAL));
    }
    // SAFETY: `node` ends with a zero, by fi_av(3).
    let text = unsafe { CStr::from_ptr(node) };
    let address = text.to_str().map_err(|_| Error::BadAddress);
    let address = std::iter::once(address.and_then(str::parse));
    let object = object!(Object, av);
    // SAFETY: `number` is NULL or has room for a number, and `context` for a code where FI_SYNC_ERR
    // is given, by fi_av(3).
    unsafe { object.insert(address, number, (flags, context)) }
}

/// Does as [`insertsvc`] for one node and one service: addresses do not follow from each other.
unsafe extern "C" fn insertsym(
    av: *mut FidAv,
    node: *const c_char,
    nodes: usize,
    service: *const c_char,
    services: usize,
    numbers: *mut u64,
    flags: u64,
    context: *mut c_void,
) -> c_int {
    if (nodes, services) != (1, 1) {
        return -FI_ENOSYS;
    }
    // SAFETY: the arguments are as fi_av(3) requires.
    unsafe { insertsvc(av, node, service, numbers, flags, context) }
}

unsafe extern "C" fn insert(
    av: *mut FidAv,
    addresses: *const c_void,
    count: usize,
    numbers: *mut u64,
    flags: u64,
    context: *mut c_void,
) -> c_int {
    if count > 0 && addresses.is_null() {
        return status(Err(libc::EINVAL));
    }
    let all = (0..count).map(|index| {
        let address = addresses.cast::<[u8; Address::BYTES]>().wrapping_add(index);
        // SAFETY: `addresses` leads to `count` addresses of the provider's format, by fi_av(3).
        Address::of_bytes(&unsafe { *address })
    });
    let object = object!(Object, av);
    // SAFETY: `numbers` is NULL or has room for `count` numbers, and `context` for as many codes
    // where FI_SYNC_ERR is given, by fi_av(3).
    unsafe { object.insert(all, numbers, (flags, context)) }
}

unsafe extern "C" fn remove(av: *mut FidAv, numbers: *mut u64, count: usize, flags: u64) -> c_int {
    let object = object!(Object, av);
    let objects = object.shared.lock();
    let forget = |number: u64| -> Result<(), Code> {
        let number = PeerIndex::try_from(number).map_err(|_| libc::EINVAL)?;
        let vector = objects.vectors.get(object.number).ok_or(libc::EINVAL)?;
        vector.raw.remove(number).map_err(Error::code)
    };
    if flags != 0 {
        return -FI_EBADFLAGS;
    }
    if count > 0 && numbers.is_null() {
        return status(Err(libc::EINVAL));
    }
    // SAFETY: `numbers` leads to `count` numbers, by fi_av(3).
    let mut all = (0..count).map(|index| unsafe { *numbers.add(index) });
    let removed = all.try_for_each(forget);
    // A number may be another peer's now.
    direct::note(&objects);
    status(removed)
}

unsafe extern "C" fn lookup(
    av: *mut FidAv,
    number: u64,
    place: *mut c_void,
    len: *mut usize,
) -> c_int {
    let object = object!(Object, av);
    let objects = object.shared.lock();
    let vector = objects.vectors.get(object.number);
    let number = PeerIndex::try_from(number).ok();
    let address = vector.and_then(|vector| vector.raw.address(number?));
    let Some(address) = address else {
        return status(Err(libc::EINVAL));
    };
    // SAFETY: `place` has room for `*len` bytes, by fi_av(3).
    unsafe { put_address(&address, place, len) };
    0
}

/// Writes as much of an address as there is room for, and its length; tells whether all was
/// written.
///
/// # Safety
/// `place` has room for `*len` bytes, and `len` may be written.
pub(crate) unsafe fn put_address(address: &Address, place: *mut c_void, len: *mut usize) -> bool {
    let bytes = address.to_short_bytes();
    // SAFETY: `place` has room for as many bytes as are written, and `len` may be written.
    unsafe {
        let room = *len;
        let fits = room.min(bytes.len());
        if fits > 0 {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.cast(), fits);
        }
        *len = bytes.len();
        fits == bytes.len()
    }
}

unsafe extern "C" fn straddr(
    _: *mut FidAv,
    address: *const c_void,
    text: *mut c_char,
    len: *mut usize,
) -> *const c_char {
    // SAFETY: `address` leads to an address of the provider's format, by fi_av(3).
    let bytes = unsafe { *address.cast::<[u8; Address::BYTES]>() };
    let words = Address::of_bytes(&bytes)
        .map_or_else(|error| error.to_string(), |address| address.to_string());
    // SAFETY: `text` has room for `*len` bytes, and `len` may be written, by fi_av(3).
    unsafe {
        let fits = words.len().min((*len).saturating_sub(1));
        if *len > 0 {
            std::ptr::copy_nonoverlapping(words.as_ptr(), text.cast(), fits);
            text.add(fits).write(0);
        }
        *len = words.len() + 1;
    }
    text
}
