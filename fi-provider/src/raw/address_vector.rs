//! The peers that an endpoint names by small numbers (fi_av(3)).

use super::address::{Address, Family};
use super::error::Error;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

/// The number of a peer in its address vector (FI_AV_TABLE).
pub type PeerIndex = u32;

/// Addresses and their numbers: a handle, whose clones are the same vector, for the endpoints of a
/// thread.
///
/// To insert an address is to note it: nothing is connected before it is used.
#[derive(Clone, Debug, Default)]
pub struct AddressVector(Rc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    entries: RefCell<Entries>,
    /// Changes with every removal.
    version: Cell<u64>,
}

#[derive(Debug, Default)]
struct Entries {
    /// None where one was removed.
    addresses: Vec<Option<Address>>,
    /// The numbers of removed ones, to be given again: the lowest first.
    free: BinaryHeap<Reverse<PeerIndex>>,
    numbers: HashMap<Address, PeerIndex>,
    /// Numbers of the further contexts of peers, by the peer and the context.
    contexts: HashMap<(PeerIndex, u32), PeerIndex>,
    /// The address of each.
    of_contexts: Vec<Option<Address>>,
}

/// The first number of a further context of a peer.
const CONTEXTS: PeerIndex = 1 << 31;

impl AddressVector {
    /// An empty vector.
    pub fn new() -> Self {
        Self::default()
    }

    /// Inserts an address; returns its number: the lowest that is free, from 0 on, or the one that
    /// it has if it is there. The address of any endpoint of a family stands for all of it.
    ///
    /// # Errors
    /// [`Error::NoRoom`] at 2^31 peers.
    pub fn insert(&self, address: &Address) -> Result<PeerIndex, Error> {
        let address = address.first();
        let mut entries = self.0.entries.borrow_mut();
        if let Some(&number) = entries.numbers.get(&address) {
            return Ok(number);
        }
        let number = match entries.free.pop() {
            Some(Reverse(number)) => number,
            None if entries.addresses.len() == CONTEXTS as usize => return Err(Error::NoRoom),
            None => {
                entries.addresses.push(None);
                (entries.addresses.len() - 1) as PeerIndex
            }
        };
        entries.addresses[number as usize] = Some(address.clone());
        entries.numbers.insert(address, number);
        // An endpoint knows a sender by its number from now on.
        self.0.version.set(self.0.version.get() + 1);
        Ok(number)
    }

    /// Removes a peer. Its number may be another's after that.
    ///
    /// # Errors
    /// [`Error::NoSuchPeer`].
    pub fn remove(&self, peer: PeerIndex) -> Result<(), Error> {
        let mut entries = self.0.entries.borrow_mut();
        let address = entries.addresses.get_mut(peer as usize);
        let address = address.and_then(Option::take).ok_or(Error::NoSuchPeer)?;
        entries.numbers.remove(&address);
        entries.free.push(Reverse(peer));
        let Entries {
            contexts,
            of_contexts,
            ..
        } = &mut *entries;
        let gone = contexts.extract_if(|(of, _), _| *of == peer);
        gone.for_each(|(_, number)| of_contexts[(number - CONTEXTS) as usize] = None);
        self.0.version.set(self.0.version.get() + 1);
        Ok(())
    }

    /// The address of a peer.
    pub fn address(&self, peer: PeerIndex) -> Option<Address> {
        let entries = self.0.entries.borrow();
        let (addresses, at) = match peer.checked_sub(CONTEXTS) {
            None => (&entries.addresses, peer),
            Some(at) => (&entries.of_contexts, at),
        };
        addresses.get(at as usize).cloned().flatten()
    }

    /// The number of an address, which is that of all of its family.
    pub fn find(&self, address: &Address) -> Option<PeerIndex> {
        let entries = self.0.entries.borrow();
        entries.numbers.get(&address.first()).copied()
    }

