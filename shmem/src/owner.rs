//! Tells which thread owns the [`World`](crate::World) at the end of the program.
//!
//! The exit handler finalises on the thread that ends the program, so no other thread may be in the
//! library. A `World` may move between threads, and moving leaves no trace. So it belongs to the
//! thread that has used it last: each use compares that with its own thread, and takes a lock only
//! when they differ. The exit handler takes the same lock. It finalises if the owner is its own
//! thread, or one that has ended; a thread that comes later sleeps until the process has ended.
//! C programs have no owner: their exit handler always finalises.
//!
//! Contexts and teams that were created, which other threads may use beside the `World`, are
//! counted instead, so that operations on them need not compare threads. While there is any, the
//! exit handler refuses.

mod state;

pub(crate) use state::Refusal;
use state::State;
use std::cell::Cell;

static STATE: State = State::new();

/// A part of the `World` that any thread may have. Forgotten ones count to the end of the `World`.
#[derive(Debug)]
pub(crate) struct Part(());

impl Part {
    /// Counts a part that the calling thread, which has the `World` or another part, creates.
    pub(crate) fn new() -> Self {
        STATE.add_part();
        Self(())
    }
}

impl Drop for Part {
    /// Removes the part, behind its last use of the library.
    fn drop(&mut self) {
        STATE.remove_part();
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
        STATE.thread_ends(this_thread());
    }
}

/// Returns a number above 1 that no other running thread has.
#[inline]
fn this_thread() -> usize {
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

/// Makes the `World` the calling thread's, which is about to use it; does not return once the exit
/// handler finalises.
///
/// The `World` is used by one thread at a time, as its type says, so the owner changes between two
/// uses.
#[inline]
pub(crate) fn enter() {
    if !STATE.is_of(this_thread()) {
        change_hands();
    }
}

#[cold]
fn change_hands() {
    // Fails in destructors of a thread that ends. Then the number stays, and the exit handler
    // refuses.
    let _ = LEAVING.try_with(|_| ());
    if !STATE.change_hands(this_thread()) {
        loop {
            std::thread::park();
        }
    }
}

/// Says that the `World` was dropped: finalised, or by a panic. Parts that are left were forgotten.
pub(crate) fn leave(panicked: bool) {
    STATE.leave(panicked);
}

/// Asks for the exit handler whether it may finalise on this thread; from then on no other thread
/// can use the `World`.
pub(crate) fn end() -> Result<(), Refusal> {
    STATE.end(this_thread())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::sync::{Mutex, PoisonError};
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
        assert!(STATE.is_of(this_thread()));
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
        STATE.begin_again();
        leave(false);
    }
}
