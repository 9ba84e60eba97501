//! Atomic operations on elements of many types (fi_atomic(3)): the processor's, by loops of
//! compare-and-swap, as those on words are ([`super::atomic`]). Where the device does them, it does
//! those that it has.

#![expect(unsafe_code, reason = "atomic operations at raw addresses")]

use super::arithmetic::apply;
use super::arithmetic::put_element;
use super::counted::counted;
use super::link::Path;
use super::pending::State;
use super::remote::RemoteRegion;
use super::rma::rma_entry;
use super::threshold::Work;
use super::vector::{Beside, common};
use super::{Arithmetic, Atomic, Endpoint, Operation, Typed, Word};
use crate::raw::atomic::amo;
use crate::raw::completion::{Part, Report};
use crate::raw::domain::Domain;
use crate::raw::error::Error;
use crate::raw::far::mark::Mark;
use crate::raw::region::{Access, Rights};
use std::num::NonZero;

/// An atomic operation on one word.
#[derive(Clone, Copy, Debug)]
pub struct OneWord<'a> {
    /// The region in which the word lies.
    pub region: &'a RemoteRegion,
    /// Address of the word.
    pub address: u64,
    /// Its bytes: 4 or 8.
    pub bytes: usize,
    /// The operation.
    pub operation: Atomic,
    /// The operand and the comparand.
    pub operands: (u64, u64),
    /// Address for the word that was there; null where nobody wants it.
    pub found: *mut u8,
}

impl OneWord<'_> {
    /// Returns the rights that the operation asks for.
    #[inline(always)]
    fn rights(&self) -> Rights {
        let is_read = self.operation == Atomic::Read;
        Rights::READ
            .if_so(is_read || !self.found.is_null())
            .and(Rights::ATOMIC.if_so(!is_read))
    }

    /// Returns the word's distance from the region's first byte, where the operation is allowed.
    #[inline(always)]
    fn find(&self) -> Option<usize> {
        self.region.find(self.address, self.bytes, self.rights())
    }

    /// Looks whether the operation is allowed.
    ///
    /// # Errors
    /// As [`Endpoint::write`].
    pub(super) fn check(&self) -> Result<(), Error> {
        self.region.check(self.address, self.bytes, self.rights())
    }

    /// Returns whether the operation is allowed, for a word of 8 bytes.
    #[inline(always)]
    fn has_word(&self) -> bool {
        self.region.find_word(self.address, self.rights()).is_some()
    }
}

/// Returns the operation that the entry tells of.
#[inline(always)]
fn operation(found: *mut u8) -> Operation {
    if found.is_null() {
        Operation::Atomic
    } else {
        Operation::Fetch
    }
}

impl Domain {
    /// Tells whether endpoints of domains that are opened as this one do an operation on memory of
    /// each other (fi_query_atomic): the processor does all; a device, where nobody reaches a
    /// domain in its memory, some on elements of 4 and 8 bytes.
    pub fn updates(&self, typed: Typed) -> bool {
        if self.config().near || self.libfabric().is_some() {
            return true;
        }
        self.device_updates(typed)
    }
}

