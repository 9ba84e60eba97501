//! Contexts that were created: the threads that quiet them, and the time when they are destroyed.
//!
//! A conversion of an array quiets all contexts of the process, also those that other threads have,
//! which OpenSHMEM allows at SHMEM_THREAD_MULTIPLE (9.12.2): they are created without options, so that a
//! device's lane is guarded. None of them can be destroyed meanwhile: both take a lock.

#![expect(
    unsafe_code,
    reason = "creates and destroys contexts whose handles stay in here and in their Ctx"
)]

mod registry;

use crate::ctx::{self, Context, created};
use crate::order;
use crate::owner::Part;
use crate::routine::Routine;
use crate::team::{self, Handle};
use registry::Registry;

static CREATED: Registry = Registry::new();

/// A context that was created; dropping it quiets and destroys it.
#[derive(Debug)]
pub(super) struct Created {
    handle: usize,
    team: Handle,
    /// Dropped behind `drop`.
    _part: Part,
}

impl Created {
    /// Creates a context of `team`; none where that is not possible.
    ///
    /// The calling thread has the `World` or the safe team of that handle.
    pub(super) fn new(at: Routine, team: Handle) -> Option<Self> {
        /// Neither serialized nor private: other threads may quiet it.
        const NO_OPTIONS: std::ffi::c_long = 0;
        let part = Part::new();
        let handle = CREATED.create(|| {
            let mut handle = ctx::INVALID_HANDLE;
            // SAFETY: `handle` is writable. The rules of threads: any thread may create a context
            // at SHMEM_THREAD_MULTIPLE, and the library is initialised as long as there is a
            // `World`.
            let failed = unsafe { created::team_create_ctx(at, team, NO_OPTIONS, &raw mut handle) };
            (failed == 0).then_some(handle)
        })?;
        Some(Self {
            handle,
            team,
            _part: part,
        })
    }

    /// Returns whether it counts PEs as the job does.
    pub(super) fn is_of_world(&self) -> bool {
        self.team == team::WORLD
    }

    /// Returns the context, which is there as long as this value is.
    pub(super) fn context(&self) -> &'static Context {
        // SAFETY: the handle is that of a context not yet destroyed: that is done by `drop`. (The
        // place of a context is there for ever.)
        unsafe { ctx::from_handle(self.handle) }
    }
}

impl Drop for Created {
    fn drop(&mut self) {
        // SAFETY: nobody uses the context afterwards, as its one user is being dropped, nor
        // meanwhile: a thread that quieted it held the lock.
        CREATED.destroy(self.handle, || unsafe {
            created::destroy(&"Ctx::drop", self.handle);
        });
    }
}

/// Returns when all that was begun on any context is delivered; how many contexts that were created
/// there are.
///
/// The calling thread has the `World`, and with it the default context.
pub(super) fn quiet_all(at: Routine) -> usize {
    // SAFETY: the rules of threads: this one has the default context.
    unsafe { order::quiet(ctx::default_ctx(), at) };
    CREATED.for_each(|handle| {
        // SAFETY: the handle is that of a context not yet destroyed, as `drop` takes the lock; the
        // rules of threads: the context was created without options, so that any thread may quiet
        // it.
        unsafe { order::quiet(ctx::from_handle(handle), at) };
    })
}

/// Forgets all: the library has destroyed them at its end.
pub(super) fn forget_all() {
    CREATED.clear();
}

/// Quiets and forgets those of `team` that were forgotten, which the library destroys with it.
///
/// No [`Created`] of that team is there any more.
pub(super) fn forget_of_team(at: Routine, team: Handle) {
    let is_of_team = |handle| ctx::registry::team_of(handle) == Some(team);
    CREATED.remove(is_of_team, |handle| {
        // SAFETY: the rules of threads: the context was created for any thread. Its handle is that
        // of a context not yet destroyed.
        unsafe { order::quiet(ctx::from_handle(handle), at) };
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use std::sync::PoisonError;

    /// Tests a thing that the software device does not show, as it delivers all when it acts.
    #[test]
    fn all_contexts_are_quieted_wherever_they_are() {
        let alone = crate::owner::tests::ALONE.lock();
        let _alone = alone.unwrap_or_else(PoisonError::into_inner);
        let world = World::init().expect("a job of one PE");
        let contexts: Vec<_> = (0..3).filter_map(|_| world.create_ctx()).collect();
        std::mem::forget(world.create_ctx());
        assert_eq!(quiet_all(&"a test"), 4);
        std::thread::scope(|scope| {
            let (tell, asked) = std::sync::mpsc::channel();
            let (answer, end) = std::sync::mpsc::channel::<()>();
            scope.spawn(move || {
                tell.send(()).expect("the other thread");
                end.recv().expect("the other thread");
                drop(contexts);
                tell.send(()).expect("the other thread");
            });
            asked.recv().expect("the thread that has them");
            assert_eq!(quiet_all(&"a test"), 4);
            answer.send(()).expect("the thread that has them");
            asked.recv().expect("the thread that has them");
            assert_eq!(quiet_all(&"a test"), 1);
        });
        drop(world);
        let world = World::init().expect("another session");
        assert_eq!(quiet_all(&"a test"), 0);
        drop(world);
    }
}
