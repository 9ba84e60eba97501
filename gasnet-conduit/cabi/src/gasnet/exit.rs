//! The end of the job.
//!
//! A process that exits tells so in rounds, as in a barrier, and polls meanwhile. If all do, each
//! leaves the launcher and ends. If some have not after half of the time (GASNET_EXITTIMEOUT), all
//! are told to follow, which they do when they poll; after all of it the launcher ends those that
//! are left. A timer's signal does that, so that nothing which the process may stand in, a lock or
//! a handler, holds it up.

use super::barrier::{above, rounds};
use super::handlers::arguments;
use super::{HAS_LOCK, Mode, core, engine, index, is_due, ranks};
use gasnet_conduit::{Alone, Engine, Message, Threads};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The thread that ends the process, as a number; 0 is none.
static ENDS: AtomicUsize = AtomicUsize::new(0);
/// The status of the job.
static CODE: AtomicI32 = AtomicI32::new(0);
/// Rounds in which others have told that they exit.
static CAME: [AtomicBool; 32] = [const { AtomicBool::new(false) }; 32];
/// Whether this process is told to follow, and with which status.
static IS_TOLD: AtomicBool = AtomicBool::new(false);
static TOLD: AtomicI32 = AtomicI32::new(0);
/// Time that others have, in microseconds.
static LIMIT: AtomicU64 = AtomicU64::new(2_000_000);
/// The process that is of the job: not a child of it.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// The round of a message that tells others to follow.
const FOLLOW: u32 = u32::MAX;

unsafe extern "C" {
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Prepares the end of a process that returns from main.
pub(super) fn install() {
    let seconds = std::env::var("GASNET_EXITTIMEOUT").ok();
    let seconds = seconds.and_then(|text| text.trim().parse::<f64>().ok());
    if let Some(seconds) = seconds.filter(|seconds| (0.01..1e6).contains(seconds)) {
        LIMIT.store((seconds * 1e6) as u64, Ordering::Relaxed);
    }
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    // SAFETY: the function is there as long as the library, which is never unloaded.
    unsafe { on_exit(at_exit, std::ptr::null_mut()) };
}

/// Ends the job as if by gasnet_exit, when a process calls exit or returns from main.
extern "C" fn at_exit(code: c_int, _: *mut c_void) {
    if PROCESS.load(Ordering::Relaxed) == std::process::id() && begin(code) {
        leave(code);
    }
}

/// Ends the job with this status.
#[unsafe(no_mangle)]
extern "C" fn farreach_gasnet_exit(code: c_int) -> ! {
    if begin(code) {
        // SAFETY: a null stream means all of them.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        leave(code);
    }
    end_process(code)
}

/// Ends the job at once, by the launcher.
pub(super) fn end_at_once(code: c_int) -> ! {
    // SAFETY: a null stream means all of them.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    abort(code);
    end_process(code)
}

fn end_process(code: c_int) -> ! {
    // SAFETY: _exit has no preconditions.
    unsafe { libc::_exit(code) }
}

/// Asks the launcher to end all processes: signal handlers may call this.
fn abort(code: c_int) {
    if let Some(engine) = core() {
        engine.abort(code, "");
    }
}

fn this_thread() -> usize {
    // SAFETY: the location is the thread's own: its address is the thread's number here.
    unsafe { libc::__errno_location() }.addr()
}

/// Returns whether this thread is the first to end the process. Another one waits for that; the
/// same one, which has been interrupted in it, ends the job at once.
fn begin(code: c_int) -> bool {
    let own = this_thread();
    // ORDERING: whether it is the first is all that is asked.
    match ENDS.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => true,
        Err(first) if first == own => {
            abort(code);
            false
        }
        Err(_) => loop {
            // SAFETY: pause has no preconditions.
            unsafe { libc::pause() };
        },
    }
}

/// Ends this process's part in the job.
fn leave(code: c_int) {
    CODE.store(code, Ordering::Relaxed);
    if core().is_none() {
        return;
    }
    set_timer();
    if HAS_LOCK.load(Ordering::Relaxed) {
        part::<Threads>(code);
    } else {
        part::<Alone>(code);
    }
}

