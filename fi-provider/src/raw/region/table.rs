//! The table of regions as it lies in memory: peers of the node read it by loads, others by a device.

#![expect(unsafe_code, reason = "the table lies in memory that processes share")]

use crate::raw::protocol::{CHECKED, GENERATION, MARKS, UNCOUNTED};
use crate::raw::rights::Rights;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Entries of a table; a key is looked for from its own place on.
pub(crate) const SLOTS: usize = 1 << 14;
/// Bytes of the table.
pub(crate) const TABLE_BYTES: usize = SLOTS * SLOT_BYTES;
/// Bytes of an entry.
pub(crate) const SLOT_BYTES: usize = size_of::<Slot>();
/// Bytes of the table and the counts behind it, at the begin of an arena.
pub(crate) const HEAD_BYTES: usize = TABLE_BYTES + SLOTS * size_of::<Counts>();

/// Accesses of peers to the region of an entry: as processors count them, and as devices do; of each
/// the writes and the reads. Peers may write any numbers.
pub(super) type Counts = [AtomicU64; 4];
/// Words that processors add to.
pub(super) const NEAR: usize = 2;

/// A kind of access, as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Also an atomic operation.
    Write = 0,
    Read = 1,
}

/// One entry: a line of its own.
#[repr(C, align(64))]
pub(super) struct Slot {
    /// 0: never used; else see [`State`].
    state: AtomicU64,
    key: AtomicU64,
    /// The offset in the arena, or the address in the owner's process.
    base: AtomicU64,
    len: AtomicU64,
    /// The address that peers give for the first byte.
    start: AtomicU64,
    /// The keys by which the device knows the region, and, in the upper half, its own counts.
    device_key: AtomicU64,
    /// The state again: a peer that reads the entry over a device while it changes finds another.
    check: AtomicU64,
}

const _: () = assert!(size_of::<Slot>() == 64);

/// The state of an entry: whether it is used, its flags, and the number of its changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State(pub(super) u64);

impl State {
    pub(super) const USED: u64 = 1;
    pub(super) const ARENA: u64 = 2;
    pub(super) const RIGHTS: u32 = 8;
    pub(super) const GENERATION: u64 = 1 << 32;

    pub(super) fn is_used(self) -> bool {
        self.0 & Self::USED != 0
    }

    /// Returns the word of an entry with this state.
    pub(crate) fn to_word(self) -> u64 {
        self.0
    }

    /// Returns whether a table has this state still.
    #[inline(always)]
    pub(crate) fn is(self, now: u64) -> bool {
        self.0 == now
    }

    /// Returns whether the region lies in the arena, and is mapped by peers of the node.
    pub(crate) fn is_in_arena(self) -> bool {
        self.0 & Self::ARENA != 0
    }

    /// Returns whether peers have all these rights.
    #[inline(always)]
    pub(crate) fn allows(self, rights: Rights) -> bool {
        let bits = u64::from(rights.0) << Self::RIGHTS;
        self.0 & bits == bits
    }

    /// Returns whether accesses to the region are counted.
    pub(crate) fn is_counted(self) -> bool {
        self.allows(Rights::COUNTED)
    }

    /// Returns, for each set of rights, a state that no entry has, of the arena and not used.
    pub(crate) const fn given_in_none() -> [Self; Rights::SETS] {
        [Self(Self::ARENA); Rights::SETS]
    }

    /// Returns, for each set of rights, the state of an entry in which they are given: this one, or
    /// else one that no entry has, of the arena and not used.
    pub(crate) fn given_in(self) -> [Self; Rights::SETS] {
        std::array::from_fn(|set| {
            if self.allows(Rights(set as u8)) {
                self
            } else {
                Self(Self::ARENA)
            }
        })
    }

    /// Returns the mark of accesses to the region in this state alone.
    pub(crate) fn to_mark(self) -> u64 {
        let generation = (self.0 / Self::GENERATION) << GENERATION;
        CHECKED | generation & MARKS & !(CHECKED | UNCOUNTED)
    }

