//! Arrays in symmetric memory.

#![expect(
    unsafe_code,
    reason = "elements are read and written that peers write meanwhile"
)]

use super::World;
use bytemuck::Pod;
use fi_provider::node::copy::copy;
use std::marker::PhantomData;

/// An array of `T` that every PE has, at equal places of its symmetric heap.
///
/// The methods are about the own array. They copy: there is no reference to memory that peers may write.
/// Single elements of 1, 2, 4 or 8 bytes are read and written whole.
#[derive(Debug)]
pub struct Symmetric<'w, T> {
    base: *mut T,
    len: usize,
    world: PhantomData<&'w World>,
}

// SAFETY: the array is memory of the process, not of a thread, and nothing of the `World` is reached through
// it. (It is not `Sync`: peers are other processes, but two threads of this one would race.)
unsafe impl<T: Send> Send for Symmetric<'_, T> {}

impl<T: Pod> Symmetric<'_, T> {
    pub(super) fn new(base: *mut T, len: usize) -> Self {
        // Blocks are aligned to 64 bytes.
        const { assert!(align_of::<T>() <= 64) };
        Self {
            base,
            len,
            world: PhantomData,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The own array, for C or for unsafe code: peers may write it at any time.
    pub fn as_ptr(&self) -> *mut T {
        self.base
    }

    /// Where element `index` of a transfer of `count` elements begins.
    #[track_caller]
    pub(super) fn place(&self, index: usize, count: usize) -> *mut T {
        assert!(
            index <= self.len && count <= self.len - index,
            "elements {index} to {index} + {count} of a symmetric array of {}",
            self.len
        );
        self.base.wrapping_add(index)
    }

    /// The own element `index`.
    #[track_caller]
    pub fn load(&self, index: usize) -> T {
        // SAFETY: the place is checked; any bit pattern is a value; volatile because peers write it.
        unsafe { self.place(index, 1).read_volatile() }
    }

    /// Writes the own element `index`.
    #[track_caller]
    pub fn store(&self, index: usize, value: T) {
        // SAFETY: the place is checked; volatile because peers read it.
        unsafe { self.place(index, 1).write_volatile(value) };
    }

    /// Copies own elements from `index` on to `to`.
    #[track_caller]
    pub fn read(&self, index: usize, to: &mut [T]) {
        let from = self.place(index, to.len());
        // SAFETY: both ranges hold the bytes; `to` is not symmetric memory that this array shares.
        unsafe { copy(to.as_mut_ptr().cast(), from.cast(), size_of_val(to)) };
    }

    /// Copies `from` to own elements from `index` on.
    #[track_caller]
    pub fn write(&self, index: usize, from: &[T]) {
        let to = self.place(index, from.len());
        // SAFETY: both ranges hold the bytes; `from` is not symmetric memory that this array shares.
        unsafe { copy(to.cast(), from.as_ptr().cast(), size_of_val(from)) };
    }

    /// The own elements, copied.
    pub fn to_vec(&self) -> Vec<T> {
        let mut copy = vec![T::zeroed(); self.len];
        self.read(0, &mut copy);
        copy
    }
}
