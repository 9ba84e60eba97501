//! Poll sets (fi_poll(3)): queues and counters of a domain, of which those are told that have
//! something.

use crate::object::{Code, closing, give, object, only, status, take};
use crate::state::{Objects, Shared};
use crate::{cntr, cq, domain};
use fi_ofi_abi::*;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The C object.
#[repr(C)]
#[derive(Debug)]
struct Object {
    fid: FidPoll,
    shared: Arc<Shared>,
    members: Mutex<Vec<Member>>,
}

/// A queue or a counter: in use as long as it is in a set.
#[derive(Clone, Copy, Debug)]
struct Member {
    fid: *mut Fid,
    number: u64,
    is_queue: bool,
    context: *mut c_void,
}

// SAFETY: `Send` requires that the value may be used by another thread: the pointers are compared
// and handed over, and never followed.
unsafe impl Send for Member {}

static OPS: FiOps = closing(close);
static POLL_OPS: FiOpsPoll = FiOpsPoll {
    size: size_of::<FiOpsPoll>(),
    poll,
    poll_add: add,
    poll_del: remove,
};

impl Object {
    fn members(&self) -> MutexGuard<'_, Vec<Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    /// Returns the number of users, if the object is open.
    fn users<'a>(&self, objects: &'a Objects) -> Option<&'a Cell<usize>> {
        if self.is_queue {
            objects.queues.get(self.number).map(|queue| &queue.users)
        } else {
            let counter = objects.counters.get(self.number);
            counter.map(|counter| &counter.users)
        }
    }

    /// Tells whether there is something to read.
    fn has_news(&self, objects: &Objects) -> bool {
        if self.is_queue {
            let queue = objects.queues.get(self.number);
            queue.is_some_and(|queue| queue.has_entries())
        } else {
            let counter = objects.counters.get(self.number);
            counter.is_some_and(|counter| counter.has_changed())
        }
    }
}

pub(crate) unsafe extern "C" fn open(
    domain: *mut FidDomain,
    attr: *mut FiPollAttr,
    set: *mut *mut FidPoll,
) -> c_int {
    // SAFETY: `attr` is NULL or attributes, by fi_poll(3).
    let flags = unsafe { attr.as_ref() }.map_or(0, |attr| attr.flags);
    if let Err(code) = only(flags, 0) {
        return -code;
    }
    let shared = Arc::clone(&object!(domain::Object, domain).shared);
    let mut objects = shared.lock();
    objects.sets += 1;
    objects.note_special();
    drop(objects);
    let object = Object {
        fid: FidPoll {
            fid: Fid {
                fclass: FI_CLASS_POLL,
                context: null_mut(),
                ops: &OPS,
            },
            ops: &POLL_OPS,
        },
        shared,
        members: Mutex::default(),
    };
    // SAFETY: `set` is where the caller wants the pointer; the object begins with its fid.
    unsafe { give(object, set) };
    0
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: `open` has given the object, and its caller uses it no more.
    let object = unsafe { take::<Object>(fid) };
    let mut objects = object.shared.lock();
    for member in object.members().iter() {
        if let Some(users) = member.users(&objects) {
            users.set(users.get() - 1);
        }
    }
    objects.sets -= 1;
    objects.note_special();
    drop(objects);
    0
}

unsafe extern "C" fn add(set: *mut FidPoll, fid: *mut Fid, flags: u64) -> c_int {
    let object = object!(Object, set);
    if let Err(code) = only(flags, 0) {
        return -code;
    }
    // SAFETY: `fid` is an open object, by fi_poll(3).
    let (class, context) = unsafe { ((*fid).fclass, (*fid).context) };
    let (shared, number) = match class {
        FI_CLASS_CQ => object!(cq::Object, fid).place(),
        FI_CLASS_CNTR => object!(cntr::Object, fid).place(),
        _ => return -FI_ENOSYS,
    };
    if !Arc::ptr_eq(shared, &object.shared) {
        return -FI_EDOMAIN;
    }
    let member = Member {
        fid,
        number,
        is_queue: class == FI_CLASS_CQ,
        context,
    };
    status(enter(object, member))
}

fn enter(object: &Object, member: Member) -> Result<(), Code> {
    let mut members = object.members();
    if members.iter().any(|known| known.fid == member.fid) {
        return Err(libc::EINVAL);
    }
    let objects = object.shared.lock();
    let users = member.users(&objects).ok_or(libc::EINVAL)?;
    users.set(users.get() + 1);
    if !member.is_queue
        && let Some(counter) = objects.counters.get(member.number)
    {
        counter.note_reads();
    }
    members.push(member);
    Ok(())
}

unsafe extern "C" fn remove(set: *mut FidPoll, fid: *mut Fid, flags: u64) -> c_int {
    let object = object!(Object, set);
    if let Err(code) = only(flags, 0) {
        return -code;
    }
    let mut members = object.members();
    let Some(index) = members.iter().position(|member| member.fid == fid) else {
        return status(Err(libc::EINVAL));
    };
    let member = members.remove(index);
    if let Some(users) = member.users(&object.shared.lock()) {
        users.set(users.get() - 1);
    }
    0
}

/// Makes progress, and writes the contexts of members that have something.
unsafe extern "C" fn poll(set: *mut FidPoll, contexts: *mut *mut c_void, count: c_int) -> c_int {
    let object = object!(Object, set);
    if count < 0 || contexts.is_null() && count > 0 {
        return status(Err(libc::EINVAL));
    }
    let members = object.members();
    let mut objects = object.shared.lock();
    objects.progress();
    let found = members.iter().filter(|member| member.has_news(&objects));
    let mut told = 0;
    for (index, member) in found.take(count as usize).enumerate() {
        // SAFETY: there is room for `count` contexts, by fi_poll(3).
        unsafe { contexts.add(index).write(member.context) };
        told += 1;
    }
    told
}
