//! Set-up, exit and query (OpenSHMEM 1.6, section 9.1), and what the library knows of its job.
//!
//! A process belongs to one `Job` for its life: the launcher, the node's memory, the static data moved
//! onto it. Between the first initialisation and the matching last finalisation there is a `Session`:
//! the heap and the mapped windows of the peers.

#![expect(
    unsafe_code,
    reason = "writes the job constants while only one thread is in the library"
)]

use crate::collective::{self, NodeBarrier};
use crate::error::Error;
pub use crate::exit::global_exit;
use crate::memory::Arena;
use crate::node::{Node, Sizes, state};
use crate::plain::Plain;
use crate::report::{self, Routine};
use crate::statics::{self, Image};
use crate::window::HeapSpace;
use crate::{ctx, env, exit, fault, fork, order, stall};
use fi_bootstrap::Bootstrap;
use fi_provider::domain::{DirectMap, Domain};
use fi_provider::memory::{MemoryRegion, Window};
use fi_provider::node::segment::Memfd;
use fi_provider::node::wait::Patience;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What lasts as long as the process.
#[derive(Debug)]
struct Job {
    launcher: Mutex<Bootstrap>,
    node: Arc<Node>,
    barrier: Arc<NodeBarrier>,
    image: Image,
    pid: u32,
    by_oshrun: bool,
}

/// What lasts from the first initialisation to the last finalisation.
#[derive(Debug)]
pub(crate) struct Session {
    /// Dropped first: the peers' windows.
    domain: Domain,
    space: HeapSpace,
    pub(crate) arena: Mutex<Arena>,
    thread_level: c_int,
}

impl Session {
    /// The first address of the heap.
    pub(crate) fn heap_base(&self) -> usize {
        self.space.base()
    }
}

static JOB: Plain<Option<Job>> = Plain::new(None);
static SESSION: Plain<Option<Session>> = Plain::new(None);
static MY_PE: Plain<c_int> = Plain::new(-1);
static DIRECT: Plain<DirectMap> = Plain::new(DirectMap::empty());
static PATIENCE: Plain<Patience> = Plain::new(Patience {
    looks: 0,
    bursts: 0,
});

/// Calls of init that finalize has not matched yet. Held during both.
static INITS: Mutex<u32> = Mutex::new(0);

static PHASE: AtomicU32 = AtomicU32::new(Phase::Before as u32);

/// Where the process is in the life of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Phase {
    /// Not initialised yet.
    Before = 0,
    /// Initialised.
    Running = 1,
    /// Finalised.
    After = 2,
    /// The child of a PE's fork.
    Forked = 3,
    /// Finalised by the end of the program.
    Ended = 4,
}

pub(crate) fn phase() -> Phase {
    match PHASE.load(Ordering::Acquire) {
        0 => Phase::Before,
        1 => Phase::Running,
        2 => Phase::After,
        3 => Phase::Forked,
        _ => Phase::Ended,
    }
}

fn set_phase(phase: Phase) {
    PHASE.store(phase as u32, Ordering::Release);
}

/// The session of an initialised library; ends the job with a message otherwise.
#[inline]
pub(crate) fn session(at: Routine) -> &'static Session {
    match SESSION.get() {
        Some(session) => session,
        None => report::call(at, fi_provider::Error::NotEnabled),
    }
}

pub(crate) fn node() -> Option<Arc<Node>> {
    JOB.get().as_ref().map(|job| Arc::clone(&job.node))
}

pub(crate) fn patience() -> Patience {
    *PATIENCE.get()
}

pub(crate) fn launched_by_oshrun() -> bool {
    JOB.get().as_ref().is_some_and(|job| job.by_oshrun)
}

/// The number of this PE, also before initialisation when the launcher has told it.
pub(crate) fn known_pe() -> Option<usize> {
    match JOB.get() {
        Some(job) => Some(job.node.rank() as usize),
        None => std::env::var("PMI_RANK").ok()?.parse().ok(),
    }
}

pub(crate) fn job_size() -> u32 {
    JOB.get().as_ref().map_or(1, |job| job.node.processes())
}

