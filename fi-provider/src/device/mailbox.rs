//! The mailbox: own words in the window that peers write and read.

#![expect(unsafe_code, reason = "keeps a view of memory that peers write")]

use crate::device::config::Config;
use std::sync::atomic::AtomicU64;

/// The words of a mailbox, which lie at the same distance in every peer's window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mailbox {
    address: usize,
    words: usize,
}

impl Mailbox {
    /// Makes a mailbox without words.
    pub(crate) fn none() -> Self {
        Self {
            address: std::ptr::dangling::<AtomicU64>().addr(),
            words: 0,
        }
    }

    /// Takes the words that a configuration names.
    pub(crate) fn of(config: &Config) -> Self {
        Self {
            address: config.mailbox,
            words: config.mailbox_words,
        }
    }

    /// Returns the own words.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: `Config::mailbox` is in the window: aligned, and mapped as long as the device is
        // open. The words are zeroed at first, and everybody writes whole ones.
        unsafe { std::slice::from_raw_parts(self.address as *const AtomicU64, self.words) }
    }

    /// Returns the own address of word `slot`; `None` where there is none.
    pub(crate) fn address_of(&self, slot: usize) -> Option<usize> {
        (slot < self.words).then(|| self.address + slot * size_of::<u64>())
    }
}
