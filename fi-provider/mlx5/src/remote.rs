//! A peer and its memory as work-queue entries name them.

#![expect(
    unsafe_code,
    reason = "comments of the assembler's, to hold the compiler"
)]

use crate::unit::{Unit, before, lows, unit};
use fi_mlx5_defs::endian::{Be32, Be64};
use fi_mlx5_defs::wqe::CompactAddress;

/// Gives the same unit, in a vector register already: so the ends of two paths are not made one, in
/// which it would get there.
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

/// An address vector: the [`CompactAddress`] of a peer's DC target, as it lies in an entry. A
/// connected queue needs none.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Vector(pub(crate) [u64; 2]);

impl Vector {
    /// Returns the vector of no peer: all zero bytes.
    pub const fn nowhere() -> Self {
        Self([0; 2])
    }

    /// Returns the vector of DC target `number` at `lid`, which is entered with `key`.
    pub fn new(key: u64, number: u32, lid: u16) -> Self {
        Self(bytemuck::cast(CompactAddress::dc(key, number, lid)))
    }

    /// Makes a vector of any words, for a table of another transport's records.
    pub const fn of_words(words: [u64; 2]) -> Self {
        Self(words)
    }

    /// Returns its words, as they lie in an entry.
    pub fn words(&self) -> [u64; 2] {
        self.0
    }

    /// Returns the key by which the DC target is entered.
    pub fn key(&self) -> u64 {
        let address: CompactAddress = bytemuck::cast(self.0);
        address.key.get()
    }
}

/// A remote key on its way into a segment. Keys of different functions keep the paths apart on which
/// they are made.
#[derive(Clone, Copy)]
pub struct Key(Unit);

impl Key {
    /// Makes a key of one path.
    #[inline(always)]
    pub fn of_one(key: Be32) -> Self {
        Self(in_vector!("one", unit(key.raw().into(), 0)))
    }

    /// Makes a key of the other path.
    #[inline(always)]
    pub fn of_other(key: Be32) -> Self {
        Self(in_vector!("other", unit(key.raw().into(), 0)))
    }
}

/// A remote key that many segments have, as the second word of one, in memory.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct RemoteKey(u64);

impl RemoteKey {
    /// Returns this key as a word.
    #[must_use]
    pub const fn new(key: u32) -> Self {
        Self(Be32::new(key).raw() as u64)
    }
}

/// A remote address segment.
#[derive(Clone, Copy)]
pub struct Segment(pub(crate) Unit);

impl Segment {
    /// Makes the segment of this address, under this key.
    #[inline(always)]
    pub fn new(address: u64, key: Be32) -> Self {
        Self(unit(Be64::new(address).raw(), key.raw().into()))
    }

    /// Makes the segment of this address, under a key that is read from memory into its place.
    #[inline(always)]
    pub fn to(address: u64, key: &RemoteKey) -> Self {
        Self(before(Be64::new(address).raw(), &key.0))
    }

    /// Makes the segment of this address, under a key that one of several paths has made.
    #[inline(always)]
    pub fn under(address: u64, key: Key) -> Self {
        Self(lows(unit(Be64::new(address).raw(), 0), key.0))
    }
}
