//! Messages from and to several pieces of memory (fi_sendv, fi_recvv): they are put together before
//! they are sent, and come to memory of the endpoint's before they are taken apart.

#![expect(unsafe_code, reason = "copies bytes between C addresses")]

use super::landings::gathered;
use super::origin::Beside;
use super::{Endpoint, Level, Posted, Wanted};
use crate::raw::address_vector::PeerIndex;
use crate::raw::completion::Report;
use crate::raw::error::Error;
use crate::raw::tagged::Receive;

impl Endpoint {
    /// Sends a message of pieces, one behind the other, as [`Endpoint::send`] does (fi_sendv).
    ///
    /// # Errors
    /// As [`Endpoint::send`]; [`Error::NoRoom`] where there is no memory to put it together.
    ///
    /// # Safety
    /// Each piece holds its bytes, which stay as they are until the operation is reported, or the
    /// endpoint dropped.
    pub unsafe fn send_vector<R: Report>(
        &self,
        peer: PeerIndex,
        pieces: &[(*const u8, usize)],
        data: Option<u64>,
        level: Level,
        report: R,
    ) -> Result<(), Error> {
        let beside = Beside { tag: None, data };
        // SAFETY: each piece holds its bytes until the operation is reported.
        unsafe { self.send_pieces(peer, pieces, beside, level, report) }
    }

    /// Sends a tagged message of pieces, one behind the other, as [`Endpoint::send_tagged`] does
    /// (fi_tsendv).
    ///
    /// # Errors
    /// As [`Endpoint::send_vector`].
    ///
    /// # Safety
    /// As [`Endpoint::send_vector`].
    pub unsafe fn send_tagged_vector<R: Report>(
        &self,
        peer: PeerIndex,
        pieces: &[(*const u8, usize)],
        (tag, data): (u64, Option<u64>),
        level: Level,
        report: R,
    ) -> Result<(), Error> {
        let tag = Some(tag);
        // SAFETY: each piece holds its bytes until the operation is reported.
        unsafe { self.send_pieces(peer, pieces, Beside { tag, data }, level, report) }
    }

    /// # Safety
    /// As [`Endpoint::send_vector`].
    unsafe fn send_pieces<R: Report>(
        &self,
        peer: PeerIndex,
        pieces: &[(*const u8, usize)],
        beside: Beside,
        level: Level,
        report: R,
    ) -> Result<(), Error> {
        if let &[whole] = pieces {
            // SAFETY: the piece holds the bytes until the operation is reported.
            return unsafe { self.start_send(peer, whole, beside, level, report) }.map(drop);
        }
        // SAFETY: the pieces hold their bytes.
        let whole = unsafe { gathered(pieces)? };
        let bytes = (whole.as_ptr(), whole.len());
        // SAFETY: the bytes stay until the operation is reported: the operation that fetches them
        // holds them, and others take them over at once.
        let pending = unsafe { self.start_send(peer, bytes, beside, level, report)? };
        if let Some(number) = pending {
            self.pending.borrow_mut().hold(number, whole);
        }
        Ok(())
    }

    /// Posts a buffer of several pieces, of which one is filled after the other, for one message
    /// (fi_recvv). Entries give offset 0 and the bytes of all pieces.
    ///
    /// # Errors
    /// [`Error::NoRoom`] where there is no memory to which the message can come.
    ///
    /// # Safety
    /// As [`Endpoint::post_receive`], for each piece.
    pub unsafe fn post_receive_vector(
        &self,
        pieces: &[(*mut u8, usize)],
        context: u64,
        source: Option<PeerIndex>,
    ) -> Result<(), Error> {
        let mut posted = Posted {
            context,
            source,
            least: None,
        };
        if let &[(buffer, len)] = pieces {
            // SAFETY: the piece is nobody else's until an entry says that it is the caller's.
            unsafe { self.post_receive(buffer, len, posted) };
            return Ok(());
        }
        let (address, len) = self.landings.landing(pieces)?;
        // Keeps it apart from plain buffers, and takes one message, as nothing is left then.
        posted.least = Some(usize::MAX);
        // SAFETY: the memory is nobody else's as long as it is among the landings: until it is
        // taken apart, cancelled, or the endpoint dropped.
        unsafe { self.post_receive(address, len, posted) };
        Ok(())
    }

    /// Posts a buffer of several pieces, of which one is filled after the other, for one tagged
    /// message (fi_trecvv).
    ///
    /// # Errors
    /// As [`Endpoint::post_receive_vector`].
    ///
    /// # Safety
    /// As [`Endpoint::post_tagged`], for each piece.
    pub unsafe fn post_tagged_vector(
        &self,
        pieces: &[(*mut u8, usize)],
        wanted: Wanted,
        context: u64,
    ) -> Result<(), Error> {
        if let &[(buffer, len)] = pieces {
            // SAFETY: the piece is nobody else's until an entry says that it is the caller's.
            unsafe { self.post_tagged(buffer, len, wanted, context) };
            return Ok(());
        }
        let (address, len) = self.landings.landing(pieces)?;
        // The memory is taken apart before the entry is made.
        self.post_tagged_apart(&Receive {
            wanted,
            address,
            len,
            context,
        });
        Ok(())
    }

    /// Returns the only piece, or memory of the endpoint's that stands for several.
    pub(super) fn whole(&self, pieces: &[(*mut u8, usize)]) -> Result<(*mut u8, usize), Error> {
        self.landings.whole(pieces)
    }

    /// Takes the first `len` bytes of a buffer apart, if that stands for pieces, and lets it go:
    /// before its entry is made.
    #[inline]
    pub(super) fn land(&self, buffer: *mut u8, len: usize) {
        if !self.landings.0.borrow().is_empty() {
            self.take_apart(buffer, len);
        }
    }

    #[cold]
    fn take_apart(&self, buffer: *mut u8, len: usize) {
        let Some(landing) = self.landings.0.borrow_mut().remove(&buffer) else {
            return;
        };
        let (mut from, mut left) = (buffer, len);
        for &(piece, len) in &landing.pieces {
            let len = len.min(left);
            if len > 0 {
                // SAFETY: the piece has room for its bytes, and is nobody else's (the requirement of
                // `post_receive_vector`); the buffer has those of all pieces.
                unsafe { from.copy_to(piece, len) };
            }
            (from, left) = (from.wrapping_add(len), left - len);
        }
    }
}
