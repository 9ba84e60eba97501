//! Bells: one bit for each [`crate::ring`] of a receiver, by which it knows the rings to look at.
//!
//! A sender publishes a record and rings; the receiver takes the bits and then drains the rings
//! that they name. A word holds the bits of 63 rings, so that a receiver without messages looks at
//! one word for all of them. All zero bytes are silent bells.
//!
//! Order matters on the receiver's side: [`Bells::take`] first, and then
//! [`crate::ring::Receiver::next`] until it returns `None`. A record that is published behind that
//! `None` has its bit set behind the take, so that a later take finds it. A receiver that leaves
//! records in a ring looks at that ring again without a bell.
//!
//! A receiver that never sleeps has few bells, one in each byte of its first word, of which several
//! rings may share one. Their senders ring by a plain store ([`ByteBell`]) in the place of a locked
//! instruction, which would wait until the word is theirs.
//!
//! The highest bit of each word is the watch, by which the receiver asks to be woken
//! ([`Bells::watch`]). It asks, and a sender rings, by one access to the same word: the receiver
//! finds the bell, or the sender finds the watch: the later one of the two. The receiver asks until
//! it takes the bells.

use crate::sync::{AtomicU64, Ordering};

/// Rings whose bits share a word.
pub const RINGS_PER_WORD: usize = 63;

/// The bit of a word that is no ring's.
const WATCH: u64 = 1 << 63;

/// Bells by bytes ([`ByteBell`]): the lowest bits of the bytes of the first word.
pub const BYTE_BELLS: usize = 8;

/// Returns the bytes of memory that the bells of `rings` rings take: whole cache lines.
pub const fn bytes(rings: usize) -> usize {
    ((1 + words(rings)) * size_of::<u64>()).next_multiple_of(64)
}

/// Returns the number of words, at least one.
const fn words(rings: usize) -> usize {
    let words = rings.div_ceil(RINGS_PER_WORD);
    if words == 0 { 1 } else { words }
}

/// The bells of all rings of one receiver.
#[derive(Debug)]
pub struct Bells {
    /// The number of the last time that the receiver has asked to be woken; the words lie behind.
    request: *const AtomicU64,
    words: *const AtomicU64,
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
    word: *const AtomicU64,
    request: *const AtomicU64,
    bit: u64,
}

// SAFETY: every access to the word is atomic, and the memory is mapped for all threads.
unsafe impl Send for Bell {}
// SAFETY: every access to the word is atomic, and the memory is mapped for all threads.
unsafe impl Sync for Bell {}

/// The bell of a byte of the first word, in the hand of a sender. The receiver does not sleep.
#[derive(Clone, Copy, Debug)]
pub struct ByteBell {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    byte: *mut u8,
    #[cfg(not(all(target_arch = "x86_64", not(loom))))]
    bell: Bell,
}

