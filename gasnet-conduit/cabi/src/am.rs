//! The symbols of farreach_am.h: each function of an engine once for engines of one thread, and once,
//! with `_threads` behind its name, for engines of several.

#![expect(unsafe_code, reason = "C calls these functions with its pointers")]

mod device;
mod slow;
mod tries;

use gasnet_conduit::{
    Alone, Arithmetic, Atomic, Config, Core, Datatype, Done, Ended, Engine, Error, Exchange, Guard,
    Handler, Key, Meeting, Message, Replied, Segment, Sent, Source, Threads, Way, Word,
};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU8, AtomicU64};

/// Results of functions that do not fail.
const OK: c_int = 0;
const DONE: c_int = 1;

/// FARREACH_AM_VERSION.
const VERSION: u32 = 1;

/// FARREACH_AM_REUSE.
const REUSE: u32 = 1;

/// `farreach_am_config_t`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ConfigC {
    version: u32,
    rank: u32,
    ranks: u32,
    node: u32,
    exchange: Option<Meeting>,
    exchange_context: *mut c_void,
    most_memory: usize,
    ring_bytes: usize,
}

const _: () = assert!(size_of::<ConfigC>() == 48 && size_of::<Key>() == 64);
const _: () = assert!(size_of::<Segment>() == 32);

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Returns the number of an error, and keeps its words for `farreach_am_explain`.
#[cold]
fn fail(error: &Error) -> c_int {
    let text = CString::new(error.to_string()).unwrap_or_default();
    LAST.set(text);
    error.code()
}

#[inline(always)]
fn code(result: Result<(), Error>) -> c_int {
    match result {
        Ok(()) => OK,
        Err(error) => fail(&error),
    }
}

#[inline(always)]
fn ended(result: Result<Ended, Error>) -> c_int {
    match result {
        Ok(Ended::Now) => DONE,
        Ok(Ended::Later) => OK,
        Err(error) => fail(&error),
    }
}

/// Returns the elements that C names by a pointer and their number.
///
/// # Safety
/// `first` leads to `many` elements, or there are none.
#[inline(always)]
unsafe fn slice<'a, T>(first: *const T, many: usize) -> &'a [T] {
    if many == 0 {
        return &[];
    }
    // SAFETY: the elements are there.
    unsafe { std::slice::from_raw_parts(first, many) }
}

/// # Safety
/// `config` leads to one, or is null.
unsafe fn open<G: Guard>(config: *const ConfigC, engine: *mut *mut Engine<G>) -> c_int {
    // SAFETY: it leads to a configuration, or is null.
    let config = unsafe { config.as_ref() };
    let wanted = match config {
        None => Config::default(),
        Some(config) if config.version != VERSION => {
            return fail(&Error::Argument(
                "config.version is not FARREACH_AM_VERSION",
            ));
        }
        Some(config) => Config {
            exchange: config.exchange.map(|meeting| {
                // SAFETY: the program's promise, by farreach_am.h.
                unsafe {
                    Exchange::new(config.rank, config.ranks, meeting, config.exchange_context)
                }
            }),
            node: config.node.checked_sub(1),
            most_memory: config.most_memory,
            ring_bytes: config.ring_bytes,
        },
    };
    match Engine::open(wanted) {
        Ok(opened) => {
            // SAFETY: there is room for a pointer.
            unsafe { *engine = Box::into_raw(opened) };
            OK
        }
        Err(error) => fail(&error),
    }
}

/// The operations, by their numbers in farreach_am.h.
static OPERATIONS: [Arithmetic; 11] = [
    Arithmetic::Write,
    Arithmetic::Read,
    Arithmetic::Sum,
    Arithmetic::Product,
    Arithmetic::Min,
    Arithmetic::Max,
    Arithmetic::BitAnd,
    Arithmetic::BitOr,
    Arithmetic::BitXor,
    // The value before is the result of any operation.
    Arithmetic::Write,
    Arithmetic::SwapIfEqual,
];

/// The types, by their numbers in farreach_am.h.
static TYPES: [Datatype; 6] = [
    Datatype::Int32,
    Datatype::Uint32,
    Datatype::Int64,
    Datatype::Uint64,
    Datatype::Float,
    Datatype::Double,
];

