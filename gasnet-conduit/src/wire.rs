//! Messages as they travel: a header word, for a long message the address of its payload, the
//! arguments, padded to 8 bytes, and the payload, unless it was written to its place.

use crate::message::Category;

/// The most arguments of a message, of 32 bits each.
pub const MOST_ARGS: usize = 16;

/// Handlers have indices below this.
pub const HANDLERS: usize = 256;

/// The words before a payload, at most: the header, an address, and the arguments.
pub(crate) const MOST_WORDS: usize = 2 + MOST_ARGS / 2;

/// The first word of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) handler: u8,
    /// The number of arguments.
    pub(crate) args: u8,
    pub(crate) category: Category,
    /// Whether the payload of a long message comes with it.
    pub(crate) is_carried: bool,
    /// The bytes of a long message's payload, below 2^48.
    pub(crate) bytes: u64,
}

impl Header {
    #[inline(always)]
    pub(crate) fn to_word(self) -> u64 {
        u64::from(self.handler)
            | u64::from(self.args) << 8
            | (self.category as u64) << 13
            | u64::from(self.is_carried) << 15
            | self.bytes << 16
    }

    /// Returns the header of a short message by one comparison; `None` for others, and where all
    /// arguments are there.
    #[inline(always)]
    pub(crate) fn of_short_word(word: u64) -> Option<Self> {
        const OTHER: u64 = 3 << 13 | (MOST_ARGS as u64) << 8;
        (word & OTHER == 0).then_some(Self {
            handler: word as u8,
            args: (word >> 8 & 0xf) as u8,
            category: Category::Short,
            is_carried: false,
            bytes: 0,
        })
    }

    /// Returns the bytes of the arguments of a short message with this word, padded to 8.
    #[inline(always)]
    pub(crate) fn short_args_bytes(word: u64) -> usize {
        // Each takes 4 bytes: their number is in the bits from 8 on.
        ((word >> 6) as usize + 4) & 0x78
    }

    /// Returns `None` for a word that no engine sends.
    #[inline(always)]
    pub(crate) fn of_word(word: u64) -> Option<Self> {
        let args = (word >> 8 & 0x1f) as u8;
        if usize::from(args) > MOST_ARGS {
            return None;
        }
        Some(Self {
            handler: word as u8,
            args,
            category: Category::of_bits(word >> 13 & 3)?,
            is_carried: word >> 15 & 1 != 0,
            bytes: word >> 16,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_and_nonsense_is_refused() {
        for category in [Category::Short, Category::Medium, Category::Long] {
            for (handler, args, is_carried, bytes) in [
                (0, 0, false, 0),
                (255, 16, true, (1 << 48) - 1),
                (7, 3, false, 12),
                (9, 15, false, 0),
            ] {
                let header = Header {
                    handler,
                    args,
                    category,
                    is_carried,
                    bytes,
                };
                let word = header.to_word();
                assert_eq!(Header::of_word(word), Some(header));
                if let Some(short) = Header::of_short_word(word) {
                    assert_eq!(category, Category::Short);
                    assert_eq!((short.handler, short.args), (handler, args));
                    let bytes = 4 * usize::from(args).next_multiple_of(2);
                    assert_eq!(Header::short_args_bytes(word), bytes);
                } else {
                    assert!(category != Category::Short || usize::from(args) == MOST_ARGS);
                }
            }
        }
        assert_eq!(Header::of_word(17 << 8), None);
        assert_eq!(Header::of_word(3 << 13), None);
    }
}
