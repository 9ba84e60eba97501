//! Atomic operations by the device: plain or masked ones, or by comparison in a loop.

#![expect(unsafe_code, reason = "C memory is given to the device by its address")]

use super::Mlx5;
use crate::device::amo::{Amo, entry};
use crate::symmetric::Error;
use crate::symmetric::address_vector::PeerIndex;
use crate::symmetric::amo::is_aligned;
use crate::symmetric::endpoint::Endpoint;
use fi_mlx5::lane::{Atomic, Failure, Held, To};

impl Mlx5 {
    /// Returns the entry of an atomic operation on the object of `bytes` bytes (4 or 8) at the own
    /// address `target`, where the device has one and can do it there.
    #[inline(always)]
    fn atomic_entry(&self, what: Amo, target: usize, bytes: usize) -> Option<Atomic> {
        if !is_aligned(target, bytes) {
            return None;
        }
        entry(what, bytes, || self.gate().has_masked_atomics(bytes))
    }

    /// Does [`Endpoint::update_far`].
    ///
    /// # Errors
    /// As [`Endpoint::update_far`].
    #[inline(always)]
    pub(crate) fn update(
        &self,
        endpoint: &Endpoint,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        if let Some(entry) = self.atomic_entry(what, target, bytes)
            && self.start_atomic(endpoint, &entry, target, bytes, peer)
        {
            return Ok(());
        }
        self.update_any(endpoint, what, target, bytes, peer)
    }

    /// Does [`Endpoint::fetch_far`].
    ///
    /// # Errors
    /// As [`Endpoint::fetch_far`].
    #[inline(always)]
    pub(crate) fn fetch(
        &self,
        endpoint: &Endpoint,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<u64, Error> {
        if let Some(entry) = self.atomic_entry(what, target, bytes)
            && let Some(found) = self.fetch_at_once(endpoint, &entry, target, bytes, peer)
        {
            return found;
        }
        self.fetch_any(endpoint, what, target, bytes, peer)
    }

    /// Does [`Endpoint::start_fetch_far`].
    ///
    /// # Errors
    /// As [`Endpoint::start_fetch_far`].
    ///
    /// # Safety
    /// As [`Endpoint::start_fetch_far`].
    #[inline(always)]
    pub(crate) unsafe fn start_fetch(
        &self,
        endpoint: &Endpoint,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
        dest: *mut u8,
    ) -> Result<(), Error> {
        let entry = self.atomic_entry(what, target, bytes);
        // Words of four bytes come in the device's byte order.
        if let Some(entry) = entry.as_ref().filter(|_| bytes == size_of::<u64>()) {
            // SAFETY: nobody else uses the 8 bytes at `dest` until quiet.
            if unsafe { self.start_fetch_into_window(endpoint, entry, target, dest, peer) } {
                return Ok(());
            }
        }
        // SAFETY: `dest` has room for the bytes, and nobody else uses them until quiet.
        unsafe { self.start_fetch_any(endpoint, what, target, bytes, peer, dest) }
    }

    /// Does [`Mlx5::update`], by any path.
    ///
    /// # Errors
    /// As [`Endpoint::update_far`].
    #[cold]
    #[inline(never)]
    fn update_any(
        &self,
        endpoint: &Endpoint,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let (_held, to, entry) = self.begin(endpoint, what, target, bytes, peer)?;
        match entry {
            // SAFETY: the lane is held; the memory is registered.
            Some(entry) => unsafe {
                self.lane().atomic(to, &entry, self.gate().discard(bytes))?;
            },
            None => {
                self.atomic_by_comparison(to, what, bytes)?;
            }
        }
        Ok(())
    }

    /// Does [`Mlx5::fetch`], by any path.
    ///
    /// # Errors
    /// As [`Endpoint::fetch_far`].
    #[cold]
    #[inline(never)]
    fn fetch_any(
        &self,
        endpoint: &Endpoint,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<u64, Error> {
        let (_held, to, entry) = self.begin(endpoint, what, target, bytes, peer)?;
        match entry {
            Some(entry) => Ok(self.await_atomic(to, &entry, bytes)?),
            None => self.atomic_by_comparison(to, what, bytes),
        }
    }

    /// Does [`Mlx5::start_fetch`], by any path.
    ///
    /// # Errors
    /// As [`Endpoint::start_fetch_far`].
    ///
    /// # Safety
    /// As [`Endpoint::start_fetch_far`].
    #[cold]
    #[inline(never)]
    unsafe fn start_fetch_any(
        &self,
        endpoint: &Endpoint,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
        dest: *mut u8,
    ) -> Result<(), Error> {
        let (_held, to, entry) = self.begin(endpoint, what, target, bytes, peer)?;
        let Some(entry) = entry else {
            let found = self.atomic_by_comparison(to, what, bytes)?;
            // SAFETY: the destination has room for eight bytes, which is all that is done by
            // comparison.
            unsafe { dest.cast::<u64>().write_unaligned(found) };
            return Ok(());
        };
        let gate = self.gate();
        let slot = gate.claim_result()?;
        // SAFETY: the lane is held; the memory is registered.
        match unsafe { self.lane().atomic(to, &entry, gate.result_in(&slot, bytes)) } {
            Ok(posted) => {
                // SAFETY: `dest` has room for the word until quiet, and nobody else uses it.
                unsafe { gate.deliver_later(posted, slot, bytes, dest) };
                Ok(())
            }
            Err(failure) => {
                gate.release_result(slot);
                Err(failure.into())
            }
        }
    }

    /// Begins an atomic operation on the object of `bytes` bytes (4 or 8) at the own address
    /// `target` on `peer`: holds the lane, and returns the place of the object and the entry, if
    /// the device has one.
    ///
    /// # Errors
    /// As [`Endpoint::update_far`].
    fn begin<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        what: Amo,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Result<(Held<'a>, To<'a>, Option<Atomic>), Error> {
        let to = self.reach(endpoint, target, bytes, peer)?;
        if !is_aligned(target, bytes) {
            return Err(Error::Misaligned);
        }
        let held = self.lane().hold();
        endpoint.note_busy();
        let record = endpoint.record(peer);
        if record.is_some_and(|record| record.window_len > 0) {
            self.gate().note_near_atomic();
        }
        Ok((held, to, self.atomic_entry(what, target, bytes)))
    }

    /// Does an atomic operation and waits for the value from before it. The lane is held.
    fn await_atomic(&self, to: To<'_>, entry: &Atomic, bytes: usize) -> Result<u64, Failure> {
        // SAFETY: the lane is held; the memory is registered.
        let post = |local| unsafe { self.lane().atomic(to, entry, local) };
        self.gate().await_word(bytes, post)
    }

    /// Does an operation that the device does not have by the one that it has: on eight bytes. The
    /// lane is held.
    fn atomic_by_comparison(&self, to: To<'_>, what: Amo, bytes: usize) -> Result<u64, Error> {
        if bytes != size_of::<u64>() {
            return Err(Error::Unsupported);
        }
        let mut before = self.await_atomic(to, &Atomic::add_8(0), bytes)?;
        loop {
            let exchange = Atomic::compare_swap_8(before, what.apply(before));
            let found = self.await_atomic(to, &exchange, bytes)?;
            if found == before {
                return Ok(found);
            }
            before = found;
        }
    }
}