/// Returns an operation and a type, by their numbers.
#[inline(always)]
fn typed(operation: c_int, datatype: c_int) -> Option<(Arithmetic, Datatype)> {
    let operation = OPERATIONS.get(usize::try_from(operation).ok()?)?;
    Some((*operation, *TYPES.get(usize::try_from(datatype).ok()?)?))
}

const NOT_TYPED: &str = "there is no such operation or type";

/// Returns an atomic operation as C describes it.
#[inline(always)]
fn atomic(
    operation: c_int,
    datatype: c_int,
    (operand, comparand): (u64, u64),
    result: *mut u8,
) -> Option<Atomic> {
    let (operation, datatype) = typed(operation, datatype)?;
    Some(Atomic {
        operation,
        datatype,
        operand,
        comparand,
        result,
    })
}

macro_rules! functions {
    ($guard:ty: $open:ident $close:ident $poll:ident $wait:ident $short:ident $medium:ident $long:ident
     $attach:ident $put:ident $put_word:ident $get:ident $atomic:ident $expose:ident $conceal:ident $learn:ident
     $forget:ident $leave:ident $depart:ident) => {
        /// Opens the engine of this process.
        ///
        /// # Safety
        /// `config` leads to a configuration, or is null; there is room for a pointer at `am`.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $open(
            config: *const ConfigC,
            am: *mut *mut Engine<$guard>,
        ) -> c_int {
            // SAFETY: `config` leads to one or is null, and there is room for a pointer.
            unsafe { open(config, am) }
        }

        /// Closes an engine.
        ///
        /// # Safety
        /// `am` is open, or null, and used by nobody.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $close(am: *mut Engine<$guard>) {
            if am.is_null() {
                return;
            }
            // SAFETY: `open` has made the engine.
            let engine = unsafe { Box::from_raw(am) };
            // The process ends anyway, and the launcher notices.
            let _ = engine.leave();
            if engine.has_left_handler() {
                // The progress that has called the handler is not over, and uses the engine.
                engine.settle();
                std::mem::forget(engine);
            }
        }

        /// Makes progress.
        ///
        /// # Safety
        /// `am` is open: as for all functions with one.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $poll(am: *const Engine<$guard>) -> c_int {
            // SAFETY: the engine is open.
            unsafe {
                if (*am).is_at_rest() {
                    return OK;
                }
                slow::poll(am)
            }
        }

        /// Polls until a function returns something else than 0.
        ///
        /// # Safety
        /// The function may be called with the context.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $wait(
            am: *const Engine<$guard>,
            is_done: unsafe extern "C" fn(*mut c_void) -> c_int,
            context: *mut c_void,
        ) -> c_int {
            // SAFETY: the engine is open, and the function may be called.
            code(unsafe { (*am).wait(|| is_done(context) != 0) })
        }

        /// Sends a short request.
        ///
        /// # Safety
        /// There are `nargs` at `args`.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $short(
            am: *const Engine<$guard>,
            rank: u32,
            handler: u8,
            args: *const u32,
            nargs: u32,
        ) -> c_int {
            // SAFETY: the engine is open, and the arguments are there.
            unsafe {
                if nargs == 0 {
                    return slow::request(am, rank, handler);
                }
                slow::request_args(am, rank, handler, args, nargs)
            }
        }

        /// Sends a medium request.
        ///
        /// # Safety
        /// There are `nargs` at `args`, and `bytes` at `payload`.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $medium(
            am: *const Engine<$guard>,
            rank: u32,
            handler: u8,
            payload: *const u8,
            bytes: usize,
            args: *const u32,
            nargs: u32,
        ) -> c_int {
            // SAFETY: the engine is open, and payload and arguments are there.
            unsafe {
                if nargs == 0 {
                    return slow::request_with(am, rank, handler, payload, bytes);
                }
                slow::request_medium_args(am, rank, handler, payload, bytes, args, nargs)
            }
        }

        /// Sends a long request.
        ///
        /// # Safety
        /// There are `nargs` at `args`, and `bytes` at `payload` unless it is null.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $long(
            am: *const Engine<$guard>,
            rank: u32,
            handler: u8,
            payload: *const u8,
            bytes: usize,
            to: u64,
            args: *const u32,
            nargs: u32,
        ) -> c_int {
            // SAFETY: the engine is open, and payload and arguments are there.
            code(unsafe {
                let args = slice(args, nargs as usize);
                if payload.is_null() {
                    (*am).request_stored(rank, handler, (to, bytes), args)
                } else {
                    (*am).request_long(rank, handler, slice(payload, bytes), to, args)
                }
            })
        }

        /// Lets peers reach memory of this process, and tells it to all.
        ///
        /// # Safety
        /// `memory` is null, or `bytes` there stay mapped until the engine is closed.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $attach(
            am: *const Engine<$guard>,
            memory: *mut u8,
            bytes: usize,
        ) -> c_int {
            // SAFETY: the engine is open, and the memory stays mapped.
            code(unsafe { (*am).attach((!memory.is_null()).then_some(memory), bytes) })
        }

        /// Writes bytes to a peer's memory.
        ///
        /// # Safety
        /// `from` holds the bytes, and `done` stays, as farreach_am.h says.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $put(
            am: *const Engine<$guard>,
            rank: u32,
            to: u64,
            from: *const u8,
            bytes: usize,
            flags: u32,
            done: *mut u64,
        ) -> c_int {
            // SAFETY: the engine is open; the rest is the caller's promise.
            if unsafe { (*am).put_now(rank, to, from, bytes) } {
                return DONE;
            }
            // SAFETY: the engine is open; the bytes and `done` are there as farreach_am.h says.
            unsafe { slow::put(am, rank, to, from, bytes, flags, done) }
        }

        /// Writes 8 bytes, by value, to a peer's memory.
        ///
        /// # Safety
        /// `done` stays, as farreach_am.h says.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $put_word(
            am: *const Engine<$guard>,
            rank: u32,
            to: u64,
            word: u64,
            done: *mut u64,
        ) -> c_int {
            let from = (&raw const word).cast();
            // SAFETY: the engine is open, and the rank one of the job's; the rest is the caller's
            // promise.
            unsafe {
                if rank < (*am).ranks()
                    && (*am).put_word_now(rank as usize, to, from, Done::new(done))
                {
                    return OK;
                }
                slow::put_word(am, rank, to, word, done)
            }
        }

        /// Reads bytes of a peer's memory.
        ///
        /// # Safety
        /// `to` has room for the bytes, and `done` stays, as farreach_am.h says.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $get(
            am: *const Engine<$guard>,
            rank: u32,
            to: *mut u8,
            from: u64,
            bytes: usize,
            done: *mut u64,
        ) -> c_int {
            // SAFETY: the engine is open; the rest is the caller's promise.
            if unsafe { (*am).get_now(rank, to, from, bytes) } {
                return DONE;
            }
            // SAFETY: the engine is open; the bytes and `done` are there as farreach_am.h says.
            unsafe { slow::get(am, rank, to, from, bytes, done) }
        }

        /// Does an atomic operation on an element of a peer's memory.
        ///
        /// # Safety
        /// `result` is null or has room for an element, and `done` stays, as farreach_am.h says.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $atomic(
            am: *const Engine<$guard>,
            rank: u32,
            to: u64,
            operation: c_int,
            datatype: c_int,
            operand: u64,
            comparand: u64,
            result: *mut u8,
            done: *mut u64,
        ) -> c_int {
            let Some(atomic) = atomic(operation, datatype, (operand, comparand), result) else {
                return fail(&Error::Argument(NOT_TYPED));
            };
            // SAFETY: the engine is open; the rest is the caller's promise.
            ended(unsafe { (*am).atomic(rank, to, &atomic, Done::new(done)) })
        }

        /// Lets peers reach memory of this process.
        ///
        /// # Safety
        /// The bytes stay mapped until they are concealed; there is room for a key.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $expose(
            am: *const Engine<$guard>,
            memory: *mut u8,
            bytes: usize,
            key: *mut Key,
        ) -> c_int {
            // SAFETY: the engine is open, the memory stays mapped, and there is room for the key.
            code(unsafe { (*am).expose(memory, bytes).map(|exposed| *key = exposed) })
        }

        /// Ends that.
        ///
        /// # Safety
        /// `am` is open.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $conceal(
            am: *const Engine<$guard>,
            memory: *mut u8,
        ) -> c_int {
            // SAFETY: the engine is open.
            code(unsafe { (*am).conceal(memory) })
        }

        /// Learns of memory that a peer has exposed.
        ///
        /// # Safety
        /// `key` leads to a key.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $learn(
            am: *const Engine<$guard>,
            rank: u32,
            key: *const Key,
        ) -> c_int {
            // SAFETY: the engine is open, and the key there.
            code(unsafe { (*am).learn(rank, &*key) })
        }

        /// Forgets it.
        ///
        /// # Safety
        /// `am` is open.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $forget(
            am: *const Engine<$guard>,
            rank: u32,
            start: u64,
        ) -> c_int {
            // SAFETY: the engine is open.
            code(unsafe { (*am).forget(rank, start) })
        }

        /// Tells the launcher that this process is done.
        ///
        /// # Safety
        /// `am` is open.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $depart(am: *const Engine<$guard>) -> c_int {
            // SAFETY: the engine is open.
            code(unsafe { (*am).depart() })
        }

        /// Leaves the handler of this thread.
        ///
        /// # Safety
        /// The handler never returns.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $leave(am: *const Engine<$guard>) {
            // SAFETY: the engine is open, and the handler never returns.
            unsafe { (*am).leave_handler() };
        }
    };
}

