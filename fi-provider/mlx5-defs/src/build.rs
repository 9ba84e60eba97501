//! Whole entries, segment by segment.

use crate::endian::Be32;
use crate::opcode::Opcode;
use crate::wqe::{
    CompactAddress, Control, Data, GlobalRoute, INLINE, MAX_UNITS, RemoteAddress, UNIT, blocks,
    inline_len,
};
use bytemuck::{Pod, bytes_of};

/// An entry that does not fit into [`MAX_UNITS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a work-queue entry holds at most {} bytes", MAX_UNITS * UNIT)]
pub struct TooLong;

/// An entry under construction: for cold paths, devices and tests. Where each instruction counts, segments
/// are written into the ring one by one.
#[derive(Clone, Debug)]
pub struct Entry {
    bytes: [u8; MAX_UNITS * UNIT],
    len: usize,
    control: Control,
    overflow: bool,
}

impl Entry {
    /// Makes an entry that starts at block `index` of the send queue of `qpn`.
    #[must_use]
    pub fn new(opcode: Opcode, index: u16, qpn: u32) -> Self {
        Self {
            bytes: [0; MAX_UNITS * UNIT],
            len: UNIT,
            control: Control::new(opcode, 0, index, qpn, 0, 0),
            overflow: false,
        }
    }

    /// Sets these [`crate::wqe::flags`].
    #[must_use]
    pub fn flags(mut self, flags: u8) -> Self {
        self.control.flags = flags;
        self
    }

    /// Sets this operation modifier.
    #[must_use]
    pub fn modifier(mut self, modifier: u8) -> Self {
        let word = self.control.modifier_index_opcode.get() & 0xff_ffff;
        self.control.modifier_index_opcode = Be32::new(word | u32::from(modifier) << 24);
        self
    }

    /// Sets this immediate data.
    #[must_use]
    pub fn immediate(mut self, immediate: u32) -> Self {
        self.control.immediate = Be32::new(immediate);
        self
    }

    /// Appends an address vector.
    #[must_use]
    pub fn address(self, address: CompactAddress) -> Self {
        self.segment(&address)
    }

    /// Appends the global route that an extended address vector ends with.
    #[must_use]
    pub fn route(self, route: GlobalRoute) -> Self {
        self.segment(&route)
    }

    /// Appends a remote address.
    #[must_use]
    pub fn remote(self, address: u64, rkey: u32) -> Self {
        self.segment(&RemoteAddress::new(address, rkey))
    }

    /// Appends a piece of local memory.
    #[must_use]
    pub fn data(self, address: u64, length: u32, lkey: u32) -> Self {
        self.segment(&Data::new(address, length, lkey))
    }

    /// Appends inline bytes.
    #[must_use]
    pub fn inline(self, data: &[u8]) -> Self {
        let padded = inline_len(data.len());
        let word = Be32::new(INLINE | data.len() as u32);
        let start = self.len;
        let mut entry = self.bytes(&[bytes_of(&word), data]);
        if !entry.overflow {
            entry.len = start + padded;
        }
        entry
    }

    /// Appends any other segment.
    #[must_use]
    pub fn segment(self, segment: &impl Pod) -> Self {
        self.bytes(&[bytes_of(segment)])
    }

    fn bytes(mut self, parts: &[&[u8]]) -> Self {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let end = self.len + total.next_multiple_of(UNIT);
        if self.overflow || end > self.bytes.len() {
            self.overflow = true;
            return self;
        }
        let mut at = self.len;
        for part in parts {
            self.bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        self.len = end;
        self
    }

    /// Returns the entry's bytes, in whole units.
    ///
    /// # Errors
    /// [`TooLong`] when it did not fit.
    pub fn finish(&self) -> Result<Vec<u8>, TooLong> {
        if self.overflow {
            return Err(TooLong);
        }
        let mut control = self.control;
        control.qpn_units = Be32::new(control.qpn_units.get() & !0x3f | (self.len / UNIT) as u32);
        let mut bytes = self.bytes[..self.len].to_vec();
        bytes[..UNIT].copy_from_slice(bytes_of(&control));
        Ok(bytes)
    }

    /// Returns the number of basic blocks that it takes.
    #[must_use]
    pub fn blocks(&self) -> usize {
        blocks(self.len / UNIT)
    }
}
