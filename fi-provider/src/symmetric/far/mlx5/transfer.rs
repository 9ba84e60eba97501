//! Transfers that take more than the one post in line: any length, any local memory, waiting.
//!
//! Local memory that is not registered goes by way of a bounce memory in pieces, several of them
//! under way at a time.

#![expect(unsafe_code, reason = "C memory is given to the device by its address")]

use super::Mlx5;
use super::one_entry::Direction;
use crate::device::pieces::Piece;
use crate::device::scratch::PIECES;
use crate::registration::Loan;
use crate::symmetric::Error;
use crate::symmetric::address_vector::PeerIndex;
use crate::symmetric::endpoint::Endpoint;
use crate::symmetric::far::Source;
use fi_mlx5::lane::{Local, Posted, To};
use fi_mlx5::route::Route;

impl Mlx5 {
    /// Does [`Endpoint::write_far`].
    ///
    /// # Errors
    /// As [`Endpoint::write_far`].
    ///
    /// # Safety
    /// As [`Endpoint::write_far`].
    #[inline(always)]
    pub(crate) unsafe fn write(
        &self,
        endpoint: &Endpoint,
        dest: usize,
        source: *const u8,
        bytes: usize,
        peer: PeerIndex,
        kept: Source,
    ) -> Result<(), Error> {
        if kept == Source::KeptUntilQuiet && bytes > Route::SHORT {
            let own = source.addr();
            // SAFETY: `source` holds the bytes and stays as it is until quiet.
            if unsafe { self.start_transfer(endpoint, Direction::Write, own, dest, bytes, peer) } {
                return Ok(());
            }
        }
        // SAFETY: `source` holds the bytes, and stays as it is as long as `kept` says.
        unsafe { self.write_any(endpoint, dest, source, bytes, peer, kept) }
    }

    /// Does [`Mlx5::write`], by any path.
    ///
    /// # Errors
    /// As [`Endpoint::write_far`].
    ///
    /// # Safety
    /// As [`Endpoint::write_far`].
    #[cold]
    #[inline(never)]
    unsafe fn write_any(
        &self,
        endpoint: &Endpoint,
        dest: usize,
        source: *const u8,
        bytes: usize,
        peer: PeerIndex,
        kept: Source,
    ) -> Result<(), Error> {
        let Some(to) = self.reach_far(endpoint, dest, bytes, peer)? else {
            return Ok(());
        };
        let _held = self.lane().hold();
        endpoint.note_busy();
        if bytes <= self.lane().max_inline() {
            // SAFETY: the lane is held, the peer is of it, and `source` holds the bytes, at most
            // `max_inline`.
            unsafe { self.lane().write_inline(to, source, bytes)? };
            return Ok(());
        }
        if kept == Source::Reusable && bytes <= self.gate().bounce_len() {
            // SAFETY: `source` holds the bytes; the lane is held.
            return unsafe { self.write_by_pieces(to, source, bytes) };
        }
        // SAFETY: the source is mapped until the call returns or quiet, and the loan is given back
        // then.
        let Some((key, loan)) = (unsafe { self.registered(source.addr(), bytes) }) else {
            // SAFETY: `source` holds the bytes; the lane is held.
            return unsafe { self.write_by_pieces(to, source, bytes) };
        };
        // SAFETY: the source is registered under the key and stays as it is until the entries are
        // done; the lane is held.
        let last = unsafe { self.write_registered(to, source, bytes, key)? };
        match kept {
            Source::Reusable => self.lane().wait(last)?,
            Source::KeptUntilQuiet => self.keep(loan),
        }
        Ok(())
    }

    /// # Safety
    /// The source is registered under `key` and stays as it is until the entries are done; the lane
    /// is held.
    unsafe fn write_registered(
        &self,
        to: To<'_>,
        source: *const u8,
        bytes: usize,
        key: u32,
    ) -> Result<Posted, Error> {
        let mut last = None;
        for (at, length) in pieces(bytes, self.gate().max_message()) {
            let local = Local {
                address: (source.addr() + at) as u64,
                length: length as u32,
                key,
            };
            // SAFETY: the source is registered under the key; the lane is held, and the peer is of
            // it.
            last = Some(unsafe { self.lane().write(further(to, at), local)? });
        }
        last.ok_or(Error::TooLong)
    }

    /// # Safety
    /// `source` holds the bytes; the lane is held.
    #[inline(never)]
    unsafe fn write_by_pieces(
        &self,
        to: To<'_>,
        source: *const u8,
        bytes: usize,
    ) -> Result<(), Error> {
        let piece_len = self.gate().piece_len();
        for (at, length) in pieces(bytes, piece_len) {
            let mut piece = self.gate().claim_piece(length)?;
            let copy = piece.local.address as *mut u8;
            // SAFETY: `source` holds the bytes; nobody uses the piece.
            unsafe { std::ptr::copy_nonoverlapping(source.add(at), copy, length) };
            // SAFETY: the piece stays as it is until it is claimed again, which waits for this
            // entry; the lane is held.
            piece.used_by(unsafe { self.lane().write(further(to, at), piece.local)? });
        }
        Ok(())
    }

