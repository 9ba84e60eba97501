//! The path to an endpoint of the node: the ring in its process's memory.

#![expect(unsafe_code, reason = "sends bytes by their C address")]

use super::sharing::Sharing;
use crate::raw::address::Address;
use crate::raw::domain::Domain;
use crate::raw::error::Error;
use crate::raw::near::Near;
use crate::raw::record::MOST_WORDS;
use fi_shm::bell::{Bell, Bells, ByteBell};
use fi_shm::{copy, ring};
use std::cell::{Cell, UnsafeCell};
use std::sync::Arc;

/// A ring to an endpoint, and its bell; released when it is dropped.
#[derive(Debug)]
pub(crate) struct NearPath {
    sender: UnsafeCell<ring::Sender>,
    bell: Bell,
    offset: u64,
    /// The number of the endpoint there, and its last request to be woken.
    to: u32,
    request: Cell<u64>,
    /// The longest payload in bytes.
    pub(crate) most: usize,
    pub(crate) near: Arc<Near>,
    pub(super) sharing: Sharing,
    /// The bell, where a store rings it.
    pub(super) byte: Option<ByteBell>,
}

/// The rest of a post, which is seldom one: `Link::settle` does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seldom {
    /// The ring has no room.
    Full,
    /// The record is sent, and the receiver asks to be woken.
    Watched,
}

/// Keeps the way of a seldom end apart from the usual one: by no instruction, but the compiler makes no
/// value of the two that would be looked at later, when the flags of the ring's instruction are gone.
#[inline(always)]
pub(super) fn apart() {
    std::hint::black_box(());
}

impl NearPath {
    /// Connects endpoint `own` of the domain to the endpoint of this address.
    pub(crate) fn open(domain: &Domain, own: u32, address: &Address) -> Result<Self, Error> {
        let near = domain.near(&address.process)?;
        let grant = near.ask_for_ring(own, address.endpoint)?;
        let capacity = grant.capacity as usize;
        let bells = grant.bell as usize + 1;
        if !ring::is_capacity(capacity) || ring::max_payload(capacity) <= 8 * MOST_WORDS {
            return Err(Error::Broken);
        }
        // SAFETY: ring and bells lie in the process's memory (`ask_for_ring` has checked), which is
        // mapped as long as `near`; the process has made the ring for this endpoint, in pages that
        // were zero.
        let (sender, bells) = unsafe {
            (
                ring::Sender::new(near.at(grant.offset), capacity),
                Bells::new(near.at(grant.bells), bells),
            )
        };
        let bell = bells.bell(grant.bell as usize).ok_or(Error::Broken)?;
        let byte = match grant.is_by_bytes {
            true => Some(bell.of_byte().ok_or(Error::Broken)?),
            false => None,
        };
        Ok(Self {
            sender: UnsafeCell::new(sender),
            bell,
            byte,
            offset: grant.offset,
            to: address.endpoint,
            request: Cell::new(0),
            most: ring::max_payload(capacity),
            sharing: Sharing::new(domain.splits()),
            near,
        })
    }

    /// Sends a record of words and bytes.
    ///
    /// # Errors
    /// The rest of the work, also where the record is sent.
    ///
    /// # Safety
    /// `bytes` holds `len` bytes, which are with the words no more than the longest payload.
    #[inline(always)]
    pub(crate) unsafe fn post<const N: usize>(
        &self,
        kind: u16,
        words: [u64; N],
        bytes: *const u8,
        len: usize,
    ) -> Result<(), Seldom> {
        // SAFETY: the only reference: a path is of one thread, as a `Cell` beside it is, and no
        // call below comes back to this path before the reference's last use.
        let sender = unsafe { &mut *self.sender.get() };
        let Ok(Some(room)) = sender.reserve(N * 8 + len) else {
            return Err(Seldom::Full);
        };
        // SAFETY: so much was reserved, and `bytes` holds the bytes.
        unsafe { self.fill::<N>(room, kind, words, bytes, len) }
    }

    /// Returns whether a record of a payload of `len` bytes finds room.
    pub(crate) fn has_room(&self, len: usize) -> bool {
        // SAFETY: the only reference, as in `post`.
        let sender = unsafe { &mut *self.sender.get() };
        matches!(sender.reserve(len), Ok(Some(_)))
    }

    /// Sends a record as [`NearPath::post`] does, where there is room without a look at the receiver's
    /// progress, to a receiver that does not sleep. Returns whether there was.
    ///
    /// # Safety
    /// As [`NearPath::post`]; a store rings the bell ([`NearPath::byte`]).
    #[inline(always)]
    pub(crate) unsafe fn post_by_byte<const N: usize>(
        &self,
        kind: u16,
        words: [u64; N],
        bytes: *const u8,
        len: usize,
    ) -> bool {
        // SAFETY: the only reference, as in `post`: nothing below comes back to this path before its
        // last use.
        let sender = unsafe { &mut *self.sender.get() };
        let Some(room) = sender.reserve_known(N * 8 + len) else {
            return false;
        };
        // SAFETY: so much was reserved, and `bytes` holds the bytes. The receiver has granted the
        // bell as one of bytes, as the caller promises.
        unsafe {
            Self::write::<N, true>(room, kind, words, bytes, len);
            self.byte.unwrap_unchecked().ring();
        }
        true
    }

