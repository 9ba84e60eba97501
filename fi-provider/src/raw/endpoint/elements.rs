//! Atomic operations on elements of many types (fi_atomic(3)): the processor's, by loops of
//! compare-and-swap, as those on words are ([`super::atomic`]). Where the device does them, it does
//! those that it has.

#![expect(unsafe_code, reason = "atomic operations at raw addresses")]

use super::arithmetic::put_element;
use super::link::Path;
use super::pending::State;
use super::rma::rma_entry;
use super::threshold::Work;
use super::vector::{Beside, common};
use super::{Arithmetic, Endpoint, Operation, Typed, Word};
use crate::raw::completion::{Part, Report};
use crate::raw::domain::Domain;
use crate::raw::error::Error;
use crate::raw::region::{Access, Rights};
use std::num::NonZero;

/// The operation that the entry tells of.
fn operation(found: *mut u8) -> Operation {
    if found.is_null() {
        Operation::Atomic
    } else {
        Operation::Fetch
    }
}

impl Domain {
    /// Tells whether endpoints of domains that are opened as this one do an operation on memory of
    /// each other (fi_query_atomic): the processor does all; the device, where nobody reaches a
    /// domain in its memory, some on elements of 4 and 8 bytes.
    pub fn updates(&self, typed: Typed) -> bool {
        if self.config().near {
            return true;
        }
        let native = typed.native();
        native.is_some_and(|native| self.regions().device_does(native, typed.bytes()))
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
        self.start_parts(link, (what, Beside::default()), elements, start, later)
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
        let is_of_device = region.link.address.port.is_far;
        if matches!(region.link.path, Path::Far(_)) && is_of_device {
            let native = typed.native().ok_or(Error::NotAllowed)?;
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
        let words = [one.address, typed.to_wire(), one.operand, one.comparand];
        self.ask_atomic(region, entry, words, found, report)
    }
}
