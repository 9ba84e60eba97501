//! The state of [`super`], without statics and without threads of its own: the model checker runs
//! it, too (shmem/models).

#[cfg(loom)]
use loom::sync::atomic::{AtomicUsize, Ordering};
#[cfg(loom)]
use loom::sync::{Mutex, MutexGuard};
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicUsize, Ordering};
#[cfg(not(loom))]
use std::sync::{Mutex, MutexGuard};

/// There is no `World`, or the thread that has used it last has ended.
const NOBODY: usize = 0;

/// A panic has dropped the `World`, which was not finalised.
const PANICKED: usize = 1;

/// The owner of the `World`, the number of its parts, and whether the end has begun.
///
/// Threads are numbers above 1, of which no two that run have the same.
#[cfg_attr(loom, derive(Default))]
#[derive(Debug)]
pub(crate) struct State {
    /// The owner's number, [`NOBODY`] or [`PANICKED`]. Other values than the own one are written
    /// under `ending`.
    owner: AtomicUsize,
    /// Whether the exit handler finalises. Held while the owner changes, and while `parts` does.
    ending: Mutex<bool>,
    /// The contexts and teams that were created, and not destroyed. Written under `ending`.
    parts: AtomicUsize,
}

/// Reason for which the exit handler must not finalise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Another thread, which still runs, has used the `World` last.
    OtherThread,
    /// A context or a team that was created is there, which another thread may use.
    Parts,
    /// A panic has dropped it.
    Panic,
}

impl State {
    /// Returns the state before there is a `World`.
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self {
            owner: AtomicUsize::new(NOBODY),
            ending: Mutex::new(false),
            parts: AtomicUsize::new(0),
        }
    }

    fn ending(&self) -> MutexGuard<'_, bool> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether `thread` has used the `World` last.
    #[inline]
    pub(crate) fn is_of(&self, thread: usize) -> bool {
        self.owner.load(Ordering::Relaxed) == thread
    }

    /// Makes the `World` that of `thread`, which is about to use it; returns whether it may, which
    /// it may not once the exit handler finalises.
    pub(crate) fn change_hands(&self, thread: usize) -> bool {
        let is_ending = self.ending();
        if *is_ending {
            return false;
        }
        self.owner.store(thread, Ordering::Relaxed);
        true
    }

    /// Counts a part that a thread creates which has the `World` or another part.
    pub(crate) fn add_part(&self) {
        let _ending = self.ending();
        self.parts.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a part less, behind its last use of the library.
    pub(crate) fn remove_part(&self) {
        let _ending = self.ending();
        self.parts.fetch_sub(1, Ordering::Relaxed);
    }

    /// Says that `thread` ends.
    pub(crate) fn thread_ends(&self, thread: usize) {
        let _ending = self.ending();
        if self.is_of(thread) {
            self.owner.store(NOBODY, Ordering::Relaxed);
        }
    }

    /// Says that the `World` was dropped: finalised, or by a panic. Parts that are left were
    /// forgotten.
    pub(crate) fn leave(&self, panicked: bool) {
        let owner = if panicked { PANICKED } else { NOBODY };
        let _ending = self.ending();
        self.parts.store(0, Ordering::Relaxed);
        self.owner.store(owner, Ordering::Relaxed);
    }

    /// Asks for the exit handler whether it may finalise on `thread`; from then on no other thread
    /// can use the `World`.
    pub(crate) fn end(&self, thread: usize) -> Result<(), Refusal> {
        let mut is_ending = self.ending();
        match self.owner.load(Ordering::Relaxed) {
            PANICKED => Err(Refusal::Panic),
            _ if self.parts.load(Ordering::Relaxed) > 0 => Err(Refusal::Parts),
            owner if owner == NOBODY || owner == thread => {
                *is_ending = true;
                // Later calls on this thread are told that the library has ended.
                self.owner.store(thread, Ordering::Relaxed);
                Ok(())
            }
            _ => Err(Refusal::OtherThread),
        }
    }

    /// Takes an end back, for tests that go on behind it.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn begin_again(&self) {
        *self.ending() = false;
    }
}
