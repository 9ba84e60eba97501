//! The receiver's end of a ring.

use super::{
    Broken, CAPACITIES, Header, MESSAGE, Place, SKIP, WORD, Word, max_payload, record_words,
};
use crate::sync::Ordering;

/// The end of a ring that one thread at a time receives by.
#[derive(Debug)]
pub struct Receiver {
    /// The word of the next header: that of `position`.
    next: *const Word,
    /// The longest payload in bytes; less than every length if the ring is closed.
    most: i64,
    place: Place,
    /// A record that ends before this word is passed by going behind it, and nothing else; behind
    /// no word if the ring is closed.
    limit: *const Word,
    /// The position of the first word, as `next` has it: positions are in words since the
    /// beginning.
    lap: u64,
    /// The position from which on the sender is told the head, and the head that it was told.
    give_from: u64,
    given: u64,
    is_broken: bool,
}

// SAFETY: the memory is mapped for all threads, and none of them owns it.
unsafe impl Send for Receiver {}

/// The first record of a ring. It is consumed when this value is dropped.
#[derive(Debug)]
pub struct Record<'a> {
    receiver: &'a mut Receiver,
    header: Header,
}

/// The longest payload of a record that [`Receiver::short`] returns, in bytes: every ring takes it.
pub const SHORT: usize = 16;
const _: () = assert!(SHORT <= max_payload(*CAPACITIES.start()));

/// The first record of a ring, behind which no room is given back. It is consumed by
/// [`First::done`] alone.
#[derive(Debug)]
pub struct First<'a> {
    receiver: &'a mut Receiver,
    /// The word of the header, and that behind the record.
    next: *const Word,
    behind: *const Word,
    len: usize,
}

/// The first record is none that [`Receiver::short`] or [`Receiver::of_kind`] takes:
/// [`Receiver::next`] has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other;

impl Receiver {
    /// Takes the receiver's end of the ring of `capacity` bytes at `memory`.
    ///
    /// # Safety
    /// `memory` must be aligned to 64 and mapped for reading and writing for
    /// [`super::bytes`]`(capacity)` bytes as long as this value lives. Nobody has received by this
    /// memory since it was zero, and in all processes this is the only receiver. In this process,
    /// nothing but the ends of the ring accesses it.
    ///
    /// # Panics
    /// If `capacity` is none ([`super::is_capacity`]).
    pub unsafe fn new(memory: *mut u8, capacity: usize) -> Self {
        // SAFETY: `memory` is that of a ring of `capacity` bytes.
        let place = unsafe { Place::new(memory, capacity) };
        let mut receiver = Self {
            next: place.records,
            most: max_payload(capacity) as i64,
            place,
            limit: place.records,
            lap: 0,
            give_from: place.words() / 4,
            given: 0,
            is_broken: false,
        };
        receiver.set_limit();
        receiver
    }

    /// Returns the longest payload in bytes.
    #[inline]
    pub fn max_payload(&self) -> usize {
        self.place.words() as usize * WORD / 4
    }

    /// Returns whether nothing was published behind the last record consumed, by one load.
    #[inline(always)]
    pub fn is_idle(&self) -> bool {
        // SAFETY: the word lies in the memory that `new` was given, mapped and aligned.
        let next = unsafe { &*self.next };
        // ORDERING: tells only whether to call `next`, which orders.
        next.value.load(Ordering::Relaxed) == 0
    }

    /// Returns whether there may be a record of this kind, by one load: the first one.
    #[inline(always)]
    pub fn has_next(&self, kind: u16) -> bool {
        // SAFETY: the word lies in the memory that `new` was given, mapped and aligned.
        let next = unsafe { &*self.next };
        // ORDERING: tells only whether to call `short`, which orders.
        Header(next.value.load(Ordering::Relaxed)).kind() == kind
    }

