//! Symmetric arrays in their phases: [`Shared`](super::Shared), [`Frozen`], [`Owned`].

#![expect(
    unsafe_code,
    reason = "gives references to symmetric memory that no PE writes meanwhile"
)]

use super::created::quiet_all;
use super::meet::{Args, meet};
use super::{Readable, Shared, World, sealed};
use crate::job;
use crate::memory;
use crate::owner;
use crate::routine::Routine;
use crate::team;
use bytemuck::Pod;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Place of an array: the own part of it, at the same offset of every PE's symmetric memory.
#[derive(Debug)]
pub struct Place<T> {
    pub(super) base: *mut T,
    pub(super) len: usize,
}

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Place<T> {}

impl<T> Place<T> {
    /// Returns the address at which element `index` of a transfer of `count` elements begins.
    #[track_caller]
    #[inline(always)]
    pub(super) fn at(self, index: usize, count: usize) -> *mut T {
        if index > self.len || count > self.len - index {
            out_of_range(index, count, self.len);
        }
        self.base.wrapping_add(index)
    }

    /// Returns the address of element `index`.
    #[track_caller]
    #[inline(always)]
    pub(super) fn one(self, index: usize) -> *mut T {
        if index >= self.len {
            out_of_range(index, 1, self.len);
        }
        self.base.wrapping_add(index)
    }

    /// Returns the arguments that PEs compare when they meet over the array.
    pub(super) fn args(self) -> Args {
        Args {
            size: size_of::<T>(),
            count: self.len,
            place: Some(offset(self.base.addr())),
            ..Args::default()
        }
    }
}

/// Returns an address in symmetric memory as all PEs name it, in bytes: from the start of the heap,
/// or of the static data, behind 4 TiB.
pub(super) fn offset(address: usize) -> usize {
    const OF_STATICS: usize = 1 << 42;
    match job::symmetric_ranges() {
        Some([statics, _]) if statics.contains(&address) => OF_STATICS | (address - statics.start),
        Some([_, heap]) => address.wrapping_sub(heap.start),
        None => 0,
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn out_of_range(index: usize, count: usize, len: usize) -> ! {
    let me = job::my_pe();
    panic!("PE {me}: elements {index} to {index} + {count} of a symmetric array of {len}");
}

/// An array that nobody writes: a slice for its own PE, which peers may read.
///
/// It dereferences to the own elements. [`Ctx::get`](super::Ctx::get) and the other reads of peers'
/// elements take it as they take [`Shared`]; nothing writes to it. [`World::freeze`] makes one.
///
/// ```no_run
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let table = world.alloc::<u64>(100).expect("room for a table");
/// table.write(0, &[7; 100]);
/// let table = world.freeze(table);
/// let sum: u64 = table.iter().sum();
/// let theirs = world.ctx().g(&table, 3, (world.my_pe() + 1) % world.n_pes());
/// assert_eq!((sum, theirs), (700, 7));
/// # Ok(()) }
/// ```
pub struct Frozen<'w, T> {
    place: Place<T>,
    world: PhantomData<&'w ()>,
}

/// An array that no PE reaches: a mutable slice for its own PE.
///
/// [`World::own`] makes one, and [`World::share`] gives it back to the peers.
///
/// ```no_run
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let keys = world.alloc::<u32>(1000).expect("room for keys");
/// let mut keys = world.own(keys);
/// keys.fill_with(|| 3);
/// keys.sort_unstable();
/// let keys = world.share(keys);
/// world.ctx().p(&keys, 0, 5, 0);
/// # Ok(()) }
/// ```
pub struct Owned<'w, T> {
    place: Place<T>,
    world: PhantomData<&'w ()>,
}

// SAFETY: as a slice of its elements, which nobody writes.
unsafe impl<T: Send + Sync> Send for Frozen<'_, T> {}
// SAFETY: as a slice of its elements, which nobody writes.
unsafe impl<T: Sync> Sync for Frozen<'_, T> {}
// SAFETY: as a mutable slice of its elements, which nobody else reaches.
unsafe impl<T: Send> Send for Owned<'_, T> {}
// SAFETY: as a mutable slice of its elements, which nobody else reaches.
unsafe impl<T: Sync> Sync for Owned<'_, T> {}

impl<T: Pod> Deref for Frozen<'_, T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        let Place { base, len } = self.place;
        // SAFETY: the memory is mapped, aligned and holds `len` values, as any bits are. Nobody
        // writes it as long as the value is there: all PEs agree that the array is frozen, behind
        // the end of all their writes, and no operation writes to a `Frozen`; it ends when this
        // value is consumed.
        unsafe { std::slice::from_raw_parts(base, len) }
    }
}

impl<T: Pod> Deref for Owned<'_, T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        let Place { base, len } = self.place;
        // SAFETY: the memory is mapped, aligned and holds `len` values, as any bits are. Nobody
        // else reaches it as long as the value is there: all PEs agree that the array is owned,
        // behind the end of all their operations, and none takes an `Owned`.
        unsafe { std::slice::from_raw_parts(base, len) }
    }
}

impl<T: Pod> DerefMut for Owned<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        let Place { base, len } = self.place;
        // SAFETY: the memory is mapped, aligned and holds `len` values, as any bits are. Nobody
        // else reaches it as long as the value is there, which is borrowed for writing: all PEs
        // agree that the array is owned, behind the end of all their operations, and none takes an
        // `Owned`.
        unsafe { std::slice::from_raw_parts_mut(base, len) }
    }
}

