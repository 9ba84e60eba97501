//! Bytes as a source of numbers.

/// The bytes that are left. At the end come zeros.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a>(pub(super) &'a [u8]);

impl<'a> Input<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the next bytes, fewer at the end.
    pub(super) fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, left) = self.0.split_at(count.min(self.0.len()));
        self.0 = left;
        taken
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        let taken = self.bytes(N);
        array[..taken.len()].copy_from_slice(taken);
        array
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    pub(super) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    pub(super) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    pub(super) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    /// Returns a number that is small or a power of two more often than not.
    pub(super) fn number(&mut self) -> u64 {
        match self.below(4) {
            0 => self.byte().into(),
            1 => 1 << self.below(64),
            2 => self.u32().into(),
            _ => self.u64(),
        }
    }

    /// Returns a number as [`Self::number`] does, of 32 bits.
    pub(super) fn number32(&mut self) -> u32 {
        self.number() as u32
    }
}
