//! Memory that peers may reach: regions with keys (fi_mr(3)), and the table in which peers find them.
//!
//! The table lies at the begin of the arena, so that a peer of the node looks a key up by loads. An
//! entry has a state with a generation: closing a region changes it, and a peer that has resolved
//! the key sees that at its next operation. A store of a peer that is past this test may still land.
//!
//! Peers can write to the arena, and so to the table. The owner never reads it: it decides by a copy
//! of its own.

#![expect(
    unsafe_code,
    reason = "the table lies in memory that processes share, and regions are raw memory"
)]

mod beyond;
mod table;

pub(crate) use beyond::Beyond;
pub(crate) use table::{
    Access, Found, HEAD_BYTES, SLOT_BYTES, SLOTS, Seen, State, TABLE_BYTES, Table, first_slot,
};

use super::arena::Arena;
use super::atomic::Atomic;
use super::error::Error;
use super::far::device::Device;
use super::inbox::Belfry;
pub use super::rights::{Addressing, Rights};
use fi_mlx5::device as hca;
use fi_mlx5::lane::Local;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use table::{Counts, NEAR};

/// Numbers of accesses of peers to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// Writes and atomic operations.
    pub writes: u64,
    /// Reads.
    pub reads: u64,
}

impl Accesses {
    fn and(self, other: Self) -> Self {
        Self {
            writes: self.writes.wrapping_add(other.writes),
            reads: self.reads.wrapping_add(other.reads),
        }
    }
}

/// The own table, and the arena that it describes.
#[derive(Debug)]
pub(crate) struct Regions {
    /// Written for peers, never read.
    table: Table,
    pub(crate) arena: Arc<Arena>,
    pub(crate) belfry: Belfry,
    own: Mutex<Own>,
    /// The device, and the table as it knows that.
    far: Option<(Arc<Device>, hca::Region)>,
    /// Regions as the device knows them, by where they begin.
    local: Mutex<BTreeMap<usize, LocalRegion>>,
}

/// Own copy of the facts that the table tells peers, where they cannot write it.
#[derive(Debug)]
struct Own {
    regions: HashMap<u64, Found>,
    /// The counts of regions as the device knows them.
    counts: HashMap<u64, hca::Region>,
    /// Accesses to regions that are closed.
    before: Accesses,
    /// The entries that are used.
    used: HashSet<usize>,
    /// The last state that an entry was given: each has a generation of its own.
    last: State,
    /// The next key that the fabric chooses.
    next_key: u64,
}

impl Own {
    /// Returns a state with these flags, which no entry has had.
    fn next(&mut self, flags: u64) -> State {
        self.last = self.last.next(flags);
        if self.last.0 == 0 {
            // That of an entry that was never used.
            self.last = self.last.next(flags);
        }
        self.last
    }
}

// SAFETY: the table's words are atomic, and its memory is the arena's, which the value holds.
unsafe impl Send for Regions {}
// SAFETY: the table's words are atomic; it is written under the lock.
unsafe impl Sync for Regions {}

/// A region as own entries name it.
#[derive(Clone, Copy, Debug)]
struct LocalRegion {
    /// The address of its first byte, as peers give it, too.
    start: u64,
    len: usize,
    key: u32,
    /// The key by which peers read it, if they may.
    readable: Option<u32>,
}

/// Keys that the fabric chooses are from here on.
const FIRST_KEY: u64 = 1 << 40;

