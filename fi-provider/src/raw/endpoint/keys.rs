//! Operations on the region of a key, without a look-up of the caller's own.

use super::Endpoint;
use super::rma::RemoteRegion;
use crate::raw::address_vector::PeerIndex;
use crate::raw::error::Error;
use std::cell::RefCell;
use std::rc::Rc;

/// Regions that are kept: each at the place of its peer and key.
const PLACES: usize = 256;

/// Regions of peers that were looked up.
#[derive(Debug, Default)]
pub(crate) struct Keys(RefCell<Vec<Option<Known>>>);

#[derive(Debug)]
struct Known {
    peer: PeerIndex,
    key: u64,
    /// The version of the address vector by which the number is the peer's.
    version: u64,
    region: Rc<RemoteRegion>,
}

#[inline(always)]
fn place(peer: PeerIndex, key: u64) -> usize {
    (key ^ u64::from(peer).wrapping_mul(31)) as usize % PLACES
}

impl Keys {
    /// Lets regions go.
    pub(crate) fn retain(&self, is_wanted: impl Fn(&RemoteRegion) -> bool) {
        for slot in self.0.borrow_mut().iter_mut() {
            slot.take_if(|known| !is_wanted(&known.region));
        }
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
        let known = keys.get(place(peer, key))?.as_ref()?;
        let is_it = (known.peer, known.key, known.version) == (peer, key, self.vector.version());
        is_it.then(|| Rc::clone(&known.region))
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
        let mut keys = self.keys.0.borrow_mut();
        keys.resize_with(PLACES, || None);
        keys[place(peer, key)] = Some(Known {
            peer,
            key,
            version: self.vector.version(),
            region,
        });
        done
    }
}
