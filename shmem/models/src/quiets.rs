//! A conversion that quiets the contexts of all threads, beside threads that create and destroy.

use super::check;
use super::registry::Registry;
use super::resource::Resource;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

/// The place of a context, which the next one that is created may get.
#[derive(Debug, Default)]
struct Place {
    context: Resource,
    /// Whether operations are under way: threads tell each other by the guard of a lane.
    is_busy: AtomicBool,
}

impl Place {
    fn put(&self) {
        self.context.work();
        self.is_busy.store(true, Ordering::Release);
    }

    fn quiet(&self) {
        self.context.work();
        self.is_busy.store(false, Ordering::Release);
    }

    /// Destroys the context, which quiets it.
    fn destroy(&self) {
        self.is_busy.store(false, Ordering::Release);
        self.context.end();
    }
}

/// Contexts of a library that has two places for them.
#[derive(Default)]
struct Contexts {
    registry: Registry,
    places: [Place; 2],
    /// Set when the second thread has no use of the array any more.
    is_given_up: AtomicBool,
}

impl Contexts {
    fn create(&self, handle: usize) {
        let made = self.registry.create(|| {
            self.places[handle].context.make();
            Some(handle)
        });
        assert_eq!(made, Some(handle));
    }

    fn destroy(&self, handle: usize) {
        self.registry
            .destroy(handle, || self.places[handle].destroy());
    }

    /// Quiets all of them, as a conversion does.
    fn quiet_all(&self) -> usize {
        self.registry.for_each(|handle| self.places[handle].quiet())
    }
}

#[test]
fn contexts_come_and_go_beside_a_conversion() {
    check(|| {
        let contexts = Arc::new(Contexts::default());
        contexts.create(0);
        let its = Arc::clone(&contexts);
        let other = thread::spawn(move || {
            its.create(1);
            its.places[1].put();
            its.destroy(1);
            its.destroy(0);
            its.create(0);
        });
        contexts.quiet_all();
        other.join().unwrap();
        assert_eq!(contexts.quiet_all(), 1);
    });
}

#[test]
fn a_conversion_quiets_what_was_begun_before() {
    check(|| {
        let contexts = Arc::new(Contexts::default());
        let its = Arc::clone(&contexts);
        let other = thread::spawn(move || {
            its.create(1);
            its.places[1].put();
            its.is_given_up.store(true, Ordering::Release);
            its.destroy(1);
        });
        if contexts.is_given_up.load(Ordering::Acquire) {
            contexts.quiet_all();
            assert!(!contexts.places[1].is_busy.load(Ordering::Acquire));
        }
        other.join().unwrap();
    });
}

#[test]
fn a_team_takes_its_forgotten_contexts_along() {
    check(|| {
        let contexts = Arc::new(Contexts::default());
        // Forgotten contexts: of a team, which another thread has, and of the World.
        contexts.create(0);
        contexts.create(1);
        let its = Arc::clone(&contexts);
        let other = thread::spawn(move || {
            its.places[1].put();
            its.registry
                .remove(|handle| handle == 1, |handle| its.places[handle].quiet());
            assert!(!its.places[1].is_busy.load(Ordering::Acquire));
            // The library does so with its team.
            its.places[1].destroy();
        });
        contexts.quiet_all();
        other.join().unwrap();
        assert_eq!(contexts.quiet_all(), 1);
        contexts.registry.clear();
        assert_eq!(contexts.quiet_all(), 0);
    });
}
