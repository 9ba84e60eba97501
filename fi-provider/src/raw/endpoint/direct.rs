//! Accesses that a program does itself, in line at the place of the call: to regions of near peers
//! that were looked up, whose memory is mapped here.
//!
//! A program reads [`Slot`]s. Each has a place by peer and key, and is filled while the region there is
//! known, and is accessed by loads and stores; a place without such a region has a slot that fits no
//! access. The layout is the program's business too: farreach_direct.h has it in C.

use super::remote::RemoteRegion;
use super::{Config, Endpoint};
use crate::raw::address_vector::Told;
use crate::raw::completion::Counted;
use crate::raw::inbox::BELL_STEP;
use crate::raw::region::Rights;
use std::cell::{Cell, OnceCell};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64};

/// Places of regions that are known.
pub const PLACES: usize = 256;

/// The place of the region that a peer has under a key.
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
    /// The same of atomic operations.
    pub updatable: u64,
    /// As `room`, of a region that is written by a post in line; `room` is 0 then.
    pub far_room: u64,
    /// That region, for [`Endpoint::write_posted`]; else null.
    pub region: *const RemoteRegion,
}

/// The state to which slots lead that are empty: in them accesses are given in another one.
static EMPTY: AtomicU64 = AtomicU64::new(0);

impl Slot {
    const NONE: Self = Self {
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
    /// Posts by [`Endpoint::write_posted`], too.
    #[default]
    All,
}

/// The slots of an endpoint; none unless a program asks for them.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: OnceCell<Box<[Cell<Slot>]>>,
    allowed: Cell<Allowed>,
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

    fn empty_all(&self) {
        (0..PLACES).for_each(|place| self.empty(place));
    }
}

/// The slots and counters by which a program accesses memory itself, as long as the endpoint lives; by the endpoint's
/// thread, and not during its functions.
#[derive(Clone, Copy, Debug)]
pub struct Direct {
    /// [`PLACES`] slots.
    pub slots: *const Slot,
    /// The count of writes, to which the program adds those that it does.
    pub written: *mut u64,
    /// The same of reads.
    pub read: *mut u64,
}

impl Endpoint {
    /// Has a program access memory itself from now on: of regions that are looked up by
    /// [`Endpoint::on_region`] after this.
    pub fn direct(&self) -> Direct {
        let none = || (0..PLACES).map(|_| Cell::new(Slot::NONE)).collect();
        let slots = self.keys.slots().slots.get_or_init(none);
        let Config { read, written, .. } = &self.config;
        let [written, read] = [written, read].map(|counter| counter.place().as_ptr());
        self.keys.forget();
        Direct {
            slots: slots.as_ptr().cast(),
            written,
            read,
        }
    }

    /// Changes the operations that programs may do themselves. Must be called as well when the numbers of peers
    /// change.
    pub fn allow_direct(&self, allowed: Allowed) {
        let slots = self.keys.slots();
        slots.allowed.set(allowed);
        if slots.slots.get().is_some() {
            slots.empty_all();
            self.keys.forget();
        }
    }

    /// Writes 8 bytes by a post in line to the region of a slot, whose state and room the program has
    /// looked at; counts them. Returns false where it cannot at once, and has done nothing.
    ///
    /// # Safety
    /// The slot is one of the endpoint's and has the region now, the bytes at `address` lie in it, and
    /// `source` holds as many.
    #[inline(always)]
    pub unsafe fn write_posted(
        &self,
        region: &RemoteRegion,
        address: u64,
        source: *const u8,
    ) -> bool {
        // SAFETY: posts to the region of a slot are in line, by the path of its link, which the region
        // holds; the endpoint knows it by its key, the program has found it open, and a region that
        // counts has no slot; `source` holds 8 bytes.
        unsafe {
            let there = (&*region.in_line, address);
            self.write_known_word(region, there, || true, source, Counted)
        }
    }

    /// Returns whether something but the first word of bells asks for progress, as bits of any meaning: a
    /// device does always.
    #[inline(always)]
    pub fn todo(&self) -> u8 {
        self.todo.get()
    }

    /// Keeps [`Endpoint::todo`] at this place, too, from now on: for a program that looks at several
    /// endpoints at once.
    ///
    /// # Safety
    /// The byte stays, and is written by nobody else, until the endpoint is dropped.
    pub unsafe fn show_todo(&self, place: NonNull<AtomicU8>) {
        // SAFETY: the endpoint has the value, which is gone with it.
        unsafe { self.todo.show(place) };
    }

    /// Words from [`Endpoint::rest`]'s of an endpoint to that of the next one: of those that are opened in a
    /// new domain one after the other, up to 16.
    pub const REST_STEP: usize = BELL_STEP / size_of::<AtomicU64>();

    /// Where the program finds whether there is progress to make: if the word is 0, and the byte.
    pub fn rest(&self) -> (*const AtomicU64, *const u8) {
        (self.inbox.bells().first(), self.todo.as_ptr())
    }
}
