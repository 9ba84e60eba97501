//! Atomic operations as entries have them.

use fi_mlx5_defs::opcode::Opcode;
use fi_mlx5_defs::wqe::masked_modifier;

/// An atomic operation as an entry has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    pub(crate) opcode: Opcode,
    pub(crate) modifier: u8,
    pub(crate) operands: [[u64; 2]; 2],
    pub(crate) units: usize,
}

impl Atomic {
    /// Adds to 8 bytes.
    pub fn add_8(value: u64) -> Self {
        Self::one(Opcode::FetchAdd, 0, [value.to_be(), 0])
    }

    /// Replaces 8 bytes where they equal `compare`.
    pub fn compare_swap_8(compare: u64, value: u64) -> Self {
        Self::one(Opcode::CompareSwap, 0, [value.to_be(), compare.to_be()])
    }

    /// Adds to 4 bytes (masked).
    pub fn add_4(value: u32) -> Self {
        Self::one(
            Opcode::MaskedFetchAdd,
            masked_modifier(4),
            [value.to_be().into(), 0],
        )
    }

    /// Inverts the bits of `value` in 8 bytes (masked): an addition that carries nothing.
    pub fn xor_8(value: u64) -> Self {
        Self::one(
            Opcode::MaskedFetchAdd,
            masked_modifier(8),
            [value.to_be(), u64::MAX],
        )
    }

    /// Inverts the bits of `value` in 4 bytes (masked).
    pub fn xor_4(value: u32) -> Self {
        let words = u64::from(value.to_be()) | u64::from(u32::MAX) << 32;
        Self::one(Opcode::MaskedFetchAdd, masked_modifier(4), [words, 0])
    }

    /// Replaces the bits of `swap_mask` in 8 bytes where those of `compare_mask` equal `compare` (masked).
    pub fn masked_swap_8(value: u64, swap_mask: u64, compare: u64, compare_mask: u64) -> Self {
        Self {
            opcode: Opcode::MaskedCompareSwap,
            modifier: masked_modifier(8),
            operands: [
                [value.to_be(), compare.to_be()],
                [swap_mask.to_be(), compare_mask.to_be()],
            ],
            units: 2,
        }
    }

    /// Makes an operation as [`Atomic::masked_swap_8`] does, of 4 bytes.
    pub fn masked_swap_4(value: u32, swap_mask: u32, compare: u32, compare_mask: u32) -> Self {
        let pair =
            |first: u32, second: u32| u64::from(first.to_be()) | u64::from(second.to_be()) << 32;
        let operands = [pair(value, compare), pair(swap_mask, compare_mask)];
        Self::one(Opcode::MaskedCompareSwap, masked_modifier(4), operands)
    }

    fn one(opcode: Opcode, modifier: u8, operands: [u64; 2]) -> Self {
        Self {
            opcode,
            modifier,
            operands: [operands, [0; 2]],
            units: 1,
        }
    }
}
