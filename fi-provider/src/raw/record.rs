//! A record that has come: from a ring of the node, over a device, or over libfabric.

#![expect(unsafe_code, reason = "copies payloads to C addresses")]

use fi_shm::{copy, ring};

/// Words before the bytes of any record, at most.
pub(crate) const MOST_WORDS: usize = 6;

/// A kind, and a payload of words and bytes. Dropping it gives its room back to the sender.
///
/// The sender may change the payload meanwhile: it is copied before it is checked.
pub(crate) trait Record: Sized {
    /// Returns the kind that the sender has chosen.
    fn kind(&self) -> u16;

    /// Returns the length of the payload in bytes.
    fn len(&self) -> usize;

    /// Returns the address of the payload: aligned to 8, readable up to the next multiple of 8
    /// behind its length, until this value ends.
    fn payload(&self) -> *const u8;

    /// Reads bytes `8 * index` to `8 * index + 7` of the payload; `None` if it has none of them.
    fn word(&self, index: usize) -> Option<u64>;

    /// Copies the payload from byte `from` on, at most `most` bytes; returns their number.
    ///
    /// # Safety
    /// `dest` is mapped for writing for `most` bytes, outside of the record's memory.
    unsafe fn copy_to(&self, from: usize, dest: *mut u8, most: usize) -> usize;

    /// Leaves the record where it is: it comes again.
    fn leave(self);

    /// Returns the first words of the payload; `None` where it has not so many.
    #[inline(always)]
    fn words<const N: usize>(&self) -> Option<[u64; N]> {
        if self.len() < N * 8 {
            return None;
        }
        let mut words = [0; N];
        for (index, word) in words.iter_mut().enumerate() {
            *word = self.word(index)?;
        }
        Some(words)
    }
}

impl Record for ring::Record<'_> {
    #[inline(always)]
    fn kind(&self) -> u16 {
        self.kind()
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn payload(&self) -> *const u8 {
        self.payload()
    }

    #[inline(always)]
    fn word(&self, index: usize) -> Option<u64> {
        self.word(index)
    }

    #[inline(always)]
    unsafe fn copy_to(&self, from: usize, dest: *mut u8, most: usize) -> usize {
        // SAFETY: `dest` is mapped for writing for `most` bytes, outside of the ring.
        unsafe { self.copy_to(from, dest, most) }
    }

    #[inline(always)]
    fn leave(self) {
        self.leave();
    }
}

/// A record in memory of the own process's.
#[derive(Debug)]
pub(crate) struct Flat {
    pub(crate) kind: u16,
    /// Aligned to 8; readable up to the next multiple of 8 behind the length.
    pub(crate) payload: *const u8,
    pub(crate) len: usize,
}

impl Record for Flat {
    fn kind(&self) -> u16 {
        self.kind
    }

    fn len(&self) -> usize {
        self.len
    }

    fn payload(&self) -> *const u8 {
        self.payload
    }

    fn word(&self, index: usize) -> Option<u64> {
        // SAFETY: the payload begins aligned, and is readable up to the next multiple of 8 behind its
        // length.
        (index < self.len.div_ceil(8))
            .then(|| unsafe { self.payload.cast::<u64>().add(index).read() })
    }

    unsafe fn copy_to(&self, from: usize, dest: *mut u8, most: usize) -> usize {
        let bytes = self.len.saturating_sub(from).min(most);
        // SAFETY: `dest` is mapped for writing for `most` bytes; so many are in the payload, or
        // none.
        unsafe { copy::copy(dest, self.payload.wrapping_add(from), bytes) };
        bytes
    }

    fn leave(self) {}
}
