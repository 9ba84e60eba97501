//! Objects of atomic operations: their alignment, and their bits.

/// Returns whether an object of `bytes` bytes (4 or 8) at `addr` is aligned to its size, as the
/// device asks for.
#[inline(always)]
pub(crate) fn is_aligned(addr: usize, bytes: usize) -> bool {
    addr & (bytes - 1) == 0
}

/// Returns the bits of a value of 4 or 8 bytes.
#[inline(always)]
#[expect(unsafe_code, reason = "takes the bits of integers and floats alike")]
pub(crate) fn bits<T: Copy>(value: T) -> u64 {
    const { assert!(size_of::<T>() == 4 || size_of::<T>() == 8) };
    // SAFETY: the type is as long as the integer that it is read as, and every type here is made of
    // plain bits.
    unsafe {
        if size_of::<T>() == 4 {
            std::mem::transmute_copy::<T, u32>(&value).into()
        } else {
            std::mem::transmute_copy::<T, u64>(&value)
        }
    }
}

/// Returns the value of 4 or 8 bytes with these bits.
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
