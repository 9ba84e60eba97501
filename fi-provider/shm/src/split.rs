//! Work in pieces that two processes do at the same time: words by which each piece is one's alone.
//!
//! The owner of the words begins a turn, tells the other process of it by other means, and claims
//! pieces as that does. It has the last word: once all are claimed, or it has stopped the turn, it
//! waits for the ends of those that it has not claimed itself. The other process may come at any
//! time, or never: then the owner has all pieces, and a turn that is over has none.

use crate::sync::{AtomicU64, Ordering};

/// The bytes of the words: a cache line.
pub const BYTES: usize = 64;

/// The turn in the upper half, the next piece in the lower one.
const CLAIMS: usize = 0;
/// Pieces that have ended, of those of the other process; and [`FAILED`].
const ENDED: usize = 1;
/// The last turn that the other process has looked at.
const SEEN: usize = 2;

/// A piece was not done.
const FAILED: u64 = 1 << 63;

/// The words.
#[derive(Clone, Copy, Debug)]
pub struct Split(*const AtomicU64);

/// Outcome of the pieces of the other process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Number of pieces that have ended.
    pub pieces: u32,
    /// Whether one of them was not done.
    pub has_failed: bool,
}

impl Split {
    /// Takes `memory` as the words, which begin as zeros.
    ///
    /// # Safety
    /// `memory` is aligned to 8 and mapped for reading and writing for [`BYTES`] bytes, which are
    /// accessed by atomic operations alone, as long as this value or a copy of it is used.
    pub unsafe fn at(memory: *mut u8) -> Self {
        Self(memory.cast_const().cast())
    }

    /// Returns where the words are.
    pub fn as_ptr(&self) -> *const u8 {
        self.0.cast()
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        // SAFETY: the words are mapped and aligned (the requirement of `at`), and this is one of
        // them.
        unsafe { &*self.0.add(index) }
    }

    /// Begins a turn. No number comes twice in the memory of processes that may know of the earlier
    /// one.
    pub fn begin(&self, turn: u32) {
        // ORDERING: behind all ends of the turn before, which its owner has waited for; published
        // by the store below.
        self.word(ENDED).store(0, Ordering::Relaxed);
        // ORDERING: pairs with the claims of the other process.
        (self.word(CLAIMS)).store(u64::from(turn) << 32, Ordering::Release);
    }

    /// Claims a piece of a turn that has so many; none where all are claimed or the turn is over.
    pub fn claim(&self, turn: u32, pieces: u32) -> Option<u32> {
        let claims = self.word(CLAIMS);
        // ORDERING: decides only the value to try; the exchange orders.
        let mut now = claims.load(Ordering::Relaxed);
        loop {
            let piece = now as u32;
            if now >> 32 != u64::from(turn) || piece >= pieces {
                return None;
            }
            // ORDERING: pairs with `begin`: `ended` of the turn is zero before the first end.
            let (one, other) = (Ordering::Acquire, Ordering::Relaxed);
            match claims.compare_exchange_weak(now, now + 1, one, other) {
                Ok(_) => return Some(piece),
                Err(found) => now = found,
            }
        }
    }

    /// Ends the claims of a turn that has so many pieces; the owner alone does.
    pub fn stop(&self, turn: u32, pieces: u32) -> u32 {
        let all = u64::from(turn) << 32 | u64::from(u32::MAX);
        // ORDERING: the claims that came before are waited for by their ends.
        let before = self.word(CLAIMS).swap(all, Ordering::Relaxed);
        (before as u32).min(pieces)
    }

    /// Notes that a piece of the other process has ended.
    pub fn end(&self, is_done: bool) {
        if !is_done {
            // ORDERING: published by the addition below.
            self.word(ENDED).fetch_or(FAILED, Ordering::Relaxed);
        }
        // ORDERING: pairs with `ended`: the owner has the bytes of the piece then.
        self.word(ENDED).fetch_add(1, Ordering::Release);
    }

    /// Returns the work that the other process has done in this turn.
    pub fn ended(&self) -> Ended {
        // ORDERING: pairs with `end`.
        let word = self.word(ENDED).load(Ordering::Acquire);
        Ended {
            pieces: word as u32,
            has_failed: word & FAILED != 0,
        }
    }

    /// Notes that the other process has taken the word of a turn.
    pub fn see(&self, turn: u32) {
        // ORDERING: a hint for the owner: whether to tell again.
        self.word(SEEN).store(turn.into(), Ordering::Relaxed);
    }

    /// Returns the last turn of which the other process has taken the word, or 0.
    pub fn seen(&self) -> u32 {
        // ORDERING: a hint, as in `see`.
        self.word(SEEN).load(Ordering::Relaxed) as u32
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::thread;

    #[repr(align(64))]
    struct Words([u8; BYTES]);

    #[test]
    fn each_piece_is_claimed_once_and_late_claims_find_nothing() {
        let mut words = Words([0; BYTES]);
        // SAFETY: aligned, zero, and used by this value alone as long as it lives.
        let split = unsafe { Split::at(words.0.as_mut_ptr()) };
        split.begin(7);
        assert_eq!(split.claim(6, 3), None, "of another turn");
        assert_eq!(
            [0; 4].map(|_| split.claim(7, 3)),
            [Some(0), Some(1), Some(2), None]
        );
        split.end(true);
        let ended = |pieces, has_failed| Ended { pieces, has_failed };
        assert_eq!(split.ended(), ended(1, false));
        split.end(false);
        assert_eq!(split.ended(), ended(2, true));
        split.begin(8);
        assert_eq!(split.ended(), ended(0, false));
        assert_eq!(split.claim(7, 3), None, "of a turn that is over");
        assert_eq!(split.claim(8, 3), Some(0));
        assert_eq!(split.stop(8, 3), 1, "so many were claimed");
        assert_eq!(split.claim(8, 3), None);
        assert_eq!(split.stop(8, 3), 3, "no more than there are");
        assert_eq!(split.seen(), 0);
        split.see(8);
        assert_eq!(split.seen(), 8);
    }

    #[test]
    fn two_threads_do_all_pieces_once() {
        const PIECES: u32 = 10_000;
        let mut words = Words([0; BYTES]);
        let address = words.0.as_mut_ptr().expose_provenance();
        // SAFETY: aligned, zero, and used by these values alone until the threads have ended.
        let split = || unsafe { Split::at(std::ptr::with_exposed_provenance_mut(address)) };
        let done: Vec<_> = (0..PIECES).map(|_| AtomicU32::new(0)).collect();
        let done = &done;
        split().begin(1);
        thread::scope(|scope| {
            scope.spawn(move || {
                let split = split();
                while let Some(piece) = split.claim(1, PIECES) {
                    done[piece as usize].fetch_add(1, Ordering::Relaxed);
                    split.end(true);
                }
            });
            let split = split();
            let mut own = 0;
            while let Some(piece) = split.claim(1, PIECES) {
                done[piece as usize].fetch_add(1, Ordering::Relaxed);
                own += 1;
            }
            while split.ended().pieces < PIECES - own {
                std::hint::spin_loop();
            }
            assert!(done.iter().all(|done| done.load(Ordering::Relaxed) == 1));
        });
    }
}
