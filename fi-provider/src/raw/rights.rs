//! Rights of a region, and how its bytes are named.

/// The accesses that a region allows to peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights(pub(super) u8);

impl Rights {
    /// Peers may read.
    pub const READ: Self = Self(1);
    /// Peers may write.
    pub const WRITE: Self = Self(2);
    /// Peers may read, write, and do atomic operations.
    pub const ALL: Self = Self(7);
    /// With other rights: the accesses of peers are counted ([`Region::accesses`](super::region::Region::accesses)). They cost peers
    /// a call, and over a device an atomic operation each.
    pub const COUNTED: Self = Self(8);
    /// Peers may do atomic operations: alone for those whose peers want no result of them.
    pub const ATOMIC: Self = Self(4);

    /// Sets of the rights to read, write, and do atomic operations.
    pub(crate) const SETS: usize = 8;

    /// Returns the number of these rights among such sets.
    #[inline(always)]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize % Self::SETS
    }

    /// Returns whether these include all of the other ones.
    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns these rights if they are wanted, and none otherwise; without a branch.
    #[inline(always)]
    pub(crate) const fn if_so(self, is_wanted: bool) -> Self {
        Self(self.0 * is_wanted as u8)
    }

    /// Returns both together.
    #[must_use]
    #[inline]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Ways in which peers name a byte of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// By its distance from the region's first byte.
    Offset,
    /// By its address in the owner's process (FI_MR_VIRT_ADDR).
    Virtual,
}

impl Addressing {
    /// Returns the address that peers give for the first byte, which lies at `address`.
    pub(crate) fn start(self, address: usize) -> u64 {
        match self {
            Self::Offset => 0,
            Self::Virtual => address as u64,
        }
    }
}