// SAFETY: every access to the byte is one store, and the memory is mapped for all threads.
unsafe impl Send for ByteBell {}
// SAFETY: every access to the byte is one store, and the memory is mapped for all threads.
unsafe impl Sync for ByteBell {}

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
        let bits_of_last = !u64::MAX.checked_shl(rest as u32).unwrap_or(0);
        let request = memory.cast_const().cast::<AtomicU64>();
        Self {
            request,
            words: request.wrapping_add(1),
            last,
            bits_of_last,
            bits_of_first: if last == 0 { bits_of_last } else { !WATCH },
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
            request: self.request,
            bit,
        })
    }

    /// Returns the rings that have been rung since the last time, and silences their bells: bit
    /// `i` stands for ring `word * 63 + i`. Returns 0 if there is no such word.
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

    /// Returns whether a bell of this word has been rung, or the receiver asks to be woken, by one
    /// load: whether to call [`Bells::silence`].
    #[inline(always)]
    pub fn is_rung(&self, word: usize) -> bool {
        // SAFETY: the word is one of those that `new` was given, mapped and aligned to 8.
        // ORDERING: decides only whether to swap; the swap orders.
        word <= self.last && unsafe { self.word(word) }.load(Ordering::Relaxed) != 0
    }

    /// Returns the address of the first word, for callers that look by themselves whether
    /// [`Bells::is_rung`].
    pub fn first(&self) -> *const AtomicU64 {
        // SAFETY: the first word is one of those that `new` was given, mapped and aligned to 8.
        unsafe { std::ptr::from_ref(self.word(0)) }
    }

    /// Does as [`Bells::take`], without a look at the word before.
    #[inline(always)]
    pub fn silence(&self, word: usize) -> u64 {
        if word > self.last {
            return 0;
        }
        // SAFETY: the word is one of those that `new` was given, mapped and aligned to 8.
        let bells = unsafe { self.word(word) };
        // ORDERING: pairs with `Bell::ring`: the drain behind this sees the records of all bits
        // taken here. Each ring behind this swap in the order of the word sets its bit anew.
        let taken = bells.swap(0, Ordering::Acquire);
        if word == 0 {
            taken & self.bits_of_first
        } else if word == self.last {
            taken & self.bits_of_last
        } else {
            taken & !WATCH
        }
    }

    /// Does as [`Bells::silence`] for the first word and bells by bytes: bit `8 * i` stands for bell
    /// `i`. No other bit is set, unless a sender goes wrong.
    #[inline(always)]
    pub fn silence_bytes(&self) -> u64 {
        // SAFETY: the word is the first of those that `new` was given, mapped and aligned to 8.
        // ORDERING: as in `silence`. A store to a byte comes before this swap, which takes its bell, or
        // behind it.
        unsafe { self.word(0) }.swap(0, Ordering::Acquire)
    }

    /// Asks to be woken, for the time of this number, which is not 0; senders find it in
    /// [`Bell::request`], and the watch in each of the first `words` words. Returns whether a bell
    /// has been rung there already: the receiver does not sleep then.
    pub fn watch(&self, words: usize, request: u64) -> bool {
        // SAFETY: the word is the first of those that `new` was given, mapped and aligned to 8.
        let place = unsafe { &*self.request };
        // ORDERING: a sender that finds the watch below finds this number, or a later one.
        place.store(request, Ordering::Relaxed);
        let mut is_rung = false;
        for word in 0..words.min(self.words()) {
            // SAFETY: `word` is below the number of words.
            let word = unsafe { self.word(word) };
            // ORDERING: pairs with the locked instruction in `Bell::ring`, by the order of the word:
            // behind it this one finds the bell; before it that one finds the watch, and all that
            // this thread has stored before.
            is_rung |= word.fetch_or(WATCH, Ordering::AcqRel) & !WATCH != 0;
        }
        is_rung
    }

    /// Asks no longer. A sender may have found the watch before.
    pub fn unwatch(&self) {
        for word in 0..self.words() {
            // SAFETY: `word` is below the number of words.
            let word = unsafe { self.word(word) };
            // ORDERING: continues the release sequences of the senders that have rung.
            word.fetch_and(!WATCH, Ordering::Relaxed);
        }
    }

    /// Returns the word of this number.
    ///
    /// # Safety
    /// There is such a word.
    #[inline(always)]
    unsafe fn word(&self, word: usize) -> &AtomicU64 {
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
        // ringing by other senders in between continues the release sequence. And with
        // `Bells::watch`: see there.
        let before = word.fetch_or(self.bit, Ordering::AcqRel);
        // The sign of the new word: a flag of the same instruction.
        (before | self.bit).cast_signed() < 0
    }

    /// Returns the bell by bytes of the same bit; `None` if that is the lowest of no byte of the first
    /// word.
    pub fn of_byte(&self) -> Option<ByteBell> {
        let bit = self.bit.trailing_zeros();
        let is_first = self.word == self.request.wrapping_add(1);
        (is_first && bit.is_multiple_of(8)).then(|| ByteBell {
            #[cfg(all(target_arch = "x86_64", not(loom)))]
            byte: (self.word.cast_mut().cast::<u8>()).wrapping_add(bit as usize / 8),
            #[cfg(not(all(target_arch = "x86_64", not(loom))))]
            bell: *self,
        })
    }

    /// Returns the number of the last time that the receiver has asked to be woken, else 0: to wake
    /// it once for that time is enough.
    pub fn request(&self) -> u64 {
        // SAFETY: the word is the first of those that `Bells::new` was given, mapped and aligned
        // to 8.
        let request = unsafe { &*self.request };
        // ORDERING: behind the ring that has found the watch of this time, or of an earlier one.
        request.load(Ordering::Relaxed)
    }
}

