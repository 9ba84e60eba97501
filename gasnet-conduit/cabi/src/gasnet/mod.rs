//! GASNet-1 over the engine: the functions behind gasnet.h (GASNet specification 1.8).
//!
//! The header has in line all that concerns memory that is near, and the operations that are done
//! on return; active messages go to the engine's own functions. Functions that wait or start
//! something are there twice, for one thread and for several: the header picks one by GASNET_SEQ,
//! GASNET_PARSYNC and GASNET_PAR.

#![expect(
    unsafe_code,
    reason = "C symbols, which get the program's pointers, and a table that C reads"
)]

mod barrier;
mod exit;
mod failure;
mod handlers;
mod operations;
mod setup;

use gasnet_conduit::{Core, Engine, Guard, Segment};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Results, as gasnet.h has them.
const OK: c_int = 0;
const NOT_INIT: c_int = 10001;
const BAD_ARG: c_int = 10002;
const RESOURCE: c_int = 10003;
const BARRIER_MISMATCH: c_int = 10004;
const NOT_READY: c_int = 10005;

/// The indices of the library's own handlers: those of the program begin at 128.
mod index {
    pub(super) const BARRIER: u8 = 1;
    pub(super) const EXIT: u8 = 2;
    pub(super) const FILL: u8 = 3;
    pub(super) const FILLED: u8 = 4;
    /// The first one of the program's.
    pub(super) const FIRST: u8 = 128;
}

/// The state that functions in line read: `farreach_gasnet_t`.
#[repr(C)]
#[derive(Debug)]
struct State {
    am: AtomicPtr<c_void>,
    segments: AtomicPtr<Segment>,
    reach: AtomicU32,
    node: AtomicU32,
    nodes: AtomicU32,
    due: AtomicU32,
    spins: AtomicU32,
    most_medium: AtomicU32,
    most_local: AtomicU64,
    most_global: AtomicU64,
}

const _: () = assert!(size_of::<State>() == 56 && size_of::<Segment>() == 32);

/// The one job of the process.
#[unsafe(no_mangle)]
static farreach_gasnet: State = State {
    am: AtomicPtr::new(std::ptr::null_mut()),
    segments: AtomicPtr::new(std::ptr::null_mut()),
    reach: AtomicU32::new(0),
    node: AtomicU32::new(0),
    nodes: AtomicU32::new(0),
    due: AtomicU32::new(0),
    spins: AtomicU32::new(0),
    most_medium: AtomicU32::new(0),
    most_local: AtomicU64::new(0),
    most_global: AtomicU64::new(0),
};

/// Whether the engine has a lock (GASNET_PAR).
static HAS_LOCK: AtomicBool = AtomicBool::new(false);

/// Returns the state, by a name that looks like one of Rust's.
fn state() -> &'static State {
    &farreach_gasnet
}

// ORDERING: the fields of the state are set before the program has threads that use the library,
// but for `due`, which only says that there is something to look at.

/// Returns the rank of this process.
fn rank() -> u32 {
    state().node.load(Ordering::Relaxed)
}

/// Returns the number of processes.
fn ranks() -> u32 {
    state().nodes.load(Ordering::Relaxed)
}

/// One thread, or several.
trait Mode: Guard + 'static {}

impl<G: Guard + 'static> Mode for G {}

/// Returns the engine, which gasnet_init has opened as one of this kind.
#[inline(always)]
fn engine<G: Mode>() -> &'static Engine<G> {
    let engine = state().am.load(Ordering::Relaxed).cast::<Engine<G>>();
    if engine.is_null() {
        failure::before_init();
    }
    // SAFETY: the engine was opened for good; the header's mode, which chose `G` there and here, is
    // one for the whole program (docs/gasnet.md).
    unsafe { &*engine }
}

/// Returns the part of the engine that needs no lock; none before gasnet_init.
fn core() -> Option<&'static Core> {
    // SAFETY: the engine was opened for good, and begins with this part.
    unsafe { state().am.load(Ordering::Relaxed).cast::<Core>().as_ref() }
}

/// Has polls call [`farreach_gasnet_attend`].
fn is_due() {
    // ORDERING: pairs with the swap in `attend_if_due`, which sees the work that was noted before.
    state().due.store(1, Ordering::Release);
}

/// Does the work beside messages: ends where the job ends.
fn attend_if_due() {
    if state().due.load(Ordering::Relaxed) != 0 {
        // ORDERING: pairs with the store in `is_due`. A swap, as a store of 0 may come behind the
        // loads below: these would miss work that another thread's handler notes in between, and
        // the store would take its mark away.
        state().due.swap(0, Ordering::AcqRel);
        exit::follow();
    }
}

/// Polls until a condition holds, for a routine of this name.
fn wait<G: Mode>(routine: &str, mut is_done: impl FnMut() -> bool) {
    let result = engine::<G>().wait(|| {
        attend_if_due();
        is_done()
    });
    if let Err(error) = result {
        failure::end_job(routine, format_args!("{error}"));
    }
}

/// Polls once, for a routine of this name.
fn poll<G: Mode>(routine: &str) {
    if let Err(error) = engine::<G>().poll() {
        failure::end_job(routine, format_args!("{error}"));
    }
    attend_if_due();
}

/// Goes on behind a poll of the header's.
#[unsafe(no_mangle)]
extern "C" fn farreach_gasnet_attend(result: c_int) -> c_int {
    if result != 0 {
        return failure::of_poll(result);
    }
    attend_if_due();
    OK
}

/// Defines C functions by generic ones: one for an engine of one thread, one for several.
macro_rules! for_both {
    ($(fn $name:ident / $threads:ident = $body:ident(
        $($argument:ident: $type:ty),*
    ) $(-> $result:ty)?;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            // Some of them are safe.
            let body: unsafe fn($($type),*) $(-> $result)? = $body::<gasnet_conduit::Alone>;
            // SAFETY: the program's pointers lead to memory as gasnet.h says.
            unsafe { body($($argument),*) }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $threads($($argument: $type),*) $(-> $result)? {
            let body: unsafe fn($($type),*) $(-> $result)? = $body::<gasnet_conduit::Threads>;
            // SAFETY: the program's pointers lead to memory as gasnet.h says.
            unsafe { body($($argument),*) }
        }
    )*};
}
use for_both;

/// Lets others use the processor.
#[unsafe(no_mangle)]
extern "C" fn farreach_gasnet_yield() {
    std::thread::yield_now();
}
