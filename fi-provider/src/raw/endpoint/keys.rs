//! Operations on the region of a key, without a look-up of the caller's own.

#![expect(unsafe_code, reason = "borrows the regions without a count")]

use super::Endpoint;
use super::direct::{PLACES, Slots, place};
use super::remote::RemoteRegion;
use super::short::unguarded;
use crate::raw::address_vector::PeerIndex;
use crate::raw::error::Error;
use std::cell::RefCell;
use std::rc::Rc;

/// Regions of peers that were looked up: each at the place of its peer and key.
#[derive(Debug)]
pub(crate) struct Keys(RefCell<Box<[Known; PLACES]>>, Slots);

impl Default for Keys {
    fn default() -> Self {
        let none = Box::new([const { Known::NONE }; PLACES]);
        Self(RefCell::new(none), Slots::default())
    }
}

/// A place, which may have a region.
#[derive(Debug)]
struct Known {
    peer: u64,
    key: u64,
    /// The version of the address vector by which the number is the peer's; [`NEVER`] of a place
    /// without a region.
    version: u64,
    region: Option<Rc<RemoteRegion>>,
}

/// The version that no address vector has: each counts its changes from 0 on.
const NEVER: u64 = u64::MAX;

impl Known {
    const NONE: Self = Self {
        peer: 0,
        key: 0,
        version: NEVER,
        region: None,
    };
}

impl Keys {
    /// Lets regions go.
    pub(crate) fn retain(&self, is_wanted: impl Fn(&RemoteRegion) -> bool) {
        for (place, slot) in self.0.borrow_mut().iter_mut().enumerate() {
            if slot.region.as_ref().is_some_and(|known| !is_wanted(known)) {
                *slot = Known::NONE;
                self.1.empty(place);
            }
        }
    }

    /// Lets all regions go.
    pub(super) fn forget(&self) {
        self.retain(|_| false);
    }

    /// What programs read of them.
    pub(super) fn slots(&self) -> &Slots {
        &self.1
    }
}

impl Endpoint {
    /// Does an operation on the region that `peer` has under `key`, as [`Endpoint::resolve`] finds
    /// it: at the first use, and again where the operation says [`Error::NoSuchKey`] and the peer
    /// has another region under the key by now; the operation is repeated then.
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
            if !matches!(done, Err(Error::NoSuchKey)) {
                return done;
            }
        }
        self.look_up(peer, key, operation)
    }

    /// The region as it was looked up last: a handle, as the operation may look up others.
    #[inline(always)]
    fn known_region(&self, peer: PeerIndex, key: u64) -> Option<Rc<RemoteRegion>> {
        let keys = self.keys.0.borrow();
        self.known(&keys, peer.into(), key).map(Rc::clone)
    }

    #[inline(always)]
    fn known<'a>(
        &self,
        keys: &'a [Known; PLACES],
        peer: u64,
        key: u64,
    ) -> Option<&'a Rc<RemoteRegion>> {
        let known = &keys[place(peer, key)];
        let is_it =
            known.peer == peer && known.key == key && known.version == self.vector.version();
        // SAFETY: a place without a region has a version that is not the vector's.
        is_it.then(|| unsafe { known.region.as_ref().unwrap_unchecked() })
    }

    /// The region that `peer` has under `key`, if it has been looked up: without a handle to it. None
    /// also where no peer can have the number.
    ///
    /// # Safety
    /// Until the last use of the reference, no function of the endpoint is called but
    /// [`Endpoint::write_mapped`], [`Endpoint::write_word_in_line`], [`Endpoint::write_beyond_now`],
    /// [`Endpoint::update_mapped_now`], [`Endpoint::update_word_in_line`] and
    /// [`Endpoint::update_beyond_now`].
    #[inline(always)]
    pub unsafe fn region_now(&self, peer: u64, key: u64) -> Option<&RemoteRegion> {
        // SAFETY: no other reference is there: functions of the endpoint that borrow the regions end
        // before they return, and none of those that may be called meanwhile borrows them.
        let keys = unsafe { unguarded(&self.keys.0) };
        self.known(keys, peer, key).map(|region| &**region)
    }

    #[cold]
    fn look_up<T>(
        &self,
        peer: PeerIndex,
        key: u64,
        mut operation: impl FnMut(&RemoteRegion) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let region = Rc::new(self.resolve(peer, key)?.following());
        let done = operation(&region);
        self.keys.1.fill(peer.into(), key, &region);
        let mut keys = self.keys.0.borrow_mut();
        keys[place(peer.into(), key)] = Known {
            peer: peer.into(),
            key,
            version: self.vector.version(),
            region: Some(region),
        };
        done
    }
}
