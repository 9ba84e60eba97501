//! The words of a PE's mailbox, which PEs of other nodes write and read: the purpose of each.
//!
//! They lie in the workspace ([`crate::job::workspace`]) and are used in jobs of several nodes
//! only. A word has one writer, and a written value replaces the old one. They live as long as the
//! process, from one session to the next, and so do the numbers in them. In a job of more PEs than
//! [`FAREWELLS`] no PE tells the others that it finalises: nobody has so many words, and the
//! messages would be as many as there are pairs of PEs.

use crate::ctx;
use crate::job;
use crate::job::workspace::{BARRIER_ROUNDS, FAREWELLS};
use fi_provider::symmetric::Error;
use fi_provider::symmetric::address_vector::PeerIndex;
use std::sync::atomic::{AtomicU64, Ordering};

/// A word of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Written by the owner, read by others: its [`Sleep`].
    Sleep,
    /// Written by another node's leader in this round of the barrier of nodes: the barrier's epoch.
    Round(usize),
    /// Written by this PE when it begins and ends a session: its [`Farewell`].
    Farewell(PeerIndex),
}

impl Word {
    /// Returns the place of the word in every mailbox.
    pub(crate) fn slot(self) -> usize {
        match self {
            Self::Sleep => 0,
            Self::Round(round) => 1 + round,
            Self::Farewell(pe) => 1 + BARRIER_ROUNDS + pe as usize,
        }
    }

    /// Writes it into the mailbox of `pe`.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn post(self, value: u64, pe: PeerIndex) -> Result<(), Error> {
        ctx::default_ctx().endpoint.post(self.slot(), value, pe)
    }

    /// Reads it in the mailbox of `pe`.
    ///
    /// # Errors
    /// Those of the device.
    fn peek(self, pe: PeerIndex) -> Result<u64, Error> {
        ctx::default_ctx().endpoint.peek(self.slot(), pe)
    }

    /// Returns the word of the own mailbox; 0 where nobody wrote, or there is none.
    #[inline]
    pub(crate) fn get(self) -> u64 {
        own(self).map_or(0, |word| {
            // ORDERING: pairs with the device's write, which comes behind all that the writer sent here before.
            word.load(Ordering::Acquire)
        })
    }
}

/// Returns whether PEs of a job of so many tell each other that they finalise.
fn has_farewells(pes: u32) -> bool {
    pes <= FAREWELLS
}

fn own(word: Word) -> Option<&'static AtomicU64> {
    job::session()?.domain.mailbox().get(word.slot())
}

/// The sleep of a PE in its waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sleep {
    /// Odd while the PE sleeps in a wait, and has no other thread and no handler of the program
    /// that may run; all that it has sent is delivered then.
    pub(crate) blocked: u32,
    /// Looks at the awaited memory.
    pub(crate) looks: u32,
}

impl Sleep {
    /// Returns how PE `pe` of another node sleeps; `None` where its device does not tell.
    pub(crate) fn of(pe: PeerIndex) -> Option<Self> {
        Some(Self::from_word(Word::Sleep.peek(pe).ok()?))
    }

    /// Makes it readable for others.
    pub(crate) fn publish(self) {
        if let Some(word) = own(Word::Sleep) {
            // ORDERING: pairs with the read of the others' devices: the PE's actions when it is
            // awake again come after it has said so.
            word.store(self.to_word(), Ordering::Release);
        }
    }

    fn to_word(self) -> u64 {
        u64::from(self.blocked) << 32 | u64::from(self.looks)
    }

    fn from_word(word: u64) -> Self {
        Self {
            blocked: (word >> 32) as u32,
            looks: word as u32,
        }
    }
}

/// Tells PEs of other nodes about a PE's last finalisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Farewell {
    /// Whether it has begun: all that the PE has ever sent is delivered then.
    pub(crate) finalizing: bool,
    /// The barriers that the PE had completed when it began.
    pub(crate) last_epoch: u64,
}

impl Farewell {
    /// Returns the farewell that PE `pe` of another node has told; an empty one in a job in which
    /// no PE tells any.
    pub(crate) fn of(pe: PeerIndex) -> Self {
        Self::from_word(Word::Farewell(pe).get())
    }

    /// Tells `pes`, as PE `own`, where the job is not too large for that.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn tell(
        self,
        own: PeerIndex,
        mut pes: impl Iterator<Item = PeerIndex>,
    ) -> Result<(), Error> {
        if !has_farewells(job::size()) {
            return Ok(());
        }
        pes.try_for_each(|pe| Word::Farewell(own).post(self.to_word(), pe))
    }

    fn to_word(self) -> u64 {
        self.last_epoch << 1 | u64::from(self.finalizing)
    }

    fn from_word(word: u64) -> Self {
        Self {
            finalizing: word & 1 != 0,
            last_epoch: word >> 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::workspace::OWN_WORDS;

    #[test]
    fn every_word_has_a_slot_of_its_own() {
        let rounds = (0..BARRIER_ROUNDS).map(Word::Round);
        let farewells = (0..FAREWELLS).map(Word::Farewell);
        let all = rounds.chain(farewells).chain([Word::Sleep]);
        let mut slots: Vec<usize> = all.map(Word::slot).collect();
        slots.sort_unstable();
        assert_eq!(slots, (0..OWN_WORDS).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_told_fits_its_word() {
        for finalizing in [false, true] {
            for last_epoch in [0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX >> 1] {
                let farewell = Farewell {
                    finalizing,
                    last_epoch,
                };
                assert_eq!(Farewell::from_word(farewell.to_word()), farewell);
            }
        }
        let sleep = Sleep {
            blocked: 7,
            looks: u32::MAX,
        };
        assert_eq!(Sleep::from_word(sleep.to_word()), sleep);
        let untouched = Farewell::from_word(0);
        assert!(!untouched.finalizing);
    }
}
