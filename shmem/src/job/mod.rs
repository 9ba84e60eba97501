//! Runs a job: the job and the session of this process, read everywhere, written by [`crate::world`]
//! alone.
//!
//! The files of this folder know neither contexts nor operations, which stand above them.
//!
//! A process belongs to one [`Job`] for its life: the launcher, the node's memory, the static data moved
//! onto it. Between the first initialisation and the matching last finalisation there is a [`Session`]:
//! the heap, the mapped windows of the peers, and the device. In a job of several nodes it is kept when it has ended,
//! for the next one: to register and to connect anew takes a launcher, and not all of them listen any more by then.

#![expect(
    unsafe_code,
    reason = "writes the job constants while only one thread is in the library"
)]

pub(crate) mod env;
pub(crate) mod error;
pub(crate) mod exit;
pub(crate) mod fault;
pub(crate) mod handlers;
pub(crate) mod message;
pub(crate) mod node;
pub(crate) mod places;
pub(crate) mod session;
mod standstill;
pub(crate) mod statics;
pub(crate) mod window;
pub(crate) mod workspace;

use crate::arena::Arena;
use crate::plain::Plain;
use fi_bootstrap::Bootstrap;
use fi_provider::node::segment::Memfd;
use fi_provider::node::wait::Patience;
use fi_provider::symmetric::domain::{DirectMap, Domain};
use fi_provider::symmetric::window::MemoryRegion;
use node::Node;
use statics::Image;
use std::ffi::c_int;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use window::HeapSpace;

/// SHMEM_THREAD_MULTIPLE.
pub(crate) const MULTIPLE: c_int = 3;

/// State that lasts as long as the process.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) launcher: Mutex<Bootstrap>,
    pub(crate) node: Arc<Node>,
    pub(crate) image: Image,
    pub(crate) pid: u32,
    pub(crate) by_oshrun: bool,
}

/// State that lasts from the first initialisation to the last finalisation.
#[derive(Debug)]
pub(crate) struct Session {
    /// Dropped first: the peers' windows, and a device's registrations of the own one.
    pub(crate) domain: Domain,
    pub(crate) space: HeapSpace,
    pub(crate) arena: Mutex<Arena>,
    pub(crate) thread_level: c_int,
    /// Whether a device's queues were made for several threads at a time.
    pub(crate) is_shared: bool,
}

static JOB: Plain<Option<Job>> = Plain::new(None);
static SESSION: Plain<Option<Session>> = Plain::new(None);
/// A session that has ended and can begin again.
static PARKED: Plain<Option<Session>> = Plain::new(None);
static MY_PE: Plain<c_int> = Plain::new(-1);
static DIRECT: Plain<DirectMap> = Plain::new(DirectMap::empty());
static PATIENCE: Plain<Patience> = Plain::new(Patience {
    looks: 0,
    bursts: 0,
});
static PHASE: AtomicU32 = AtomicU32::new(Phase::Before as u32);

/// The phase of the process in the life of the library.
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

pub(crate) fn set_phase(phase: Phase) {
    PHASE.store(phase as u32, Ordering::Release);
}

/// Returns the job, once it was joined.
pub(crate) fn job() -> Option<&'static Job> {
    JOB.get().as_ref()
}

/// Returns the session, while there is one.
#[inline]
pub(crate) fn session() -> Option<&'static Session> {
    SESSION.get().as_ref()
}

/// Returns the number of this PE, -1 where there is no session.
#[inline(always)]
pub(crate) fn my_pe() -> c_int {
    *MY_PE.get()
}

/// Returns the places of peers' objects in this process; without peers where there is no session.
#[inline(always)]
pub(crate) fn direct_map() -> &'static DirectMap {
    DIRECT.get()
}

pub(crate) fn patience() -> Patience {
    *PATIENCE.get()
}

/// Stores the job, for the life of the process.
///
/// # Safety
/// No other thread is inside the library.
pub(crate) unsafe fn join(job: Job) -> &'static Job {
    // SAFETY: no other thread is inside the library, and this one has no reference to the two
    // values.
    unsafe {
        *PATIENCE.get_mut() = job.node.patience();
        JOB.get_mut().insert(job)
    }
}

