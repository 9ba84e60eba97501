//! Messages beside records, and the heads of all.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Bytes before the payload of a message: its kind and number, and its line.
pub(super) const HEADER: usize = 16;
/// Records on their way to one receiver, at most.
pub(super) const CREDITS: u64 = 32;
/// Refusals of a message, one after the other, from which on it is tried by the clock.
pub(super) const PROMPT: u32 = 64;
/// The time between two such trials.
pub(super) const PAUSE: Duration = Duration::from_millis(2);

/// The kinds of messages beside those of records (`crate::raw::protocol`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Kind {
    /// Begins a line: the addresses of the receiver, without its name, and of the sender. The answer
    /// is [`Kind::Taken`] or [`Kind::Gone`].
    Greeting = 0xf0,
    /// Tells the number of records that were taken of a line, which is the receiver's.
    Taken,
    /// Tells that there is no endpoint of the address that a line is to.
    Gone,
    /// Asks whether the receiver is there.
    Probe,
    /// Asks for the region of a key. Words: a number, the key. The answer is [`Kind::Found`].
    Look,
    /// Tells of a region. Words: the number, its state, or 0 where there is none, length and first
    /// address.
    Found,
    /// Counts an access. Words: a number, the key, whether it was a read, the mark of the access. The
    /// answer is that to an operation of this number.
    Count,
}

impl Kind {
    /// Returns the kind that a message tells, if it is one of these.
    pub(super) fn of(word: u16) -> Option<Self> {
        const ALL: [Kind; 7] = [
            Kind::Greeting,
            Kind::Taken,
            Kind::Gone,
            Kind::Probe,
            Kind::Look,
            Kind::Found,
            Kind::Count,
        ];
        ALL.into_iter().find(|kind| *kind as u16 == word)
    }
}

/// The first words of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: u16,
    pub(super) number: u32,
    pub(super) line: u64,
}

impl Header {
    pub(super) fn to_words(self) -> [u64; 2] {
        let first = u64::from(self.number) << 32 | u64::from(self.kind);
        [first, self.line]
    }

    pub(super) fn of_words([first, line]: [u64; 2]) -> Self {
        Self {
            kind: first as u16,
            number: (first >> 32) as u32,
            line,
        }
    }
}

/// A message beside records: the peer, and at most so many words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notice {
    pub(super) peer: u64,
    pub(super) kind: Kind,
    pub(super) line: u64,
    pub(super) words: [u64; 4],
}

/// Pace of the trials of a message that found no room: in each turn at first, then by the clock.
/// Each trial by `tcp;ofi_rxm` connects again to a peer that has ended.
#[derive(Debug, Default)]
pub(super) struct Pace {
    refusals: Cell<u32>,
    last: Cell<Option<Instant>>,
}

impl Pace {
    /// Returns whether it is time for a trial.
    pub(super) fn is_due(&self) -> bool {
        let is_over = |last: Instant| last.elapsed() >= PAUSE;
        self.refusals.get() < PROMPT || self.last.get().is_none_or(is_over)
    }

    /// Notes that there was no room.
    pub(super) fn note_refusal(&self) {
        let refusals = self.refusals.get().saturating_add(1);
        self.refusals.set(refusals);
        if refusals >= PROMPT {
            self.last.set(Some(Instant::now()));
        }
    }

    /// Notes that there was room.
    pub(super) fn note_room(&self) {
        self.refusals.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::protocol;

    #[test]
    fn messages_beside_records_are_no_records() {
        for kind in 0..=u16::MAX {
            let both = Kind::of(kind).is_some() && protocol::Kind::of(kind).is_some();
            assert!(!both, "{kind}");
        }
        assert_eq!((0..=u16::MAX).filter_map(Kind::of).count(), 7);
    }

    #[test]
    fn refused_messages_are_tried_by_the_clock() {
        let pace = Pace::default();
        for _ in 0..PROMPT {
            assert!(pace.is_due());
            pace.note_refusal();
        }
        let start = Instant::now();
        let mut trials = 0;
        while start.elapsed() < 10 * PAUSE {
            if pace.is_due() {
                trials += 1;
                pace.note_refusal();
            }
        }
        assert!((1..=10).contains(&trials), "{trials}");
        pace.note_room();
        assert!(pace.is_due());
    }

    #[test]
    fn headers_are_read_as_they_were_written() {
        let header = Header {
            kind: 0x501,
            number: u32::MAX - 3,
            line: 1 << 60 | 5,
        };
        assert_eq!(Header::of_words(header.to_words()), header);
    }
}
