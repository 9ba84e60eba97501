//! The end of the program beside threads that have the `World` or parts of it.

use super::check;
use super::resource::Resource;
use super::state::{Refusal, State};
use loom::sync::Arc;
use loom::thread;
use std::sync::Mutex;

/// The thread that ends the program, and others.
const MAIN: usize = 2;
const SECOND: usize = 3;
const THIRD: usize = 4;

/// The library.
#[derive(Debug, Default)]
struct Library {
    state: State,
    routines: Resource,
}

impl Library {
    /// Makes a library, initialised by the main thread, which has the `World`.
    fn new() -> Arc<Self> {
        let library = Arc::new(Self::default());
        assert!(library.enter(MAIN));
        library.routines.make();
        library
    }

    /// Begins a use of the `World`, unless the thread is to sleep for ever.
    fn enter(&self, thread: usize) -> bool {
        self.state.is_of(thread) || self.state.change_hands(thread)
    }

    /// Ends the program on the main thread.
    fn end(&self) -> Result<(), Refusal> {
        let end = self.state.end(MAIN);
        if end.is_ok() {
            self.routines.end();
        }
        end
    }
}

/// The ends of all orders.
#[derive(Clone, Default)]
struct Ends(std::sync::Arc<Mutex<Vec<Result<(), Refusal>>>>);

impl Ends {
    fn add(&self, end: Result<(), Refusal>) {
        let mut ends = self.0.lock().unwrap();
        if !ends.contains(&end) {
            ends.push(end);
        }
    }

    /// Asserts that just these have been seen.
    fn are(&self, expected: &[Result<(), Refusal>]) {
        let ends = self.0.lock().unwrap();
        assert!(
            ends.len() == expected.len() && expected.iter().all(|end| ends.contains(end)),
            "{ends:?}"
        );
    }
}

/// Ends the program beside another thread, which does `other`; `before` is done first. Checks the ends.
fn check_beside(before: fn(&Library), other: fn(&Library), expected: &[Result<(), Refusal>]) {
    let ends = Ends::default();
    let seen = ends.clone();
    check(move || {
        let library = Library::new();
        before(&library);
        let its = Arc::clone(&library);
        let other = thread::spawn(move || other(&its));
        seen.add(library.end());
        other.join().unwrap();
    });
    ends.are(expected);
}

#[test]
fn the_end_does_not_come_upon_a_thread_that_has_a_part() {
    let other = |its: &Library| {
        its.routines.work();
        its.state.remove_part();
    };
    let expected = [Ok(()), Err(Refusal::Parts)];
    check_beside(|its| its.state.add_part(), other, &expected);
}

#[test]
fn the_end_does_not_come_upon_a_thread_that_has_the_world() {
    let other = |its: &Library| {
        if its.enter(SECOND) {
            its.routines.work();
            if its.enter(SECOND) {
                its.routines.work();
            }
        }
        its.state.thread_ends(SECOND);
    };
    check_beside(|_| {}, other, &[Ok(()), Err(Refusal::OtherThread)]);
}

#[test]
fn a_thread_hands_a_part_on_and_ends() {
    let ends = Ends::default();
    let seen = ends.clone();
    check(move || {
        let library = Library::new();
        let its = Arc::clone(&library);
        let second = thread::spawn(move || {
            if !its.enter(SECOND) {
                return None;
            }
            its.state.add_part();
            let theirs = Arc::clone(&its);
            let third = thread::spawn(move || {
                theirs.routines.work();
                theirs.state.remove_part();
                theirs.state.thread_ends(THIRD);
            });
            its.state.thread_ends(SECOND);
            Some(third)
        });
        seen.add(library.end());
        if let Some(third) = second.join().unwrap() {
            third.join().unwrap();
        }
    });
    ends.are(&[Ok(()), Err(Refusal::OtherThread), Err(Refusal::Parts)]);
}

#[test]
fn another_thread_drops_the_world() {
    for panics in [false, true] {
        let ends = Ends::default();
        let seen = ends.clone();
        check(move || {
            let library = Library::new();
            // Forgotten.
            library.state.add_part();
            let its = Arc::clone(&library);
            let other = thread::spawn(move || {
                if its.enter(SECOND) {
                    its.routines.work();
                    if !panics {
                        its.routines.end();
                    }
                    its.state.leave(panics);
                }
                its.state.thread_ends(SECOND);
            });
            seen.add(library.state.end(MAIN));
            other.join().unwrap();
        });
        let last = if panics { Err(Refusal::Panic) } else { Ok(()) };
        ends.are(&[Err(Refusal::Parts), last]);
    }
}
