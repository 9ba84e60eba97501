//! Accesses that a program does itself, in line at the place of the call: to regions of near peers
//! that were looked up, whose memory is mapped here.
//!
//! A program reads [`Slot`]s. Each has a place by peer and key, and is filled while the region there is
//! known, and is accessed by loads and stores; a place without such a region has a slot that fits no
//! access. The layout is the program's business too: farreach_direct.h has it in C.

use super::remote::RemoteRegion;
pub use super::slots::{Allowed, PLACES, Slot};
use super::{Config, Endpoint};
use crate::raw::address_vector::Told;
use crate::raw::completion::Counted;
use crate::raw::far::mark::Follows;
use crate::raw::inbox::BELL_STEP;
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64};

/// The slots and counters by which a program accesses memory itself, as long as the endpoint lives; by the endpoint's
/// thread, and not during its functions.
#[derive(Clone, Copy, Debug)]
pub struct Direct {
    /// [`PLACES`] slots.
    pub slots: *const Slot,
    /// The count of writes, to which the program adds those that it does.
    pub written: *mut u64,
    /// The count of reads, to which the program adds those that it does.
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
            self.write_known_word((region, Follows::YES), there, || true, source, Counted)
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

    /// Returns the addresses at which the program finds whether there is progress to make: if the
    /// word is 0, and the byte.
    pub fn rest(&self) -> (*const AtomicU64, *const u8) {
        (self.inbox.bells().first(), self.todo.as_ptr())
    }
}
