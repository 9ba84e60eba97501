//! Pieces of peers' memory.

use super::remote::RemoteRegion;

/// Bytes in a region of a peer.
#[derive(Clone, Copy, Debug)]
pub struct Range<'a> {
    /// The region.
    pub region: &'a RemoteRegion,
    /// Where the first byte lies.
    pub address: u64,
    /// The bytes.
    pub len: usize,
}

/// A word of several that one atomic operation is done on.
#[derive(Clone, Copy, Debug)]
pub struct Word<'a> {
    /// The region in which it lies.
    pub region: &'a RemoteRegion,
    /// Where it lies.
    pub address: u64,
    /// The operand.
    pub operand: u64,
    /// The comparand, of [`super::Atomic::CompareSwap`].
    pub comparand: u64,
    /// Where the word goes that was there; null where nobody wants it, of [`super::Endpoint::update`].
    pub found: *mut u8,
}
