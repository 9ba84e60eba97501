//! An entry on its way into a ring, for the posts that are not in line.

#![expect(unsafe_code, reason = "takes bytes from raw pointers into an entry")]

use crate::queue::FLAGS;
use bytemuck::cast;
use fi_mlx5_defs::endian::{Be32, Be64};
use fi_mlx5_defs::wqe::{BASIC_BLOCK, Data, INLINE, UNIT, blocks, inline_len};

/// Local memory that is registered.
#[derive(Clone, Copy, Debug)]
pub struct Local {
    /// The address.
    pub address: u64,
    /// Bytes.
    pub length: u32,
    /// The local key.
    pub key: u32,
}

/// The most blocks of an entry here: the blocks that one BlueFlame copy holds.
pub(crate) const BLOCKS: usize = 4;

/// A basic block, in words.
pub(crate) type Block = [u64; 8];

/// Bytes of an entry as they will lie in memory, at most [`BLOCKS`] blocks; the control segment comes last.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Entry {
    words: [Block; BLOCKS],
    units: usize,
}

impl Entry {
    /// Bytes that fit inline behind control segment, address vector and remote address.
    pub(crate) const INLINE: usize = BLOCKS * BASIC_BLOCK - 3 * UNIT - 4;

    /// Data segments that fit behind those three.
    pub(crate) const SEGMENTS: usize = BLOCKS * BASIC_BLOCK / UNIT - 3;

    /// Makes an entry of a control segment alone.
    pub(crate) fn new() -> Self {
        Self {
            words: [[0; 8]; BLOCKS],
            units: 1,
        }
    }

    /// Appends a unit.
    pub(crate) fn words(&mut self, low: u64, high: u64) {
        let (block, place) = (self.units / 4, self.units % 4);
        self.words[block][2 * place] = low;
        self.words[block][2 * place + 1] = high;
        self.units += 1;
    }

    /// Appends a remote address.
    pub(crate) fn remote(&mut self, address: u64, key: Be32) {
        self.words(Be64::new(address).raw(), key.raw().into());
    }

    /// Appends local memory.
    pub(crate) fn data(&mut self, address: u64, length: u32, key: u32) {
        let [low, high] = Self::data_words(address, length, key);
        self.words(low, high);
    }

    /// Appends pieces of local memory, at most [`Entry::SEGMENTS`].
    pub(crate) fn locals(&mut self, pieces: impl IntoIterator<Item = Local>) {
        for piece in pieces {
            self.data(piece.address, piece.length, piece.key);
        }
    }

    /// Returns a data segment as it lies in memory.
    pub(crate) fn data_words(address: u64, length: u32, key: u32) -> [u64; 2] {
        cast(Data::new(address, length, key))
    }

    /// Appends the `len` bytes at `source`, at most [`Entry::INLINE`].
    ///
    /// # Safety
    /// `source` has as many bytes.
    pub(crate) unsafe fn inline(&mut self, source: *const u8, len: usize) {
        assert!(len <= Self::INLINE);
        let at = self.units * UNIT;
        let bytes = self.words.as_mut_ptr().cast::<u8>();
        // SAFETY: behind at most three units there is room for the count and as many bytes.
        unsafe {
            let count = Be32::new(INLINE | len as u32);
            bytes.add(at).cast::<u32>().write(count.raw());
            std::ptr::copy_nonoverlapping(source, bytes.add(at + size_of::<Be32>()), len);
        }
        self.units += inline_len(len) / UNIT;
    }

    /// Returns the number of its units of 16 bytes.
    pub(crate) fn units(&self) -> usize {
        self.units
    }

    /// Returns the number of its basic blocks.
    pub(crate) fn blocks(&self) -> u16 {
        blocks(self.units) as u16
    }

    /// Puts the control segment in.
    pub(crate) fn set_head(&mut self, head: u64, flags: u8) {
        self.words[0][0] = head;
        self.words[0][1] = u64::from(flags) << FLAGS;
    }

    /// Returns its basic blocks, aligned as in memory.
    pub(crate) fn filled(&self) -> &[Block] {
        &self.words[..self.blocks().into()]
    }
}
