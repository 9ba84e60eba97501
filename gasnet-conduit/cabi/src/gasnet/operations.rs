//! Puts, gets and fills of memory that is not near, and their handles.

use super::handlers::{arguments, halves, whole};
use super::{Mode, NOT_READY, OK, engine, failure, for_both, index, poll, state, wait};
use gasnet_conduit::{Done, Ended, Engine, Error, Message, Source};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The kinds of operations with implicit handles that are asked for, as gasnet.h has them.
const PUTS: c_int = 1;
const GETS: c_int = 2;

/// Marks operations of an access region that has not ended.
const REGION: u64 = u64::MAX;

/// The operations of a handle: `farreach_gasnet_operations_t`. One thread at a time starts
/// operations and waits for them; the engine counts those that are done.
#[repr(C)]
#[derive(Debug, Default)]
struct Operations {
    /// The first, so that the address of the operations is its own.
    puts_done: AtomicU64,
    gets_done: AtomicU64,
    puts: Cell<u64>,
    gets: Cell<u64>,
    /// Of `gasnet_get_nb_val`; [`REGION`] in an access region.
    value: Cell<u64>,
    /// Of an access region, those that it stands in front of.
    next: AtomicPtr<Operations>,
}

/// C's handle: null if everything was done on return.
type Handle = *mut Operations;

/// A handle that is free: it stays where it is, as C has had its address.
#[derive(Debug, Default)]
struct Free(Box<Operations>);

/// Handles that are free.
static FREE: Mutex<Vec<Free>> = Mutex::new(Vec::new());

fn free() -> std::sync::MutexGuard<'static, Vec<Free>> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a handle of no operations.
fn take() -> Handle {
    Box::into_raw(free().pop().unwrap_or_default().0)
}

/// Gives a handle back.
///
/// # Safety
/// It comes from [`take`], all of its operations are done, and nobody has it any more.
unsafe fn give(handle: Handle) {
    // SAFETY: it was a box, and is nobody else's.
    let mut own = unsafe { Box::from_raw(handle) };
    *own = Operations::default();
    free().push(Free(own));
}

impl Operations {
    /// Returns whether all of these are done.
    fn are_done(&self, which: c_int) -> bool {
        // ORDERING: pairs with the engine's release of the count: the bytes of a get are there.
        (which & PUTS == 0 || self.puts.get() == self.puts_done.load(Ordering::Acquire))
            && (which & GETS == 0 || self.gets.get() == self.gets_done.load(Ordering::Acquire))
    }

    /// Returns the [`Done`] by which a put, or a get, tells of its end here.
    ///
    /// # Safety
    /// The handle is not given back before its end.
    unsafe fn done(&self, which: c_int) -> Done {
        let word = if which == PUTS {
            &self.puts_done
        } else {
            &self.gets_done
        };
        // SAFETY: the word stays where it is; it is changed atomically.
        unsafe { Done::new(word.as_ptr()) }
    }

    /// Notes how an operation was started; whether it is under way.
    fn note(&self, which: c_int, ended: Ended) -> bool {
        let is_later = ended == Ended::Later;
        // Not through a reference to one or the other: rustc 1.95 (LLVM 22.1.2) loses that store.
        if is_later && which == PUTS {
            self.puts.set(self.puts.get() + 1);
        } else if is_later {
            self.gets.set(self.gets.get() + 1);
        }
        is_later
    }
}

/// Returns the operations of a thread, which are made at the first need, behind gasnet_init.
///
/// # Safety
/// `own` is that of gasnet.h, of this thread.
unsafe fn of_thread<'a, G: Mode>(own: *mut Handle) -> &'a Operations {
    // SAFETY: the place is the thread's, and its handle was taken and not given back.
    unsafe {
        if (*own).is_null() {
            // Ends the job before gasnet_init.
            engine::<G>();
            *own = take();
        }
        &**own
    }
}

/// An operation that is to be started: node, address there, memory here, bytes.
#[derive(Clone, Copy)]
struct Transfer {
    node: u32,
    there: u64,
    here: *mut u8,
    bytes: usize,
}

impl Transfer {
    fn new(node: u32, there: *const c_void, here: *const c_void, bytes: usize) -> Self {
        Self {
            node,
            there: there.addr() as u64,
            here: here.cast_mut().cast(),
            bytes,
        }
    }

