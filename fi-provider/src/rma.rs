//! One-sided writes and reads (fi_rma(3)).
//!
//! Addresses of remote memory are the caller's own addresses of the symmetric objects.
//!
//! Each operation has a near part, in line at the place of the call, for peers whose memory is mapped
//! here, and a far part, called when the near part has declined: for every other route, and for what is
//! refused. `near or else far` is the operation.

#![expect(
    unsafe_code,
    reason = "on-node peers are written and read through raw pointers into their mapped memory"
)]

use crate::address_vector::PeerIndex;
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::memory::ELEMENT_SLACK;
use fi_shm::{copy, order};

impl Endpoint {
    /// Writes one element of up to 16 bytes, if `peer` is near; `value` is taken over at once
    /// (fi_inject_write).
    ///
    /// # Safety
    /// `dest` is the address of an object in the own symmetric memory, aligned for `T`.
    #[inline(always)]
    pub unsafe fn inject_near<T: Copy>(&self, value: T, dest: *mut T, peer: PeerIndex) -> bool {
        const { assert!(size_of::<T>() <= ELEMENT_SLACK) };
        let Some(there) = self.element(dest.addr(), peer) else {
            return false;
        };
        // SAFETY: the peer's window is mapped at `there`; one volatile store keeps an element of a register whole.
        unsafe { (there as *mut T).write_volatile(value) };
        true
    }

    /// As [`Endpoint::inject_near`], for any peer.
    ///
    /// # Errors
    /// [`Error::NoSuchPeer`], [`Error::NotInWindow`], [`Error::NotEnabled`].
    ///
    /// # Safety
    /// As [`Endpoint::inject_near`].
    pub unsafe fn inject_far<T: Copy>(
        &self,
        _value: T,
        dest: *mut T,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        Err(self.refusal(dest.addr(), size_of::<T>(), peer))
    }

    /// Reads one element of up to 16 bytes, if `peer` is near (a blocking fi_read of one element).
    ///
    /// # Safety
    /// `source` is the address of an object in the own symmetric memory, aligned for `T`, and every bit
    /// pattern is a valid `T`.
    #[inline(always)]
    pub unsafe fn read_element_near<T: Copy>(
        &self,
        source: *const T,
        peer: PeerIndex,
    ) -> Option<T> {
        const { assert!(size_of::<T>() <= ELEMENT_SLACK) };
        let there = self.element(source.addr(), peer)?;
        // SAFETY: the peer's window is mapped at `there`; one volatile load keeps an element of a register whole.
        let value = unsafe { (there as *const T).read_volatile() };
        order::loads();
        Some(value)
    }

    /// As [`Endpoint::read_element_near`], for any peer.
    ///
    /// # Errors
    /// As [`Endpoint::inject_far`].
    ///
    /// # Safety
    /// As [`Endpoint::read_element_near`].
    pub unsafe fn read_element_far<T: Copy>(
        &self,
        source: *const T,
        peer: PeerIndex,
    ) -> Result<T, Error> {
        Err(self.refusal(source.addr(), size_of::<T>(), peer))
    }

    /// Writes `count` elements, if `peer` is near; `source` may be changed at once (fi_write with
    /// FI_INJECT_COMPLETE).
    ///
    /// # Safety
    /// `source` holds `count` elements and does not overlap the target unless it is the target.
    #[inline(always)]
    pub unsafe fn write_near<T: Copy>(
        &self,
        dest: *mut T,
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> bool {
        let Some(there) = self.range(dest.addr(), count, size_of::<T>(), peer) else {
            return false;
        };
        // SAFETY: `source` by contract; the target range lies in the peer's mapped window. The product
        // does not overflow: it is at most the window's length.
        unsafe { copy::copy(there as *mut u8, source.cast(), count * size_of::<T>()) };
        true
    }

    /// As [`Endpoint::write_near`], for any peer.
    ///
    /// # Errors
    /// As [`Endpoint::inject_far`], and [`Error::PastWindow`], [`Error::TooLong`]. No elements are no
    /// error, whatever the addresses.
    ///
    /// # Safety
    /// As [`Endpoint::write_near`].
    pub unsafe fn write_far<T: Copy>(
        &self,
        dest: *mut T,
        _source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        self.refusal_unless_empty(dest.addr(), count, size_of::<T>(), peer)
    }

    /// Reads `count` elements, if `peer` is near; they are in `dest` when the call returns.
    ///
    /// # Safety
    /// `dest` has room for `count` elements and does not overlap the source unless it is the source.
    #[inline(always)]
    pub unsafe fn read_near<T: Copy>(
        &self,
        dest: *mut T,
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> bool {
        let Some(there) = self.range(source.addr(), count, size_of::<T>(), peer) else {
            return false;
        };
        // SAFETY: `dest` by contract; the source range lies in the peer's mapped window. The product
        // does not overflow: it is at most the window's length.
        unsafe { copy::copy(dest.cast(), there as *const u8, count * size_of::<T>()) };
        order::loads();
        true
    }

    /// As [`Endpoint::read_near`], for any peer.
    ///
    /// # Errors
    /// As [`Endpoint::write_far`].
    ///
    /// # Safety
    /// As [`Endpoint::read_near`].
    pub unsafe fn read_far<T: Copy>(
        &self,
        _dest: *mut T,
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        self.refusal_unless_empty(source.addr(), count, size_of::<T>(), peer)
    }

    /// As [`Endpoint::write_far`]; `source` must stay as it is until [`Endpoint::quiet`] (fi_write).
    /// The near part is [`Endpoint::write_near`].
    ///
    /// # Errors
    /// As [`Endpoint::write_far`].
    ///
    /// # Safety
    /// As [`Endpoint::write_near`].
    pub unsafe fn start_write_far<T: Copy>(
        &self,
        dest: *mut T,
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        // SAFETY: the contract is the same, and stricter about `source`.
        unsafe { self.write_far(dest, source, count, peer) }
    }

    /// As [`Endpoint::read_far`]; `dest` holds the elements after [`Endpoint::quiet`] (fi_read). The near
    /// part is [`Endpoint::read_near`].
    ///
    /// # Errors
    /// As [`Endpoint::read_far`].
    ///
    /// # Safety
    /// As [`Endpoint::read_near`].
    pub unsafe fn start_read_far<T: Copy>(
        &self,
        dest: *mut T,
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        // SAFETY: the contract is the same, and stricter about `dest`.
        unsafe { self.read_far(dest, source, count, peer) }
    }

    /// An operation on no bytes does nothing, whatever its address; any other that comes here is refused.
    fn refusal_unless_empty(
        &self,
        addr: usize,
        count: usize,
        size: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        match self.refusal(addr, count.saturating_mul(size), peer) {
            Error::NotInWindow | Error::PastWindow if count == 0 => Ok(()),
            error => Err(error),
        }
    }
}
