//! Whose turn the slots are in which processes show each other something, in turns.
//!
//! Every process takes the same turns, because it comes to the same collectives; in some it shows something, in the slot
//! of the turn, and posts the turn to the slot's [`crate::flag::Word`], for which those wait who want to read. A slot may
//! be written again when all have read it, which is so when all have come to a later collective: there are some slots to
//! write before that has to be known.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Turns after which words are brought up to date: a fraction of the 2^31 that they may be behind.
const OLD_AFTER: u64 = 1 << 28;

/// The turns that a process has taken; one thread at a time takes them.
#[derive(Debug)]
pub struct Turns {
    /// The number of slots.
    ring: u32,
    last: AtomicU64,
    /// Slots that some process may still have to read.
    open: AtomicU32,
    /// The barriers of the same processes that had been completed at the last turn.
    barriers: AtomicU32,
}

impl Turns {
    /// The turns behind number `last`, in `ring` slots.
    pub fn behind(last: u64, ring: usize) -> Self {
        Self {
            ring: ring as u32,
            last: AtomicU64::new(last),
            open: AtomicU32::new(0),
            barriers: AtomicU32::new(0),
        }
    }

    /// The number of the last turn.
    pub fn last(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    /// The slot of turn number `turn`.
    #[inline(always)]
    pub fn slot(&self, turn: u64) -> usize {
        (turn % u64::from(self.ring)) as usize
    }

    /// Takes the next turn. Where its slot may still have to be read, all processes `meet` first; and now and then
    /// `renew` has to post the last turn to the words of all own slots.
    #[inline]
    pub fn next(&self, meet: impl FnOnce(), renew: impl FnOnce(u32)) -> u64 {
        let is_full = self.open.load(Ordering::Relaxed) == self.ring;
        if is_full || self.are_words_old() {
            self.make_room(meet, renew);
        }
        self.take()
    }

    #[cold]
    fn make_room(&self, meet: impl FnOnce(), renew: impl FnOnce(u32)) {
        meet();
        self.all_have_come();
        if self.are_words_old() {
            renew(self.last() as u32);
        }
    }

    #[inline]
    fn take(&self) -> u64 {
        let turn = self.last() + 1;
        self.last.store(turn, Ordering::Relaxed);
        let open = self.open.load(Ordering::Relaxed);
        self.open.store(open + 1, Ordering::Relaxed);
        turn
    }

    /// Whether the slots' words, of 32 bits, have to be brought up to date: of a process that never shows anything they fall
    /// behind the turns.
    #[inline]
    fn are_words_old(&self) -> bool {
        self.last() % OLD_AFTER == OLD_AFTER - 1
    }

    /// All processes have come to a collective behind the last turn.
    #[inline]
    pub fn all_have_come(&self) {
        self.open.store(0, Ordering::Relaxed);
    }

    /// All processes have come to the collective of the last turn, whose slots they read now.
    #[inline]
    pub fn all_take_it(&self) {
        self.open.store(1, Ordering::Relaxed);
    }

    /// `barriers` barriers of the same processes have been completed.
    #[inline]
    pub fn note_barriers(&self, barriers: u32) {
        if self.barriers.load(Ordering::Relaxed) != barriers {
            self.barriers.store(barriers, Ordering::Relaxed);
            self.all_have_come();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(turns: &Turns, meetings: &mut u32) -> u64 {
        turns.next(|| *meetings += 1, |_| ())
    }

    #[test]
    fn slots_are_open_until_all_have_come() {
        let turns = Turns::behind(41, 8);
        let mut meetings = 0;
        for turn in 42..50 {
            assert_eq!(next(&turns, &mut meetings), turn);
        }
        assert_eq!(meetings, 0);
        next(&turns, &mut meetings);
        assert_eq!(meetings, 1);
        turns.all_take_it();
        for _ in 1..8 {
            next(&turns, &mut meetings);
        }
        assert_eq!(meetings, 1);
        turns.note_barriers(3);
        for _ in 0..8 {
            next(&turns, &mut meetings);
        }
        assert_eq!(meetings, 1);
        turns.note_barriers(3);
        next(&turns, &mut meetings);
        assert_eq!(meetings, 2);
    }

    #[test]
    fn words_are_renewed_before_they_are_too_old() {
        let turns = Turns::behind(OLD_AFTER - 3, 8);
        let mut renewed = Vec::new();
        for _ in 0..6 {
            turns.next(|| (), |last| renewed.push(last));
        }
        assert_eq!(renewed, [OLD_AFTER as u32 - 1]);
    }
}