impl Regions {
    /// Places the table at the begin of a new arena; peers find it over the device, too.
    pub(crate) fn new(arena: Arc<Arena>, device: Option<&Arc<Device>>) -> Result<Self, Error> {
        let at = arena.take(HEAD_BYTES)?;
        debug_assert_eq!(at, 0);
        // SAFETY: the bytes were just taken, and are mapped as long as the arena, which `self` holds.
        let table = unsafe { Table::at(arena.at(at)) };
        let far = device.map(|device| {
            let bytes = (arena.at(at), TABLE_BYTES);
            // SAFETY: the bytes are mapped as long as the arena, which `self` holds, and any bytes
            // there are atomic integers.
            let region = unsafe { device.register(bytes, Rights::READ, Addressing::Virtual) };
            Ok::<_, Error>((Arc::clone(device), region?))
        });
        let own = Own {
            regions: HashMap::new(),
            counts: HashMap::new(),
            before: Accesses::default(),
            used: HashSet::new(),
            last: State(0),
            next_key: FIRST_KEY,
        };
        Ok(Self {
            table,
            arena,
            belfry: Belfry::default(),
            own: Mutex::new(own),
            far: far.transpose()?,
            local: Mutex::default(),
        })
    }

    /// Returns the place of the table for peers that read it over the device: address and remote
    /// key.
    pub(crate) fn for_peers(&self) -> (u64, u32) {
        let key = self.far.as_ref().map_or(0, |(_, region)| region.rkey());
        (self.arena.at(0).addr() as u64, key)
    }

    /// Registers memory with the device, if there is one.
    ///
    /// # Safety
    /// As for [`Device::register`].
    unsafe fn register(
        &self,
        bytes: (*mut u8, usize),
        rights: Rights,
        addressing: Addressing,
    ) -> Result<Option<hca::Region>, Error> {
        // The device registers no empty memory.
        let Some((device, _)) = self.far.as_ref().filter(|_| bytes.1 > 0) else {
            return Ok(None);
        };
        // SAFETY: the bytes stay mapped, writable where the rights say so, until the region is
        // dropped, and others write them at any time.
        let region = unsafe { device.register(bytes, rights, addressing)? };
        Ok(Some(region))
    }

    /// Tells whether the device does an atomic operation on words of `bytes` bytes.
    pub(crate) fn device_does(&self, operation: Atomic, bytes: usize) -> bool {
        let device = self.far.as_ref();
        device.is_some_and(|(device, _)| device.does(operation, bytes))
    }

    fn local(&self) -> MutexGuard<'_, BTreeMap<usize, LocalRegion>> {
        self.local.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the region that has all of `bytes` bytes at `address`, and the address by which the
    /// device knows them.
    fn known(&self, address: usize, bytes: usize) -> Option<(u64, LocalRegion)> {
        let local = self.local();
        let (start, region) = local.range(..=address).next_back()?;
        let offset = address - start;
        let end = offset.checked_add(bytes)?;
        (end <= region.len).then(|| (region.start + offset as u64, *region))
    }

    /// Returns the memory of a region, for own entries, that has all of `bytes` bytes at `address`.
    pub(crate) fn local_memory(&self, address: usize, bytes: usize) -> Option<Local> {
        let (address, region) = self.known(address, bytes)?;
        Some(Local {
            address,
            length: bytes as u32,
            key: region.key,
        })
    }

    /// Returns the address and the key by which peers read `bytes` bytes at `address`, where they
    /// may.
    pub(crate) fn remote_memory(&self, address: usize, bytes: usize) -> Option<(u64, u32)> {
        let (address, region) = self.known(address, bytes)?;
        region.readable.map(|key| (address, key))
    }

    /// Returns the own region of `key`.
    pub(crate) fn find(&self, key: u64) -> Option<Found> {
        self.lock().regions.get(&key).copied()
    }

