//! Short messages of the node in few instructions: those that the first buffers are for.

#![expect(unsafe_code, reason = "borrows the rings without a count")]

use super::{Endpoint, Incoming};
use crate::raw::completion::opaque;
use crate::raw::protocol::{Kind, TAGGED};
use fi_shm::bell::RINGS_PER_WORD;
use fi_shm::ring::Other;
use std::cell::RefCell;
use std::num::NonZero;

impl Endpoint {
    /// Looks at all that waits; returns true.
    #[cold]
    #[inline(never)]
    pub(crate) fn look_at_all(&self) -> bool {
        self.work_off();
        opaque(true)
    }

    /// Looks at the rings whose bells in the first word have rung.
    #[inline(never)]
    pub(super) fn look_first(&self) {
        self.look_in(0);
    }

    /// Looks at the rings whose bells in this word have rung.
    #[inline(never)]
    pub(super) fn look(&self, word: usize) {
        self.look_in(word);
    }

    /// Calls nothing before it is done, so that few registers are saved and restored.
    #[inline(always)]
    fn look_in(&self, word: usize) {
        self.look_at(word, self.inbox.bells().silence(word));
    }

    /// Looks at the rings with these bells of a word.
    #[inline(always)]
    fn look_at(&self, word: usize, mut bells: u64) {
        while let Some(rung) = NonZero::new(bells) {
            let bell = word * RINGS_PER_WORD + rung.trailing_zeros() as usize;
            if !self.drain_short_at(bell) {
                return if word == 0 {
                    self.look_for_tagged::<true>(0, bells)
                } else {
                    self.look_for_tagged::<false>(word, bells)
                };
            }
            bells &= bells - 1;
        }
    }

    /// Looks at the rings with these bells of a word, of which the first has more than plain
    /// messages. `QUICK` is for the first word, and goes on as the other where it has to.
    #[inline(never)]
    fn look_for_tagged<const QUICK: bool>(&self, word: usize, bells: u64) {
        if QUICK && self.has_special_tagged() {
            return self.look_for_tagged::<false>(0, bells);
        }
        let word = if QUICK { 0 } else { word };
        let bell = word * RINGS_PER_WORD + bells.trailing_zeros() as usize;
        if !self.drain_tagged_at::<QUICK>(bell) {
            return self.look_closely(word, bells);
        }
        let bells = bells & (bells - 1);
        if bells != 0 {
            self.look_on(word, bells);
        }
    }

    #[inline(never)]
    fn look_on(&self, word: usize, bells: u64) {
        self.look_at(word, bells);
    }

    #[inline(always)]
    fn drain_short_at(&self, bell: usize) -> bool {
        // SAFETY: the reference is used by the call alone, which knows of no other rings.
        let Some(one) = (unsafe { self.ring_of(bell) }) else {
            return false;
        };
        self.drain_short(one)
    }

    #[inline(always)]
    fn drain_tagged_at<const QUICK: bool>(&self, bell: usize) -> bool {
        // SAFETY: the reference is used by the call alone, which knows of no other rings.
        let Some(one) = (unsafe { self.ring_of(bell) }) else {
            return false;
        };
        self.drain_tagged::<QUICK>(one)
    }

    /// Takes short messages of one ring behind something that had to be brought about first; false
    /// where it is something else, or others have come.
    #[inline(never)]
    pub(super) fn drain_renewed(&self, bell: usize) -> bool {
        // SAFETY: the reference ends with the loop, in which nothing else knows of rings.
        let Some(one) = (unsafe { self.ring_of(bell) }) else {
            return false;
        };
        while self.renew_in_line(&mut one.origin) {
            if self.drain_short(one) || self.drain_tagged::<false>(one) {
                return true;
            }
        }
        false
    }

    /// The ring of a bell, if it is there.
    ///
    /// # Safety
    /// As long as the reference is used, no function is called that borrows the rings.
    #[expect(clippy::mut_from_ref, reason = "the caller promises that there is one")]
    #[inline(always)]
    unsafe fn ring_of(&self, bell: usize) -> Option<&mut Incoming> {
        // SAFETY: no other reference is there: functions of the endpoint that borrow the rings call
        // nothing of the program's, which makes progress; the endpoint is of one thread, as its
        // cells are; and the caller calls none of them as long as this one is used.
        let incoming = unsafe { unguarded(&self.incoming) };
        match incoming.get_mut(bell) {
            Some(Some(one)) => Some(&mut **one),
            _ => None,
        }
    }

    /// Takes short messages of one ring; false where others have come, or where not all is as it
    /// mostly is.
    ///
    /// Takes a quarter of the ring in one turn, at most. Another bell tells of a ring that is over.
    #[inline(always)]
    fn drain_short(&self, one: &mut Incoming) -> bool {
        let Incoming {
            receiver, origin, ..
        } = one;
        loop {
            let record = match receiver.short(Kind::Message as u16) {
                Ok(Some(record)) => record,
                Ok(None) => return true,
                Err(Other) => return false,
            };
            // SAFETY: the record has so many bytes.
            if !unsafe { self.give(origin, record.payload(), record.len()) } {
                return false;
            }
            record.done();
        }
    }

    /// Does as [`Endpoint::drain_short`] for messages of a tag and bytes.
    #[inline(always)]
    fn drain_tagged<const QUICK: bool>(&self, one: &mut Incoming) -> bool {
        let Incoming {
            receiver, origin, ..
        } = one;
        loop {
            let record = match receiver.short_from::<{ size_of::<u64>() }>(TAGGED) {
                Ok(Some(record)) => record,
                Ok(None) => return true,
                Err(Other) => return false,
            };
            let Some(tag) = record.word(0) else {
                return false;
            };
            let len = record.len() - size_of::<u64>();
            let payload = record.payload().wrapping_add(size_of::<u64>());
            // SAFETY: the record has so many bytes behind its tag.
            if !unsafe { self.give_tagged::<QUICK>(origin, tag, payload, len) } {
                return false;
            }
            record.done();
        }
    }
}

/// Borrows without a count, which takes instructions.
///
/// # Safety
/// No other reference to the value is there as long as this one is used.
#[expect(clippy::mut_from_ref, reason = "the caller promises that there is one")]
#[inline(always)]
pub(crate) unsafe fn unguarded<T>(cell: &RefCell<T>) -> &mut T {
    debug_assert!(cell.try_borrow_mut().is_ok());
    // SAFETY: the only reference; the value is the cell's, and lives as long.
    unsafe { &mut *cell.as_ptr() }
}
