//! Atomic operations on one word whose result nobody wants, in few instructions (fi_inject_atomic).
//!
//! Those that a peer of the node is asked for have no record here: its answers name them by one
//! number, and a count tells how many are under way on each link.

#![expect(unsafe_code, reason = "atomic operations at raw addresses")]

use super::link::Path;
use super::near_path::Seldom;
use super::remote::RemoteRegion;
use super::rma::rma_entry;
use super::{Endpoint, Link, MOST_ASKED, Operation, Typed};
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

/// The number of operations that are counted alone, with the bytes of the word in the lowest byte:
/// no number of an operation that waits.
const UNNUMBERED: u64 = 1 << 31;

/// The bytes of the word, where the number is such a one.
#[inline(always)]
fn bytes_of(number: u64) -> Option<usize> {
    let bytes = number ^ UNNUMBERED;
    matches!(bytes, 4 | 8).then_some(bytes as usize)
}

/// Acts on a word in a region that is mapped here, with the operand at `operand`; whether the region
/// allows it.
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
    let Some(offset) = region.find(address, size_of::<T>(), Rights::ATOMIC) else {
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

    /// Asks the process of a peer of the node for an operation on a word, which is counted when it has
    /// answered. Returns false where that is not possible at once, and has done nothing; so for other
    /// peers.
    ///
    /// # Safety
    /// The operand lies at `operand`, of as many bytes as those of `typed`, which are 4 or 8.
    #[inline(always)]
    pub unsafe fn ask_injected(
        &self,
        region: &RemoteRegion,
        address: u64,
        typed: Typed,
        operand: *const u8,
    ) -> bool {
        let (link, bytes) = (&*region.link, typed.bytes());
        let Path::Near(path) = &link.path else {
            return false;
        };
        let is_there = region.find(address, bytes, Rights::ATOMIC).is_some();
        if !is_there || !region.found.place(address).is_multiple_of(bytes as u64) {
            return false;
        }
        // As an operation that waits: see `begin`.
        if link.is_over() || link.own != self.number || link.asked.get() >= MOST_ASKED {
            return false;
        }
        // SAFETY: the operand is there, of so many bytes.
        let operand = unsafe {
            match bytes {
                4 => operand.cast::<u32>().read_unaligned().into(),
                _ => operand.cast::<u64>().read_unaligned(),
            }
        };
        let number = UNNUMBERED | bytes as u64;
        let words = [number, region.key, address, typed.to_wire(), operand, 0];
        // SAFETY: there are no bytes beside the words.
        let posted = unsafe { path.post_known(Kind::Atomic as u16, words, std::ptr::null(), 0) };
        if posted == Err(Seldom::Full) {
            return false;
        }
        link.asked.set(link.asked.get() + 1);
        link.unnumbered.set(link.unnumbered.get() + 1);
        self.unnumbered.set(self.unnumbered.get() + 1);
        if posted == Err(Seldom::Watched) {
            // An end of the peer is told to all that waits for it.
            let _ = path.wake();
        }
        true
    }

    /// Ends an operation that has no number of its own, where the number of an answer says so: whether
    /// it does.
    pub(super) fn end_unnumbered(
        &self,
        number: u64,
        link: &Link,
        result: Result<(), Error>,
    ) -> bool {
        let Some(bytes) = bytes_of(number) else {
            return false;
        };
        // It may have failed here meanwhile.
        if link.unnumbered.get() > 0 {
            link.unnumbered.set(link.unnumbered.get() - 1);
            link.asked.set(link.asked.get() - 1);
            self.unnumbered.set(self.unnumbered.get() - 1);
            let entry = rma_entry(Operation::Atomic, bytes, Counted);
            self.report(entry, Promise::of(Counted), result, false);
        }
        true
    }

    /// Ends those that a peer does not answer any more.
    pub(super) fn fail_unnumbered(&self, link: &Link) {
        while link.unnumbered.get() > 0 {
            self.end_unnumbered(UNNUMBERED | 8, link, Err(Error::PeerGone));
        }
    }
}