    fn lock(&self) -> MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters `len` bytes at `address` of this process; returns the key.
    pub(crate) fn insert(
        &self,
        (address, len): (usize, usize),
        rights: Rights,
        key: Option<u64>,
        addressing: Addressing,
        device_key: u32,
    ) -> Result<u64, Error> {
        let mut own = self.lock();
        let key = match key {
            Some(key) if own.regions.contains_key(&key) => return Err(Error::KeyTaken),
            Some(key) => key,
            None => {
                while own.regions.contains_key(&own.next_key) {
                    own.next_key = own.next_key.wrapping_add(1);
                }
                let key = own.next_key;
                // Peers may know a region that was closed by its key: another one has another.
                own.next_key = key.wrapping_add(1);
                key
            }
        };
        let first = first_slot(key);
        let mut slots = (first..first + SLOTS).map(|slot| slot % SLOTS);
        let slot = slots.find(|slot| !own.used.contains(slot));
        let slot = slot.ok_or(Error::NoRoom)?;
        let in_arena = self.arena.offset_of(address);
        let flags = State::USED
            | if in_arena.is_some() { State::ARENA } else { 0 }
            | u64::from(rights.0) << State::RIGHTS;
        let mut found = Found {
            slot,
            state: own.next(flags),
            base: in_arena.unwrap_or(address) as u64,
            len: len as u64,
            start: addressing.start(address),
            device_key,
            counts_key: 0,
        };
        if found.state.is_counted()
            && let Some(region) = self.open_counts(&found)?
        {
            found.counts_key = region.rkey();
            own.counts.insert(key, region);
        }
        own.used.insert(slot);
        own.regions.insert(key, found);
        self.table.enter(key, &found);
        Ok(key)
    }

    /// Returns the counts of a region.
    fn counts(&self, found: &Found) -> &Counts {
        let counts = self.arena.at(found.counts()).cast::<Counts>();
        // SAFETY: the counts lie behind the table, in the bytes that `new` has taken with it, which
        // are mapped as long as `self`; they are aligned, and any bytes are atomic integers.
        unsafe { &*counts }
    }

    /// Begins to count the accesses to a region; returns those of its counts that the device may
    /// add to, if there is one.
    fn open_counts(&self, found: &Found) -> Result<Option<hca::Region>, Error> {
        let counts = self.counts(found);
        // ORDERING: before the release store by which peers find the region. An access of a peer to
        // the region that had the entry before may still be counted here.
        counts
            .iter()
            .for_each(|count| count.store(0, Ordering::Relaxed));
        let of_devices = &counts[NEAR..];
        let bytes = (
            of_devices.as_ptr().cast_mut().cast(),
            size_of_val(of_devices),
        );
        // SAFETY: the bytes are mapped as long as the arena, which `self` holds, and atomic
        // integers.
        unsafe { self.register(bytes, Rights::ALL, Addressing::Virtual) }
    }

    /// Returns the number of accesses of peers to a region.
    fn accesses_to(&self, found: &Found) -> Accesses {
        if !found.state.is_counted() {
            return Accesses::default();
        }
        let counts = self.counts(found);
        let sum = |access: Access| {
            let both = [access as usize, NEAR + access as usize];
            // ORDERING: pairs with the additions in `count`, and in `RemoteRegion::count`: the bytes
            // that were written before are there. The device's come in the order of its queue.
            let both = both.map(|at| counts[at].load(Ordering::Acquire));
            both[0].wrapping_add(both[1])
        };
        Accesses {
            writes: sum(Access::Write),
            reads: sum(Access::Read),
        }
    }

    /// Returns the number of accesses of peers to the region of `key`.
    fn accesses(&self, key: u64) -> Accesses {
        let found = self.find(key);
        found.map_or(Accesses::default(), |found| self.accesses_to(&found))
    }

    /// Returns the number of accesses of peers to all regions that count, closed ones, too.
    pub(crate) fn all_accesses(&self) -> Accesses {
        let own = self.lock();
        let open = own.regions.values().map(|found| self.accesses_to(found));
        open.fold(own.before, Accesses::and)
    }

    /// Counts an access that this process has done for a peer.
    pub(crate) fn count(&self, found: &Found, access: Access) {
        if found.state.is_counted() {
            // ORDERING: behind the access; pairs with the loads in `accesses_to`.
            self.counts(found)[access as usize].fetch_add(1, Ordering::Release);
        }
    }

