//! A thing that threads use while one may end it.

#![expect(
    unsafe_code,
    reason = "the model checker's cell is shared by threads, whose accesses it looks at"
)]

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, Ordering};

/// The model checker reports a use that is ordered neither before a change nor behind it.
#[derive(Debug, Default)]
pub(crate) struct Resource {
    is_there: AtomicBool,
    accesses: UnsafeCell<()>,
}

// SAFETY: there is nothing in the cell; threads only tell the model checker of accesses.
unsafe impl Sync for Resource {}

impl Resource {
    /// Uses it.
    pub(crate) fn work(&self) {
        self.accesses.with(|_| ());
        assert!(self.is_there.load(Ordering::Relaxed));
    }

    /// Makes it.
    pub(crate) fn make(&self) {
        self.change(true);
    }

    /// Ends it.
    pub(crate) fn end(&self) {
        self.change(false);
    }

    fn change(&self, is_there: bool) {
        self.accesses.with_mut(|_| ());
        let before = self.is_there.swap(is_there, Ordering::Relaxed);
        assert_ne!(before, is_there);
    }
}