    /// Starts a put, or a get, for a routine: a put of a few bytes, or a get of 8, by few
    /// instructions.
    ///
    /// # Safety
    /// The memory here is there until the end, or the return if the source is to be reused.
    #[inline(always)]
    unsafe fn start<G: Mode>(
        self,
        routine: &str,
        which: c_int,
        source: Source,
        operations: &Operations,
    ) -> Ended {
        let from = (self.here.cast_const(), self.bytes);
        // SAFETY: the caller's promise of the memory; handles are given back when all is done.
        unsafe {
            if which == PUTS
                && engine::<G>().put_beyond_now(self.node, self.there, from, operations.done(PUTS))
            {
                return Ended::Later;
            }
            if which == GETS && self.get_word::<G>(operations) {
                return Ended::Later;
            }
            self.start_any::<G>(routine, which, source, operations)
        }
    }

    /// Starts a get of 8 bytes over the device by few instructions. Returns false where it is no
    /// such one, or that is not possible, and has done nothing.
    ///
    /// # Safety
    /// As [`Transfer::start`].
    #[inline(always)]
    unsafe fn get_word<G: Mode>(self, operations: &Operations) -> bool {
        let engine = engine::<G>();
        if self.bytes != size_of::<u64>() || self.node >= engine.ranks() {
            return false;
        }
        let (node, here) = (self.node as usize, self.here);
        // SAFETY: the node is one of the job's; the caller's promise of the memory; handles are
        // given back when all is done.
        unsafe {
            let get = || engine.get_word_now(node, here, self.there, operations.done(GETS));
            get() || engine.widen_words(node) && get()
        }
    }

    /// Starts as [`Transfer::start`] does, for any number of bytes, to any memory.
    ///
    /// # Safety
    /// As [`Transfer::start`].
    #[inline(never)]
    unsafe fn start_any<G: Mode>(
        self,
        routine: &str,
        which: c_int,
        source: Source,
        operations: &Operations,
    ) -> Ended {
        let Self {
            node,
            there,
            here,
            bytes,
        } = self;
        // SAFETY: the caller's promise of the memory; handles are given back when all is done.
        let result = unsafe {
            let done = operations.done(which);
            if which == PUTS {
                let from = (here.cast_const(), bytes);
                engine::<G>().put(node, there, from, source, done)
            } else {
                engine::<G>().get(node, (here, bytes), there, done)
            }
        };
        match result {
            Ok(ended) => ended,
            // No bytes lie anywhere.
            Err(Error::OutOfRange { .. }) if bytes == 0 => Ended::Now,
            Err(error) => failure::access(routine, node, there, bytes, &error),
        }
    }

    /// Starts as [`Transfer::start`] does, and waits for the end.
    unsafe fn complete<G: Mode>(self, routine: &str, which: c_int) {
        let operations = Operations::default();
        // SAFETY: the caller's promise; the operations stay until they are done.
        let ended = unsafe { self.start::<G>(routine, which, Source::Kept, &operations) };
        if operations.note(which, ended) {
            wait::<G>(routine, || operations.are_done(which));
        }
    }

    /// Starts as [`Transfer::start`] does, and returns a handle.
    unsafe fn with_handle<G: Mode>(self, routine: &str, which: c_int, source: Source) -> Handle {
        let handle = take();
        // SAFETY: the caller's promise; the handle is not given back while the operation is under
        // way.
        unsafe {
            let ended = self.start::<G>(routine, which, source, &*handle);
            if (*handle).note(which, ended) {
                return handle;
            }
            give(handle);
        }
        std::ptr::null_mut()
    }

    /// Starts as [`Transfer::start`] does, for the thread's implicit handle.
    unsafe fn implicit<G: Mode>(
        self,
        routine: &str,
        which: c_int,
        source: Source,
        own: *mut Handle,
    ) {
        // SAFETY: the caller's promise; the thread's operations stay.
        unsafe { self.among::<G>(routine, which, source, of_thread::<G>(own)) }
    }

    /// Starts as [`Transfer::start`] does, and counts it among operations that stay until its end.
    ///
    /// # Safety
    /// As [`Transfer::start`].
    #[inline(always)]
    unsafe fn among<G: Mode>(
        self,
        routine: &str,
        which: c_int,
        source: Source,
        operations: &Operations,
    ) {
        // SAFETY: the memory here is there until the end, or the return if the source is reused.
        let ended = unsafe { self.start::<G>(routine, which, source, operations) };
        operations.note(which, ended);
    }
}

