//! Completion queues (fi_cq(3)).

use crate::domain;
use crate::object::{Code, closing, give, object, size, status, stub, take};
use crate::slab::Slab;
use crate::state::{Queue, Receive, Shared, Told, Wrong};
use fi_ofi_abi::*;
use fi_provider::node::wait::{Patience, Waiter};
use fi_provider::raw::completion::{CompletionQueue, Entry, Operation};
use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The C object.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Object {
    fid: FidCq,
    number: u64,
    shared: Arc<Shared>,
}

static OPS: FiOps = closing(close);
static CQ_OPS: FiOpsCq = FiOpsCq {
    size: size_of::<FiOpsCq>(),
    read,
    readfrom,
    readerr,
    sread,
    sreadfrom,
    signal,
    strerror,
    newer: [stub],
};
/// Entries of a queue whose size is not asked for, and the most.
const USUAL: usize = 1 << 12;
const MOST: usize = 1 << 20;

impl Object {
    /// Returns the domain, and the number there.
    pub(crate) fn place(&self) -> (&Arc<Shared>, u64) {
        (&self.shared, self.number)
    }
}

pub(crate) unsafe extern "C" fn open(
    domain: *mut FidDomain,
    attr: *mut FiCqAttr,
    cq: *mut *mut FidCq,
    context: *mut c_void,
) -> c_int {
    let shared = &object!(domain::Object, domain).shared;
    // SAFETY: `attr` is NULL or attributes, by fi_cq(3).
    let attr = unsafe { attr.as_ref() };
    let (mut room, mut format) = (USUAL, FI_CQ_FORMAT_CONTEXT);
    if let Some(attr) = attr {
        let waits = [FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_YIELD];
        if !waits.contains(&attr.wait_obj) || attr.wait_cond != FI_CQ_COND_NONE {
            return -FI_ENOSYS;
        }
        if attr.flags != 0 {
            return -FI_EBADFLAGS;
        }
        if attr.format > FI_CQ_FORMAT_TAGGED || attr.size > MOST {
            return status(Err(libc::EINVAL));
        }
        if attr.size != 0 {
            room = attr.size;
        }
        if attr.format != FI_CQ_FORMAT_UNSPEC {
            format = attr.format;
        }
    }
    let number = shared.lock().queues.add(Queue {
        raw: CompletionQueue::new(room),
        format,
        held: VecDeque::new(),
        users: 0,
        is_signalled: false,
    });
    let fid = FidCq {
        fid: Fid {
            fclass: FI_CLASS_CQ,
            context,
            ops: &OPS,
        },
        ops: &CQ_OPS,
    };
    let shared = Arc::clone(shared);
    let object = Object {
        fid,
        number,
        shared,
    };
    // SAFETY: `cq` is where the caller wants the pointer; the object begins with its fid.
    unsafe { give(object, cq) };
    0
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    let object = object!(Object, fid);
    let mut objects = object.shared.lock();
    let queue = objects.queues.get(object.number);
    if queue.is_some_and(|one| one.users > 0) {
        return status(Err(libc::EBUSY));
    }
    let objects = &mut *objects;
    if let Some(mut queue) = objects.queues.remove(object.number) {
        // Lets go the buffers that its entries name.
        while next(&mut queue, &mut objects.receives).is_some() {}
    }
    // SAFETY: `open` has given the object, and whoever closes it uses it no more.
    drop(unsafe { take::<Object>(fid) });
    0
}

/// Takes the oldest completion that is to be told.
fn next(queue: &mut Queue, receives: &mut Slab<Receive>) -> Option<Result<Told, Wrong>> {
    if let Some(held) = queue.held.pop_front() {
        return Some(held);
    }
    loop {
        let told = match queue.raw.next()? {
            Ok(entry) => {
                let (told, reports) = translate(&entry, receives);
                if !reports {
                    continue;
                }
                Ok(told)
            }
            Err(failure) => Err(Wrong {
                told: translate(&failure.entry, receives).0,
                code: failure.error.code(),
                cut: failure.cut,
            }),
        };
        return Some(told);
    }
}