/// Keeps a session of `job` that has been opened; it begins with [`Phase::Running`].
///
/// # Safety
/// No other thread is inside the library.
pub(crate) unsafe fn open(job: &Job, session: Session) -> &'static Session {
    // SAFETY: no other thread is inside the library, and this one has no reference to these values.
    unsafe {
        let session = SESSION.get_mut().insert(session);
        *DIRECT.get_mut() = session.domain.direct_map();
        *MY_PE.get_mut() = job.node.pe() as c_int;
        session
    }
}

/// Takes the session, which has ended with [`Phase::After`].
///
/// # Safety
/// No other thread is inside the library, and all contexts are closed.
pub(crate) unsafe fn close() -> Option<Session> {
    // SAFETY: no other thread is inside the library, this one has no reference to the session, and
    // the contexts are closed.
    unsafe {
        forget_peers();
        let session = SESSION.get_mut().take();
        if let Some(session) = &session {
            session.domain.rest();
        }
        session
    }
}

/// Keeps a session that has ended.
///
/// # Safety
/// No other thread is inside the library.
pub(crate) unsafe fn park(session: Session) {
    // SAFETY: no other thread is inside the library, and this one has no reference to the value.
    unsafe { *PARKED.get_mut() = Some(session) };
}

/// Takes the session that was kept, if there is one.
///
/// # Safety
/// No other thread is inside the library.
pub(crate) unsafe fn unpark() -> Option<Session> {
    // SAFETY: no other thread is inside the library, and this one has no reference to the value.
    unsafe { PARKED.get_mut().take() }
}

/// Forgets which PE this process is, and where the memory of its peers is.
///
/// # Safety
/// No other thread is inside the library.
pub(crate) unsafe fn forget_peers() {
    // SAFETY: no other thread is inside the library, and this one has no reference to these values.
    unsafe {
        *MY_PE.get_mut() = -1;
        *DIRECT.get_mut() = DirectMap::empty();
    }
}

/// Makes this process, the child of a fork, no PE from here on. Frees nothing, as the C library may
/// hold its locks.
pub(crate) fn leave() {
    set_phase(Phase::Forked);
}

/// Returns the node's memory, once the job was joined.
pub(crate) fn node() -> Option<Arc<Node>> {
    JOB.get().as_ref().map(|job| Arc::clone(&job.node))
}

/// Returns whether oshrun started this process.
pub(crate) fn launched_by_oshrun() -> bool {
    JOB.get().as_ref().is_some_and(|job| job.by_oshrun)
}

/// Returns the number of this PE, also before initialisation when the launcher has told it.
pub(crate) fn known_pe() -> Option<usize> {
    match JOB.get() {
        Some(job) => Some(job.node.pe() as usize),
        None => {
            let of = |name| std::env::var(name).ok()?.parse().ok();
            of("PMI_RANK").or_else(|| of("PMIX_RANK"))
        }
    }
}

/// Returns the number of PEs, 1 before the job was joined.
pub(crate) fn size() -> u32 {
    JOB.get().as_ref().map_or(1, |job| job.node.pes())
}

/// Returns the static data and the heap, while there is a session.
pub(crate) fn symmetric_ranges() -> Option<[Range<usize>; 2]> {
    let (session, job) = (SESSION.get().as_ref()?, JOB.get().as_ref()?);
    Some([job.image.statics(), session.space.range()])
}

/// Returns the PE in whose symmetric memory `addr` is, and the own address of the same object.
pub(crate) fn owner_of(addr: usize) -> Option<(u32, usize)> {
    SESSION.get().as_ref()?.domain.owner_of(addr)
}

/// Returns whether this process is a PE, not a child of one, and the library is initialised.
pub(crate) fn is_this_process_a_running_pe() -> bool {
    phase() == Phase::Running && is_this_process_the_pe()
}

/// Returns whether this process has joined a job itself: it is no child of a PE.
pub(crate) fn is_this_process_the_pe() -> bool {
    job().is_some_and(|job| job.pid == std::process::id())
}

/// Tells the launcher that this PE leaves in an orderly way although the job is being ended. A
/// signal handler may.
pub(crate) fn leave_launcher() {
    if let Some(job) = JOB.get()
        && let Ok(mut launcher) = job.launcher.try_lock()
    {
        // When the launcher is gone, there is nobody to tell.
        let _ = launcher.leave();
    }
}

/// Tells the launcher to end the job with `status`, if there is one. A signal handler may.
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
    let sessions = SESSION.get().iter().chain(PARKED.get());
    let heap = sessions.map(|session| session.space.region());
    for mut region in job.image.regions().chain(heap) {
        region.file_offset += share;
        f(&layout.memory, &region);
    }
}
