//! The records between endpoints, in rings of the node or over a device: a kind, words of 8 bytes,
//! and bytes.
//!
//! Numbers are in the machine's byte order, which is little-endian on machines with a device
//! (`fi-mlx5`). A receiver checks all of them; those that make no sense close the ring or the
//! connection.

/// The kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A message, whole. Words: tag, data and number, each if the flags say so.
    Message = 1,
    /// A message that the receiver fetches. Words: number, address or, if the flags say so, offset
    /// in the arena, length, and, if the flags say so, the device's key, data and tag. The answer
    /// is [`Kind::Done`].
    Offer,
    /// Asks for the bytes of an offer. Words: its number, and the number of the pieces.
    Fetch,
    /// A part of something asked for. Words: the number of the pieces, the distance from their
    /// begin.
    Piece,
    /// The end of an operation. Words: its number, the code of an error or 0.
    Done,
    /// Writes to a region. Words: number, key, address, whether it is the last. The answer to the
    /// last, and to one that fails, is [`Kind::Done`].
    Write,
    /// Reads from a region. Words: number, key, address, length. The answer is [`Kind::Piece`]s, or
    /// [`Kind::Done`] with an error.
    Read,
    /// Does an atomic operation on a region. Words: number, key, address, operation and size,
    /// operand, comparand. The answer is one [`Kind::Piece`], or [`Kind::Done`] with an error.
    Atomic,
    /// Tells of a write. Words: data, length.
    Told,
    /// The endpoint is closed.
    Bye,
    /// Tells of a copy that the sender is at, between its memory and the receiver's: the receiver
    /// may take a share. Words: key and address, or the number of an offer and 0; length and flags
    /// of the copy; the address with the sender; the offset of the words of the turn in the
    /// sender's arena, its number. There is no answer.
    Share,
}

/// A word of data comes with the message.
pub(crate) const HAS_DATA: u16 = 0x100;
/// The bytes lie in the sender's arena.
pub(crate) const IN_ARENA: u16 = 0x400;
/// The bytes are registered with the sender's device.
pub(crate) const HAS_KEY: u16 = 0x800;
/// The message has a tag: receives by tag alone take it.
pub(crate) const HAS_TAG: u16 = 0x1000;
/// The sender waits for [`Kind::Done`]: a number comes with the message.
pub(crate) const WANTS_ANSWER: u16 = 0x200;
/// The same, and a message that the receiver holds is answered when a buffer has it.
pub(crate) const WANTS_MATCH: u16 = WANTS_ANSWER | 0x2000;

/// In the last word of a write, the length of a read and the operation of an atomic one: the access is
/// a part of another one, which is counted as a whole.
pub(crate) const UNCOUNTED: u64 = 1 << 63;

/// In the same words: the access is to a region of one generation, which the bits from
/// [`GENERATION`] on tell, and to no other that the key has by then.
pub(crate) const CHECKED: u64 = 1 << 62;
/// The first bit of a generation.
pub(crate) const GENERATION: u32 = 41;
/// The bits of those words that are not their own.
pub(crate) const MARKS: u64 = u64::MAX << GENERATION;

/// The kind of a record of a tagged message: its tag and its bytes, and nothing else.
pub(crate) const TAGGED: u16 = Kind::Message as u16 | HAS_TAG;

impl Kind {
    /// Returns whether the receiver may have to answer more than to an operation of its own.
    pub(crate) fn asks(self) -> bool {
        !matches!(
            self,
            Self::Piece | Self::Done | Self::Told | Self::Bye | Self::Share
        )
    }

    /// Returns the kind and the flags that a record tells.
    #[inline(always)]
    pub(crate) fn of(record: u16) -> Option<(Self, u16)> {
        let kind = match record & 0xff {
            1 => Self::Message,
            2 => Self::Offer,
            3 => Self::Fetch,
            4 => Self::Piece,
            5 => Self::Done,
            6 => Self::Write,
            7 => Self::Read,
            8 => Self::Atomic,
            9 => Self::Told,
            10 => Self::Bye,
            11 => Self::Share,
            _ => return None,
        };
        let flags = record & 0xff00;
        let is_sound = match kind {
            Self::Message => {
                let wanted = flags & !(HAS_DATA | HAS_TAG);
                matches!(wanted, 0 | WANTS_ANSWER | WANTS_MATCH)
            }
            Self::Offer => matches!(flags & !(HAS_DATA | HAS_TAG), 0 | IN_ARENA | HAS_KEY),
            _ => flags == 0,
        };
        is_sound.then_some((kind, flags))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart_and_others_refused() {
        let known = (0..=u16::MAX).filter_map(Kind::of);
        let plain = known.clone().filter(|(_, flags)| *flags == 0);
        let numbers = plain.map(|(kind, _)| kind as u8);
        assert!(numbers.eq(1..=11));
        assert_eq!(
            known.count(),
            11 + 11 + 11,
            "flags with messages and offers alone"
        );
        let message = Kind::Message as u16 | HAS_DATA;
        assert_eq!(Kind::of(message), Some((Kind::Message, HAS_DATA)));
        assert_eq!(Kind::of(Kind::Done as u16 | HAS_DATA), None);
    }
}
