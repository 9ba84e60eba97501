//! What the checking library asks (feature `check`): where objects lie, what the other PEs call, who holds a lock.
//!
//! The C symbols of the checking library call these before and behind the routine itself. Nothing here is fast, and
//! nothing of it is in the ordinary library. What is found is said in one line, and the job ends.

#![expect(unsafe_code, reason = "C handles of contexts are followed")]

mod board;
mod locks;
mod meeting;
mod objects;
mod teams;

pub(crate) use board::Board;
pub use locks::{clears, sets, took};
pub use meeting::{Call, meet};
pub use objects::{Object, disjoint, not_freed, symmetric};
pub use teams::{Group, made};

use crate::ctx::{self, DEFAULT_HANDLE, INVALID_HANDLE};
use crate::job;
use crate::report::{self, Routine};
use std::ffi::c_int;
use std::fmt::Arguments;

/// The place of the first byte of the heap, far behind the end of any static data.
const HEAP: u64 = 1 << 62;

/// Says what is wrong with a call of routine `at`, and ends the job.
#[cold]
pub fn fail(at: Routine, what: Arguments<'_>) -> ! {
    report::fatal(format_args!("{at}: {what}"))
}

/// Whether the library is initialised: where it is not, the routines say so themselves.
pub fn is_running() -> bool {
    job::session().is_some()
}

/// The number of this PE.
pub fn my_pe() -> u32 {
    job::node().map_or(0, |node| node.pe())
}

/// The number of PEs of the job.
pub fn pes() -> u32 {
    job::size()
}

/// Ends the job unless `handle` is a context that was not destroyed, or SHMEM_CTX_INVALID.
pub fn live(at: Routine, handle: usize) {
    ctx::require_context(at, handle);
}

/// The number in the job of the PE that the context with the handle `handle` calls `pe`; no handle is the default one's.
/// `None` where there is no such PE.
pub fn owner(handle: Option<usize>, pe: c_int) -> Option<u32> {
    let of_job = u32::try_from(pe).ok();
    match handle {
        None | Some(DEFAULT_HANDLE) => of_job,
        Some(INVALID_HANDLE) => None,
        Some(handle) => {
            // SAFETY: `live` has seen that the context is not destroyed.
            let context = unsafe { ctx::from_handle(handle) };
            if ctx::is_of_world(context) {
                of_job
            } else {
                ctx::world_pe(context, pe)
            }
        }
    }
}

/// The place of the object at `addr` in symmetric memory: the same number on every PE, and the same for no other place.
/// `None` where the address is not symmetric.
pub fn place_of(addr: usize) -> Option<u64> {
    let [statics, heap] = job::symmetric_ranges()?;
    if statics.contains(&addr) {
        Some((addr - statics.start) as u64)
    } else {
        let in_heap = heap.contains(&addr).then(|| (addr - heap.start) as u64);
        in_heap.map(|offset| HEAP + offset)
    }
}

/// The place of the object at `addr` in words that are the same on every PE.
pub fn describe_place(addr: usize) -> String {
    match place_of(addr) {
        Some(place) if place >= HEAP => format!("at {:#x} of the heap", place - HEAP),
        Some(place) => format!("at {place:#x} of the static data"),
        None if addr == 0 => "null".to_owned(),
        None => "nowhere in symmetric memory".to_owned(),
    }
}
