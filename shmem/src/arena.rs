//! The own heap's blocks, and their parts that are known to be zero.

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
    /// The end of the bytes that [`Arena::newly_used`] has told of.
    told: usize,
}

impl Arena {
    /// Makes an arena over `len` bytes, all zero.
    pub(crate) fn new(len: usize) -> Self {
        Self {
            heap: Heap::new(len),
            fresh: 0,
            told: 0,
        }
    }

    /// Makes an arena over the first `len` bytes of the memory of `other`, whose blocks are given
    /// up.
    pub(crate) fn again(len: usize, other: &Self) -> Self {
        Self {
            heap: Heap::new(len),
            fresh: other.fresh,
            told: other.told,
        }
    }

    /// Returns the bytes that have become part of blocks for the first time since the last call,
    /// rounded up to whole huge pages: one in which the mapping is divided could not be huge. The
    /// end may lie behind the heap's.
    pub(crate) fn newly_used(&mut self) -> Option<Range<usize>> {
        let used = self.told..self.fresh.next_multiple_of(HUGE_PAGE);
        self.told = used.end.max(self.told);
        (!used.is_empty()).then_some(used)
    }

    /// Takes a block; returns its offset and the end of the part of it that may have been written
    /// before.
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

    /// Returns the usable size of the block at `offset`.
    pub(crate) fn size_of(&self, offset: usize) -> Option<usize> {
        self.heap.size_of(offset)
    }

    /// Returns the stretch that the byte at `offset` is in, and whether it was part of a block some
    /// time.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::GRANULE;
    use proptest::prelude::*;

    /// Bytes of the arena: few, so that blocks come to lie where others were.
    const SIZE: usize = 40 * GRANULE;

    /// An action of a program on its heap.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Alloc(usize, usize),
        /// Of the block with this number, modulo those that there are.
        Resize(usize, usize),
        Free(usize),
        /// Ends the session, and begins another.
        Again,
    }

    fn step() -> impl Strategy<Value = Step> {
        let size = || 1..8 * GRANULE;
        prop_oneof![
            4 => (size(), 0..9_u32).prop_map(|(size, log)| Step::Alloc(size, 1 << log)),
            4 => (any::<usize>(), size()).prop_map(|(which, size)| Step::Resize(which, size)),
            3 => any::<usize>().prop_map(Step::Free),
            1 => Just(Step::Again),
        ]
    }

    /// An arena, and its memory as a program leaves it that writes to all it is given.
    struct Written {
        arena: Arena,
        is_written: Vec<bool>,
        /// The blocks' offsets, in the order in which they came.
        blocks: Vec<usize>,
    }

    impl Written {
        fn new() -> Self {
            Self {
                arena: Arena::new(SIZE),
                is_written: vec![false; SIZE],
                blocks: Vec::new(),
            }
        }

        /// Writes to all of a block.
        fn write(&mut self, offset: usize) {
            let size = self.arena.size_of(offset).expect("a block");
            self.is_written[offset..offset + size].fill(true);
        }

        /// Takes a block, of which the part is to be zero that the arena says so of.
        fn alloc(&mut self, size: usize, align: usize) {
            let Some((offset, used_to)) = self.arena.alloc(size, align) else {
                return;
            };
            assert!((offset..=offset + size).contains(&used_to));
            let first = self.is_written[used_to..offset + size]
                .iter()
                .position(|&it| it);
            assert_eq!(
                first, None,
                "{size} bytes at {offset}, zero from {used_to} on"
            );
            self.write(offset);
            self.blocks.push(offset);
        }

        fn take(&mut self, step: Step) {
            match step {
                Step::Alloc(size, align) => self.alloc(size, align),
                Step::Resize(which, size) if !self.blocks.is_empty() => {
                    let offset = self.blocks[which % self.blocks.len()];
                    self.arena.resize(offset, size);
                    self.write(offset);
                }
                Step::Free(which) if !self.blocks.is_empty() => {
                    let offset = self.blocks.swap_remove(which % self.blocks.len());
                    self.arena.free(offset).unwrap();
                }
                Step::Again => {
                    self.arena = Arena::again(SIZE, &self.arena);
                    self.blocks.clear();
                }
                Step::Resize(..) | Step::Free(_) => (),
            }
        }
    }

    #[test]
    fn what_a_block_has_grown_over_is_not_known_to_be_zero() {
        let mut written = Written::new();
        written.alloc(GRANULE, 1);
        written.take(Step::Resize(0, 5 * GRANULE));
        written.take(Step::Free(0));
        assert_eq!(written.arena.alloc(8 * GRANULE, 1), Some((0, 5 * GRANULE)));
    }

    #[test]
    fn what_was_never_part_of_a_block_is_known_to_be_zero() {
        let mut arena = Arena::new(SIZE);
        assert_eq!(arena.alloc(100, 1), Some((0, 0)));
        assert_eq!(
            arena.alloc(3 * GRANULE, 1),
            Some((2 * GRANULE, 2 * GRANULE))
        );
    }

    proptest! {
        #[test]
        fn nothing_that_was_written_is_known_to_be_zero(
            steps in proptest::collection::vec(step(), 1..60),
        ) {
            let mut written = Written::new();
            steps.into_iter().for_each(|step| written.take(step));
        }
    }
}