fn part<G: Mode>(code: c_int) {
    let engine = engine::<G>();
    // SAFETY: the process ends: a handler that this thread is in is never returned to.
    unsafe { engine.leave_handler() };
    let end = Instant::now() + Duration::from_micros(LIMIT.load(Ordering::Relaxed));
    if meet(engine, code, end).is_none()
        || engine.exchange(&[0]).is_err()
        || engine.leave().is_err()
    {
        engine.abort(code, "");
    }
}

/// Waits until all others exit, too; none where that fails.
fn meet<G: Mode>(engine: &Engine<G>, code: c_int, end: Instant) -> Option<()> {
    let half = end - Duration::from_micros(LIMIT.load(Ordering::Relaxed) / 2);
    let mut all_told = false;
    for round in 0..rounds() {
        let args = [round, code.cast_unsigned()];
        engine
            .request_short(above(round), index::EXIT, &args)
            .ok()?;
        // ORDERING: the number of the round is all that is told.
        let has_come = || CAME[round as usize].load(Ordering::Relaxed);
        while !has_come() {
            let now = Instant::now();
            if now >= end {
                return None;
            }
            if now >= half && !all_told {
                all_told = true;
                let args = [FOLLOW, code.cast_unsigned()];
                for of in (0..ranks()).filter(|of| *of != engine.rank()) {
                    engine.request_short(of, index::EXIT, &args).ok()?;
                }
            }
            let until = if all_told { end } else { half };
            engine.wait(|| has_come() || Instant::now() >= until).ok()?;
        }
    }
    Some(())
}

/// Handles a message of an exit.
///
/// # Safety
/// The engine calls it.
pub(super) unsafe extern "C" fn arrives(message: *mut Message) {
    // SAFETY: the message is the engine's.
    let &[round, code] = (unsafe { arguments(message) }) else {
        return;
    };
    if round == FOLLOW {
        TOLD.store(code.cast_signed(), Ordering::Relaxed);
        // ORDERING: pairs with the load in `follow`: the status is there.
        IS_TOLD.store(true, Ordering::Release);
        is_due();
    } else if let Some(place) = CAME.get(round as usize) {
        // ORDERING: as in `meet`.
        place.store(true, Ordering::Relaxed);
    }
}

/// Exits where others have told this process to: by the program's handler of SIGQUIT, if it has
/// one.
pub(super) fn follow() {
    // ORDERING: pairs with the store in `arrives`.
    if !IS_TOLD.load(Ordering::Acquire) || ENDS.load(Ordering::Relaxed) != 0 {
        return;
    }
    let mut now = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the action is written by the call; zeroes are one, where it fails.
    let handler = unsafe {
        libc::sigaction(libc::SIGQUIT, std::ptr::null(), now.as_mut_ptr());
        now.assume_init().sa_sigaction
    };
    if handler != libc::SIG_DFL && handler != libc::SIG_IGN {
        // SAFETY: raise has no preconditions.
        unsafe { libc::raise(libc::SIGQUIT) };
    }
    farreach_gasnet_exit(TOLD.load(Ordering::Relaxed))
}

/// Has the launcher end the job when the time is over.
fn set_timer() {
    let limit = LIMIT.load(Ordering::Relaxed);
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: an all-zero action is one to be filled in; the set is emptied before it is used; the
    // timer's value is whole.
    unsafe {
        (*action.as_mut_ptr()).sa_sigaction = over as *const () as usize;
        libc::sigaction(libc::SIGALRM, action.as_ptr(), std::ptr::null_mut());
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGALRM);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), std::ptr::null_mut());
        let none = libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        };
        let timer = libc::itimerval {
            it_interval: none,
            it_value: libc::timeval {
                tv_sec: (limit / 1_000_000) as libc::time_t,
                tv_usec: (limit % 1_000_000) as libc::suseconds_t,
            },
        };
        libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut());
    }
}

/// Handles the timer's signal.
extern "C" fn over(_: c_int) {
    let code = CODE.load(Ordering::Relaxed);
    abort(code);
    end_process(code)
}
