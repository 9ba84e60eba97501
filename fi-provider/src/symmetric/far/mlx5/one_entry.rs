//! Operations by one entry from and into registered memory, where the lane can take it without
//! looking: transfers and atomics that quiet waits for, and reads and atomics that are waited for
//! at once. Where they decline, `transfer` and `atomic` do the operation, and say why it is refused.

#![expect(unsafe_code, reason = "C memory is given to the device by its address")]

use super::Mlx5;
use super::reach::far_peer;
use crate::device::scratch::RESULT_BYTES;
use crate::symmetric::Error;
use crate::symmetric::address_vector::PeerIndex;
use crate::symmetric::endpoint::Endpoint;
use fi_mlx5::lane::{Atomic, Local};
use fi_mlx5::short::There;

/// Direction of a transfer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direction {
    /// To the peer.
    Write,
    /// From the peer.
    Read,
}

impl Mlx5 {
    /// Returns own memory that is registered as long as the window.
    #[inline(always)]
    fn own(&self, endpoint: &Endpoint, addr: usize, bytes: usize) -> Option<Local> {
        let is_lower = endpoint.part(endpoint.offset(addr), bytes)?;
        Some(Local {
            address: addr as u64,
            length: bytes as u32,
            key: self.gate().key_of_part(usize::from(!is_lower)),
        })
    }

    /// Returns whether `bytes` are some, and no more than a message.
    #[inline(always)]
    fn is_message(&self, bytes: usize) -> bool {
        bytes.wrapping_sub(1) < self.gate().max_message()
    }

    /// Returns both sides of a transfer between the own window and that of a peer whose memory is
    /// not mapped here.
    #[inline(always)]
    fn sides<'a>(
        &self,
        endpoint: &'a Endpoint,
        own: usize,
        far: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Option<(Local, There<'a>)> {
        if !self.is_message(bytes) {
            return None;
        }
        let there = endpoint.there_of(far, bytes, far_peer(endpoint, peer)?)?;
        Some((self.own(endpoint, own, bytes)?, there))
    }

    /// Starts to transfer `bytes` bytes between the own address `own` here and the own address
    /// `far` on `peer`; false where it does not.
    ///
    /// # Safety
    /// Until quiet, the memory here stays as it is in a write, and nobody else uses it in a read.
    #[inline(always)]
    pub(super) unsafe fn start_transfer(
        &self,
        endpoint: &Endpoint,
        direction: Direction,
        own: usize,
        far: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> bool {
        let Some((local, there)) = self.sides(endpoint, own, far, bytes, peer) else {
            return false;
        };
        // SAFETY: the lane is alive while the endpoint is enabled, and used as its guard allows;
        // the memory here is registered, and nobody writes the source or uses the destination until
        // quiet.
        let posted = unsafe {
            match direction {
                Direction::Write => endpoint.route.start_write(local, there),
                Direction::Read => endpoint.route.start_read(local, there),
            }
        };
        endpoint.note_posted(posted)
    }

    /// Reads `bytes` bytes from the own address `source` on `peer` and waits for them; none where
    /// it does not. The destination is in the own window, or the bytes are few.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Safety
    /// `dest` has room for the bytes.
    #[inline(always)]
    pub(super) unsafe fn read_at_once(
        &self,
        endpoint: &Endpoint,
        dest: *mut u8,
        source: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Option<Result<(), Error>> {
        if !self.is_message(bytes) {
            return None;
        }
        let there = endpoint.there_of(source, bytes, far_peer(endpoint, peer)?)?;
        if let Some(local) = self.own(endpoint, dest.addr(), bytes) {
            // SAFETY: the lane is alive while the endpoint is enabled, and used as its guard
            // allows; `dest` is registered and has room for the bytes.
            let done = unsafe { endpoint.route.fetch(&Atomic::READ, local, there)? };
            return Some(done.map_err(Error::from));
        }
        if bytes > RESULT_BYTES {
            return None;
        }
        let local = self.gate().result(bytes);
        // SAFETY: the lane is alive while the endpoint is enabled, and used as its guard allows;
        // the result is registered, and a lane of one thread has one operation at a time that
        // waits.
        let done = unsafe { endpoint.route.fetch(&Atomic::READ, local, there)? };
        if done.is_ok() {
            // SAFETY: the result holds the bytes now, and `dest` has room for them.
            unsafe { std::ptr::copy_nonoverlapping(local.address as *const u8, dest, bytes) };
        }
        Some(done.map_err(Error::from))
    }

    /// Does an atomic operation on the object of `bytes` bytes (4 or 8) at the own address `target`
    /// on `peer`, whose result is not wanted; false where it does not.
    #[inline(always)]
    pub(super) fn start_atomic(
        &self,
        endpoint: &Endpoint,
        atomic: &Atomic,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> bool {
        let post = || {
            // Fence is told of those on memory of this node.
            let there = endpoint.there_of(target, bytes, far_peer(endpoint, peer)?)?;
            let local = self.gate().discard(bytes);
            // SAFETY: the lane is alive while the endpoint is enabled, and used as its guard
            // allows; the memory is registered.
            Some(unsafe { endpoint.route.start_atomic(atomic, local, there) })
        };
        endpoint.note_posted(post() == Some(true))
    }

    /// Does an atomic operation on the object of 8 bytes at the own address `target` on `peer`; the
    /// old value is at `dest`, which is in the own window, after quiet. Returns false where it does
    /// not.
    ///
    /// # Safety
    /// Nobody else uses the 8 bytes at `dest` until quiet.
    pub(super) unsafe fn start_fetch_into_window(
        &self,
        endpoint: &Endpoint,
        atomic: &Atomic,
        target: usize,
        dest: *mut u8,
        peer: PeerIndex,
    ) -> bool {
        let bytes = size_of::<u64>();
        // SAFETY: the lane is alive while the endpoint is enabled, and used as it was made for; the
        // memory is registered, and nobody else uses it until quiet.
        let post = |(local, there)| unsafe { endpoint.route.start_atomic(atomic, local, there) };
        let sides = self.sides(endpoint, dest.addr(), target, bytes, peer);
        let posted = sides.map(post);
        endpoint.note_posted(posted == Some(true))
    }

    /// Does an atomic operation on the object of `bytes` bytes (4 or 8) at the own address `target`
    /// on `peer` and waits for the previous value; none where it does not.
    ///
    /// # Errors
    /// Those of the device.
    #[inline(always)]
    pub(super) fn fetch_at_once(
        &self,
        endpoint: &Endpoint,
        atomic: &Atomic,
        target: usize,
        bytes: usize,
        peer: PeerIndex,
    ) -> Option<Result<u64, Error>> {
        let gate = self.gate();
        let there = endpoint.there_of(target, bytes, endpoint.record(peer)?)?;
        let local = gate.result(bytes);
        // SAFETY: the lane is alive while the endpoint is enabled, and used as its guard allows;
        // the result is registered, and a lane of one thread has one operation at a time that
        // waits.
        let done = unsafe { endpoint.route.fetch(atomic, local, there)? };
        Some(done.map(|()| gate.fetched(bytes)).map_err(Error::from))
    }
}
