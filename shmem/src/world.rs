//! Set-up, exit and query (OpenSHMEM 1.6, sections 9.1 and 9.2).

#![expect(
    unsafe_code,
    reason = "begins and ends sessions while only one thread is in the library; an exit handler"
)]

use crate::barrier;
use crate::collective::{active, barrier_all};
use crate::ctx::{self, progress, registry};
use crate::direct;
use crate::fork;
use crate::job::error::Error;
pub use crate::job::exit::global_exit;
use crate::job::node::{Node, Sizes, state};
use crate::job::session::{Failure, Wishes};
use crate::job::window::heap_len;
use crate::job::{self, Job, Phase, Session, env, exit, fault, message, phase, statics};
use crate::mailbox::Farewell;
use crate::order;
use crate::owner::{self, Refusal};
use crate::report;
use crate::routine::Routine;
use crate::team::table;
use fi_bootstrap::Bootstrap;
use fi_provider::{device, variables};
use std::ffi::{c_int, c_void};
use std::fmt::Display;
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
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn init(at: Routine) {
    match try_init(at, THREAD_LEVELS.start) {
        Ok(_) => (),
        Err(Failure::Own(error)) => message::fatal(format_args!("{at}: {error}")),
        Err(Failure::OfAll(_)) => exit::leave(exit::FAILURE),
    }
}

/// Initialises the library (9.2.1); returns the thread level that is provided. Collective.
///
/// # Errors
/// The reason of the failure; it has been said on standard error.
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn init_thread(at: Routine, requested: c_int) -> Result<c_int, Error> {
    try_init(at, requested).map_err(|failure| match failure {
        Failure::Own(error) => {
            message::say(format_args!("{at}: {error}"));
            error
        }
        Failure::OfAll(error) => error,
    })
}

fn try_init(at: Routine, requested: c_int) -> Result<c_int, Failure> {
    if !THREAD_LEVELS.contains(&requested) {
        return Err(Error::ThreadLevel(requested).into());
    }
    if phase() == Phase::Forked {
        return Err(Error::Forked.into());
    }
    let mut inits = lock(&INITS);
    if *inits == 0 {
        start(at, requested)?;
    }
    *inits += 1;
    drop(inits);
    Ok(job::session().map_or(requested, |session| session.thread_level))
}

/// Does the first initialisation, or the first after a last finalisation.
fn start(at: Routine, thread_level: c_int) -> Result<(), Failure> {
    let wishes = Wishes {
        heap_len: heap_len(env::symmetric_size()?)?,
        thread_level,
        fabric: variables::fabric()?,
        transports: env::transports()?,
        registrations: env::registrations()?,
        leave: env::leave()?,
        policy: env::lanes()?,
        completions: env::completions()?,
    };
    let job = match job::job() {
        Some(job) => {
            job.node.check_heap_again(wishes.heap_len)?;
            // Launchers other than oshrun do not listen any more, and need not.
            lock(&job.launcher).try_reinit()?;
            job
        }
        None => {
            // SAFETY: initialisation: no other thread is in the library.
            let job = unsafe { job::join(Job::join(wishes.heap_len)?) };
            // SAFETY: initialisation: no other thread is in the library.
            unsafe { barrier::set_up(Arc::clone(&job.node)) };
            install_handlers();
            job
        }
    };
    // SAFETY: initialisation: no other thread is in the library.
    let session = match unsafe { job::unpark() } {
        Some(session) => session.again(&wishes),
        None => Session::open(at, job, &wishes)?,
    };
    // SAFETY: initialisation: no other thread is in the library.
    unsafe { begin(job, session) };
    table::set_up();
    let own = job.node.own();
    let level = thread_level.cast_unsigned();
    // ORDERING: pairs with the load in `collective::active::agree`, behind the barrier that
    // follows.
    own.thread_level.store(level, Ordering::Relaxed);
    own.state.store(state::RUNNING, Ordering::Release);
    take_farewell_back(at, job);
    barrier::wait_for_init();
    active::agree(at, &job.node, thread_level);
    job.introduce();
    Ok(())
}

/// Begins a session of `job`.
///
/// # Safety
/// No other thread is inside the library.
unsafe fn begin(job: &Job, session: Session) {
    // SAFETY: no other thread is inside the library, and this one has no reference to the contexts;
    // the domain lives until `close`, which closes the endpoint first.
    unsafe {
        let session = job::open(job, session);
        ctx::default_endpoint().enable(&session.domain);
        direct::update();
        session.domain.connect_in_background();
    }
    job::set_phase(Phase::Running);
}

/// Ends the session: calls find the library uninitialised from now on.
///
/// # Safety
/// No other thread is inside the library, and nothing is outstanding on any context.
unsafe fn close() -> Option<Session> {
    job::set_phase(Phase::After);
    // SAFETY: no other thread is inside the library, and nothing is outstanding on any context; the
    // contexts are closed before the session is taken.
    unsafe {
        registry::close_all();
        let session = job::close();
        direct::update();
        session
    }
}

