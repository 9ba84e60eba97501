//! Atomic operations on memory of peers (fi_atomic(3)): the processor's own. Those on memory that
//! is not mapped here are done by its process, as it makes progress, or by the device where nobody
//! reaches the peer's domain in its memory.

#![expect(unsafe_code, reason = "atomic operations at raw addresses")]

use super::arithmetic::{Typed, apply};
use super::link::Path;
use super::pending::State;
use super::remote::RemoteRegion;
use super::rma::rma_entry;
use super::{Endpoint, Operation};
use crate::device::amo::Amo;
use crate::raw::atomic::{Atomic, amo};
use crate::raw::completion::{Entry, Report};
use crate::raw::error::Error;
use crate::raw::far::mark::Mark;
use crate::raw::far::path::FarPath;
use crate::raw::protocol::Kind;
use crate::raw::rights::Rights;

/// Returns the operation and the bytes of its word, as one word in a record.
fn to_wire(operation: Atomic, bytes: usize) -> u64 {
    (operation as u64) << 8 | bytes as u64
}

/// Returns the operation and the bytes of its word; none where they make no sense.
fn of_wire(word: u64) -> Option<(Atomic, usize)> {
    let operation = match word >> 8 {
        1 => Atomic::Read,
        2 => Atomic::Swap,
        3 => Atomic::Add,
        4 => Atomic::And,
        5 => Atomic::Or,
        6 => Atomic::Xor,
        7 => Atomic::CompareSwap,
        _ => return None,
    };
    let bytes = (word & 0xff) as usize;
    matches!(bytes, 4 | 8).then_some((operation, bytes))
}

/// An operation that a peer asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    /// On a word of 4 or 8 bytes.
    Word(Atomic, usize),
    /// On an element.
    Element(Typed),
}

impl Asked {
    /// Returns none where the word makes no sense.
    pub(crate) fn of_wire(word: u64) -> Option<Self> {
        let of_word = of_wire(word).map(|(operation, bytes)| Self::Word(operation, bytes));
        of_word.or_else(|| Typed::of_wire(word).map(Self::Element))
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Word(_, bytes) => bytes,
            Self::Element(typed) => typed.bytes(),
        }
    }

    /// Returns the right that a region has to give.
    pub(crate) fn right(self) -> Rights {
        match self {
            Self::Word(..) => Rights::ATOMIC,
            Self::Element(typed) => typed.right(),
        }
    }

    /// Does the operation; returns the word that was there.
    ///
    /// # Errors
    /// [`Error::Misaligned`].
    ///
    /// # Safety
    /// The word is mapped, and writable where the region gives the right to more than reading.
    pub(crate) unsafe fn apply(
        self,
        place: *mut u8,
        operand: u64,
        comparand: u64,
    ) -> Result<u64, Error> {
        // SAFETY: the word is mapped, and writable unless it is only read.
        unsafe {
            match self {
                Self::Word(operation, bytes) => apply(operation, place, bytes, operand, comparand),
                Self::Element(typed) => typed.apply(place, operand, comparand),
            }
        }
    }
}

/// Stores a word of 4 or 8 `bytes`.
///
/// # Safety
/// There is room for it at `place`, aligned to it.
#[inline(always)]
pub(crate) unsafe fn put_word(place: *mut u8, bytes: usize, word: u64) {
    // SAFETY: there is room for the word, aligned to it.
    unsafe {
        if bytes == 4 {
            place.cast::<u32>().write(word as u32);
        } else {
            place.cast::<u64>().write(word);
        }
    }
}

impl Endpoint {
    /// Does an atomic operation on a word of 4 or 8 `bytes` in a region; the word that was there is
    /// in `found`, in as many bytes, when the operation is reported (fi_fetch_atomic,
    /// fi_compare_atomic).
    ///
    /// # Errors
    /// As [`Endpoint::write`], and [`Error::Misaligned`]; [`Error::TooLong`] for words of other
    /// sizes.
    ///
    /// # Safety
    /// `found` has room for the word, aligned to it, and is nobody else's until the operation is
    /// reported, or the endpoint dropped.
    #[inline]
    pub unsafe fn fetch_atomic<R: Report>(
        &self,
        region: &RemoteRegion,
        (address, bytes): (u64, usize),
        operation: Atomic,
        (operand, comparand): (u64, u64),
        found: *mut u8,
        report: R,
    ) -> Result<(), Error> {
        if !matches!(bytes, 4 | 8) {
            return Err(Error::TooLong);
        }
        let Some(offset) = region.find(address, bytes, Rights::ATOMIC) else {
            let (word, operands) = ((address, bytes), (operand, comparand));
            // SAFETY: `found` has room for the word until the operation is reported, aligned.
            return unsafe {
                self.update_refused(region, word, operation, operands, found, report)
            };
        };
        if report.context().is_some() && !self.config.transmit.has_room() {
            return Err(Error::Again);
        }
        if region.is_mapped() {
            let place = region.mapped.wrapping_add(offset);
            // SAFETY: the word lies in the region, which is mapped here; `found` has room for a
            // word, and is aligned.
            unsafe {
                let before = apply(operation, place, bytes, operand, comparand)?;
                put_word(found, bytes, before);
            }
            self.report_rma(Operation::Atomic, bytes, report);
            return Ok(());
        }
        if !region.found.place(address).is_multiple_of(bytes as u64) {
            return Err(Error::Misaligned);
        }
        let (amo, what) = (amo(operation, operand, comparand), (Mark::ATOMIC, report));
        // SAFETY: the link, which the region holds, has the path.
        if let Some(path) = unsafe { region.updated_in_line.as_ref() }
            && bytes == size_of::<u64>()
            // SAFETY: `found` has room for the word until the operation is reported, aligned; posts
            // to the region are in line.
            && unsafe {
                self.update_word_quickly::<_, false>(region, path, (address, amo), found, what)
            }
        {
            return Ok(());
        }
        // SAFETY: `found` has room for the word until the operation is reported, aligned.
        unsafe {
            self.update_otherwise(
                region,
                (address, bytes),
                operation,
                (operand, comparand),
                found,
                report,
            )
        }
    }

