//! Completion queues (fi_cq(3)).

use crate::object::{Code, closing, give, object, size, status, stub};
use crate::slab::{Slab, is_number};
use crate::state::{Kept, Objects, Queue, Receive, Shared, Told, Wrong};
use crate::wait::{self, Wait};
use crate::{closed, domain};
use fi_ofi_abi::*;
use fi_provider::raw::completion::{Entry, Operation, Seen};
use fi_provider::raw::endpoint::Endpoint;
use fi_provider::raw::endpoint::due::{Due, LonePost, Taken};
use std::ffi::{c_char, c_int, c_void};
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::Arc;
use std::sync::atomic::{Ordering, compiler_fence};

/// The C object.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Object {
    fid: FidCq,
    shared: Arc<Shared>,
    queue: Kept<Queue>,
    number: u64,
    /// The descriptor that the application asks for.
    wait: Option<OwnedFd>,
    /// Whether threads that wait sleep.
    sleeps: bool,
}

static OPS: FiOps = FiOps {
    control,
    ..closing(close)
};
/// The functions in domains of several threads, and of one at a time, each with a device and
/// without: by the format.
static SAFE: [[FiOpsCq; FORMATS]; 2] = [all_ops::<true, false>(), all_ops::<true, true>()];
static ALONE: [[FiOpsCq; FORMATS]; 2] = [all_ops::<false, false>(), all_ops::<false, true>()];

const FORMATS: usize = FI_CQ_FORMAT_TAGGED as usize + 1;

const fn all_ops<const SAFE: bool, const DEVICE: bool>() -> [FiOpsCq; FORMATS] {
    [
        ops::<SAFE, DEVICE, FI_CQ_FORMAT_CONTEXT>(),
        ops::<SAFE, DEVICE, FI_CQ_FORMAT_CONTEXT>(),
        ops::<SAFE, DEVICE, FI_CQ_FORMAT_MSG>(),
        ops::<SAFE, DEVICE, FI_CQ_FORMAT_DATA>(),
        ops::<SAFE, DEVICE, FI_CQ_FORMAT_TAGGED>(),
    ]
}

const fn ops<const SAFE: bool, const DEVICE: bool, const FORMAT: u32>() -> FiOpsCq {
    FiOpsCq {
        size: size_of::<FiOpsCq>(),
        read: read::<SAFE, DEVICE, FORMAT>,
        readfrom,
        readerr,
        sread,
        sreadfrom,
        signal,
        strerror,
        newer: [stub],
    }
}

/// Entries of a queue whose size is not asked for, and the most.
const USUAL: usize = 1 << 12;
const MOST: usize = 1 << 20;

impl Object {
    /// Returns the domain, and the number there.
    pub(crate) fn place(&self) -> (&Arc<Shared>, u64) {
        (&self.shared, self.number)
    }

    /// Lets a thread sleep that waits for an entry.
    fn arm(&self) -> Result<RawFd, Code> {
        let mut objects = self.shared.lock();
        objects.progress();
        let queue = self.queue.get(&objects);
        if queue.has_entries() {
            return Err(libc::EAGAIN);
        }
        objects.arm(&queue.wait)
    }

