//! Counters (fi_cntr(3)).

use crate::object::{Code, closing, give, object, status, stub};
use crate::state::{AtRest, Count, Kept, Shared, Turn};
use crate::wait::{self, Wait};
use crate::{closed, direct, domain};
use fi_ofi_abi::*;
use fi_provider::raw::completion::Counter;
use std::cell::OnceCell;
use std::ffi::{c_int, c_void};
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The C object.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Object {
    fid: FidCntr,
    shared: Arc<Shared>,
    count: Kept<Count>,
    /// In it: the count of operations that are done, and whether reading it is noted.
    place: *const AtomicU64,
    is_noted: *const AtomicBool,
    rest: AtRest,
    number: u64,
    /// The descriptor that the application asks for.
    wait: Option<OwnedFd>,
    /// Whether threads that wait sleep.
    sleeps: bool,
    /// The table for programs that read the counter themselves.
    direct: OnceCell<Box<direct::OfCounter>>,
}

static OPS: FiOps = FiOps {
    control,
    ops_open: direct::open_counter,
    ..closing(close)
};
/// The functions in domains of several threads, and of one at a time.
static SAFE: FiOpsCntr = ops::<true>();
static ALONE: FiOpsCntr = ops::<false>();
/// The functions in domains with automatic progress.
static AUTOMATIC: FiOpsCntr = FiOpsCntr {
    read: read_automatic,
    ..ops::<true>()
};

const fn ops<const SAFE: bool>() -> FiOpsCntr {
    FiOpsCntr {
        size: size_of::<FiOpsCntr>(),
        read: read::<SAFE>,
        readerr,
        add,
        set,
        wait,
        adderr,
        seterr,
        newer: [stub],
    }
}

impl Object {
    /// Returns the domain, and the number there.
    pub(crate) fn place(&self) -> (&Arc<Shared>, u64) {
        (&self.shared, self.number)
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Returns where the operations are counted that are done.
    pub(crate) fn count(&self, turn: &Turn<'_>) -> *const u64 {
        self.count.get(turn).raw.place().as_ptr()
    }

    /// Returns the table for programs that read the counter themselves.
    pub(crate) fn direct(&self) -> &OnceCell<Box<direct::OfCounter>> {
        &self.direct
    }
}

pub(crate) unsafe extern "C" fn open(
    domain: *mut FidDomain,
    attr: *mut FiCntrAttr,
    cntr: *mut *mut FidCntr,
    context: *mut c_void,
) -> c_int {
    let shared = &object!(domain::Object, domain).shared;
    let mut kind = FI_WAIT_UNSPEC;
    // SAFETY: `attr` is NULL or attributes, by fi_cntr(3).
    if let Some(attr) = unsafe { attr.as_ref() } {
        kind = attr.wait_obj;
        let waits = [FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_YIELD];
        if !waits.contains(&attr.wait_obj) || attr.events != 0 {
            return -FI_ENOSYS;
        }
        if attr.flags != 0 {
            return -FI_EBADFLAGS;
        }
    }
    let count = Kept::new(Count::new());
    let mut turn = shared.lock();
    let own = count.get(&turn);
    let wait = (kind == FI_WAIT_FD).then(|| turn.descriptor(&own.wait));
    let wait = match wait.transpose() {
        Ok(wait) => wait,
        Err(code) => return -code,
    };
    if wait.is_some() {
        own.note_reads();
    }
    let (place, is_noted) = (&raw const *own.raw.place(), &raw const own.is_noted);
    let is_automatic = turn.automatic.is_some();
    let rest = AtRest::of(&turn);
    let in_table = count.share(&turn);
    let number = turn.counters.add(in_table);
    drop(turn);
    let fid = FidCntr {
        fid: Fid {
            fclass: FI_CLASS_CNTR,
            context,
            ops: &OPS,
        },
        ops: match (shared.is_shared, is_automatic) {
            (true, true) => &AUTOMATIC,
            (true, false) => &SAFE,
            (false, _) => &ALONE,
        },
    };
    let shared = Arc::clone(shared);
    let object = Object {
        fid,
        shared,
        count,
        place,
        is_noted,
        rest,
        number,
        wait,
        sleeps: [FI_WAIT_UNSPEC, FI_WAIT_FD].contains(&kind),
        direct: OnceCell::new(),
    };
    // SAFETY: `cntr` is where the caller wants the pointer; the object begins with its fid.
    unsafe { give(object, cntr) };
    0
}

unsafe extern "C" fn control(fid: *mut Fid, command: c_int, argument: *mut c_void) -> c_int {
    let wait = object!(Object, fid).wait.as_ref().map(AsFd::as_fd);
    // SAFETY: `argument` is NULL or has room for a descriptor, by fi_cntr(3).
    status(unsafe { wait::control(wait, command, argument) })
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    let object = object!(Object, fid);
    let shared = Arc::clone(&object.shared);
    let mut turn = shared.lock();
    if object.count.get(&turn).users.get() > 0 {
        return status(Err(libc::EBUSY));
    }
    turn.counters.remove(object.number);
    // SAFETY: `open` has given the object, and its caller uses it no more.
    unsafe { closed::retire::<Object, _>(fid, closed::counter()) };
    0
}

impl Object {
    /// Acts on the counter, after progress if it `reads`.
    #[inline(always)]
    fn with<T>(&self, reads: bool, act: impl FnOnce(&Counter) -> T) -> T {
        let mut turn = self.shared.lock();
        if reads {
            turn.progress();
        }
        let counter = self.count.get(&turn);
        let result = act(&counter.raw);
        if reads {
            counter.note_told();
        } else if turn.has_watchers {
            // It may have reached a threshold.
            turn.tell_watchers();
        }
        result
    }

