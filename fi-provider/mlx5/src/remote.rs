//! How a peer's memory is reached: what a peer record keeps for the device.

use crate::endian::{Be16, Be32};
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
    /// The second half of a [`CompactAddress`] of the peer's DC target, as it lies in an entry.
    pub target: u64,
}

const _: () = assert!(size_of::<Remote>() == 32);

impl Remote {
    /// No peer.
    pub const fn nowhere() -> Self {
        Self {
            deltas: [0; 2],
            keys: [Be32::new(0); 2],
            target: 0,
        }
    }

    /// A peer whose parts lie `deltas` above the own, under `keys`, with DC target `number` at `lid`.
    pub fn new(deltas: [u64; 2], keys: [u32; 2], number: u32, lid: u16) -> Self {
        let address = CompactAddress::dc(0, number, lid);
        let mut target = [0; 8];
        target.copy_from_slice(&bytemuck::bytes_of(&address)[8..]);
        Self {
            deltas,
            keys: keys.map(Be32::new),
            target: u64::from_ne_bytes(target),
        }
    }

    /// The LID of the DC target.
    pub fn lid(&self) -> u16 {
        let bytes = self.target.to_ne_bytes();
        Be16::from_raw(u16::from_ne_bytes([bytes[6], bytes[7]])).get()
    }
}
