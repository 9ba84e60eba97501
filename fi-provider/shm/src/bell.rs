//! Bells: one bit for each [`crate::ring`] of a receiver, by which it knows the rings to look at.
//!
//! A sender publishes a record and rings; the receiver takes the bits and then drains the rings
//! that they name. A word holds the bits of 64 rings, so that a receiver without messages looks at
//! one word for all of them. All zero bytes are silent bells.
//!
//! Order matters on the receiver's side: [`Bells::take`] first, and then
//! [`crate::ring::Receiver::next`] until it returns `None`. A record that is published behind that
//! `None` has its bit set behind the take, so that a later take finds it. A receiver that leaves
//! records in a ring looks at that ring again without a bell.
//!
//! Beside each word lies another, in which the receiver asks to be woken ([`Bells::watch`]): a
//! sender looks at it behind its ring. Of the two, one at least sees the other: the receiver asks
//! and then looks at the bells, the sender rings and then looks whether it was asked.

use crate::sync::{AtomicU64, Ordering, fence};

/// Rings whose bits share a word.
pub const RINGS_PER_WORD: usize = 64;

/// Returns the bytes of memory that the bells of `rings` rings take: whole cache lines.
pub const fn bytes(rings: usize) -> usize {
    (words(rings) * size_of::<Word>()).next_multiple_of(64)
}

/// Returns the number of words, at least one.
const fn words(rings: usize) -> usize {
    let words = rings.div_ceil(RINGS_PER_WORD);
    if words == 0 { 1 } else { words }
}

/// The bells of 64 rings.
#[derive(Debug)]
#[repr(C)]
struct Word {
    bells: AtomicU64,
    /// Not 0 where the receiver asks to be woken: other than the last time.
    watch: AtomicU64,
}

/// The bells of all rings of one receiver.
#[derive(Debug)]
pub struct Bells {
    words: *const Word,
    /// The place of the last word.
    last: usize,
    /// The bits of that word that have a ring, and those of the first word.
    bits_of_last: u64,
    bits_of_first: u64,
}

// SAFETY: every access to the words is atomic, and the memory is mapped for all threads.
unsafe impl Send for Bells {}
// SAFETY: every access to the words is atomic, and the memory is mapped for all threads.
unsafe impl Sync for Bells {}

/// The bell of one ring, in the hand of its sender.
#[derive(Clone, Copy, Debug)]
pub struct Bell {
    word: *const Word,
    bit: u64,
}

// SAFETY: every access to the word is atomic, and the memory is mapped for all threads.
unsafe impl Send for Bell {}
// SAFETY: every access to the word is atomic, and the memory is mapped for all threads.
unsafe impl Sync for Bell {}

impl Bells {
    /// Takes `memory` as the bells of `rings` rings.
    ///
    /// # Safety
    /// `memory` must be aligned to 64 and mapped for reading and writing for [`bytes`]`(rings)`
    /// bytes, which begin as zeros and which bells alone access, as long as this value or a
    /// [`Bell`] of it lives.
    pub unsafe fn new(memory: *mut u8, rings: usize) -> Self {
        let last = words(rings) - 1;
        let rest = rings - last * RINGS_PER_WORD;
        let bits_of_last = u64::MAX.checked_shr(64 - rest as u32).unwrap_or(0);
        Self {
            words: memory.cast(),
            last,
            bits_of_last,
            bits_of_first: if last == 0 { bits_of_last } else { u64::MAX },
        }
    }

    /// Returns the number of words to take.
    #[inline]
    pub fn words(&self) -> usize {
        self.last + 1
    }

    /// Returns the bell of ring number `ring`, or `None` if there is no such ring.
    pub fn bell(&self, ring: usize) -> Option<Bell> {
        let (word, bit) = (ring / RINGS_PER_WORD, 1 << (ring % RINGS_PER_WORD));
        let is_ring = word < self.last || word == self.last && self.bits_of_last & bit != 0;
        is_ring.then(|| Bell {
            word: self.words.wrapping_add(word),
            bit,
        })
    }

