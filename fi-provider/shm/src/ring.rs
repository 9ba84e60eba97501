//! A ring of messages from one sender to one receiver, in memory that two processes share.
//!
//! The memory is a line with the receiver's *head*, and then the records, back to back in
//! `capacity` bytes. A record is a header word (length of the payload, kind, mark) and the payload,
//! padded to 8 bytes. All zero bytes are an empty ring.
//!
//! The sender writes the payload, clears the word behind the record, and publishes by one release
//! store of the header word. So the receiver looks at its next header word alone: a small record
//! travels as one line, and no tail is shared. A sender that is killed has published all of a
//! record or nothing. A record that does not fit before the end of the ring begins at its start,
//! behind a record that skips the rest.
//!
//! The receiver gives room back by storing its head: when it has consumed a quarter, or finds the
//! ring empty. The sender reads the head only when the room that it knows of does not suffice.
//!
//! Neither end trusts the other: words of the other side are read once and checked. A header or a
//! head that cannot be closes the ring ([`Broken`]); nothing outside the ring is ever accessed. The
//! contents of payloads are the caller's to check, by copies: the sender could still change them.
//!
//! [`crate::bell`] tells a receiver which of its rings to look at.

mod receiver;
mod sender;

pub use receiver::{First, Other, Receiver, Record, SHORT};
pub use sender::{Room, Sender};

use crate::sync::{AtomicU64, Ordering};

/// Bytes before the records: the line of the receiver's head.
pub const HEAD_BYTES: usize = 64;

/// The bytes of a header word, and the alignment of a record.
pub const WORD: usize = 8;

/// The smallest and the largest capacity in bytes.
pub const CAPACITIES: std::ops::RangeInclusive<usize> = 64..=1 << 31;

/// Returns whether a ring can have `capacity` bytes for records: a power of two in
/// [`CAPACITIES`].
pub const fn is_capacity(capacity: usize) -> bool {
    capacity.is_power_of_two() && *CAPACITIES.start() <= capacity && capacity <= *CAPACITIES.end()
}

/// Returns the bytes of memory that a ring of `capacity` bytes takes.
pub const fn bytes(capacity: usize) -> usize {
    HEAD_BYTES + capacity
}

/// Returns the longest payload, in bytes, in a ring of `capacity` bytes.
pub const fn max_payload(capacity: usize) -> usize {
    capacity / 4
}

/// Returns the bytes that a record with a payload of `len` bytes takes, where it is not preceded
/// by a skip.
pub const fn record_bytes(len: usize) -> usize {
    record_words(len) as usize * WORD
}

/// The other side has written words that no sender or receiver writes: the ring is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a ring is broken: the other side has written an impossible header or head")]
pub struct Broken;

/// Returns the number of words of a record with a payload of `len` bytes, header included; for
/// lengths of 32 bits.
const fn record_words(len: usize) -> u64 {
    (len as u64 + 15) / 8
}

/// The mark of a header word: an empty word has none of them.
const MESSAGE: u16 = 0xfa5e;
/// The mark of a record that skips the rest before the end.
const SKIP: u16 = 0xfa51;

/// A header word.
#[derive(Clone, Copy, Debug)]
struct Header(u64);

impl Header {
    #[inline(always)]
    fn new(mark: u16, kind: u16, len: u32) -> Self {
        Self(u64::from(mark) << 48 | u64::from(kind) << 32 | u64::from(len))
    }

    #[inline(always)]
    fn mark(self) -> u16 {
        (self.0 >> 48) as u16
    }

    #[inline(always)]
    fn kind(self) -> u16 {
        (self.0 >> 32) as u16
    }

    #[inline(always)]
    fn len(self) -> u32 {
        self.0 as u32
    }
}

/// A word of the memory.
#[cfg_attr(not(loom), repr(transparent))]
#[derive(Debug)]
struct Word {
    value: AtomicU64,
    /// Tells the model checker of accesses to payloads that are not ordered.
    #[cfg(loom)]
    payload: loom::cell::UnsafeCell<()>,
}

impl Word {
    /// Writes 8 bytes of a payload.
    #[inline(always)]
    fn write(&self, value: u64) {
        #[cfg(loom)]
        self.payload.with_mut(|_| ());
        // ORDERING: the header's release store publishes it.
        self.value.store(value, Ordering::Relaxed);
    }

    /// Reads 8 bytes of a payload.
    #[inline(always)]
    fn read(&self) -> u64 {
        #[cfg(loom)]
        self.payload.with(|_| ());
        // ORDERING: the header's acquire load has come before.
        self.value.load(Ordering::Relaxed)
    }
}

/// Place of a ring in this process; the words are mapped as long as its end of the ring lives.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The first word for records; the head's line is before it.
    records: *const Word,
    /// The word behind the last, where a position is that of `records` again.
    end: *const Word,
}

impl Place {
    /// # Safety
    /// `memory` must be that of a ring of `capacity` bytes.
    ///
    /// # Panics
    /// If `capacity` is none ([`is_capacity`]).
    unsafe fn new(memory: *mut u8, capacity: usize) -> Self {
        assert!(
            is_capacity(capacity),
            "no capacity of a ring: {capacity} bytes"
        );
        // SAFETY: the ring has the words of the head's line and those of `capacity` behind them.
        unsafe {
            let records = memory.cast::<Word>().cast_const().add(HEAD_BYTES / WORD);
            let end = records.add(capacity / WORD);
            Self { records, end }
        }
    }

    /// Returns the number of words for records.
    #[inline]
    fn words(self) -> u64 {
        self.words_from(self.records)
    }

    /// Returns the number of words from `at`, one of those for records, to the end: at least one.
    #[inline]
    fn words_from(self, at: *const Word) -> u64 {
        ((self.end as usize - at as usize) / size_of::<Word>()) as u64
    }

    /// Returns the word behind a record that ends before `behind`, which is at most the end.
    #[inline(always)]
    fn wrapped(self, behind: *const Word) -> *const Word {
        if behind == self.end {
            self.records
        } else {
            behind
        }
    }

    /// Returns the word of the receiver's head.
    #[inline]
    fn head(self) -> *const Word {
        self.records.wrapping_sub(HEAD_BYTES / WORD)
    }
}

/// Memory of a ring for the model checker, whose words are larger than 8 bytes.
#[cfg(loom)]
#[derive(Debug)]
pub struct Model(Box<[Word]>);

#[cfg(loom)]
// SAFETY: the values are atomic, and the model checks accesses to payloads.
unsafe impl Sync for Model {}

#[cfg(loom)]
// SAFETY: the words are bound to no thread.
unsafe impl Send for Model {}

#[cfg(loom)]
impl Model {
    /// Makes an empty ring of `capacity` bytes.
    pub fn new(capacity: usize) -> Self {
        let word = |_| Word {
            value: AtomicU64::new(0),
            payload: loom::cell::UnsafeCell::new(()),
        };
        Self((0..bytes(capacity) / WORD).map(word).collect())
    }

    /// Returns the memory, as the ends of the ring take it.
    pub fn memory(&self) -> *mut u8 {
        self.0.as_ptr().cast_mut().cast()
    }
}
