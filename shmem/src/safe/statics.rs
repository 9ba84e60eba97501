//! Static data that all PEs reach.

#![expect(
    unsafe_code,
    reason = "a static that peers write needs UnsafeCell and Sync"
)]

use super::phase::Place;
use super::{Readable, Shared, World, sealed};
use crate::job;
use bytemuck::Pod;
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// An array in static data, made by [`symmetric_static!`](crate::symmetric_static).
///
/// The library makes the static data of the executable symmetric, not that of shared libraries.
///
/// ```no_run
/// shmem::symmetric_static! {
///     static SEEDS: [u64; 2] = [17, 4];
/// }
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let seeds: &shmem::Static<u64, 2> = &SEEDS;
/// assert_eq!(seeds.of(&world).to_vec(), [17, 4]);
/// # Ok(()) }
/// ```
pub struct Static<T, const N: usize>(UnsafeCell<[T; N]>);

// SAFETY: the elements are reached through `Shared` alone, which all threads may use.
unsafe impl<T: Send, const N: usize> Sync for Static<T, N> {}

impl<T: Pod, const N: usize> Static<T, N> {
    /// Makes an array for [`symmetric_static!`](crate::symmetric_static).
    ///
    /// # Safety
    /// It becomes the value of a `static` item, by itself and no part of another value: so it is at
    /// the same place in every PE of the executable, at all times.
    #[doc(hidden)]
    pub const unsafe fn new(values: [T; N]) -> Self {
        const { assert!(N > 0 && size_of::<T>() > 0) };
        Self(UnsafeCell::new(values))
    }

    /// Makes an array as [`Static::new`] does, of zeros.
    ///
    /// # Safety
    /// As there.
    #[doc(hidden)]
    pub const unsafe fn zeroed() -> Self {
        // SAFETY: zeros are a value of any `Pod`. The value becomes one of a `static` item.
        unsafe { Self::new(std::mem::zeroed()) }
    }

    /// Returns the array, as long as the library is initialised. It stays shared: it cannot be
    /// converted or freed.
    ///
    /// # Panics
    /// If it is in a shared library.
    #[track_caller]
    pub fn of<'w>(&'static self, world: &'w World) -> SharedStatic<'w, T> {
        world.enter();
        let base: *mut T = self.0.get().cast();
        let statics = job::symmetric_ranges().map_or(0..0, |[statics, _]| statics);
        let is_inside =
            statics.contains(&base.addr()) && statics.end - base.addr() >= size_of::<[T; N]>();
        assert!(
            is_inside,
            "PE {}: a symmetric static at {base:p} is not in the executable's static data, \
             {statics:#x?}: those of shared libraries are not symmetric",
            job::my_pe()
        );
        SharedStatic(Shared {
            place: Place { base, len: N },
            world: PhantomData,
        })
    }
}

impl<T, const N: usize> fmt::Debug for Static<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Static").finish_non_exhaustive()
    }
}

/// A [`Shared`] array in static data, to be used by reference; made by [`Static::of`].
///
/// ```no_run
/// # use shmem::SharedStatic;
/// shmem::symmetric_static! {
///     static LOADS: [f32; 1];
/// }
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let loads: SharedStatic<f32> = LOADS.of(&world);
/// loads.store(0, 0.5);
/// world.barrier_all();
/// println!("{}", world.ctx().g(&loads, 0, world.n_pes() - 1));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct SharedStatic<'w, T>(Shared<'w, T>);

impl<'w, T> Deref for SharedStatic<'w, T> {
    type Target = Shared<'w, T>;

    #[inline(always)]
    fn deref(&self) -> &Shared<'w, T> {
        &self.0
    }
}

impl<T: Pod> sealed::Placed<T> for SharedStatic<'_, T> {
    #[inline(always)]
    fn place(&self) -> Place<T> {
        self.0.place
    }
}

impl<T: Pod> Readable<T> for SharedStatic<'_, T> {}

/// Defines static arrays that all PEs reach: each a [`Static`] of [`Pod`](crate::Pod) elements, of
/// zeros or of the given values.
///
/// ```no_run
/// shmem::symmetric_static! {
///     /// Tickets that were given out.
///     static TICKETS: [u64; 1];
///     static PRIMES: [u32; 3] = [2, 3, 5];
/// }
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let tickets = TICKETS.of(&world);
/// println!("ticket {}", world.ctx().fetch_inc(&tickets, 0, 0));
/// assert_eq!(PRIMES.of(&world).load(2), 5);
/// # Ok(()) }
/// ```
#[macro_export]
macro_rules! symmetric_static {
    () => {};
    ($(#[$meta:meta])* $vis:vis static $name:ident: [$t:ty; $n:expr]; $($rest:tt)*) => {
        $(#[$meta])*
        $vis static $name: $crate::Static<$t, { $n }> = {
            // SAFETY: it is the value of a `static` item.
            unsafe { $crate::Static::zeroed() }
        };
        $crate::symmetric_static! { $($rest)* }
    };
    ($(#[$meta:meta])* $vis:vis static $name:ident: [$t:ty; $n:expr] = $values:expr; $($rest:tt)*) => {
        $(#[$meta])*
        $vis static $name: $crate::Static<$t, { $n }> = {
            const VALUES: [$t; $n] = $values;
            // SAFETY: it is the value of a `static` item.
            unsafe { $crate::Static::new(VALUES) }
        };
        $crate::symmetric_static! { $($rest)* }
    };
}