    /// Returns the rings that have been rung since the last time, and silences their bells: bit
    /// `i` stands for ring `word * 64 + i`. Returns 0 if there is no such word.
    ///
    /// The records that were published before those bells were rung are visible then. Silent bells
    /// cost one load.
    #[inline(always)]
    pub fn take(&self, word: usize) -> u64 {
        if self.is_rung(word) {
            self.silence(word)
        } else {
            0
        }
    }

    /// Returns whether a bell of this word has been rung, by one load: whether to call
    /// [`Bells::silence`].
    #[inline(always)]
    pub fn is_rung(&self, word: usize) -> bool {
        // SAFETY: the word is one of those that `new` was given, mapped and aligned to 8.
        // ORDERING: decides only whether to swap; the swap orders.
        word <= self.last && unsafe { self.word(word) }.bells.load(Ordering::Relaxed) != 0
    }

    /// Does as [`Bells::take`], without a look at the word before.
    #[inline(always)]
    pub fn silence(&self, word: usize) -> u64 {
        if word > self.last {
            return 0;
        }
        // SAFETY: the word is one of those that `new` was given, mapped and aligned to 8.
        let bells = &unsafe { self.word(word) }.bells;
        // ORDERING: pairs with `Bell::ring`: the drain behind this sees the records of all bits
        // taken here. Each ring behind this swap in the order of the word sets its bit anew.
        let taken = bells.swap(0, Ordering::Acquire);
        if word == 0 {
            taken & self.bits_of_first
        } else if word == self.last {
            taken & self.bits_of_last
        } else {
            taken
        }
    }

    /// Asks the senders of the first `words` words to wake the receiver: each finds `request`, which
    /// is not 0, behind its next ring. The receiver looks at all bells before it sleeps.
    pub fn watch(&self, words: usize, request: u64) {
        for word in 0..words.min(self.words()) {
            // SAFETY: the word is one of those that `new` was given, mapped and aligned to 8.
            let watch = &unsafe { self.word(word) }.watch;
            // ORDERING: pairs with the load in `Bell::request`: what this thread has made for its
            // senders to wake it by is there.
            watch.store(request, Ordering::Release);
        }
        // ORDERING: pairs with the locked instruction in `Bell::ring`: the receiver's look behind
        // this fence finds the bell, or the sender's look behind that instruction the request.
        fence(Ordering::SeqCst);
    }

    /// Asks no longer. A sender may have been asked before.
    pub fn unwatch(&self) {
        for word in 0..self.words() {
            // SAFETY: the word is one of those that `new` was given, mapped and aligned to 8.
            let watch = &unsafe { self.word(word) }.watch;
            // ORDERING: nothing depends on it: who sees the old value wakes for nothing.
            watch.store(0, Ordering::Relaxed);
        }
    }

    /// The word of this number.
    ///
    /// # Safety
    /// There is such a word.
    #[inline(always)]
    unsafe fn word(&self, word: usize) -> &Word {
        // SAFETY: the word is one of those that `new` was given, mapped as long as `self` and
        // aligned to 8.
        unsafe { &*self.words.add(word) }
    }
}

impl Bell {
    /// Tells the receiver to look at the ring, by one locked instruction; once for all records
    /// published since the last time is enough. Returns whether the receiver asks to be woken
    /// ([`Bell::request`]).
    ///
    /// Rings also where the bit is set already: to leave the locked instruction out, the load of
    /// the bit had to be ordered behind the store that published the record, which takes a locked
    /// instruction as well. Otherwise the receiver could clear the bit that was seen, and still
    /// not see the record.
    #[inline(always)]
    pub fn ring(&self) -> bool {
        // SAFETY: the word is one of those that `Bells::new` was given, mapped and aligned to 8.
        let word = unsafe { &*self.word };
        // ORDERING: pairs with the swap in `Bells::take`, which sees the record published before;
        // ringing by other senders in between continues the release sequence. Sequentially
        // consistent with the load below and with the fence in `Bells::watch`: see there. On x86-64
        // that is one locked instruction and a plain load.
        word.bells.fetch_or(self.bit, Ordering::SeqCst);
        // ORDERING: loom takes sequentially consistent accesses for weaker ones, but not fences.
        #[cfg(loom)]
        fence(Ordering::SeqCst);
        word.watch.load(Ordering::SeqCst) != 0
    }

