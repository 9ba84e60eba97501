//! The peers that an endpoint names by small numbers (fi_av(3)).

use super::address::{Address, Family};
use super::error::Error;
pub use super::peer::PeerIndex;
use super::shared_table::{Change, SharedTable, TableTurn};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt::Debug;
use std::rc::{Rc, Weak};

/// Addresses and their numbers: a handle, whose clones are the same vector, for the endpoints of a
/// thread.
///
/// To insert an address is to note it: nothing is connected before it is used.
#[derive(Clone, Debug, Default)]
pub struct AddressVector(Rc<Inner>);

/// Keeper of entries under the numbers of peers.
pub(crate) trait Told: Debug {
    /// Lets all of it go, as a number may be of another peer, or of none.
    fn forget(&self);
}

#[derive(Debug, Default)]
struct Inner {
    entries: RefCell<Entries>,
    /// Changes with every insertion and every removal.
    version: Cell<u64>,
    /// Listeners that are told of removals.
    told: RefCell<Vec<Weak<dyn Told>>>,
    /// The table that processes share, and the number of its changes that the entries have.
    shared: Option<(SharedTable, Cell<u64>)>,
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
    /// Makes an empty vector.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the vector of this name, of 1 to 100 bytes, which processes of one user on a node share
    /// (fi_av(3), name): all give the same numbers. It lasts as long as one has it open. Where there
    /// is none, it is made, if it `may_change`. Otherwise it may not be changed by this handle
    /// (FI_READ).
    ///
    /// A process learns of the changes of others when it inserts or removes, and when it uses a
    /// number or gets a message of a sender that it does not know.
    ///
    /// # Errors
    /// [`Error::System`], with ENOENT where there is no such vector, ENAMETOOLONG, and EACCES where
    /// the name is another user's; [`Error::Broken`] where the processes do not run the same version.
    pub fn open_shared(name: &[u8], may_change: bool) -> Result<Self, Error> {
        let table = SharedTable::open(name, may_change)?;
        let shared = Some((table, Cell::new(0)));
        let vector = Self(Rc::new(Inner {
            shared,
            ..Inner::default()
        }));
        vector.catch_up()?;
        Ok(vector)
    }

    /// Returns the numbers of a shared vector's peers 0 to 2^20 - 1, which change as it does: each
    /// has its own number, `u64::MAX` after it was removed, and 0 before. They may be read as long as
    /// the vector is open.
    pub fn shared_numbers(&self) -> Option<*const u64> {
        self.0.shared.as_ref().map(|(table, _)| table.numbers())
    }

    /// Returns whether this handle may be used to change the vector.
    pub fn may_change(&self) -> bool {
        let shared = self.0.shared.as_ref();
        shared.is_none_or(|(table, _)| table.may_change())
    }