    /// Closes the region of `key`.
    pub(crate) fn close(&self, key: u64) {
        let mut own = self.lock();
        if let Some(found) = own.regions.remove(&key) {
            own.used.remove(&found.slot);
            own.before = own.before.and(self.accesses_to(&found));
            own.counts.remove(&key);
            self.table.strike(&found, own.next(0));
        }
    }
}

/// A region: closed when it is dropped.
#[derive(Debug)]
pub struct Region {
    regions: Arc<Regions>,
    key: u64,
    /// Its begin, if the device knows it, and the device's region, which ends behind the entry's.
    far: Option<(usize, hca::Region)>,
}

impl Region {
    /// Makes memory a region.
    ///
    /// # Safety
    /// As for [`Domain::register`](super::domain::Domain::register).
    pub(crate) unsafe fn new(
        regions: &Arc<Regions>,
        (memory, len): (*mut u8, usize),
        rights: Rights,
        key: Option<u64>,
        addressing: Addressing,
    ) -> Result<Self, Error> {
        // Its bytes are found by the address again.
        let range = (memory.expose_provenance(), len);
        if range.0.checked_add(len).is_none() {
            return Err(Error::OutOfRange);
        }
        // SAFETY: the bytes stay mapped, writable where the rights say so, until the region is
        // dropped, and peers write them.
        let far = unsafe { regions.register((memory, len), rights, addressing)? };
        let device_key = far.as_ref().map_or(0, hca::Region::rkey);
        let key = regions.insert(range, rights, key, addressing, device_key)?;
        if let Some(region) = &far {
            let known = LocalRegion {
                start: addressing.start(range.0),
                len,
                key: region.lkey(),
                readable: rights.has(Rights::READ).then(|| region.rkey()),
            };
            regions.local().insert(range.0, known);
        }
        Ok(Self {
            regions: Arc::clone(regions),
            key,
            far: far.map(|region| (range.0, region)),
        })
    }

    /// Returns the key by which peers name the region.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Returns the number of accesses of peers to the region, if it has [`Rights::COUNTED`]
    /// (fi_mr_bind with FI_REMOTE_WRITE and FI_REMOTE_READ). The bytes of a write that is counted
    /// are there.
    pub fn accesses(&self) -> Accesses {
        self.regions.accesses(self.key)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        self.regions.close(self.key);
        if let Some((start, region)) = &self.far {
            let mut local = self.regions.local();
            if local.get(start).is_some_and(|one| one.key == region.lkey()) {
                local.remove(start);
            }
        }
    }
}

/// Memory of the arena, which peers of the node map, and its region: closed and given back when it
/// is dropped.
#[derive(Debug)]
pub struct Memory {
    /// Closed before the memory is given back.
    region: Option<Region>,
    arena: Arc<Arena>,
    at: usize,
    len: usize,
}

impl Memory {
    /// Takes `len` bytes of the arena and makes them a region.
    pub(crate) fn new(
        regions: &Arc<Regions>,
        len: usize,
        rights: Rights,
        key: Option<u64>,
        addressing: Addressing,
    ) -> Result<Self, Error> {
        let arena = Arc::clone(&regions.arena);
        let at = arena.take(len)?;
        let mut memory = Self {
            region: None,
            arena,
            at,
            len,
        };
        let bytes = (memory.as_ptr(), len);
        // SAFETY: the bytes are mapped and this value's as long as the region.
        memory.region = Some(unsafe { Region::new(regions, bytes, rights, key, addressing)? });
        Ok(memory)
    }

    /// Returns the key by which peers name the memory.
    pub fn key(&self) -> u64 {
        self.region.as_ref().map_or(0, Region::key)
    }

    /// Returns the number of accesses of peers to the memory, as [`Region::accesses`] does.
    pub fn accesses(&self) -> Accesses {
        self.region
            .as_ref()
            .map_or(Accesses::default(), Region::accesses)
    }

