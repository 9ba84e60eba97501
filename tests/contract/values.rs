//! Values that differ by their writer and by their place.

use bytemuck::Pod;

/// Returns a byte that depends on all bits of `seed` (the finaliser of splitmix64).
pub(crate) fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns `len` bytes that differ by `seed`.
pub(crate) fn pattern(seed: u64, len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len + 8);
    for word in 0..len.div_ceil(8) as u64 {
        bytes.extend_from_slice(
            &mixed(seed.wrapping_mul(0x1_0000_0001).wrapping_add(word)).to_le_bytes(),
        );
    }
    bytes.truncate(len);
    bytes
}

/// Returns a value of any type of up to 16 bytes that differs by `seed`.
pub(crate) fn value<T: Pod>(seed: u64) -> T {
    bytemuck::pod_read_unaligned(&pattern(seed, size_of::<T>()))
}
