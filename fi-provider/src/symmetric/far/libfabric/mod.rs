//! The far part over an endpoint of libfabric.
//!
//! Its functions stay out of those that choose the transport, whose other paths would be longer.

#![expect(
    unsafe_code,
    reason = "an endpoint keeps its gate by a pointer; C memory is given to libfabric by its address"
)]

use crate::libfabric::Gate;
use crate::symmetric::Error;
use crate::symmetric::address_vector::{Peer, PeerIndex};
use crate::symmetric::blocks::Blocks;
use crate::symmetric::endpoint::Endpoint;
use crate::symmetric::far::{Source, refused};
use fi_ofi::{Failure, Kept, Lane, Name, Place};
use fi_shm::amo::Amo;
use fi_shm::order;
use std::time::Duration;
use way::Libfabric;

pub(crate) mod way;

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        if failure.is_unreachable() {
            Self::PeerUnreachable
        } else {
            Self::Device
        }
    }
}

impl Libfabric {
    #[inline(always)]
    fn gate(&self) -> &Gate {
        // SAFETY: the gate outlives every use of `self`, as `new` requires, and so does its way, which
        // leads to it.
        unsafe { &*self.way.as_ref().gate() }
    }

    #[inline(always)]
    fn lane(&self) -> &Lane {
        // SAFETY: the gate outlives every use of `self`, as `new` requires, and so does its way.
        unsafe { self.way.as_ref().lane() }
    }

