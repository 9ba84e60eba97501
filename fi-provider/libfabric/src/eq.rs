//! Event queues (fi_eq(3)). A queue holds the application's events, and the ends of
//! insertions into address vectors.

use crate::fabric;
use crate::object::{Code, InUse, closing, give, object, size, status, take, unused};
use crate::wait::{self, Wait};
use fi_ofi_abi::*;
use fi_provider::raw::waker::Waker;
use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_void};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The C object.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Object {
    fid: FidEq,
    /// Held by the endpoints that it is bound to.
    pub(crate) in_use: InUse,
    _fabric: InUse,
    pub(crate) events: Arc<Events>,
}

/// The events of a queue.
#[derive(Debug)]
pub(crate) struct Events {
    queue: Mutex<VecDeque<Event>>,
    /// Readable while there are events, where the application asks for it.
    waker: Option<Waker>,
}

/// An event: its number and its bytes, or a failure.
#[derive(Debug)]
enum Event {
    Told(u32, Vec<u8>),
    Failed(Failed),
}

/// The failure of an object's operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed {
    pub(crate) fid: *mut Fid,
    pub(crate) context: *mut c_void,
    pub(crate) data: u64,
    pub(crate) code: Code,
}

// SAFETY: `Send` requires that the value may be used by another thread: the pointers are handed
// over, and never followed.
unsafe impl Send for Failed {}

impl Events {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Event>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, event: Event) {
        let mut events = self.lock();
        events.push_back(event);
        if let Some(waker) = &self.waker {
            waker.wake();
        }
    }

    fn take(&self, events: &mut VecDeque<Event>) -> Option<Event> {
        let event = events.pop_front();
        if let Some(waker) = self.waker.as_ref().filter(|_| events.is_empty()) {
            waker.rest();
        }
        event
    }

    /// Tells that an operation of an object has ended, with this number.
    pub(crate) fn tell(&self, number: u32, entry: &FiEqEntry) {
        let mut bytes = Vec::with_capacity(size_of::<FiEqEntry>());
        bytes.extend_from_slice(&(entry.fid.expose_provenance() as u64).to_ne_bytes());
        bytes.extend_from_slice(&(entry.context.expose_provenance() as u64).to_ne_bytes());
        bytes.extend_from_slice(&entry.data.to_ne_bytes());
        self.add(Event::Told(number, bytes));
    }

    /// Tells that an operation of an object has failed.
    pub(crate) fn tell_failure(&self, failed: Failed) {
        self.add(Event::Failed(failed));
    }
}

static OPS: FiOps = FiOps {
    control,
    ..closing(close)
};
static EQ_OPS: FiOpsEq = FiOpsEq {
    size: size_of::<FiOpsEq>(),
    read,
    readerr,
    write,
    sread,
    strerror,
};
/// Bytes of an event, at most.
const MOST_BYTES: usize = 1 << 16;

pub(crate) unsafe extern "C" fn open(
    fabric: *mut FidFabric,
    attr: *mut FiEqAttr,
    eq: *mut *mut FidEq,
    context: *mut c_void,
) -> c_int {
    // SAFETY: `attr` is NULL or attributes, by fi_eq(3).
    let wait = unsafe { attr.as_ref() }.map_or(FI_WAIT_NONE, |attr| attr.wait_obj);
    if ![FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_YIELD].contains(&wait) {
        return -FI_ENOSYS;
    }
    let waker = match (wait == FI_WAIT_FD).then(Waker::new).transpose() {
        Ok(waker) => waker,
        Err(error) => return -wait::code(error),
    };
    let object = Object {
        fid: FidEq {
            fid: Fid {
                fclass: FI_CLASS_EQ,
                context,
                ops: &OPS,
            },
            ops: &EQ_OPS,
        },
        in_use: InUse::default(),
        _fabric: InUse::clone(&object!(fabric::Object, fabric).in_use),
        events: Arc::new(Events {
            queue: Mutex::default(),
            waker,
        }),
    };
    // SAFETY: `eq` is where the caller wants the pointer; the object begins with its fid.
    unsafe { give(object, eq) };
    0
}

