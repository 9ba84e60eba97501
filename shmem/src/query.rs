//! Queries (OpenSHMEM 1.6, sections 9.1.2, 9.1.3, 9.1.5, 9.1.7 to 9.1.9, and 9.2.2).

#![expect(
    unsafe_code,
    reason = "routines whose callers keep to the rules of threads"
)]

use crate::ctx;
use crate::job::node::Node;
use crate::job::{self, Phase, Session, phase};
use crate::report;
use crate::routine::Routine;
use std::ffi::{c_int, c_void};

/// Returns the number of this PE (9.1.2).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
#[inline(always)]
pub unsafe fn my_pe() -> c_int {
    let me = job::my_pe();
    if me < 0 {
        return of_ended_job(&"shmem_my_pe", Node::pe);
    }
    me
}

/// Returns the number of PEs (9.1.3).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
#[inline(always)]
pub unsafe fn n_pes() -> c_int {
    let count = ctx::default_ctx().endpoint.peer_count();
    if count == 0 {
        return of_ended_job(&"shmem_n_pes", Node::pes);
    }
    count as c_int
}

/// Answers exit handlers and destructors of the program, which may still ask when the end of main
/// has finalised.
#[cold]
fn of_ended_job(at: Routine, what: fn(&Node) -> u32) -> c_int {
    match job::job() {
        Some(job) if phase() == Phase::Ended => what(&job.node) as c_int,
        _ => report::call(at, fi_provider::symmetric::Error::NotEnabled),
    }
}

/// Returns the thread level that initialisation provided (9.2.2).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn query_thread() -> c_int {
    match job::session() {
        Some(session) => session.thread_level,
        None => report::call(
            &"shmem_query_thread",
            fi_provider::symmetric::Error::NotEnabled,
        ),
    }
}

/// Returns whether the library is initialised: 1 or 0; at any time (9.1.5).
pub fn query_initialized() -> c_int {
    c_int::from(phase() == Phase::Running)
}

/// Returns whether PE `pe` can be reached: 1 or 0 (9.1.7).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn pe_accessible(pe: c_int) -> c_int {
    c_int::from((pe as u32) < ctx::default_ctx().endpoint.peer_count())
}

/// Returns whether the object at `addr` can be reached on PE `pe`: 1 or 0 (9.1.8).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn addr_accessible(addr: *const c_void, pe: c_int) -> c_int {
    let inside = |session: &Session| session.domain.window().contains(addr.addr(), 1);
    // SAFETY: the rules of threads: this call's own caller keeps to them.
    let is_there = unsafe { pe_accessible(pe) == 1 };
    c_int::from(is_there && job::session().is_some_and(inside))
}

/// Returns the address at which the object at `dest` on PE `pe` can be loaded from and stored to;
/// null where it cannot (9.1.9).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
#[inline(always)]
pub unsafe fn ptr(dest: *const c_void, pe: c_int) -> *mut c_void {
    // SAFETY: the map is empty unless a session, and with it the domain, is open.
    match unsafe { job::direct_map().pointer(dest.addr(), pe as u32) } {
        Some(there) => there as *mut c_void,
        None => std::ptr::null_mut(),
    }
}