    /// Returns the first record, or `None` if there is none; then the sender gets all room back.
    ///
    /// # Errors
    /// [`Broken`] if the sender has written a header that cannot be, then and ever after.
    #[expect(
        clippy::should_implement_trait,
        reason = "a record borrows the receiver, and the ring can be broken"
    )]
    #[inline(always)]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, Broken> {
        let mut header = self.header();
        if header.mark() != MESSAGE {
            header = match self.pass_skip(header)? {
                Some(header) => header,
                None => return Ok(None),
            };
        }
        if i64::from(header.len()) > self.most || self.behind(header) > self.place.end {
            return Err(self.close());
        }
        Ok(Some(Record {
            receiver: self,
            header,
        }))
    }

    /// Returns the first record if it is of this kind and short, by few instructions, or `None` if
    /// there is none. Gives no room back.
    ///
    /// # Errors
    /// [`Other`] if [`Receiver::next`] has to look: also for one short record of a quarter, at
    /// least.
    #[inline(always)]
    pub fn short(&mut self, kind: u16) -> Result<Option<First<'_>>, Other> {
        self.short_from::<0>(kind)
    }

    /// Does as [`Receiver::short`] for records of at least `LEAST` bytes.
    ///
    /// # Errors
    /// As [`Receiver::short`].
    #[inline(always)]
    pub fn short_from<const LEAST: usize>(
        &mut self,
        kind: u16,
    ) -> Result<Option<First<'_>>, Other> {
        const { assert!(LEAST <= SHORT) };
        let first = self.first::<LEAST>(kind, SHORT as u64)?;
        if let Some(first) = &first {
            // SAFETY: `first` takes no other lengths: those of `SHORT` fit in the header's lower half.
            unsafe { std::hint::assert_unchecked(LEAST <= first.len && first.len <= SHORT) };
        }
        Ok(first)
    }

    /// Returns the first record if it is of this kind, of any length, as [`Receiver::short`] does.
    ///
    /// # Errors
    /// As [`Receiver::short`].
    #[inline(always)]
    pub fn of_kind(&mut self, kind: u16) -> Result<Option<First<'_>>, Other> {
        // A closed ring has no limit: it is found there.
        self.first::<0>(kind, self.most.cast_unsigned())
    }

    /// Returns the first record if it is of this kind and has `LEAST` to `most` bytes.
    #[inline(always)]
    fn first<const LEAST: usize>(
        &mut self,
        kind: u16,
        most: u64,
    ) -> Result<Option<First<'_>>, Other> {
        let next = self.next;
        // SAFETY: the word lies in the memory that `new` was given, mapped and aligned.
        // ORDERING: pairs with the store in the sender's `append`.
        let header = Header(unsafe { &*next }.value.load(Ordering::Acquire));
        // Mark and kind are right where the rest is a length, less the least one.
        let least = Header::new(MESSAGE, kind, LEAST as u32);
        if header.0.wrapping_sub(least.0) > most.wrapping_sub(LEAST as u64) {
            return if header.0 == 0 { Ok(None) } else { Err(Other) };
        }
        let len = header.len() as usize;
        let behind = next.wrapping_add(record_words(len) as usize);
        if behind >= self.limit {
            return Err(Other);
        }
        Ok(Some(First {
            receiver: self,
            next,
            len,
            behind,
        }))
    }

    /// Returns the first record if it is of this kind and has `LEN` bytes, by fewer instructions
    /// than [`Receiver::short`] does; `None` if there is another one or none, or where
    /// [`Receiver::next`] has to look. Gives no room back.
    #[inline(always)]
    pub fn exactly<const LEN: usize>(&mut self, kind: u16) -> Option<First<'_>> {
        const { assert!(LEN <= SHORT) };
        let next = self.next;
        // SAFETY: the word lies in the memory that `new` was given, mapped and aligned.
        // ORDERING: pairs with the store in the sender's `append`.
        let header = unsafe { &*next }.value.load(Ordering::Acquire);
        let behind = next.wrapping_add(record_words(LEN) as usize);
        if header != Header::new(MESSAGE, kind, LEN as u32).0 || behind >= self.limit {
            return None;
        }
        Some(First {
            receiver: self,
            next,
            len: LEN,
            behind,
        })
    }

    /// Reads the next header, once.
    #[inline(always)]
    fn header(&self) -> Header {
        // SAFETY: the word lies in the memory that `new` was given, mapped and aligned.
        let next = unsafe { &*self.next };
        // ORDERING: pairs with the store in the sender's `append`.
        Header(next.value.load(Ordering::Acquire))
    }

    /// Returns the word behind the record of `header`, which may lie behind the end.
    #[inline(always)]
    fn behind(&self, header: Header) -> *const Word {
        self.next
            .wrapping_add(record_words(header.len() as usize) as usize)
    }

    /// Looks at a header of no message: goes past a skip, and returns the header of the message
    /// behind it; `None` if there is none yet.
    #[inline(never)]
    fn pass_skip(&mut self, header: Header) -> Result<Option<Header>, Broken> {
        if self.is_broken {
            return Err(Broken);
        }
        let mut header = header;
        let to_end = self.place.words_from(self.next);
        // Once: a second skip, which no sender writes, is a mark that cannot be.
        if header.0 == Header::new(SKIP, 0, to_end as u32).0 {
            self.consume(to_end);
            header = self.header();
        }
        match header.mark() {
            MESSAGE => Ok(Some(header)),
            _ if header.0 == 0 => {
                self.give_back();
                Ok(None)
            }
            _ => Err(self.close()),
        }
    }

    /// Closes the ring.
    #[cold]
    #[inline(never)]
    fn close(&mut self) -> Broken {
        (self.is_broken, self.most) = (true, -1);
        self.limit = std::ptr::null();
        Broken
    }

    /// Goes past a record of `words` words, which lies before the end.
    #[inline(always)]
    fn consume(&mut self, words: u64) {
        self.next = self.next.wrapping_add(words as usize);
        if self.next >= self.limit {
            self.pass_limit();
        }
    }

    /// Returns the position of the next header.
    #[inline]
    fn position(&self) -> u64 {
        self.lap + self.place.words() - self.place.words_from(self.next)
    }

    /// Begins the next lap at the end, and gives room back when it is time.
    #[inline(never)]
    fn pass_limit(&mut self) {
        if self.next == self.place.end {
            self.next = self.place.records;
            self.lap += self.place.words();
        }
        if self.position() >= self.give_from {
            self.give_back();
        } else {
            self.set_limit();
        }
    }

    /// Sets the limit: the end, or the word from which on room is given back.
    #[inline]
    fn set_limit(&mut self) {
        let words = self.give_from - self.position();
        let words = words.min(self.place.words_from(self.next));
        self.limit = self.next.wrapping_add(words as usize);
    }

    /// Gives the sender all room before the next header.
    #[inline]
    fn give_back(&mut self) {
        let position = self.position();
        if self.given != position {
            self.given = position;
            self.give_from = position + self.place.words() / 4;
            // SAFETY: the word lies in the memory that `new` was given, mapped and aligned.
            let head = unsafe { &*self.place.head() };
            // ORDERING: pairs with the load in the sender's `read_head`.
            head.value.store(position, Ordering::Release);
        }
        self.set_limit();
    }
}

