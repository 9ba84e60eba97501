//! Atomic operations as entries of the device: plain, and masked.

use fi_mlx5::lane::Atomic;
pub(crate) use fi_shm::amo::Amo;

/// Returns the entry for an object of `bytes` bytes (4 or 8); `None` where the device, which may be
/// `masked`, has none.
#[inline]
pub(crate) fn entry(what: Amo, bytes: usize, masked: impl FnOnce() -> bool) -> Option<Atomic> {
    match (bytes, what) {
        (8, Amo::Fetch) => Some(Atomic::add_8(0)),
        (8, Amo::Add(value)) => Some(Atomic::add_8(value)),
        (8, Amo::CompareSwap(compare, value)) => Some(Atomic::compare_swap_8(compare, value)),
        (8, _) => masked().then(|| masked_8(what)),
        _ => masked().then(|| masked_4(what)),
    }
}

fn masked_8(what: Amo) -> Atomic {
    const ALL: u64 = u64::MAX;
    match what {
        Amo::Fetch => Atomic::add_8(0),
        Amo::Add(value) => Atomic::add_8(value),
        Amo::Xor(value) => Atomic::xor_8(value),
        Amo::Swap(value) => Atomic::masked_swap_8(value, ALL, 0, 0),
        Amo::And(value) => Atomic::masked_swap_8(0, !value, 0, 0),
        Amo::Or(value) => Atomic::masked_swap_8(value, value, 0, 0),
        Amo::CompareSwap(compare, value) => Atomic::masked_swap_8(value, ALL, compare, ALL),
    }
}

fn masked_4(what: Amo) -> Atomic {
    const ALL: u32 = u32::MAX;
    match what {
        Amo::Fetch => Atomic::add_4(0),
        Amo::Add(value) => Atomic::add_4(value as u32),
        Amo::Xor(value) => Atomic::xor_4(value as u32),
        Amo::Swap(value) => Atomic::masked_swap_4(value as u32, ALL, 0, 0),
        Amo::And(value) => Atomic::masked_swap_4(0, !value as u32, 0, 0),
        Amo::Or(value) => Atomic::masked_swap_4(value as u32, value as u32, 0, 0),
        Amo::CompareSwap(compare, value) => {
            Atomic::masked_swap_4(value as u32, ALL, compare as u32, ALL)
        }
    }
}
