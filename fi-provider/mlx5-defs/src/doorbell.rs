//! Doorbells (manual: "Doorbell Record", "User Access Region (UAR)").
//!
//! The order of a post: the entry, then the doorbell record, then the register. The record counts; the
//! register carries the first 8 bytes of the last entry, or, with BlueFlame, a copy of the entry itself.

use crate::endian::{Be32, Be64};
use bytemuck::{Pod, Zeroable};
use std::mem::{offset_of, size_of};

/// Bytes of a doorbell page.
pub const PAGE: u64 = 4096;
/// Registers of a page that processes may use.
pub const REGISTERS_PER_PAGE: u32 = 2;
/// Bytes of one half of a BlueFlame register: posts alternate between the halves.
pub const BLUEFLAME_HALF: u64 = 256;
/// Bytes that a doorbell without BlueFlame has, and a copy begins with.
pub const SEND_BYTES: u64 = 8;
/// Offset in a register where the send queue is rung (`MLX5_BF_OFFSET` from the page).
pub const SEND_OFFSET: u64 = 0x800;
/// From a register to the next.
pub const REGISTER_STRIDE: u64 = 0x200;
/// Offset in a page where completion queues are armed (`MLX5_CQ_DOORBELL`).
pub const ARM_OFFSET: u64 = 0x20;

/// Returns the offset of register `index` in its page, in bytes from the page's start.
#[must_use]
pub const fn register_offset(index: u32) -> u64 {
    SEND_OFFSET + index as u64 * REGISTER_STRIDE
}

/// Returns the offsets in a page of the words that send queues are rung by: the first of each half
/// of its registers, in bytes from the page's start.
pub fn send_words() -> impl Iterator<Item = u64> {
    let halves = 2 * u64::from(REGISTERS_PER_PAGE);
    (0..halves).map(|half| SEND_OFFSET + half * BLUEFLAME_HALF)
}

/// Returns which register of a page a write at `offset` hits, if any.
#[must_use]
pub const fn register_at(offset: u64) -> Option<u32> {
    if offset < SEND_OFFSET || offset >= register_offset(REGISTERS_PER_PAGE) {
        return None;
    }
    Some(((offset - SEND_OFFSET) / REGISTER_STRIDE) as u32)
}

/// Returns whether a write at `offset` of a page goes on with a BlueFlame copy: to a register,
/// behind the bytes that ring.
#[must_use]
pub const fn goes_on_with_copy(offset: u64) -> bool {
    register_at(offset).is_some() && (offset - SEND_OFFSET) % BLUEFLAME_HALF >= SEND_BYTES
}

/// The doorbell record of a queue pair. A shared receive queue has the first word alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct QueueRecord {
    /// Receives posted so far, modulo 2^16.
    pub receive: Be32,
    /// Basic blocks posted so far, modulo 2^16.
    pub send: Be32,
}

const _: () = assert!(size_of::<QueueRecord>() == 8 && offset_of!(QueueRecord, send) == 4);

/// The doorbell record of a completion queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct CompletionRecord {
    /// Entries consumed so far, modulo 2^24.
    pub consumer: Be32,
    /// The last [`Arm`].
    pub arm: Be32,
}

const _: () = assert!(size_of::<CompletionRecord>() == 8 && offset_of!(CompletionRecord, arm) == 4);

/// Doorbell that arms a CQ for one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arm {
    /// Events taken so far, modulo 4.
    pub sequence: u8,
    /// Only solicited completions and errors count.
    pub solicited_only: bool,
    /// Entries consumed so far, modulo 2^24: entries from here on count.
    pub consumer: u32,
}

impl Arm {
    const SOLICITED: u32 = 1 << 24;
    const USED: u32 = 3 << 28 | Self::SOLICITED | 0xff_ffff;

    /// A word that no arming writes: bits are set that it does not have.
    pub const NEVER: u32 = u32::MAX;

    /// Returns the word of the doorbell record.
    #[must_use]
    pub const fn word(self) -> u32 {
        let solicited = if self.solicited_only {
            Self::SOLICITED
        } else {
            0
        };
        (self.sequence as u32 & 3) << 28 | solicited | self.consumer & 0xff_ffff
    }

    /// Takes the word apart; `None` for one that no arming writes.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        if word & !Self::USED != 0 {
            return None;
        }
        Some(Self {
            sequence: (word >> 28) as u8,
            solicited_only: word & Self::SOLICITED != 0,
            consumer: word & 0xff_ffff,
        })
    }

    /// Returns the value to write to the UAR page at [`ARM_OFFSET`].
    #[must_use]
    pub const fn register(self, cqn: u32) -> Be64 {
        Be64::new((self.word() as u64) << 32 | cqn as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_of_a_page() {
        assert_eq!([register_offset(0), register_offset(1)], [0x800, 0xa00]);
        for (offset, register) in [
            (0x20, None),
            (0x7ff, None),
            (0x800, Some(0)),
            (0x900, Some(0)),
            (0xa00, Some(1)),
            (0xbff, Some(1)),
            (0xc00, None),
        ] {
            assert_eq!(register_at(offset), register, "{offset:#x}");
        }
    }

    #[test]
    fn copies_go_on_behind_the_bytes_that_ring() {
        for (offset, goes_on) in [
            (0x20, false),
            (0x7f8, false),
            (0x800, false),
            (0x807, false),
            (0x808, true),
            (0x8ff, true),
            (0x900, false),
            (0xb08, true),
            (0xc08, false),
        ] {
            assert_eq!(goes_on_with_copy(offset), goes_on, "{offset:#x}");
        }
    }

    #[test]
    fn arming_goes_there_and_back() {
        for sequence in 0..4 {
            for solicited_only in [false, true] {
                for consumer in [0, 1, 0xff_ffff] {
                    let arm = Arm {
                        sequence,
                        solicited_only,
                        consumer,
                    };
                    assert_eq!(Arm::from_word(arm.word()), Some(arm));
                    assert_ne!(arm.word(), Arm::NEVER);
                }
            }
        }
        assert_eq!(Arm::from_word(Arm::NEVER), None);
        let arm = Arm {
            sequence: 1,
            solicited_only: true,
            consumer: 5,
        };
        assert_eq!(arm.register(0x42).get(), 0x1100_0005_0000_0042);
    }
}