    /// Returns whether accesses with this mark may be to the region.
    pub(crate) fn is_meant_by(self, mark: u64) -> bool {
        mark & CHECKED == 0 || mark & MARKS & !UNCOUNTED == self.to_mark()
    }

    /// Returns the state with other flags, and the next generation.
    pub(super) fn next(self, flags: u64) -> Self {
        Self((self.0 & !(Self::GENERATION - 1)).wrapping_add(Self::GENERATION) | flags)
    }
}

/// An entry as it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(super) slot: usize,
    pub(crate) state: State,
    pub(crate) base: u64,
    pub(crate) len: u64,
    pub(crate) start: u64,
    pub(crate) device_key: u32,
    /// The key by which the device knows its counts, if it is counted.
    pub(crate) counts_key: u32,
}

impl Found {
    /// Returns the words that tell a peer of the region where it cannot read the table.
    pub(crate) fn to_wire(self) -> [u64; 3] {
        [self.state.0, self.len, self.start]
    }

    /// Returns the region that a peer tells of; none where there is none.
    pub(crate) fn of_wire(state: u64, len: u64, start: u64) -> Option<Self> {
        State(state).is_used().then_some(Self {
            slot: 0,
            state: State(state),
            base: 0,
            len,
            start,
            device_key: 0,
            counts_key: 0,
        })
    }

    /// Returns the offset of its counts in the arena.
    pub(super) fn counts(&self) -> usize {
        TABLE_BYTES + self.slot % SLOTS * size_of::<Counts>()
    }

    /// Returns the offset in the arena of the count of such accesses by processors.
    pub(crate) fn count_near(&self, access: Access) -> u64 {
        (self.counts() + access as usize * size_of::<u64>()) as u64
    }

    /// Returns the offset in the arena of the count of such accesses by devices.
    pub(crate) fn count_far(&self, access: Access) -> u64 {
        self.count_near(access) + (NEAR * size_of::<u64>()) as u64
    }

    /// Returns whether words of 8 bytes are aligned where the addresses are by which peers name
    /// them.
    pub(crate) fn keeps_alignment(&self) -> bool {
        let distance = self.base.wrapping_sub(self.start);
        distance.is_multiple_of(size_of::<u64>() as u64)
    }

    /// Returns the number of addresses from its first byte on that may be those of aligned words of
    /// 8 bytes, where these have aligned addresses.
    pub(crate) fn aligned_words(&self) -> u64 {
        if self.keeps_alignment() {
            self.words()
        } else {
            0
        }
    }

    /// Returns the distance of `address` from the region's first byte, if `bytes` bytes there lie
    /// in it.
    pub(crate) fn offset(&self, address: u64, bytes: u64) -> Option<u64> {
        let offset = address.wrapping_sub(self.start);
        let end = offset.checked_add(bytes)?;
        (end <= self.len).then_some(offset)
    }

    /// Returns the number of addresses from its first byte on that are those of words of 8 bytes
    /// that lie in it.
    pub(crate) fn words(&self) -> u64 {
        self.len.saturating_sub(size_of::<u64>() as u64 - 1)
    }

    /// Returns the place of a byte in the region: its offset in the arena, or its address in the
    /// owner's process, modulo 2^64, as peers can write any number to a table.
    pub(crate) fn place(&self, address: u64) -> u64 {
        let offset = address.wrapping_sub(self.start);
        self.base.wrapping_add(offset)
    }
}

/// A table in mapped memory: the own, or a peer's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table(pub(super) *const Slot);

impl Table {
    /// # Safety
    /// At `memory`, aligned to 64 bytes, [`TABLE_BYTES`] bytes are mapped as long as the table and
    /// its words are used.
    pub(crate) unsafe fn at(memory: *const u8) -> Self {
        Self(memory.cast())
    }

    pub(super) fn slot(&self, index: usize) -> &Slot {
        // SAFETY: the index is below SLOTS, and so many are mapped (the requirement of `at`); any
        // bytes are atomic integers.
        unsafe { &*self.0.add(index % SLOTS) }
    }

