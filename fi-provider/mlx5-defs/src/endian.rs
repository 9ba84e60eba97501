//! Big-endian numbers with the alignment of the native ones, so that a segment is written by whole words.

use bytemuck::{Pod, Zeroable};
use std::fmt;

macro_rules! big_endian {
    ($($(#[$doc:meta])* $name:ident($native:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Pod, Zeroable)]
        #[repr(transparent)]
        pub struct $name($native);

        impl $name {
            /// Returns the big-endian form of `value`.
            #[inline(always)]
            #[must_use]
            pub const fn new(value: $native) -> Self {
                Self(value.to_be())
            }

            /// Returns the value.
            #[inline(always)]
            #[must_use]
            pub const fn get(self) -> $native {
                <$native>::from_be(self.0)
            }

            /// Returns the word as it lies in memory: for a store of the whole.
            #[inline(always)]
            #[must_use]
            pub const fn raw(self) -> $native {
                self.0
            }

            /// Makes one of a word as it lay in memory.
            #[inline(always)]
            #[must_use]
            pub const fn from_raw(raw: $native) -> Self {
                Self(raw)
            }
        }

        impl From<$native> for $name {
            fn from(value: $native) -> Self {
                Self::new(value)
            }
        }

        impl From<$name> for $native {
            fn from(value: $name) -> Self {
                value.get()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x}", self.get())
            }
        }
    )*};
}

big_endian! {
    /// 16 bits, big-endian.
    Be16(u16);
    /// 32 bits, big-endian.
    Be32(u32);
    /// 64 bits, big-endian.
    Be64(u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_is_the_highest() {
        assert_eq!(bytemuck::bytes_of(&Be16::new(0x0102)), [1, 2]);
        assert_eq!(bytemuck::bytes_of(&Be32::new(0x0102_0304)), [1, 2, 3, 4]);
        assert_eq!(
            bytemuck::bytes_of(&Be64::new(0x0102_0304_0506_0708)),
            [1, 2, 3, 4, 5, 6, 7, 8]
        );
        assert_eq!(Be32::from_raw(Be32::new(7).raw()).get(), 7);
        assert_eq!(format!("{:?}", Be16::new(0x12)), "0x12");
    }
}