/// Returns when the source may be changed, by the header's flags.
fn source(flags: u32) -> Source {
    if flags & 1 != 0 {
        Source::Reused
    } else {
        Source::Kept
    }
}

unsafe fn put<G: Mode>(node: u32, dest: *mut c_void, src: *const c_void, bytes: usize) {
    // SAFETY: the program's source holds the bytes.
    unsafe { Transfer::new(node, dest, src, bytes).complete::<G>("gasnet_put", PUTS) }
}

unsafe fn put_nb<G: Mode>(
    node: u32,
    dest: *mut c_void,
    src: *const c_void,
    bytes: usize,
    flags: u32,
) -> Handle {
    let transfer = Transfer::new(node, dest, src, bytes);
    // SAFETY: the program's source holds the bytes, until it has waited for the handle if flags say
    // so.
    unsafe { transfer.with_handle::<G>("gasnet_put_nb", PUTS, source(flags)) }
}

unsafe fn put_nbi<G: Mode>(
    node: u32,
    dest: *mut c_void,
    src: *const c_void,
    bytes: usize,
    flags: u32,
    own: *mut Handle,
) {
    let transfer = Transfer::new(node, dest, src, bytes);
    // SAFETY: the thread's place; the program's source holds the bytes, until it has waited for them if
    // flags say so.
    unsafe { transfer.implicit::<G>("gasnet_put_nbi", PUTS, source(flags), own) }
}

/// Starts a put of 8 bytes, which come by value, for the thread's operations, which are there: so
/// gasnet_init has opened the engine.
#[inline(always)]
unsafe fn put_word_nbi<G: Mode>(
    node: u32,
    dest: *mut c_void,
    word: u64,
    am: *const c_void,
    own: Handle,
) {
    // SAFETY: the header passes the engine, a node of the job, and the thread's operations.
    unsafe {
        if !put_word_now::<G>(node, dest, word, am, own) {
            put_word_otherwise::<G>(node, dest, word, am, own);
        }
    }
}

/// Starts a put as [`put_word_nbi`] does, where few instructions do, and calls nothing. Returns false
/// otherwise, and has done nothing.
///
/// # Safety
/// `am` leads to the engine, `node` is one of the job's, and `own` leads to operations of this thread.
#[inline(always)]
unsafe fn put_word_now<G: Mode>(
    node: u32,
    dest: *mut c_void,
    word: u64,
    am: *const c_void,
    own: Handle,
) -> bool {
    // SAFETY: the engine was opened for good by the header's mode, which chose `G` there and here; the
    // node is one of the job's, the word holds 8 bytes, and the operations stay.
    unsafe {
        let (engine, to) = (&*am.cast::<Engine<G>>(), dest.addr() as u64);
        let done = (*own).done(PUTS);
        engine.put_word_now(node as usize, to, (&raw const word).cast(), done)
            && (*own).note(PUTS, Ended::Later)
    }
}

/// Does the work of [`put_word_nbi`], where that has found no room in few instructions.
///
/// # Safety
/// As [`put_word_now`].
#[inline(never)]
unsafe fn put_word_otherwise<G: Mode>(
    node: u32,
    dest: *mut c_void,
    word: u64,
    am: *const c_void,
    own: Handle,
) {
    // SAFETY: the engine is there, and the node one of the job's.
    if unsafe { (*am.cast::<Engine<G>>()).widen_words(node as usize) }
        // SAFETY: `am` is the engine, `node` a node of the job, and `own` are the operations of this
        // thread, as the caller has them.
        && unsafe { put_word_now::<G>(node, dest, word, am, own) }
    {
        return;
    }
    // SAFETY: the operations stay.
    unsafe { put_word_at_all::<G>(node, dest, word, own) }
}

/// Does the work of [`put_word_nbi`], by any way of the put.
///
/// # Safety
/// `own` leads to operations of this thread.
#[inline(never)]
unsafe fn put_word_at_all<G: Mode>(node: u32, dest: *mut c_void, word: u64, own: Handle) {
    let src = (&raw const word).cast();
    let transfer = Transfer::new(node, dest, src, size_of::<u64>());
    // SAFETY: the word is there during the call, on whose return it may be changed; the operations stay.
    unsafe { transfer.among::<G>("gasnet_put_nbi", PUTS, Source::Reused, &*own) }
}

