//! Segments of work-queue entries (manual: "Send WQE Construction", "Receive WQE").
//!
//! An entry is a control segment and, by opcode, further ones, in units of 16 bytes; the send queue is a
//! ring of basic blocks of 64 bytes, and an entry starts at a block.

use crate::endian::{Be16, Be32, Be64};
use crate::opcode::Opcode;
use bytemuck::{Pod, Zeroable};
use std::mem::{offset_of, size_of};

/// Bytes of a basic block of the send queue (`MLX5_SEND_WQE_BB`).
pub const BASIC_BLOCK: usize = 64;
/// Bytes of the unit in which the length of an entry is counted.
pub const UNIT: usize = 16;
/// The largest entry, in units: the field has 6 bits.
pub const MAX_UNITS: usize = 63;
/// The key that ends a list of data segments (`MLX5_INVALID_LKEY`).
pub const END_OF_LIST_KEY: u32 = 0x100;
/// The bit of a segment's first word that says that the data follow inline (`MLX5_INLINE_SEG`).
pub const INLINE: u32 = 0x8000_0000;
/// The bit of an address vector's destination that says that it is a long one (`MLX5_EXTENDED_UD_AV`).
pub const EXTENDED_AV: u32 = 0x8000_0000;

/// Flags of the control segment (`MLX5_WQE_CTRL_*`).
pub mod flags {
    /// Asks for an event also where the CQ is armed for solicited ones only.
    pub const SOLICITED: u8 = 1 << 1;
    /// A completion entry is wanted.
    pub const COMPLETION: u8 = 2 << 2;
    /// Both bits of the completion field.
    pub const COMPLETION_MASK: u8 = 3 << 2;
    /// Waits for invalidations before it.
    pub const SMALL_FENCE: u8 = 1 << 5;
    /// Waits for reads and atomics before it.
    pub const FENCE: u8 = 4 << 5;
}

/// The control segment (`mlx5_wqe_ctrl_seg`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Control {
    /// Operation modifier << 24 | index of the entry's first block << 8 | opcode.
    pub modifier_index_opcode: Be32,
    /// Queue pair << 8 | length in units.
    pub qpn_units: Be32,
    /// Checksum; 0 where signatures are off.
    pub signature: u8,
    /// Stream of a DC initiator.
    pub dci_stream: [u8; 2],
    /// [`flags`].
    pub flags: u8,
    /// Immediate data, or the key to invalidate.
    pub immediate: Be32,
}

impl Control {
    /// Makes a control segment; `index` counts basic blocks since the queue started, `units` are of
    /// 16 bytes.
    #[inline(always)]
    #[must_use]
    pub const fn new(
        opcode: Opcode,
        modifier: u8,
        index: u16,
        qpn: u32,
        units: u8,
        flags: u8,
    ) -> Self {
        Self {
            modifier_index_opcode: Be32::new(
                (modifier as u32) << 24 | (index as u32) << 8 | opcode as u32,
            ),
            qpn_units: Be32::new(qpn << 8 | units as u32),
            signature: 0,
            dci_stream: [0; 2],
            flags,
            immediate: Be32::new(0),
        }
    }

    /// Returns the opcode's number.
    #[must_use]
    pub const fn opcode(&self) -> u8 {
        self.modifier_index_opcode.get() as u8
    }

    /// Returns the operation modifier.
    #[must_use]
    pub const fn modifier(&self) -> u8 {
        (self.modifier_index_opcode.get() >> 24) as u8
    }

    /// Returns the index of the first block.
    #[must_use]
    pub const fn index(&self) -> u16 {
        (self.modifier_index_opcode.get() >> 8) as u16
    }

    /// Returns the number of the queue pair.
    #[must_use]
    pub const fn qpn(&self) -> u32 {
        self.qpn_units.get() >> 8
    }

    /// Returns the length in units of 16 bytes, this segment included.
    #[must_use]
    pub const fn units(&self) -> usize {
        (self.qpn_units.get() & 0x3f) as usize
    }