/// Tells the PEs of other nodes, before they can pass the barrier of this initialisation, that this PE has not ended.
fn take_farewell_back(at: Routine, job: &Job) {
    let last_epoch = barrier::barriers_done();
    // In the first initialisation nobody has been told anything.
    if last_epoch > 0 {
        tell_farewell(at, job, false);
        // SAFETY: the rules of threads: initialisation: no other thread is in the library.
        unsafe { order::quiet(ctx::default_ctx(), at) };
    }
}

/// Tells the PEs of other nodes whether this PE has begun its last finalisation.
fn tell_farewell(at: Routine, job: &Job, finalizing: bool) {
    let farewell = Farewell {
        finalizing,
        last_epoch: barrier::barriers_done(),
    };
    let places = &job.node.places;
    if let Err(error) = farewell.tell(places.pe(), places.far()) {
        report::call(at, error);
    }
}

/// Installs the handlers that stay for the life of the process.
fn install_handlers() {
    fault::install();
    exit::install();
    fork::install();
    // SAFETY: the handler is a plain function that lives as long as the program.
    unsafe { on_exit(at_exit, std::ptr::null_mut()) };
}

/// Handles the end of the program without shmem_finalize: with status 0 it is implied (section 4,
/// execution model); with any other the launcher ends the job. Some end the PEs of the same node
/// alone unless they are asked.
extern "C" fn at_exit(status: c_int, _argument: *mut c_void) {
    if !job::is_this_process_a_running_pe() {
        return;
    }
    // The system passes on the low eight bits only.
    if status & 0xff != 0 {
        if !job::launched_by_oshrun() {
            job::tell_launcher_to_abort(status & 0xff);
        }
        return;
    }
    match owner::end() {
        Ok(()) => finalize_all(&"exit"),
        // A session that another thread uses cannot be ended, and one that a panic has left
        // half-way must not seem done.
        Err(Refusal::OtherThread) => message::fatal(format_args!(
            "exit: the program ends with status 0 while another thread has the World: join the thread, or let it drop the World, first"
        )),
        Err(Refusal::Parts) => message::fatal(format_args!(
            "exit: the program ends with status 0 while a Ctx or a Team that was created is there, which another thread may use: drop it first"
        )),
        Err(Refusal::Panic) => message::fatal(format_args!(
            "exit: the program ends with status 0 after a panic has dropped the World, which is not finalized"
        )),
    }
}

impl Job {
    fn join(heap_len: usize) -> Result<Self, Error> {
        let mut launcher = Bootstrap::connect()?;
        if let Some(remark) = launcher.remark() {
            message::say(format_args!("{remark}"));
        }
        let mut image = statics::find();
        let node = Arc::new(Node::join(&mut launcher, Sizes::of(&image, heap_len))?);
        let layout = &node.layout;
        let share = layout.share_offset(layout.rank);
        // SAFETY: INITS is locked, so that no other thread is here.
        unsafe { statics::share(&image, &layout.memory, share)? };
        if !node.places.is_one_node() {
            statics::close_gaps(&mut image, &layout.memory, share)?;
        }
        Ok(Self {
            launcher: Mutex::new(launcher),
            node,
            image,
            pid: std::process::id(),
            by_oshrun: std::env::var_os("FARREACH_OSHRUN").is_some(),
        })
    }

    /// Says whether the PEs of this machine have a processor each, in words.
    fn room(&self) -> &'static str {
        if self.node.is_crowded() {
            "processors are shared"
        } else {
            "a processor for each"
        }
    }

    /// Prints the texts of SHMEM_VERSION, SHMEM_INFO and SHMEM_DEBUG.
    fn introduce(&self) {
        if self.node.pe() == 0 {
            if env::is_set("VERSION") {
                announce(&format!("{} {}", crate::VENDOR, crate::STANDARD));
            }
            if env::is_set("INFO") {
                announce(&env::help());
                let room = self.room();
                announce(&format!("In force: {}, {room}, {InForce}", Setting(self)));
            }
            #[cfg(not(feature = "check"))]
            if env::wants_check() {
                message::say(format_args!(
                    "SHMEM_CHECK is set, but this is not the checking library: a program that is linked with libshmem.so gets it from oshrun, or from another launcher with lib/check of the installation first in LD_LIBRARY_PATH"
                ));
            }
        }
        if env::is_set("DEBUG")
            && let Some([statics, heap]) = job::symmetric_ranges()
        {
            message::say(format_args!(
                "{}{CHECKS}, {}, {:?} barrier, static data {:#x} to {:#x}, heap {:#x} to {:#x}",
                Setting(self),
                self.room(),
                barrier::kind(),
                statics.start,
                statics.end,
                heap.start,
                heap.end
            ));
            if let Some(lanes) = lanes() {
                message::say(format_args!("{lanes}"));
            }
            if let Some(version) = direct::other_version() {
                message::say(format_args!(
                    "shmem_init: the program was compiled with SHMEM_DIRECT of version {version}, and this library has version {}: its operations call the library",
                    direct::VERSION
                ));
            }
        }
    }
}