functions! { Alone: farreach_am_open farreach_am_close farreach_am_poll farreach_am_wait
farreach_am_request_short farreach_am_request_medium farreach_am_request_long farreach_am_attach
farreach_am_put farreach_am_put_word farreach_am_get farreach_am_atomic farreach_am_expose farreach_am_conceal
farreach_am_learn farreach_am_forget farreach_am_leave_handler farreach_am_depart }

functions! { Threads: farreach_am_open_threads farreach_am_close_threads farreach_am_poll_threads
farreach_am_wait_threads farreach_am_request_short_threads farreach_am_request_medium_threads
farreach_am_request_long_threads farreach_am_attach_threads farreach_am_put_threads
farreach_am_put_word_threads farreach_am_get_threads farreach_am_atomic_threads farreach_am_expose_threads
farreach_am_conceal_threads farreach_am_learn_threads farreach_am_forget_threads
farreach_am_leave_handler_threads farreach_am_depart_threads }

/// An engine of either kind, of which functions use the part that needs no lock: which is its begin.
type Any = Core;

/// Returns the rank of this process.
///
/// # Safety
/// `am` is open: as for all functions with one.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn farreach_am_rank(am: *const Any) -> u32 {
    // SAFETY: the engine is open.
    unsafe { (*am).rank() }
}

