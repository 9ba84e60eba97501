//! Turns of the slots in which processes show each other something.
//!
//! Every process takes the same turns, because it comes to the same collectives; in some it shows
//! something, in the slot of the turn, and posts the turn to the slot's [`crate::flag::Word`], for
//! which the readers wait. A slot may be written again when all have read it, which is so when all
//! have come to a later collective: there are some slots to write before that has to be known.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The turns that a process has taken; one thread at a time takes them.
#[derive(Debug)]
pub struct Turns {
    /// The number of slots.
    ring: u32,
    /// Of 64 bits, as the words that tell of a turn: no job takes so many.
    last: AtomicU64,
    /// Slots that some process may still have to read: at most `ring`.
    open: AtomicU32,
    /// The barriers of the same processes that had been completed at the last turn.
    barriers: AtomicU64,
}

impl Turns {
    /// Makes the turns behind number `last`, in `ring` slots.
    pub fn behind(last: u64, ring: usize) -> Self {
        Self {
            ring: ring as u32,
            last: AtomicU64::new(last),
            open: AtomicU32::new(0),
            barriers: AtomicU64::new(0),
        }
    }

    /// Returns the number of the last turn.
    pub fn last(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    /// Returns the slot of turn number `turn`.
    #[inline(always)]
    pub fn slot(&self, turn: u64) -> usize {
        (turn % u64::from(self.ring)) as usize
    }

    /// Takes the next turn. Where its slot may still have to be read, all processes `meet` first.
    #[inline]
    pub fn next(&self, meet: impl FnOnce()) -> u64 {
        if self.open.load(Ordering::Relaxed) == self.ring {
            self.make_room(meet);
        }
        self.take()
    }

    #[cold]
    fn make_room(&self, meet: impl FnOnce()) {
        meet();
        self.all_have_come();
    }

    #[inline]
    fn take(&self) -> u64 {
        let turn = self.last() + 1;
        self.last.store(turn, Ordering::Relaxed);
        let open = self.open.load(Ordering::Relaxed);
        self.open.store(open + 1, Ordering::Relaxed);
        turn
    }

    /// Notes that all processes have come to a collective behind the last turn.
    #[inline]
    pub fn all_have_come(&self) {
        self.open.store(0, Ordering::Relaxed);
    }

    /// Notes that all processes have come to the collective of the last turn, whose slots they read
    /// now.
    #[inline]
    pub fn all_take_it(&self) {
        self.open.store(1, Ordering::Relaxed);
    }

    /// Notes that `barriers` barriers of the same processes have been completed.
    #[inline]
    pub fn note_barriers(&self, barriers: u64) {
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
        turns.next(|| *meetings += 1)
    }

    /// Returns the number of turns that are taken before processes meet.
    fn turns_without_meeting(turns: &Turns) -> u32 {
        let mut meetings = 0;
        for count in 0..100 {
            next(turns, &mut meetings);
            if meetings > 0 {
                return count;
            }
        }
        panic!("the processes never meet");
    }

    #[test]
    fn slots_are_open_until_all_have_come() {
        let turns = Turns::behind(41, 8);
        let mut meetings = 0;
        for turn in 42..50 {
            assert_eq!(next(&turns, &mut meetings), turn);
        }
        assert_eq!(meetings, 0);
        // The turn behind that meeting has one of the slots.
        assert_eq!(
            [turns_without_meeting(&turns), turns_without_meeting(&turns)],
            [0, 7]
        );
        for _ in 0..3 {
            next(&turns, &mut meetings);
        }
        // A slot that all take now may still have to be read.
        turns.all_take_it();
        assert_eq!(turns_without_meeting(&turns), 7);
        turns.all_have_come();
        assert_eq!(turns_without_meeting(&turns), 8);
        turns.note_barriers(3);
        assert_eq!(turns_without_meeting(&turns), 8);
        // No barrier more.
        turns.note_barriers(3);
        assert_eq!(turns_without_meeting(&turns), 7);
    }

    #[test]
    fn barriers_and_turns_are_counted_across_the_end_of_32_bits() {
        let end = 1 << 32;
        let turns = Turns::behind(end - 3, 8);
        let mut meetings = 0;
        turns.note_barriers(end - 1);
        let taken = [(); 8].map(|()| next(&turns, &mut meetings));
        assert_eq!(taken, std::array::from_fn(|i| end - 2 + i as u64));
        let mut slots = taken.map(|turn| turns.slot(turn));
        slots.sort_unstable();
        assert_eq!(slots, [0, 1, 2, 3, 4, 5, 6, 7]);
        // 2^32 barriers more are no fewer.
        turns.note_barriers(2 * end - 1);
        assert_eq!((turns_without_meeting(&turns), meetings), (8, 0));
    }
}