/// Makes a completion of an entry, and tells whether the application wants it.
fn translate(entry: &Entry, receives: &mut Slab<Receive>) -> (Told, bool) {
    let message = entry.tag.map_or(FI_MSG, |_| FI_TAGGED);
    let mut told = Told {
        context: without_provenance_mut(entry.context as usize),
        flags: match entry.operation {
            Operation::Send => FI_SEND | message,
            Operation::Receive => FI_RECV | message,
            Operation::Read => FI_READ | FI_RMA,
            Operation::Write | Operation::Atomic => FI_WRITE | FI_RMA,
            Operation::RemoteWrite => FI_REMOTE_WRITE | FI_RMA,
        },
        len: entry.len,
        buffer: null_mut(),
        data: entry.data.unwrap_or(0),
        source: entry.source.map_or(FI_ADDR_NOTAVAIL, u64::from),
        tag: entry.tag.unwrap_or(0),
    };
    if entry.data.is_some() {
        told.flags |= FI_REMOTE_CQ_DATA;
    }
    if entry.operation != Operation::Receive {
        return (told, true);
    }
    told.context = null_mut();
    let Some(posted) = receives.get(entry.context) else {
        return (told, true);
    };
    told.context = posted.context;
    told.buffer = posted.buffer.wrapping_add(entry.offset);
    let reports = posted.reports;
    if posted.is_multi && entry.is_last {
        told.flags |= FI_MULTI_RECV;
        if entry.len == 0 && entry.offset > 0 {
            // The end of the buffer alone: an empty message ends none that others were put into.
            told.flags = FI_MULTI_RECV;
        }
    }
    if entry.is_last {
        receives.remove(entry.context);
    }
    (told, reports)
}

/// Bytes of an entry of each format.
fn entry_bytes(format: u32) -> usize {
    match format {
        FI_CQ_FORMAT_CONTEXT => 8,
        FI_CQ_FORMAT_MSG => 24,
        FI_CQ_FORMAT_DATA => 40,
        _ => 48,
    }
}

unsafe extern "C" fn read(cq: *mut FidCq, place: *mut c_void, count: usize) -> isize {
    // SAFETY: `place` has room for `count` entries, by fi_cq(3).
    unsafe { readfrom(cq, place, count, null_mut()) }
}

unsafe extern "C" fn readfrom(
    cq: *mut FidCq,
    place: *mut c_void,
    count: usize,
    sources: *mut u64,
) -> isize {
    let object = object!(Object, cq);
    // SAFETY: `place` has room for `count` entries, and `sources`, if it is not NULL, for as many
    // addresses, by fi_cq(3).
    size(unsafe { take_entries(object, place, count, sources) })
}

/// # Safety
/// `place` has room for `count` entries, and `sources`, if it is not NULL, for as many addresses.
unsafe fn take_entries(
    object: &Object,
    place: *mut c_void,
    count: usize,
    sources: *mut u64,
) -> Result<usize, Code> {
    let mut objects = object.shared.lock();
    objects.progress();
    let objects = &mut *objects;
    let queue = objects.queues.get_mut(object.number).ok_or(libc::EINVAL)?;
    let bytes = entry_bytes(queue.format);
    let mut taken = 0;
    while taken < count {
        let told = match next(queue, &mut objects.receives) {
            Some(Ok(told)) => told,
            Some(Err(wrong)) => {
                queue.held.push_front(Err(wrong));
                break;
            }
            None => break,
        };
        let entry = FiCqTaggedEntry {
            op_context: told.context,
            flags: told.flags,
            len: told.len,
            buf: told.buffer.cast(),
            data: told.data,
            tag: told.tag,
        };
        // SAFETY: `place` has room for `count` entries of the queue's format, each of which is the
        // begin of the longest one; `sources` has room for as many addresses.
        unsafe {
            let to = place.cast::<u8>().add(taken * bytes);
            std::ptr::copy_nonoverlapping((&raw const entry).cast(), to, bytes);
            if !sources.is_null() {
                sources.add(taken).write(told.source);
            }
        }
        taken += 1;
    }
    if taken > 0 {
        return Ok(taken);
    }
    match next(queue, &mut objects.receives) {
        Some(held @ Err(_)) => {
            queue.held.push_front(held);
            Err(FI_EAVAIL)
        }
        // None was asked for.
        Some(held) => {
            queue.held.push_front(held);
            Ok(0)
        }
        None => Err(libc::EAGAIN),
    }
}

