//! Progress and completion on behalf of a routine that waits.

use super::{default_ctx, from_handle, registry};
use crate::order;
use crate::report;
use crate::routine::Routine;

/// Looks at what the device has to tell, on behalf of routine `at`; where that is nothing, a software device may act.
pub(crate) fn progress(at: Routine) {
    if let Err(error) = default_ctx().endpoint.progress() {
        report::call(at, error);
    }
}

/// Returns when all that was begun on any context is delivered, on behalf of routine `at`.
///
/// No other thread is inside the library: private contexts are quieted, too.
pub(crate) fn quiet_all(at: Routine) {
    // SAFETY: the rules of threads: no other one is inside the library.
    unsafe { order::quiet(default_ctx(), at) };
    for handle in registry::handles() {
        // SAFETY: the handle is that of a context not yet destroyed, which another thread would
        // have to do. The rules of threads: no other one is inside the library.
        unsafe { order::quiet(from_handle(handle), at) };
    }
}
