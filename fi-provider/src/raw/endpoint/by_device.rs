//! Regions of peers that are reached by the device alone, those of the node too: the device does
//! all atomic operations on them (fi_atomic(3)).

#![expect(unsafe_code, reason = "the device writes words to C addresses")]

use super::remote::RemoteRegion;
use super::{Endpoint, OneWord, Typed};
use crate::raw::address_vector::PeerIndex;
use crate::raw::atomic::amo;
use crate::raw::completion::Report;
use crate::raw::domain::Domain;
use crate::raw::error::Error;

impl Domain {
    /// Tells whether the device does an operation on memory that is looked up by
    /// [`Endpoint::resolve_by_device`].
    pub fn device_updates(&self, typed: Typed) -> bool {
        let native = typed.native();
        native.is_some_and(|native| self.regions().device_does(native, typed.bytes()))
    }
}

impl Endpoint {
    /// Looks the region of a key up as [`Endpoint::resolve`] does, for operations that go by the
    /// device to any peer, which may be this process: the device's atomic operations are atomic to
    /// each other, and not to those of processors.
    ///
    /// # Errors
    /// As [`Endpoint::resolve`]; [`Error::NoDevice`] where there is none.
    pub fn resolve_by_device(&self, peer: PeerIndex, key: u64) -> Result<RemoteRegion, Error> {
        let far = self.far().ok_or(Error::NoDevice)?;
        let mut link = self.with_link(peer, |link| Ok(link.clone()))?;
        if link.near().is_some() {
            link = self.link_to(&link.address.by_device())?;
        }
        if !link.is_alive() {
            return Err(Error::PeerGone);
        }
        let path = link.far().ok_or(Error::NoDevice)?;
        let found = self.find_far(path, key);
        self.collect_taken(far);
        let region = RemoteRegion::beyond(found?, key, &link).of_device();
        Ok(region.refusing_if_counted())
    }

    /// Has the device do one atomic operation as [`Endpoint::update`] does, in a region that was
    /// looked up by [`Endpoint::resolve_by_device`] and is not counted.
    ///
    /// # Errors
    /// As [`Endpoint::update`].
    ///
    /// # Safety
    /// As [`Endpoint::update`].
    pub unsafe fn update_one_by_device<R: Report>(
        &self,
        one: &OneWord<'_>,
        report: R,
    ) -> Result<(), Error> {
        let (region, bytes) = (one.region, one.bytes);
        let place = region.found.place(one.address);
        let path = region.link.far().ok_or(Error::NoDevice)?;
        one.check()?;
        if !place.is_multiple_of(bytes as u64) {
            return Err(Error::Misaligned);
        }
        if report.context().is_some() && !self.transmit().has_room() {
            return Err(Error::Again);
        }
        let (operand, comparand) = one.operands;
        let amo = amo(one.operation, operand, comparand);
        let (found, mark) = self.place_of(one);
        // SAFETY: `found` has room for the word until the operation is reported.
        unsafe {
            self.update_by_device(
                region,
                path,
                (one.address, bytes),
                amo,
                found,
                (mark, report),
            )
        }
    }
}
