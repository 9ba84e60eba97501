//! The own symmetric memory, as its owner sees it while peers write to it.

#![expect(
    unsafe_code,
    reason = "peers change this memory at any time, so that no reference to it can exist"
)]

use bytemuck::Pod;
use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicU64, Ordering};

/// One part of the own window, mapped as long as its party lives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    base: *mut u8,
    len: usize,
}

// SAFETY: the memory belongs to no thread; code that shares it with threads, as with peers, is told
// so by the meaning of an area.
unsafe impl Send for Area {}

/// The address of an object in the own symmetric memory, or one that the fabric has to refuse.
pub(crate) struct Place<T> {
    /// The address.
    pub(crate) at: *mut T,
    /// Number of elements from the address on that are in the same part.
    pub(crate) room: usize,
}

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Place<T> {}

impl<T> Debug for Place<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} with {} elements", self.at, self.room)
    }
}

impl Area {
    /// Returns the area of `len` bytes at `base`.
    ///
    /// # Safety
    /// The bytes are mapped for reading and writing, and stay so while the area is used; nothing but peers and
    /// values of this type touches them.
    pub(crate) unsafe fn new(base: usize, len: usize) -> Self {
        Self {
            base: base as *mut u8,
            len,
        }
    }

    /// Returns the first address.
    pub(crate) fn base(self) -> usize {
        self.base.addr()
    }

    /// Returns the length in bytes.
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// Returns the place of the `T` that begins `offset` bytes from the start.
    pub(crate) fn place<T>(self, offset: usize) -> Place<T> {
        assert!(
            offset <= self.len && size_of::<T>() <= self.len - offset,
            "no object at {offset}"
        );
        let at = self.base.wrapping_add(offset).cast::<T>();
        assert!(at.is_aligned(), "no object of this type at {offset}");
        Place {
            at,
            room: (self.len - offset) / size_of::<T>(),
        }
    }

    /// Reads the `T` at `offset`, in one piece if it has up to 8 bytes.
    #[inline]
    pub(crate) fn load<T: Pod>(self, offset: usize) -> T {
        let at = self.place::<T>(offset).at;
        // SAFETY: a place is aligned and inside the area, which is mapped; a Pod has no invalid bit patterns.
        unsafe { at.read_volatile() }
    }

    /// Writes the `T` at `offset`, in one piece if it has up to 8 bytes.
    #[inline]
    pub(crate) fn store<T: Pod>(self, offset: usize, value: T) {
        let at = self.place::<T>(offset).at;
        // SAFETY: a place is aligned and inside the area, which is mapped.
        unsafe { at.write_volatile(value) }
    }

    /// Reads the word at `offset`; its writer's earlier writes are then visible as well.
    #[inline]
    pub(crate) fn acquire(self, offset: usize) -> u64 {
        let at = self.place::<u64>(offset).at;
        // SAFETY: a place is aligned and inside the area, which is mapped; the area's users write it whole.
        // ORDERING: pairs with the fence, or the quiet, of the peer that writes the word behind its data.
        unsafe { AtomicU64::from_ptr(at) }.load(Ordering::Acquire)
    }

    /// Returns a copy of `len` bytes from `offset` on, for when no peer writes there.
    pub(crate) fn bytes(self, offset: usize, len: usize) -> Vec<u8> {
        assert!(
            offset <= self.len && len <= self.len - offset,
            "no {len} bytes at {offset}"
        );
        let mut copy = vec![0; len];
        // SAFETY: the range is inside the area, and the vector is as long and belongs to nobody else.
        unsafe {
            self.base
                .add(offset)
                .copy_to_nonoverlapping(copy.as_mut_ptr(), len)
        };
        copy
    }

    /// Writes `bytes` from `offset` on, for when no peer reads there.
    pub(crate) fn set_bytes(self, offset: usize, bytes: &[u8]) {
        assert!(
            offset <= self.len && bytes.len() <= self.len - offset,
            "no room at {offset}"
        );
        // SAFETY: the range is inside the area, and a slice is never in symmetric memory.
        unsafe {
            self.base
                .add(offset)
                .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
        };
    }

    /// Sets `len` bytes from `offset` on to `byte`.
    pub(crate) fn fill(self, offset: usize, len: usize, byte: u8) {
        assert!(
            offset <= self.len && len <= self.len - offset,
            "no {len} bytes at {offset}"
        );
        // SAFETY: the range is inside the area.
        unsafe { self.base.add(offset).write_bytes(byte, len) };
    }
}
