//! Endpoints (fi_endpoint(3)): how they are bound, enabled and closed.

use crate::object::{Code, InUse, give, object, size, status, stub, take};
use crate::state::{Binding, Counts, Ep, Objects, Shared, Told, Wrong};
use crate::{av, cntr, cq, domain, eq, info, log, msg, rma, tagged};
use fi_ofi_abi::*;
use fi_provider::raw::completion::{CompletionQueue, Counter};
use fi_provider::raw::endpoint::{Config, Endpoint};
use fi_provider::raw::error::Error;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

/// The C object.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Object {
    fid: FidEp,
    pub(crate) number: u64,
    pub(crate) shared: Arc<Shared>,
}

static FID_OPS: FiOps = FiOps {
    size: size_of::<FiOps>(),
    close,
    bind,
    control,
    ops_open: stub,
    tostr: stub,
    ops_set: stub,
};
static EP_OPS: FiOpsEp = FiOpsEp {
    size: size_of::<FiOpsEp>(),
    cancel,
    getopt,
    setopt,
    tx_ctx: stub,
    rx_ctx: stub,
    rx_size_left: stub,
    tx_size_left: stub,
    newer: [stub],
};
static CM_OPS: FiOpsCm = FiOpsCm {
    size: size_of::<FiOpsCm>(),
    setname: stub,
    getname,
    getpeer: stub,
    connect: stub,
    listen: stub,
    accept: stub,
    reject: stub,
    shutdown: stub,
    join: stub,
};
static ATOMIC_OPS: FiOpsAtomic = FiOpsAtomic {
    size: size_of::<FiOpsAtomic>(),
    write: stub,
    others: [stub; 12],
};

/// Bytes that are left of a buffer for several messages when it is given back, if not told.
const LEAST: usize = 64;
/// Entries of a queue that nobody reads.
const UNREAD: usize = 256;

pub(crate) unsafe extern "C" fn open(
    domain: *mut FidDomain,
    info: *mut FiInfo,
    ep: *mut *mut FidEp,
    context: *mut c_void,
) -> c_int {
    let shared = &object!(domain::Object, domain).shared;
    // SAFETY: `info` is a record as `getinfo` returns it, by fi_endpoint(3): its attributes are
    // NULL or attributes.
    let (caps, kind, transmit_flags, receive_flags) = unsafe {
        let Some(info) = info.as_ref() else {
            return status(Err(libc::EINVAL));
        };
        (
            info::all_of(info.caps),
            info.ep_attr.as_ref().map_or(FI_EP_RDM, |attr| attr.r#type),
            info.tx_attr.as_ref().map_or(0, |attr| attr.op_flags),
            info.rx_attr.as_ref().map_or(0, |attr| attr.op_flags),
        )
    };
    if kind != FI_EP_RDM && kind != FI_EP_UNSPEC {
        return -FI_ENOSYS;
    }
    let number = shared.lock().endpoints.add(Ep {
        raw: None,
        caps,
        transmit_flags,
        receive_flags,
        vector: None,
        transmit: None,
        receive: None,
        counters: [None; 4],
        events: None,
        received: Counter::new(),
        unread: Vec::new(),
        least: LEAST,
    });
    let fid = FidEp {
        fid: Fid {
            fclass: FI_CLASS_EP,
            context,
            ops: &FID_OPS,
        },
        ops: &EP_OPS,
        cm: &CM_OPS,
        msg: &msg::OPS,
        rma: &rma::OPS,
        tagged: &tagged::OPS,
        atomic: &ATOMIC_OPS,
        collective: null_mut(),
    };
    let shared = Arc::clone(shared);
    let object = Object {
        fid,
        number,
        shared,
    };
    // SAFETY: `ep` is where the caller wants the pointer; the object begins with its fid.
    unsafe { give(object, ep) };
    0
}

/// Starts an operation; makes progress where there is no room for it.
pub(crate) fn start(ep: *mut FidEp, act: impl FnOnce(&Ep) -> Result<(), Code>) -> isize {
    let object = object!(Object, ep);
    let mut objects = object.shared.lock();
    let ep = objects.endpoints.get(object.number);
    let result = ep.ok_or(libc::EINVAL).and_then(act);
    if result == Err(libc::EAGAIN) {
        // The peer may wait for room here.
        objects.progress();
    }
    size(result.map(|()| 0))
}

unsafe extern "C" fn bind(fid: *mut Fid, other: *mut Fid, flags: u64) -> c_int {
    let object = object!(Object, fid);
    let mut objects = object.shared.lock();
    // SAFETY: `other` is an open object, by fi_endpoint(3).
    let class = unsafe { (*other).fclass };
    let (shared, number) = match class {
        FI_CLASS_AV => object!(av::Object, other).place(),
        FI_CLASS_CQ => object!(cq::Object, other).place(),
        FI_CLASS_CNTR => object!(cntr::Object, other).place(),
        FI_CLASS_EQ => {
            let events = InUse::clone(&object!(eq::Object, other).in_use);
            return status(bind_events(&mut objects, object, events));
        }
        _ => return -FI_ENOSYS,
    };
    if !Arc::ptr_eq(shared, &object.shared) {
        return -FI_EDOMAIN;
    }
    status(match class {
        FI_CLASS_AV => bind_vector(&mut objects, object, number),
        FI_CLASS_CQ => bind_queue(&mut objects, object, number, flags),
        _ => bind_counter(&mut objects, object, number, flags),
    })
}

/// Finds an endpoint that is not enabled yet.
fn opening<'a>(objects: &'a mut Objects, object: &Object) -> Result<&'a mut Ep, Code> {
    let ep = objects.endpoints.get_mut(object.number);
    ep.filter(|ep| ep.raw.is_none()).ok_or(FI_EOPBADSTATE)
}