    /// Returns the word that is written to a doorbell register: the first 8 bytes as they lie in
    /// memory.
    #[inline(always)]
    #[must_use]
    pub const fn doorbell(&self) -> [u8; 8] {
        let [a, b, c, d] = self.modifier_index_opcode.raw().to_ne_bytes();
        let [e, f, g, h] = self.qpn_units.raw().to_ne_bytes();
        [a, b, c, d, e, f, g, h]
    }
}

const _: () = assert!(
    size_of::<Control>() == 16
        && offset_of!(Control, qpn_units) == 4
        && offset_of!(Control, signature) == 8
        && offset_of!(Control, flags) == 11
        && offset_of!(Control, immediate) == 12
);

/// Returns the number of blocks that an entry of `units` takes.
#[inline(always)]
#[must_use]
pub const fn blocks(units: usize) -> usize {
    units.div_ceil(BASIC_BLOCK / UNIT)
}

/// The remote address segment (`mlx5_wqe_raddr_seg`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct RemoteAddress {
    /// Address, in the terms of the remote key.
    pub address: Be64,
    /// Remote key.
    pub rkey: Be32,
    /// Zero.
    pub reserved: Be32,
}

impl RemoteAddress {
    /// Makes the segment for `address` under `rkey`.
    #[inline(always)]
    #[must_use]
    pub const fn new(address: u64, rkey: u32) -> Self {
        Self {
            address: Be64::new(address),
            rkey: Be32::new(rkey),
            reserved: Be32::new(0),
        }
    }
}

const _: () = assert!(size_of::<RemoteAddress>() == 16 && offset_of!(RemoteAddress, rkey) == 8);

/// The data segment (`mlx5_wqe_data_seg`): a piece of local memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Data {
    /// Bytes.
    pub length: Be32,
    /// Local key; [`END_OF_LIST_KEY`] ends a list.
    pub lkey: Be32,
    /// Address, in the terms of the key.
    pub address: Be64,
}

impl Data {
    /// Makes the segment for `length` bytes at `address` under `lkey`.
    #[inline(always)]
    #[must_use]
    pub const fn new(address: u64, length: u32, lkey: u32) -> Self {
        Self {
            length: Be32::new(length),
            lkey: Be32::new(lkey),
            address: Be64::new(address),
        }
    }

    /// Makes the segment that ends a list of a receive.
    #[must_use]
    pub const fn end() -> Self {
        Self::new(0, 0, END_OF_LIST_KEY)
    }
}

const _: () = assert!(
    size_of::<Data>() == 16 && offset_of!(Data, lkey) == 4 && offset_of!(Data, address) == 8
);

/// Returns the bytes that an inline segment takes in an entry: its word, the data, up to a whole
/// unit.
#[inline(always)]
#[must_use]
pub const fn inline_len(data: usize) -> usize {
    (4 + data).next_multiple_of(UNIT)
}

/// Operands of the plain 8-byte atomics (`mlx5_wqe_atomic_seg`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Atomic {
    /// Value to store, or to add.
    pub swap_or_add: Be64,
    /// Value to compare with; 0 for an addition.
    pub compare: Be64,
}

const _: () = assert!(size_of::<Atomic>() == 16 && offset_of!(Atomic, compare) == 8);

/// Returns the operation modifier of masked atomics of `size` bytes (4 or 8): extended, and
/// log2(size) - 2.
#[must_use]
pub const fn masked_modifier(size: usize) -> u8 {
    8 | if size == 8 { 1 } else { 0 }
}

/// Operands of the masked compare and swap of 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MaskedCompareSwap64 {
    /// Value to store.
    pub swap: Be64,
    /// Value to compare with.
    pub compare: Be64,
    /// Mask of the bits to store.
    pub swap_mask: Be64,
    /// Mask of the bits to compare.
    pub compare_mask: Be64,
}

const _: () = assert!(
    size_of::<MaskedCompareSwap64>() == 32
        && offset_of!(MaskedCompareSwap64, compare) == 8
        && offset_of!(MaskedCompareSwap64, swap_mask) == 16
        && offset_of!(MaskedCompareSwap64, compare_mask) == 24
);