unsafe fn get<G: Mode>(dest: *mut c_void, node: u32, src: *const c_void, bytes: usize) {
    // SAFETY: the program's memory has room for the bytes.
    unsafe { Transfer::new(node, src, dest, bytes).complete::<G>("gasnet_get", GETS) }
}

unsafe fn get_nb<G: Mode>(
    dest: *mut c_void,
    node: u32,
    src: *const c_void,
    bytes: usize,
) -> Handle {
    let transfer = Transfer::new(node, src, dest, bytes);
    // SAFETY: the program's memory has room for the bytes until it has waited for the handle.
    unsafe { transfer.with_handle::<G>("gasnet_get_nb", GETS, Source::Kept) }
}

unsafe fn get_nbi<G: Mode>(
    dest: *mut c_void,
    node: u32,
    src: *const c_void,
    bytes: usize,
    own: *mut Handle,
) {
    let transfer = Transfer::new(node, src, dest, bytes);
    // SAFETY: the program's memory has room for the bytes until it has waited for them.
    unsafe { transfer.implicit::<G>("gasnet_get_nbi", GETS, Source::Kept, own) }
}

/// Starts a get of a value; the handle is never null.
unsafe fn get_value<G: Mode>(node: u32, src: *const c_void, bytes: usize) -> Handle {
    let routine = "gasnet_get_nb_val";
    if bytes > size_of::<u64>() {
        failure::end_job(routine, format_args!("{bytes} bytes are no value"));
    }
    let handle = take();
    // SAFETY: the value is of the handle, which is given back when the get is done.
    unsafe {
        let mut here = (*handle).value.as_ptr().cast::<u8>();
        if cfg!(target_endian = "big") {
            here = here.add(size_of::<u64>() - bytes);
        }
        let transfer = Transfer::new(node, src, here.cast(), bytes);
        let ended = transfer.start::<G>(routine, GETS, Source::Kept, &*handle);
        (*handle).note(GETS, ended);
    }
    handle
}

/// Has the node fill bytes of its segment: counted as a put of the operations.
fn start_fill<G: Mode>(node: u32, dest: *mut c_void, value: c_int, bytes: usize, of: &Operations) {
    let (routine, there) = ("gasnet_memset", dest.addr() as u64);
    let segments = engine::<G>().segments().unwrap_or_default();
    if bytes == 0 && (node as usize) < segments.len() {
        return;
    }
    let is_there = segments.get(node as usize).is_some_and(|segment| {
        let at = there.wrapping_sub(segment.start);
        at <= segment.bytes && bytes as u64 <= segment.bytes - at
    });
    if !is_there {
        let error = Error::OutOfRange { rank: node };
        failure::access(routine, node, there, bytes, &error);
    }
    of.note(PUTS, Ended::Later);
    let counter = of.puts_done.as_ptr().expose_provenance() as u64;
    let mut args = [0; 7];
    args[..2].copy_from_slice(&halves(there));
    args[2..4].copy_from_slice(&halves(bytes as u64));
    args[4..6].copy_from_slice(&halves(counter));
    args[6] = value.cast_unsigned();
    if let Err(error) = engine::<G>().request_short(node, index::FILL, &args) {
        failure::access(routine, node, there, bytes, &error);
    }
}

fn memset_nb<G: Mode>(node: u32, dest: *mut c_void, value: c_int, bytes: usize) -> Handle {
    let handle = take();
    // SAFETY: the handle was taken.
    start_fill::<G>(node, dest, value, bytes, unsafe { &*handle });
    handle
}

unsafe fn memset_nbi<G: Mode>(
    node: u32,
    dest: *mut c_void,
    value: c_int,
    bytes: usize,
    own: *mut Handle,
) {
    // SAFETY: the place is the thread's.
    start_fill::<G>(node, dest, value, bytes, unsafe { of_thread::<G>(own) });
}

