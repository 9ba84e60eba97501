//! Atomic operations with their operands, and the bits of these.

/// An atomic operation with its operands, of whose low bytes as many count as the object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amo {
    Fetch,
    Swap(u64),
    Add(u64),
    And(u64),
    Or(u64),
    Xor(u64),
    /// The comparand, and what replaces it.
    CompareSwap(u64, u64),
}

impl Amo {
    /// What stands in an object of eight bytes after the operation where `before` stood.
    pub(crate) fn apply(self, before: u64) -> u64 {
        match self {
            Self::Fetch => before,
            Self::Swap(value) => value,
            Self::Add(value) => before.wrapping_add(value),
            Self::And(value) => before & value,
            Self::Or(value) => before | value,
            Self::Xor(value) => before ^ value,
            Self::CompareSwap(compare, value) if before == compare => value,
            Self::CompareSwap(..) => before,
        }
    }
}

/// Whether an object of `bytes` bytes (4 or 8) at `addr` is aligned to its size, as the device asks
/// for.
#[inline(always)]
pub(crate) fn is_aligned(addr: usize, bytes: usize) -> bool {
    addr & (bytes - 1) == 0
}

/// The bits of a value of 4 or 8 bytes.
#[inline(always)]
#[expect(unsafe_code, reason = "takes the bits of integers and floats alike")]
pub(crate) fn bits<T: Copy>(value: T) -> u64 {
    const { assert!(size_of::<T>() == 4 || size_of::<T>() == 8) };
    // SAFETY: the type is as long as what it is read as, and every type here is made of plain bits.
    unsafe {
        if size_of::<T>() == 4 {
            std::mem::transmute_copy::<T, u32>(&value).into()
        } else {
            std::mem::transmute_copy::<T, u64>(&value)
        }
    }
}

/// The value of 4 or 8 bytes with these bits.
#[inline(always)]
#[expect(unsafe_code, reason = "makes integers and floats alike")]
pub(crate) fn value<T: Copy>(bits: u64) -> T {
    const { assert!(size_of::<T>() == 4 || size_of::<T>() == 8) };
    // SAFETY: the type is as long as the integer that it is made of, and the types here have no
    // invalid bits.
    unsafe {
        if size_of::<T>() == 4 {
            std::mem::transmute_copy(&(bits as u32))
        } else {
            std::mem::transmute_copy(&bits)
        }
    }
}
