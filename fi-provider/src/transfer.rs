//! Operations over the device that take more than the one post in line: any length, any local memory, waiting.
//!
//! Local memory that is not registered goes by way of a bounce memory in pieces, several of them under way at a time.

#![expect(unsafe_code, reason = "C memory is given to the device by its address")]

use crate::address_vector::PeerIndex;
use crate::device::{Device, PIECE, PIECES};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::strided::Blocks;
use fi_mlx5::lane::{Local, Posted, To};

/// How long the source of a write stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// It may be changed when the call returns.
    Reusable,
    /// It stays until quiet.
    KeptUntilQuiet,
}

/// Bytes of registered memory from which on a write waits for the device rather than copy them first.
const TOO_LONG_TO_COPY: usize = PIECES * PIECE;

impl Endpoint {
    /// Where `bytes` bytes at the own address `addr` are on `peer`, over the device; why not otherwise.
    fn reach(
        &self,
        addr: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<(&Device, To<'_>), Error> {
        let refusal = || self.refusal(addr, bytes, peer);
        let device = self.device().ok_or_else(refusal)?;
        let record = self.record(peer).ok_or_else(refusal)?;
        if bytes > isize::MAX as usize {
            return Err(Error::TooLong);
        }
        if !device.is_registered(addr, bytes) {
            let starts_inside = device.is_registered(addr, 0);
            return Err(if starts_inside {
                Error::PastWindow
            } else {
                Error::NotInWindow
            });
        }
        let part = usize::from(self.offset(addr) >= self.split);
        let to = To {
            peer,
            remote: &record.remote,
            address: (addr as u64).wrapping_add(record.remote.deltas[part]),
            key: record.remote.keys[part],
        };
        Ok((device, to))
    }

    /// As [`Endpoint::reach`], for a transfer, which is a matter of the device only where the peer's memory is not mapped
    /// here; `None` where there is nothing to transfer.
    pub(crate) fn reach_far(
        &self,
        addr: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<Option<(&Device, To<'_>)>, Error> {
        let is_far = self.device().is_some()
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
    /// As [`Endpoint::inject_far`], and those of the device.
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
        let Some((device, to)) = self.reach_far(dest, bytes, peer)? else {
            return Ok(());
        };
        let _held = device.lane().hold();
        self.note_busy();
        if bytes <= device.lane().max_inline() {
            // SAFETY: the lane is held; the source by contract.
            unsafe { device.lane().write_inline(&self.route, to, source, bytes)? };
            return Ok(());
        }
        match device.own_key(source.addr(), bytes) {
            Some(key) if kept == Source::KeptUntilQuiet || bytes > TOO_LONG_TO_COPY => {
                // SAFETY: the source is registered; the rest by contract.
                let last = unsafe { self.write_registered(device, to, source, bytes, key)? };
                if kept == Source::Reusable {
                    device.lane().wait(last)?;
                }
            }
            // SAFETY: by contract.
            _ => unsafe { self.write_by_pieces(device, to, source, bytes)? },
        }
        Ok(())
    }

    /// # Safety
    /// The source is registered under `key` and stays as it is until the entries are done; the lane is held.
    unsafe fn write_registered(
        &self,
        device: &Device,
        to: To<'_>,
        source: *const u8,
        bytes: usize,
        key: u32,
    ) -> Result<Posted, Error> {
        let mut last = None;
        for (at, length) in pieces(bytes, device.max_message()) {
            let local = Local {
                address: (source.addr() + at) as u64,
                length: length as u32,
                key,
            };
            // SAFETY: by contract.
            last = Some(unsafe { device.lane().write(&self.route, further(to, at), local)? });
        }
        last.ok_or(Error::TooLong)
    }

    /// # Safety
    /// `source` holds the bytes; the lane is held.
    unsafe fn write_by_pieces(
        &self,
        device: &Device,
        to: To<'_>,
        source: *const u8,
        bytes: usize,
    ) -> Result<(), Error> {
        for (at, length) in pieces(bytes, PIECE) {
            let (index, local) = device.claim_piece(length)?;
            // SAFETY: the source by contract; nobody uses the piece.
            unsafe {
                std::ptr::copy_nonoverlapping(source.add(at), local.address as *mut u8, length)
            };
            // SAFETY: the piece stays as it is until it is claimed again, which waits for this entry.
            let posted = unsafe { device.lane().write(&self.route, further(to, at), local)? };
            device.pieces[index].set(Some(posted));
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
    /// `dest` has room for the bytes.
    #[cold]
    pub(crate) unsafe fn device_read(
        &self,
        dest: *mut u8,
        source: usize,
        bytes: usize,
        peer: PeerIndex,
        wait: bool,
    ) -> Result<(), Error> {
        let Some((device, to)) = self.reach_far(source, bytes, peer)? else {
            return Ok(());
        };
        let _held = device.lane().hold();
        self.note_busy();
        let Some(key) = device.own_key(dest.addr(), bytes) else {
            // SAFETY: by contract.
            return unsafe { self.read_by_pieces(device, to, dest, bytes) };
        };
        let mut last = None;
        for (at, length) in pieces(bytes, device.max_message()) {
            let local = Local {
                address: (dest.addr() + at) as u64,
                length: length as u32,
                key,
            };
            // SAFETY: the destination is registered; the lane is held.
            last = Some(unsafe { device.lane().read(&self.route, further(to, at), local)? });
        }
        match last {
            Some(posted) if wait => Ok(device.lane().wait(posted)?),
            _ => Ok(()),
        }
    }

    /// # Safety
    /// `dest` has room for the bytes; the lane is held.
    unsafe fn read_by_pieces(
        &self,
        device: &Device,
        to: To<'_>,
        dest: *mut u8,
        bytes: usize,
    ) -> Result<(), Error> {
        // The reads under way, of which the oldest is taken out when there are as many as pieces.
        let mut under_way = [const { None }; PIECES];
        let last = PIECES + bytes.div_ceil(PIECE);
        let mut todo = pieces(bytes, PIECE);
        for turn in 0..last {
            let slot = turn % PIECES;
            if let Some((at, local, posted)) = under_way[slot].take() {
                device.lane().wait(posted)?;
                let local: Local = local;
                let (from, length) = (local.address as *const u8, local.length as usize);
                // SAFETY: the piece has been read; the destination by contract.
                unsafe { std::ptr::copy_nonoverlapping(from, dest.add(at), length) };
            }
            if let Some((at, length)) = todo.next() {
                let (index, local) = device.claim_piece(length)?;
                // SAFETY: nobody uses the piece; the lane is held.
                let posted = unsafe { device.lane().read(&self.route, further(to, at), local)? };
                device.pieces[index].set(Some(posted));
                under_way[slot] = Some((at, local, posted));
            }
        }
        Ok(())
    }

    /// Reads blocks of which the first begins at the own address `source` on `peer`; all numbers are of bytes.
    ///
    /// # Errors
    /// As [`Endpoint::device_write`], for all the memory from the first to the last byte.
    ///
    /// # Safety
    /// `dest` has room for the blocks.
    #[cold]
    pub(crate) unsafe fn device_read_blocks(
        &self,
        dest: *mut u8,
        source: usize,
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let span = blocks.span(blocks.source_stride);
        let Some((device, to)) = self.reach_far(source, span, peer)? else {
            return Ok(());
        };
        if blocks.len > PIECE {
            for (there, from) in blocks.offsets() {
                let (dest, source) = (dest.wrapping_add(there), source.wrapping_add(from));
                // SAFETY: the destination has room for the block.
                unsafe { self.device_read(dest, source, blocks.len, peer, true)? };
            }
            return Ok(());
        }
        let _held = device.lane().hold();
        self.note_busy();
        let Some(key) = device.own_key(dest.addr(), blocks.span(blocks.dest_stride)) else {
            // SAFETY: by contract.
            return unsafe { self.gather(device, to, dest, blocks) };
        };
        let mut last = None;
        for (there, from) in blocks.offsets() {
            let local = Local {
                address: (dest.addr() + there) as u64,
                length: blocks.len as u32,
                key,
            };
            // SAFETY: the destination is registered; the lane is held.
            last = Some(unsafe { device.lane().read(&self.route, further(to, from), local)? });
        }
        match last {
            // Entries to one peer are done in their order.
            Some(posted) => Ok(device.lane().wait(posted)?),
            None => Ok(()),
        }
    }

    /// Reads blocks of at most a piece each into memory that is not registered: as many as fit into a piece at a time.
    ///
    /// # Safety
    /// `dest` has room for the blocks; the lane is held.
    unsafe fn gather(
        &self,
        device: &Device,
        to: To<'_>,
        dest: *mut u8,
        blocks: &Blocks,
    ) -> Result<(), Error> {
        let at_a_time = PIECE / blocks.len;
        for first in (0..blocks.count).step_by(at_a_time) {
            let turn = first..blocks.count.min(first + at_a_time);
            let (_, piece) = device.claim_piece(turn.len() * blocks.len)?;
            let mut last = None;
            for (place, block) in turn.clone().enumerate() {
                let local = Local {
                    address: piece.address + (place * blocks.len) as u64,
                    length: blocks.len as u32,
                    key: piece.key,
                };
                let from = further(to, block * blocks.source_stride);
                // SAFETY: nobody uses the piece; the lane is held.
                last = Some(unsafe { device.lane().read(&self.route, from, local)? });
            }
            if let Some(posted) = last {
                // Entries to one peer are done in their order.
                device.lane().wait(posted)?;
            }
            for (place, block) in turn.enumerate() {
                let from = (piece.address as *const u8).wrapping_add(place * blocks.len);
                let there = dest.wrapping_add(block * blocks.dest_stride);
                // SAFETY: the piece has been read; the destination by contract.
                unsafe { std::ptr::copy_nonoverlapping(from, there, blocks.len) };
            }
        }
        Ok(())
    }

    /// Writes `value` to word `slot` of the mailbox of `peer`, behind all that this endpoint wrote there before.
    ///
    /// # Errors
    /// [`Error::NotEnabled`] without a device, [`Error::NoSuchPeer`] also for a word that the mailbox does not have, and
    /// those of the device.
    pub fn post(&self, slot: usize, value: u64, peer: PeerIndex) -> Result<(), Error> {
        let device = self.device().ok_or(Error::NotEnabled)?;
        let to = device.mailbox_of(peer, slot).ok_or(Error::NoSuchPeer)?;
        self.note_busy();
        // SAFETY: the route is that of the device's lane.
        unsafe { device.mail(&self.route, to, Some(value))? };
        Ok(())
    }

    /// Reads word `slot` of the mailbox of `peer`.
    ///
    /// # Errors
    /// As [`Endpoint::post`].
    pub fn peek(&self, slot: usize, peer: PeerIndex) -> Result<u64, Error> {
        let device = self.device().ok_or(Error::NotEnabled)?;
        let to = device.mailbox_of(peer, slot).ok_or(Error::NoSuchPeer)?;
        self.note_busy();
        // SAFETY: the route is that of the device's lane.
        Ok(unsafe { device.mail(&self.route, to, None)? })
    }

    /// Looks at the completion queue; where it is empty, a software device may act.
    ///
    /// # Errors
    /// Those of the device.
    pub fn progress(&self) -> Result<(), Error> {
        match self.device() {
            Some(device) => Ok(device.progress()?),
            None => Ok(()),
        }
    }

    /// Does an atomic operation on the object of `bytes` bytes (4 or 8) at the own address `target` on `peer`; returns what
    /// was there if that is `wanted`, and does not wait otherwise.
    ///
    /// # Errors
    /// As [`Endpoint::device_write`], and [`Error::Unsupported`].
    #[cold]
    pub(crate) fn device_atomic(
        &self,
        what: crate::amo::Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
        wanted: bool,
    ) -> Result<u64, Error> {
        let (device, to) = self.reach(target, bytes, peer)?;
        if self
            .record(peer)
            .is_some_and(|record| record.window_len > 0)
        {
            device.note_near_atomic();
        }
        let _held = device.lane().hold();
        self.note_busy();
        let Some(entry) = what.entry(bytes, device.has_masked_atomics(bytes)) else {
            return self.atomic_by_comparison(device, to, what, bytes);
        };
        if !wanted {
            // SAFETY: the lane is held; the memory is registered.
            unsafe {
                device
                    .lane()
                    .atomic(&self.route, to, &entry, device.discard(bytes))?
            };
            return Ok(0);
        }
        Ok(self.fetch(device, to, &entry, bytes)?)
    }

    /// Does an atomic operation and waits for what was there before.
    fn fetch(
        &self,
        device: &Device,
        to: To<'_>,
        entry: &fi_mlx5::lane::Atomic,
        bytes: usize,
    ) -> Result<u64, fi_mlx5::lane::Failure> {
        let local = device.result(bytes);
        // SAFETY: the lane is held; the memory is registered.
        let posted = unsafe { device.lane().atomic(&self.route, to, entry, local)? };
        device.lane().wait(posted)?;
        // SAFETY: the device has written the result, which nobody else uses while the lane is held. It gives results of
        // four bytes in its own byte order, whatever it does with those of eight.
        Ok(unsafe {
            if bytes == size_of::<u32>() {
                u32::from_be((local.address as *const u32).read_volatile()).into()
            } else {
                (local.address as *const u64).read_volatile()
            }
        })
    }

    /// An operation that the device does not have, by the one that it has: on eight bytes.
    fn atomic_by_comparison(
        &self,
        device: &Device,
        to: To<'_>,
        what: crate::amo::Amo,
        bytes: usize,
    ) -> Result<u64, Error> {
        if bytes != size_of::<u64>() {
            return Err(Error::Unsupported);
        }
        let mut before = self.fetch(device, to, &fi_mlx5::lane::Atomic::add_8(0), bytes)?;
        loop {
            let exchange = fi_mlx5::lane::Atomic::compare_swap_8(before, what.apply(before));
            let found = self.fetch(device, to, &exchange, bytes)?;
            if found == before {
                return Ok(found);
            }
            before = found;
        }
    }
}

impl Device {
    /// A piece of the bounce memory that nobody uses any more, with `length` bytes of it.
    fn claim_piece(&self, length: usize) -> Result<(usize, Local), Error> {
        let index = self.next_piece.get();
        self.next_piece.set((index + 1) % PIECES);
        if let Some(posted) = self.pieces[index].take() {
            self.lane().wait(posted)?;
        }
        Ok((index, self.piece(index, length)))
    }
}

/// The offsets and lengths of pieces of at most `most` bytes.
fn pieces(bytes: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bytes)
        .step_by(most)
        .map(move |at| (at, most.min(bytes - at)))
}

/// The remote memory `bytes` bytes further on.
fn further(to: To<'_>, bytes: usize) -> To<'_> {
    To {
        address: to.address.wrapping_add(bytes as u64),
        ..to
    }
}