impl Object {
    /// Tells whether a thread may sleep on the descriptor.
    pub(crate) fn trywait(&self) -> Result<(), Code> {
        self.events.waker.as_ref().ok_or(libc::EINVAL)?;
        if self.events.lock().is_empty() {
            Ok(())
        } else {
            Err(libc::EAGAIN)
        }
    }
}

unsafe extern "C" fn control(fid: *mut Fid, command: c_int, argument: *mut c_void) -> c_int {
    let waker = object!(Object, fid).events.waker.as_ref().map(AsFd::as_fd);
    // SAFETY: `argument` is NULL or has room for a descriptor, by fi_eq(3).
    status(unsafe { wait::control(waker, command, argument) })
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    if let Err(code) = unused(&object!(Object, fid).in_use) {
        return -code;
    }
    // SAFETY: `open` has given the object, and its caller uses it no more.
    drop(unsafe { take::<Object>(fid) });
    0
}

unsafe extern "C" fn read(
    eq: *mut FidEq,
    event: *mut u32,
    buffer: *mut c_void,
    len: usize,
    flags: u64,
) -> isize {
    let object = object!(Object, eq);
    let mut events = object.events.lock();
    let (number, bytes) = match events.front() {
        Some(Event::Told(number, bytes)) => (number, bytes),
        Some(Event::Failed(_)) => return size(Err(FI_EAVAIL)),
        None => return size(Err(libc::EAGAIN)),
    };
    if bytes.len() > len {
        return size(Err(FI_ETOOSMALL));
    }
    // SAFETY: `event` may be written, and `buffer` has room for `len` bytes, by fi_eq(3).
    unsafe {
        event.write(*number);
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.cast(), bytes.len());
    }
    let told = bytes.len();
    if flags & FI_PEEK == 0 {
        object.events.take(&mut events);
    }
    size(Ok(told))
}

unsafe extern "C" fn readerr(eq: *mut FidEq, place: *mut FiEqErrEntry, flags: u64) -> isize {
    let object = object!(Object, eq);
    let mut events = object.events.lock();
    let Some(&Event::Failed(failed)) = events.front() else {
        return size(Err(libc::EAGAIN));
    };
    // SAFETY: `place` may be written, by fi_eq(3).
    unsafe {
        (*place).fid = failed.fid;
        (*place).context = failed.context;
        (*place).data = failed.data;
        (*place).err = failed.code;
        (*place).prov_errno = failed.code;
        (*place).err_data_size = 0;
    }
    if flags & FI_PEEK == 0 {
        object.events.take(&mut events);
    }
    size(Ok(size_of::<FiEqErrEntry>()))
}

unsafe extern "C" fn write(
    eq: *mut FidEq,
    event: u32,
    buffer: *const c_void,
    len: usize,
    flags: u64,
) -> isize {
    if flags != 0 || len > MOST_BYTES {
        return size(Err(libc::EINVAL));
    }
    let mut bytes = vec![0_u8; len];
    // SAFETY: `buffer` holds `len` bytes, by fi_eq(3), and the vector has as many.
    unsafe { std::ptr::copy_nonoverlapping(buffer.cast(), bytes.as_mut_ptr(), len) };
    object!(Object, eq).events.add(Event::Told(event, bytes));
    size(Ok(len))
}

unsafe extern "C" fn sread(
    eq: *mut FidEq,
    event: *mut u32,
    buffer: *mut c_void,
    len: usize,
    timeout: c_int,
    flags: u64,
) -> isize {
    let again = size(Err(libc::EAGAIN));
    let mut wait = Wait::new(timeout, false);
    loop {
        // SAFETY: the arguments are those of this function, which has the same requirements.
        let told = unsafe { read(eq, event, buffer, len, flags) };
        if told != again {
            return told;
        }
        if let Some(code) = wait.end(libc::EAGAIN) {
            return size(Err(code));
        }
        // Nothing tells a thread of an event on a descriptor of its own.
        wait.pause(|| Err(libc::EAGAIN));
    }
}

unsafe extern "C" fn strerror(
    _: *mut FidEq,
    _: c_int,
    _: *const c_void,
    _: *mut c_char,
    _: usize,
) -> *const c_char {
    c"no error of the provider's own".as_ptr()
}