    /// Returns the first byte, at the begin of a page; zeroed when it was allocated.
    ///
    /// Peers read and write the memory at any time: use it by raw or atomic accesses.
    pub fn as_ptr(&self) -> *mut u8 {
        self.arena.at(self.at)
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns word number `index`, for atomic accesses.
    ///
    /// # Panics
    /// If the memory has no such word.
    pub fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.len / 8, "word {index} of {} bytes", self.len);
        // SAFETY: the word is in the memory, which is mapped as long as `self`, aligned, and any
        // bytes are an atomic integer.
        unsafe { &*self.as_ptr().cast::<AtomicU64>().add(index) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.region = None;
        // SAFETY: the memory is this value's, whose user lends it to nobody in this process, and its
        // region is closed. A store of a peer that is past its test may still land there, as the
        // module says.
        unsafe { self.arena.give_back(self.at, self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions() -> Arc<Regions> {
        let arena = Arc::new(Arena::new(HEAD_BYTES + (1 << 20)).unwrap());
        Arc::new(Regions::new(arena, None).unwrap())
    }

    #[test]
    fn a_key_is_found_until_it_is_closed_and_then_anew() {
        let regions = regions();
        let memory = |key| Memory::new(&regions, 100, Rights::ALL, key, Addressing::Offset);
        let first = memory(Some(7)).unwrap();
        let found = regions.table.find(7).unwrap();
        assert_eq!((found.len, found.start), (100, 0));
        assert_eq!(
            regions.find(7),
            Some(found),
            "the owner and its peers agree"
        );
        assert!(found.state.is_in_arena() && found.state.allows(Rights::ATOMIC));
        assert_eq!(found.offset(90, 10), Some(90));
        assert_eq!(found.offset(91, 10), None);
        assert_eq!(found.offset(u64::MAX, 1), None);
        let start = u64::MAX - 7;
        let at_the_end = Found {
            start,
            base: start,
            ..found
        };
        assert_eq!(at_the_end.offset(2, 10), Some(10));
        assert_eq!(
            at_the_end.place(2),
            2,
            "as of a region that a peer has made up"
        );
        assert_eq!(memory(Some(7)).unwrap_err(), Error::KeyTaken);
        drop(first);
        assert!(regions.table.find(7).is_none() && regions.find(7).is_none());
        let _second = memory(Some(7)).unwrap();
        let again = regions.table.find(7).unwrap();
        assert_ne!(again.state, found.state, "another generation");
    }

    #[test]
    fn keys_that_fall_on_one_place_are_told_apart() {
        let regions = regions();
        let at = first_slot(0);
        let others = (1..).filter(|&key| first_slot(key) == at).take(3);
        let keys: Vec<u64> = std::iter::once(0).chain(others).collect();
        let own: Vec<u8> = vec![0; 4];
        let insert = |&key: &u64| {
            let byte = (own.as_ptr().addr() + key as usize % 4, 1);
            let key = regions.insert(byte, Rights::READ, Some(key), Addressing::Virtual, 0);
            key.unwrap()
        };
        assert!(keys.iter().map(insert).eq(keys.iter().copied()));
        regions.close(keys[1]);
        for (index, &key) in keys.iter().enumerate() {
            let found = regions.table.find(key);
            assert_eq!(found.is_some(), index != 1, "{key}");
            let is_plain =
                found.is_none_or(|one| !one.state.is_in_arena() && one.base == one.start);
            assert!(is_plain);
        }
        assert_eq!(insert(&keys[1]), keys[1]);
        assert!(keys.iter().all(|&key| regions.table.find(key).is_some()));
    }

    #[test]
    fn rights_are_apart() {
        let state = State(0).next(u64::from(Rights::READ.0) << State::RIGHTS | State::USED);
        assert!(state.allows(Rights::READ));
        assert!(!state.allows(Rights::READ.and(Rights::WRITE)) && !state.allows(Rights::ATOMIC));
    }
}