/// Returns the number of processes.
///
/// # Safety
/// `am` is open.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn farreach_am_ranks(am: *const Any) -> u32 {
    // SAFETY: the engine is open.
    unsafe { (*am).ranks() }
}

/// Returns the most payload bytes of a medium message.
///
/// # Safety
/// `am` is open.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn farreach_am_most_medium(am: *const Any) -> usize {
    // SAFETY: the engine is open.
    unsafe { (*am).most_medium() }
}

/// Returns whether a process is of this node.
///
/// # Safety
/// `am` is open.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn farreach_am_is_near(am: *const Any, rank: u32) -> c_int {
    // SAFETY: the engine is open.
    unsafe { (*am).is_near(rank) }.into()
}

/// FARREACH_AM_BELL_STEP.
const _: () = assert!(Core::SHOWN_STEP == 32);

/// Lets a program see that a poll has nothing to do.
///
/// # Safety
/// `am` is open, and no other thread uses it; three bytes at `todo` stay until it is closed; there is room
/// for a pointer at `bells`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn farreach_am_show(
    am: *const Any,
    todo: *mut [AtomicU8; 3],
    bells: *mut *const AtomicU64,
) -> c_int {
    let Some(todo) = NonNull::new(todo) else {
        return fail(&Error::Argument("todo is NULL"));
    };
    // SAFETY: the engine is open, and no other thread's; the bytes stay; there is room for the pointer.
    unsafe { *bells = (*am).show(todo) };
    OK
}

/// Returns the segments of all processes.
///
/// # Safety
/// `am` is open.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn farreach_am_segments(am: *const Any) -> *const Segment {
    // SAFETY: the engine is open.
    let segments = unsafe { (*am).segments() };
    segments.map_or(ptr::null(), <[Segment]>::as_ptr)
}