    /// Lets a thread sleep that waits for a count.
    fn arm(&self) -> Result<RawFd, Code> {
        let mut turn = self.shared.lock();
        turn.progress();
        let count = self.count.get(&turn);
        if count.has_changed() || turn.is_fed(self.number) {
            return Err(libc::EAGAIN);
        }
        turn.arm(&count.wait)
    }

    /// Tells whether a thread may sleep on the descriptor.
    pub(crate) fn trywait(&self) -> Result<(), Code> {
        self.wait.as_ref().ok_or(libc::EINVAL)?;
        self.arm().map(drop)
    }
}

unsafe extern "C" fn read<const SAFE: bool>(cntr: *mut FidCntr) -> u64 {
    let object = object!(Object, cntr);
    let Some(turn) = object.shared.lock_at_once::<SAFE>() else {
        // SAFETY: the counter is open, by fi_cntr(3).
        return unsafe { read_slowly(cntr) };
    };
    // SAFETY: the object holds its domain.
    if unsafe { object.rest.get(&turn) } {
        // SAFETY: the word is the counter's, of which the object holds a handle.
        let place = unsafe { &*object.place };
        drop(turn);
        // ORDERING: pairs with the addition of a thread that has its turn by now.
        return place.load(Ordering::Acquire);
    }
    turn.leave();
    // SAFETY: the turn is left to the function, and the counter is open.
    unsafe { read_left::<SAFE>(cntr) }
}

/// Reads the counter behind progress, and ends a turn that was left to it first.
///
/// # Safety
/// As [`Shared::left`]; the counter is open.
#[inline(never)]
unsafe extern "C" fn read_left<const SAFE: bool>(cntr: *mut FidCntr) -> u64 {
    let shared = &object!(Object, cntr).shared;
    // SAFETY: the turn was left to this function, and the counter is open.
    unsafe {
        drop(shared.left::<SAFE>());
        read_slowly(cntr)
    }
}

unsafe extern "C" fn read_automatic(cntr: *mut FidCntr) -> u64 {
    let object = object!(Object, cntr);
    // SAFETY: both are atomics of the counter, of which the object holds a handle.
    let (is_noted, place) = unsafe { (&*object.is_noted, &*object.place) };
    // ORDERING: a thread that asks for notes does so before it reads.
    if !is_noted.load(Ordering::Relaxed) {
        // ORDERING: pairs with the addition of the thread that makes progress.
        return place.load(Ordering::Acquire);
    }
    // SAFETY: the counter is open, by fi_cntr(3).
    unsafe { read_slowly(cntr) }
}

#[inline(never)]
unsafe extern "C" fn read_slowly(cntr: *mut FidCntr) -> u64 {
    object!(Object, cntr).with(true, Counter::read)
}

unsafe extern "C" fn readerr(cntr: *mut FidCntr) -> u64 {
    object!(Object, cntr).with(true, Counter::read_failed)
}

unsafe extern "C" fn add(cntr: *mut FidCntr, value: u64) -> c_int {
    object!(Object, cntr).with(false, |counter| counter.add(value));
    0
}

unsafe extern "C" fn set(cntr: *mut FidCntr, value: u64) -> c_int {
    object!(Object, cntr).with(false, |counter| counter.set(value));
    0
}

unsafe extern "C" fn adderr(cntr: *mut FidCntr, value: u64) -> c_int {
    let add = |counter: &Counter| counter.set_failed(counter.read_failed().wrapping_add(value));
    object!(Object, cntr).with(false, add);
    0
}

unsafe extern "C" fn seterr(cntr: *mut FidCntr, value: u64) -> c_int {
    object!(Object, cntr).with(false, |counter| counter.set_failed(value));
    0
}

unsafe extern "C" fn wait(cntr: *mut FidCntr, threshold: u64, timeout: c_int) -> c_int {
    let object = object!(Object, cntr);
    let mut pauses = Wait::new(timeout, object.sleeps);
    let mut failed_before = None;
    loop {
        let look = |counter: &Counter| (counter.read(), counter.read_failed());
        let (done, failed) = object.with(true, look);
        if done >= threshold {
            return 0;
        }
        if *failed_before.get_or_insert(failed) != failed {
            return -FI_EAVAIL;
        }
        if let Some(code) = pauses.end(libc::ETIMEDOUT) {
            return status(Err(code));
        }
        pauses.pause(|| object.arm());
    }
}
