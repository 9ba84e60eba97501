//! Completion entries (manual: "Completion Queue Entry (CQE)").

use crate::endian::{Be16, Be32, Be64};
use crate::opcode::{CqeOpcode, Syndrome};
use bytemuck::{Pod, Zeroable};
use std::mem::{offset_of, size_of};

/// Last byte of each CQE in a ring that the device has not written yet.
pub const INVALID: u8 = (CqeOpcode::Invalid as u8) << 4;

/// A completion entry of 64 bytes (`mlx5_cqe64`); one of 128 bytes has it in its second half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Cqe {
    /// Fields of tag matching and of other transports.
    pub reserved: [u8; 17],
    /// Path bits of the source.
    pub path_bits: u8,
    /// More of them.
    pub reserved2: [u8; 4],
    /// Source LID.
    pub slid: Be16,
    /// Flags << 24 | remote queue pair.
    pub flags_remote_qpn: Be32,
    /// Offload fields.
    pub reserved3: [u8; 4],
    /// Shared receive queue, or the user index that the queue pair was created with.
    pub user_index: Be32,
    /// Immediate data, invalidated key, or partition key.
    pub immediate: Be32,
    /// Offload fields.
    pub reserved4: [u8; 4],
    /// Bytes that were received, or read.
    pub byte_count: Be32,
    /// Device clock; of an error the last two bytes are vendor syndrome and [`Syndrome`].
    pub timestamp: Be64,
    /// Opcode of the send << 24 | queue pair.
    pub opcode_qpn: Be32,
    /// Index of the entry that is completed: first block of a send, slot of a receive.
    pub wqe_counter: Be16,
    /// Checksum; 0 where signatures are off.
    pub signature: u8,
    /// [`CqeOpcode`] << 4 | format << 2 | solicited << 1 | owner: written last.
    pub opcode_owner: u8,
}

const _: () = assert!(
    size_of::<Cqe>() == 64
        && offset_of!(Cqe, path_bits) == 17
        && offset_of!(Cqe, slid) == 22
        && offset_of!(Cqe, flags_remote_qpn) == 24
        && offset_of!(Cqe, user_index) == 32
        && offset_of!(Cqe, immediate) == 36
        && offset_of!(Cqe, byte_count) == 44
        && offset_of!(Cqe, timestamp) == 48
        && offset_of!(Cqe, opcode_qpn) == 56
        && offset_of!(Cqe, wqe_counter) == 60
        && offset_of!(Cqe, signature) == 62
        && offset_of!(Cqe, opcode_owner) == 63
);

impl Cqe {
    /// Makes an entry of this kind with everything else zero; the owner bit is the ring's business.
    #[must_use]
    pub fn new(opcode: CqeOpcode) -> Self {
        Self {
            opcode_owner: opcode.number() << 4,
            ..Self::zeroed()
        }
    }

    /// Returns the opcode of the CQE; `None` for a number that is not known.
    #[must_use]
    pub const fn opcode(&self) -> Option<CqeOpcode> {
        CqeOpcode::from_number(self.opcode_owner >> 4)
    }

    /// Returns the owner bit.
    #[must_use]
    pub const fn owner(&self) -> bool {
        self.opcode_owner & 1 != 0
    }

    /// Sets the owner bit.
    pub fn set_owner(&mut self, owner: bool) {
        self.opcode_owner = self.opcode_owner & !1 | u8::from(owner);
    }

    /// Marks it as solicited.
    pub fn set_solicited(&mut self) {
        self.opcode_owner |= 2;
    }

    /// Returns whether it is solicited.
    #[must_use]
    pub const fn solicited(&self) -> bool {
        self.opcode_owner & 2 != 0
    }

    /// Returns whether it tells of a failure.
    #[must_use]
    pub fn is_error(&self) -> bool {
        matches!(
            self.opcode(),
            Some(CqeOpcode::RequesterError | CqeOpcode::ResponderError)
        )
    }

    /// Puts in why it failed; the vendor's syndrome is for people.
    pub fn set_syndrome(&mut self, syndrome: Syndrome, vendor: u8) {
        self.timestamp = Be64::new(u64::from(vendor) << 8 | u64::from(syndrome.number()));
    }

    /// Returns the cause of the failure, as a number; of no meaning unless [`Self::is_error`].
    #[must_use]
    pub const fn syndrome(&self) -> u8 {
        self.timestamp.get() as u8
    }

    /// Returns the vendor's syndrome; of no meaning unless [`Self::is_error`].
    #[must_use]
    pub const fn vendor_syndrome(&self) -> u8 {
        (self.timestamp.get() >> 8) as u8
    }

    /// Returns the number of the queue pair.
    #[must_use]
    pub const fn qpn(&self) -> u32 {
        self.opcode_qpn.get() & 0xff_ffff
    }
}

/// Returns the owner bit of entry `n`, counted from 0, in a ring of `entries` (a power of two): it
/// changes each time round, and starts with 0.
#[inline(always)]
#[must_use]
pub const fn owner_of(n: u32, entries: u32) -> bool {
    n & entries != 0
}

/// Returns whether the entry with this last byte belongs to software when its consumer index is
/// `n`.
#[inline(always)]
#[must_use]
pub const fn is_ready(opcode_owner: u8, n: u32, entries: u32) -> bool {
    opcode_owner >> 4 != CqeOpcode::Invalid as u8 && (opcode_owner & 1 != 0) == owner_of(n, entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_its_syndromes_at_54_and_55() {
        let mut cqe = Cqe::new(CqeOpcode::RequesterError);
        cqe.set_syndrome(Syndrome::RemoteAccess, 0x88);
        cqe.opcode_qpn = Be32::new(0x0800_0123);
        cqe.set_owner(true);
        let bytes = bytemuck::bytes_of(&cqe);
        assert_eq!((bytes[54], bytes[55], bytes[63]), (0x88, 0x13, 0xd1));
        assert_eq!(bytes[56..60], [8, 0, 1, 0x23]);
        assert!(cqe.is_error() && cqe.owner() && !cqe.solicited());
        assert_eq!(
            (cqe.syndrome(), cqe.vendor_syndrome(), cqe.qpn()),
            (0x13, 0x88, 0x123)
        );
    }

    #[test]
    fn ownership_changes_with_each_round() {
        let ready = CqeOpcode::Requester.number() << 4;
        assert!(!is_ready(INVALID, 0, 4));
        assert!(is_ready(ready, 3, 4) && !is_ready(ready, 4, 4));
        assert!(is_ready(ready | 1, 4, 4) && !is_ready(ready | 1, 8, 4));
    }
}
