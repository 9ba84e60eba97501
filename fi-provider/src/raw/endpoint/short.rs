//! Short messages of the node in few instructions: those that the first buffers are for.

#![expect(unsafe_code, reason = "borrows the rings without a count")]

use super::unguarded::unguarded;
use super::{Endpoint, Incoming};
use crate::raw::completion::opaque;
use crate::raw::protocol::{Kind, TAGGED};
use fi_shm::bell::RINGS_PER_WORD;
use fi_shm::ring::Other;
use std::num::NonZero;
use std::ptr::NonNull;

/// Reason why records of a ring were left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The first is another one, or room is to be given back behind it.
    Other,
    /// Something stands against giving it to a buffer.
    Against,
}

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
        let bells = self.inbox.bells().silence(word);
        if bells == 0 {
            return self.look_at_all_rings();
        }
        self.look_at(word, bells);
    }

    /// Looks at the rings with these bells of a word.
    #[inline(always)]
    fn look_at(&self, word: usize, mut bells: u64) {
        while let Some(rung) = NonZero::new(bells) {
            let bell = word * RINGS_PER_WORD + rung.trailing_zeros() as usize;
            // SAFETY: the reference is used by one call alone, which knows of no other rings.
            let Some(one) = (unsafe { self.ring_of(bell) }) else {
                return self.look_closely(word, bells);
            };
            let ring = NonNull::from(&mut *one);
            match self.drain_short(one) {
                Ok(()) => {}
                Err(Stop::Against) => return self.look_closely(word, bells),
                Err(Stop::Other) => {
                    // SAFETY: the ring is that of the first bell, and the reference is used no
                    // more.
                    return unsafe {
                        if word == 0 {
                            self.look_for_word(bells, ring)
                        } else {
                            self.look_for_tagged::<false>(word, bells, ring)
                        }
                    };
                }
            }
            bells &= bells - 1;
        }
    }

    /// Looks at the rings with these bells of the first word, of which the first has more than
    /// plain messages: mostly one message of a tag and 8 bytes.
    ///
    /// # Safety
    /// `ring` is that of the first bell, to which no reference leads.
    #[inline(never)]
    unsafe fn look_for_word(&self, bells: u64, ring: NonNull<Incoming>) {
        // SAFETY: no other reference leads there, as the caller promises, and this one is used
        // before another function is called that leads to rings.
        let first = unsafe { &mut *ring.as_ptr() };
        if !self.take_tagged_word(first) || !first.receiver.is_idle() {
            // SAFETY: the ring is that of the first bell, and the reference is used no more.
            return unsafe { self.look_for_tagged::<true>(0, bells, ring) };
        }
        let bells = bells & (bells - 1);
        if bells != 0 {
            self.look_on(0, bells);
        }
    }

    /// Takes the first record of a ring if it is a message of a tag and 8 bytes, and nothing is
    /// special. Returns whether it did.
    #[inline(always)]
    fn take_tagged_word(&self, one: &mut Incoming) -> bool {
        const BOTH: usize = 2 * size_of::<u64>();
        let Incoming {
            receiver, origin, ..
        } = one;
        let Some(record) = receiver.exactly::<BOTH>(TAGGED) else {
            return false;
        };
        let Some(tag) = record.word(0).filter(|_| !self.has_special_tagged()) else {
            return false;
        };
        let payload = record.payload().wrapping_add(size_of::<u64>());
        // SAFETY: the record has so many bytes behind its tag.
        if !unsafe { self.give_tagged::<true>(origin, tag, payload, size_of::<u64>()) } {
            return false;
        }
        record.done();
        true
    }

    /// Looks at the rings with these bells of a word, of which the first has more than plain
    /// messages. `QUICK` is for the first word, and goes on as the other where it has to.
    ///
    /// # Safety
    /// `ring` is that of the first bell, to which no reference leads.
    #[inline(never)]
    unsafe fn look_for_tagged<const QUICK: bool>(
        &self,
        word: usize,
        bells: u64,
        ring: NonNull<Incoming>,
    ) {
        if QUICK && self.has_special_tagged() {
            // SAFETY: the ring is that of the first bell, to which no reference leads.
            return unsafe { self.look_for_tagged::<false>(0, bells, ring) };
        }
        let word = if QUICK { 0 } else { word };
        // SAFETY: no other reference leads there, as the caller promises, and this one is used by
        // the call alone.
        if !self.drain_tagged::<QUICK>(unsafe { &mut *ring.as_ptr() }) {
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

    /// Takes short messages of one ring behind something that had to be brought about first; false
    /// where it is something else, or others have come.
    #[inline(never)]
    pub(super) fn drain_renewed(&self, bell: usize) -> bool {
        // SAFETY: the reference ends with the loop, in which nothing else knows of rings.
        let Some(one) = (unsafe { self.ring_of(bell) }) else {
            return false;
        };
        while self.renew_in_line(&mut one.origin) {
            if self.drain_short(one).is_ok() {
                return true;
            }
            if one.receiver.has_next(TAGGED) && self.drain_any_tagged(one) {
                return true;
            }
        }
        false
    }

    /// Takes short messages with tags of one ring, also where something is special.
    #[inline(never)]
    fn drain_any_tagged(&self, one: &mut Incoming) -> bool {
        self.drain_tagged::<false>(one)
    }

    /// Returns the ring of a bell, if it is there.
    ///
    /// # Safety
    /// As long as the reference is used, no function is called that borrows the rings.
    #[expect(clippy::mut_from_ref, reason = "the caller promises that there is one")]
    #[inline(always)]
    pub(super) unsafe fn ring_of(&self, bell: usize) -> Option<&mut Incoming> {
        // SAFETY: no other reference is there: functions of the endpoint that borrow the rings call
        // nothing of the program's, which makes progress; the endpoint is of one thread, as its
        // cells are; and the caller calls none of them as long as this one is used.
        let incoming = unsafe { unguarded(&self.incoming) };
        match incoming.get_mut(bell) {
            Some(Some(one)) => Some(&mut **one),
            _ => None,
        }
    }

    /// Takes short messages of one ring, up to one that is another, or where not all is as it
    /// mostly is.
    ///
    /// Takes a quarter of the ring in one turn, at most. Another bell tells of a ring that is over.
    #[inline(always)]
    fn drain_short(&self, one: &mut Incoming) -> Result<(), Stop> {
        let Incoming {
            receiver, origin, ..
        } = one;
        loop {
            let record = match receiver.short(Kind::Message as u16) {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(()),
                Err(Other) => return Err(Stop::Other),
            };
            // SAFETY: the record has so many bytes.
            if !unsafe { self.give(origin, record.payload(), record.len()) } {
                return Err(Stop::Against);
            }
            record.done();
        }
    }

    /// Does as [`Endpoint::drain_short`] for messages of a tag and bytes. Returns whether it took
    /// all.
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
