//! Writes and reads of blocks at regular distances (strided transfers).
//!
//! A peer whose memory is mapped here is reached element by element, or block by block where a block
//! has several. All others are a matter of `far`.

#![expect(unsafe_code, reason = "blocks are given by their address")]

use crate::symmetric::address_vector::PeerIndex;
use crate::symmetric::blocks::Blocks;
use crate::symmetric::caller::{Access, Caller, Refused};
use crate::symmetric::endpoint::Endpoint;
use fi_shm::order;

/// Writes blocks; the source may be changed when the call returns. No elements are no error, at any
/// addresses.
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

/// Reads blocks; they are in `dest` when the call returns. No elements are no error, at any
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

/// Returns the same blocks, with numbers of bytes.
fn in_bytes<T>(blocks: &Blocks) -> Blocks {
    Blocks {
        dest_stride: blocks.dest_stride.saturating_mul(size_of::<T>()),
        source_stride: blocks.source_stride.saturating_mul(size_of::<T>()),
        len: blocks.len.saturating_mul(size_of::<T>()),
        count: blocks.count,
    }
}
