//! Regions of peers that are reached by the device alone, those of the node too: the device does all
//! atomic operations on them (fi_atomic(3)).

use super::remote::RemoteRegion;
use super::{Endpoint, Typed};
use crate::raw::address_vector::PeerIndex;
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
    /// device, whatever the peer, which may be this process: the device's atomic operations are atomic
    /// to each other, and not to those of processors.
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
}
