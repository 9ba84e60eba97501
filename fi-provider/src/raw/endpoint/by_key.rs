//! Operations on the region of a key, without a look-up of the caller's own.

#![expect(unsafe_code, reason = "borrows the regions without a count")]

use super::Endpoint;
use super::keys::Known;
use super::remote::RemoteRegion;
use crate::raw::address_vector::PeerIndex;
use crate::raw::error::Error;
use std::rc::Rc;

impl Endpoint {
    /// Does an operation on the region that `peer` has under `key`, as [`Endpoint::resolve`] finds
    /// it: at the first use, and again where the operation is refused in a way that another region,
    /// which the peer may have under the key by now, would not refuse it; it is repeated then. So it
    /// has to do nothing where it is refused.
    ///
    /// # Errors
    /// Those of [`Endpoint::resolve`] and of the operation.
    #[inline]
    pub fn on_region<T>(
        &self,
        peer: PeerIndex,
        key: u64,
        mut operation: impl FnMut(&RemoteRegion) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if let Some(region) = self.known_region(peer, key) {
            let done = operation(&region);
            match done {
                Err(Error::NoSuchKey) => {}
                // Nothing tells here that the region is closed: another one may be longer.
                Err(Error::OutOfRange | Error::NotAllowed) if region.is_untold() => {}
                _ => return done,
            }
        }
        self.look_up(peer, key, operation)
    }

    /// Returns the region as it was looked up last: a handle, as the operation may look up others.
    #[inline(always)]
    fn known_region(&self, peer: PeerIndex, key: u64) -> Option<Rc<RemoteRegion>> {
        let keys = self.keys.0.borrow();
        Known::find(&keys, peer.into(), key)?.region.clone()
    }

    /// Returns the region that `peer` has under `key`, if it has been looked up: without a handle
    /// to it. Returns none also where no peer can have the number.
    ///
    /// # Safety
    /// Until the last use of the reference, no function of the endpoint is called but
    /// [`Endpoint::write_mapped`], [`Endpoint::write_word_mapped`],
    /// [`Endpoint::write_known_word_in_line`], [`Endpoint::write_beyond_now`],
    /// [`Endpoint::add_in_line`], [`Endpoint::update_mapped_now`],
    /// [`Endpoint::update_word_in_line`] and [`Endpoint::update_beyond_now`].
    #[inline(always)]
    pub unsafe fn region_now(&self, peer: u64, key: u64) -> Option<&RemoteRegion> {
        debug_assert!(self.keys.0.try_borrow_mut().is_ok());
        // SAFETY: the keys are there as long as the endpoint, which holds them. Nobody changes
        // them: functions of the endpoint that borrow the regions end before they return, and none
        // of those that may be called meanwhile borrows them.
        let keys = unsafe { self.places.0.as_ref() };
        let known = Known::find(keys, peer, key)?;
        // SAFETY: a place that is found has a region, which lies there as long as the place has it.
        Some(unsafe { known.at.as_ref() })
    }

    #[cold]
    fn look_up<T>(
        &self,
        peer: PeerIndex,
        key: u64,
        mut operation: impl FnMut(&RemoteRegion) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let version = self.vector.version();
        let region = Rc::new(self.resolve(peer, key)?.following());
        let done = operation(&region);
        // The number may be another peer's by now, of which the keys were told before.
        if self.vector.version() == version {
            self.keys.keep(peer.into(), key, region);
        }
        done
    }
}
