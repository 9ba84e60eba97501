//! Capabilities that only the firmware tells: the masked atomics, which verbs have no words for.
//!
//! Source: the NVIDIA "Ethernet Adapters Programming Manual", QUERY_HCA_CAP; fields are big-endian.

use std::ffi::c_int;

/// The opcode of QUERY_HCA_CAP.
const QUERY_HCA_CAP: u16 = 0x100;

/// The operation's modifier: the kind of the atomic capabilities, and that the current ones are asked for.
const CURRENT_ATOMIC: u16 = 3 << 1 | 1;

/// Bytes of the command, of the answer's head, and of the capabilities after it.
const COMMAND: usize = 16;
const HEAD: usize = 16;
const CAPABILITIES: usize = 4096;

/// Offsets in the capabilities of the operations, and of the sizes for connected queue pairs and
/// for dynamic connections.
const OPERATIONS: usize = 0x12;
const SIZES_CONNECTED: usize = 0x16;
const SIZES_DYNAMIC: usize = 0x1a;

/// Masked compare and swap, masked fetch and add.
const MASKED: u16 = 0b1100;

/// Sizes of operands: each is its own bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes(u16);

impl Sizes {
    pub(super) const NONE: Self = Self(0);

    /// Returns whether operands of so many bytes, a power of two, are among them.
    pub(super) const fn has(self, bytes: u16) -> bool {
        self.0 & bytes != 0
    }
}

/// Returns the operands of masked atomics, over any kind of connection that there is. Returns no
/// operands where the device does not tell.
///
/// `ask` gives the firmware a command and takes its answer; it returns 0, or an error.
pub(super) fn masked_atomics(ask: impl FnOnce(&[u8], &mut [u8]) -> c_int) -> Sizes {
    let mut command = [0_u8; COMMAND];
    command[..2].copy_from_slice(&QUERY_HCA_CAP.to_be_bytes());
    command[6..8].copy_from_slice(&CURRENT_ATOMIC.to_be_bytes());
    let mut answer = vec![0_u8; HEAD + CAPABILITIES];
    let result = ask(&command, &mut answer);
    // The answer's first byte is the firmware's own status.
    if result != 0 || answer[0] != 0 {
        return Sizes::NONE;
    }
    sizes(&answer[HEAD..])
}

/// Returns the operand sizes of masked atomics in capabilities that are long enough.
fn sizes(capabilities: &[u8]) -> Sizes {
    let word = |at: usize| u16::from_be_bytes([capabilities[at], capabilities[at + 1]]);
    if word(OPERATIONS) & MASKED != MASKED {
        return Sizes::NONE;
    }
    match (word(SIZES_CONNECTED), word(SIZES_DYNAMIC)) {
        // No dynamic connections.
        (connected, 0) => Sizes(connected),
        (connected, dynamic) => Sizes(connected & dynamic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capabilities(operations: u16, connected: u16, dynamic: u16) -> Vec<u8> {
        let mut bytes = vec![0; CAPABILITIES];
        for (at, word) in [
            (OPERATIONS, operations),
            (SIZES_CONNECTED, connected),
            (SIZES_DYNAMIC, dynamic),
        ] {
            bytes[at..at + 2].copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }

    #[test]
    fn masked_atomics_need_both_operations_and_a_size_for_every_connection() {
        let both = sizes(&capabilities(0b1111, 4 | 8 | 16, 4 | 8));
        assert!(both.has(4) && both.has(8) && !both.has(16));
        let connected_only = sizes(&capabilities(0b1111, 4 | 8, 0));
        assert!(connected_only.has(4) && connected_only.has(8));
        let eight = sizes(&capabilities(0b1111, 4 | 8, 8));
        assert!(!eight.has(4) && eight.has(8));
        for operations in [0, 0b0011, 0b0111, 0b1011] {
            assert_eq!(sizes(&capabilities(operations, 12, 12)), Sizes::NONE);
        }
    }
}
