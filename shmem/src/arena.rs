//! The own heap's blocks, and what of them is known to be zero.

#[cfg(feature = "check")]
use crate::heap::Stretch;
use crate::heap::{Heap, HeapError};
use fi_provider::node::segment::HUGE_PAGE;
use std::ops::Range;

/// The blocks of the heap, and how much of it was ever handed out.
#[derive(Debug)]
pub(crate) struct Arena {
    heap: Heap,
    /// The first byte that was never part of a block: zero from here on.
    fresh: usize,
    /// What [`Arena::newly_used`] has told of ends here.
    told: usize,
}

impl Arena {
    /// An arena over `len` bytes, all zero.
    pub(crate) fn new(len: usize) -> Self {
        Self {
            heap: Heap::new(len),
            fresh: 0,
            told: 0,
        }
    }

    /// An arena over the first `len` bytes of the memory of `other`, whose blocks are given up.
    pub(crate) fn again(len: usize, other: &Self) -> Self {
        Self {
            heap: Heap::new(len),
            fresh: other.fresh,
            told: other.told,
        }
    }

    /// What has become part of blocks for the first time since the last call, to whole huge pages: those that a division of
    /// the mapping would keep from being huge. The end may lie behind the heap's.
    pub(crate) fn newly_used(&mut self) -> Option<Range<usize>> {
        let used = self.told..self.fresh.next_multiple_of(HUGE_PAGE);
        self.told = used.end.max(self.told);
        (!used.is_empty()).then_some(used)
    }

    /// A block, as its offset and the end of the part of it that may have been written before.
    pub(crate) fn alloc(&mut self, size: usize, align: usize) -> Option<(usize, usize)> {
        let offset = self.heap.alloc(size, align)?;
        let used_to = self.fresh.clamp(offset, offset + size);
        let end = offset + self.heap.size_of(offset).unwrap_or(size);
        self.fresh = self.fresh.max(end);
        Some((offset, used_to))
    }

    /// Grows or shrinks a block where it is.
    pub(crate) fn resize(&mut self, offset: usize, size: usize) -> bool {
        let done = self.heap.realloc_in_place(offset, size);
        let end = offset + self.heap.size_of(offset).unwrap_or(0);
        self.fresh = self.fresh.max(end);
        done
    }

    /// The usable size of the block at `offset`.
    pub(crate) fn size_of(&self, offset: usize) -> Option<usize> {
        self.heap.size_of(offset)
    }

    /// The stretch that the byte at `offset` is in, and whether it was part of a block some time.
    #[cfg(feature = "check")]
    pub(crate) fn stretch_at(&self, offset: usize) -> Option<(Stretch, bool)> {
        let stretch = self.heap.stretch_at(offset)?;
        Some((stretch, offset < self.fresh))
    }

    /// Gives the block at `offset` back.
    pub(crate) fn free(&mut self, offset: usize) -> Result<usize, HeapError> {
        self.heap.free(offset)
    }
}