    /// Follows the changes of other processes to a shared vector; returns the turn at its table.
    fn catch_up(&self) -> Result<Option<TableTurn<'_>>, Error> {
        let Some((table, known)) = &self.0.shared else {
            return Ok(None);
        };
        let (changes, turn) = table.after(known.get())?;
        let mut entries = self.0.entries.borrow_mut();
        for change in &changes {
            match change {
                Change::Inserted(address) => {
                    entries.insert(address)?;
                }
                Change::Removed(address) => {
                    let peer = entries.numbers.get(address).copied();
                    entries.remove(peer.ok_or(Error::Broken)?)?;
                }
            }
        }
        drop(entries);
        if !changes.is_empty() {
            known.set(known.get() + changes.len() as u64);
            self.0.change();
            self.0.tell_removal();
        }
        Ok(Some(turn))
    }

    /// Learns of changes by other processes, where a look has found nothing. Returns whether there
    /// was anything.
    #[cold]
    #[inline(never)]
    fn has_news(&self) -> bool {
        let before = self.version();
        // A file that cannot be read is not there.
        self.catch_up().is_ok() && self.version() != before
    }

    /// Writes a change of the own process for others.
    fn tell(
        &self,
        turn: Option<TableTurn<'_>>,
        change: &Change,
        number: PeerIndex,
    ) -> Result<(), Error> {
        if let (Some(mut turn), Some((_, known))) = (turn, &self.0.shared) {
            turn.write(change, number)?;
            known.set(known.get() + 1);
        }
        Ok(())
    }

    /// Inserts an address; returns its number: the lowest that is free, from 0 on, or the one that
    /// it has if it is there. The address of any endpoint of a family stands for all of it.
    ///
    /// # Errors
    /// [`Error::NoRoom`] at 2^31 peers; of a shared vector also [`Error::NotAllowed`] where it was
    /// opened for reading alone, [`Error::System`] and [`Error::Broken`].
    pub fn insert(&self, address: &Address) -> Result<PeerIndex, Error> {
        let address = address.first();
        if !self.may_change() {
            return Err(Error::NotAllowed);
        }
        let turn = self.catch_up()?;
        let mut entries = self.0.entries.borrow_mut();
        if let Some(&number) = entries.numbers.get(&address) {
            return Ok(number);
        }
        let number = entries.next_number()?;
        self.tell(turn, &Change::Inserted(address.clone()), number)?;
        entries.insert(&address)?;
        // An endpoint knows a sender by its number from now on.
        self.0.change();
        Ok(number)
    }

    /// Removes a peer. Its number may be another's after that, but not in a shared vector: other
    /// processes may not know yet.
    ///
    /// # Errors
    /// [`Error::NoSuchPeer`]; of a shared vector also those of [`AddressVector::insert`].
    pub fn remove(&self, peer: PeerIndex) -> Result<(), Error> {
        if !self.may_change() {
            return Err(Error::NotAllowed);
        }
        let turn = self.catch_up()?;
        let mut entries = self.0.entries.borrow_mut();
        let address = entries.addresses.get(peer as usize);
        let address = address.cloned().flatten().ok_or(Error::NoSuchPeer)?;
        self.tell(turn, &Change::Removed(address), peer)?;
        entries.remove(peer)?;
        if self.0.shared.is_none() {
            entries.free.push(Reverse(peer));
        }
        drop(entries);
        self.0.change();
        self.0.tell_removal();
        Ok(())
    }

    /// Has somebody told of removals, as long as it is there.
    pub(crate) fn tell_removals(&self, to: Weak<dyn Told>) {
        let mut told = self.0.told.borrow_mut();
        told.retain(|one| one.strong_count() > 0);
        told.push(to);
    }

    /// Returns the address of a peer.
    pub fn address(&self, peer: PeerIndex) -> Option<Address> {
        let look = || self.0.entries.borrow().address(peer);
        look().or_else(|| if self.has_news() { look() } else { None })
    }

    /// Returns the number of an address, which is that of all of its family.
    pub fn find(&self, address: &Address) -> Option<PeerIndex> {
        let address = address.first();
        let look = || self.0.entries.borrow().numbers.get(&address).copied();
        look().or_else(|| if self.has_news() { look() } else { None })
    }

    /// Learns of a peer that another process has inserted into a shared vector.
    #[inline(always)]
    pub(crate) fn get_to_know(&self, peer: PeerIndex) {
        if self.0.shared.is_some() {
            self.address(peer);
        }
    }

    /// Returns a number by which operations reach context `index` of a peer: that endpoint of those
    /// of its family that receive. It goes with the peer's own, which is the source of
    /// messages of all its contexts.
    ///
    /// # Errors
    /// [`Error::NoSuchPeer`], also where the family has no such endpoint.
    pub fn context(&self, peer: PeerIndex, index: u32) -> Result<PeerIndex, Error> {
        self.get_to_know(peer);
        self.0.entries.borrow_mut().context(peer, index)
    }

    /// Tells whether both handles are of one vector.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Returns whether a number is that of a further context of a peer.
    pub(crate) fn is_context(peer: PeerIndex) -> bool {
        peer >= CONTEXTS
    }

    /// Returns the number of peers, as far as this process knows.
    pub fn len(&self) -> usize {
        self.0.entries.borrow().numbers.len()
    }

    /// Returns whether there is no peer.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a number that changes when a number gets another meaning.
    #[inline(always)]
    pub(crate) fn version(&self) -> u64 {
        self.0.version.get()
    }
}

impl Inner {
    /// Notes that numbers have got other meanings.
    fn change(&self) {
        self.version.set(self.version.get() + 1);
    }

    /// Tells of a removal.
    fn tell_removal(&self) {
        let told: Vec<_> = self
            .told
            .borrow()
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        told.iter().for_each(|one| one.forget());
    }
}

impl Entries {
    /// Returns the number that the next new address gets.
    fn next_number(&self) -> Result<PeerIndex, Error> {
        match self.free.peek() {
            Some(&Reverse(number)) => Ok(number),
            None if self.addresses.len() == CONTEXTS as usize => Err(Error::NoRoom),
            None => Ok(self.addresses.len() as PeerIndex),
        }
    }

    /// Inserts an address that is not there.
    fn insert(&mut self, address: &Address) -> Result<(), Error> {
        let number = self.next_number()?;
        if self.free.pop().is_none() {
            self.addresses.push(None);
        }
        self.addresses[number as usize] = Some(address.clone());
        self.numbers.insert(address.clone(), number);
        Ok(())
    }

    /// Removes a peer; its number is not free yet.
    fn remove(&mut self, peer: PeerIndex) -> Result<(), Error> {
        let address = self.addresses.get_mut(peer as usize);
        let address = address.and_then(Option::take).ok_or(Error::NoSuchPeer)?;
        self.numbers.remove(&address);
        let Self {
            contexts,
            of_contexts,
            ..
        } = self;
        let gone = contexts.extract_if(|(of, _), _| *of == peer);
        gone.for_each(|(_, number)| of_contexts[(number - CONTEXTS) as usize] = None);
        Ok(())
    }