/// The static data and the heap, while there is a session.
pub(crate) fn symmetric_ranges() -> Option<[Range<usize>; 2]> {
    let (session, job) = (SESSION.get().as_ref()?, JOB.get().as_ref()?);
    Some([job.image.statics(), session.space.range()])
}

/// Whose symmetric memory `addr` is in, and the own address of the same object.
pub(crate) fn owner_of(addr: usize) -> Option<(u32, usize)> {
    SESSION.get().as_ref()?.domain.owner_of(addr)
}

/// Whether this process is a PE, not a child of one, and the library is initialised.
pub(crate) fn is_this_process_a_running_pe() -> bool {
    phase() == Phase::Running
        && JOB
            .get()
            .as_ref()
            .is_some_and(|job| job.pid == std::process::id())
}

/// Tells the launcher that this PE leaves in an orderly way although the job is being ended.
pub(crate) fn leave_launcher() {
    if let Some(job) = JOB.get()
        && let Ok(mut launcher) = job.launcher.try_lock()
    {
        // When the launcher is gone, there is nobody to tell.
        let _ = launcher.finalize();
    }
}

/// Tells the launcher to end the job with `status`, if there is one.
pub(crate) fn tell_launcher_to_abort(status: c_int) {
    if let Some(job) = JOB.get()
        && job.pid == std::process::id()
        && let Ok(launcher) = job.launcher.try_lock()
    {
        // When the launcher is gone, it ends the job by that.
        let _ = launcher.abort(status, "");
    }
}

/// Calls `f` for each part of this process's own memory that it shares with peers.
pub(crate) fn for_each_shared_region(mut f: impl FnMut(&Memfd, &MemoryRegion)) {
    let Some(job) = JOB.get() else { return };
    let layout = &job.node.layout;
    let share = layout.share_offset(layout.rank);
    let heap = SESSION.get().iter().map(|session| session.space.region());
    for mut region in job.image.regions().chain(heap) {
        region.file_offset += share;
        f(&layout.memory, &region);
    }
}

/// In the child of a fork: from here on this process is no PE.
pub(crate) fn become_child() {
    set_phase(Phase::Forked);
    // SAFETY: only the thread that called fork exists in the child.
    unsafe {
        ctx::default_endpoint().close();
        *MY_PE.get_mut() = -1;
        *DIRECT.get_mut() = DirectMap::empty();
    }
}

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
    Ok(session(&"shmem_init_thread").thread_level)
}

/// The first initialisation, or the first after a last finalisation.
fn start(thread_level: c_int) -> Result<(), Error> {
    let heap_len = crate::window::heap_len(env::symmetric_size()?)?;
    if let Some(job) = JOB.get() {
        // Launchers other than oshrun do not listen any more, and need not.
        lock(&job.launcher).try_reinit()?;
    } else {
        let job = Job::join(heap_len)?;
        // SAFETY: initialisation: no other thread is in the library.
        unsafe { *JOB.get_mut() = Some(job) };
        install_handlers();
    }
    let job = JOB.get().as_ref().expect("stored above");
    let session = job.open_session(heap_len, thread_level)?;
    job.node
        .own()
        .state
        .store(state::RUNNING, Ordering::Release);
    // SAFETY: initialisation: no other thread is in the library.
    unsafe {
        *SESSION.get_mut() = Some(session);
        let domain = &SESSION.get().as_ref().expect("stored above").domain;
        ctx::default_endpoint().enable(domain);
        *DIRECT.get_mut() = domain.direct_map();
        *MY_PE.get_mut() = job.node.rank() as c_int;
        *PATIENCE.get_mut() = Patience::for_processes(job.node.processes() as usize);
        collective::bind(Arc::clone(&job.barrier));
    }
    set_phase(Phase::Running);
    job.barrier.wait_for_init();
    job.introduce();
    Ok(())
}

fn install_handlers() {
    fault::install();
    exit::install();
    fork::install();
}