impl First<'_> {
    /// Returns the length of the payload in bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the payload has no bytes.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns where the payload lies, as [`Record::payload`] does.
    #[cfg(not(loom))]
    #[inline(always)]
    pub fn payload(&self) -> *const u8 {
        self.next.wrapping_add(1).cast()
    }

    /// Reads a word of the payload, as [`Record::word`] does.
    #[inline(always)]
    pub fn word(&self, index: usize) -> Option<u64> {
        (index < self.len.div_ceil(WORD)).then(|| {
            // SAFETY: `Receiver::first` has found that the record lies in the ring, whose memory
            // `Receiver::new` was given, mapped and aligned.
            unsafe { &*self.next.wrapping_add(1 + index) }.read()
        })
    }

    /// Consumes the record.
    #[inline(always)]
    pub fn done(self) {
        self.receiver.next = self.behind;
    }
}

impl Record<'_> {
    /// Returns the kind that the sender has chosen.
    #[inline(always)]
    pub fn kind(&self) -> u16 {
        self.header.kind()
    }

    /// Returns the length of the payload in bytes, at most [`Receiver::max_payload`].
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.header.len() as usize
    }

    /// Returns whether the payload has no bytes.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.header.len() == 0
    }

    /// Returns where the payload lies: aligned to 8, readable for [`Record::len`] bytes up to the
    /// next multiple of 8, until this value ends. A sender that goes wrong can still change it:
    /// copy it before it is checked.
    #[cfg(not(loom))]
    #[inline(always)]
    pub fn payload(&self) -> *const u8 {
        self.receiver.next.wrapping_add(1).cast()
    }

    /// Reads bytes `8 * index` to `8 * index + 7` of the payload, of which those behind its length
    /// are undetermined; `None` if the payload has none of them.
    #[inline(always)]
    pub fn word(&self, index: usize) -> Option<u64> {
        (index < self.len().div_ceil(WORD)).then(|| {
            // SAFETY: `Receiver::next` has found that the record lies in the ring, whose memory
            // `Receiver::new` was given, mapped and aligned.
            unsafe { &*self.receiver.next.wrapping_add(1 + index) }.read()
        })
    }

    /// Copies the payload from byte `from` on, at most `most` bytes; returns their number, 0 if
    /// `from` is behind the payload.
    ///
    /// # Safety
    /// `dest` must be mapped for writing for `most` bytes, outside the ring.
    #[cfg(not(loom))]
    #[inline(always)]
    pub unsafe fn copy_to(&self, from: usize, dest: *mut u8, most: usize) -> usize {
        let bytes = self.len().saturating_sub(from).min(most);
        // SAFETY: `dest` is mapped for writing for `most` bytes. `bytes` from `from` on are in the
        // payload, or none, and `Receiver::next` has found that it lies in the ring, which
        // `Receiver::new` was given mapped.
        unsafe { crate::copy::copy(dest, self.payload().wrapping_add(from), bytes) };
        bytes
    }

    /// Consumes the record, as dropping it does.
    #[inline(always)]
    pub fn done(self) {}

    /// Leaves the record where it is: [`Receiver::next`] returns it again.
    #[inline(always)]
    pub fn leave(self) {
        std::mem::forget(self);
    }
}

impl Drop for Record<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        let words = record_words(self.len());
        self.receiver.consume(words);
    }
}