fn bind_vector(objects: &mut Objects, object: &Object, vector: u64) -> Result<(), Code> {
    let ep = opening(objects, object)?;
    if ep.vector.is_some() {
        return Err(libc::EINVAL);
    }
    ep.vector = Some(vector);
    let vector = objects.vectors.get_mut(vector).ok_or(FI_EDOMAIN)?;
    vector.users += 1;
    Ok(())
}

/// Binds a queue of events, to which nothing is told.
fn bind_events(objects: &mut Objects, object: &Object, events: InUse) -> Result<(), Code> {
    let ep = opening(objects, object)?;
    if ep.events.is_some() {
        return Err(libc::EINVAL);
    }
    ep.events = Some(events);
    Ok(())
}

fn bind_queue(objects: &mut Objects, object: &Object, queue: u64, flags: u64) -> Result<(), Code> {
    crate::object::only(flags, FI_SEND | FI_RECV | FI_SELECTIVE_COMPLETION)?;
    let ep = opening(objects, object)?;
    let binding = Binding {
        queue,
        is_selective: flags & FI_SELECTIVE_COMPLETION != 0,
    };
    let (sends, receives) = (flags & FI_SEND != 0, flags & FI_RECV != 0);
    let is_taken = sends && ep.transmit.is_some() || receives && ep.receive.is_some();
    if is_taken || !(sends || receives) {
        return Err(libc::EINVAL);
    }
    if sends {
        ep.transmit = Some(binding);
    }
    if receives {
        ep.receive = Some(binding);
    }
    let queue = objects.queues.get_mut(queue).ok_or(FI_EDOMAIN)?;
    queue.users += usize::from(sends) + usize::from(receives);
    Ok(())
}

fn bind_counter(
    objects: &mut Objects,
    object: &Object,
    counter: u64,
    flags: u64,
) -> Result<(), Code> {
    // Accesses of peers are not counted: FI_RMA_EVENT is no capability.
    crate::object::only(flags, FI_SEND | FI_RECV | FI_READ | FI_WRITE)?;
    let ep = opening(objects, object)?;
    let all = [
        (FI_SEND, Counts::Sent),
        (FI_RECV, Counts::Received),
        (FI_READ, Counts::Read),
        (FI_WRITE, Counts::Written),
    ];
    let wanted = || all.iter().filter(|(flag, _)| flags & flag != 0);
    if wanted().any(|&(_, what)| ep.counts(what)) {
        return Err(libc::EINVAL);
    }
    wanted().for_each(|&(_, what)| ep.counters[what as usize] = Some(counter));
    let users = wanted().count();
    let counter = objects.counters.get_mut(counter).ok_or(FI_EDOMAIN)?;
    counter.users += users;
    Ok(())
}

