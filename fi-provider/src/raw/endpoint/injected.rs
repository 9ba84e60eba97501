//! Atomic operations on one word whose result nobody wants, in few instructions (fi_inject_atomic).
//!
//! Those that a peer of the node is asked for have no record here: its answers name them by one
//! number, and a count tells the number of those under way on each link.

#![expect(unsafe_code, reason = "atomic operations at raw addresses")]

use super::link::Path;
use super::near_path::{Seldom, apart};
use super::remote::RemoteRegion;
use super::rma::rma_entry;
use super::{Endpoint, Few, Link, MOST_ASKED, Operation};
use crate::raw::completion::{Counted, Promise};
use crate::raw::error::Error;
use crate::raw::protocol::Kind;
use crate::raw::region::Rights;
use fi_shm::amo::{Integer, Word};

/// An operation on a word of 8 bytes or of 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Injected {
    Add64,
    Set64,
    And64,
    Or64,
    Xor64,
    Add32,
    Set32,
    And32,
    Or32,
    Xor32,
}

impl Injected {
    /// Returns whether the word has 8 bytes.
    pub fn is_long(self) -> bool {
        (self as u8) < Self::Add32 as u8
    }
}

/// The number of operations that are counted alone, on words of 8 bytes: that of no operation that
/// waits.
pub(super) const UNNUMBERED: u64 = 1 << 30;

/// Acts on a word in a region that is mapped here, with the operand at `operand`. Returns whether
/// the region allows it.
///
/// # Safety
/// The region is mapped here, and the operand lies at `operand`.
#[inline(always)]
unsafe fn update<T: Integer>(
    region: &RemoteRegion,
    address: u64,
    operand: *const u8,
    act: impl FnOnce(*mut T, T),
) -> bool {
    let offset = if size_of::<T>() == size_of::<u64>() {
        region.find_word(address, Rights::ATOMIC)
    } else {
        region.find(address, size_of::<T>(), Rights::ATOMIC)
    };
    let Some(offset) = offset else {
        return false;
    };
    let place = region.mapped.wrapping_add(offset).cast::<T>();
    if !place.is_aligned() {
        return false;
    }
    // SAFETY: the operand is there.
    act(place, unsafe { operand.cast::<T>().read_unaligned() });
    true
}

impl Endpoint {
    /// Does an operation on a word as [`Endpoint::update`] does, where the region is mapped here, and
    /// counts it. Returns false otherwise, or where it is refused, and has done nothing. Calls nothing.
    ///
    /// # Safety
    /// The operand lies at `operand`.
    #[inline(always)]
    pub unsafe fn update_injected(
        &self,
        region: &RemoteRegion,
        address: u64,
        what: Injected,
        operand: *const u8,
    ) -> bool {
        if !region.is_mapped() {
            return false;
        }
        macro_rules! update {
            ($word:ty, $name:ident) => {
                // SAFETY: the region is mapped here, with its arena, writable; `update` gives aligned
                // words of it, and the operand is there.
                unsafe {
                    update(region, address, operand, |at: *mut $word, by| {
                        <$word>::$name(at, by);
                    })
                }
            };
        }
        let is_done = match what {
            Injected::Add64 => update!(u64, add),
            Injected::Set64 => update!(u64, swap),
            Injected::And64 => update!(u64, and),
            Injected::Or64 => update!(u64, or),
            Injected::Xor64 => update!(u64, xor),
            Injected::Add32 => update!(u32, add),
            Injected::Set32 => update!(u32, swap),
            Injected::And32 => update!(u32, and),
            Injected::Or32 => update!(u32, or),
            Injected::Xor32 => update!(u32, xor),
        };
        if is_done {
            self.config.written.add(1);
        }
        is_done
    }

    /// Adds to a word as [`Endpoint::update_injected`] does.
    ///
    /// # Safety
    /// As [`Endpoint::update_injected`].
    #[inline(always)]
    pub unsafe fn add_injected(
        &self,
        region: &RemoteRegion,
        address: u64,
        operand: *const u8,
    ) -> bool {
        // SAFETY: the region is mapped here, with its arena, writable; `update` gives aligned words of
        // it, and the operand is there.
        let is_done = region.is_mapped()
            && unsafe {
                update(region, address, operand, |at: *mut u64, by| {
                    u64::add(at, by)
                })
            };
        if is_done {
            self.config.written.add(1);
        }
        is_done
    }