/// Fills bytes for a requester, and tells it.
///
/// # Safety
/// The engine calls it.
pub(super) unsafe extern "C" fn fill(message: *mut Message) {
    // SAFETY: the message is the engine's.
    let &[low, high, few, many, counter, rest, value] = (unsafe { arguments(message) }) else {
        return;
    };
    let place: *mut u8 = std::ptr::with_exposed_provenance_mut(whole(low, high) as usize);
    // SAFETY: the requester has compared the bytes with this process's segment, which is mapped
    // here.
    unsafe { place.write_bytes(value as u8, whole(few, many) as usize) };
    // SAFETY: the message is the engine's.
    if let Err(error) = unsafe { (*message).reply_short(index::FILLED, &[counter, rest]) } {
        failure::end_job("gasnet_memset", format_args!("{error}"));
    }
}

/// Counts a fill that is done.
///
/// # Safety
/// The engine calls it.
pub(super) unsafe extern "C" fn filled(message: *mut Message) {
    // SAFETY: the message is the engine's.
    let &[low, high] = (unsafe { arguments(message) }) else {
        return;
    };
    let counter: *mut u64 = std::ptr::with_exposed_provenance_mut(whole(low, high) as usize);
    // SAFETY: the counter is that of a handle which waits for this.
    let counter = unsafe { AtomicU64::from_ptr(counter) };
    // ORDERING: pairs with the load in `are_done`.
    counter.fetch_add(1, Ordering::Release);
}

/// Gives a handle back if it is done; whether it was.
///
/// # Safety
/// The handle comes from here, and the program uses it no more if it is done.
unsafe fn retire(handle: Handle) -> bool {
    // SAFETY: the handle was taken, and all is done when it is given back.
    unsafe {
        let is_done = (*handle).are_done(PUTS | GETS);
        if is_done {
            give(handle);
        }
        is_done
    }
}

unsafe fn try_one<G: Mode>(handle: Handle) -> c_int {
    // SAFETY: the program's handle.
    unsafe {
        if retire(handle) {
            return OK;
        }
        poll::<G>("gasnet_try_syncnb");
        if retire(handle) { OK } else { NOT_READY }
    }
}

unsafe fn wait_one<G: Mode>(handle: Handle) {
    // SAFETY: the program's handle, which is there until it is given back.
    unsafe {
        wait::<G>("gasnet_wait_syncnb", || (*handle).are_done(PUTS | GETS));
        give(handle);
    }
}

unsafe fn wait_value<G: Mode>(handle: Handle) -> u64 {
    // SAFETY: the program's handle, which is there until it is given back.
    unsafe {
        wait::<G>("gasnet_wait_syncnb_valget", || (*handle).are_done(GETS));
        let value = (*handle).value.get();
        give(handle);
        value
    }
}

/// Gives those back that are done, and makes them null; whether all are, or any is, or all were
/// null.
///
/// # Safety
/// There are so many of the program's handles.
unsafe fn retire_several(handles: *mut Handle, count: usize, is_all: bool) -> bool {
    let (mut any_done, mut any_left) = (false, false);
    for at in 0..count {
        // SAFETY: there are so many; each is null or comes from here.
        unsafe {
            let place = handles.add(at);
            if (*place).is_null() {
                continue;
            }
            if retire(*place) {
                *place = std::ptr::null_mut();
                any_done = true;
            } else {
                any_left = true;
            }
        }
    }
    !any_left || (any_done && !is_all)
}

unsafe fn try_several<G: Mode>(handles: *mut Handle, count: usize, is_all: c_int) -> c_int {
    // SAFETY: the program's handles.
    unsafe {
        if retire_several(handles, count, is_all != 0) {
            return OK;
        }
        poll::<G>("gasnet_try_syncnb");
        if retire_several(handles, count, is_all != 0) {
            OK
        } else {
            NOT_READY
        }
    }
}

unsafe fn wait_several<G: Mode>(handles: *mut Handle, count: usize, is_all: c_int) {
    wait::<G>("gasnet_wait_syncnb", || {
        // SAFETY: the program's handles.
        unsafe { retire_several(handles, count, is_all != 0) }
    });
}

unsafe fn try_implicit<G: Mode>(own: Handle, which: c_int) -> c_int {
    poll::<G>("gasnet_try_syncnbi");
    // SAFETY: the header passes the thread's operations, which are not null.
    if unsafe { (*own).are_done(which) } {
        OK
    } else {
        NOT_READY
    }
}

