//! Scalable endpoints (fi_endpoint(3), fi_scalable_ep). Each of their contexts is an endpoint of
//! the fabric, one of a family whose addresses follow from that of the scalable endpoint; as an
//! object it is an endpoint that only sends, or only receives.

use crate::ep::{self, Half};
use crate::object::{Code, InUse, give, no_ops, object, status, stub, take, unused};
use crate::refuse;
use crate::shared_contexts::Receiver;
use crate::state::{Ep, Kept, Shared, Turn};
use crate::{av, domain, eq, info};
use fi_ofi_abi::*;
use fi_provider::raw::address::{Family, Member};
use fi_provider::raw::address_vector::PeerIndex;
use fi_provider::raw::error::Error;
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::Arc;

/// The further state of an endpoint: it belongs to a scalable one, or uses shared contexts.
#[derive(Debug, Default)]
pub(crate) struct Further {
    /// The scalable endpoint of which it is a context, and its number there.
    pub(crate) of: Option<(Rc<Scalable>, Member)>,
    /// Number of upper bits of an address that name a receive context.
    pub(crate) context_bits: Cell<u32>,
    pub(crate) receiver: RefCell<Option<Rc<Receiver>>>,
    /// Held as long as a shared transmit context is bound.
    pub(crate) transmitter: RefCell<Option<InUse>>,
}

/// A scalable endpoint.
#[derive(Debug)]
pub(crate) struct Scalable {
    pub(crate) vector: Cell<Option<u64>>,
    /// Held as long as a queue of events is bound.
    events: RefCell<Option<InUse>>,
    /// The contexts that are, or were, open, of each half: each is opened once, as no address is
    /// ever another endpoint's.
    opened: RefCell<[Vec<bool>; 2]>,
}

/// The C object.
#[repr(C)]
#[derive(Debug)]
struct Object {
    fid: FidEp,
    shared: Arc<Shared>,
    scalable: Kept<Scalable>,
    family: Family,
    caps: u64,
    flags: [u64; 2],
    /// Held by the contexts.
    in_use: InUse,
}

static FID_OPS: FiOps = FiOps {
    size: size_of::<FiOps>(),
    close,
    bind,
    control,
    ops_open: no_ops,
    tostr: stub,
    ops_set: stub,
};
static EP_OPS: FiOpsEp = FiOpsEp {
    tx_ctx: transmit_context,
    rx_ctx: receive_context,
    ..refuse::EP
};
static CM_OPS: FiOpsCm = FiOpsCm {
    getname,
    ..refuse::CM
};

pub(crate) unsafe extern "C" fn open(
    domain: *mut FidDomain,
    info: *mut FiInfo,
    sep: *mut *mut FidEp,
    context: *mut c_void,
) -> c_int {
    let shared = &object!(domain::Object, domain).shared;
    // SAFETY: `info` is NULL or a record as `getinfo` returns it, by fi_endpoint(3): its attributes
    // are NULL or attributes.
    let (caps, counts, flags) = unsafe {
        let Some(info) = info.as_ref() else {
            return status(Err(libc::EINVAL));
        };
        let ep = info.ep_attr.as_ref();
        (
            info::all_of(info.caps),
            ep.map_or((1, 1), |attr| (attr.tx_ctx_cnt, attr.rx_ctx_cnt)),
            [
                info.tx_attr.as_ref().map_or(0, |attr| attr.op_flags),
                info.rx_attr.as_ref().map_or(0, |attr| attr.op_flags),
            ],
        )
    };
    let [transmit, receive] = [counts.0.max(1), counts.1.max(1)];
    if transmit.max(receive) > info::MOST_CONTEXTS {
        return status(Err(libc::EINVAL));
    }
    let family = match shared.raw.keep_family(transmit.max(receive) as u32) {
        Ok(family) => family,
        Err(error) => return -error.code(),
    };
    shared.lock().contexts += 1;
    let object = Object {
        fid: FidEp {
            fid: Fid {
                fclass: FI_CLASS_SEP,
                context,
                ops: &FID_OPS,
            },
            ops: &EP_OPS,
            cm: &CM_OPS,
            msg: &refuse::MSG,
            rma: &refuse::RMA,
            tagged: &refuse::TAGGED,
            atomic: &refuse::ATOMIC,
            collective: null_mut(),
        },
        shared: Arc::clone(shared),
        scalable: Kept::new(Scalable {
            vector: Cell::default(),
            events: RefCell::default(),
            opened: RefCell::new([vec![false; transmit], vec![false; receive]]),
        }),
        family,
        caps,
        flags,
        in_use: InUse::default(),
    };
    // SAFETY: `sep` is where the caller wants the pointer; the object begins with its fid.
    unsafe { give(object, sep) };
    0
}

unsafe extern "C" fn bind(fid: *mut Fid, other: *mut Fid, _flags: u64) -> c_int {
    let object = object!(Object, fid);
    let mut turn = object.shared.lock();
    // SAFETY: `other` is an open object, by fi_endpoint(3).
    let class = unsafe { (*other).fclass };
    if class == FI_CLASS_EQ {
        let mut events = object.scalable.get(&turn).events.borrow_mut();
        if events.is_some() {
            return status(Err(libc::EINVAL));
        }
        *events = Some(InUse::clone(&object!(eq::Object, other).in_use));
        return 0;
    }
    if class != FI_CLASS_AV {
        return -FI_ENOSYS;
    }
    let (shared, number) = object!(av::Object, other).place();
    if !Arc::ptr_eq(shared, &object.shared) {
        return -FI_EDOMAIN;
    }
    status(bind_vector(&mut turn, object, number))
}