impl Job {
    fn join(heap_len: usize) -> Result<Self, Error> {
        let mut launcher = Bootstrap::connect()?;
        let image = statics::find();
        let sizes = Sizes {
            static_len: image.statics().len(),
            heap_len,
        };
        let node = Arc::new(Node::join(&mut launcher, sizes)?);
        let pid = std::process::id();
        node.own().pid.store(pid, Ordering::Release);
        let layout = &node.layout;
        if !stall::has_one_thread() {
            report::say(format_args!(
                "shmem_init: other threads run already: what they write to global variables during this call is lost"
            ));
        }
        statics::share(&image, &layout.memory, layout.share_offset(layout.rank))?;
        Ok(Self {
            barrier: Arc::new(NodeBarrier::new(Arc::clone(&node))),
            launcher: Mutex::new(launcher),
            node,
            image,
            pid,
            by_oshrun: std::env::var_os("FARREACH_OSHRUN").is_some(),
        })
    }

    fn open_session(&self, heap_len: usize, thread_level: c_int) -> Result<Session, Error> {
        let layout = &self.node.layout;
        let static_len = self.image.statics().len();
        let heap_offset = Sizes {
            static_len,
            heap_len,
        }
        .heap_offset();
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
                println!("{} {}", crate::VENDOR, crate::STANDARD);
            }
            if env::is_set("INFO") {
                println!("{}", env::HELP);
            }
        }
        if env::is_set("DEBUG")
            && let Some([statics, heap]) = symmetric_ranges()
        {
            report::say(format_args!(
                "{} PEs on this node, barrier {:?}, static data {:#x} to {:#x}, heap {:#x} to {:#x}",
                self.node.processes(),
                self.barrier.kind(),
                statics.start,
                statics.end,
                heap.start,
                heap.end
            ));
        }
    }
}

/// Ends one initialisation (9.1.4): a barrier, and the end of the session when it was the last.
pub fn finalize(at: Routine) {
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
            end(at);
        }
        _ => {
            *inits -= 1;
            drop(inits);
            collective::barrier_all(at);
        }
    }
}

/// Ends all initialisations at once, for the implicit finalisation at the end of the program.
pub(crate) fn finalize_all(at: Routine) {
    let mut inits = lock(&INITS);
    if *inits > 0 {
        *inits = 0;
        end(at);
        set_phase(Phase::Ended);
    }
}

/// The last finalisation.
fn end(at: Routine) {
    let job = JOB.get().as_ref().expect("a session has a job");
    let own = job.node.own();
    order::quiet(ctx::default_ctx(), at);
    // ORDERING: pairs with the acquire load of the state in `stall`.
    own.last_epoch.store(job.barrier.epoch(), Ordering::Relaxed);
    own.state.store(state::FINALIZING, Ordering::Release);
    job.barrier.wait(at);
    set_phase(Phase::After);
    // SAFETY: finalisation: no other thread is in the library, and no peer uses this PE's memory.
    let session = unsafe {
        ctx::default_endpoint().close();
        *MY_PE.get_mut() = -1;
        *DIRECT.get_mut() = DirectMap::empty();
        collective::unbind();
        SESSION.get_mut().take()
    };
    if let Some(session) = session {
        session.space.discard();
    }
    if let Err(error) = lock(&job.launcher).finalize() {
        report::say(format_args!("{at}: {error} (did the program close it?)"));
    }
}

/// The number of this PE (9.1.2).
#[inline(always)]
pub fn my_pe() -> c_int {
    let me = *MY_PE.get();
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
    match JOB.get() {
        Some(job) if phase() == Phase::Ended => what(&job.node) as c_int,
        _ => report::call(at, fi_provider::Error::NotEnabled),
    }
}

/// The thread level that initialisation provided (9.2.2).
pub fn query_thread() -> c_int {
    session(&"shmem_query_thread").thread_level
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
    c_int::from(pe_accessible(pe) == 1 && SESSION.get().as_ref().is_some_and(inside))
}

/// Where the object at `dest` on PE `pe` can be loaded from and stored to; null where it cannot (9.1.9).
#[inline(always)]
pub fn ptr(dest: *const c_void, pe: c_int) -> *mut c_void {
    // SAFETY: the map is empty unless a session, and with it the domain, is open.
    match unsafe { DIRECT.get().pointer(dest.addr(), pe as u32) } {
        Some(there) => there as *mut c_void,
        None => std::ptr::null_mut(),
    }
}
