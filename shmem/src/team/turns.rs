//! Whose turn a team's slots are.
//!
//! Every PE of a team takes the same turns, because it comes to the same collectives. A slot may be written again when
//! all PEs have read it, which is so when all have come to a later collective: there are some slots to write before it
//! has to be known.

use crate::workspace::RING;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Turns after which words are brought up to date: a fraction of the 2^31 that they may be behind.
const OLD_AFTER: u64 = 1 << 28;

/// The turns of a team; one thread at a time takes them.
#[derive(Debug)]
pub(super) struct Turns {
    last: AtomicU64,
    /// Slots that some PE may still have to read.
    open: AtomicU32,
    /// The barriers of all PEs that had been completed at the last turn.
    barriers: AtomicU32,
}

impl Turns {
    /// The turns behind number `last`.
    pub(super) fn behind(last: u64) -> Self {
        Self {
            last: AtomicU64::new(last),
            open: AtomicU32::new(0),
            barriers: AtomicU32::new(0),
        }
    }

    /// The number of the last turn.
    pub(super) fn last(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    /// Takes the next turn; there is a slot for it.
    #[inline]
    pub(super) fn take(&self) -> u64 {
        let turn = self.last() + 1;
        self.last.store(turn, Ordering::Relaxed);
        let open = self.open.load(Ordering::Relaxed);
        self.open.store(open + 1, Ordering::Relaxed);
        turn
    }

    /// Whether the slots' words, of 32 bits, have to be brought up to date: of a PE that never shows anything they fall
    /// behind the turns.
    #[inline]
    pub(super) fn are_words_old(&self) -> bool {
        self.last() % OLD_AFTER == OLD_AFTER - 1
    }

    /// Whether all slots may still have to be read by some PE.
    #[inline]
    pub(super) fn are_all_open(&self) -> bool {
        self.open.load(Ordering::Relaxed) as usize == RING
    }

    /// All PEs have come to a collective behind the last turn.
    #[inline]
    pub(super) fn all_have_come(&self) {
        self.open.store(0, Ordering::Relaxed);
    }

    /// All PEs have come to the collective of the last turn, whose slots they read now.
    #[inline]
    pub(super) fn all_take_it(&self) {
        self.open.store(1, Ordering::Relaxed);
    }

    /// `barriers` barriers of the team's PEs have been completed.
    #[inline]
    pub(super) fn note_barriers(&self, barriers: u32) {
        if self.barriers.load(Ordering::Relaxed) != barriers {
            self.barriers.store(barriers, Ordering::Relaxed);
            self.all_have_come();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_open_until_all_have_come() {
        let turns = Turns::behind(41);
        for turn in 42..42 + RING as u64 {
            assert!(!turns.are_all_open());
            assert_eq!(turns.take(), turn);
        }
        assert!(turns.are_all_open());
        turns.all_take_it();
        assert!(!turns.are_all_open());
        for _ in 1..RING {
            turns.take();
        }
        assert!(turns.are_all_open());
        turns.note_barriers(3);
        assert!(!turns.are_all_open());
        (0..RING).for_each(|_| assert!(turns.take() > 0));
        turns.note_barriers(3);
        assert!(turns.are_all_open());
    }
}
