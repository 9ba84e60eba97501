//! Pieces of peers' memory.

use super::remote::RemoteRegion;

/// Bytes in a region of a peer.
#[derive(Clone, Copy, Debug)]
pub struct Range<'a> {
    /// The region.
    pub region: &'a RemoteRegion,
    /// Address of the first byte.
    pub address: u64,
    /// The bytes.
    pub len: usize,
}

/// A word of several that one atomic operation is done on.
#[derive(Clone, Copy, Debug)]
pub struct Word<'a> {
    /// The region in which it lies.
    pub region: &'a RemoteRegion,
    /// Address of the word.
    pub address: u64,
    /// The operand.
    pub operand: u64,
    /// The comparand, of [`super::Atomic::CompareSwap`].
    pub comparand: u64,
    /// Address for the word that was there; null where nobody wants it, of
    /// [`super::Endpoint::update`].
    pub found: *mut u8,
}