impl Endpoint {
    /// Does one atomic operation on each of several elements in regions of one peer, in no order
    /// (fi_atomicmsg, fi_fetch_atomicmsg, fi_compare_atomicmsg); those that were there are in
    /// `found` when the operation is reported: as [`Operation::Fetch`], which the counter of reads
    /// counts, if `found` of the first one is not null, and as [`Operation::Atomic`] otherwise.
    ///
    /// # Errors
    /// As [`Endpoint::fetch_atomics`]; [`Error::NotAllowed`] where the device does the peer's atomic
    /// operations and has not this one.
    ///
    /// # Safety
    /// Each `found` is null, or has room for the element and is nobody else's until the operation is
    /// reported, or the endpoint dropped.
    pub unsafe fn update<R: Report>(
        &self,
        elements: &[Word<'_>],
        typed: Typed,
        report: R,
    ) -> Result<(), Error> {
        let all = || elements.iter().map(|one| one.region);
        if elements.len() > 1 && all().any(|region| region.counted.is_some()) {
            let counted = counted(all());
            let parts: Vec<_> = all().map(RemoteRegion::for_parts).collect();
            let elements: Vec<_> = (parts.iter().zip(elements))
                .map(|(region, one)| Word { region, ..*one })
                .collect();
            // SAFETY: each `found` is null, or has room for the element until the operation is
            // reported.
            return unsafe { self.update_all(&elements, typed, counted, report) };
        }
        // SAFETY: each `found` is null, or has room for the element until the operation is reported.
        unsafe { self.update_all(elements, typed, Vec::new(), report) }
    }

    /// Does as [`Endpoint::update`] for elements that are not counted, or one; these regions count
    /// all as one.
    ///
    /// # Safety
    /// As [`Endpoint::update`].
    unsafe fn update_all<R: Report>(
        &self,
        elements: &[Word<'_>],
        typed: Typed,
        counted: Vec<RemoteRegion>,
        report: R,
    ) -> Result<(), Error> {
        let bytes = typed.bytes();
        let link = common(elements.iter().map(|one| one.region))?;
        for Word {
            region,
            address,
            found,
            ..
        } in elements
        {
            region.check(*address, bytes, typed.right())?;
            let reads = typed.operation() != Arithmetic::Read && !found.is_null();
            if reads {
                region.check(*address, bytes, Rights::READ)?;
            }
            if !region.found.place(*address).is_multiple_of(bytes as u64) {
                return Err(Error::Misaligned);
            }
        }
        if report.context().is_some() && !self.transmit().has_room() {
            return Err(Error::Again);
        }
        let what = elements
            .first()
            .map_or(Operation::Atomic, |one| operation(one.found));
        let is_mapped = |one: &Word<'_>| one.region.plain().is_mapped();
        let Some(link) = link.filter(|_| !elements.iter().all(is_mapped)) else {
            for one in elements {
                // SAFETY: `found` is null, or has room for the element.
                unsafe { self.update_mapped(one, typed)? };
            }
            counted.iter().for_each(|one| one.count(Access::Write));
            self.report_rma(what, elements.len() * bytes, report);
            return Ok(());
        };
        if let [one] = elements {
            // SAFETY: `found` is null, or has room for the element until the operation is reported.
            return unsafe { self.update_beyond(one, typed, report) };
        }
        let later = |one: &Word<'_>| {
            vec![Work::Update {
                region: one.region.clone(),
                address: one.address,
                typed,
                operands: (one.operand, one.comparand),
                found: one.found,
            }]
        };
        // SAFETY: `found` is null, or has room for the element until the operation is reported.
        let start = |one: &Word<'_>, part: Part| unsafe {
            self.update(std::slice::from_ref(one), typed, part)
        };
        let what = (what, elements.len() * bytes, report);
        let beside = Beside {
            counted,
            ..Beside::default()
        };
        self.start_parts(link, (what, beside), elements, start, later)
    }

    /// Does one atomic operation as [`Endpoint::update`] does, where the region is mapped here. Returns
    /// false otherwise, where it is refused or there is no room for its entry, and has done nothing.
    ///
    /// # Safety
    /// As [`Endpoint::update`].
    #[inline(always)]
    pub unsafe fn update_mapped_now<R: Report>(&self, one: &OneWord<'_>, report: R) -> bool {
        if !one.region.is_mapped() {
            return false;
        }
        let Some(offset) = one.find() else {
            return false;
        };
        if report.context().is_some() && !self.transmit().is_open() {
            return false;
        }
        let place = one.region.mapped.wrapping_add(offset);
        let (bytes, (operand, comparand)) = (one.bytes, one.operands);
        // SAFETY: the word lies in the region, which is mapped here, with its arena, writable.
        let Ok(before) = (unsafe { apply(one.operation, place, bytes, operand, comparand) }) else {
            return false;
        };
        if !one.found.is_null() {
            // SAFETY: `found` has room for the word.
            unsafe { put_element(one.found, bytes, before) };
        }
        self.report_rma(operation(one.found), bytes, report);
        true
    }