    /// Returns the request of a receiver that asks to be woken, else 0. As long as it is the same, to
    /// wake the receiver once is enough.
    pub fn request(&self) -> u64 {
        // SAFETY: the word is one of those that `Bells::new` was given, mapped and aligned to 8.
        let word = unsafe { &*self.word };
        // ORDERING: pairs with the store in `Bells::watch`.
        word.watch.load(Ordering::Acquire)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[repr(align(64))]
    struct Memory([u64; 48]);

    #[test]
    fn a_bell_rings_once_and_names_its_ring() {
        for rings in [1, 2, 63, 64, 65, 128, 130] {
            let mut memory = Memory([0; 48]);
            assert!(bytes(rings) <= size_of::<Memory>());
            // SAFETY: aligned to 64, long enough, zero, outlives the bells.
            let bells = unsafe { Bells::new((&raw mut memory.0).cast(), rings) };
            assert_eq!(bells.words(), rings.div_ceil(64));
            assert!(bells.bell(rings).is_none(), "{rings}");
            for ring in 0..rings {
                let bell = bells.bell(ring).expect("a bell");
                assert!(!bell.ring() && !bell.ring());
                let taken: Vec<u64> = (0..4).map(|word| bells.take(word)).collect();
                let mut expected = vec![0; 4];
                expected[ring / 64] = 1 << (ring % 64);
                assert_eq!(taken, expected, "{ring} of {rings}");
                assert_eq!(bells.take(ring / 64), 0);
            }
        }
    }

    #[test]
    fn bits_that_no_ring_has_are_not_told() {
        let mut memory = Memory([u64::MAX; 48]);
        // SAFETY: aligned to 64, long enough, outlives the bells; a sender that goes wrong sets
        // such bits.
        let bells = unsafe { Bells::new((&raw mut memory.0).cast(), 67) };
        assert_eq!([0, 1, 2].map(|word| bells.take(word)), [u64::MAX, 7, 0]);
        assert_eq!(
            memory.0[..5].iter().step_by(2).collect::<Vec<_>>(),
            [&0, &0, &u64::MAX]
        );
        // SAFETY: aligned to 64, long enough, outlives the bells.
        let none = unsafe { Bells::new((&raw mut memory.0[16]).cast(), 0) };
        assert_eq!((none.take(0), none.bell(0).is_none()), (0, true));
    }

    #[test]
    fn who_rings_is_asked_to_wake_by_the_words_that_are_watched() {
        let mut memory = Memory([0; 48]);
        // SAFETY: aligned to 64, long enough, zero, outlives the bells.
        let bells = unsafe { Bells::new((&raw mut memory.0).cast(), 130) };
        let asked = || [0, 64, 129].map(|ring| bells.bell(ring).map(|bell| bell.request()));
        bells.watch(2, 7);
        assert_eq!(asked(), [Some(7), Some(7), Some(0)]);
        let rung = [0, 64, 129].map(|ring| bells.bell(ring).is_some_and(|bell| bell.ring()));
        assert_eq!(rung, [true, true, false]);
        bells.watch(9, 8);
        assert_eq!(asked(), [Some(8); 3]);
        bells.unwatch();
        assert_eq!(asked(), [Some(0); 3]);
        assert_eq!([0, 1, 2].map(|word| bells.take(word)), [1, 1, 2]);
    }
}
