//! The parts of a window in the order of their addresses.
//!
//! Processes may have the parts the other way round. Each has a number that is the same in all.

use crate::symmetric::remote::PARTS;
use crate::symmetric::window::{MemoryRegion, Window};

/// The parts of a window that are not empty, at most [`PARTS`].
#[derive(Clone, Debug)]
pub(crate) struct Parts(Vec<Part>);

/// A part.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) region: MemoryRegion,
    /// Its number among the window's parts, the same in all processes.
    pub(crate) number: usize,
}

impl Parts {
    /// Returns the parts of `window`; their number where they are too many.
    pub(crate) fn of(window: &Window) -> Result<Self, usize> {
        let filled = window.parts().iter().filter(|part| part.len > 0);
        let numbered = filled.enumerate().map(|(number, region)| Part {
            region: region.clone(),
            number,
        });
        let mut parts: Vec<_> = numbered.collect();
        if parts.len() > PARTS {
            return Err(parts.len());
        }
        parts.sort_by_key(|part| part.region.base);
        Ok(Self(parts))
    }

    /// Returns them in the order of their addresses.
    pub(crate) fn all(&self) -> &[Part] {
        &self.0
    }

    /// Returns the place of the part that has `bytes` bytes at `addr`.
    pub(crate) fn place_of(&self, addr: usize, bytes: usize) -> Option<usize> {
        self.0.iter().position(|part| {
            let offset = addr.wrapping_sub(part.region.base);
            offset < part.region.len && bytes <= part.region.len - offset
        })
    }

    /// Returns the address of the lowest part, 0 without any.
    pub(crate) fn lowest(&self) -> usize {
        self.0.first().map_or(0, |part| part.region.base)
    }

    /// Returns the place at which the second part begins, in bytes from `base`, the window's.
    pub(crate) fn split(&self, base: usize) -> usize {
        let second = self.0.get(1);
        second.map_or(usize::MAX, |part| part.region.base - base)
    }

    /// Returns the ends of the parts, in bytes from the lowest one's base.
    pub(crate) fn ends(&self) -> [usize; PARTS] {
        let base = self.lowest();
        let mut ends = [0; PARTS];
        for (end, part) in ends.iter_mut().zip(&self.0) {
            *end = part.region.range().end - base;
        }
        ends
    }

    /// Puts values that are in the order of the parts' addresses into the order of their numbers.
    pub(crate) fn by_number<T: Copy + Default>(&self, values: &[T]) -> [T; PARTS] {
        let mut ordered = [T::default(); PARTS];
        for (part, &value) in self.0.iter().zip(values) {
            ordered[part.number] = value;
        }
        ordered
    }

    /// Puts values that are in the order of the parts' numbers into the order of their addresses
    /// here.
    pub(crate) fn by_address<T: Copy + Default>(&self, values: &[T; PARTS]) -> [T; PARTS] {
        let mut ordered = [T::default(); PARTS];
        for (place, part) in ordered.iter_mut().zip(&self.0) {
            *place = values[part.number];
        }
        ordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_windows_and_the_order_that_of_addresses() {
        let part = |base, len| MemoryRegion {
            base,
            len,
            file_offset: 0,
        };
        let window = Window::spanning(vec![part(0x9000, 0x1000), part(0, 0), part(0x1000, 0x2000)]);
        let parts = Parts::of(&window).unwrap();
        assert_eq!(parts.lowest(), 0x1000);
        assert_eq!(parts.split(0x1000), 0x8000);
        assert_eq!(parts.ends(), [0x2000, 0x9000]);
        assert_eq!(parts.place_of(0x9fff, 1), Some(1));
        assert_eq!(parts.place_of(0x9fff, 2), None);
        assert_eq!(parts.by_number(&[7, 8]), [8, 7]);
        assert_eq!(parts.by_address(&[8, 7]), [7, 8]);
        let three = Window::spanning(vec![part(1, 1), part(2, 1), part(3, 1)]);
        assert_eq!(Parts::of(&three).err(), Some(3));
    }
}