    /// Has the peer's process do one atomic operation as [`Endpoint::update`] does, which is asked for
    /// `word`, the operation's ([`Typed::to_wire`]). Returns false where that is not possible at once,
    /// and has done nothing.
    ///
    /// # Safety
    /// As [`Endpoint::update`].
    #[inline(always)]
    pub unsafe fn update_beyond_now<R: Report>(
        &self,
        one: &OneWord<'_>,
        word: u64,
        report: R,
    ) -> bool {
        let (region, bytes) = (one.region, one.bytes);
        let place = region.found.place(one.address);
        if one.find().is_none() || !place.is_multiple_of(bytes as u64) {
            return false;
        }
        if region.link.near().is_none() {
            return false;
        }
        let (operand, comparand) = one.operands;
        let entry = rma_entry(operation(one.found), bytes, report);
        let words = [one.address, word, operand, comparand];
        let (found, _) = self.place_of(one);
        self.ask_atomic(region, entry, words, found, report).is_ok()
    }

    /// Returns the place of the word that was there, and the mark of the operation.
    #[inline(always)]
    pub(super) fn place_of(&self, one: &OneWord<'_>) -> (*mut u8, Mark) {
        if one.found.is_null() {
            (self.unread.as_ptr().cast(), Mark::ATOMIC)
        } else {
            (one.found, Mark::FETCH)
        }
    }

    /// Has the device do one atomic operation as [`Endpoint::update`] does, on a word of 8 bytes, by a
    /// post in line, and calls nothing. Returns false where that is not possible at once, and has done
    /// nothing.
    ///
    /// # Safety
    /// As [`Endpoint::update`]; [`RemoteRegion::is_updated_in_line`] of the region.
    #[inline(always)]
    pub unsafe fn update_word_in_line<R: Report>(&self, one: &OneWord<'_>, report: R) -> bool {
        // SAFETY: `found` is null, or has room for the word until the operation is reported; posts to
        // the region are in line.
        unsafe { self.post_word::<_, false>(one, report) }
    }

    /// Does as [`Endpoint::update_word_in_line`] in a region of [`Endpoint::resolve_by_device`], by fewer
    /// instructions.
    ///
    /// # Safety
    /// As [`Endpoint::update_word_in_line`]; this endpoint has resolved the region.
    #[inline(always)]
    pub unsafe fn update_word_resolved<R: Report>(&self, one: &OneWord<'_>, report: R) -> bool {
        // SAFETY: `found` is null, or has room for the word until the operation is reported; posts to
        // the region, which this endpoint has resolved, are in line.
        unsafe { self.post_word::<_, true>(one, report) }
    }

    /// Posts an operation in line: with `RESOLVED` in a region of [`Endpoint::resolve_by_device`].
    ///
    /// # Safety
    /// As [`Endpoint::update_word_in_line`]; with `RESOLVED` as [`Endpoint::update_word_resolved`].
    #[inline(always)]
    unsafe fn post_word<R: Report, const RESOLVED: bool>(
        &self,
        one: &OneWord<'_>,
        report: R,
    ) -> bool {
        let (region, bytes) = (one.region, size_of::<u64>());
        let (found, mark) = self.place_of(one);
        // A region that is updated in line keeps the alignment of addresses.
        let is_aligned = one.address.is_multiple_of(bytes as u64);
        if one.bytes != bytes || !is_aligned || !one.has_word() {
            return false;
        }
        let (operand, comparand) = one.operands;
        let word = (one.address, amo(one.operation, operand, comparand));
        // SAFETY: the link, which the region holds, has the path, posts by which are in line; `found`
        // has room for the word until the operation is reported. The word was found, so that the
        // region is open.
        unsafe {
            let path = &*region.updated_in_line;
            let what = (mark, report);
            self.update_word_quickly::<_, RESOLVED>(region, path, word, found, what)
        }
    }