/// Returns the device's lanes, if the session has a device.
fn lanes() -> Option<device::Report> {
    job::session().and_then(|session| session.domain.lanes())
}

/// Shows the sharing of lanes, for SHMEM_INFO.
struct InForce;

impl Display for InForce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(lanes) = lanes() {
            return write!(f, "{lanes}");
        }
        // Initialisation has read both.
        let policy = env::lanes().unwrap_or(device::DEFAULT_POLICY).name;
        let completions = env::completions().unwrap_or_default().name();
        write!(
            f,
            "lanes {policy}, completion queues {completions}, and no device that has any"
        )
    }
}

/// Prints the lines of SHMEM_DEBUG at the end: how many lanes there were, and how many contexts had
/// to do with less.
fn say_what_lanes_there_were(at: Routine) {
    let Some(lanes) = lanes().filter(|_| env::is_set("DEBUG")) else {
        return;
    };
    let connected = job::session().map_or(0, |session| session.domain.connected_in_background());
    if connected > 0 {
        message::say(format_args!(
            "{at}: {connected} PEs were connected in the background"
        ));
    }
    let (name, made, short, shared) = (lanes.policy.name, lanes.lanes, lanes.short, lanes.shared);
    match lanes.reason {
        None => message::say(format_args!("{at}: lanes {name}: {made} in all")),
        Some(why) => message::say(format_args!(
            "{at}: lanes {name}: {made} in all, {short} of them with less than that says, and {shared} contexts shared the default one ({why})"
        )),
    }
}

/// Says at the end, where SHMEM_DEBUG is set, how often all PEs have met since the job began.
fn say_how_often_all_met(at: Routine) {
    if env::is_set("DEBUG") {
        let met = barrier::barriers_done();
        message::say(format_args!("{at}: all PEs have met {met} times"));
    }
}

/// The words of SHMEM_DEBUG about the checking library.
const CHECKS: &str = if cfg!(feature = "check") {
    ", with checks"
} else {
    ""
};

/// The PEs, nodes and devices of a job in words.
struct Setting<'a>(&'a Job);

impl Display for Setting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let node = &self.0.node;
        write!(f, "{} PEs on this node", node.processes())?;
        let nodes = node.places.nodes();
        if nodes == 1 {
            return Ok(());
        }
        write!(f, " of {} on {nodes} nodes", node.pes())?;
        match job::session().and_then(|session| session.domain.device_name()) {
            Some(device) => write!(f, " over {device}"),
            None => Ok(()),
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
            report::call(at, fi_provider::symmetric::Error::NotEnabled)
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
            // SAFETY: the rules of threads: this call's own caller keeps to them.
            unsafe { barrier_all(at) };
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

/// Does the last finalisation; returns the session, which its memory is mapped by, unless that is
/// kept for the next session.
fn end(at: Routine) -> Option<Session> {
    let job = job::job()?;
    let own = job.node.own();
    let is_one_node = job.node.places.is_one_node();
    progress::quiet_all(at);
    own.last_epoch
        .store(barrier::barriers_done(), Ordering::Relaxed);
    // ORDERING: releases `last_epoch`; pairs with the acquire load of the state in `stall`.
    own.state.store(state::FINALIZING, Ordering::Release);
    tell_farewell(at, job, true);
    barrier::wait(at);
    if !is_one_node {
        wait_for_own_messages(job);
    }
    say_what_lanes_there_were(at);
    say_how_often_all_met(at);
    table::tear_down();
    tell_registrations(at);
    // SAFETY: finalisation: no other thread is in the library, `quiet_all` has left nothing
    // outstanding, and no peer uses this PE's memory.
    let mut session = unsafe { close() };
    if !is_one_node && let Some(session) = session.take() {
        // SAFETY: finalisation: no other thread is in the library.
        unsafe { job::park(session) };
    }
    if let Err(error) = lock(&job.launcher).finalize() {
        message::say(format_args!("{at}: {error} (did the program close it?)"));
    }
    session
}

/// Prints the line of SHMEM_DEBUG at the end about private memory that was registered with the
/// device.
fn tell_registrations(at: Routine) {
    let statistics = job::session().and_then(|session| session.domain.registration_statistics());
    if let Some(statistics) = statistics.filter(|_| env::is_set("DEBUG")) {
        message::say(format_args!("{at}: registration cache: {statistics}"));
    }
}

/// Returns when no message of this PE's barriers is on its way, and then no message of anybody's: a process that
/// ends takes with it the messages that its device has not sent yet, and the answers to those of
/// others.
fn wait_for_own_messages(job: &Job) {
    // All PEs have come to the barrier, so that an error tells of an answer that was lost and of nothing else.
    let _ = ctx::default_ctx().endpoint.quiet();
    // A launcher that does not listen to a second session any more leaves it to the PEs' luck.
    let _ = lock(&job.launcher).barrier();
}
