//! Operations on the region of a key, without a look-up of the caller's own.

#![expect(unsafe_code, reason = "borrows the regions without a count")]

use super::Endpoint;
use super::direct::{PLACES, Slots, place};
use super::remote::RemoteRegion;
use crate::raw::address_vector::{PeerIndex, Told};
use crate::raw::error::Error;
use std::cell::RefCell;
use std::ptr::NonNull;
use std::rc::Rc;

/// Regions of peers that were looked up: each at the place of its peer and key.
#[derive(Debug)]
pub(crate) struct Keys(RefCell<[Known; PLACES]>, Slots);

impl Default for Keys {
    fn default() -> Self {
        let none = std::array::from_fn(Known::none);
        Self(RefCell::new(none), Slots::default())
    }
}

/// The places of an endpoint's regions, one pointer nearer.
#[derive(Debug)]
pub(super) struct Places(NonNull<[Known; PLACES]>);

/// A place, which may have a region.
#[derive(Debug)]
struct Known {
    peer: u64,
    key: u64,
    /// Where the region lies; nowhere at a place without one.
    at: NonNull<RemoteRegion>,
    region: Option<Rc<RemoteRegion>>,
}

impl Known {
    /// The place that has the region of a peer under a key, if one has.
    #[inline(always)]
    fn find(keys: &[Self; PLACES], peer: u64, key: u64) -> Option<&Self> {
        let known = &keys[place(peer, key)];
        (known.peer == peer && known.key == key).then_some(known)
    }

    /// A place without a region: by a peer and a key that belong elsewhere, so that no look-up
    /// takes it for what it looks for.
    fn none(at: usize) -> Self {
        let peer = u64::MAX;
        let key = (at as u64 + 1).wrapping_sub(peer << 3);
        debug_assert!(place(peer, key) != at);
        Self {
            peer,
            key,
            at: NonNull::dangling(),
            region: None,
        }
    }
}

impl Keys {
    /// The places, as long as the keys are there.
    pub(super) fn places(&self) -> Places {
        // SAFETY: the array is in a cell.
        Places(unsafe { NonNull::new_unchecked(self.0.as_ptr()) })
    }

    /// Lets regions go.
    pub(crate) fn retain(&self, is_wanted: impl Fn(&RemoteRegion) -> bool) {
        // Links may go with them, while nothing is borrowed.
        let mut gone = Vec::new();
        for (place, slot) in self.0.borrow_mut().iter_mut().enumerate() {
            if slot.region.as_ref().is_some_and(|known| !is_wanted(known)) {
                gone.push(std::mem::replace(slot, Known::none(place)));
                self.1.empty(place);
            }
        }
    }

    /// Keeps a region that was looked up.
    fn keep(&self, peer: u64, key: u64, region: Rc<RemoteRegion>) {
        self.1.fill(peer, key, &region);
        let known = Known {
            peer,
            key,
            at: NonNull::from_ref(&*region),
            region: Some(region),
        };
        let before = std::mem::replace(&mut self.0.borrow_mut()[place(peer, key)], known);
        // Its link may go with it, while nothing is borrowed.
        drop(before);
    }

    /// What programs read of them.
    pub(super) fn slots(&self) -> &Slots {
        &self.1
    }
}

impl Told for Keys {
    fn forget(&self) {
        self.retain(|_| false);
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
        Known::find(&keys, peer.into(), key)?.region.clone()
    }

    /// The region that `peer` has under `key`, if it has been looked up: without a handle to it. None
    /// also where no peer can have the number.
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