    /// Tells whether a thread may sleep on the descriptor.
    pub(crate) fn trywait(&self) -> Result<(), Code> {
        self.wait.as_ref().ok_or(libc::EINVAL)?;
        self.arm().map(drop)
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
    let mut kind = FI_WAIT_UNSPEC;
    if let Some(attr) = attr {
        kind = attr.wait_obj;
        let waits = [FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_YIELD];
        // A threshold need not be met when a wait ends, by fi_cq(3): it is ignored.
        let knows = attr.wait_obj == FI_WAIT_NONE || attr.wait_cond <= FI_CQ_COND_THRESHOLD;
        if !waits.contains(&attr.wait_obj) || !knows {
            return -FI_ENOSYS;
        }
        // The processor for interrupts is a hint: there are none of a queue's own.
        if attr.flags & !FI_AFFINITY != 0 {
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
    let queue = Kept::new(Queue::new(room, format));
    let mut turn = shared.lock();
    let own = &queue.get(&turn).wait;
    let wait = (kind == FI_WAIT_FD).then(|| turn.descriptor(own));
    let wait = match wait.transpose() {
        Ok(wait) => wait,
        Err(code) => return -code,
    };
    queue.get(&turn).note_rest(&turn.rest);
    let in_table = queue.share(&turn);
    let number = turn.queues.add(in_table);
    drop(turn);
    let fid = FidCq {
        fid: Fid {
            fclass: FI_CLASS_CQ,
            context,
            ops: &OPS,
        },
        ops: match shared.is_shared {
            true => &SAFE[usize::from(shared.has_device)][format as usize],
            false => &ALONE[usize::from(shared.has_device)][format as usize],
        },
    };
    let shared = Arc::clone(shared);
    let object = Object {
        fid,
        shared,
        queue,
        number,
        wait,
        sleeps: [FI_WAIT_UNSPEC, FI_WAIT_FD].contains(&kind),
    };
    // SAFETY: `cq` is where the caller wants the pointer; the object begins with its fid.
    unsafe { give(object, cq) };
    0
}

unsafe extern "C" fn control(fid: *mut Fid, command: c_int, argument: *mut c_void) -> c_int {
    let wait = object!(Object, fid).wait.as_ref().map(AsFd::as_fd);
    // SAFETY: `argument` is NULL or has room for a descriptor, by fi_cq(3).
    status(unsafe { wait::control(wait, command, argument) })
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    let object = object!(Object, fid);
    let shared = Arc::clone(&object.shared);
    let mut turn = shared.lock();
    if object.queue.get(&turn).users.get() > 0 {
        return status(Err(libc::EBUSY));
    }
    let objects = &mut *turn;
    if let Some(queue) = objects.queues.remove(object.number) {
        // Lets go the receives that its entries name.
        while next(&queue, &mut objects.receives).is_some() {}
    }
    // SAFETY: `open` has given the object, and its caller uses it no more.
    unsafe { closed::retire::<Object, _>(fid, closed::queue()) };
    0
}

/// Takes the oldest completion that is to be told.
fn next(queue: &Queue, receives: &mut Slab<Receive>) -> Option<Result<Told, Wrong>> {
    if queue.holds() {
        return queue.take_held();
    }
    next_entry(queue, receives)
}

/// Drops the entries of receives that do not report, where they leave no room in the queue: nobody
/// has to read it for them.
pub(crate) fn make_room(queue: &Queue, receives: &mut Slab<Receive>) {
    if queue.raw.has_room() || queue.held_many() >= queue.raw.capacity() {
        return;
    }
    while let Some(told) = next_entry(queue, receives) {
        queue.hold_last(told);
    }
}

/// Takes the oldest completion that is to be told and was not looked at before.
fn next_entry(queue: &Queue, receives: &mut Slab<Receive>) -> Option<Result<Told, Wrong>> {
    loop {
        let told = match queue.raw.next()? {
            Ok(entry) => match translate(&entry, receives) {
                (told, true) => Ok(told),
                (_, false) => continue,
            },
            Err(failure) => Err(Wrong {
                told: translate(&failure.entry, receives).0,
                code: failure.error.code(),
                cut: failure.cut,
            }),
        };
        return Some(told);
    }
}

/// The flags of the operations' completions, without a tag and with one.
const FLAGS: [[u64; 7]; 2] = {
    let all = [
        Operation::Send,
        Operation::Receive,
        Operation::Write,
        Operation::Read,
        Operation::Atomic,
        Operation::Fetch,
        Operation::RemoteWrite,
    ];
    let mut flags = [[0; 7]; 2];
    let mut at = 0;
    while at < all.len() {
        flags[0][all[at] as usize] = flags_of(all[at], false);
        flags[1][all[at] as usize] = flags_of(all[at], true);
        at += 1;
    }
    flags
};

/// Returns the flags of an operation's completion.
const fn flags_of(operation: Operation, has_tag: bool) -> u64 {
    let message = if has_tag { FI_TAGGED } else { FI_MSG };
    match operation {
        Operation::Send => FI_SEND | message,
        Operation::Receive => FI_RECV | message,
        Operation::Read => FI_READ | FI_RMA,
        Operation::Write => FI_WRITE | FI_RMA,
        Operation::Atomic => FI_WRITE | FI_ATOMIC,
        Operation::Fetch => FI_READ | FI_ATOMIC,
        Operation::RemoteWrite => FI_REMOTE_WRITE | FI_RMA,
    }
}

/// Makes a completion of an entry, and tells whether the application wants it.
#[inline(never)]
fn translate(entry: &Entry, receives: &mut Slab<Receive>) -> (Told, bool) {
    let mut told = Told {
        context: without_provenance_mut(entry.context as usize),
        flags: flags_of(entry.operation, entry.tag.is_some()),
        len: entry.len,
        buffer: null_mut(),
        data: entry.data.unwrap_or(0),
        source: entry.source.map_or(FI_ADDR_NOTAVAIL, u64::from),
        tag: entry.tag.unwrap_or(0),
    };
    if entry.data.is_some() {
        told.flags |= FI_REMOTE_CQ_DATA;
    }
    if entry.operation != Operation::Receive || !is_number(entry.context) {
        return (told, true);
    }
    let reports = translate_numbered(entry, &mut told, receives);
    (told, reports)
}

/// Completes the completion of a receive that has a number in the table, and tells whether the
/// application wants it.
fn translate_numbered(entry: &Entry, told: &mut Told, receives: &mut Slab<Receive>) -> bool {
    told.context = null_mut();
    let Some(posted) = receives.get(entry.context) else {
        return true;
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
    reports
}

unsafe extern "C" fn read<const SAFE: bool, const DEVICE: bool, const FORMAT: u32>(
    cq: *mut FidCq,
    place: *mut c_void,
    count: usize,
) -> isize {
    let object = object!(Object, cq);
    let Some(turn) = object.shared.lock_at_once::<SAFE>() else {
        // SAFETY: `place` has room for `count` entries, by fi_cq(3).
        return unsafe { read_slowly(cq, place, count) };
    };
    let queue = object.queue.get(&turn);
    // SAFETY: the object holds its domain, and the turn is this one, longer than the reference.
    if let Some(only) = unsafe { queue.unrung() } {
        let due = match DEVICE {
            true => only.due(queue.ends.get()),
            false if only.is_at_rest() => Due::Nothing,
            false => Due::Anything,
        };
        match due {
            Due::Nothing => {
                if queue.raw.is_idle() {
                    return -(libc::EAGAIN as isize);
                }
                // The compiler looks at the entry anew, so that each look is one with memory.
                compiler_fence(Ordering::SeqCst);
                // SAFETY: `place` has room for `count` entries, by fi_cq(3).
                let put = |seen: Seen<'_>| unsafe { put_plain(&seen, FORMAT, place) };
                if count > 0 && queue.raw.next_seen(is_plain_at_once, put).is_some() {
                    return 1;
                }
            }
            Due::Lone(lone) if count > 0 => {
                turn.leave();
                // SAFETY: the turn is left to the function; `place` has room for `count` entries.
                // The endpoint is the only one, and has just returned the operation, which reports
                // here.
                return unsafe { read_lone::<SAFE, false, FORMAT>(cq, place, count, lone, only) };
            }
            Due::Lone(_) | Due::Anything => {}
        }
    }
    turn.leave();
    // SAFETY: the turn is left to the function; `place` has room for `count` entries.
    unsafe { read_left::<SAFE, FORMAT>(cq, place, count) }
}

/// Reads the completion of the one operation that a device does, if it has come, in a turn that was
/// left to it; of one that brings a word if `IS_WORD`, which needs more registers. Calls nothing
/// but at its end.
///
/// # Safety
/// As [`Shared::left`]; `place` has room for `count` entries, at least one. The endpoint is the only one
/// of the domain, whose operations report to the queue, and has just returned the operation.
#[inline(never)]
unsafe fn read_lone<const SAFE: bool, const IS_WORD: bool, const FORMAT: u32>(
    cq: *mut FidCq,
    place: *mut c_void,
    count: usize,
    lone: LonePost<'_>,
    only: &Endpoint,
) -> isize {
    // SAFETY: `place` has room for an entry.
    let put = |seen: Seen<'_>| unsafe { put_plain(&seen, FORMAT, place) };
    // SAFETY: the endpoint has just returned it.
    match unsafe { only.take_lone::<IS_WORD>(lone, put) } {
        Taken::Entry => {
            let object = object!(Object, cq);
            // SAFETY: the turn was left to this function.
            drop(unsafe { object.shared.left::<SAFE>() });
            1
        }
        // SAFETY: the turn is left to the function, and all else is as this one requires; `place` has
        // room for `count` entries.
        Taken::Other if !IS_WORD => unsafe {
            read_lone::<SAFE, true, FORMAT>(cq, place, count, lone, only)
        },
        // SAFETY: the turn is left to the function; `place` has room for `count` entries.
        Taken::Other | Taken::Nothing => unsafe { read_left::<SAFE, FORMAT>(cq, place, count) },
    }
}

/// Reads behind the progress of the only endpoint, in a turn that was left to it, and by more than few
/// instructions where something else is to be done.
///
/// # Safety
/// As [`Shared::left`]; `place` has room for `count` entries.
#[inline(never)]
unsafe extern "C" fn read_left<const SAFE: bool, const FORMAT: u32>(
    cq: *mut FidCq,
    place: *mut c_void,
    count: usize,
) -> isize {
    let object = object!(Object, cq);
    // SAFETY: the turn was left to this function.
    let turn = unsafe { object.shared.left::<SAFE>() };
    let queue = object.queue.get(&turn);
    // SAFETY: the object holds its domain, and the turn is this one, longer than the reference.
    if let Some(only) = unsafe { queue.only() }
        && !turn.has_drops
        && count > 0
    {
        only.progress();
        // SAFETY: `place` has room for `count` entries.
        let put = |seen: Seen<'_>| unsafe { put_plain(&seen, FORMAT, place) };
        if queue.raw.next_seen(is_plain_at_once, put).is_some() {
            return 1;
        }
        if queue.raw.is_idle() {
            return -(libc::EAGAIN as isize);
        }
    }
    drop(turn);
    // SAFETY: `place` has room for `count` entries.
    unsafe { read_slowly(cq, place, count) }
}

#[inline(never)]
unsafe extern "C" fn read_slowly(cq: *mut FidCq, place: *mut c_void, count: usize) -> isize {
    if count == 1 {
        let object = object!(Object, cq);
        let mut turn = object.shared.lock();
        turn.progress();
        let queue = object.queue.get(&turn);
        if !queue.holds() {
            // SAFETY: `place` has room for an entry, by fi_cq(3).
            let put = |seen: Seen<'_>| unsafe { put_plain(&seen, queue.format, place) };
            if queue.raw.next_seen(is_plain, put).is_some() {
                return 1;
            }
        }
    }
    // SAFETY: `place` has room for `count` entries, by fi_cq(3).
    unsafe { readfrom(cq, place, count, null_mut()) }
}

/// Returns whether an entry is its completion, but for the flags, as far as few instructions tell.
#[inline(always)]
fn is_plain_at_once(seen: Seen<'_>) -> bool {
    seen.is_plain() && !is_number(seen.context())
}

/// Returns whether an entry is its completion, but for the flags.
#[inline(always)]
fn is_plain(seen: Seen<'_>) -> bool {
    seen.is_plain() && !(seen.operation() == Operation::Receive && is_number(seen.context()))
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
    let mut turn = object.shared.lock();
    turn.progress();
    let queue = object.queue.get(&turn);
    let objects = &mut *turn;
    let mut taken = 0;
    while taken < count && !queue.holds() {
        let told = queue
            .raw
            .next_seen(|_| true, |seen| tell(&seen, &mut objects.receives));
        let told = match told {
            Some((told, true)) => told,
            Some((_, false)) => continue,
            None => break,
        };
        // SAFETY: `place` has room for `count` entries of the queue's format, and `sources`, if it is
        // not NULL, for as many addresses.
        unsafe { put(&told, queue.format, (place, sources), taken) };
        taken += 1;
    }
    if taken > 0 {
        return Ok(taken);
    }
    if queue.raw.is_idle() && !queue.holds() {
        return Err(libc::EAGAIN);
    }
    // SAFETY: `place` has room for `count` entries, and `sources`, if it is not NULL, for as many
    // addresses.
    unsafe { take_one(objects, queue, (place, sources), count) }
}

/// Takes an entry that was looked at before, is no success, or is not found by few instructions.
///
/// # Safety
/// `place` has room for `count` entries, and `sources`, if it is not NULL, for as many addresses.
#[cold]
#[inline(never)]
unsafe fn take_one(
    objects: &mut Objects,
    queue: &Queue,
    place: (*mut c_void, *mut u64),
    count: usize,
) -> Result<usize, Code> {
    match next(queue, &mut objects.receives) {
        Some(Ok(told)) if count > 0 => {
            // SAFETY: there is room for one entry.
            unsafe { put(&told, queue.format, place, 0) };
            Ok(1)
        }
        Some(held) => {
            let is_wrong = held.is_err();
            queue.hold_first(held);
            // None was asked for.
            if is_wrong { Err(FI_EAVAIL) } else { Ok(0) }
        }
        None => Err(libc::EAGAIN),
    }
}

/// Makes a completion of an entry as [`translate`] does, where few instructions do.
#[inline(always)]
fn tell(seen: &Seen<'_>, receives: &mut Slab<Receive>) -> (Told, bool) {
    if !is_plain(*seen) {
        return translate(&seen.entry(), receives);
    }
    let told = Told {
        context: without_provenance_mut(seen.context() as usize),
        flags: flags_of(seen.operation(), seen.tag().is_some()),
        len: seen.short_len() as usize,
        buffer: null_mut(),
        data: 0,
        source: seen.source(),
        tag: seen.tag().unwrap_or(0),
    };
    (told, true)
}

/// Writes the completion of an entry that is plain, as the first one of an array.
///
/// # Safety
/// The array has room for it.
#[inline(always)]
unsafe fn put_plain(seen: &Seen<'_>, format: u32, array: *mut c_void) {
    // SAFETY: the array has room for the entry, of which each format is the begin of the longest.
    unsafe {
        let entry = array.cast::<FiCqTaggedEntry>();
        (*entry).op_context = without_provenance_mut(seen.context() as usize);
        if format == FI_CQ_FORMAT_CONTEXT {
            return;
        }
        let (flags, tag) = match seen.tag() {
            None => (&FLAGS[0], 0),
            Some(tag) => (&FLAGS[1], tag),
        };
        (*entry).flags = flags[seen.operation() as usize];
        (*entry).len = seen.short_len() as usize;
        if format == FI_CQ_FORMAT_MSG {
            return;
        }
        (*entry).buf = null_mut();
        (*entry).data = 0;
        if format != FI_CQ_FORMAT_DATA {
            (*entry).tag = tag;
        }
    }
}

/// Writes a completion as entry `index` of an array of this format, and its source.
///
/// # Safety
/// The array has room for so many entries, and that of sources, if it is not NULL.
#[inline(always)]
unsafe fn put(told: &Told, format: u32, (array, sources): (*mut c_void, *mut u64), index: usize) {
    let (bytes, fields) = match format {
        FI_CQ_FORMAT_CONTEXT => (8, 1),
        FI_CQ_FORMAT_MSG => (24, 3),
        FI_CQ_FORMAT_DATA => (40, 5),
        _ => (48, 6),
    };
    // SAFETY: the arrays have room; each format is the begin of the longest.
    unsafe {
        if !sources.is_null() {
            sources.add(index).write(told.source);
        }
        let entry = array.byte_add(index * bytes).cast::<FiCqTaggedEntry>();
        (*entry).op_context = told.context;
        if fields >= 3 {
            (*entry).flags = told.flags;
            (*entry).len = told.len;
        }
        if fields >= 5 {
            (*entry).buf = told.buffer.cast();
            (*entry).data = told.data;
        }
        if fields >= 6 {
            (*entry).tag = told.tag;
        }
    }
}

unsafe extern "C" fn readerr(cq: *mut FidCq, place: *mut FiCqErrEntry, _flags: u64) -> isize {
    let object = object!(Object, cq);
    let mut turn = object.shared.lock();
    let queue = object.queue.get(&turn);
    let objects = &mut *turn;
    let wrong = match next(queue, &mut objects.receives) {
        Some(Err(wrong)) => wrong,
        held => {
            if let Some(held) = held {
                queue.hold_first(held);
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
    let mut wait = Wait::new(timeout, object.sleeps);
    loop {
        // SAFETY: `place` has room for `count` entries, and `sources`, if it is not NULL, for as
        // many addresses, by fi_cq(3).
        let taken = unsafe { take_entries(object, place, count, sources) };
        let is_signalled = || {
            let turn = object.shared.lock();
            object.queue.get(&turn).is_signalled.take()
        };
        if taken != Err(libc::EAGAIN) {
            return size(taken);
        }
        if let Some(code) = wait.end(libc::EAGAIN) {
            return size(Err(code));
        }
        if is_signalled() {
            return size(taken);
        }
        wait.pause(|| object.arm());
    }
}

unsafe extern "C" fn signal(cq: *mut FidCq) -> c_int {
    let object = object!(Object, cq);
    let turn = object.shared.lock();
    let queue = object.queue.get(&turn);
    queue.is_signalled.set(true);
    queue.wait.wake();
    0
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
