//! Locks of all PEs (OpenSHMEM 1.6, section 9.13).

#![expect(
    unsafe_code,
    reason = "calls the routines with the address of a word of the heap that is a lock alone"
)]

use super::phase::Place;
use super::{Phase, Shared, World};
use crate::lock;
use crate::routine::Routine;
use std::ffi::c_long;
use std::marker::PhantomData;

/// A lock that one PE has at a time; made by [`World::lock`]. It stays with the thread that has the
/// [`World`].
///
/// ```no_run
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let lock = world.lock().expect("eight bytes of heap");
/// let total = world.alloc::<u64>(1).expect("eight bytes of heap");
/// {
///     let _held = lock.set();
///     let sum = world.ctx().g(&total, 0, 0) + 1;
///     world.ctx().p(&total, 0, sum, 0);
/// }
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Lock<'w> {
    world: &'w World,
    word: Place<i64>,
}

/// A lock that this PE has. Dropping it quiets the default context and passes the lock on;
/// forgetting it keeps the lock for ever.
///
/// ```no_run
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let lock = world.lock().expect("eight bytes of heap");
/// if let Some(held) = lock.test() {
///     println!("PE {} has the lock", world.my_pe());
///     drop(held);
/// }
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "dropping it clears the lock"]
pub struct Held<'a> {
    lock: &'a Lock<'a>,
}

const LOCK: Routine = &"World::lock";

impl World {
    /// Makes a lock that is free; collective. `None` on every PE where the heap has no room for 8
    /// bytes.
    ///
    /// # Panics
    /// If the PEs do not all call this.
    #[track_caller]
    pub fn lock(&self) -> Option<Lock<'_>> {
        let word = self.alloc_by::<i64>(LOCK, 1)?.into_place();
        Some(Lock { world: self, word })
    }
}

impl<'w> Lock<'w> {
    fn word(&self) -> *mut c_long {
        self.world.enter();
        self.word.base
    }

    /// Waits until the lock is free and sets it, in the order in which PEs come.
    ///
    /// A PE that has set the lock and sets it again ends the job with a message.
    pub fn set(&self) -> Held<'_> {
        // SAFETY: the word is symmetric, aligned and was 0 on all PEs; it is reached by these
        // routines alone. The rules of threads: this one has the `World`.
        unsafe { lock::set_lock(&"Lock::set", self.word()) };
        Held { lock: self }
    }

    /// Sets the lock if it is free.
    pub fn test(&self) -> Option<Held<'_>> {
        // SAFETY: the word is symmetric, aligned and was 0 on all PEs; it is reached by these
        // routines alone. The rules of threads: this one has the `World`.
        let is_held = unsafe { lock::test_lock(&"Lock::test", self.word()) };
        (is_held == 0).then(|| Held { lock: self })
    }

    /// Frees the lock's memory; collective.
    ///
    /// # Panics
    /// If the PEs do not all free the same lock.
    #[track_caller]
    pub fn free(self) {
        let word = Shared {
            place: self.word,
            world: PhantomData,
        };
        self.world.free(word);
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // SAFETY: the word is symmetric, aligned and was 0 on all PEs; it is reached by these
        // routines alone, and this PE has set it. The rules of threads: this one has the `World`.
        unsafe { lock::clear_lock(&"Held::drop", self.lock.word()) };
    }
}
