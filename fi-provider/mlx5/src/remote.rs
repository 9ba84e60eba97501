//! How a peer's memory is reached: what a peer record keeps for the device.

use crate::endian::{Be16, Be32};
use crate::wqe::CompactAddress;
use std::mem::size_of;

/// A peer as the device reaches it; plain data for a table that many lanes read.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Remote {
    /// What to add (modulo 2^64) to an own symmetric address to get the peer's.
    pub delta: u64,
    /// The keys of the window's two parts, as they lie in an entry: below the split, and from it on.
    pub keys: [Be32; 2],
    /// The second half of a [`CompactAddress`] of the peer's DC target, as it lies in an entry.
    pub target: u64,
}

const _: () = assert!(size_of::<Remote>() == 24);

impl Remote {
    /// No peer.
    pub const fn nowhere() -> Self {
        Self {
            delta: 0,
            keys: [Be32::new(0); 2],
            target: 0,
        }
    }

    /// A peer whose window lies `delta` above the own, under `keys`, with DC target `number` at `lid`.
    pub fn new(delta: u64, keys: [u32; 2], number: u32, lid: u16) -> Self {
        let address = CompactAddress::dc(0, number, lid);
        let mut target = [0; 8];
        target.copy_from_slice(&bytemuck::bytes_of(&address)[8..]);
        Self {
            delta,
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
