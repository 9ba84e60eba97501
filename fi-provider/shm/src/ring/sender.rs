//! The sender's end of a ring.

use super::{Broken, Header, MESSAGE, Place, SKIP, WORD, Word, max_payload, record_words};
use crate::sync::Ordering;

/// The end of a ring that one thread at a time sends by.
#[derive(Debug)]
pub struct Sender {
    /// The word of the next header: that of `tail`, which is zero.
    next: *const Word,
    /// The position up to which a record may reach: before the end of the ring, the words known to
    /// be free, and so is the word behind them.
    limit: u64,
    /// The longest payload in bytes.
    most: usize,
    place: Place,
    /// The position of the next header, in words since the beginning.
    tail: u64,
    /// The receiver's head as last read.
    head: u64,
    /// The position of the last skip, and that behind it.
    skip: (u64, u64),
    is_broken: bool,
}

// SAFETY: the memory is mapped for all threads, and none of them owns it.
unsafe impl Send for Sender {}

/// Room for a record; dropped without [`Room::publish`], it is as if it had not been reserved.
#[derive(Debug)]
pub struct Room<'a> {
    sender: &'a mut Sender,
    len: u32,
}

impl Sender {
    /// Takes the sender's end of the ring of `capacity` bytes at `memory`.
    ///
    /// # Safety
    /// `memory` must be aligned to 64 and mapped for reading and writing for
    /// [`super::bytes`]`(capacity)` bytes as long as this value lives. Nobody has sent by this
    /// memory since it was zero, and in all processes this is the only sender. In this process,
    /// nothing but the ends of the ring accesses it.
    ///
    /// # Panics
    /// If `capacity` is none ([`super::is_capacity`]).
    pub unsafe fn new(memory: *mut u8, capacity: usize) -> Self {
        // SAFETY: `memory` is that of a ring of `capacity` bytes.
        let place = unsafe { Place::new(memory, capacity) };
        Self {
            next: place.records,
            // The word behind the last record stays zero.
            limit: place.words() - 1,
            most: max_payload(capacity),
            place,
            tail: 0,
            head: 0,
            skip: (0, 0),
            is_broken: false,
        }
    }

    /// Returns the longest payload in bytes.
    #[inline]
    pub fn max_payload(&self) -> usize {
        self.most
    }

    /// Reserves a record with a payload of `len` bytes; `None` if the ring is full now, and also
    /// if `len` is above [`Sender::max_payload`], which never fits. An empty ring has room for
    /// every other length.
    ///
    /// # Errors
    /// [`Broken`] if the receiver has stored a head that cannot be, then and ever after.
    #[inline(always)]
    pub fn reserve(&mut self, len: usize) -> Result<Option<Room<'_>>, Broken> {
        if len > self.most {
            return Ok(None);
        }
        let words = record_words(len);
        if self.tail + words > self.limit && !self.make_room(words)? {
            return Ok(None);
        }
        let len = len as u32;
        Ok(Some(Room { sender: self, len }))
    }

    /// Reserves a record as [`Sender::reserve`], whose payload is no longer than the longest
    /// ([`Sender::max_payload`]), where there is room without a look at the receiver's head: by one
    /// comparison. Calls nothing.
    #[inline(always)]
    pub fn reserve_known(&mut self, len: usize) -> Option<Room<'_>> {
        debug_assert!(len <= self.most);
        if self.tail + record_words(len) > self.limit {
            return None;
        }
        let len = len as u32;
        Some(Room { sender: self, len })
    }

    /// Returns the bytes that the receiver has not given back yet, at most the capacity; 0 if it
    /// has consumed all records and found the ring empty.
    ///
    /// # Errors
    /// As [`Sender::reserve`].
    pub fn in_flight(&mut self) -> Result<usize, Broken> {
        self.read_head()?;
        if self.skip == (self.head, self.tail) {
            // Nobody is told of a skip before the record behind it.
            return Ok(0);
        }
        Ok((self.tail - self.head) as usize * WORD)
    }

    /// Looks for room for a record of `words` words, by the receiver's head if need be. Returns
    /// whether there is room.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, words: u64) -> Result<bool, Broken> {
        if !self.is_broken && self.fits(words) {
            return Ok(true);
        }
        self.read_head()?;
        Ok(self.fits(words))
    }

    /// Reads the receiver's head. A broken ring has no room.
    fn read_head(&mut self) -> Result<(), Broken> {
        // SAFETY: the word lies in the memory that `new` was given, mapped and aligned.
        let head = unsafe { &*self.place.head() };
        // ORDERING: pairs with the store in the receiver's `give_back`: its reads of payloads
        // come before the writes to the same room here.
        let head = head.value.load(Ordering::Acquire);
        if self.is_broken || head < self.head || self.tail < head {
            (self.is_broken, self.limit) = (true, 0);
            return Err(Broken);
        }
        self.head = head;
        Ok(())
    }

    /// Sets the limit by the head as last read; skips the words before the end if `words` words
    /// fit behind it only. Returns whether `words` words fit now.
    fn fits(&mut self, words: u64) -> bool {
        // One word, that of the next header, is never part of a record before it is reserved.
        let free_until = self.head + self.place.words() - 1;
        let end = self.tail + self.place.words_from(self.next);
        self.limit = free_until.min(end);
        if self.tail + words <= end {
            return self.tail + words <= self.limit;
        }
        if end + words > free_until {
            return false;
        }
        let to_end = end - self.tail;
        self.skip = (self.tail, end);
        self.append(to_end, Header::new(SKIP, 0, to_end as u32));
        self.limit = free_until;
        true
    }

    /// Publishes a record of `words` words up to `limit`, the payload being written.
    #[inline(always)]
    fn append(&mut self, words: u64, header: Header) {
        self.tail += words;
        let next = self.place.wrapped(self.next.wrapping_add(words as usize));
        // SAFETY: both words lie in the memory that `new` was given, mapped and aligned.
        let (this, behind) = unsafe { (&*self.next, &*next) };
        // ORDERING: the store of the header orders it.
        behind.value.store(0, Ordering::Relaxed);
        // ORDERING: pairs with the load in `Receiver::next`: a receiver that sees the header sees the
        // payload, and zero, or the next header, behind the record.
        this.value.store(header.0, Ordering::Release);
        self.next = next;
    }
}

impl Room<'_> {
    /// Returns where the payload goes: aligned to 8, and writable for the length reserved, up to
    /// the next multiple of 8, until this value ends.
    #[cfg(not(loom))]
    #[inline(always)]
    pub fn payload(&mut self) -> *mut u8 {
        self.sender.next.wrapping_add(1).cast::<u8>().cast_mut()
    }

    /// Returns the bytes reserved.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns whether no bytes are reserved.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes bytes `8 * index` to `8 * index + 7` of the payload, of which those behind its length
    /// are not sent; does nothing if the payload has none of them.
    #[inline(always)]
    pub fn set_word(&mut self, index: usize, value: u64) {
        if index < self.len().div_ceil(WORD) {
            // SAFETY: the word belongs to the record reserved, so that it lies in the memory that
            // `Sender::new` was given, mapped and aligned.
            unsafe { &*self.sender.next.wrapping_add(1 + index) }.write(value);
        }
    }

    /// Publishes the record; `kind` is the caller's. The receiver looks when its bell is rung.
    #[inline(always)]
    pub fn publish(self, kind: u16) {
        let words = record_words(self.len());
        self.sender
            .append(words, Header::new(MESSAGE, kind, self.len));
    }
}
