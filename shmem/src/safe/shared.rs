//! Arrays that all PEs read and write.

#![expect(
    unsafe_code,
    reason = "elements are read and written that peers write meanwhile"
)]

use super::phase::Place;
use super::sealed;
use bytemuck::Pod;
use fi_provider::node::copy::copy_long;
use std::marker::PhantomData;
use std::mem::transmute_copy;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// An array of `T` that every PE has, and that every PE reads and writes.
///
/// [`World::alloc`](super::World::alloc) makes one; [`Ctx`](super::Ctx) has the operations on peers'
/// elements. The methods here are about the own ones. They copy: there is no reference to memory
/// that peers may write. Elements of 1, 2, 4 or 8 bytes that are aligned to their size are read and
/// written whole. All threads may use it.
///
/// ```no_run
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let array = world.alloc::<f64>(4).expect("32 bytes of heap");
/// array.store(0, 1.5);
/// world.ctx().put(&array, 1, &[2.5, 3.5], 0);
/// world.barrier_all();
/// assert_eq!(array.load(0), 1.5);
/// # Ok(()) }
/// ```
pub struct Shared<'w, T> {
    pub(super) place: Place<T>,
    pub(super) world: PhantomData<&'w ()>,
}

// SAFETY: the array is memory of the process, not of a thread; values of elements move to it and
// from it by copies.
unsafe impl<T: Send> Send for Shared<'_, T> {}
// SAFETY: threads read and write single elements by atomic instructions, and ranges by copies that
// may race: any bytes are a value.
unsafe impl<T: Send> Sync for Shared<'_, T> {}

/// A symmetric array whose elements all PEs may read: [`Shared`] or [`Frozen`](super::Frozen).
///
/// ```no_run
/// # use shmem::{Readable, World};
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// /// The first element of each PE.
/// fn firsts(world: &World, array: &impl Readable<u64>) -> Vec<u64> {
///     (0..world.n_pes()).map(|pe| world.ctx().g(array, 0, pe)).collect()
/// }
/// let table = world.alloc::<u64>(10).expect("room for a table");
/// assert_eq!(firsts(&world, &table), vec![0; world.n_pes()]);
/// let table = world.freeze(table);
/// assert_eq!(firsts(&world, &table), vec![0; world.n_pes()]);
/// # Ok(()) }
/// ```
pub trait Readable<T: Pod>: sealed::Placed<T> {}

impl<T: Pod> Readable<T> for Shared<'_, T> {}

impl<T: Pod> sealed::Placed<T> for Shared<'_, T> {
    #[inline(always)]
    fn place(&self) -> Place<T> {
        self.place
    }
}

/// Calls `$f` with the atomic type of the size of `T`, if `T` has one and its alignment.
macro_rules! as_atomic {
    ($T:ident, $at:ident, |$atomic:ident| $f:expr, $else:expr) => {
        match (size_of::<$T>(), align_of::<$T>()) {
            (1, 1) => as_atomic!(@ AtomicU8, $at, $atomic, $f),
            (2, 2) => as_atomic!(@ AtomicU16, $at, $atomic, $f),
            (4, 4) => as_atomic!(@ AtomicU32, $at, $atomic, $f),
            (8, 8) => as_atomic!(@ AtomicU64, $at, $atomic, $f),
            _ => $else,
        }
    };
    (@ $type:ident, $at:ident, $atomic:ident, $f:expr) => {{
        // SAFETY: the element is mapped, and has this size and alignment; the other threads of this
        // process use atomic instructions or copies that may race.
        let $atomic = unsafe { $type::from_ptr($at.cast()) };
        $f
    }};
}

/// The most bytes of a range that is read or written element by element; [`copy_long`] has more.
const FEW: usize = 16;

