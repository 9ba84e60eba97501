//! Checks of the checking library (feature `check`): the place of objects, the calls of the other
//! PEs, the holders of locks.
//!
//! The C symbols of the checking library call these before and behind the routine itself. Nothing
//! here is fast, and nothing of it is in the ordinary library. A mistake is told in one line, and
//! the job ends.

#![expect(
    unsafe_code,
    reason = "C handles of contexts are followed; callers promise to be in a call of the library"
)]

pub(crate) mod board;
mod locks;
mod meeting;
mod objects;
mod place;
mod teams;

pub use meeting::Call;
pub use objects::Object;
pub use teams::Group;

use crate::ctx::{self, DEFAULT_HANDLE, INVALID_HANDLE, created, registry};
use crate::job;
use crate::routine::Routine;
use place::{describe_place, fail, place_of};
use std::ffi::c_int;
use std::fmt::Arguments;

/// The questions, for threads that are in a call of the library.
#[derive(Clone, Copy, Debug)]
pub struct Checks(());

impl Checks {
    /// Makes the questions.
    ///
    /// # Safety
    /// Where they are asked, the calling thread is in a call of one of the library's routines, or
    /// might be: the [rules of threads](crate#rules-of-threads).
    pub unsafe fn in_a_call() -> Self {
        Self(())
    }
}

/// Passes the questions on to the functions that answer them.
macro_rules! questions {
    ($($(#[doc = $doc:literal])* fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? = $f:path;)*) => {
        impl Checks {
            $($(#[doc = $doc])*
            pub fn $name(self $(, $arg: $ty)*) $(-> $ret)? {
                $f($($arg),*)
            })*
        }
    };
}

questions! {
    /// Names the fault of a call of routine `at`, and ends the job.
    fn fail(at: Routine, what: Arguments<'_>) -> ! = fail;
    /// Returns whether the library is initialised: where it is not, the routines say so themselves.
    fn is_running() -> bool = is_running;
    /// Returns the number of this PE.
    fn my_pe() -> u32 = my_pe;
    /// Returns the number of PEs of the job.
    fn pes() -> u32 = job::size;
    /// Ends the job unless `handle` is a context that was not destroyed, or SHMEM_CTX_INVALID.
    fn live(at: Routine, handle: usize) = created::require_context;
    /// Returns the number in the job of the PE that the context with the handle `handle` calls
    /// `pe`; no handle is the default one's. `None` where there is no such PE. Is asked behind
    /// [`Checks::live`].
    fn owner(handle: Option<usize>, pe: c_int) -> Option<u32> = owner;
    /// Returns the place of the object at `addr` in symmetric memory: the same number on every PE,
    /// and the same for no other place. `None` where the address is not symmetric.
    fn place_of(addr: usize) -> Option<u64> = place_of;
    /// Returns the place of the object at `addr` in words that are the same on every PE.
    fn describe_place(addr: usize) -> String = describe_place;
    /// Returns the number of PEs of a group; `None` where there is no such group.
    fn size(group: Group) -> Option<usize> = Group::size;
    /// Returns the group in words.
    fn describe_group(group: Group) -> String = Group::describe;
    /// Waits until every PE of the group that is on this node is in the same collective; ends the
    /// job when one is in another.
    fn meet(call: &Call) = meeting::meet;
    /// Gives team `handle` a name, behind a collective of team `parent` that has made it.
    fn made(parent: usize, handle: usize) = teams::made;
    /// Ends the job unless the object is symmetric: static data, or a part of one block of the heap
    /// that is in use. An object of 0 bytes may be anywhere.
    fn symmetric(at: Routine, object: &Object) = objects::symmetric;
    /// Ends the job when the object lies in the heap, but not inside one block that is in use. It
    /// may be elsewhere.
    fn not_freed(at: Routine, object: &Object) = objects::not_freed;
    /// Ends the job unless the object, which others may work on at the same time, is aligned to
    /// `bytes` bytes: it would not be read and written as a whole.
    fn aligned(at: Routine, object: &Object, bytes: usize) = objects::aligned;
    /// Ends the job when two objects of a call share memory; where `in_place`, they may be the
    /// same.
    fn disjoint(at: Routine, one: &Object, other: &Object, in_place: bool) = objects::disjoint;
    /// Ends the job when this PE holds the lock at `lock` already, before a routine that sets it.
    fn sets(at: Routine, lock: usize) = locks::sets;
    /// Notes that this PE holds the lock at `lock`, behind a routine that has set it.
    fn took(lock: usize) = locks::took;
    /// Ends the job unless this PE holds the lock at `lock`, before a routine that clears it.
    fn clears(at: Routine, lock: usize) = locks::clears;
}

/// Returns whether the library is initialised.
fn is_running() -> bool {
    job::session().is_some()
}

/// Returns the number of this PE.
fn my_pe() -> u32 {
    job::node().map_or(0, |node| node.pe())
}

/// Returns the number in the job of the PE that a context calls `pe`.
fn owner(handle: Option<usize>, pe: c_int) -> Option<u32> {
    let of_job = u32::try_from(pe).ok();
    match handle {
        None | Some(DEFAULT_HANDLE) => of_job,
        Some(INVALID_HANDLE) => None,
        Some(handle) => {
            // SAFETY: `live` has seen that the context is not destroyed.
            let context = unsafe { ctx::from_handle(handle) };
            if registry::is_of_world(context) {
                of_job
            } else {
                registry::world_pe(context, pe)
            }
        }
    }
}
