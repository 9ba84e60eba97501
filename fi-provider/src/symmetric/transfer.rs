//! Operations over the device that take more than the one post in line: any length, any local memory, waiting.
//!
//! Local memory that is not registered goes by way of a bounce memory in pieces, several of them under way at a time.

#![expect(unsafe_code, reason = "C memory is given to the device by its address")]

use crate::device::pieces::Piece;
use crate::device::scratch::PIECES;
use crate::registration::Loan;
use crate::symmetric::Error;
use crate::symmetric::address_vector::PeerIndex;
use crate::symmetric::amo::{Amo, is_aligned};
use crate::symmetric::endpoint::{Endpoint, Via};
use crate::symmetric::one_entry::Direction;
use fi_mlx5::lane::{Atomic, Local, Posted, To};
use fi_mlx5::route::Route;

/// How long the source of a write stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// It may be changed when the call returns.
    Reusable,
    /// It stays until quiet.
    KeptUntilQuiet,
}

impl Endpoint {
    /// Where `bytes` bytes at the own address `addr` are on `peer`, over the device; why not otherwise.
    fn reach(
        &self,
        addr: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<(Via<'_>, To<'_>), Error> {
        let refusal = || self.refusal(addr, bytes, peer);
        let via = self.via().ok_or_else(refusal)?;
        let record = self.record(peer).ok_or_else(refusal)?;
        if bytes > isize::MAX as usize {
            return Err(Error::TooLong);
        }
        if !via.device.is_registered(addr, bytes) {
            let starts_inside = via.device.is_registered(addr, 0);
            return Err(if starts_inside {
                Error::PastWindow
            } else {
                Error::NotInWindow
            });
        }
        let (address, key) = record.remote.place(self.offset(addr), self.split);
        let to = To {
            peer: self.number_on_lane(peer),
            vector: &record.remote.vector,
            address,
            key,
        };
        Ok((via, to))
    }

    /// As [`Endpoint::reach`], for a transfer, which is a matter of the device only where the peer's memory is not mapped
    /// here; `None` where there is nothing to transfer.
    pub(crate) fn reach_far(
        &self,
        addr: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<Option<(Via<'_>, To<'_>)>, Error> {
        let is_far = self.gate().is_some()
            && self
                .record(peer)
                .is_some_and(|record| record.window_len == 0);
        let reached = if is_far {
            self.reach(addr, bytes, peer)
        } else {
            Err(self.refusal(addr, bytes, peer))
        };
        match reached {
            // No bytes are no error, whatever the address.
            Ok(_) | Err(Error::NotInWindow | Error::PastWindow) if bytes == 0 => Ok(None),
            Ok(reached) => Ok(Some(reached)),
            Err(error) => Err(error),
        }
    }

    /// Writes `bytes` bytes to the own address `dest` on `peer`.
    ///
    /// # Errors
    /// [`Error::NoSuchPeer`], [`Error::NotInWindow`], [`Error::PastWindow`], [`Error::TooLong`],
    /// [`Error::NotEnabled`], and those of the device. No bytes are no error, whatever the address.
    ///
    /// # Safety
    /// `source` holds the bytes, and stays as it is as long as `kept` says.
    #[cold]
    pub(crate) unsafe fn device_write(
        &self,
        dest: usize,
        source: *const u8,
        bytes: usize,
        peer: PeerIndex,
        kept: Source,
    ) -> Result<(), Error> {
        if kept == Source::KeptUntilQuiet && bytes > Route::SHORT {
            // SAFETY: `source` holds the bytes and stays as it is until quiet.
            let posted =
                unsafe { self.start_transfer(Direction::Write, source.addr(), dest, bytes, peer) };
            if posted {
                return Ok(());
            }
        }
        let Some((via, to)) = self.reach_far(dest, bytes, peer)? else {
            return Ok(());
        };
        let _held = via.lane().hold();
        self.note_busy();
        if bytes <= via.lane().max_inline() {
            // SAFETY: the lane is held, the peer is of it, and `source` holds the bytes, at most
            // `max_inline`.
            unsafe { via.lane().write_inline(to, source, bytes)? };
            return Ok(());
        }
        if kept == Source::Reusable && bytes <= via.gate.bounce_len() {
            // SAFETY: `source` holds the bytes; the lane is held.
            return unsafe { self.write_by_pieces(via, to, source, bytes) };
        }
        // SAFETY: the source is mapped until the call returns or quiet, and the loan is given back
        // then.
        let Some((key, loan)) = (unsafe { registered(via, source.addr(), bytes) }) else {
            // SAFETY: `source` holds the bytes; the lane is held.
            return unsafe { self.write_by_pieces(via, to, source, bytes) };
        };
        // SAFETY: the source is registered under the key and stays as it is until the entries are
        // done; the lane is held.
        let last = unsafe { self.write_registered(via, to, source, bytes, key)? };
        match kept {
            Source::Reusable => via.lane().wait(last)?,
            Source::KeptUntilQuiet => keep(via, loan),
        }
        Ok(())
    }

    /// # Safety
    /// The source is registered under `key` and stays as it is until the entries are done; the lane is held.
    unsafe fn write_registered(
        &self,
        via: Via<'_>,
        to: To<'_>,
        source: *const u8,
        bytes: usize,
        key: u32,
    ) -> Result<Posted, Error> {
        let mut last = None;
        for (at, length) in pieces(bytes, via.gate.max_message()) {
            let local = Local {
                address: (source.addr() + at) as u64,
                length: length as u32,
                key,
            };
            // SAFETY: the source is registered under the key; the lane is held, and the peer is of
            // it.
            last = Some(unsafe { via.lane().write(further(to, at), local)? });
        }
        last.ok_or(Error::TooLong)
    }

    /// # Safety
    /// `source` holds the bytes; the lane is held.
    #[inline(never)]
    unsafe fn write_by_pieces(
        &self,
        via: Via<'_>,
        to: To<'_>,
        source: *const u8,
        bytes: usize,
    ) -> Result<(), Error> {
        let piece_len = via.gate.piece_len();
        for (at, length) in pieces(bytes, piece_len) {
            let mut piece = via.gate.claim_piece(length)?;
            let copy = piece.local.address as *mut u8;
            // SAFETY: the source by contract; nobody uses the piece.
            unsafe { std::ptr::copy_nonoverlapping(source.add(at), copy, length) };
            // SAFETY: the piece stays as it is until it is claimed again, which waits for this entry.
            piece.used_by(unsafe { via.lane().write(further(to, at), piece.local)? });
        }
        Ok(())
    }

    /// Reads `bytes` bytes from the own address `source` on `peer`; they are in `dest` when the call returns, or after
    /// quiet if it need not `wait`.
    ///
    /// # Errors
    /// As [`Endpoint::device_write`].
    ///
    /// # Safety
    /// `dest` has room for the bytes, and nobody else uses it until quiet where the
    /// call does not `wait`.
    #[cold]
    pub(crate) unsafe fn device_read(
        &self,
        dest: *mut u8,
        source: usize,
        bytes: usize,
        peer: PeerIndex,
        wait: bool,
    ) -> Result<(), Error> {
        if wait {
            // SAFETY: `dest` has room for the bytes, and nobody else uses it until the call
            // returns.
            if let Some(done) = unsafe { self.read_at_once(dest, source, bytes, peer) } {
                return done;
            }
        // SAFETY: `dest` has room for the bytes, and nobody else uses it until quiet.
        } else if unsafe { self.start_transfer(Direction::Read, dest.addr(), source, bytes, peer) }
        {
            return Ok(());
        }
        let Some((via, to)) = self.reach_far(source, bytes, peer)? else {
            return Ok(());
        };
        let _held = via.lane().hold();
        self.note_busy();
        // SAFETY: the destination is mapped until the call returns or quiet, and the loan is given
        // back then.
        let Some((key, loan)) = (unsafe { registered(via, dest.addr(), bytes) }) else {
            // SAFETY: `dest` has room for the bytes; the lane is held.
            return unsafe { self.read_by_pieces(via, to, dest, bytes) };
        };
        let mut last = None;
        for (at, length) in pieces(bytes, via.gate.max_message()) {
            let local = Local {
                address: (dest.addr() + at) as u64,
                length: length as u32,
                key,
            };
            // SAFETY: the destination is registered; the lane is held.
            last = Some(unsafe { via.lane().read(further(to, at), local)? });
        }
        match last {
            Some(posted) if wait => via.lane().wait(posted)?,
            _ => keep(via, loan),
        }
        Ok(())
    }

    /// # Safety
    /// `dest` has room for the bytes; the lane is held.
    #[inline(never)]
    unsafe fn read_by_pieces(
        &self,
        via: Via<'_>,
        to: To<'_>,
        dest: *mut u8,
        bytes: usize,
    ) -> Result<(), Error> {
        // The reads under way, of which the oldest is taken out when there is no piece for one
        // more.
        let mut under_way = [const { None }; PIECES];
        let (mut first, mut count) = (0, 0);
        let take_out = |oldest: &mut Option<(usize, Piece<'_>)>| -> Result<(), Error> {
            if let Some((at, mut piece)) = oldest.take() {
                piece.wait()?;
                let from = piece.local.address as *const u8;
                // SAFETY: the piece has been read; the destination by contract.
                unsafe {
                    std::ptr::copy_nonoverlapping(from, dest.add(at), piece.local.length as usize);
                }
            }
            Ok(())
        };
        for (at, length) in pieces(bytes, via.gate.piece_len()) {
            let mut piece = loop {
                match via.gate.try_claim_piece(length) {
                    Some(piece) => break piece,
                    // Who waits for others' pieces has none of its own: those may wait, too.
                    None if count == 0 => via.lane().wait_for_others()?,
                    None => {
                        take_out(&mut under_way[first % PIECES])?;
                        first += 1;
                        count -= 1;
                    }
                }
            };
            // SAFETY: nobody uses the piece; the lane is held.
            piece.used_by(unsafe { via.lane().read(further(to, at), piece.local)? });
            under_way[(first + count) % PIECES] = Some((at, piece));
            count += 1;
        }
        for turn in first..first + count {
            take_out(&mut under_way[turn % PIECES])?;
        }
        Ok(())
    }

    /// Writes `value` to word `slot` of the mailbox of `peer`, behind all that this endpoint wrote there before.
    ///
    /// # Errors
    /// [`Error::NotEnabled`] without a device, [`Error::NoSuchPeer`] also for a word that the mailbox does not have, and
    /// those of the device.
    pub fn post(&self, slot: usize, value: u64, peer: PeerIndex) -> Result<(), Error> {
        let via = self.via().ok_or(Error::NotEnabled)?;
        let record = self.record(peer).ok_or(Error::NoSuchPeer)?;
        let to = via.device.mailbox_of(peer, record, slot);
        let to = to.ok_or(Error::NoSuchPeer)?;
        self.note_busy();
        via.gate.mail(to, Some(value))?;
        Ok(())
    }

    /// Reads word `slot` of the mailbox of `peer`.
    ///
    /// # Errors
    /// As [`Endpoint::post`].
    pub fn peek(&self, slot: usize, peer: PeerIndex) -> Result<u64, Error> {
        let via = self.via().ok_or(Error::NotEnabled)?;
        let record = self.record(peer).ok_or(Error::NoSuchPeer)?;
        let to = via.device.mailbox_of(peer, record, slot);
        let to = to.ok_or(Error::NoSuchPeer)?;
        self.note_busy();
        Ok(via.gate.mail(to, None)?)
    }

    /// Looks once at the completion queue; where it is empty, a software device acts. Waits for
    /// nothing: callers decide when to look again.
    ///
    /// # Errors
    /// Those of the device.
    pub fn progress(&self) -> Result<(), Error> {
        match self.gate() {
            Some(gate) => Ok(gate.lane().progress()?),
            None => Ok(()),
        }
    }

    /// The entry of an atomic operation on the object of `bytes` bytes (4 or 8) at the own address
    /// `target`, where the device has one and can do it there.
    #[inline(always)]
    fn atomic_entry(&self, what: Amo, target: usize, bytes: usize) -> Option<Atomic> {
        if !is_aligned(target, bytes) {
            return None;
        }
        let masked = || {
            self.device()
                .is_some_and(|device| device.has_masked_atomics(bytes))
        };
        what.entry(bytes, masked)
    }

    /// Does an atomic operation on the object of `bytes` bytes (4 or 8) at the own address `target`
    /// on `peer`. Waits only where the device has no such operation.
    ///
    /// # Errors
    /// As [`Endpoint::device_write`], and [`Error::Unsupported`], [`Error::Misaligned`].
    #[cold]
    pub(crate) fn device_update(
        &self,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        if let Some(entry) = self.atomic_entry(what, target, bytes)
            && self.start_atomic(&entry, target, bytes, peer)
        {
            return Ok(());
        }
        self.device_atomic(what, target, bytes, peer, false)?;
        Ok(())
    }

    /// As [`Endpoint::device_update`], and returns what was there.
    ///
    /// # Errors
    /// As [`Endpoint::device_update`].
    #[cold]
    pub(crate) fn device_fetch(
        &self,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<u64, Error> {
        if let Some(entry) = self.atomic_entry(what, target, bytes)
            && let Some(found) = self.fetch_at_once(&entry, target, bytes, peer)
        {
            return found;
        }
        self.device_atomic(what, target, bytes, peer, true)
    }

    /// As [`Endpoint::device_fetch`], but the old value is at `dest` after quiet. Waits only where
    /// too many of them are outstanding, or where the device does not have the operation.
    ///
    /// # Errors
    /// As [`Endpoint::device_update`].
    ///
    /// # Safety
    /// `dest` has room for the bytes, and nobody else uses them until quiet.
    #[cold]
    pub(crate) unsafe fn device_start_fetch(
        &self,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
        dest: *mut u8,
    ) -> Result<(), Error> {
        let entry = self.atomic_entry(what, target, bytes);
        // Words of four bytes come in the device's byte order.
        if let Some(entry) = entry.as_ref().filter(|_| bytes == size_of::<u64>()) {
            // SAFETY: nobody else uses the destination (the requirement here, too).
            if unsafe { self.start_fetch(entry, target, dest, peer) } {
                return Ok(());
            }
        }
        let (via, to) = self.reach(target, bytes, peer)?;
        if !is_aligned(target, bytes) {
            return Err(Error::Misaligned);
        }
        let _held = via.lane().hold();
        self.note_atomic(via, peer);
        let Some(entry) = entry else {
            let found = self.atomic_by_comparison(via, to, what, bytes)?;
            // SAFETY: the destination has room for eight bytes, which is all that is done by
            // comparison.
            unsafe { dest.cast::<u64>().write_unaligned(found) };
            return Ok(());
        };
        let slot = via.gate.claim_result()?;
        // SAFETY: the lane is held; the memory is registered.
        match unsafe {
            via.lane()
                .atomic(to, &entry, via.gate.result_in(&slot, bytes))
        } {
            Ok(posted) => {
                // SAFETY: the destination has room, and nobody else uses it until quiet (the
                // requirements here, too).
                unsafe { via.gate.deliver_later(posted, slot, bytes, dest) };
                Ok(())
            }
            Err(failure) => {
                via.gate.release_result(slot);
                Err(failure.into())
            }
        }
    }

    /// Notes that an atomic operation on `peer` is to be posted; the lane is held.
    fn note_atomic(&self, via: Via<'_>, peer: PeerIndex) {
        self.note_busy();
        if self
            .record(peer)
            .is_some_and(|record| record.window_len > 0)
        {
            via.gate.note_near_atomic();
        }
    }

    /// Does an atomic operation on the object of `bytes` bytes (4 or 8) at the own address `target`
    /// on `peer`. Returns the old value if that is `wanted`; otherwise waits only where the device
    /// does not have the operation.
    ///
    /// # Errors
    /// As [`Endpoint::device_update`].
    #[cold]
    #[inline(never)]
    fn device_atomic(
        &self,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
        wanted: bool,
    ) -> Result<u64, Error> {
        let (via, to) = self.reach(target, bytes, peer)?;
        if !is_aligned(target, bytes) {
            return Err(Error::Misaligned);
        }
        let _held = via.lane().hold();
        self.note_atomic(via, peer);
        let Some(entry) = self.atomic_entry(what, target, bytes) else {
            return self.atomic_by_comparison(via, to, what, bytes);
        };
        if !wanted {
            // SAFETY: the lane is held; the memory is registered.
            unsafe { via.lane().atomic(to, &entry, via.gate.discard(bytes))? };
            return Ok(0);
        }
        Ok(self.fetch(via, to, &entry, bytes)?)
    }

    /// Does an atomic operation and waits for what was there before.
    fn fetch(
        &self,
        via: Via<'_>,
        to: To<'_>,
        entry: &Atomic,
        bytes: usize,
    ) -> Result<u64, fi_mlx5::lane::Failure> {
        // SAFETY: the lane is held; the memory is registered.
        let post = |local| unsafe { via.lane().atomic(to, entry, local) };
        via.gate.await_word(bytes, post)
    }

    /// An operation that the device does not have, by the one that it has: on eight bytes.
    fn atomic_by_comparison(
        &self,
        via: Via<'_>,
        to: To<'_>,
        what: Amo,
        bytes: usize,
    ) -> Result<u64, Error> {
        if bytes != size_of::<u64>() {
            return Err(Error::Unsupported);
        }
        let mut before = self.fetch(via, to, &Atomic::add_8(0), bytes)?;
        loop {
            let exchange = Atomic::compare_swap_8(before, what.apply(before));
            let found = self.fetch(via, to, &exchange, bytes)?;
            if found == before {
                return Ok(found);
            }
            before = found;
        }
    }
}

/// The key under which `bytes` bytes of own memory at `addr` are registered, and the loan of those that are not for good;
/// `None` where they have to go by the bounce memory.
///
/// # Safety
/// The bytes are mapped, and stay so until the loan is given back.
unsafe fn registered(via: Via<'_>, addr: usize, bytes: usize) -> Option<(u32, Option<Loan>)> {
    if let Some(key) = via.gate.own_key(addr, bytes) {
        return Some((key, None));
    }
    // SAFETY: the bytes are mapped, and stay so until the loan is given back.
    let loan = unsafe { via.gate.lend(addr, bytes)? };
    Some((loan.key(), Some(loan)))
}

/// Keeps a loan until quiet.
fn keep(via: Via<'_>, loan: Option<Loan>) {
    if let Some(loan) = loan {
        via.gate.keep(loan);
    }
}

/// The offsets and lengths of pieces of at most `most` bytes.
fn pieces(bytes: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bytes)
        .step_by(most)
        .map(move |at| (at, most.min(bytes - at)))
}

/// The remote memory `bytes` bytes further on.
pub(crate) fn further(to: To<'_>, bytes: usize) -> To<'_> {
    To {
        address: to.address.wrapping_add(bytes as u64),
        ..to
    }
}