    /// Does an atomic operation on memory that is not mapped here, by any path.
    ///
    /// # Safety
    /// As [`Endpoint::fetch_atomic`].
    #[inline(never)]
    unsafe fn update_otherwise<R: Report>(
        &self,
        region: &RemoteRegion,
        (address, bytes): (u64, usize),
        operation: Atomic,
        (operand, comparand): (u64, u64),
        found: *mut u8,
        report: R,
    ) -> Result<(), Error> {
        if let Path::Far(path) = &region.link.path
            && region.is_of_device
        {
            let (amo, what) = (amo(operation, operand, comparand), (Mark::ATOMIC, report));
            let word = (address, bytes);
            // SAFETY: `found` has room for the word until the operation is reported, aligned.
            return unsafe { self.update_by_device(region, path, word, amo, found, what) };
        }
        let entry = rma_entry(Operation::Atomic, bytes, report);
        let words = [address, to_wire(operation, bytes), operand, comparand];
        self.ask_atomic(region, entry, words, found, report)
    }

    /// Has the device do an atomic operation; how its report calls it is the mark's.
    ///
    /// # Errors
    /// [`Error::NotAllowed`] where the device has none like that: the processor's would not be atomic
    /// with the device's.
    ///
    /// # Safety
    /// As [`Endpoint::fetch_atomic`].
    pub(super) unsafe fn update_by_device<R: Report>(
        &self,
        region: &RemoteRegion,
        path: &FarPath,
        word: (u64, usize),
        amo: Amo,
        found: *mut u8,
        what: (Mark, R),
    ) -> Result<(), Error> {
        // SAFETY: `found` has room for the word until the operation is reported, aligned.
        let is_done = unsafe {
            self.update_quickly(region, path, word, amo, found, what)
                || path.widen_memory() && self.update_quickly(region, path, word, amo, found, what)
                || self.atomic_far(region, path, word, amo, found, what)?
        };
        is_done.then_some(()).ok_or(Error::NotAllowed)
    }

    /// Has the peer do an atomic operation, as the words say, behind the key, in its record.
    #[inline(always)]
    pub(super) fn ask_atomic<R: Report>(
        &self,
        region: &RemoteRegion,
        entry: Entry,
        [address, what, operand, comparand]: [u64; 4],
        found: *mut u8,
        report: R,
    ) -> Result<(), Error> {
        let state = State::Gathering {
            dest: found,
            left: entry.len,
            answer: None,
        };
        let link = &region.link;
        let number = self.begin_reported(link, entry, report, state)?;
        let words = [number, region.key, address, what, operand, comparand];
        let asked = link.tell(Kind::Atomic, words);
        asked.inspect_err(|_| self.abandon(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_told_as_they_are() {
        let mut seen = 0;
        for word in 0..0x1000 {
            if let Some((operation, bytes)) = of_wire(word) {
                assert_eq!(to_wire(operation, bytes), word);
                seen += 1;
            }
        }
        assert_eq!(seen, 7 * 2);
    }

    #[test]
    fn each_does_as_it_says() {
        let cases = [
            (Atomic::Read, 12),
            (Atomic::Swap, 10),
            (Atomic::Add, 22),
            (Atomic::And, 8),
            (Atomic::Or, 14),
            (Atomic::Xor, 6),
            (Atomic::CompareSwap, 10),
        ];
        for (operation, expected) in cases {
            let mut words = [12_u64, 12];
            let place: *mut u8 = words.as_mut_ptr().cast();
            // SAFETY: two words are there.
            unsafe {
                assert_eq!(apply(operation, place, 8, 10, 12), Ok(12));
                assert_eq!(apply(operation, place.add(8), 4, 10, 12), Ok(12));
                assert_eq!(
                    apply(operation, place.add(2), 4, 0, 0),
                    Err(Error::Misaligned)
                );
            }
            assert_eq!(words, [expected, expected], "{operation:?}");
        }
    }
}
