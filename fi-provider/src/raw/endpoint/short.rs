//! Short messages of the node in few instructions: those that the first buffers are for.

#![expect(unsafe_code, reason = "borrows the rings without a count")]

use super::{Endpoint, Incoming};
use crate::raw::completion::opaque;
use crate::raw::protocol::Kind;
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
        let mut bells = self.inbox.bells().silence(word);
        while let Some(rung) = NonZero::new(bells) {
            let bell = word * RINGS_PER_WORD + rung.trailing_zeros() as usize;
            if !self.drain_short(bell) {
                return self.look_closely(word, bells);
            }
            bells &= bells - 1;
        }
    }

    /// Takes short messages of one ring; false where others have come, or where not all is as it
    /// mostly is.
    ///
    /// Takes a quarter of the ring in one turn, at most. Another bell tells of a ring that is over.
    #[inline(always)]
    fn drain_short(&self, bell: usize) -> bool {
        // SAFETY: no other reference is there: functions of the endpoint that borrow the rings call
        // nothing of the program's, which makes progress; the endpoint is of one thread, as its
        // cells are; and `give` knows nothing of rings.
        let incoming = unsafe { unguarded(&self.incoming) };
        let Some(Some(one)) = incoming.get_mut(bell) else {
            return false;
        };
        let Incoming {
            receiver, origin, ..
        } = &mut **one;
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
}

/// Borrows without a count, which takes instructions.
///
/// # Safety
/// No other reference to the value is there as long as this one is used.
#[expect(clippy::mut_from_ref, reason = "the caller promises that there is one")]
#[inline(always)]
pub(super) unsafe fn unguarded<T>(cell: &RefCell<T>) -> &mut T {
    debug_assert!(cell.try_borrow_mut().is_ok());
    // SAFETY: the only reference; the value is the cell's, and lives as long.
    unsafe { &mut *cell.as_ptr() }
}
