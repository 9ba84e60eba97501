//! The links of an endpoint, and records that wait for room on them.

#![expect(unsafe_code, reason = "borrows the links without a count")]

use super::Endpoint;
use super::link::{Link, Path};
use super::near_path::NearPath;
use super::unguarded::unguarded;
use crate::raw::address::Address;
use crate::raw::address_vector::{AddressVector, PeerIndex};
use crate::raw::domain::Domain;
use crate::raw::error::Error;
use crate::raw::far::Far;
use crate::raw::far::path::FarPath;
use crate::raw::libfabric::Libfabric;
use crate::raw::libfabric::path::LibfabricPath;
use crate::raw::protocol::Kind;
use std::rc::Rc;

/// Transport by which other nodes are reached.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Beyond<'a> {
    Nothing,
    Device(&'a Far),
    Libfabric(&'a Rc<Libfabric>),
}

impl Link {
    /// Connects endpoint `own` of the domain, which reaches others in this way, to the endpoint of
    /// this address: on the node where both are there and a trial succeeds.
    pub(crate) fn open(
        domain: &Domain,
        own: u32,
        beyond: Beyond<'_>,
        address: &Address,
    ) -> Result<Self, Error> {
        let there = address.port;
        let near = if domain.shared().port().may_be_near(there) {
            NearPath::open(domain, own, address)
        } else {
            Err(Error::Unreachable)
        };
        let path = match (near, beyond) {
            (Ok(path), _) => Path::Near(path),
            (Err(Error::Unreachable), Beyond::Device(far)) if there.has_device() => {
                let connected = far.hub.connect(address, || domain.shared().wake())?;
                Path::Far(FarPath::new(far, &connected))
            }
            (Err(Error::Unreachable), Beyond::Libfabric(libfabric)) => {
                Path::Libfabric(LibfabricPath::open(libfabric, address)?)
            }
            (Err(error), _) => return Err(error),
        };
        Ok(Self::by(path, own, address))
    }
}

impl Endpoint {
    /// Calls `act` with the link to a peer.
    #[inline(always)]
    pub(super) fn with_link<T>(
        &self,
        peer: PeerIndex,
        act: impl FnOnce(&Rc<Link>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.seen.get() == self.vector.version()
            && let Some(Some(link)) = self.links.borrow().get(peer as usize)
        {
            return act(link);
        }
        act(&self.connect(peer)?)
    }

    /// Returns the link to a peer that was sent to before, without a handle to it. Returns none
    /// also where no peer can have the number.
    ///
    /// # Safety
    /// Until the last use of the reference, no function is called that borrows the links.
    #[inline(always)]
    pub(super) unsafe fn link_now(&self, peer: u64) -> Option<&Link> {
        // SAFETY: no other reference is there: functions of the endpoint that borrow the links call
        // nothing of the program's; the endpoint is of one thread, as its cells are; and none of those
        // that are called meanwhile borrows them.
        let links = unsafe { unguarded(&self.links) };
        if self.seen.get() != self.vector.version() {
            return None;
        }
        links.get(peer as usize)?.as_deref()
    }

    #[cold]
    fn connect(&self, peer: PeerIndex) -> Result<Rc<Link>, Error> {
        if self.seen.get() != self.vector.version() {
            self.links.borrow_mut().clear();
            self.seen.set(self.vector.version());
        }
        let address = self.vector.address(peer).ok_or(Error::NoSuchPeer)?;
        let link = self.link_to(&address)?;
        if AddressVector::is_context(peer) {
            return Ok(link);
        }
        let mut links = self.links.borrow_mut();
        if links.len() <= peer as usize {
            links.resize_with(peer as usize + 1, || None);
        }
        links[peer as usize] = Some(Rc::clone(&link));
        Ok(link)
    }

    /// Learns of a peer that another process has inserted into the address vector, if that is shared:
    /// before a receive that takes messages of this peer alone.
    #[inline(always)]
    pub fn get_to_know(&self, peer: PeerIndex) {
        self.vector.get_to_know(peer);
    }

    /// Returns the link to an endpoint.
    pub(super) fn link_to(&self, address: &Address) -> Result<Rc<Link>, Error> {
        if let Some(link) = self.known.borrow().get(address) {
            return Ok(Rc::clone(link));
        }
        let beyond = match (&self.far, &self.libfabric) {
            (Some(far), _) => Beyond::Device(far),
            (None, Some(libfabric)) => Beyond::Libfabric(libfabric),
            (None, None) => Beyond::Nothing,
        };
        let link = Rc::new(Link::open(&self.domain, self.number, beyond, address)?);
        let known = (address.clone(), Rc::clone(&link));
        self.known.borrow_mut().insert(known.0, known.1);
        Ok(link)
    }

    /// Sends a record now or when there is room.
    pub(crate) fn owe(&self, link: &Rc<Link>, kind: Kind, words: [u64; 3]) {
        let mut owed = link.owed.borrow_mut();
        if owed.is_empty() {
            if link.tell(kind, words) != Err(Error::Again) {
                return;
            }
            self.owing.borrow_mut().push(Rc::clone(link));
            self.note_work();
        }
        owed.push_back((kind, words));
    }

    /// Returns the links that go by the device.
    pub(crate) fn far_links(&self) -> Vec<Rc<Link>> {
        let known = self.known.borrow();
        let far = known.values().filter(|link| link.far().is_some());
        far.cloned().collect()
    }

    /// Returns the links that go by libfabric.
    pub(crate) fn libfabric_links(&self) -> Vec<Rc<Link>> {
        let known = self.known.borrow();
        let links = known.values().filter(|link| link.libfabric().is_some());
        links.cloned().collect()
    }
}
