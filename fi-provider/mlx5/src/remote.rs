//! How a peer's memory is reached: what a peer record keeps for the device.

#![expect(
    unsafe_code,
    reason = "comments of the assembler's, to hold the compiler"
)]

use crate::unit::{Unit, lows, unit};
use fi_mlx5_defs::endian::{Be32, Be64};
use fi_mlx5_defs::wqe::CompactAddress;
use std::mem::size_of;

/// The same unit, in a vector register already: so the ends of two paths are not made one, in which it would get there.
macro_rules! in_vector {
    ($name:literal, $unit:expr) => {{
        #[cfg(target_arch = "x86_64")]
        {
            let mut unit = $unit;
            // SAFETY: a comment of the assembler's.
            unsafe {
                core::arch::asm!(concat!("/* ", $name, " {} */"), inout(xmm_reg) unit, options(nomem, nostack, preserves_flags));
            }
            unit
        }
        #[cfg(not(target_arch = "x86_64"))]
        $unit
    }};
}

/// A peer as the device reaches it; plain data for a table that many lanes, and all processes of a node, read.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Remote {
    /// Where the peer has the lower and the upper of its window's two parts.
    pub bases: [u64; 2],
    /// The keys of the two parts, as they lie in an entry.
    pub keys: [Be32; 2],
    /// The [`CompactAddress`] of the peer's DC target, as it lies in an entry.
    pub vector: [u64; 2],
}

const _: () = assert!(size_of::<Remote>() == 40);

impl Remote {
    /// No peer: all zero bytes.
    pub const fn nowhere() -> Self {
        Self {
            bases: [0; 2],
            keys: [Be32::new(0); 2],
            vector: [0; 2],
        }
    }

    /// A peer whose parts lie at `bases`, under `keys`, with DC target `number` at `lid`, which is entered with `key`.
    pub fn new(bases: [u64; 2], keys: [u32; 2], key: u64, number: u32, lid: u16) -> Self {
        Self {
            bases,
            keys: keys.map(Be32::new),
            vector: bytemuck::cast(CompactAddress::dc(key, number, lid)),
        }
    }

    /// The key by which the peer's DC target is entered.
    pub fn target_key(&self) -> u64 {
        let address: CompactAddress = bytemuck::cast(self.vector);
        address.key.get()
    }

    /// The address and the key of what is `offset` bytes behind the base of the own window, whose upper part begins `split`
    /// bytes behind it: between processes the distance of the parts differs.
    pub fn place(&self, offset: usize, split: usize) -> (u64, Be32) {
        let part = usize::from(offset >= split);
        let inside = if part == 0 { offset } else { offset - split };
        (
            self.bases[part].wrapping_add(inside as u64),
            self.keys[part],
        )
    }

    /// The same as an entry has it, by the shortest path: the compiler would have both parts go through a table.
    #[inline(always)]
    pub fn segment(&self, offset: usize, split: &usize) -> Segment {
        self.segment_if(offset < *split, offset, split)
    }

    /// The same where it is known whether it is in the lower part.
    #[inline(always)]
    pub fn segment_if(&self, is_lower: bool, offset: usize, split: &usize) -> Segment {
        let [lower, upper] = self.bases;
        let [first, second] = self.keys;
        let (address, key) = if is_lower {
            let address = lower.wrapping_add(offset as u64);
            (address, in_vector!("lower", unit(first.raw().into(), 0)))
        } else {
            less_likely();
            // SAFETY: it is a reference. Volatile: read again, the comparison needs no register for it.
            let inside = offset.wrapping_sub(unsafe { std::ptr::read_volatile(split) });
            let address = upper.wrapping_add(inside as u64);
            (address, in_vector!("upper", unit(second.raw().into(), 0)))
        };
        Segment(lows(unit(Be64::new(address).raw(), 0), key))
    }

    /// The same peer for a process whose window has the two parts the other way round.
    #[must_use]
    pub fn swapped(&self) -> Self {
        let ([lower, upper], [first, second]) = (self.bases, self.keys);
        Self {
            bases: [upper, lower],
            keys: [second, first],
            ..*self
        }
    }
}

/// A remote address segment.
#[derive(Clone, Copy)]
pub struct Segment(pub(crate) Unit);

impl Segment {
    /// Of this address, under this key.
    #[inline(always)]
    pub fn new(address: u64, key: Be32) -> Self {
        Self(unit(Be64::new(address).raw(), key.raw().into()))
    }
}

/// Has the compiler put the path that calls it behind the other.
#[cold]
fn less_likely() {}
