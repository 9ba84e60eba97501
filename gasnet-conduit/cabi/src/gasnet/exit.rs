//! The end of the job.
//!
//! A process that exits tells so in rounds, as in a barrier, and polls meanwhile: by both of the
//! engine's endpoints, as a process that exits in a handler takes no more messages by that one's.
//! If all do, each leaves the launcher and ends. If some have not after half of the time
//! (GASNET_EXITTIMEOUT), all are told to follow, which they do when they poll; after all of it the
//! launcher ends those that are left. A timer's signal does that, so that nothing which the process
//! may stand in, a lock or a handler, holds it up.

use super::barrier::{above, rounds};
use super::handlers::arguments;
use super::{HAS_LOCK, Mode, core, engine, index, is_due, ranks};
use gasnet_conduit::{Alone, Core, Engine, Error, Message, Threads};
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

/// Time for the C streams where the job ends at once, at most.
const MOST_FLUSH: Duration = Duration::from_secs(1);

/// Time until words for which there was no room are sent again.
const AGAIN: Duration = Duration::from_millis(1);

/// Time for words that are not sent when all have been heard of.
const LAST: Duration = Duration::from_millis(100);

const NO_TIME: libc::timeval = libc::timeval {
    tv_sec: 0,
    tv_usec: 0,
};

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Reads the time that others have to exit, too (GASNET_EXITTIMEOUT).
pub(super) fn read_limit() -> Result<(), Error> {
    const NAME: &str = "GASNET_EXITTIMEOUT";
    let value = std::env::var_os(NAME).filter(|value| !value.is_empty());
    if let Some(value) = value {
        let text = value.to_string_lossy();
        let seconds = text.trim().parse::<f64>().ok();
        let seconds = seconds.filter(|seconds| (0.01..1e6).contains(seconds));
        let wrong = || Error::variable(NAME, &text, "numbers of seconds from 0.01 to 1000000");
        LIMIT.store((seconds.ok_or_else(wrong)? * 1e6) as u64, Ordering::Relaxed);
    }
    Ok(())
}

/// Prepares the end of a process that returns from main.
pub(super) fn install() {
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    // SAFETY: the function is there as long as the library, which is never unloaded.
    unsafe { on_exit(at_exit, std::ptr::null_mut()) };
}

/// Ends the job as if by gasnet_exit, when a process calls exit or returns from main.
extern "C" fn at_exit(code: c_int, _: *mut c_void) {
    if PROCESS.load(Ordering::Relaxed) == std::process::id() && begin(code) {
        leave(true);
    }
}

/// Ends the job with this status.
#[unsafe(no_mangle)]
extern "C" fn farreach_gasnet_exit(code: c_int) -> ! {
    if begin(code) {
        flush();
        leave(false);
        end_process(CODE.load(Ordering::Relaxed));
    }
    end_process(code)
}

/// Ends the job at once, by the launcher.
pub(super) fn end_at_once(code: c_int) -> ! {
    CODE.store(code, Ordering::Relaxed);
    set_timer(limit().min(MOST_FLUSH));
    flush();
    abort(code);
    end_process(code)
}

/// Flushes the C streams: called with the timer set, as another thread may keep a stream's lock,
/// for instance while it waits for a line. Standard output is first, so that it is not held up by
/// such a stream.
fn flush() {
    // SAFETY: the stream is the C library's; a null stream means all of them.
    unsafe {
        libc::fflush(stdout);
        libc::fflush(std::ptr::null_mut());
    }
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

/// Returns whether this thread is to go on with the end of the process: it is the first to end it,
/// or it does so already, and a handler that it runs in its polls ends the process, too. Another
/// thread waits for the first one; one that a signal has interrupted in it ends the job at once.
fn begin(code: c_int) -> bool {
    let own = this_thread();
    // ORDERING: whether it is the first is all that is asked.
    match ENDS.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => {
            CODE.store(code, Ordering::Relaxed);
            set_timer(limit());
            leave_handler();
            true
        }
        Err(first) if first == own => {
            let goes_on = leave_handler();
            if !goes_on {
                abort(code);
            }
            goes_on
        }
        Err(_) => {
            // So that the first one has the engine's lock.
            leave_handler();
            loop {
                // SAFETY: pause has no preconditions.
                unsafe { libc::pause() };
            }
        }
    }
}

/// Leaves the handler that this thread runs in; returns whether it does run in one.
fn leave_handler() -> bool {
    if core().is_none() {
        return false;
    }
    // SAFETY: the thread ends the process, or waits for its end: it never returns to the handler.
    unsafe {
        if HAS_LOCK.load(Ordering::Relaxed) {
            engine::<Threads>().leave_handler()
        } else {
            engine::<Alone>().leave_handler()
        }
    }
}

/// Ends this process's part in the job. Other handlers of its exit may follow, such as MPI's.
fn leave(may_mpi_follow: bool) {
    if core().is_none() {
        return;
    }
    if HAS_LOCK.load(Ordering::Relaxed) {
        part::<Threads>(may_mpi_follow);
    } else {
        part::<Alone>(may_mpi_follow);
    }
}

