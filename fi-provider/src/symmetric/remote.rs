//! Place of a peer's window, as a device reaches it.

#![expect(unsafe_code, reason = "a volatile read, to hold the compiler")]

use fi_mlx5::remote::{Key, Segment, Vector};
use fi_mlx5_defs::endian::Be32;

/// Parts of a window that can be registered: a peer's record has a key for each.
pub(crate) const PARTS: usize = 2;

/// A peer as the device reaches it; plain data for a table that many lanes, and all processes of a
/// node, read.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Remote {
    /// Addresses at which the peer has the lower and the upper of its window's two parts.
    pub(crate) bases: [u64; PARTS],
    /// The keys of the two parts, as they lie in an entry.
    pub(crate) keys: [Be32; PARTS],
    /// The address vector of the peer's DC target.
    pub(crate) vector: Vector,
}

const _: () = assert!(size_of::<Remote>() == 40);

impl Remote {
    /// Makes a peer whose parts lie at `bases`, under `keys`, and that `vector` leads to.
    pub(crate) fn new(bases: [u64; PARTS], keys: [u32; PARTS], vector: Vector) -> Self {
        Self {
            bases,
            keys: keys.map(Be32::new),
            vector,
        }
    }

    /// Makes peer `number` of the domain, whose parts lie at `bases`, under keys that take the
    /// place of the address vector; the number takes that of the other keys.
    pub(crate) fn with_long_keys(number: u32, bases: [u64; PARTS], keys: [u64; PARTS]) -> Self {
        Self {
            bases,
            keys: [Be32::from_raw(number), Be32::new(0)],
            vector: Vector::of_words(keys),
        }
    }

    /// Returns the number of a peer with long keys, among all of the domain.
    #[inline(always)]
    pub(crate) fn number(&self) -> u32 {
        self.keys[0].raw()
    }

    /// Returns the keys of [`Remote::with_long_keys`].
    #[inline(always)]
    pub(crate) fn long_keys(&self) -> [u64; PARTS] {
        self.vector.words()
    }

    /// Does as [`Remote::place`], for a peer with long keys.
    #[inline(always)]
    pub(crate) fn long_place(&self, offset: usize, split: usize) -> (u64, u64) {
        let (address, _) = self.place(offset, split);
        (address, self.long_keys()[usize::from(offset >= split)])
    }

    /// Returns the address and the key of the byte `offset` bytes behind the base of the own
    /// window, whose upper part begins `split` bytes behind it: between processes the distance of
    /// the parts differs.
    pub(crate) fn place(&self, offset: usize, split: usize) -> (u64, Be32) {
        let part = usize::from(offset >= split);
        let inside = if part == 0 { offset } else { offset - split };
        (
            self.bases[part].wrapping_add(inside as u64),
            self.keys[part],
        )
    }

    /// Returns the result of [`Remote::place`] in the form of an entry, by the shortest path: the
    /// compiler would have both parts go through a table.
    #[inline(always)]
    pub(crate) fn segment(&self, offset: usize, split: &usize) -> Segment {
        self.segment_if(offset < *split, offset, split)
    }

    /// Does as [`Remote::segment`], where it is known whether the byte is in the lower part.
    #[inline(always)]
    pub(crate) fn segment_if(&self, is_lower: bool, offset: usize, split: &usize) -> Segment {
        let [lower, upper] = self.bases;
        let [first, second] = self.keys;
        let (address, key) = if is_lower {
            let address = lower.wrapping_add(offset as u64);
            (address, Key::of_one(first))
        } else {
            less_likely();
            // SAFETY: it is a reference. Volatile: read again, the comparison needs no register for
            // it.
            let inside = offset.wrapping_sub(unsafe { std::ptr::read_volatile(split) });
            let address = upper.wrapping_add(inside as u64);
            (address, Key::of_other(second))
        };
        Segment::under(address, key)
    }

    /// Returns the same peer for a process whose window has the two parts the other way round.
    #[must_use]
    pub(crate) fn swapped(&self) -> Self {
        let ([lower, upper], [first, second]) = (self.bases, self.keys);
        Self {
            bases: [upper, lower],
            keys: [second, first],
            ..*self
        }
    }

    /// Returns the same peer with long keys, for a process whose window has the two parts the other
    /// way round.
    #[must_use]
    pub(crate) fn swapped_long(&self) -> Self {
        let ([lower, upper], [first, second]) = (self.bases, self.long_keys());
        Self::with_long_keys(self.number(), [upper, lower], [second, first])
    }
}

/// Has the compiler put the path that calls it behind the other.
#[cold]
fn less_likely() {}
