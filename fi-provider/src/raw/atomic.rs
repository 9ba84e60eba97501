//! Atomic operations of the device's kinds.

use crate::device::amo::Amo;

/// An atomic operation on a word of 4 or 8 bytes; it returns the word that was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Atomic {
    /// Reads (FI_ATOMIC_READ).
    Read = 1,
    /// Replaces the word by the operand (FI_ATOMIC_WRITE).
    Swap,
    /// Adds the operand, modulo 2^n (FI_SUM).
    Add,
    /// Bitwise and (FI_BAND).
    And,
    /// Bitwise or (FI_BOR).
    Or,
    /// Bitwise exclusive or (FI_BXOR).
    Xor,
    /// Replaces the word by the operand where the comparand stands (FI_CSWAP).
    CompareSwap,
}

/// Returns the operation for the device.
pub(crate) fn amo(operation: Atomic, operand: u64, comparand: u64) -> Amo {
    match operation {
        Atomic::Read => Amo::Fetch,
        Atomic::Swap => Amo::Swap(operand),
        Atomic::Add => Amo::Add(operand),
        Atomic::And => Amo::And(operand),
        Atomic::Or => Amo::Or(operand),
        Atomic::Xor => Amo::Xor(operand),
        Atomic::CompareSwap => Amo::CompareSwap(comparand, operand),
    }
}