    /// Returns the word that tells whether an entry is as it was found.
    pub(crate) fn word(&self, found: &Found) -> *const AtomicU64 {
        &raw const self.slot(found.slot).state
    }

    /// Tells peers of a region, in its entry; under the lock of the writers of the table.
    pub(super) fn enter(&self, key: u64, found: &Found) {
        let entry = self.slot(found.slot);
        let store = |word: &AtomicU64, value: u64| {
            // ORDERING: before the release store of the state below; a reader that has the state
            // from before sees that it changes.
            word.store(value, Ordering::Relaxed);
        };
        store(&entry.check, found.state.0);
        // ORDERING: a peer that reads some of the words below over a device, and the state from
        // before, finds this check.
        fence(Ordering::Release);
        store(&entry.key, key);
        let keys = u64::from(found.counts_key) << 32 | u64::from(found.device_key);
        store(&entry.device_key, keys);
        store(&entry.base, found.base);
        store(&entry.len, found.len);
        store(&entry.start, found.start);
        // ORDERING: pairs with the acquire load in `find`.
        entry.state.store(found.state.0, Ordering::Release);
    }

    /// Gives the entry of a region that is closed another state.
    pub(super) fn strike(&self, found: &Found, state: State) {
        // ORDERING: pairs with the loads of peers before each operation.
        self.slot(found.slot)
            .state
            .store(state.0, Ordering::Release);
    }

    /// Returns the region of `key`.
    pub(crate) fn find(&self, key: u64) -> Option<Found> {
        let first = first_slot(key);
        for slot in first..first + SLOTS {
            let entry = self.slot(slot);
            // ORDERING: pairs with the release stores of the state in `enter` and `strike`.
            let state = State(entry.state.load(Ordering::Acquire));
            if state.0 == 0 {
                return None;
            }
            // ORDERING: between two loads of the state that agree, as in a sequence lock.
            let word = |word: &AtomicU64| word.load(Ordering::Relaxed);
            let found = Found {
                slot,
                state,
                base: word(&entry.base),
                len: word(&entry.len),
                start: word(&entry.start),
                device_key: word(&entry.device_key) as u32,
                counts_key: (word(&entry.device_key) >> 32) as u32,
            };
            let its_key = word(&entry.key);
            // ORDERING: the loads above come before the second one of the state.
            fence(Ordering::Acquire);
            let is_same = word(&entry.state) == state.0;
            if state.is_used() && its_key == key && is_same {
                return Some(found);
            }
        }
        None
    }
}

/// The entry of a peer's table, as it was read over the device.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen {
    It(Found),
    /// Another region's, or none any more.
    Other,
    /// It was never used: no region of the key is behind it.
    End,
    /// It was changing.
    Torn,
}

impl Seen {
    /// Looks for `key` in the words of entry `slot`.
    pub(crate) fn of(slot: usize, words: &[u64; 8], key: u64) -> Self {
        let &[state, its_key, base, len, start, device_key, check, _] = words;
        let state = State(state);
        match () {
            () if state.0 == 0 => Self::End,
            () if !state.is_used() => Self::Other,
            () if check != state.0 => Self::Torn,
            () if its_key != key => Self::Other,
            () => Self::It(Found {
                slot,
                state,
                base,
                len,
                start,
                device_key: device_key as u32,
                counts_key: (device_key >> 32) as u32,
            }),
        }
    }
}

/// Returns the slot at which a key is looked for first.
pub(crate) fn first_slot(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lie_where_their_bytes_do() {
        for start in [0, 5, u64::MAX - 20] {
            for len in [0, 1, 7, 8, 9, 16] {
                let found = Found {
                    start,
                    len,
                    ..Found::of_wire(u64::MAX, 0, 0).expect("in use")
                };
                for distance in (0..20).chain([u64::MAX - 8, u64::MAX - 7, u64::MAX]) {
                    let address = start.wrapping_add(distance);
                    let is_there = found.offset(address, 8).is_some();
                    assert_eq!(distance < found.words(), is_there, "{distance} of {len}");
                }
            }
        }
    }
}
