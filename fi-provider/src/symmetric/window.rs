//! The memory that peers may reach.

use std::ops::Range;

/// The bytes at the end of a window that hold no object, so that one comparison of an element's first
/// byte with the window's length suffices for every element of up to this size.
pub const ELEMENT_SLACK: usize = 16;

/// The symmetric memory of one process as one range of its addresses.
///
/// Offsets from `base` are equal in all processes of a job; bases differ (address-space layout
/// randomisation). Between the parts there may be addresses that belong to something else: they pass
/// the range test of the fast path, and fault at the peer's mapping, where nothing is mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    base: usize,
    len: usize,
    parts: Vec<MemoryRegion>,
}

/// One registered part of a window: the static data, or the heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRegion {
    /// The first address in this process.
    pub base: usize,
    /// The length in bytes.
    pub len: usize,
    /// Begin of the part in the owner's share of the node's memory, in bytes.
    pub file_offset: usize,
}

impl MemoryRegion {
    /// Returns the addresses of the part.
    pub fn range(&self) -> Range<usize> {
        self.base..self.base + self.len
    }
}

impl Window {
    /// Makes a window that spans `parts`.
    pub fn spanning(parts: Vec<MemoryRegion>) -> Self {
        let base = parts.iter().map(|part| part.base).min().unwrap_or(0);
        let end = parts.iter().map(|part| part.range().end).max().unwrap_or(0);
        Self {
            base,
            len: end - base,
            parts,
        }
    }

    /// Returns the first address in this process.
    pub fn base(&self) -> usize {
        self.base
    }

    /// Returns the length in bytes, holes included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether nothing is registered.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the registered parts.
    pub fn parts(&self) -> &[MemoryRegion] {
        &self.parts
    }

    /// Returns whether `bytes` bytes at `addr` lie in one part: the exact form of the fast path's
    /// range test.
    pub fn contains(&self, addr: usize, bytes: usize) -> bool {
        self.parts.iter().any(|part| {
            let offset = addr.wrapping_sub(part.base);
            offset < part.len && bytes <= part.len - offset
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_belong_to_the_window_and_to_no_part() {
        let part = |base, len| MemoryRegion {
            base,
            len,
            file_offset: 0,
        };
        let window = Window::spanning(vec![part(0x9000, 0x1000), part(0x1000, 0x2000)]);
        assert_eq!((window.base(), window.len()), (0x1000, 0x9000));
        assert!(window.contains(0x1000, 0x2000));
        assert!(!window.contains(0x1000, 0x2001));
        assert!(!window.contains(0x3000, 0), "in the hole");
        assert!(!window.contains(0xfff, 1));
        assert!(window.contains(0x9fff, 1));
        assert!(!window.contains(0xa000, 0));
        assert!(!window.contains(0x9fff, usize::MAX));
    }
}
