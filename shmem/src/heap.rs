//! The bookkeeping of the symmetric heap: which offsets are in use, and which are free.
//!
//! A [`Heap`] knows nothing of addresses. It hands out byte offsets into a region of a given size, so the same sequence
//! of calls gives the same offsets on every PE, wherever each PE has mapped the region. Nothing in it depends on
//! hashing, on addresses or on time.
//!
//! All of its records lie in private memory, outside the region: a peer's stray put can spoil a program's data, not the
//! allocator, and neither allocating nor freeing touches a page of the heap.
//!
//! # Policy
//!
//! - Sizes and offsets are multiples of [`GRANULE`], a cache line. Two blocks never share a line, so that the flag or the
//!   counter that peers hammer does not slow down its neighbour, at the price of 64 bytes for the smallest block.
//! - Best fit: of the free blocks that are large enough, the smallest, and of equal ones that with the lowest offset.
//!   This keeps large blocks whole and comes back to memory that has been touched before.
//! - Free neighbours are merged at once: no two free blocks are adjacent.
//!
//! Every operation takes time logarithmic in the number of blocks, with one exception: an aligned request that is about
//! to fail looks at each free block that could hold it only by luck of its offset.

use std::collections::{BTreeMap, BTreeSet};

/// The unit of sizes and offsets, in bytes: one cache line.
pub const GRANULE: usize = 64;

/// Reason for which an offset cannot be given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeapError {
    /// The offset lies behind the end of the heap.
    #[error("offset {offset:#x} lies outside the heap of {size:#x} bytes")]
    OutOfRange {
        /// The offset that was passed, in bytes.
        offset: usize,
        /// The size of the heap, in bytes.
        size: usize,
    },
    /// The offset lies in memory that is free: freed before, or never allocated.
    #[error("offset {offset:#x} lies in free memory: freed twice, or never allocated")]
    Free {
        /// The offset that was passed, in bytes.
        offset: usize,
    },
    /// The offset lies inside a block in use, but not at its start.
    #[error("offset {offset:#x} lies inside the block that starts at {start:#x}")]
    Inside {
        /// The offset that was passed, in bytes.
        offset: usize,
        /// Start of the block that holds it, in bytes.
        start: usize,
    },
}

/// One block: its size in bytes, and whether it is free. Its offset is its key in the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    size: usize,
    free: bool,
}

/// A part of the region: a block in use, or free memory between two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Its beginning, in bytes.
    pub start: usize,
    /// Its size in bytes.
    pub size: usize,
    /// Whether it is free.
    pub free: bool,
}

/// An allocator of offsets into a region of fixed size (OpenSHMEM 1.6, section 9.3, Memory Management Routines).
#[derive(Debug)]
pub struct Heap {
    size: usize,
    in_use: usize,
    /// Every block by its offset. The blocks cover the region without a gap.
    blocks: BTreeMap<usize, Block>,
    /// The free blocks as (size, offset): the first that is not less than (n, 0) is the best fit for n bytes.
    free: BTreeSet<(usize, usize)>,
}

impl Heap {
    /// Makes a heap over `size` bytes, all of them free. A remainder of less than [`GRANULE`] bytes
    /// stays unused.
    #[must_use]
    pub fn new(size: usize) -> Self {
        let size = size - size % GRANULE;
        let mut heap = Self {
            size,
            in_use: 0,
            blocks: BTreeMap::new(),
            free: BTreeSet::new(),
        };
        if size > 0 {
            heap.insert_free(0, size);
        }
        heap
    }

    /// Takes a block of at least `size` bytes whose offset is a multiple of `align`, a power of two, and of [`GRANULE`].
    ///
    /// `None` if `size` is 0, if `align` is not a power of two, or if no free block can hold the request.
    /// The offset is aligned, not the address: that takes a region whose start is aligned as well.
    #[must_use]
    pub fn alloc(&mut self, size: usize, align: usize) -> Option<usize> {
        let size = round_up(size)?;
        if size == 0 || !align.is_power_of_two() {
            return None;
        }
        let align = align.max(GRANULE);
        let (block_size, block) = self.find(size, align)?;
        let offset = block.next_multiple_of(align);

        self.free.remove(&(block_size, block));
        if offset > block {
            self.insert_free(block, offset - block);
        }
        let rest = block + block_size - (offset + size);
        if rest > 0 {
            self.insert_free(offset + size, rest);
        }
        self.blocks.insert(offset, Block { size, free: false });
        self.in_use += size;
        Some(offset)
    }

    /// Gives back the block at `offset` and returns the usable size that it had, in bytes.
    ///
    /// # Errors
    ///
    /// [`HeapError`] if no block in use starts at `offset`. Nothing changes then.
    pub fn free(&mut self, offset: usize) -> Result<usize, HeapError> {
        let Some(size) = self.size_of(offset) else {
            return Err(self.explain(offset));
        };
        self.in_use -= size;
        self.blocks.remove(&offset);
        self.release(offset, size);
        Ok(size)
    }

    /// Returns the usable size in bytes of the block in use that starts at `offset`: the requested
    /// size, rounded up.
    #[must_use]
    pub fn size_of(&self, offset: usize) -> Option<usize> {
        self.blocks
            .get(&offset)
            .filter(|block| !block.free)
            .map(|block| block.size)
    }

    /// Returns the stretch that the byte at `offset` is in; `None` behind the end of the heap.
    #[must_use]
    pub fn stretch_at(&self, offset: usize) -> Option<Stretch> {
        if offset >= self.size {
            return None;
        }
        let (&start, &Block { size, free }) = self.blocks.range(..=offset).next_back()?;
        Some(Stretch { start, size, free })
    }

