//! How a peer's memory is reached: what a peer record keeps for the device.

use crate::endian::Be32;
use crate::wqe::CompactAddress;
use std::mem::size_of;

/// A peer as the device reaches it; plain data for a table that many lanes read.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Remote {
    /// What to add (modulo 2^64) to an own symmetric address to get the peer's, in the lower and in the upper of the own
    /// window's two parts: between processes the distance of the parts differs.
    pub deltas: [u64; 2],
    /// The keys of the two parts, as they lie in an entry.
    pub keys: [Be32; 2],
    /// The [`CompactAddress`] of the peer's DC target, as it lies in an entry.
    pub vector: [u64; 2],
}

const _: () = assert!(size_of::<Remote>() == 40);

impl Remote {
    /// No peer.
    pub const fn nowhere() -> Self {
        Self {
            deltas: [0; 2],
            keys: [Be32::new(0); 2],
            vector: [0; 2],
        }
    }

    /// A peer whose parts lie `deltas` above the own, under `keys`, with DC target `number` at `lid`, which is entered with `key`.
    pub fn new(deltas: [u64; 2], keys: [u32; 2], key: u64, number: u32, lid: u16) -> Self {
        Self {
            deltas,
            keys: keys.map(Be32::new),
            vector: bytemuck::cast(CompactAddress::dc(key, number, lid)),
        }
    }
}
