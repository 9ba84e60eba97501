//! The primitives by which threads share calls: loom's, where models are made (calls/models).

#[cfg(loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard, atomic::AtomicU8, atomic::Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::{Mutex, MutexGuard, atomic::AtomicU8, atomic::Ordering};

/// Locks, also behind a panic: nothing that is locked here is left half done.
pub(crate) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
