//! Puts with signals (OpenSHMEM 1.6, section 9.8).

#![expect(
    unsafe_code,
    reason = "calls the routines with addresses that the arrays' types vouch for"
)]

use super::{Ctx, Shared};
use crate::signal;
use bytemuck::Pod;
use std::ffi::c_int;

/// The operation of a put with signal on the signal word.
///
/// ```no_run
/// # use shmem::{Cmp, Signal};
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let parts = world.alloc::<u8>(world.n_pes()).expect("room for the parts");
/// let count = world.alloc::<u64>(1).expect("room for a signal");
/// let (me, ctx) = (world.my_pe(), world.ctx());
/// // Each PE gives one part, and PE 0 waits for all.
/// ctx.put_signal((&parts, me), &[7], (&count, 0), Signal::Add(1), 0);
/// if me == 0 {
///     ctx.wait_until(&count, 0, Cmp::Eq, world.n_pes() as u64);
///     assert!(parts.to_vec().iter().all(|&part| part == 7));
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Replaces it (SHMEM_SIGNAL_SET).
    Set(u64),
    /// Adds to it (SHMEM_SIGNAL_ADD).
    Add(u64),
}

impl Signal {
    /// Returns the value, and the operation as the routines take it.
    pub(super) fn parts(self) -> (u64, c_int) {
        match self {
            Self::Set(value) => (value, signal::SIGNAL_SET),
            Self::Add(value) => (value, signal::SIGNAL_ADD),
        }
    }
}

impl Ctx<'_> {
    /// Writes `source` as [`Ctx::put`] does, and then updates the signal word `signals[word]` on
    /// `pe`: a PE that sees the signal sees the elements (9.8.1).
    ///
    /// # Panics
    /// If the elements, the word or `pe` are out of range.
    ///
    /// ```no_run
    /// # use shmem::{Cmp, Signal};
    /// # fn main() -> Result<(), shmem::Error> {
    /// let world = shmem::World::init()?;
    /// let line = world.alloc::<u8>(80).expect("room for a line");
    /// let ready = world.alloc::<u64>(1).expect("room for a signal");
    /// let next = (world.my_pe() + 1) % world.n_pes();
    /// let ctx = world.ctx();
    /// ctx.put_signal((&line, 0), &[b'-'; 80], (&ready, 0), Signal::Set(1), next);
    /// ctx.wait_until(&ready, 0, Cmp::Eq, 1);
    /// assert_eq!(line.to_vec(), [b'-'; 80]);
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn put_signal<T: Pod>(
        &self,
        (dest, index): (&Shared<'_, T>, usize),
        source: &[T],
        (signals, word): (&Shared<'_, u64>, usize),
        signal: Signal,
        pe: usize,
    ) {
        let dest = dest.place.at(index, source.len());
        let word = signals.place.one(word);
        let (value, op) = signal.parts();
        let pe = self.number(pe);
        // SAFETY: both arrays are shared on all PEs, at these places, and hold the elements;
        // `source` is apart from them, as nothing gives a reference to a shared array. (Where the
        // word is one of the elements, it gets one value and then the other.) The rules of threads:
        // this one has the context.
        unsafe {
            signal::put_signal(
                self.context,
                &"Ctx::put_signal",
                dest,
                source.as_ptr(),
                source.len(),
                word,
                value,
                op,
                pe,
            );
        }
    }

    /// Reads the own signal word `signals[word]` atomically (9.8.4).
    ///
    /// # Panics
    /// If `word` is out of range.
    #[track_caller]
    pub fn signal_fetch(&self, signals: &Shared<'_, u64>, word: usize) -> u64 {
        let word = signals.place.one(word);
        // SAFETY: the word is in range and aligned, and this PE's.
        unsafe { signal::signal_fetch(&"Ctx::signal_fetch", word) }
    }
}