/// Copies a value to or from memory that other threads and PEs write or read meanwhile, by atomic
/// moves of as many bytes as its alignment allows.
///
/// # Safety
/// Both are mapped for reading and writing a `T`, aligned, and apart.
unsafe fn copy_pieces<T: Pod>(to: *mut T, from: *mut T) {
    macro_rules! by {
        ($piece:ty, $atomic:ident) => {
            for i in 0..size_of::<T>() / size_of::<$piece>() {
                let from = from.cast::<$piece>().wrapping_add(i);
                let to = to.cast::<$piece>().wrapping_add(i);
                // SAFETY: the piece lies in both values, aligned; a thread that has either
                // meanwhile uses atomic instructions or copies that may race. (A value of the
                // caller's is its own: nothing else has it.)
                // ORDERING: acquires and releases as `load` and `store` do.
                unsafe {
                    let piece = $atomic::from_ptr(from).load(Ordering::Acquire);
                    $atomic::from_ptr(to).store(piece, Ordering::Release);
                }
            }
        };
    }
    match align_of::<T>() {
        1 => by!(u8, AtomicU8),
        2 => by!(u16, AtomicU16),
        4 => by!(u32, AtomicU32),
        _ => by!(u64, AtomicU64),
    }
}

impl<T: Pod> Shared<'_, T> {
    /// Returns the number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.place.len
    }

    /// Returns whether there are no elements, which is never so.
    pub fn is_empty(&self) -> bool {
        self.place.len == 0
    }

    /// Returns the address of the own array, for C or for unsafe code: peers may write it at any time.
    pub fn as_ptr(&self) -> *mut T {
        self.place.base
    }

    /// Reads the own element `index`; a peer's writes before a value that it put or set with
    /// order (fence, signal, atomics) is visible then.
    ///
    /// # Panics
    /// If `index` is out of range.
    #[track_caller]
    #[inline(always)]
    pub fn load(&self, index: usize) -> T {
        let at = self.place.one(index);
        as_atomic!(
            T,
            at,
            |atomic| {
                // ORDERING: pairs with the stores, releases and atomic operations of peers.
                let bits = atomic.load(Ordering::Acquire);
                // SAFETY: the integer has the size of `T`, any bits of which are a value.
                unsafe { transmute_copy(&bits) }
            },
            {
                let mut value = T::zeroed();
                // SAFETY: the element and the value are mapped, and apart.
                unsafe { copy_pieces(&raw mut value, at) };
                value
            }
        )
    }

    /// Writes the own element `index`.
    ///
    /// # Panics
    /// If `index` is out of range.
    #[track_caller]
    #[inline(always)]
    pub fn store(&self, index: usize, mut value: T) {
        let at = self.place.one(index);
        as_atomic!(
            T,
            at,
            |atomic| {
                // SAFETY: `T` has the size of the integer and no uninitialised bytes.
                let bits = unsafe { transmute_copy(&value) };
                // ORDERING: pairs with the loads of peers.
                atomic.store(bits, Ordering::Release);
            },
            // SAFETY: the element and the value are mapped, and apart.
            unsafe { copy_pieces(at, &raw mut value) }
        );
    }

    /// Copies own elements from `index` on to `to`.
    ///
    /// # Panics
    /// If the elements are out of range.
    #[track_caller]
    pub fn read(&self, index: usize, to: &mut [T]) {
        let from = self.place.at(index, to.len());
        if size_of_val(to) <= FEW {
            let elements = to.iter_mut().enumerate();
            elements.for_each(|(i, element)| *element = self.load(index + i));
            return;
        }
        // SAFETY: both ranges hold the bytes; they are apart, as nothing gives a reference to a
        // shared array.
        unsafe { copy_long(to.as_mut_ptr().cast(), from.cast(), size_of_val(to)) };
    }

    /// Copies `from` to own elements from `index` on.
    ///
    /// # Panics
    /// If the elements are out of range.
    #[track_caller]
    pub fn write(&self, index: usize, from: &[T]) {
        let to = self.place.at(index, from.len());
        if size_of_val(from) <= FEW {
            let elements = from.iter().enumerate();
            elements.for_each(|(i, element)| self.store(index + i, *element));
            return;
        }
        // SAFETY: both ranges hold the bytes; they are apart, as nothing gives a reference to a
        // shared array.
        unsafe { copy_long(to.cast(), from.as_ptr().cast(), size_of_val(from)) };
    }

    /// Returns the own elements, copied.
    pub fn to_vec(&self) -> Vec<T> {
        let mut copy = vec![T::zeroed(); self.len()];
        self.read(0, &mut copy);
        copy
    }
}
