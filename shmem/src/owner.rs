//! Tells which thread owns the [`World`](crate::World) at the end of the program.
//!
//! The exit handler finalises on the thread that ends the program, so no other thread may be in the
//! library. A `World` may move between threads, and moving leaves no trace. So it belongs to the
//! thread that has used it last: each use compares that with its own thread, and takes a lock only
//! when they differ. The exit handler takes the same lock. It finalises if the owner is its own
//! thread, or one that has ended; a thread that comes later sleeps until the process has ended.
//! C programs have no owner: their exit handler always finalises.
//!
//! What other threads may use beside the `World` (contexts and teams that were created) is counted
//! instead, so that operations on it need not compare threads. While there is any, the exit handler
//! refuses.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The owner's [`this_thread`], [`NOBODY`] or [`PANICKED`]. Other values than the own one are
/// written under [`ENDING`].
static OWNER: AtomicUsize = AtomicUsize::new(NOBODY);

/// There is no `World`, or the thread that has used it last has ended.
const NOBODY: usize = 0;

/// A panic has dropped the `World`, which was not finalised.
const PANICKED: usize = 1;

/// Whether the exit handler finalises. Held while the owner changes, and while [`PARTS`] does.
static ENDING: Mutex<bool> = Mutex::new(false);

/// The contexts and teams that were created, and not destroyed. Written under [`ENDING`].
static PARTS: AtomicUsize = AtomicUsize::new(0);

/// A part of the `World` that any thread may have. Forgotten ones count to the end of the `World`.
#[derive(Debug)]
pub(crate) struct Part(());

impl Part {
    /// Counts a part that the calling thread, which has the `World` or another part, creates.
    pub(crate) fn new() -> Self {
        let _ending = ending();
        PARTS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Part {
    /// Behind the part's last use of the library.
    fn drop(&mut self) {
        let _ending = ending();
        PARTS.fetch_sub(1, Ordering::Relaxed);
    }
}

thread_local! {
    /// Its address tells the threads that run from each other; of a type without a destructor, it
    /// is there to the end.
    static PLACE: Cell<u16> = const { Cell::new(0) };
    static LEAVING: Leaving = const { Leaving };
}

/// Dropped when a thread ends that has owned the `World`.
struct Leaving;

impl Drop for Leaving {
    fn drop(&mut self) {
        let _ending = ending();
        if OWNER.load(Ordering::Relaxed) == this_thread() {
            OWNER.store(NOBODY, Ordering::Relaxed);
        }
    }
}

/// Why the exit handler must not finalise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Another thread, which still runs, has used the `World` last.
    OtherThread,
    /// A context or a team that was created is there, which another thread may use.
    Parts,
    /// A panic has dropped it.
    Panic,
}

/// A number that no other running thread has; above [`PANICKED`].
#[inline]
fn this_thread() -> usize {
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

fn ending() -> MutexGuard<'static, bool> {
    ENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the `World` the calling thread's, which is about to use it; does not return once the exit
/// handler finalises.
///
/// The `World` is used by one thread at a time, as its type says, so the owner changes between two
/// uses.
#[inline]
pub(crate) fn enter() {
    if OWNER.load(Ordering::Relaxed) != this_thread() {
        change_hands();
    }
}

#[cold]
fn change_hands() {
    let is_ending = ending();
    if *is_ending {
        drop(is_ending);
        loop {
            std::thread::park();
        }
    }
    // Fails in destructors of a thread that ends. Then the number stays, and the exit handler
    // refuses.
    let _ = LEAVING.try_with(|_| ());
    OWNER.store(this_thread(), Ordering::Relaxed);
}

/// Says that the `World` was dropped: finalised, or by a panic. Parts that are left were forgotten.
pub(crate) fn leave(panicked: bool) {
    let owner = if panicked { PANICKED } else { NOBODY };
    let _ending = ending();
    PARTS.store(0, Ordering::Relaxed);
    OWNER.store(owner, Ordering::Relaxed);
}

/// Asks for the exit handler whether it may finalise on this thread; from then on no other thread
/// can use the `World`.
pub(crate) fn end() -> Result<(), Refusal> {
    let mut is_ending = ending();
    match OWNER.load(Ordering::Relaxed) {
        PANICKED => Err(Refusal::Panic),
        _ if PARTS.load(Ordering::Relaxed) > 0 => Err(Refusal::Parts),
        owner if owner == NOBODY || owner == this_thread() => {
            *is_ending = true;
            // Later calls on this thread are told that the library has ended.
            OWNER.store(this_thread(), Ordering::Relaxed);
            Ok(())
        }
        _ => Err(Refusal::OtherThread),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::thread;
    use std::time::Duration;

    /// Held by tests that have a `World`, or say that they have: there is one owner.
    pub(crate) static ALONE: Mutex<()> = Mutex::new(());

    #[test]
    fn a_thread_that_runs_keeps_what_it_has_used() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let (to_owner, wait) = channel::<()>();
        let (tell, used) = channel();
        let owner = thread::spawn(move || {
            enter();
            tell.send(()).unwrap();
            wait.recv().unwrap();
        });
        used.recv().unwrap();
        assert_eq!(end(), Err(Refusal::OtherThread));
        let part = Part::new();
        assert_eq!(end(), Err(Refusal::Parts));
        drop(part);

        // A refusal changes nothing: the owner may change, also back.
        enter();
        assert_eq!(OWNER.load(Ordering::Relaxed), this_thread());
        thread::scope(|scope| scope.spawn(enter).join().unwrap());
        to_owner.send(()).unwrap();
        owner.join().unwrap();

        std::mem::forget(Part::new());
        leave(true);
        assert_eq!(end(), Err(Refusal::Panic));
        leave(false);

        // The owner has ended.
        thread::spawn(enter).join().unwrap();
        assert_eq!(end(), Ok(()));
        assert_eq!(end(), Ok(()));
        enter();

        // A thread that comes now does not come back.
        let (tell, came_back) = channel();
        thread::spawn(move || {
            enter();
            tell.send(()).unwrap();
        });
        let waited = came_back.recv_timeout(Duration::from_millis(50));
        assert_eq!(waited, Err(RecvTimeoutError::Timeout));
        *ending() = false;
        leave(false);
    }
}
