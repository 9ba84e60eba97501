//! Counters (fi_cntr(3)).

use crate::domain;
use crate::object::{Code, closing, give, object, status, stub, take};
use crate::state::{Count, Shared};
use fi_ofi_abi::*;
use fi_provider::node::wait::{Patience, Waiter};
use fi_provider::raw::completion::Counter;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The C object.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Object {
    fid: FidCntr,
    number: u64,
    shared: Arc<Shared>,
}

static OPS: FiOps = closing(close);
static CNTR_OPS: FiOpsCntr = FiOpsCntr {
    size: size_of::<FiOpsCntr>(),
    read,
    readerr,
    add,
    set,
    wait,
    adderr,
    seterr,
    newer: [stub],
};

impl Object {
    /// Returns the domain, and the number there.
    pub(crate) fn place(&self) -> (&Arc<Shared>, u64) {
        (&self.shared, self.number)
    }
}

pub(crate) unsafe extern "C" fn open(
    domain: *mut FidDomain,
    attr: *mut FiCntrAttr,
    cntr: *mut *mut FidCntr,
    context: *mut c_void,
) -> c_int {
    let shared = &object!(domain::Object, domain).shared;
    // SAFETY: `attr` is NULL or attributes, by fi_cntr(3).
    if let Some(attr) = unsafe { attr.as_ref() } {
        let waits = [FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_YIELD];
        if !waits.contains(&attr.wait_obj) || attr.events != 0 {
            return -FI_ENOSYS;
        }
        if attr.flags != 0 {
            return -FI_EBADFLAGS;
        }
    }
    let number = shared.lock().counters.add(Count {
        raw: Counter::new(),
        users: 0,
    });
    let fid = FidCntr {
        fid: Fid {
            fclass: FI_CLASS_CNTR,
            context,
            ops: &OPS,
        },
        ops: &CNTR_OPS,
    };
    let shared = Arc::clone(shared);
    let object = Object {
        fid,
        number,
        shared,
    };
    // SAFETY: `cntr` is where the caller wants the pointer; the object begins with its fid.
    unsafe { give(object, cntr) };
    0
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    let object = object!(Object, fid);
    let mut objects = object.shared.lock();
    let counter = objects.counters.get(object.number);
    if counter.is_some_and(|one| one.users > 0) {
        return status(Err(libc::EBUSY));
    }
    objects.counters.remove(object.number);
    drop(objects);
    // SAFETY: `open` has given the object, and whoever closes it uses it no more.
    drop(unsafe { take::<Object>(fid) });
    0
}

impl Object {
    /// Acts on the counter, after progress if it `reads`.
    fn with<T>(&self, reads: bool, act: impl FnOnce(&Counter) -> T) -> Result<T, Code> {
        let mut objects = self.shared.lock();
        if reads {
            objects.progress();
        }
        let counter = objects.counters.get(self.number).ok_or(libc::EINVAL)?;
        Ok(act(&counter.raw))
    }
}

unsafe extern "C" fn read(cntr: *mut FidCntr) -> u64 {
    object!(Object, cntr).with(true, Counter::read).unwrap_or(0)
}

unsafe extern "C" fn readerr(cntr: *mut FidCntr) -> u64 {
    object!(Object, cntr)
        .with(true, Counter::read_failed)
        .unwrap_or(0)
}

unsafe extern "C" fn add(cntr: *mut FidCntr, value: u64) -> c_int {
    status(object!(Object, cntr).with(false, |counter| counter.add(value)))
}

unsafe extern "C" fn set(cntr: *mut FidCntr, value: u64) -> c_int {
    status(object!(Object, cntr).with(false, |counter| counter.set(value)))
}

unsafe extern "C" fn adderr(cntr: *mut FidCntr, value: u64) -> c_int {
    let add = |counter: &Counter| counter.set_failed(counter.read_failed().wrapping_add(value));
    status(object!(Object, cntr).with(false, add))
}

unsafe extern "C" fn seterr(cntr: *mut FidCntr, value: u64) -> c_int {
    status(object!(Object, cntr).with(false, |counter| counter.set_failed(value)))
}

unsafe extern "C" fn wait(cntr: *mut FidCntr, threshold: u64, timeout: c_int) -> c_int {
    let object = object!(Object, cntr);
    let limit = u64::try_from(timeout).ok().map(Duration::from_millis);
    let start = Instant::now();
    let mut waiter = Waiter::new(Patience::new(false));
    let mut failed_before = None;
    loop {
        let look = |counter: &Counter| (counter.read(), counter.read_failed());
        let (done, failed) = match object.with(true, look) {
            Ok(counts) => counts,
            Err(code) => return -code,
        };
        if done >= threshold {
            return 0;
        }
        if *failed_before.get_or_insert(failed) != failed {
            return -FI_EAVAIL;
        }
        if limit.is_some_and(|limit| start.elapsed() >= limit) {
            return status(Err(libc::ETIMEDOUT));
        }
        waiter.pause();
    }
}
