//! The regions of peers that are known by their keys.

#![expect(unsafe_code, reason = "borrows the regions without a count")]

use super::remote::RemoteRegion;
use super::slots::{PLACES, Slots, place};
use crate::raw::address_vector::Told;
use std::cell::RefCell;
use std::ptr::NonNull;
use std::rc::Rc;

/// Regions of peers that were looked up: each at the place of its peer and key.
#[derive(Debug)]
pub(crate) struct Keys(pub(super) RefCell<[Known; PLACES]>, Slots);

impl Default for Keys {
    fn default() -> Self {
        let none = std::array::from_fn(Known::none);
        Self(RefCell::new(none), Slots::default())
    }
}

/// The places of an endpoint's regions, one pointer nearer.
#[derive(Debug)]
pub(super) struct Places(pub(super) NonNull<[Known; PLACES]>);

/// A place, which may have a region.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) peer: u64,
    pub(super) key: u64,
    /// Address of the region; dangling at a place without one.
    pub(super) at: NonNull<RemoteRegion>,
    pub(super) region: Option<Rc<RemoteRegion>>,
}

impl Known {
    /// Returns the place that has the region of a peer under a key, if one has.
    #[inline(always)]
    pub(super) fn find(keys: &[Self; PLACES], peer: u64, key: u64) -> Option<&Self> {
        let known = &keys[place(peer, key)];
        (known.peer == peer && known.key == key).then_some(known)
    }

    /// Makes a place without a region: by a peer and a key that belong elsewhere, so that no
    /// look-up takes it for the place that it looks for.
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
    /// Returns the places, as long as the keys are there.
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
    pub(super) fn keep(&self, peer: u64, key: u64, region: Rc<RemoteRegion>) {
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

    /// Returns the slots of the keys, which programs read.
    pub(super) fn slots(&self) -> &Slots {
        &self.1
    }
}

impl Told for Keys {
    fn forget(&self) {
        self.retain(|_| false);
    }
}
