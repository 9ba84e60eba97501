//! Local memory, as data segments name it.

use crate::entry::Entry;
use crate::unit::{Unit, unit};
use fi_mlx5_defs::endian::Be64;

/// A local key, as the data segment of a word of 8 bytes begins: with its length and the key.
#[derive(Clone, Copy, Debug)]
pub struct LocalKey(u64);

/// Such a word.
#[derive(Clone, Copy, Debug)]
pub struct LocalWord(pub(crate) Unit);

impl LocalKey {
    /// Makes the one of memory which is registered under this key.
    #[must_use]
    pub fn new(key: u32) -> Self {
        let [low, _] = Entry::data_words(0, size_of::<u64>() as u32, key);
        Self(low)
    }

    /// Returns the key.
    #[inline(always)]
    #[must_use]
    pub fn key(self) -> u32 {
        u32::from_be((self.0 >> 32) as u32)
    }

    /// Returns the word at this address.
    #[inline(always)]
    #[must_use]
    pub fn word_at(self, address: u64) -> LocalWord {
        LocalWord(unit(self.0, Be64::new(address).raw()))
    }
}