impl<T: Pod> sealed::Placed<T> for Frozen<'_, T> {
    #[inline(always)]
    fn place(&self) -> Place<T> {
        self.place
    }
}

impl<T: Pod> Readable<T> for Frozen<'_, T> {}

/// A symmetric array in any phase, for conversions and for [`World::free`]: [`Shared`], [`Frozen`] or [`Owned`].
///
/// ```no_run
/// # use shmem::{Phase, World};
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// /// Frees arrays of any phase; collective.
/// fn free_all<'w>(world: &World, arrays: Vec<impl Phase<'w>>) {
///     arrays.into_iter().for_each(|array| world.free(array));
/// }
/// let tables: Vec<_> = (1..4).filter_map(|len| world.alloc::<u16>(len)).collect();
/// free_all(&world, tables);
/// # Ok(()) }
/// ```
pub trait Phase<'w>: sealed::Sealed {
    /// The type of its elements.
    type Element: Pod;

    #[doc(hidden)]
    fn into_place(self) -> Place<Self::Element>;
}

macro_rules! phases {
    ($($phase:ident)*) => {$(
        impl<T> sealed::Sealed for $phase<'_, T> {}

        impl<'w, T: Pod> Phase<'w> for $phase<'w, T> {
            type Element = T;

            fn into_place(self) -> Place<T> {
                self.place
            }
        }

        impl<T> fmt::Debug for $phase<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($phase))
                    .field("len", &self.place.len)
                    .finish_non_exhaustive()
            }
        }
    )*};
}

phases! { Shared Frozen Owned }

const ALLOC: Routine = &"World::alloc";
const FREE: Routine = &"World::free";
const SHARE: Routine = &"World::share";
const FREEZE: Routine = &"World::freeze";
const OWN: Routine = &"World::own";

impl World {
    /// Allocates an array of `len` elements on every PE, all zero; collective. `None` on every PE where
    /// there is no room, and for no bytes.
    ///
    /// # Panics
    /// If the PEs do not all call this with the same length and size of `T`.
    #[track_caller]
    pub fn alloc<T: Pod>(&self, len: usize) -> Option<Shared<'_, T>> {
        self.alloc_by(ALLOC, len)
    }

    /// Allocates as [`World::alloc`] does, by a routine that all PEs call.
    #[track_caller]
    pub(super) fn alloc_by<T: Pod>(&self, at: Routine, len: usize) -> Option<Shared<'_, T>> {
        // Blocks are aligned to 64 bytes.
        const { assert!(align_of::<T>() <= 64) };
        self.enter();
        let args = Args {
            size: size_of::<T>(),
            count: len,
            ..Args::default()
        };
        meet(at, team::WORLD, args);
        // SAFETY: the rules of threads: this one has the `World`.
        let block = unsafe { memory::calloc(at, len, size_of::<T>()) };
        let base = block.cast();
        (!block.is_null()).then_some(Shared {
            place: Place { base, len },
            world: PhantomData,
        })
    }

    /// Frees an array; collective. Arrays that are not freed live as long as the library is initialised.
    ///
    /// # Panics
    /// If the PEs do not all free the same array.
    #[track_caller]
    pub fn free<'w>(&self, array: impl Phase<'w>) {
        let place = self.convert(FREE, array);
        // SAFETY: no use of the block: the array is given up on every PE, as they have agreed, and
        // all that was begun is delivered. The rules of threads: this one has the `World`.
        unsafe { memory::free(FREE, place.base.cast()) };
    }

    /// Makes an array one that all PEs read and write; collective.
    ///
    /// # Panics
    /// If the PEs do not all convert the same array in the same way.
    #[track_caller]
    pub fn share<'w, T: Pod>(&self, array: impl Phase<'w, Element = T>) -> Shared<'w, T> {
        Shared {
            place: self.convert(SHARE, array),
            world: PhantomData,
        }
    }

    /// Makes an array one that nobody writes, which is a slice then; collective. Elements put to it
    /// are there.
    ///
    /// # Panics
    /// If the PEs do not all convert the same array in the same way.
    #[track_caller]
    pub fn freeze<'w, T: Pod>(&self, array: impl Phase<'w, Element = T>) -> Frozen<'w, T> {
        Frozen {
            place: self.convert(FREEZE, array),
            world: PhantomData,
        }
    }

    /// Makes an array one that no peer reaches, which is a mutable slice then; collective. Elements
    /// put to it are there.
    ///
    /// # Panics
    /// If the PEs do not all convert the same array in the same way.
    #[track_caller]
    pub fn own<'w, T: Pod>(&self, array: impl Phase<'w, Element = T>) -> Owned<'w, T> {
        Owned {
            place: self.convert(OWN, array),
            world: PhantomData,
        }
    }

    /// Ends the phase of an array on all PEs: none has a value of it any more, and none has an
    /// operation on it under way.
    ///
    /// Each PE gives its value up and quiets its contexts before it meets the others, and returns
    /// when all have come. So no barrier is needed behind that.
    #[track_caller]
    fn convert<'w, A: Phase<'w>>(&self, at: Routine, array: A) -> Place<A::Element> {
        self.enter();
        let place = array.into_place();
        quiet_all(at);
        meet(at, team::WORLD, place.args());
        place
    }

    /// Begins a use of the `World` by the calling thread, which has it.
    #[inline]
    pub(super) fn enter(&self) {
        owner::enter();
    }
}