    /// Sends a record as [`NearPath::post_known`] does, of words and at most 16 bytes. Calls nothing.
    ///
    /// # Errors
    /// As [`NearPath::post`].
    ///
    /// # Safety
    /// As [`NearPath::post`].
    #[inline(always)]
    pub(crate) unsafe fn post_short<const N: usize>(
        &self,
        kind: u16,
        words: [u64; N],
        bytes: *const u8,
        len: usize,
    ) -> Result<(), Seldom> {
        // `open` refuses rings whose longest payload is shorter.
        const { assert!(N <= MOST_WORDS) };
        if len > 8 * (MOST_WORDS - N) || len > 16 {
            return Err(Seldom::Full);
        }
        // SAFETY: the only reference, as in `post`: nothing below comes back to this path before its
        // last use.
        let sender = unsafe { &mut *self.sender.get() };
        let Some(room) = sender.reserve_known(N * 8 + len) else {
            return Err(Seldom::Full);
        };
        // SAFETY: so much was reserved, and `bytes` holds the bytes.
        unsafe { self.fill::<N>(room, kind, words, bytes, len) }
    }

    /// Sends a record of words alone as [`NearPath::post_short`] does; `note` is called where there
    /// is room. Calls nothing else.
    ///
    /// # Errors
    /// As [`NearPath::post`].
    #[inline(always)]
    pub(crate) fn post_words<const N: usize>(
        &self,
        kind: u16,
        words: [u64; N],
        note: impl FnOnce(),
    ) -> Result<(), Seldom> {
        // `open` refuses rings whose longest payload is shorter.
        const { assert!(N <= MOST_WORDS) };
        // SAFETY: the only reference, as in `post`: neither `note` nor anything below comes back to
        // this path before its last use.
        let sender = unsafe { &mut *self.sender.get() };
        let Some(room) = sender.reserve_known(N * 8) else {
            return Err(Seldom::Full);
        };
        note();
        // SAFETY: so much was reserved, and there are no bytes.
        unsafe { self.fill::<N>(room, kind, words, std::ptr::null(), 0) }
    }

    /// Writes a record, publishes it and rings.
    ///
    /// # Safety
    /// As [`NearPath::write`].
    #[inline(always)]
    unsafe fn fill<const N: usize>(
        &self,
        room: ring::Room<'_>,
        kind: u16,
        words: [u64; N],
        bytes: *const u8,
        len: usize,
    ) -> Result<(), Seldom> {
        // SAFETY: the room is for so much, and `bytes` holds the bytes.
        unsafe { Self::write::<N, false>(room, kind, words, bytes, len) };
        if self.bell.ring() {
            return Err(Seldom::Watched);
        }
        Ok(())
    }

    /// Writes a record and publishes it; where `WIDE`, more than 16 bytes are copied in line, too.
    ///
    /// # Safety
    /// As [`NearPath::post`]; the room is for so much.
    #[inline(always)]
    unsafe fn write<const N: usize, const WIDE: bool>(
        mut room: ring::Room<'_>,
        kind: u16,
        words: [u64; N],
        bytes: *const u8,
        len: usize,
    ) {
        // SAFETY: the room, which is aligned to 8, has been reserved for the words and the bytes,
        // which `bytes` holds.
        unsafe {
            room.payload().cast::<[u64; N]>().write(words);
            let to = room.payload().add(N * 8);
            if WIDE {
                copy::copy_message(to, bytes, len);
            } else {
                copy::copy(to, bytes, len);
            }
        }
        room.publish(kind);
    }

    /// Wakes the endpoint, once for each time that it has asked.
    ///
    /// # Errors
    /// [`Error::PeerGone`].
    #[cold]
    #[inline(never)]
    pub(crate) fn wake(&self) -> Result<(), Error> {
        let request = self.bell.request();
        if request == 0 || request == self.request.replace(request) {
            return Ok(());
        }
        self.near.wake(self.to)
    }

    /// Returns the reason why a post has found no room.
    pub(crate) fn refusal(&self) -> Error {
        // SAFETY: the only reference: a path is of one thread, `post` has used its own, and
        // `in_flight` knows nothing of paths.
        let in_flight = unsafe { (*self.sender.get()).in_flight() };
        if in_flight.is_err() {
            Error::Broken
        } else {
            Error::Again
        }
    }
}

impl Drop for NearPath {
    fn drop(&mut self) {
        self.near.release_ring(self.offset);
        self.sharing.end(self.near.is_alive());
    }
}