unsafe extern "C" fn readerr(cq: *mut FidCq, place: *mut FiCqErrEntry, _flags: u64) -> isize {
    let object = object!(Object, cq);
    let mut objects = object.shared.lock();
    let objects = &mut *objects;
    let Some(queue) = objects.queues.get_mut(object.number) else {
        return size(Err(libc::EINVAL));
    };
    let wrong = match next(queue, &mut objects.receives) {
        Some(Err(wrong)) => wrong,
        held => {
            if let Some(held) = held {
                queue.held.push_front(held);
            }
            return size(Err(libc::EAGAIN));
        }
    };
    let version = object.shared.api_version;
    // SAFETY: `place` may be written, as long as the record is in the version of the interface that
    // the application uses, by fi_cq(3): `err_data_size` came with 1.5, and the source behind it
    // with 1.20.
    unsafe {
        (*place).op_context = wrong.told.context;
        (*place).flags = wrong.told.flags;
        (*place).len = wrong.told.len;
        (*place).buf = wrong.told.buffer.cast();
        (*place).data = wrong.told.data;
        (*place).tag = wrong.told.tag;
        (*place).olen = wrong.cut;
        (*place).err = wrong.code;
        (*place).prov_errno = wrong.code;
        if version >= fi_version(1, 5) {
            (*place).err_data_size = 0;
        } else {
            (*place).err_data = null_mut();
        }
        if version >= fi_version(1, 20) {
            place.add(1).cast::<u64>().write(wrong.told.source);
        }
    }
    size(Ok(1))
}

unsafe extern "C" fn sread(
    cq: *mut FidCq,
    place: *mut c_void,
    count: usize,
    condition: *const c_void,
    timeout: c_int,
) -> isize {
    // SAFETY: `place` has room for `count` entries, by fi_cq(3).
    unsafe { sreadfrom(cq, place, count, null_mut(), condition, timeout) }
}

unsafe extern "C" fn sreadfrom(
    cq: *mut FidCq,
    place: *mut c_void,
    count: usize,
    sources: *mut u64,
    _condition: *const c_void,
    timeout: c_int,
) -> isize {
    let object = object!(Object, cq);
    let limit = u64::try_from(timeout).ok().map(Duration::from_millis);
    let start = Instant::now();
    let mut waiter = Waiter::new(Patience::new(false));
    loop {
        // SAFETY: `place` has room for `count` entries, and `sources`, if it is not NULL, for as
        // many addresses, by fi_cq(3).
        let taken = unsafe { take_entries(object, place, count, sources) };
        let is_signalled = || {
            let mut objects = object.shared.lock();
            let queue = objects.queues.get_mut(object.number);
            queue.is_some_and(|queue| std::mem::take(&mut queue.is_signalled))
        };
        let is_over = limit.is_some_and(|limit| start.elapsed() >= limit);
        if taken != Err(libc::EAGAIN) || is_over || is_signalled() {
            return size(taken);
        }
        waiter.pause();
    }
}

unsafe extern "C" fn signal(cq: *mut FidCq) -> c_int {
    let object = object!(Object, cq);
    match object.shared.lock().queues.get_mut(object.number) {
        Some(queue) => {
            queue.is_signalled = true;
            0
        }
        None => status(Err(libc::EINVAL)),
    }
}

unsafe extern "C" fn strerror(
    _: *mut FidCq,
    number: c_int,
    _: *const c_void,
    text: *mut c_char,
    len: usize,
) -> *const c_char {
    let words = match number {
        265 => c"the message is longer than its buffer",
        FI_ENOKEY => c"the peer has no region of this key",
        libc::ECONNRESET => c"the peer is gone",
        libc::EACCES => c"the region does not allow this access",
        libc::EFAULT => c"the range does not lie in the region",
        libc::ECANCELED => c"cancelled",
        libc::ENOMSG => c"no such message has come",
        _ => c"an error of errno(3)",
    };
    if !text.is_null() && len > 0 {
        let bytes = words.to_bytes();
        let fits = bytes.len().min(len - 1);
        // SAFETY: `text` has room for `len` bytes, by fi_cq(3).
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), text.cast(), fits);
            text.add(fits).write(0);
        }
    }
    words.as_ptr()
}