    /// Makes the block at `offset` hold `new_size` bytes without moving it, and says whether that was possible.
    ///
    /// Growing takes the missing bytes from the free block behind it; shrinking gives back the
    /// tail. Nothing changes when the answer is `false`: no block in use starts at `offset`,
    /// `new_size` is 0, or the neighbour has not enough.
    #[must_use]
    pub fn realloc_in_place(&mut self, offset: usize, new_size: usize) -> bool {
        let (Some(old), Some(new)) = (self.size_of(offset), round_up(new_size)) else {
            return false;
        };
        if new == 0 {
            return false;
        }
        if new > old {
            let end = offset + old;
            let Some(behind) = self.free_block_at(end) else {
                return false;
            };
            if behind < new - old {
                return false;
            }
            self.remove_free(end, behind);
            if behind > new - old {
                self.insert_free(offset + new, behind - (new - old));
            }
        } else if new < old {
            self.release(offset + new, old - new);
        }
        self.blocks.insert(
            offset,
            Block {
                size: new,
                free: false,
            },
        );
        self.in_use = self.in_use - old + new;
        true
    }

    /// Returns the bytes in use, each block counted with its usable size.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.in_use
    }

    /// Returns the size in bytes of the largest free block: the largest request that can succeed,
    /// of alignment up to [`GRANULE`].
    #[must_use]
    pub fn largest_free(&self) -> usize {
        self.free.last().map_or(0, |&(size, _)| size)
    }

    /// Returns the bytes that this heap manages: the size that [`Heap::new`] was given, rounded
    /// down to a multiple of [`GRANULE`].
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Walks over all blocks and checks the invariants: for tests, linear in the number of blocks.
    ///
    /// # Errors
    ///
    /// A sentence that says which rule is broken.
    pub fn check(&self) -> Result<(), String> {
        let mut end = 0;
        let mut in_use = 0;
        let mut free = BTreeSet::new();
        let mut before_is_free = false;
        for (&offset, block) in &self.blocks {
            if offset != end {
                return Err(format!(
                    "the block at {offset:#x} follows one that ends at {end:#x}"
                ));
            }
            if block.size == 0 || block.size % GRANULE != 0 {
                return Err(format!("the block at {offset:#x} has {} bytes", block.size));
            }
            if block.free {
                if before_is_free {
                    return Err(format!(
                        "the free block at {offset:#x} follows a free block"
                    ));
                }
                free.insert((block.size, offset));
            } else {
                in_use += block.size;
            }
            before_is_free = block.free;
            end += block.size;
        }
        if end != self.size {
            return Err(format!("the blocks end at {end:#x} of {:#x}", self.size));
        }
        if in_use != self.in_use {
            return Err(format!("{in_use} bytes are in use, not {}", self.in_use));
        }
        if free != self.free {
            return Err("the index of free blocks differs from the free blocks".to_owned());
        }
        Ok(())
    }

    /// Returns the free block, as (size, offset), that holds `size` bytes at a multiple of `align`;
    /// both are multiples of [`GRANULE`].
    fn find(&self, size: usize, align: usize) -> Option<(usize, usize)> {
        let fits = |&(block_size, offset): &(usize, usize)| {
            offset
                .checked_next_multiple_of(align)
                .is_some_and(|aligned| block_size - size >= aligned - offset)
        };
        let best = self.free.range((size, 0)..).next().copied()?;
        if fits(&best) {
            return Some(best);
        }
        // From this size on every block fits, whatever its offset. Below it, some may.
        let sure = size.saturating_add(align - GRANULE);
        self.free
            .range((sure, 0)..)
            .next()
            .or_else(|| {
                self.free
                    .range((size, 0)..(sure, 0))
                    .find(|block| fits(block))
            })
            .copied()
    }

    /// Turns `size` bytes at `offset`, which no record covers any more, into a free block, merged with its neighbours.
    fn release(&mut self, mut offset: usize, mut size: usize) {
        if let Some(behind) = self.free_block_at(offset + size) {
            self.remove_free(offset + size, behind);
            size += behind;
        }
        let before = self.blocks.range(..offset).next_back();
        if let Some((
            &start,
            &Block {
                size: length,
                free: true,
            },
        )) = before
        {
            self.remove_free(start, length);
            offset = start;
            size += length;
        }
        self.insert_free(offset, size);
    }

    fn free_block_at(&self, offset: usize) -> Option<usize> {
        self.blocks
            .get(&offset)
            .filter(|block| block.free)
            .map(|block| block.size)
    }

    fn insert_free(&mut self, offset: usize, size: usize) {
        self.blocks.insert(offset, Block { size, free: true });
        self.free.insert((size, offset));
    }

    fn remove_free(&mut self, offset: usize, size: usize) {
        self.blocks.remove(&offset);
        self.free.remove(&(size, offset));
    }

    /// Returns the reason for which no block in use starts at `offset`.
    #[cold]
    fn explain(&self, offset: usize) -> HeapError {
        match self.stretch_at(offset) {
            Some(Stretch { free: true, .. }) => HeapError::Free { offset },
            Some(Stretch { start, .. }) => HeapError::Inside { offset, start },
            None => HeapError::OutOfRange {
                offset,
                size: self.size,
            },
        }
    }
}

/// Returns `size` rounded up to a multiple of [`GRANULE`], if there is one.
fn round_up(size: usize) -> Option<usize> {
    size.checked_next_multiple_of(GRANULE)
}
