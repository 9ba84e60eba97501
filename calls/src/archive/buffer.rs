//! Chunks that have arrived: where they were sent along, or in memory that was allocated for them.

#![expect(
    unsafe_code,
    reason = "memory is allocated before the type of its elements is known"
)]

use super::load::copied;
use crate::pool::Block;
use bytemuck::Pod;
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;

/// The largest alignment of elements that memory is allocated for.
const MOST_ALIGN: usize = 16;

/// A chunk that has arrived.
#[derive(Debug)]
pub(crate) enum Arrived<'a> {
    /// In the message, or in this process.
    Here(&'a [u8]),
    /// In memory of its own; none once it was taken.
    Heap(Option<Heap>, usize),
    /// In a block of the pool, of a length; none once it was taken.
    Block(Option<Arc<Block>>, usize),
}

impl<'a> Arrived<'a> {
    pub(crate) fn here(bytes: &'a [u8]) -> Self {
        Self::Here(bytes)
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Here(bytes) => bytes.len(),
            Self::Heap(_, len) | Self::Block(_, len) => *len,
        }
    }

    /// The bytes; none of memory that was taken.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Here(bytes) => bytes,
            Self::Heap(heap, _) => heap.as_ref().map_or(&[], Heap::bytes),
            Self::Block(block, len) => block.as_ref().map_or(&[], |block| &block.bytes()[..*len]),
        }
    }

    /// Takes the block that has the bytes, if one does.
    pub(crate) fn take_block(&mut self) -> Option<Arc<Block>> {
        match self {
            Self::Block(block, _) => block.take(),
            Self::Here(_) | Self::Heap(..) => None,
        }
    }

    /// `count` elements, which are as long as the chunk: its memory, if that was allocated for such
    /// elements, else a copy.
    #[inline]
    pub(crate) fn take_vec<T: Pod>(&mut self, count: usize) -> Vec<T> {
        match self {
            Self::Heap(heap, _) => match heap.take() {
                Some(heap) => heap
                    .into_vec(count)
                    .unwrap_or_else(|heap| copied(heap.bytes(), count)),
                None => Vec::new(),
            },
            _ => copied(self.bytes(), count),
        }
    }
}

/// Memory whose bytes are all written, for elements of some type.
#[derive(Debug)]
pub(crate) struct Heap {
    at: NonNull<u8>,
    layout: Layout,
}

// SAFETY: `Send` requires that another thread may free or change the memory: it is the value's alone.
unsafe impl Send for Heap {}
// SAFETY: `Sync` requires that threads may read at the same time: shared use only reads.
unsafe impl Sync for Heap {}

impl Heap {
    /// Allocates memory of `len` bytes, at least one, for elements of an alignment. None where there is
    /// none.
    ///
    /// # Safety
    /// All bytes are written before the value is used but by [`Heap::as_ptr`].
    pub(crate) unsafe fn new(len: usize, align: usize) -> Option<Self> {
        let align = if align.is_power_of_two() {
            align.min(MOST_ALIGN)
        } else {
            1
        };
        let layout = Layout::from_size_align(len, align).ok()?;
        if len == 0 {
            return None;
        }
        // SAFETY: the size is not 0.
        let at = NonNull::new(unsafe { alloc(layout) })?;
        Some(Self { at, layout })
    }

    /// The first byte.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.at.as_ptr()
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the memory has so many bytes, which are written (the requirement of `new`), and is
        // the value's.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.layout.size()) }
    }

    /// The memory as `count` elements, if it was allocated as theirs would be.
    fn into_vec<T: Pod>(self, count: usize) -> Result<Vec<T>, Self> {
        if Layout::array::<T>(count) != Ok(self.layout) {
            return Err(self);
        }
        let at = self.at.as_ptr().cast();
        std::mem::forget(self);
        // SAFETY: the global allocator gave the memory for a layout that is that of `count` elements;
        // all of its bytes are written, and any bytes are such elements. The value, which would free
        // it, is forgotten.
        Ok(unsafe { Vec::from_raw_parts(at, count, count) })
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: `new` has allocated the memory with this layout, and nobody else frees it.
        unsafe { dealloc(self.at.as_ptr(), self.layout) };
    }
}