unsafe fn wait_implicit<G: Mode>(own: Handle, which: c_int) {
    // SAFETY: the program's handle, which is there until it is given back.
    wait::<G>("gasnet_wait_syncnbi", || unsafe { (*own).are_done(which) });
}

for_both! {
    fn farreach_gasnet_put / farreach_gasnet_put_threads
        = put(node: u32, dest: *mut c_void, src: *const c_void, bytes: usize);
    fn farreach_gasnet_put_nb / farreach_gasnet_put_nb_threads
        = put_nb(node: u32, dest: *mut c_void, src: *const c_void, bytes: usize, flags: u32) -> Handle;
    fn farreach_gasnet_put_nbi / farreach_gasnet_put_nbi_threads
        = put_nbi(node: u32, dest: *mut c_void, src: *const c_void, bytes: usize, flags: u32,
            own: *mut Handle);
    fn farreach_gasnet_put_word_nbi / farreach_gasnet_put_word_nbi_threads
        = put_word_nbi(node: u32, dest: *mut c_void, word: u64, am: *const c_void, own: Handle);
    fn farreach_gasnet_get / farreach_gasnet_get_threads
        = get(dest: *mut c_void, node: u32, src: *const c_void, bytes: usize);
    fn farreach_gasnet_get_nb / farreach_gasnet_get_nb_threads
        = get_nb(dest: *mut c_void, node: u32, src: *const c_void, bytes: usize) -> Handle;
    fn farreach_gasnet_get_nbi / farreach_gasnet_get_nbi_threads
        = get_nbi(dest: *mut c_void, node: u32, src: *const c_void, bytes: usize, own: *mut Handle);
    fn farreach_gasnet_get_value / farreach_gasnet_get_value_threads
        = get_value(node: u32, src: *const c_void, bytes: usize) -> Handle;
    fn farreach_gasnet_memset_nb / farreach_gasnet_memset_nb_threads
        = memset_nb(node: u32, dest: *mut c_void, value: c_int, bytes: usize) -> Handle;
    fn farreach_gasnet_memset_nbi / farreach_gasnet_memset_nbi_threads
        = memset_nbi(node: u32, dest: *mut c_void, value: c_int, bytes: usize, own: *mut Handle);
    fn farreach_gasnet_try / farreach_gasnet_try_threads = try_one(handle: Handle) -> c_int;
    fn farreach_gasnet_wait / farreach_gasnet_wait_threads = wait_one(handle: Handle);
    fn farreach_gasnet_wait_value / farreach_gasnet_wait_value_threads
        = wait_value(handle: Handle) -> u64;
    fn farreach_gasnet_try_several / farreach_gasnet_try_several_threads
        = try_several(handles: *mut Handle, count: usize, is_all: c_int) -> c_int;
    fn farreach_gasnet_wait_several / farreach_gasnet_wait_several_threads
        = wait_several(handles: *mut Handle, count: usize, is_all: c_int);
    fn farreach_gasnet_try_implicit / farreach_gasnet_try_implicit_threads
        = try_implicit(own: Handle, which: c_int) -> c_int;
    fn farreach_gasnet_wait_implicit / farreach_gasnet_wait_implicit_threads
        = wait_implicit(own: Handle, which: c_int);
}

/// Begins an access region: operations with implicit handles are collected for another handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_gasnet_begin_region(own: *mut Handle) {
    if state().am.load(Ordering::Relaxed).is_null() {
        failure::before_init();
    }
    // SAFETY: the header passes the thread's place.
    unsafe {
        if !(*own).is_null() && (**own).value.get() == REGION {
            let what = format_args!("an access region is begun in another one");
            failure::end_job("gasnet_begin_nbi_accessregion", what);
        }
        let region = take();
        (*region).value.set(REGION);
        (*region).next.store(*own, Ordering::Relaxed);
        *own = region;
    }
}

/// Ends an access region, and returns the handle of its operations.
#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_gasnet_end_region(own: *mut Handle) -> Handle {
    // SAFETY: the header passes the thread's place.
    unsafe {
        let region = *own;
        if region.is_null() || (*region).value.get() != REGION {
            let what = format_args!("no access region was begun");
            failure::end_job("gasnet_end_nbi_accessregion", what);
        }
        *own = (*region).next.load(Ordering::Relaxed);
        (*region).value.set(0);
        if retire(region) {
            return std::ptr::null_mut();
        }
        region
    }
}