    /// Returns the place of `bytes` bytes, at least one, at the own address `addr` on `peer`, if
    /// they are to be had by libfabric: by few instructions.
    #[inline(always)]
    fn find(
        &self,
        endpoint: &Endpoint,
        addr: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Option<Place> {
        let record = endpoint.record(peer)?;
        if record.window_len > 0 {
            return None;
        }
        Self::place(endpoint, endpoint.offset(addr), bytes, record)
    }

    /// Returns the place of the bytes on the peer of this record, if they are in one part of its
    /// window: at `offset` from the window's base, and at least one.
    #[inline(always)]
    fn place(endpoint: &Endpoint, offset: usize, bytes: usize, record: &Peer) -> Option<Place> {
        let (split, [lower, upper]) = (endpoint.split, endpoint.ends);
        let (part, end, inside) = if offset < split {
            (0, lower, offset)
        } else {
            (1, upper, offset - split)
        };
        // No bytes are a number that is too large.
        if bytes.wrapping_sub(1) >= end.saturating_sub(offset) {
            return None;
        }
        Some(Place {
            peer: record.remote.number(),
            address: record.remote.bases[part].wrapping_add(inside as u64),
            key: record.remote.long_keys()[part],
        })
    }

    /// Returns the name of the part of the peer's window that has the own address `addr`, if it has
    /// one.
    #[inline(always)]
    fn name_of(endpoint: &Endpoint, addr: usize, peer: PeerIndex) -> Name {
        let is_upper = endpoint.offset(addr) >= endpoint.split;
        let record = endpoint.record(peer).filter(|_| is_upper);
        record.map_or(0, name)
    }

    /// Returns whether an object of `BYTES` bytes at `offset` is in the upper part of the window,
    /// or else in the lower, and in a place that is a multiple of them.
    #[inline(always)]
    fn is_in<const BYTES: usize, const UPPER: bool>(endpoint: &Endpoint, offset: usize) -> bool {
        // The parts have whole pages: an object that begins in one is in it.
        let is_in = if UPPER {
            offset >= endpoint.split && offset < endpoint.ends[1]
        } else {
            offset < endpoint.ends[0]
        };
        is_in && offset.is_multiple_of(BYTES)
    }

    /// Returns the place at `offset` on the peer of this record.
    #[inline(always)]
    fn place_in<const UPPER: bool>(endpoint: &Endpoint, offset: usize, record: &Peer) -> Place {
        let part = usize::from(UPPER);
        let inside = if UPPER {
            offset - endpoint.split
        } else {
            offset
        };
        Place {
            peer: record.remote.number(),
            address: record.remote.bases[part].wrapping_add(inside as u64),
            key: record.remote.long_keys()[part],
        }
    }

    /// Does as [`Libfabric::find`], for any bytes; returns the reason where they are not reached.
    #[cold]
    fn reach(
        &self,
        endpoint: &Endpoint,
        addr: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<Place, Error> {
        let record = endpoint.record(peer);
        let record = record.ok_or_else(|| endpoint.refusal(addr, bytes, peer))?;
        if record.window_len > 0 {
            return Err(endpoint.refusal(addr, bytes, peer));
        }
        if bytes > isize::MAX as usize {
            return Err(Error::TooLong);
        }
        if !self.gate().is_registered(addr, bytes) {
            return Err(if self.gate().is_registered(addr, 0) {
                Error::PastWindow
            } else {
                Error::NotInWindow
            });
        }
        let offset = endpoint.offset(addr);
        let (address, key) = record.remote.long_place(offset, endpoint.split);
        Ok(Place {
            peer: record.remote.number(),
            address,
            key,
        })
    }

    /// Does as [`Libfabric::reach`], for a transfer; returns `None` where there is nothing to
    /// transfer.
    #[inline(always)]
    fn reach_any(
        &self,
        endpoint: &Endpoint,
        addr: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<Option<Place>, Error> {
        if let Some(place) = self.find(endpoint, addr, bytes, peer) {
            return Ok(Some(place));
        }
        match self.reach(endpoint, addr, bytes, peer) {
            Ok(_) if bytes == 0 => Ok(None),
            Ok(place) => Ok(Some(place)),
            Err(error) => refused(error, bytes).map(|()| None),
        }
    }

    /// Does [`Endpoint::try_write`].
    ///
    /// # Safety
    /// As [`Endpoint::try_write`].
    #[inline(always)]
    pub(crate) unsafe fn try_write(
        &self,
        endpoint: &Endpoint,
        dest: usize,
        source: *const u8,
        bytes: usize,
        peer: PeerIndex,
        kept: Source,
    ) -> bool {
        let Some(place) = self.find(endpoint, dest, bytes, peer) else {
            return false;
        };
        endpoint.note_busy();
        let lane = self.lane();
        // SAFETY: `source` holds the bytes; the gate has the port open, and the lane leaks where
        // operations outlive its gate.
        unsafe {
            match kept {
                Source::Reusable => {
                    lane.try_write_whole(place, source, bytes, Self::name_of(endpoint, dest, peer))
                }
                Source::KeptUntilQuiet => lane.try_write(place, source, bytes),
            }
        }
    }

    /// Does [`Endpoint::swap_element`].
    ///
    /// # Safety
    /// The endpoint's lane is one thread's, and its port sends elements as messages.
    #[inline(always)]
    pub(crate) unsafe fn swap_element<const BYTES: usize>(
        &self,
        endpoint: &Endpoint,
        (inside, is_lower): (usize, bool),
        word: impl FnOnce() -> u64,
        record: &Peer,
    ) -> bool {
        if is_lower {
            return false;
        }
        endpoint.set_busy();
        let address = || upper(inside, record).address;
        // SAFETY: the gate has the port open, and the lane leaks where operations outlive its gate.
        unsafe { (self.lane()).swap_again(name(record), address, word, BYTES) }
    }

    /// Does [`Endpoint::write_kept_word`].
    ///
    /// # Safety
    /// As [`Endpoint::write_kept_word`].
    #[inline(always)]
    pub(crate) unsafe fn write_kept_word(
        &self,
        endpoint: &Endpoint,
        (inside, is_lower): (usize, bool),
        source: *const u8,
        record: &Peer,
    ) -> bool {
        if is_lower {
            return false;
        }
        endpoint.set_busy();
        // SAFETY: `source` holds the bytes; the gate has the port open, and the lane leaks where
        // operations outlive its gate.
        unsafe { self.lane().try_write_word(|| upper(inside, record), source) }
    }

    /// Does [`Endpoint::try_write_element`].
    #[inline(always)]
    pub(crate) fn try_write_element<const BYTES: usize, const UPPER: bool>(
        &self,
        endpoint: &Endpoint,
        offset: usize,
        word: u64,
        record: &Peer,
    ) -> bool {
        if !Self::is_in::<BYTES, UPPER>(endpoint, offset) {
            return false;
        }
        endpoint.note_busy();
        let lane = self.lane();
        let place = || Self::place_in::<UPPER>(endpoint, offset, record);
        // SAFETY: the gate has the port open, and the lane leaks where operations outlive its gate.
        unsafe { lane.try_write_element(place, word, BYTES, if UPPER { name(record) } else { 0 }) }
    }

    /// Does [`Endpoint::write_far`].
    ///
    /// # Errors
    /// As [`Endpoint::write_far`].
    ///
    /// # Safety
    /// As [`Endpoint::write_far`].
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn write(
        &self,
        endpoint: &Endpoint,
        dest: usize,
        source: *const u8,
        bytes: usize,
        peer: PeerIndex,
        kept: Source,
    ) -> Result<(), Error> {
        let Some(place) = self.reach_any(endpoint, dest, bytes, peer)? else {
            return Ok(());
        };
        endpoint.note_busy();
        let kept = match kept {
            Source::Reusable => Kept::ForTheCall,
            Source::KeptUntilQuiet => Kept::UntilQuiet,
        };
        let gate = self.gate();
        // SAFETY: `source` holds the bytes, and stays as it is as long as `kept` says; the lane
        // leaks where operations outlive its gate.
        unsafe { gate.port().write(self.lane(), place, source, bytes, kept)? };
        Ok(())
    }

    /// Does [`Endpoint::read_far`].
    ///
    /// # Errors
    /// As [`Endpoint::read_far`].
    ///
    /// # Safety
    /// As [`Endpoint::read_far`].
    #[inline(never)]
    pub(crate) unsafe fn read(
        &self,
        endpoint: &Endpoint,
        dest: *mut u8,
        source: usize,
        bytes: usize,
        peer: PeerIndex,
        wait: bool,
    ) -> Result<(), Error> {
        let Some(place) = self.reach_any(endpoint, source, bytes, peer)? else {
            return Ok(());
        };
        if !wait {
            endpoint.note_busy();
        }
        let gate = self.gate();
        // SAFETY: `dest` has room for the bytes, and nobody else uses it until quiet where the call
        // does not `wait`; the lane leaks where operations outlive its gate.
        unsafe { gate.port().read(self.lane(), place, dest, bytes, wait)? };
        Ok(())
    }

    /// Does [`Endpoint::write_blocks_far`]: a write for each block.
    ///
    /// # Errors
    /// As [`Endpoint::write_blocks_far`].
    ///
    /// # Safety
    /// As [`Endpoint::write_blocks_far`].
    #[inline(never)]
    pub(crate) unsafe fn write_blocks(
        &self,
        endpoint: &Endpoint,
        dest: usize,
        source: *const u8,
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let span = blocks.span(blocks.dest_stride);
        if self.reach_any(endpoint, dest, span, peer)?.is_none() {
            return Ok(());
        }
        for block in 0..blocks.count {
            let to = dest + block * blocks.dest_stride;
            let from = source.wrapping_add(block * blocks.source_stride);
            // SAFETY: the source holds the blocks.
            unsafe { self.write(endpoint, to, from, blocks.len, peer, Source::Reusable)? };
        }
        Ok(())
    }

    /// Does [`Endpoint::read_blocks_far`]: a read for each block, all under way at a time.
    ///
    /// # Errors
    /// As [`Endpoint::read_blocks_far`].
    ///
    /// # Safety
    /// As [`Endpoint::read_blocks_far`].
    #[inline(never)]
    pub(crate) unsafe fn read_blocks(
        &self,
        endpoint: &Endpoint,
        dest: *mut u8,
        source: usize,
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let span = blocks.span(blocks.source_stride);
        if self.reach_any(endpoint, source, span, peer)?.is_none() {
            return Ok(());
        }
        for block in 0..blocks.count {
            let from = source + block * blocks.source_stride;
            let to = dest.wrapping_add(block * blocks.dest_stride);
            // SAFETY: there is room for the blocks, and the call returns when they are there.
            unsafe { self.read(endpoint, to, from, blocks.len, peer, false)? };
        }
        self.quiet_all(endpoint)
    }

    /// Returns the place of an object of an atomic operation.
    fn object(
        &self,
        endpoint: &Endpoint,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<Place, Error> {
        let place = match self.find(endpoint, target, bytes, peer) {
            Some(place) => place,
            None => self.reach(endpoint, target, bytes, peer)?,
        };
        if !target.is_multiple_of(bytes) {
            return Err(Error::Misaligned);
        }
        Ok(place)
    }

    /// Does [`Endpoint::update_far`].
    ///
    /// # Errors
    /// As [`Endpoint::update_far`].
    #[inline(never)]
    pub(crate) fn update(
        &self,
        endpoint: &Endpoint,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let place = self.object(endpoint, target, bytes, peer)?;
        endpoint.note_busy();
        let (port, lane) = (self.gate().port(), self.lane());
        // SAFETY: the gate has the port open.
        if unsafe { lane.try_update(place, bytes, what) } {
            return Ok(());
        }
        Ok(port.update(lane, place, bytes, what)?)
    }

    /// Does [`Endpoint::fetch_far`].
    ///
    /// # Errors
    /// As [`Endpoint::update_far`].
    #[inline(never)]
    pub(crate) fn fetch(
        &self,
        endpoint: &Endpoint,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<u64, Error> {
        let place = self.object(endpoint, target, bytes, peer)?;
        let gate = self.gate();
        Ok(gate.port().fetch(self.lane(), place, bytes, what)?)
    }

    /// Does [`Endpoint::start_fetch_far`].
    ///
    /// # Errors
    /// As [`Endpoint::update_far`].
    ///
    /// # Safety
    /// As [`Endpoint::start_fetch_far`].
    #[inline(never)]
    pub(crate) unsafe fn start_fetch(
        &self,
        endpoint: &Endpoint,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
        dest: *mut u8,
    ) -> Result<(), Error> {
        let place = self.object(endpoint, target, bytes, peer)?;
        endpoint.note_busy();
        let (gate, lane) = (self.gate(), self.lane());
        // SAFETY: `dest` has room for the bytes, and nobody else uses them until quiet; the lane
        // leaks where operations outlive its gate.
        unsafe { gate.port().start_fetch(lane, place, bytes, what, dest)? };
        Ok(())
    }

    /// Does [`Endpoint::fence`].
    ///
    /// # Errors
    /// The first failure on the lane.
    #[inline(never)]
    pub(crate) fn fence(&self) -> Result<(), Error> {
        order::stores();
        Ok(self.gate().port().fence(self.lane())?)
    }

    /// Does [`Endpoint::quiet`] where one look is enough; gives the word back otherwise.
    #[inline(always)]
    pub(crate) fn quiet_one<W: Copy>(&self, endpoint: &Endpoint, word: W) -> Result<(), W> {
        // SAFETY: the gate has the port open, and one lane.
        if !unsafe { Lane::try_quiet(|| self.lane(), word)? } {
            endpoint.set_idle();
        }
        Ok(())
    }

    /// Does [`Endpoint::quiet`].
    ///
    /// # Errors
    /// The first failure on the lane.
    #[inline(never)]
    pub(crate) fn quiet_all(&self, endpoint: &Endpoint) -> Result<(), Error> {
        self.gate().port().quiet(self.lane())?;
        self.note_idle(endpoint);
        order::full();
        Ok(())
    }

    /// Does [`Endpoint::try_quiet`] where operations may be outstanding.
    ///
    /// # Errors
    /// The first failure on the lane.
    #[inline(never)]
    pub(crate) fn try_quiet(&self, endpoint: &Endpoint) -> Result<bool, Error> {
        let (port, lane) = (self.gate().port(), self.lane());
        // A lane that has failed is not waited for either.
        let is_quiet = port.is_quiet(lane) || port.culprit(lane).is_some();
        if is_quiet {
            self.quiet_all(endpoint)?;
        }
        Ok(is_quiet)
    }

    /// Writes or reads a word of a mailbox: [`Endpoint::post`] with a value to `write`, and
    /// [`Endpoint::peek`] without. Both go as atomic operations, so that nobody sees half a word.
    #[inline(never)]
    pub(crate) fn mail(
        &self,
        endpoint: &Endpoint,
        slot: usize,
        write: Option<u64>,
        peer: PeerIndex,
    ) -> Result<u64, Error> {
        let word = self.gate().mailbox_word(slot).ok_or(Error::NoSuchPeer)?;
        let record = endpoint.record(peer).ok_or(Error::NoSuchPeer)?;
        let (address, key) = record
            .remote
            .long_place(endpoint.offset(word), endpoint.split);
        let place = Place {
            peer: record.remote.number(),
            address,
            key,
        };
        let (port, lane) = (self.gate().port(), self.lane());
        match write {
            Some(value) => {
                endpoint.note_busy();
                port.update_answered(lane, place, size_of::<u64>(), Amo::Swap(value))?;
                Ok(0)
            }
            None => Ok(port.fetch(lane, place, size_of::<u64>(), Amo::Fetch)?),
        }
    }

    /// Does [`Endpoint::progress`].
    #[inline(never)]
    pub(crate) fn progress(&self) -> bool {
        self.gate().port().progress()
    }

    /// Does [`Endpoint::sleep`].
    pub(crate) fn sleep(&self, time: Duration) -> bool {
        self.gate().port().sleep(time)
    }

    /// Does [`Endpoint::culprit`].
    #[inline(never)]
    pub(crate) fn culprit(&self, endpoint: &Endpoint) -> Option<(PeerIndex, Failure)> {
        let (number, failure) = self.gate().port().culprit(self.lane())?;
        let is_culprit = |&peer: &PeerIndex| {
            let record = endpoint.record(peer);
            record.is_some_and(|record| record.remote.number() == number)
        };
        Some(((0..endpoint.peer_count()).find(is_culprit)?, failure))
    }

    /// Notes that nothing is outstanding; a lane that threads share is never known to be idle.
    fn note_idle(&self, endpoint: &Endpoint) {
        // SAFETY: the gate outlives every use of `self`, as `new` requires, and so does its way.
        if !unsafe { self.way.as_ref() }.is_shared() {
            endpoint.set_idle();
        }
    }
}

/// Returns the name of the upper part of a peer's window: the place of its record, which stays as
/// long as the endpoint.
#[inline(always)]
fn name(record: &Peer) -> Name {
    (&raw const *record).addr()
}

/// Returns the place of the byte so far behind the begin of the upper part of a peer's window.
#[inline(always)]
fn upper(inside: usize, record: &Peer) -> Place {
    Place {
        peer: record.remote.number(),
        address: record.remote.bases[1].wrapping_add(inside as u64),
        key: record.remote.long_keys()[1],
    }
}