    /// Returns the address of a peer, or of a context of one.
    fn address(&self, peer: PeerIndex) -> Option<Address> {
        let (addresses, at) = match peer.checked_sub(CONTEXTS) {
            None => (&self.addresses, peer),
            Some(at) => (&self.of_contexts, at),
        };
        addresses.get(at as usize).cloned().flatten()
    }

    /// Returns the number of a context of a peer.
    fn context(&mut self, peer: PeerIndex, index: u32) -> Result<PeerIndex, Error> {
        if let Some(&number) = self.contexts.get(&(peer, index)) {
            return Ok(number);
        }
        let first = self.addresses.get(peer as usize).cloned().flatten();
        let mut address = first.ok_or(Error::NoSuchPeer)?;
        let member = Family::of(address.endpoint).receiver(index);
        address.endpoint = member.ok_or(Error::NoSuchPeer)?.0;
        if index == 0 {
            return Ok(peer);
        }
        let at = PeerIndex::try_from(self.of_contexts.len());
        let number = at.ok().and_then(|at| at.checked_add(CONTEXTS));
        let number = number.ok_or(Error::NoRoom)?;
        self.of_contexts.push(Some(address));
        self.contexts.insert((peer, index), number);
        Ok(number)
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "reads the numbers of a shared vector")]
mod tests {
    use super::*;
    use crate::raw::address::Port;
    use fi_shm::handover::Ticket;

    fn address(number: u64) -> Address {
        Address {
            process: Ticket::parse(&format!("1-{number:x}-3")).unwrap(),
            endpoint: (number % 5) as u32,
            port: Port::default(),
            name: None,
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

    #[derive(Debug, Default)]
    struct Times(Cell<usize>);

    impl Told for Times {
        fn forget(&self) {
            self.0.set(self.0.get() + 1);
        }
    }

    #[test]
    fn removals_are_told() {
        let name = format!("told {}", std::process::id()).into_bytes();
        let open = || AddressVector::open_shared(&name, true).unwrap();
        let (one, other, alone) = (open(), open(), AddressVector::new());
        for vector in [&one, &alone] {
            let times = Rc::new(Times::default());
            let told: Weak<dyn Told> = Rc::downgrade(&times) as _;
            vector.tell_removals(told);
            let is_told = || times.0.take() > 0;
            assert_eq!(vector.insert(&address(1)), Ok(0));
            assert_eq!(vector.insert(&address(2)), Ok(1));
            assert!(!is_told(), "no number has another meaning");
            assert_eq!(vector.remove(0), Ok(()));
            assert!(is_told());
            assert_eq!(vector.remove(0), Err(Error::NoSuchPeer));
            assert!(!is_told());
        }
        // One of another process, as soon as this one learns of it.
        let times = Rc::new(Times::default());
        let told: Weak<dyn Told> = Rc::downgrade(&times) as _;
        one.tell_removals(told);
        assert_eq!(other.remove(1), Ok(()));
        assert_eq!(one.find(&address(3)), None);
        assert_eq!(times.0.get(), 1);
        drop(times);
        assert_eq!(one.insert(&address(4)), Ok(2));
    }

    #[test]
    fn a_shared_vector_is_the_same_for_all() {
        let name = format!("vector {}", std::process::id()).into_bytes();
        let open = |may_change| AddressVector::open_shared(&name, may_change);
        assert_eq!(open(false).err(), Some(Error::System(libc::ENOENT)));
        let (one, two, reader) = (
            open(true).unwrap(),
            open(true).unwrap(),
            open(false).unwrap(),
        );
        assert_eq!(one.insert(&address(1)), Ok(0));
        assert_eq!(two.insert(&address(2)), Ok(1));
        assert_eq!(one.insert(&address(2)), Ok(1), "it is there");
        assert_eq!(reader.insert(&address(3)), Err(Error::NotAllowed));
        assert_eq!(reader.remove(0), Err(Error::NotAllowed));
        assert_eq!(reader.address(1), Some(address(2)));
        assert_eq!(reader.find(&address(1)), Some(0));
        // Others do not learn of removals at once: a number has one meaning.
        let removals = (two.remove(0), one.remove(0), one.insert(&address(4)));
        assert_eq!(removals, (Ok(()), Err(Error::NoSuchPeer), Ok(2)));
        assert_eq!(two.remove(1), Ok(()));
        let before = reader.version();
        assert_eq!(reader.address(1), Some(address(2)));
        assert_eq!(reader.find(&address(4)), Some(2));
        assert_ne!(reader.version(), before);
        assert_eq!((reader.address(1), reader.len()), (None, 1));
        let numbers = reader.shared_numbers().unwrap();
        // SAFETY: the vector is open, which has more numbers.
        let of = |at| unsafe { numbers.add(at).read_volatile() };
        assert_eq!((of(1), of(2), of(3)), (u64::MAX, 2, 0));
        assert_eq!(one.insert(&address(2)), Ok(3));
        assert_eq!(of(3), 3);
        drop((one, two));
        assert_eq!(open(true).unwrap().find(&address(2)), Some(3));
        drop(reader);
        assert!(open(true).unwrap().is_empty(), "another one");
    }
}