unsafe extern "C" fn control(fid: *mut Fid, command: c_int, argument: *mut c_void) -> c_int {
    let object = object!(Object, fid);
    let mut objects = object.shared.lock();
    match command {
        FI_ENABLE => status(enable(&mut objects, object)),
        FI_GETOPSFLAG | FI_SETOPSFLAG => {
            // SAFETY: `argument` is NULL or leads to flags, which nobody else uses meanwhile, by
            // fi_endpoint(3).
            let flags = unsafe { argument.cast::<u64>().as_mut() };
            let ep = objects.endpoints.get_mut(object.number);
            let both = flags.zip(ep).ok_or(libc::EINVAL);
            status(both.and_then(|(flags, ep)| operation_flags(ep, flags, command)))
        }
        _ => -FI_ENOSYS,
    }
}

/// Gets or sets the flags of operations without flags of their own: those of the side that `flags`
/// names.
fn operation_flags(ep: &mut Ep, flags: &mut u64, command: c_int) -> Result<(), Code> {
    let (sides, wanted) = (*flags & (FI_SEND | FI_RECV), *flags & !(FI_SEND | FI_RECV));
    let (own, known) = match sides {
        FI_SEND => (&mut ep.transmit_flags, info::TRANSMIT_FLAGS),
        FI_RECV => (&mut ep.receive_flags, info::RECEIVE_FLAGS),
        _ => return Err(libc::EINVAL),
    };
    if command == FI_GETOPSFLAG {
        *flags = *own;
        return Ok(());
    }
    crate::object::only(wanted, known)?;
    *own = wanted;
    Ok(())
}

fn enable(objects: &mut Objects, object: &Object) -> Result<(), Code> {
    let ep = opening(objects, object)?;
    let number = ep.vector.ok_or(FI_ENOAV)?;
    let counts = |what: &[Counts]| what.iter().any(|&what| ep.counts(what));
    let tells = counts(&[Counts::Sent, Counts::Read, Counts::Written]);
    // Each side that the endpoint has tells of its operations somewhere.
    let has = |caps| ep.caps & caps != 0;
    let is_told = ep.transmit.is_some() || tells || !has(FI_SEND | FI_READ | FI_WRITE);
    let hears = ep.receive.is_some() || ep.counts(Counts::Received) || !has(FI_RECV);
    if !is_told || !hears {
        return Err(FI_ENOCQ);
    }
    let (transmit, receive, counters) = (ep.transmit, ep.receive, ep.counters);
    let vector = objects.vectors.get(number).ok_or(FI_EDOMAIN)?.raw.clone();
    let mut unread = Vec::new();
    let mut queue = |binding: Option<Binding>| match binding {
        Some(Binding { queue, .. }) => {
            let queue = objects.queues.get(queue).ok_or(FI_EDOMAIN)?;
            Ok(queue.raw.clone())
        }
        None => {
            unread.push(CompletionQueue::new(UNREAD));
            unread.last().cloned().ok_or(libc::ENOMEM)
        }
    };
    let counter = |what: Counts| -> Result<Counter, Code> {
        match counters[what as usize] {
            Some(number) => {
                let counter = objects.counters.get(number).ok_or(FI_EDOMAIN)?;
                Ok(counter.raw.clone())
            }
            None => Ok(Counter::new()),
        }
    };
    let received = counter(Counts::Received)?;
    let transmit = queue(transmit)?;
    let receive = queue(receive)?;
    let config = Config {
        receive,
        done: counter(Counts::Sent)?,
        read: counter(Counts::Read)?,
        written: counter(Counts::Written)?,
        received: received.clone(),
        ..Config::new(&transmit)
    };
    let raw = Endpoint::open(&object.shared.raw, &vector, config).map_err(Error::code)?;
    let ep = opening(objects, object)?;
    ep.raw = Some(raw);
    ep.received = received;
    ep.unread = unread;
    Ok(())
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    let object = object!(Object, fid);
    let mut objects = object.shared.lock();
    let Some(ep) = objects.endpoints.remove(object.number) else {
        return status(Err(libc::EINVAL));
    };
    if let Some(raw) = &ep.raw {
        let own = objects.receives.iter();
        let own = own.filter(|(_, posted)| posted.endpoint == object.number);
        // Buffers that wait; those that entries name are let go when these are read.
        let waiting: Vec<u64> = own
            .filter(|(number, posted)| posted.take_back(raw, *number))
            .map(|(number, _)| number)
            .collect();
        log::info(&format!(
            "{} is closed: {} messages have come",
            raw.address(),
            ep.received.read()
        ));
        for number in waiting {
            objects.receives.remove(number);
        }
    }
    for Binding { queue, .. } in [ep.transmit, ep.receive].into_iter().flatten() {
        if let Some(queue) = objects.queues.get_mut(queue) {
            queue.users -= 1;
        }
    }
    for counter in ep.counters.into_iter().flatten() {
        if let Some(counter) = objects.counters.get_mut(counter) {
            counter.users -= 1;
        }
    }
    if let Some(vector) = ep.vector.and_then(|number| objects.vectors.get_mut(number)) {
        vector.users -= 1;
    }
    drop(ep);
    drop(objects);
    // SAFETY: `open` has given the object, and whoever closes it uses it no more.
    drop(unsafe { take::<Object>(fid) });
    0
}

