//! Arithmetic of atomics (manual: "Atomic Operations", "Extended Atomic Operations").

/// An atomic of 4 or 8 bytes. The plain ones are the masked ones with full masks and one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Stores the bits of `swap` under `swap_mask` where the bits under `compare_mask` equal `compare`'s.
    CompareSwap {
        /// Value to store.
        swap: u64,
        /// Value to compare with.
        compare: u64,
        /// Mask of the bits to store.
        swap_mask: u64,
        /// Mask of the bits to compare.
        compare_mask: u64,
    },
    /// Adds field by field.
    FetchAdd {
        /// Value to add.
        add: u64,
        /// The highest bit of each field; the operand's highest bit always is one.
        field_boundary: u64,
    },
}

impl Arithmetic {
    /// Returns the plain compare and swap of 8 bytes.
    #[must_use]
    pub const fn compare_swap(swap: u64, compare: u64) -> Self {
        Self::CompareSwap {
            swap,
            compare,
            swap_mask: u64::MAX,
            compare_mask: u64::MAX,
        }
    }

    /// Returns the plain fetch and add of 8 bytes.
    #[must_use]
    pub const fn fetch_add(add: u64) -> Self {
        Self::FetchAdd {
            add,
            field_boundary: 0,
        }
    }

    /// Returns the value stored in place of `old`; operands of 4 bytes lie in the lower halves.
    #[must_use]
    pub const fn apply(self, old: u64) -> u64 {
        match self {
            Self::CompareSwap {
                swap,
                compare,
                swap_mask,
                compare_mask,
            } => {
                if (old ^ compare) & compare_mask == 0 {
                    old & !swap_mask | swap & swap_mask
                } else {
                    old
                }
            }
            // The highest bits of the fields are added without carry, so that none leaves a field.
            Self::FetchAdd {
                add,
                field_boundary: top,
            } => (old & !top).wrapping_add(add & !top) ^ ((old ^ add) & top),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Adds bit by bit, as the manual tells it.
    fn add_by_bits(old: u64, add: u64, boundary: u64) -> u64 {
        let (mut sum, mut carry) = (0, 0);
        for bit in 0..64 {
            let total = (old >> bit & 1) + (add >> bit & 1) + carry;
            sum |= (total & 1) << bit;
            carry = if boundary >> bit & 1 == 1 {
                0
            } else {
                total >> 1
            };
        }
        sum
    }

    proptest! {
        #[test]
        fn fields_do_not_carry(old: u64, add: u64, boundary: u64) {
            let op = Arithmetic::FetchAdd { add, field_boundary: boundary };
            prop_assert_eq!(op.apply(old), add_by_bits(old, add, boundary));
        }

        #[test]
        fn masks_give_the_bitwise_operations(old: u64, v: u64) {
            let cas = |swap, swap_mask| Arithmetic::CompareSwap { swap, compare: 0, swap_mask, compare_mask: 0 };
            prop_assert_eq!(cas(v, v).apply(old), old | v);
            prop_assert_eq!(cas(0, !v).apply(old), old & v);
            prop_assert_eq!(cas(v, u64::MAX).apply(old), v);
            let xor = Arithmetic::FetchAdd { add: v, field_boundary: u64::MAX };
            prop_assert_eq!(xor.apply(old), old ^ v);
        }

        #[test]
        fn plain_ones(old: u64, swap: u64, compare: u64) {
            prop_assert_eq!(Arithmetic::compare_swap(swap, old).apply(old), swap);
            if compare != old {
                prop_assert_eq!(Arithmetic::compare_swap(swap, compare).apply(old), old);
            }
            prop_assert_eq!(Arithmetic::fetch_add(swap).apply(old), old.wrapping_add(swap));
        }
    }

    #[test]
    fn a_boundary_stops_the_carry() {
        let op = Arithmetic::FetchAdd {
            add: 1,
            field_boundary: 1 << 31,
        };
        assert_eq!(op.apply(0xffff_ffff), 0);
        assert_eq!(Arithmetic::fetch_add(1).apply(0xffff_ffff), 1 << 32);
    }
}