    /// Has the device add to a word of 8 bytes, and counts the addition when it is done, by a post
    /// in line. Calls nothing. Returns false where that is not possible at once, and has done
    /// nothing.
    ///
    /// # Safety
    /// [`RemoteRegion::is_updated_in_line`] of the region, which [`Endpoint::region_now`] has
    /// returned; the operand lies at `operand`, of 8 bytes.
    #[inline(always)]
    pub unsafe fn add_in_line(
        &self,
        region: &RemoteRegion,
        address: u64,
        operand: *const u8,
    ) -> bool {
        let is_there = || region.find_aligned_word(address, Rights::ATOMIC).is_some();
        // SAFETY: the operand is there; posts to the region are in line, so that its link, which it
        // holds, has the path. A word is found in an open region alone, which counts nothing.
        unsafe {
            let there = (&*region.updated_in_line, address);
            self.add_to_known_word(region, there, is_there, operand)
        }
    }

    /// Returns whether operations are under way that have no number of their own.
    pub(super) fn has_unnumbered(&self) -> bool {
        let known = self.known.borrow();
        known.values().any(|link| link.unnumbered.get() > 0)
    }

    /// Ends an operation that has no number of its own, where the number of an answer says so: whether
    /// it does.
    pub(super) fn end_unnumbered(
        &self,
        number: u64,
        link: &Link,
        result: Result<(), Error>,
    ) -> bool {
        if number != UNNUMBERED {
            return false;
        }
        // It may have failed here meanwhile.
        if link.unnumbered.get() > 0 {
            link.unnumbered.set(link.unnumbered.get() - 1);
            link.asked.set(link.asked.get() - 1);
            let entry = rma_entry(Operation::Atomic, size_of::<u64>(), Counted);
            self.report(entry, Promise::of(Counted), result, false);
        }
        true
    }

    /// Ends those that a peer does not answer any more.
    pub(super) fn fail_unnumbered(&self, link: &Link) {
        while link.unnumbered.get() > 0 {
            self.end_unnumbered(UNNUMBERED, link, Err(Error::PeerGone));
        }
    }
}

impl RemoteRegion {
    /// Asks the process of a peer of the node for an operation on a word of 8 bytes, which the
    /// endpoint counts when that has answered. Calls nothing. Returns [`Few::Not`] where that is
    /// not possible at once, and has done nothing; so for other peers.
    ///
    /// # Safety
    /// The operand lies at `operand`, of an operation on 8 bytes, of which `what` is the word
    /// ([`super::Typed::to_wire`]); an endpoint of this thread has found the region.
    #[inline(always)]
    pub unsafe fn ask_injected(&self, address: u64, what: u64, operand: *const u8) -> Few {
        let link = &*self.link;
        let Path::Near(path) = &link.path else {
            return Few::Not;
        };
        if self.find_aligned_word(address, Rights::ATOMIC).is_none() {
            return Few::Not;
        }
        // As an operation that waits: see `begin`.
        if link.is_closed() || !path.near.is_alive() || link.asked.get() >= MOST_ASKED {
            return Few::Not;
        }
        // SAFETY: the operand is there, of 8 bytes.
        let operand = unsafe { operand.cast::<u64>().read_unaligned() };
        let words = [UNNUMBERED, self.key, address, what, operand, 0];
        let note = || {
            link.asked.set(link.asked.get() + 1);
            link.unnumbered.set(link.unnumbered.get() + 1);
        };
        match path.post_words(Kind::Atomic as u16, words, note) {
            Ok(()) => Few::Sent,
            Err(Seldom::Watched) => {
                apart();
                Few::Untold
            }
            Err(Seldom::Full) => Few::Not,
        }
    }

    /// Wakes the peer behind an operation that [`Few::Untold`] is told of.
    #[cold]
    #[inline(never)]
    pub fn wake_peer(&self) {
        if let Path::Near(path) = &self.link.path {
            // An end of the peer is told to all that waits for it.
            let _ = path.wake();
        }
    }
}
