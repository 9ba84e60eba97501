//! Regions as programs access them themselves.

use super::remote::RemoteRegion;
use crate::raw::region::Rights;
use std::cell::{Cell, OnceCell};
use std::sync::atomic::AtomicU64;

/// Places of regions that are known.
pub const PLACES: usize = 256;

/// Returns the place of the region that a peer has under a key.
#[inline(always)]
pub(super) fn place(peer: u64, key: u64) -> usize {
    key.wrapping_add(peer << 3) as usize % PLACES
}

/// A region as a program accesses it.
#[repr(C, align(128))]
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The number of the peer.
    pub peer: u64,
    /// Its key.
    pub key: u64,
    /// Leads to the region's present state.
    pub state: *const AtomicU64,
    /// The state in which it may be written: that which was found, or none that comes.
    pub writable: u64,
    /// The address that accesses give for the first byte.
    pub start: u64,
    /// One more than the greatest distance from there of 8 bytes in the region; 0 where it has none.
    pub room: u64,
    /// The first byte, as mapped here.
    pub mapped: *mut u8,
    /// As `writable`.
    pub readable: u64,
    /// As `writable`, of atomic operations.
    pub updatable: u64,
    /// As `room`, of a region that is written by a post in line; `room` is 0 then.
    pub far_room: u64,
    /// The region, for [`super::Endpoint::write_posted`]; else null.
    pub region: *const RemoteRegion,
}

/// The state to which slots lead that are empty: in them accesses are given in another one.
static EMPTY: AtomicU64 = AtomicU64::new(0);

impl Slot {
    pub(super) const NONE: Self = Self {
        peer: u64::MAX,
        key: 0,
        state: &raw const EMPTY,
        writable: 1,
        start: 0,
        room: 0,
        mapped: std::ptr::null_mut(),
        readable: 1,
        updatable: 1,
        far_room: 0,
        region: std::ptr::null(),
    };

    fn of(peer: u64, key: u64, region: &RemoteRegion, allowed: Allowed) -> Self {
        let is_far = !region.in_line.is_null() && allowed == Allowed::All;
        if !region.is_mapped() && !is_far {
            return Self::NONE;
        }
        let room = region.found.len.saturating_sub(size_of::<u64>() as u64 - 1);
        if is_far {
            return Self {
                peer,
                key,
                state: region.state,
                writable: region.given_in[Rights::WRITE.index()].to_word(),
                start: region.found.start,
                far_room: room,
                region,
                ..Self::NONE
            };
        }
        let given = |rights: Rights| region.given_in[rights.index()].to_word();
        Self {
            peer,
            key,
            state: region.state,
            writable: given(Rights::WRITE),
            start: region.found.start,
            room,
            mapped: region.mapped,
            readable: given(Rights::READ),
            updatable: given(Rights::ATOMIC),
            ..Self::NONE
        }
    }
}

/// The operations that programs may do themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allowed {
    /// Nothing.
    Nothing,
    /// Loads and stores.
    Near,
    /// Posts by [`super::Endpoint::write_posted`], too.
    #[default]
    All,
}

/// The slots of an endpoint; none unless a program asks for them.
#[derive(Debug, Default)]
pub(super) struct Slots {
    pub(super) slots: OnceCell<Box<[Cell<Slot>]>>,
    pub(super) allowed: Cell<Allowed>,
}

impl Slots {
    /// Fills the slot of a region that is known from now on.
    pub(super) fn fill(&self, peer: u64, key: u64, region: &RemoteRegion) {
        let allowed = self.allowed.get();
        if let Some(slots) = self.slots.get()
            && allowed != Allowed::Nothing
        {
            slots[place(peer, key)].set(Slot::of(peer, key, region, allowed));
        }
    }

    /// Empties the slot of a region that is not known any more.
    pub(super) fn empty(&self, place: usize) {
        if let Some(slots) = self.slots.get() {
            slots[place].set(Slot::NONE);
        }
    }

    pub(super) fn empty_all(&self) {
        (0..PLACES).for_each(|place| self.empty(place));
    }
}