    /// Returns a number by which operations reach context `index` of a peer: that endpoint of those
    /// of its family that receive. It goes with the peer's own, which is the source of
    /// messages of all its contexts.
    ///
    /// # Errors
    /// [`Error::NoSuchPeer`], also where the family has no such endpoint.
    pub fn context(&self, peer: PeerIndex, index: u32) -> Result<PeerIndex, Error> {
        let mut entries = self.0.entries.borrow_mut();
        if let Some(&number) = entries.contexts.get(&(peer, index)) {
            return Ok(number);
        }
        let first = entries.addresses.get(peer as usize).cloned().flatten();
        let mut address = first.ok_or(Error::NoSuchPeer)?;
        let member = Family::of(address.endpoint).receiver(index);
        address.endpoint = member.ok_or(Error::NoSuchPeer)?.0;
        if index == 0 {
            return Ok(peer);
        }
        let at = PeerIndex::try_from(entries.of_contexts.len());
        let number = at.ok().and_then(|at| at.checked_add(CONTEXTS));
        let number = number.ok_or(Error::NoRoom)?;
        entries.of_contexts.push(Some(address));
        entries.contexts.insert((peer, index), number);
        Ok(number)
    }

    /// Tells whether both handles are of one vector.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Whether a number is that of a further context of a peer.
    pub(crate) fn is_context(peer: PeerIndex) -> bool {
        peer >= CONTEXTS
    }

    /// How many peers there are.
    pub fn len(&self) -> usize {
        self.0.entries.borrow().numbers.len()
    }

    /// Whether there is no peer.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A number that changes when a number gets another meaning.
    #[inline(always)]
    pub(crate) fn version(&self) -> u64 {
        self.0.version.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::address::Port;
    use fi_shm::handover::Ticket;

    fn address(number: u64) -> Address {
        Address {
            process: Ticket::parse(&format!("1-{number:x}-3")).unwrap(),
            endpoint: (number % 5) as u32,
            port: Port::default(),
        }
    }

    #[test]
    fn contexts_of_a_peer_go_with_it() {
        let vector = AddressVector::new();
        let mut scalable = address(10);
        scalable.endpoint = Family::new(8, 3).receiver(0).unwrap().0;
        assert_eq!(vector.insert(&address(1)), Ok(0));
        assert_eq!(vector.insert(&scalable), Ok(1));
        let third = vector.context(1, 3).unwrap();
        assert_eq!(vector.context(1, 3), Ok(third));
        assert_ne!(vector.context(1, 2), Ok(third));
        assert_eq!(vector.context(1, 0), Ok(1));
        for (peer, index) in [(1, 4), (0, 1), (2, 0), (third, 0)] {
            assert_eq!(vector.context(peer, index), Err(Error::NoSuchPeer));
        }
        let of_third = vector.address(third).unwrap();
        assert_eq!(of_third.endpoint, scalable.endpoint + 3);
        assert_eq!(vector.find(&of_third), Some(1), "the source is the peer");
        assert_eq!(vector.insert(&of_third), Ok(1));
        assert_eq!(vector.len(), 2);
        assert_eq!(vector.remove(1), Ok(()));
        assert_eq!(
            (vector.address(third), vector.find(&of_third)),
            (None, None)
        );
    }

    #[test]
    fn a_million_go_in_and_numbers_are_given_again() {
        let vector = AddressVector::new();
        for number in 0..1_000_000 {
            assert_eq!(vector.insert(&address(number)), Ok(number as PeerIndex));
        }
        assert_eq!(vector.insert(&address(7)), Ok(7), "it is there");
        assert_eq!(vector.len(), 1_000_000);
        assert_eq!(vector.address(999_999), Some(address(999_999)));
        let before = vector.version();
        assert_eq!(vector.remove(7), Ok(()));
        assert_eq!(vector.remove(7), Err(Error::NoSuchPeer));
        assert_eq!(vector.remove(1_000_000), Err(Error::NoSuchPeer));
        assert_ne!(vector.version(), before);
        assert_eq!((vector.address(7), vector.find(&address(7))), (None, None));
        assert_eq!(vector.insert(&address(1 << 40)), Ok(7));
        assert_eq!(vector.find(&address(1 << 40)), Some(7));
        for number in [3, 8, 5] {
            assert_eq!(vector.remove(number), Ok(()));
        }
        for number in [3, 5, 8, 1_000_000] {
            let new = address(u64::from(number) + (1 << 41));
            assert_eq!(vector.insert(&new), Ok(number), "the lowest that is free");
        }
    }
}