unsafe extern "C" fn cancel(fid: *mut Fid, context: *mut c_void) -> isize {
    let object = object!(Object, fid);
    let mut objects = object.shared.lock();
    size(cancel_one(&mut objects, object.number, context).map(|()| 0))
}

fn cancel_one(objects: &mut Objects, ep: u64, context: *mut c_void) -> Result<(), Code> {
    let endpoint = objects.endpoints.get(ep).ok_or(libc::EINVAL)?;
    let raw = endpoint.enabled()?;
    let found = objects.receives.iter().find(|(number, posted)| {
        posted.endpoint == ep && posted.context == context && posted.take_back(raw, *number)
    });
    let number = found.ok_or(libc::ENOENT)?.0;
    let queue = endpoint.receive;
    let posted = objects.receives.remove(number).ok_or(libc::ENOENT)?;
    let queue = queue.and_then(|binding| objects.queues.get_mut(binding.queue));
    if let Some(queue) = queue {
        let multi = if posted.is_multi { FI_MULTI_RECV } else { 0 };
        let told = Told {
            context,
            flags: FI_RECV | posted.tag.map_or(FI_MSG, |_| FI_TAGGED) | multi,
            len: 0,
            buffer: posted.buffer,
            data: 0,
            source: FI_ADDR_NOTAVAIL,
            tag: posted.tag.unwrap_or(0),
        };
        queue.held.push_back(Err(Wrong {
            told,
            code: libc::ECANCELED,
            cut: 0,
        }));
    }
    Ok(())
}

unsafe extern "C" fn getopt(
    fid: *mut Fid,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut usize,
) -> c_int {
    if (level, name) != (FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV) {
        return status(Err(libc::ENOPROTOOPT));
    }
    let object = object!(Object, fid);
    let objects = object.shared.lock();
    let least = objects
        .endpoints
        .get(object.number)
        .map_or(0, |ep| ep.least);
    // SAFETY: `value` has room for `*len` bytes, and `len` may be written, by fi_endpoint(3).
    unsafe {
        let room = len.replace(size_of::<usize>());
        if room < size_of::<usize>() {
            return -FI_ETOOSMALL;
        }
        value.cast::<usize>().write_unaligned(least);
    }
    0
}

unsafe extern "C" fn setopt(
    fid: *mut Fid,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: usize,
) -> c_int {
    if (level, name) != (FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV) {
        return status(Err(libc::ENOPROTOOPT));
    }
    if len != size_of::<usize>() {
        return status(Err(libc::EINVAL));
    }
    let object = object!(Object, fid);
    // SAFETY: `value` holds `len` bytes, by fi_endpoint(3).
    let least = unsafe { value.cast::<usize>().read_unaligned() };
    if let Some(ep) = object.shared.lock().endpoints.get_mut(object.number) {
        ep.least = least;
    }
    0
}

unsafe extern "C" fn getname(fid: *mut Fid, place: *mut c_void, len: *mut usize) -> c_int {
    let object = object!(Object, fid);
    let objects = object.shared.lock();
    let ep = objects.endpoints.get(object.number);
    let Some(raw) = ep.and_then(|ep| ep.raw.as_ref()) else {
        return -FI_EOPBADSTATE;
    };
    // SAFETY: `place` has room for `*len` bytes, and `len` may be written, by fi_cm(3).
    if unsafe { av::put_address(&raw.address(), place, len) } {
        0
    } else {
        -FI_ETOOSMALL
    }
}
