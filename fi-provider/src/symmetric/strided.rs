//! Writes and reads of blocks at regular distances (strided transfers).
//!
//! A peer whose memory is mapped here is reached element by element, or block by block where a block
//! has several. All others are a matter of `far`.

#![expect(
    unsafe_code,
    reason = "blocks are copied from and to raw pointers, and given to the device by their address"
)]

use crate::symmetric::address_vector::PeerIndex;
use crate::symmetric::caller::{Access, Caller, Refused};
use crate::symmetric::endpoint::Endpoint;
use fi_shm::{copy, order};

/// The shape of a strided transfer; all numbers are of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// From the beginning of a block in the destination to that of the next.
    pub dest_stride: usize,
    /// The same in the source.
    pub source_stride: usize,
    /// Elements of a block.
    pub len: usize,
    /// Blocks.
    pub count: usize,
}

impl Blocks {
    /// Whether there is nothing to transfer.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0 || self.count == 0
    }

    /// Elements from the first one to the last one where blocks are `stride` apart; saturates.
    #[inline]
    pub fn span(&self, stride: usize) -> usize {
        if self.is_empty() {
            return 0;
        }
        (self.count - 1)
            .saturating_mul(stride)
            .saturating_add(self.len)
    }

    /// The same as one block, where the blocks follow each other without gaps on both sides.
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

    /// Where the blocks begin: the offsets in the destination and in the source.
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
    unsafe fn copy<T: Copy>(&self, dest: *mut T, source: *const T) {
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

/// Writes blocks; the source may be changed when the call returns. No elements are no error,
/// whatever the addresses.
///
/// # Safety
/// As [`Caller::endpoint`]. `source` holds the blocks and is aligned for `T`, as `dest` is; they do
/// not overlap the target unless they are the target.
#[inline(never)]
pub unsafe fn write<C: Caller, T: Copy>(
    caller: &C,
    routine: C::Routine,
    dest: *mut T,
    source: *const T,
    blocks: &Blocks,
    peer: PeerIndex,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `source` holds the blocks, both are aligned for
    // `T`, and they do not overlap the target unless they are the target.
    let written = unsafe {
        let endpoint = caller.endpoint();
        if endpoint.write_mapped_blocks(dest, source, blocks, peer) {
            return C::done(());
        }
        endpoint.write_blocks_far(dest.addr(), source.cast(), &in_bytes::<T>(blocks), peer)
    };
    match written {
        Ok(()) => C::done(()),
        Err(error) => {
            let bytes = blocks
                .span(blocks.dest_stride)
                .saturating_mul(size_of::<T>());
            let (access, addr) = (Access::Write, dest.addr());
            caller.refused(
                routine,
                Refused {
                    error,
                    access,
                    addr,
                    bytes,
                    peer,
                },
            )
        }
    }
}

/// Reads blocks; they are in `dest` when the call returns. No elements are no error, whatever the
/// addresses.
///
/// # Safety
/// As [`Caller::endpoint`]. `dest` has room for the blocks and is aligned for `T`, as `source` is;
/// they do not overlap the source unless they are the source.
#[inline(never)]
pub unsafe fn read<C: Caller, T: Copy>(
    caller: &C,
    routine: C::Routine,
    dest: *mut T,
    source: *const T,
    blocks: &Blocks,
    peer: PeerIndex,
) -> C::Outcome<()> {
    // SAFETY: this thread may use the endpoint; `dest` has room for the blocks, both are aligned
    // for `T`, and they do not overlap the source unless they are the source.
    let read = unsafe {
        let endpoint = caller.endpoint();
        if endpoint.read_mapped_blocks(dest, source, blocks, peer) {
            return C::done(());
        }
        endpoint.read_blocks_far(dest.cast(), source.addr(), &in_bytes::<T>(blocks), peer)
    };
    match read {
        Ok(()) => C::done(()),
        Err(error) => {
            let bytes = blocks
                .span(blocks.source_stride)
                .saturating_mul(size_of::<T>());
            let (access, addr) = (Access::Read, source.addr());
            caller.refused(
                routine,
                Refused {
                    error,
                    access,
                    addr,
                    bytes,
                    peer,
                },
            )
        }
    }
}

impl Endpoint {
    /// Writes blocks, if `peer` is near.
    ///
    /// # Safety
    /// `source` holds the blocks and is aligned for `T`, as `dest` is; they do not overlap the
    /// target unless they are the target.
    #[inline]
    unsafe fn write_mapped_blocks<T: Copy>(
        &self,
        dest: *mut T,
        source: *const T,
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> bool {
        let span = blocks.span(blocks.dest_stride);
        let Some(there) = self.range(dest.addr(), span, size_of::<T>(), peer) else {
            return false;
        };
        // SAFETY: `source` holds the blocks and both are aligned for `T`; the target range lies in
        // the peer's mapped window.
        unsafe { blocks.copy(there as *mut T, source) };
        true
    }

    /// Reads blocks, if `peer` is near; they are in `dest` when the call returns.
    ///
    /// # Safety
    /// `dest` has room for the blocks and is aligned for `T`, as `source` is; they do not overlap
    /// the source unless they are the source.
    #[inline]
    unsafe fn read_mapped_blocks<T: Copy>(
        &self,
        dest: *mut T,
        source: *const T,
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> bool {
        let span = blocks.span(blocks.source_stride);
        let Some(there) = self.range(source.addr(), span, size_of::<T>(), peer) else {
            return false;
        };
        // SAFETY: `dest` has room for the blocks and both are aligned for `T`; the source range
        // lies in the peer's mapped window.
        unsafe { blocks.copy(dest, there as *const T) };
        order::loads();
        true
    }
}

/// The same blocks, with numbers of bytes.
fn in_bytes<T>(blocks: &Blocks) -> Blocks {
    Blocks {
        dest_stride: blocks.dest_stride.saturating_mul(size_of::<T>()),
        source_stride: blocks.source_stride.saturating_mul(size_of::<T>()),
        len: blocks.len.saturating_mul(size_of::<T>()),
        count: blocks.count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