fn part<G: Mode>(may_mpi_follow: bool) {
    let engine = engine::<G>();
    let code = CODE.load(Ordering::Relaxed);
    let tell = if may_mpi_follow {
        Core::leave
    } else {
        Core::end
    };
    if meet(engine, code, Instant::now() + rest_of_timer()).is_none()
        || engine.exchange(&[0]).is_err()
        || tell(engine).is_err()
    {
        engine.abort(code, "");
    }
}

/// Waits until all others exit, too; none where that fails.
///
/// May begin anew in a handler that a poll here calls: words that come twice tell nothing else.
fn meet<G: Mode>(engine: &Engine<G>, code: c_int, end: Instant) -> Option<()> {
    let half = end.checked_sub(limit() / 2).unwrap_or(end);
    let mut words = Words::new(code);
    for round in 0..rounds() {
        words.rounds = round + 1;
        // ORDERING: the number of the round is all that is told.
        let has_come = || CAME[round as usize].load(Ordering::Relaxed);
        loop {
            let are_sent = words.send(engine)?;
            let now = Instant::now();
            if has_come() {
                break;
            }
            if now >= end {
                return None;
            }
            if now >= half && words.followers.is_empty() {
                words.followers = vec![[false; 2]; ranks() as usize];
                continue;
            }
            let next = if now < half { half } else { end };
            let until = if are_sent { next } else { now + AGAIN };
            engine.wait(|| has_come() || Instant::now() >= until).ok()?;
        }
    }
    // The last words may be for an endpoint that its process has left for ever.
    let last = end.min(Instant::now() + LAST);
    while !words.send(engine)? && Instant::now() < last {
        engine.poll().ok()?;
    }
    Some(())
}

/// The words that a process tells others when it exits, as requests and as replies, and whether
/// each has been sent. None waits for another one: a process that has left an endpoint for ever may
/// never make room there.
#[derive(Debug)]
struct Words {
    code: u32,
    rounds: u32,
    of_rounds: [[bool; 2]; 32],
    /// By rank, those to follow; none before it is time.
    followers: Vec<[bool; 2]>,
}

impl Words {
    fn new(code: c_int) -> Self {
        Self {
            code: code.cast_unsigned(),
            rounds: 0,
            of_rounds: [[false; 2]; 32],
            followers: Vec::new(),
        }
    }

    /// Sends those for which there is room; returns whether all are sent, and none where a process
    /// cannot be reached.
    fn send<G: Mode>(&mut self, engine: &Engine<G>) -> Option<bool> {
        let mut are_sent = true;
        for (round, sent) in (0..self.rounds).zip(&mut self.of_rounds) {
            are_sent &= tell(engine, above(round), [round, self.code], sent)?;
        }
        let others = (0..).zip(&mut self.followers);
        for (of, sent) in others.filter(|(of, _)| *of != engine.rank()) {
            are_sent &= tell(engine, of, [FOLLOW, self.code], sent)?;
        }
        Some(are_sent)
    }
}

/// Tells a process in the ways that are not sent; returns whether both are then.
fn tell<G: Mode>(
    engine: &Engine<G>,
    to: u32,
    args: [u32; 2],
    sent: &mut [bool; 2],
) -> Option<bool> {
    for (as_reply, is_sent) in [false, true].into_iter().zip(&mut *sent) {
        if !*is_sent {
            *is_sent = match engine.announce(to, index::EXIT, args, as_reply) {
                Ok(()) => true,
                Err(Error::WouldWait) => false,
                Err(_) => return None,
            };
        }
    }
    Some(*sent == [true; 2])
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

/// Returns the time that others have.
fn limit() -> Duration {
    Duration::from_micros(LIMIT.load(Ordering::Relaxed))
}

/// Has the launcher end the job when this time is over.
fn set_timer(time: Duration) {
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
        let timer = libc::itimerval {
            it_interval: NO_TIME,
            it_value: libc::timeval {
                tv_sec: time.as_secs() as libc::time_t,
                tv_usec: libc::suseconds_t::from(time.subsec_micros()),
            },
        };
        libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut());
    }
}

/// Returns the time that the timer has still to run.
fn rest_of_timer() -> Duration {
    let mut timer = libc::itimerval {
        it_interval: NO_TIME,
        it_value: NO_TIME,
    };
    // SAFETY: there is room for a timer.
    unsafe { libc::getitimer(libc::ITIMER_REAL, &raw mut timer) };
    let (seconds, micros) = (timer.it_value.tv_sec, timer.it_value.tv_usec);
    Duration::from_secs(seconds as u64) + Duration::from_micros(micros as u64)
}

/// Handles the timer's signal.
extern "C" fn over(_: c_int) {
    let code = CODE.load(Ordering::Relaxed);
    abort(code);
    end_process(code)
}
