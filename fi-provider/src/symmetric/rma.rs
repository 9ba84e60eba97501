//! One-sided writes and reads (fi_rma(3)).
//!
//! Addresses of remote memory are the caller's own addresses of the symmetric objects.
//!
//! Each operation has a near part, in line at the place of the call, and a far part, called when the near part has
//! declined. `near or else far` is the operation. The near part is for peers whose memory is mapped here; that of
//! [`Endpoint::inject_near`] goes on to the device as well, where the lane can take an element without looking.

#![expect(
    unsafe_code,
    reason = "on-node peers are written and read through raw pointers into their mapped memory"
)]

use crate::symmetric::Error;
use crate::symmetric::address_vector::PeerIndex;
use crate::symmetric::endpoint::{Endpoint, anew};
use crate::symmetric::short::{Beyond, Injected, Written};
use crate::symmetric::transfer::Source;
use crate::symmetric::window::ELEMENT_SLACK;
use fi_shm::{copy, order};
use std::mem::MaybeUninit;

impl Endpoint {
    /// Writes one element of up to 16 bytes, if `peer` is near or the lane takes it in line; `value` is taken over at once
    /// (fi_inject_write).
    ///
    /// # Safety
    /// `dest` is the address of an object in the own symmetric memory, aligned for `T`.
    #[inline(always)]
    pub unsafe fn inject_near<T: Copy>(
        &self,
        value: T,
        dest: *mut T,
        peer: PeerIndex,
    ) -> Injected<'_> {
        const { assert!(size_of::<T>() <= ELEMENT_SLACK) };
        let Some(record) = self.record(peer) else {
            return Injected::Not;
        };
        let offset = self.offset(dest.addr());
        if offset < record.window_len {
            let there = dest.map_addr(|addr| addr.wrapping_add(record.delta));
            // SAFETY: the peer's window is mapped at `there`; one volatile store keeps an element of a register whole.
            unsafe { there.write_volatile(value) };
            return Injected::Done;
        }
        if offset >= self.device_len {
            return Injected::Beyond(Beyond { offset, record });
        }
        let there = record.remote.segment(offset, &self.split);
        // SAFETY: the lane is alive while the endpoint is enabled, and used by one thread at a time; `peer` has a record.
        let posted = unsafe {
            self.route
                .inject(value, there, &record.remote.vector, anew(peer))
        };
        if posted {
            self.set_busy();
            Injected::Done
        } else {
            Injected::Not
        }
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
        value: T,
        dest: *mut T,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        // SAFETY: the value is as long as said, and taken over at once.
        unsafe {
            self.device_write(
                dest.addr(),
                (&raw const value).cast(),
                size_of::<T>(),
                peer,
                Source::Reusable,
            )
        }
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
        let mut value = MaybeUninit::<T>::uninit();
        // SAFETY: there is room for a value, and every bit pattern is a valid `T`.
        unsafe {
            self.device_read(
                value.as_mut_ptr().cast(),
                source.addr(),
                size_of::<T>(),
                peer,
                true,
            )?;
            Ok(value.assume_init())
        }
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
    ) -> Written<'_> {
        let Some(record) = self.record(peer) else {
            return Written::Not;
        };
        let Some(there) = self.range_on(dest.addr(), count, size_of::<T>(), record) else {
            return Written::Beyond(record);
        };
        // SAFETY: `source` holds `count` elements; the target range lies in the peer's mapped
        // window. The product does not overflow: it is at most the window's length.
        unsafe { copy::copy(there as *mut u8, source.cast(), count * size_of::<T>()) };
        Written::Done
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
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let bytes = count.saturating_mul(size_of::<T>());
        // SAFETY: `source` holds the elements until the call returns, which is as long as it is
        // used.
        unsafe { self.device_write(dest.addr(), source.cast(), bytes, peer, Source::Reusable) }
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
        // SAFETY: `dest` has room for `count` elements; the source range lies in the peer's mapped
        // window. The product does not overflow: it is at most the window's length.
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
        dest: *mut T,
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let bytes = count.saturating_mul(size_of::<T>());
        // SAFETY: `dest` has room for `count` elements.
        unsafe { self.device_read(dest.cast(), source.addr(), bytes, peer, true) }
    }

    /// As [`Endpoint::write_far`]; `source` must stay as it is until [`Endpoint::quiet`] (fi_write).
    /// The near part is [`Endpoint::write_near`].
    ///
    /// # Errors
    /// As [`Endpoint::write_far`].
    ///
    /// # Safety
    /// As [`Endpoint::write_near`]; `source` stays as it is until [`Endpoint::quiet`].
    pub unsafe fn start_write_far<T: Copy>(
        &self,
        dest: *mut T,
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let bytes = count.saturating_mul(size_of::<T>());
        // SAFETY: `source` holds `count` elements and stays as it is until quiet.
        unsafe {
            self.device_write(
                dest.addr(),
                source.cast(),
                bytes,
                peer,
                Source::KeptUntilQuiet,
            )
        }
    }

    /// As [`Endpoint::read_far`]; `dest` holds the elements after [`Endpoint::quiet`] (fi_read). The near
    /// part is [`Endpoint::read_near`].
    ///
    /// # Errors
    /// As [`Endpoint::read_far`].
    ///
    /// # Safety
    /// As [`Endpoint::read_near`]; nobody else uses `dest` until [`Endpoint::quiet`].
    pub unsafe fn start_read_far<T: Copy>(
        &self,
        dest: *mut T,
        source: *const T,
        count: usize,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let bytes = count.saturating_mul(size_of::<T>());
        // SAFETY: `dest` has room for `count` elements, and nobody else uses it until quiet.
        unsafe { self.device_read(dest.cast(), source.addr(), bytes, peer, false) }
    }
}
