//! Progress and completion on behalf of a routine that waits.

use super::{default_ctx, from_handle, registry};
use crate::order;
use crate::report;
use crate::routine::Routine;
use fi_provider::node::wait::Waiter;

/// Looks at the device's news, on behalf of routine `at`; where there is none, a software device
/// may act. Returns whether a peer was served, which often asks for more.
pub(crate) fn progress(at: Routine) -> bool {
    match default_ctx().endpoint.progress() {
        Ok(served) => served,
        Err(error) => report::call(at, error),
    }
}

/// Lets some time pass in a wait, as [`Waiter::pause`]; a sleep ends early where there is progress to
/// make, and the wait stays awake then.
#[inline]
pub(crate) fn pause(waiter: &mut Waiter) -> bool {
    let mut is_woken = false;
    let slept = waiter.pause_by(|time| is_woken = default_ctx().endpoint.sleep(time));
    if is_woken {
        waiter.stay_awake();
    }
    slept
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