    /// Does as [`Endpoint::update_word_in_line`], once it has seen to it that this finds room again.
    ///
    /// # Safety
    /// As [`Endpoint::update_word_in_line`].
    #[inline(always)]
    pub unsafe fn update_word_widened<R: Report>(&self, one: &OneWord<'_>, report: R) -> bool {
        // SAFETY: `found` is null, or has room for the word until the operation is reported; posts to
        // the region are in line.
        self.widen(one.region, report) && unsafe { self.update_word_in_line(one, report) }
    }

    /// Does as [`Endpoint::update_word_in_line`], and as [`Endpoint::update_word_widened`] where that
    /// finds no room.
    ///
    /// # Safety
    /// As [`Endpoint::update_word_in_line`].
    #[inline(never)]
    pub unsafe fn update_word_over_device<R: Report>(&self, one: &OneWord<'_>, report: R) -> bool {
        // SAFETY: `found` is null, or has room for the word until the operation is reported; posts to
        // the region are in line.
        unsafe { self.update_word_in_line(one, report) || self.update_word_widened(one, report) }
    }

    /// Updates an element that this process reaches by loads and stores.
    ///
    /// # Safety
    /// `found` is null, or has room for the element.
    unsafe fn update_mapped(&self, one: &Word<'_>, typed: Typed) -> Result<(), Error> {
        let (region, bytes) = (one.region.plain(), typed.bytes());
        let offset = region.reach(one.address, bytes, typed.right())?;
        let place = region.mapped.wrapping_add(offset);
        // SAFETY: the element lies in the region, which is mapped here, with its arena, writable;
        // `found` has room for it if it is not null.
        unsafe {
            let before = typed.apply(place, one.operand, one.comparand)?;
            if !one.found.is_null() {
                put_element(one.found, bytes, before);
            }
        }
        region.count_if_mapped(Access::Write);
        Ok(())
    }

    /// Has the device update an element, or the peer.
    ///
    /// # Safety
    /// As [`Endpoint::update`].
    unsafe fn update_beyond<R: Report>(
        &self,
        one: &Word<'_>,
        typed: Typed,
        report: R,
    ) -> Result<(), Error> {
        let (region, bytes) = (one.region, typed.bytes());
        let entry = rma_entry(operation(one.found), bytes, report);
        let found = if one.found.is_null() {
            self.unread.as_ptr().cast()
        } else {
            one.found
        };
        if let Path::Far(path) = &region.link.path
            && region.is_of_device
        {
            let native = typed.native().ok_or(Error::NotAllowed)?;
            if region.counted.is_none() {
                let what = match operation(one.found) {
                    Operation::Fetch => Mark::FETCH,
                    _ => Mark::ATOMIC,
                };
                let (word, what) = ((one.address, bytes), (what, report));
                let amo = amo(native, one.operand, one.comparand);
                // SAFETY: `found` has room for the word until the operation is reported.
                return unsafe { self.update_by_device(region, path, word, amo, found, what) };
            }
            let state = State::Parts {
                left: 1,
                error: None,
                told: None,
            };
            let number = self.begin_reported(&region.link, entry, report, state)?;
            let part = Part(NonZero::new(number).ok_or(Error::Again)?);
            let (word, operands) = ((one.address, bytes), (one.operand, one.comparand));
            // SAFETY: `found` has room for the word until the operation is reported.
            let started = unsafe { self.fetch_atomic(region, word, native, operands, found, part) };
            return started.inspect_err(|_| self.abandon(number));
        }
        let what = typed.to_wire() | region.mark;
        let words = [one.address, what, one.operand, one.comparand];
        self.ask_atomic(region, entry, words, found, report)
    }
}
