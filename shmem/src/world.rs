//! Set-up, exit and query (OpenSHMEM 1.6, sections 9.1 and 9.2).

#![expect(
    unsafe_code,
    reason = "begins and ends sessions while only one thread is in the library; an exit handler"
)]

use crate::arena::Arena;
use crate::collective;
use crate::error::Error;
pub use crate::exit::global_exit;
use crate::job::{self, Job, Phase, Session, phase};
use crate::node::{Node, Sizes, state};
use crate::report::{self, Routine};
use crate::statics::Image;
use crate::window::HeapSpace;
use crate::{ctx, env, exit, fault, fork, order, stall, statics};
use fi_bootstrap::Bootstrap;
use fi_provider::domain::Domain;
use fi_provider::memory::Window;
use std::ffi::{c_int, c_void};
use std::io::Write;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

unsafe extern "C" {
    fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Calls of init that finalize has not matched yet. Held during both.
static INITS: Mutex<u32> = Mutex::new(0);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread levels, SHMEM_THREAD_SINGLE to SHMEM_THREAD_MULTIPLE.
const THREAD_LEVELS: Range<c_int> = 0..4;

/// Initialises the library for one thread (9.1.1); ends the job with a message when that fails.
pub fn init(at: Routine) {
    if let Err(error) = try_init(THREAD_LEVELS.start) {
        report::fatal(format_args!("{at}: {error}"));
    }
}

/// Initialises the library (9.2.1); returns the thread level that is provided. Collective.
///
/// # Errors
/// What is wrong; it has been said on standard error.
pub fn init_thread(at: Routine, requested: c_int) -> Result<c_int, Error> {
    try_init(requested).inspect_err(|error| report::say(format_args!("{at}: {error}")))
}

fn try_init(requested: c_int) -> Result<c_int, Error> {
    if !THREAD_LEVELS.contains(&requested) {
        return Err(Error::ThreadLevel(requested));
    }
    if phase() == Phase::Forked {
        return Err(Error::Forked);
    }
    let mut inits = lock(&INITS);
    if *inits == 0 {
        start(requested)?;
    }
    *inits += 1;
    drop(inits);
    Ok(job::session().map_or(requested, |session| session.thread_level))
}

/// The first initialisation, or the first after a last finalisation.
fn start(thread_level: c_int) -> Result<(), Error> {
    let heap_len = crate::window::heap_len(env::symmetric_size()?)?;
    let job = match job::job() {
        Some(job) => {
            job.node.check_heap_again(heap_len)?;
            // Launchers other than oshrun do not listen any more, and need not.
            lock(&job.launcher).try_reinit()?;
            job
        }
        None => {
            // SAFETY: initialisation: no other thread is in the library.
            let job = unsafe { job::join(Job::join(heap_len)?) };
            // SAFETY: as above.
            unsafe { collective::set_up(Arc::clone(&job.node)) };
            install_handlers();
            job
        }
    };
    let session = job.open_session(heap_len, thread_level)?;
    // SAFETY: initialisation: no other thread is in the library.
    unsafe { job::open(job, session) };
    let own = job.node.own();
    own.state.store(state::RUNNING, Ordering::Release);
    collective::wait_for_init();
    job.introduce();
    Ok(())
}

/// Installs what stays for the life of the process.
fn install_handlers() {
    fault::install();
    exit::install();
    fork::install();
    // SAFETY: the handler is a plain function that lives as long as the program.
    unsafe { on_exit(at_exit, std::ptr::null_mut()) };
}

/// The end of the program without shmem_finalize: with status 0 it is implied (section 4, execution
/// model); with any other the launcher ends the job.
extern "C" fn at_exit(status: c_int, _argument: *mut c_void) {
    // The system passes on the low eight bits only.
    if job::is_this_process_a_running_pe() && status & 0xff == 0 {
        finalize_all(&"exit");
    }
}

fn sizes(image: &Image, heap_len: usize) -> Sizes {
    Sizes {
        static_len: image.statics().len(),
        executable: image.fingerprint,
        heap_len,
    }
}

impl Job {
    fn join(heap_len: usize) -> Result<Self, Error> {
        let mut launcher = Bootstrap::connect()?;
        let image = statics::find();
        let node = Arc::new(Node::join(&mut launcher, sizes(&image, heap_len))?);
        let pid = std::process::id();
        node.own().pid.store(pid, Ordering::Release);
        let layout = &node.layout;
        if stall::threads().is_some_and(|threads| threads > 1) {
            report::say(format_args!(
                "shmem_init: other threads run already: what they write to global variables during this call is lost"
            ));
        }
        statics::share(&image, &layout.memory, layout.share_offset(layout.rank))?;
        Ok(Self {
            launcher: Mutex::new(launcher),
            node,
            image,
            pid,
            by_oshrun: std::env::var_os("FARREACH_OSHRUN").is_some(),
        })
    }

    fn open_session(&self, heap_len: usize, thread_level: c_int) -> Result<Session, Error> {
        let layout = &self.node.layout;
        let heap_offset = sizes(&self.image, heap_len).heap_offset();
        let space = HeapSpace::find(&self.image, heap_len, heap_offset, layout)?;
        let heap = Some(space.region()).filter(|heap| heap.len > 0);
        let parts = heap.into_iter().chain(self.image.regions());
        let window = Window::spanning(parts.collect());
        let domain =
            Domain::open(layout, window).map_err(Error::system("mapping the peers' memory"))?;
        Ok(Session {
            domain,
            space,
            arena: Mutex::new(Arena::new(heap_len)),
            thread_level,
        })
    }

    /// What SHMEM_VERSION, SHMEM_INFO and SHMEM_DEBUG print.
    fn introduce(&self) {
        if self.node.rank() == 0 {
            if env::is_set("VERSION") {
                announce(&format!("{} {}", crate::VENDOR, crate::STANDARD));
            }
            if env::is_set("INFO") {
                announce(env::HELP);
            }
        }
        if env::is_set("DEBUG")
            && let Some([statics, heap]) = job::symmetric_ranges()
        {
            report::say(format_args!(
                "{} PEs on this node, {:?} barrier, static data {:#x} to {:#x}, heap {:#x} to {:#x}",
                self.node.processes(),
                collective::barrier_kind(),
                statics.start,
                statics.end,
                heap.start,
                heap.end
            ));
        }
    }
}

/// Prints a line on standard output; a full or closed one is no reason to end the job, as println would.
fn announce(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Ends one initialisation (9.1.4): a barrier, and the end of the session when it was the last.
///
/// # Safety
/// When it is the last, nothing uses symmetric memory of any PE afterwards.
pub unsafe fn finalize(at: Routine) {
    let mut inits = lock(&INITS);
    match *inits {
        // An exit handler of the program, after the end of main has done it.
        0 if phase() == Phase::Ended => (),
        0 => {
            drop(inits);
            report::call(at, fi_provider::Error::NotEnabled)
        }
        1 => {
            *inits = 0;
            if let Some(session) = end(at) {
                session.space.discard();
            }
        }
        _ => {
            *inits -= 1;
            drop(inits);
            collective::barrier_all(at);
        }
    }
}

/// Ends all initialisations at once, for the implicit finalisation at the end of the program.
fn finalize_all(at: Routine) {
    // Held: a signal handler has called exit in the middle of an initialisation or finalisation.
    let Ok(mut inits) = INITS.try_lock() else {
        return;
    };
    if *inits > 0 {
        *inits = 0;
        // The memory stays mapped to the end of the process: destructors and other threads may look at it.
        std::mem::forget(end(at));
        job::set_phase(Phase::Ended);
    }
}

/// The last finalisation; returns what its memory is mapped by.
fn end(at: Routine) -> Option<Session> {
    let job = job::job()?;
    let own = job.node.own();
    order::quiet(ctx::default_ctx(), at);
    own.last_epoch
        .store(collective::barriers_done(), Ordering::Relaxed);
    // ORDERING: releases `last_epoch`; pairs with the acquire load of the state in `stall`.
    own.state.store(state::FINALIZING, Ordering::Release);
    collective::wait(at);
    // SAFETY: finalisation: no other thread is in the library, and no peer uses this PE's memory.
    let session = unsafe { job::close() };
    if let Err(error) = lock(&job.launcher).finalize() {
        report::say(format_args!("{at}: {error} (did the program close it?)"));
    }
    session
}

/// The number of this PE (9.1.2).
#[inline(always)]
pub fn my_pe() -> c_int {
    let me = job::my_pe();
    if me < 0 {
        return of_ended_job(&"shmem_my_pe", Node::rank);
    }
    me
}

/// The number of PEs (9.1.3).
#[inline(always)]
pub fn n_pes() -> c_int {
    let count = ctx::default_ctx().endpoint.peer_count();
    if count == 0 {
        return of_ended_job(&"shmem_n_pes", Node::processes);
    }
    count as c_int
}

/// What exit handlers and destructors of the program may still ask when the end of main has finalised.
#[cold]
fn of_ended_job(at: Routine, what: fn(&Node) -> u32) -> c_int {
    match job::job() {
        Some(job) if phase() == Phase::Ended => what(&job.node) as c_int,
        _ => report::call(at, fi_provider::Error::NotEnabled),
    }
}

/// The thread level that initialisation provided (9.2.2).
pub fn query_thread() -> c_int {
    match job::session() {
        Some(session) => session.thread_level,
        None => report::call(&"shmem_query_thread", fi_provider::Error::NotEnabled),
    }
}

/// Whether the library is initialised: 1 or 0; at any time (9.1.5).
pub fn query_initialized() -> c_int {
    c_int::from(phase() == Phase::Running)
}

/// Whether PE `pe` can be reached: 1 or 0 (9.1.7).
pub fn pe_accessible(pe: c_int) -> c_int {
    c_int::from((pe as u32) < ctx::default_ctx().endpoint.peer_count())
}

/// Whether the object at `addr` can be reached on PE `pe`: 1 or 0 (9.1.8).
pub fn addr_accessible(addr: *const c_void, pe: c_int) -> c_int {
    let inside = |session: &Session| session.domain.window().contains(addr.addr(), 1);
    c_int::from(pe_accessible(pe) == 1 && job::session().is_some_and(inside))
}

/// Where the object at `dest` on PE `pe` can be loaded from and stored to; null where it cannot (9.1.9).
#[inline(always)]
pub fn ptr(dest: *const c_void, pe: c_int) -> *mut c_void {
    // SAFETY: the map is empty unless a session, and with it the domain, is open.
    match unsafe { job::direct_map().pointer(dest.addr(), pe as u32) } {
        Some(there) => there as *mut c_void,
        None => std::ptr::null_mut(),
    }
}
