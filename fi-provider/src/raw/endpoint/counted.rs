//! Accesses to regions that are counted ([`Rights::COUNTED`]): a right that is given in no state
//! keeps them off the ways of all others, so that these gain no instruction.
//!
//! A word beside the peer's table of regions counts each kind of access: this process adds to it
//! where it loads and stores itself, or the kernel does. By a device an atomic operation follows
//! the access through the same queue, to a word of its own, as the processor's are not atomic with
//! the device's. Accesses by records are counted by the peer. An access that is repeated in another
//! region under its key (`far::mend`) is counted in that one.

#![expect(unsafe_code, reason = "accesses are on memory by its C address")]

use super::link::Path;
use super::pending::{Pending, State};
use super::remote::RemoteRegion;
use super::rma::rma_entry;
use super::threshold::{Counting, Work};
use super::{Atomic, Endpoint, Operation};
use crate::raw::completion::{Part, Promise, Report, Silent};
use crate::raw::error::Error;
use crate::raw::far::path::FarPath;
use crate::raw::libfabric::path::LibfabricPath;
use crate::raw::region::{Access, Found, Rights};
use std::num::NonZero;
use std::rc::Rc;

impl Endpoint {
    /// Writes to a region that has refused that: if it is counted.
    ///
    /// # Errors
    /// As [`Endpoint::write`].
    ///
    /// # Safety
    /// As [`Endpoint::write`]; where `WHOLE`, `source` holds the bytes during the call.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn write_refused<const WHOLE: bool, R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        source: *const u8,
        len: usize,
        report: R,
    ) -> Result<(), Error> {
        let Some(plain) = region.counted.as_deref() else {
            return Err(region.refusal(Rights::WRITE));
        };
        let Path::Far(path) = &plain.link.path else {
            // SAFETY: `source` holds the bytes until the operation is reported, or during the call
            // where `WHOLE`.
            unsafe {
                match report.part().map(Part) {
                    Some(part) => {
                        self.write_at_most::<WHOLE, _>(plain, address, source, len, part)?;
                    }
                    None => {
                        let report = Promise::of(report);
                        self.write_at_most::<WHOLE, _>(plain, address, source, len, report)?;
                    }
                }
            }
            plain.count_if_mapped(Access::Write);
            return Ok(());
        };
        plain.reach(address, len, Rights::WRITE)?;
        let what = (Operation::Write, len, report);
        // SAFETY: `source` holds the bytes until the operation is reported, or during the call
        // where `WHOLE`.
        self.count_behind(plain, what, |part| unsafe {
            let bytes = (source, len);
            let is_written =
                self.write_far::<WHOLE, Part>(plain, path, address, bytes, (None, part))?;
            if !is_written {
                self.write_foreign::<WHOLE, Part>(plain, address, bytes, part)?;
            }
            Ok(is_written)
        })
    }

    /// Writes to a region that is counted, by the device, and tells the peer behind that; false
    /// where records have to carry the bytes: then nothing was done.
    ///
    /// # Safety
    /// As [`Endpoint::write`].
    pub(super) unsafe fn write_counted_with_data<R: Report>(
        &self,
        plain: &RemoteRegion,
        (path, address): (&FarPath, u64),
        (source, len): (*const u8, usize),
        data: u64,
        report: R,
    ) -> Result<bool, Error> {
        let what = (Operation::Write, len, report);
        // SAFETY: `source` holds the bytes until the operation is reported.
        let counted = self.count_behind(plain, what, |part| unsafe {
            let told = (Some(data), part);
            let is_written =
                self.write_far::<false, Part>(plain, path, address, (source, len), told)?;
            is_written.then_some(true).ok_or(Error::TooLong)
        });
        match counted {
            Ok(()) => Ok(true),
            Err(Error::TooLong) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reads from a region that has refused that: if it is counted.
    ///
    /// # Errors
    /// As [`Endpoint::read`].
    ///
    /// # Safety
    /// As [`Endpoint::read`].
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn read_refused<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        dest: *mut u8,
        len: usize,
        report: R,
    ) -> Result<(), Error> {
        let Some(plain) = region.counted.as_deref() else {
            return Err(region.refusal(Rights::READ));
        };
        let Path::Far(path) = &plain.link.path else {
            // SAFETY: `dest` has room for the bytes until the operation is reported.
            unsafe {
                match report.part().map(Part) {
                    Some(part) => self.read(plain, address, dest, len, part)?,
                    None => self.read(plain, address, dest, len, Promise::of(report))?,
                }
            }
            plain.count_if_mapped(Access::Read);
            return Ok(());
        };
        plain.reach(address, len, Rights::READ)?;
        let what = (Operation::Read, len, report);
        // SAFETY: `dest` has room for the bytes until the operation is reported.
        self.count_behind(plain, what, |part| unsafe {
            let is_read = self.read_far(plain, path, address, (dest, len), part)?;
            if !is_read {
                self.read_foreign(plain, address, (dest, len), part)?;
            }
            Ok(is_read)
        })
    }

    /// Does an atomic operation on a region that has refused that: if it is counted.
    ///
    /// # Errors
    /// As [`Endpoint::fetch_atomic`].
    ///
    /// # Safety
    /// As [`Endpoint::fetch_atomic`].
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn update_refused<R: Report>(
        &self,
        region: &RemoteRegion,
        word: (u64, usize),
        operation: Atomic,
        operands: (u64, u64),
        found: *mut u8,
        report: R,
    ) -> Result<(), Error> {
        let Some(plain) = region.counted.as_deref() else {
            return Err(region.refusal(Rights::ATOMIC));
        };
        match &plain.link.path {
            Path::Far(path) if plain.is_of_device => {
                let what = (Operation::Atomic, word.1, report);
                // SAFETY: `found` has room for the word until the operation is reported, aligned.
                self.count_behind(plain, what, |part| unsafe {
                    self.fetch_atomic(plain, word, operation, operands, found, part)?;
                    Ok(true)
                })
            }
            _ => {
                // SAFETY: `found` has room for the word until the operation is reported, aligned.
                unsafe {
                    match report.part().map(Part) {
                        Some(part) => {
                            self.fetch_atomic(plain, word, operation, operands, found, part)?;
                        }
                        None => {
                            let report = Promise::of(report);
                            self.fetch_atomic(plain, word, operation, operands, found, report)?;
                        }
                    }
                }
                plain.count_if_mapped(Access::Write);
                Ok(())
            }
        }
    }

    /// Counts an operation whose parts have all ended in this way by these regions, and goes on
    /// with its end.
    #[cold]
    #[inline(never)]
    pub(super) fn count_whole(
        &self,
        mut pending: Pending,
        counted: Vec<RemoteRegion>,
        result: Result<(), Error>,
    ) {
        let access = access(pending.entry.operation);
        if let State::Parts { left, error, .. } = &mut pending.state {
            // This call's.
            (*left, *error) = (1, None);
        }
        let number = self.pending.borrow_mut().add(pending);
        // There is the room that it has just had.
        let Some(whole) = number.and_then(NonZero::new) else {
            return;
        };
        if result.is_ok() {
            for region in &counted {
                match &region.link.path {
                    Path::Near(_) => region.count(access),
                    Path::Far(_) => self.count_far(region, access, Part(whole)),
                    Path::Libfabric(path) => {
                        self.count_part_by_libfabric(region, path, access, Part(whole));
                    }
                }
            }
        }
        self.finish(whole.get(), result);
    }

    /// Has the peer count an access, as one more part of an operation.
    fn count_part_by_libfabric(
        &self,
        plain: &RemoteRegion,
        path: &LibfabricPath,
        access: Access,
        whole: Part,
    ) {
        self.pending.borrow_mut().add_part(whole.0.get());
        let operation = match access {
            Access::Write => Operation::Write,
            Access::Read => Operation::Read,
        };
        let entry = rma_entry(operation, 0, whole);
        let asked = self.count_by_libfabric(plain, path, access, (entry, whole));
        // There is the room that the last part has just had; the peer may be gone.
        if let Err(error) = asked {
            self.finish(whole.0.get(), Err(error));
        }
    }

    /// Has the device count an access, as one more part of an operation.
    fn count_far(&self, plain: &RemoteRegion, access: Access, whole: Part) {
        let plain = plain.clone();
        self.pending.borrow_mut().add_part(whole.0.get());
        self.start_part(Work::CountAccess(Counting { plain, access }), whole);
    }

    /// Has the device count an access to a region that is reached by it.
    ///
    /// # Errors
    /// As [`Endpoint::fetch_atomic`].
    pub(super) fn count_by_device<R: Report>(
        &self,
        plain: &RemoteRegion,
        access: Access,
        report: R,
    ) -> Result<(), Error> {
        let Path::Far(path) = &plain.link.path else {
            return Err(Error::NoSuchPeer);
        };
        let (address, region) = plain.counts_far(path, access);
        let (word, found) = ((address, size_of::<u64>()), self.unread.as_ptr().cast());
        // SAFETY: nobody reads the word that was there, and its memory is the endpoint's.
        unsafe { self.fetch_atomic(&region, word, Atomic::Add, (1, 0), found, report) }
    }

    /// Has the device count an operation that was repeated in the region `now`, which counts, in
    /// the place of the one that it was begun on; `whole` is the operation that it is a part of.
    pub(crate) fn count_repeated(
        &self,
        (before, now): (&Found, &RemoteRegion),
        (operation, whole): (Operation, Option<u64>),
    ) {
        if !before.state.is_counted() {
            self.count_late(now, operation);
        } else if let Some(whole) = whole {
            self.move_counts(whole, now);
        }
    }

    /// Has the device count an access that was started when its region was not counted, and is done
    /// in one that is.
    fn count_late(&self, region: &RemoteRegion, operation: Operation) {
        let state = State::Parts {
            left: 1,
            error: None,
            told: None,
        };
        let pending = Pending {
            link: Rc::clone(&region.link),
            entry: rma_entry(operation, 0, Silent),
            promise: Promise::of(Silent),
            part: None,
            state,
            rare: None,
        };
        // However many operations wait for the peer: the access has had its room.
        let begun = self.pending.borrow_mut().add(pending);
        if let Some(whole) = begun.and_then(NonZero::new) {
            self.count_far(region, access(operation), Part(whole));
            self.finish(whole.get(), Ok(()));
        }
    }

    /// Starts an access, and counts it behind that if `start` says so: both are one operation.
    pub(super) fn count_behind<R: Report>(
        &self,
        plain: &RemoteRegion,
        (operation, len, report): (Operation, usize, R),
        start: impl FnOnce(Part) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let entry = rma_entry(operation, len, report);
        // This call's, and the access.
        let state = State::Parts {
            left: 2,
            error: None,
            told: None,
        };
        let number = self.begin_reported(&plain.link, entry, report, state)?;
        let whole = Part(NonZero::new(number).ok_or(Error::Again)?);
        let is_counted_here = start(whole).inspect_err(|_| self.abandon(number))?;
        if is_counted_here {
            self.count_far(plain, access(operation), whole);
        }
        self.finish(number, Ok(()));
        Ok(())
    }
}

/// Returns the regions of a peer that count an operation on several ranges or words, each once: by
/// their keys, as one beyond this process may have been looked up for each range.
pub(super) fn counted<'a>(regions: impl Iterator<Item = &'a RemoteRegion>) -> Vec<RemoteRegion> {
    let mut all: Vec<RemoteRegion> = Vec::new();
    for plain in regions.filter_map(|region| region.counted.as_deref()) {
        if all.iter().all(|one| one.key != plain.key) {
            all.push(plain.clone());
        }
    }
    all
}

/// Returns the access as which a region counts an operation.
pub(super) fn access(operation: Operation) -> Access {
    match operation {
        Operation::Read => Access::Read,
        _ => Access::Write,
    }
}