fn bind_vector(turn: &mut Turn<'_>, object: &Object, number: u64) -> Result<(), Code> {
    let scalable = object.scalable.share(turn);
    if scalable.vector.get().is_some() {
        return Err(libc::EINVAL);
    }
    let vector = turn.vectors.get_mut(number).ok_or(FI_EDOMAIN)?;
    vector.users += 1;
    scalable.vector.set(Some(number));
    Ok(())
}

/// Enables a scalable endpoint, whose contexts are enabled by themselves.
unsafe extern "C" fn control(fid: *mut Fid, command: c_int, _: *mut c_void) -> c_int {
    let object = object!(Object, fid);
    let turn = object.shared.lock();
    match (command, object.scalable.get(&turn).vector.get()) {
        (FI_ENABLE, Some(_)) => 0,
        (FI_ENABLE, None) => -FI_ENOAV,
        _ => -FI_ENOSYS,
    }
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    let object = object!(Object, fid);
    if let Err(code) = unused(&object.in_use) {
        return -code;
    }
    let shared = Arc::clone(&object.shared);
    let mut turn = shared.lock();
    let vector = object.scalable.get(&turn).vector.get();
    if let Some(vector) = vector.and_then(|number| turn.vectors.get_mut(number)) {
        vector.users -= 1;
    }
    turn.contexts -= 1;
    // The last handle goes in this turn.
    // SAFETY: `open` has given the object, and its caller uses it no more.
    drop(unsafe { take::<Object>(fid) });
    0
}

unsafe extern "C" fn getname(fid: *mut Fid, place: *mut c_void, len: *mut usize) -> c_int {
    let object = object!(Object, fid);
    let address = object.shared.raw.address_of(object.family);
    // SAFETY: `place` has room for `*len` bytes, and `len` may be written, by fi_cm(3).
    if unsafe { av::put_address(&address, place, len) } {
        0
    } else {
        -FI_ETOOSMALL
    }
}

/// Opens a context of one half.
///
/// # Safety
/// `context` may be written.
unsafe fn open_half(
    object: &Object,
    index: c_int,
    (half, flags): (Half, Option<u64>),
    place: *mut *mut FidEp,
    context: *mut c_void,
) -> Result<(), Code> {
    let turn = object.shared.lock();
    let scalable = object.scalable.share(&turn);
    let index = usize::try_from(index).map_err(|_| libc::EINVAL)?;
    {
        let mut opened = scalable.opened.borrow_mut();
        let opened = opened[half as usize].get_mut(index).ok_or(libc::EINVAL)?;
        if std::mem::replace(opened, true) {
            return Err(libc::EBUSY);
        }
    }
    drop(turn);
    let member = match half {
        Half::Transmit => object.family.sender(index as u32),
        Half::Receive => object.family.receiver(index as u32),
    };
    let further = Further {
        of: Some((scalable, member.ok_or(libc::EINVAL)?)),
        ..Further::default()
    };
    let mut own_flags = object.flags;
    if let Some(flags) = flags {
        own_flags[half as usize] = flags;
    }
    let in_use = Some(InUse::clone(&object.in_use));
    let wanted = (object.caps & half.caps(), own_flags);
    // SAFETY: `place` is where the caller wants the pointer.
    unsafe {
        ep::open_half(
            &object.shared,
            half,
            wanted,
            (further, in_use),
            place,
            context,
        )
    };
    Ok(())
}

unsafe extern "C" fn transmit_context(
    sep: *mut FidEp,
    index: c_int,
    attr: *mut FiTxAttr,
    place: *mut *mut FidEp,
    context: *mut c_void,
) -> c_int {
    let object = object!(Object, sep);
    // SAFETY: `attr` is NULL or attributes, by fi_endpoint(3).
    let flags = unsafe { attr.as_ref() }.map(|attr| attr.op_flags);
    // SAFETY: `place` may be written, by fi_endpoint(3).
    status(unsafe { open_half(object, index, (Half::Transmit, flags), place, context) })
}

unsafe extern "C" fn receive_context(
    sep: *mut FidEp,
    index: c_int,
    attr: *mut FiRxAttr,
    place: *mut *mut FidEp,
    context: *mut c_void,
) -> c_int {
    let object = object!(Object, sep);
    // SAFETY: `attr` is NULL or attributes, by fi_endpoint(3).
    let flags = unsafe { attr.as_ref() }.map(|attr| attr.op_flags);
    // SAFETY: `place` may be written, by fi_endpoint(3).
    status(unsafe { open_half(object, index, (Half::Receive, flags), place, context) })
}

impl Ep {
    /// Returns the number of the receive context of a peer that an application names (fi_rx_addr).
    #[cold]
    pub(crate) fn named_context(&self, address: u64) -> Result<PeerIndex, Code> {
        let bits = self.further.context_bits.get();
        if bits == 0 {
            return Err(libc::EINVAL);
        }
        let context = address >> (u64::BITS - bits);
        let peer = PeerIndex::try_from(address << bits >> bits).map_err(|_| libc::EINVAL)?;
        let raw = self.enabled()?;
        raw.context_of(peer, context as u32).map_err(Error::code)
    }
}
