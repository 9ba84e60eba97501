//! The contexts that were created and not destroyed, for threads that quiet those of others. The
//! model checker runs it, too (shmem/models).

#[cfg(loom)]
use loom::sync::{Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::sync::{Mutex, MutexGuard};

/// The contexts' handles, of forgotten contexts, too. Its lock is held while one is created, quieted
/// by another thread or destroyed.
#[cfg_attr(loom, derive(Default))]
#[derive(Debug)]
pub(crate) struct Registry(Mutex<BTreeSet<usize>>);

impl Registry {
    /// Makes a registry with no contexts.
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeSet::new()))
    }

    fn handles(&self) -> MutexGuard<'_, BTreeSet<usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a context that `create` creates; returns its handle.
    pub(crate) fn create(&self, create: impl FnOnce() -> Option<usize>) -> Option<usize> {
        let mut handles = self.handles();
        let handle = create()?;
        handles.insert(handle);
        Some(handle)
    }

    /// Removes a context, which `destroy` destroys.
    pub(crate) fn destroy(&self, handle: usize, destroy: impl FnOnce()) {
        let mut handles = self.handles();
        handles.remove(&handle);
        destroy();
    }

    /// Calls `quiet` with each context; returns how many there are.
    pub(crate) fn for_each(&self, quiet: impl FnMut(usize)) -> usize {
        let handles = self.handles();
        handles.iter().copied().for_each(quiet);
        handles.len()
    }

    /// Removes those of which `is_of` says that they are to go, and calls `quiet` with each of them.
    pub(crate) fn remove(&self, is_of: impl Fn(usize) -> bool, mut quiet: impl FnMut(usize)) {
        self.handles().retain(|&handle| {
            let goes = is_of(handle);
            if goes {
                quiet(handle);
            }
            !goes
        });
    }

    /// Removes all.
    pub(crate) fn clear(&self) {
        self.handles().clear();
    }
}
