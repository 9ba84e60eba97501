//! The shape of a strided transfer.

#![expect(unsafe_code, reason = "blocks are copied from and to raw pointers")]

use fi_shm::copy;

/// The shape of a strided transfer; all numbers are of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// From the beginning of a block in the destination to that of the next.
    pub dest_stride: usize,
    /// From the beginning of a block in the source to that of the next.
    pub source_stride: usize,
    /// Elements of a block.
    pub len: usize,
    /// Blocks.
    pub count: usize,
}

impl Blocks {
    /// Returns whether there is nothing to transfer.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0 || self.count == 0
    }

    /// Returns the number of elements from the first one to the last one where blocks are `stride`
    /// apart; saturates.
    #[inline]
    pub fn span(&self, stride: usize) -> usize {
        if self.is_empty() {
            return 0;
        }
        (self.count - 1)
            .saturating_mul(stride)
            .saturating_add(self.len)
    }

    /// Returns the same elements as one block, where the blocks follow each other without gaps on
    /// both sides.
    #[inline]
    #[must_use]
    pub fn joined(self) -> Self {
        let has_gaps = self.dest_stride != self.len || self.source_stride != self.len;
        match self.len.checked_mul(self.count) {
            Some(len) if !has_gaps => Self {
                len,
                count: 1,
                ..self
            },
            _ => self,
        }
    }

    /// Returns the begins of the blocks: the offsets in the destination and in the source.
    #[inline]
    pub(crate) fn offsets(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let Self {
            dest_stride,
            source_stride,
            ..
        } = *self;
        (0..self.count).map(move |block: usize| {
            (
                block.wrapping_mul(dest_stride),
                block.wrapping_mul(source_stride),
            )
        })
    }

    /// Copies the blocks.
    ///
    /// # Safety
    /// Both ranges hold the blocks and are aligned for `T`.
    #[inline]
    pub(super) unsafe fn copy<T: Copy>(&self, dest: *mut T, source: *const T) {
        // Empty blocks may be more than can be counted, and their places lie anywhere.
        if self.is_empty() {
            return;
        }
        for (to, from) in self.offsets() {
            // SAFETY: both blocks lie in the ranges. A volatile access keeps an element of a register whole.
            unsafe {
                let (to, from) = (dest.add(to), source.add(from));
                if self.len == 1 {
                    to.write_volatile(from.read_volatile());
                } else {
                    copy::copy(to.cast(), from.cast(), self.len * size_of::<T>());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "copies")]
    fn empty_blocks_are_copied_at_once_whatever_their_number() {
        let blocks = Blocks {
            dest_stride: usize::MAX / 2,
            source_stride: 1,
            len: 0,
            count: usize::MAX,
        };
        let (mut dest, source) = (1_u8, 2_u8);
        // SAFETY: there is no element.
        unsafe { blocks.copy(&raw mut dest, &raw const source) };
        assert_eq!(dest, 1);
    }

    #[test]
    fn a_span_ends_with_the_last_element_and_saturates() {
        let blocks = |len, count| Blocks {
            dest_stride: 5,
            source_stride: usize::MAX,
            len,
            count,
        };
        assert_eq!(blocks(3, 4).span(5), 18);
        assert_eq!(blocks(3, 1).span(usize::MAX), 3);
        assert_eq!(blocks(3, 2).span(usize::MAX), usize::MAX);
        assert_eq!(blocks(0, 4).span(5), 0);
        assert_eq!(blocks(3, 0).span(5), 0);
    }

    #[test]
    fn blocks_without_gaps_are_one() {
        let blocks = |dest_stride, source_stride| Blocks {
            dest_stride,
            source_stride,
            len: 3,
            count: 4,
        };
        for (strides, len) in [((3, 3), 12), ((3, 4), 3), ((4, 3), 3)] {
            let joined = blocks(strides.0, strides.1).joined();
            assert_eq!((joined.len, joined.len * joined.count), (len, 12));
        }
        let long = Blocks {
            count: usize::MAX,
            ..blocks(3, 3)
        };
        assert_eq!(long.joined(), long);
    }
}