impl ByteBell {
    /// Tells the receiver to look at the rings of the bell, as [`Bell::ring`] does; by one store.
    ///
    /// # Safety
    /// The receiver does not sleep, and each bell of the byte is this one.
    #[inline(always)]
    pub unsafe fn ring(self) {
        // Rust has no atomic accesses to parts of a word. The processor has: a store to the byte is
        // ordered behind the earlier ones, and changes no other byte (Intel SDM vol. 3, 9.2.2).
        // SAFETY: the byte is one of those that `Bells::new` was given, mapped. The compiler keeps
        // accesses to memory before the block there.
        #[cfg(all(target_arch = "x86_64", not(loom)))]
        unsafe {
            core::arch::asm!("mov byte ptr [{}], 1", in(reg) self.byte,
                options(nostack, preserves_flags));
        }
        #[cfg(not(all(target_arch = "x86_64", not(loom))))]
        self.bell.ring();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[repr(align(64))]
    struct Memory([u64; 24]);

    #[test]
    fn a_bell_rings_once_and_names_its_ring() {
        for rings in [1, 2, 62, 63, 64, 126, 130] {
            let mut memory = Memory([0; 24]);
            assert!(bytes(rings) <= size_of::<Memory>());
            // SAFETY: aligned to 64, long enough, zero, outlives the bells.
            let bells = unsafe { Bells::new((&raw mut memory.0).cast(), rings) };
            assert_eq!(bells.words(), rings.div_ceil(63));
            assert!(bells.bell(rings).is_none(), "{rings}");
            for ring in 0..rings {
                let bell = bells.bell(ring).expect("a bell");
                assert!(!bell.ring() && !bell.ring());
                let taken: Vec<u64> = (0..4).map(|word| bells.take(word)).collect();
                let mut expected = vec![0; 4];
                expected[ring / 63] = 1 << (ring % 63);
                assert_eq!(taken, expected, "{ring} of {rings}");
                assert_eq!(bells.take(ring / 63), 0);
            }
        }
    }

    #[test]
    fn bells_by_bytes_ring_alone_and_beside_bits() {
        let mut memory = Memory([0; 24]);
        // SAFETY: aligned to 64, long enough, zero, outlives the bells.
        let bells = unsafe { Bells::new((&raw mut memory.0).cast(), 130) };
        let of = |bell: usize| bells.bell(bell).expect("a bell");
        for first in 0..BYTE_BELLS {
            for second in 0..BYTE_BELLS {
                // SAFETY: nobody sleeps, and no bit but the lowest of a byte is used.
                unsafe { of(8 * first).of_byte().expect("a byte").ring() };
                assert!(!of(8 * second).ring());
                let both = 1 << (8 * first) | 1 << (8 * second);
                assert_eq!(bells.silence_bytes(), both);
                assert!(!bells.is_rung(0));
            }
        }
        let others = [1, 7, 9, 62, 63, 63 + 8, 126];
        assert!(others.iter().all(|&other| of(other).of_byte().is_none()));
    }

    #[test]
    fn bits_that_no_ring_has_are_not_told() {
        let mut memory = Memory([u64::MAX; 24]);
        // SAFETY: aligned to 64, long enough, outlives the bells; a sender that goes wrong sets
        // such bits.
        let bells = unsafe { Bells::new((&raw mut memory.0).cast(), 129) };
        let taken = [0, 1, 2, 3].map(|word| bells.take(word));
        assert_eq!(taken, [!WATCH, !WATCH, 7, 0]);
        assert_eq!(memory.0[1..5], [0, 0, 0, u64::MAX]);
        // SAFETY: aligned to 64, long enough, outlives the bells.
        let none = unsafe { Bells::new((&raw mut memory.0[16]).cast(), 0) };
        assert_eq!((none.take(0), none.bell(0).is_none()), (0, true));
    }

    #[test]
    fn who_rings_finds_the_watch_of_the_words_that_have_it() {
        let mut memory = Memory([0; 24]);
        // SAFETY: aligned to 64, long enough, zero, outlives the bells.
        let bells = unsafe { Bells::new((&raw mut memory.0).cast(), 130) };
        let ring = || [0, 63, 129].map(|ring| bells.bell(ring).is_some_and(|bell| bell.ring()));
        assert!(!bells.watch(2, 7));
        assert_eq!(bells.bell(129).map(|bell| bell.request()), Some(7));
        assert_eq!(ring(), [true, true, false]);
        assert!(bells.is_rung(0) && bells.watch(9, 8) && bells.watch(1, 9));
        bells.unwatch();
        assert_eq!(ring(), [false; 3]);
        assert_eq!([0, 1, 2].map(|word| bells.take(word)), [1, 1, 1 << 3]);
        // To take the bells ends the watch, also where there are none.
        assert!(!bells.watch(3, 10));
        assert_eq!([0, 1, 2].map(|word| bells.take(word)), [0; 3]);
        assert_eq!(ring(), [false; 3]);
        assert_eq!(bells.bell(0).map(|bell| bell.request()), Some(10));
    }
}
