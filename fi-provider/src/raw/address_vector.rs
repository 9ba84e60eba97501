//! The peers that an endpoint names by small numbers (fi_av(3)).

use super::address::Address;
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
}

impl AddressVector {
    /// An empty vector.
    pub fn new() -> Self {
        Self::default()
    }

    /// Inserts an address; returns its number: the lowest that is free, from 0 on, or the one that
    /// it has if it is there.
    ///
    /// # Errors
    /// [`Error::NoRoom`] at 2^32 peers.
    pub fn insert(&self, address: &Address) -> Result<PeerIndex, Error> {
        let mut entries = self.0.entries.borrow_mut();
        if let Some(&number) = entries.numbers.get(address) {
            return Ok(number);
        }
        let number = match entries.free.pop() {
            Some(Reverse(number)) => number,
            None => {
                entries.addresses.push(None);
                PeerIndex::try_from(entries.addresses.len() - 1).map_err(|_| Error::NoRoom)?
            }
        };
        entries.addresses[number as usize] = Some(address.clone());
        entries.numbers.insert(address.clone(), number);
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
        self.0.version.set(self.0.version.get() + 1);
        Ok(())
    }

    /// The address of a peer.
    pub fn address(&self, peer: PeerIndex) -> Option<Address> {
        let entries = self.0.entries.borrow();
        entries.addresses.get(peer as usize).cloned().flatten()
    }

    /// The number of an address.
    pub fn find(&self, address: &Address) -> Option<PeerIndex> {
        self.0.entries.borrow().numbers.get(address).copied()
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