    /// Does [`Endpoint::read_far`].
    ///
    /// # Errors
    /// As [`Endpoint::read_far`].
    ///
    /// # Safety
    /// As [`Endpoint::read_far`].
    #[inline(always)]
    pub(crate) unsafe fn read(
        &self,
        endpoint: &Endpoint,
        dest: *mut u8,
        source: usize,
        bytes: usize,
        peer: PeerIndex,
        wait: bool,
    ) -> Result<(), Error> {
        if wait {
            // SAFETY: `dest` has room for the bytes, and nobody else uses it until the call
            // returns.
            if let Some(done) = unsafe { self.read_at_once(endpoint, dest, source, bytes, peer) } {
                return done;
            }
        } else {
            let own = dest.addr();
            // SAFETY: `dest` has room for the bytes, and nobody else uses it until quiet.
            if unsafe { self.start_transfer(endpoint, Direction::Read, own, source, bytes, peer) } {
                return Ok(());
            }
        }
        // SAFETY: `dest` has room for the bytes, and nobody else uses it until quiet where the call
        // does not `wait`.
        unsafe { self.read_any(endpoint, dest, source, bytes, peer, wait) }
    }

    /// Does [`Mlx5::read`], by any path.
    ///
    /// # Errors
    /// As [`Endpoint::read_far`].
    ///
    /// # Safety
    /// As [`Endpoint::read_far`].
    #[cold]
    #[inline(never)]
    unsafe fn read_any(
        &self,
        endpoint: &Endpoint,
        dest: *mut u8,
        source: usize,
        bytes: usize,
        peer: PeerIndex,
        wait: bool,
    ) -> Result<(), Error> {
        let Some(to) = self.reach_far(endpoint, source, bytes, peer)? else {
            return Ok(());
        };
        let _held = self.lane().hold();
        endpoint.note_busy();
        // SAFETY: the destination is mapped until the call returns or quiet, and the loan is given
        // back then.
        let Some((key, loan)) = (unsafe { self.registered(dest.addr(), bytes) }) else {
            // SAFETY: `dest` has room for the bytes; the lane is held.
            return unsafe { self.read_by_pieces(to, dest, bytes) };
        };
        let mut last = None;
        for (at, length) in pieces(bytes, self.gate().max_message()) {
            let local = Local {
                address: (dest.addr() + at) as u64,
                length: length as u32,
                key,
            };
            // SAFETY: the destination is registered; the lane is held.
            last = Some(unsafe { self.lane().read(further(to, at), local)? });
        }
        match last {
            Some(posted) if wait => self.lane().wait(posted)?,
            _ => self.keep(loan),
        }
        Ok(())
    }

    /// # Safety
    /// `dest` has room for the bytes; the lane is held.
    #[inline(never)]
    unsafe fn read_by_pieces(&self, to: To<'_>, dest: *mut u8, bytes: usize) -> Result<(), Error> {
        // The reads under way, of which the oldest is taken out when there is no piece for one
        // more.
        let mut under_way = [const { None }; PIECES];
        let (mut first, mut count) = (0, 0);
        let take_out = |oldest: &mut Option<(usize, Piece<'_>)>| -> Result<(), Error> {
            if let Some((at, mut piece)) = oldest.take() {
                piece.wait()?;
                let from = piece.local.address as *const u8;
                // SAFETY: the piece has been read; `dest` has room for the bytes.
                unsafe {
                    std::ptr::copy_nonoverlapping(from, dest.add(at), piece.local.length as usize);
                }
            }
            Ok(())
        };
        for (at, length) in pieces(bytes, self.gate().piece_len()) {
            let mut piece = loop {
                match self.gate().try_claim_piece(length) {
                    Some(piece) => break piece,
                    // A reader that waits for others' pieces has none: those may wait, too.
                    None if count == 0 => self.lane().wait_for_others()?,
                    None => {
                        take_out(&mut under_way[first % PIECES])?;
                        first += 1;
                        count -= 1;
                    }
                }
            };
            // SAFETY: nobody uses the piece; the lane is held.
            piece.used_by(unsafe { self.lane().read(further(to, at), piece.local)? });
            under_way[(first + count) % PIECES] = Some((at, piece));
            count += 1;
        }
        for turn in first..first + count {
            take_out(&mut under_way[turn % PIECES])?;
        }
        Ok(())
    }

    /// Returns the key under which `bytes` bytes of own memory at `addr` are registered, and the
    /// loan of those that are not for good; `None` where they have to go by the bounce memory.
    ///
    /// # Safety
    /// The bytes are mapped, and stay so until the loan is given back.
    unsafe fn registered(&self, addr: usize, bytes: usize) -> Option<(u32, Option<Loan>)> {
        if let Some(key) = self.gate().own_key(addr, bytes) {
            return Some((key, None));
        }
        // SAFETY: the bytes are mapped, and stay so until the loan is given back.
        let loan = unsafe { self.gate().lend(addr, bytes)? };
        Some((loan.key(), Some(loan)))
    }

    /// Keeps a loan until quiet.
    fn keep(&self, loan: Option<Loan>) {
        if let Some(loan) = loan {
            self.gate().keep(loan);
        }
    }
}

/// Returns the offsets and lengths of pieces of at most `most` bytes.
fn pieces(bytes: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bytes)
        .step_by(most)
        .map(move |at| (at, most.min(bytes - at)))
}

/// Returns the remote memory `bytes` bytes further on.
pub(super) fn further(to: To<'_>, bytes: usize) -> To<'_> {
    To {
        address: to.address.wrapping_add(bytes as u64),
        ..to
    }
}