/// Operands of the masked compare and swap of 4 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MaskedCompareSwap32 {
    /// Value to store.
    pub swap: Be32,
    /// Value to compare with.
    pub compare: Be32,
    /// Mask of the bits to store.
    pub swap_mask: Be32,
    /// Mask of the bits to compare.
    pub compare_mask: Be32,
}

const _: () = assert!(
    size_of::<MaskedCompareSwap32>() == 16 && offset_of!(MaskedCompareSwap32, compare_mask) == 12
);

/// Operands of the masked fetch and add of 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MaskedFetchAdd64 {
    /// Value to add.
    pub add: Be64,
    /// A carry does not leave a bit that is set here.
    pub field_boundary: Be64,
}

const _: () = assert!(
    size_of::<MaskedFetchAdd64>() == 16 && offset_of!(MaskedFetchAdd64, field_boundary) == 8
);

/// Operands of the masked fetch and add of 4 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MaskedFetchAdd32 {
    /// Value to add.
    pub add: Be32,
    /// A carry does not leave a bit that is set here.
    pub field_boundary: Be32,
    /// Zero.
    pub reserved: [u8; 8],
}

const _: () = assert!(
    size_of::<MaskedFetchAdd32>() == 16 && offset_of!(MaskedFetchAdd32, field_boundary) == 4
);

/// The address vector without a global route (first 16 bytes of `mlx5_wqe_av`): DC over InfiniBand
/// needs this form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct CompactAddress {
    /// DC key, or a UD queue key in the upper half.
    pub key: Be64,
    /// Destination, with [`EXTENDED_AV`] when a [`GlobalRoute`] follows.
    pub destination: Be32,
    /// Static rate << 4 | service level.
    pub rate_sl: u8,
    /// Force loopback << 7 | source path bits.
    pub loopback_path: u8,
    /// Destination LID.
    pub lid: Be16,
}

impl CompactAddress {
    /// Returns the address of DC target `dctn` at `lid`, which is entered with `key`.
    #[inline(always)]
    #[must_use]
    pub const fn dc(key: u64, dctn: u32, lid: u16) -> Self {
        Self {
            key: Be64::new(key),
            destination: Be32::new(dctn),
            rate_sl: 0,
            loopback_path: 0,
            lid: Be16::new(lid),
        }
    }

    /// Returns whether a [`GlobalRoute`] follows.
    #[must_use]
    pub const fn is_extended(&self) -> bool {
        self.destination.get() & EXTENDED_AV != 0
    }

    /// Returns the destination's number.
    #[must_use]
    pub const fn number(&self) -> u32 {
        self.destination.get() & 0xff_ffff
    }
}

const _: () = assert!(
    size_of::<CompactAddress>() == 16
        && offset_of!(CompactAddress, destination) == 8
        && offset_of!(CompactAddress, rate_sl) == 12
        && offset_of!(CompactAddress, lid) == 14
);

/// The rest of an extended address vector (last 32 bytes of `mlx5_wqe_av`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct GlobalRoute {
    /// Zero.
    pub reserved: [u8; 4],
    /// Destination's Ethernet address (RoCE).
    pub mac: [u8; 6],
    /// Traffic class.
    pub traffic_class: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Global route present << 30 | source GID index << 20 | flow label.
    pub grh_gid_flow: Be32,
    /// Destination GID.
    pub gid: [u8; 16],
}

const _: () = assert!(
    size_of::<GlobalRoute>() == 32
        && offset_of!(GlobalRoute, mac) == 4
        && offset_of!(GlobalRoute, grh_gid_flow) == 12
        && offset_of!(GlobalRoute, gid) == 16
);

/// The first 16 bytes of an entry of a shared receive queue (`mlx5_wqe_srq_next_seg`); data segments follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct SrqNext {
    /// Zero.
    pub reserved: [u8; 2],
    /// The entry that is used after this one.
    pub next_index: Be16,
    /// Checksum; 0 where signatures are off.
    pub signature: u8,
    /// Zero.
    pub reserved2: [u8; 11],
}

const _: () = assert!(size_of::<SrqNext>() == 16 && offset_of!(SrqNext, next_index) == 2);