/// Has messages to an index handled.
///
/// # Safety
/// As farreach_am.h says.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn farreach_am_register(
    am: *const Any,
    index: u8,
    handler: Handler,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the engine is open, and no message comes meanwhile.
    unsafe { (*am).register(index, handler, context) };
    OK
}

/// Gives each process the bytes of all.
///
/// # Safety
/// There are `bytes` at `own`, and room for those of all at `all`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn farreach_am_exchange(
    am: *const Any,
    own: *const u8,
    bytes: usize,
    all: *mut u8,
) -> c_int {
    // SAFETY: the engine is open, and the bytes are there.
    match unsafe { (*am).exchange(slice(own, bytes)) } {
        Ok(theirs) => {
            // SAFETY: there is room for the bytes of all.
            unsafe { ptr::copy_nonoverlapping(theirs.as_ptr(), all, theirs.len()) };
            OK
        }
        Err(error) => fail(&error),
    }
}

/// Sends a short reply.
///
/// # Safety
/// `request` is the message of the handler that runs; there are `nargs` at `args`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn farreach_am_reply_short(
    request: *const Message,
    handler: u8,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the message and the arguments are there.
    unsafe {
        if nargs != 0 {
            return slow::reply_args(request, handler, args, nargs);
        }
        match (*request).reply_short_now(handler) {
            Replied::Yes => OK,
            Replied::Beyond => slow::reply_far(request, handler),
            Replied::No => slow::reply_short(request, handler, args, nargs),
        }
    }
}

/// Sends a medium reply.
///
/// # Safety
/// As [`farreach_am_reply_short`]; there are `bytes` at `payload`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn farreach_am_reply_medium(
    request: *const Message,
    handler: u8,
    payload: *const u8,
    bytes: usize,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the message, payload and arguments are there.
    unsafe {
        if nargs == 0 {
            return slow::reply_with_args::<1>(request, handler, payload, bytes, args, nargs);
        }
        slow::reply_medium_args(request, handler, payload, bytes, args, nargs)
    }
}

/// Sends a long reply.
///
/// # Safety
/// As [`farreach_am_reply_short`]; there are `bytes` at `payload` unless it is null.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn farreach_am_reply_long(
    request: *const Message,
    handler: u8,
    payload: *const u8,
    bytes: usize,
    to: u64,
    args: *const u32,
    nargs: u32,
) -> c_int {
    // SAFETY: the message, payload and arguments are there.
    code(unsafe {
        let args = slice(args, nargs as usize);
        if payload.is_null() {
            (*request).reply_stored(handler, (to, bytes), args)
        } else {
            (*request).reply_long(handler, slice(payload, bytes), to, args)
        }
    })
}

/// Ends all processes of the job.
///
/// # Safety
/// `am` is open or null; `message` is null or a C string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn farreach_am_abort(
    am: *const Any,
    status: c_int,
    message: *const c_char,
) -> ! {
    if !am.is_null() {
        let message = match message.is_null() {
            true => c"",
            // SAFETY: it is a C string.
            false => unsafe { CStr::from_ptr(message) },
        };
        // SAFETY: the engine is open.
        unsafe { (*am).abort(status, message.to_str().unwrap_or("")) };
    }
    // SAFETY: ends the process without a call of any of its functions.
    unsafe { libc::_exit(status) }
}

/// Returns words for a result.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn farreach_am_strerror(result: c_int) -> *const c_char {
    let text = match result {
        OK => c"no error",
        DONE => c"complete",
        -1 => c"an argument is out of its range",
        -2 => c"the bytes do not lie in memory of the peer that is known",
        -3 => c"no memory, no descriptor, or no room in a table",
        -4 => c"the peer's process has ended, or cannot be reached",
        -5 => c"the call is not allowed now",
        -6 => c"the launcher, or the program's exchange, has failed",
        -7 => c"other nodes are to be reached, and there is no network",
        -8 => c"the operation is not done on this type",
        -9 => c"there is no room now",
        _ => c"no number of an error",
    };
    text.as_ptr()
}

/// Returns words for the last failure of this thread: until the next one.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn farreach_am_explain() -> *const c_char {
    LAST.with_borrow(|last| last.as_ptr())
}
