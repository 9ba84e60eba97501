//! Reading and writing memory of peers (fi_rma(3)).
//!
//! The arena of a peer of the node is mapped here: an operation is loads and stores, done when the
//! call returns. Its other memory goes by the kernel's copy, done when the call returns as well,
//! of which the peer takes a share where it is long (`together`);
//! where the kernel refuses, by rings, and then the peer has to make progress. Memory of peers on
//! other nodes goes by the device ([`crate::raw::far`]). These ways are not ordered.

#![expect(
    unsafe_code,
    reason = "copies between C addresses and peers' memory mapped here"
)]

use super::link::Path;
use super::pending::State;
use super::remote::RemoteRegion;
use super::stream::Stream;
use super::together;
use super::{Config, Endpoint, Operation};
use crate::raw::address_vector::PeerIndex;
use crate::raw::completion::{Counter, Entry, Report};
use crate::raw::error::Error;
use crate::raw::far::mark::Follows;
use crate::raw::protocol::Kind;
use crate::raw::region::{Access, Rights};
use fi_mlx5::remote::RemoteKey;
pub use fi_shm::foreign::Write as KernelWrite;
use fi_shm::{copy, order};
use std::rc::Rc;

/// Bytes that are few.
const FEW: usize = 16;

impl RemoteRegion {
    /// Returns the kernel's copy of a few bytes to a region of a process of the node, which is not
    /// mapped here; none where that is not possible at once.
    #[inline(always)]
    pub fn by_kernel(&self, address: u64, source: *const u8, len: usize) -> Option<KernelWrite> {
        if len > FEW || self.find(address, len, Rights::WRITE).is_none() {
            return None;
        }
        self.link
            .near()?
            .write_few(self.found.place(address), source, len)
    }

    /// Does as [`RemoteRegion::by_kernel`], for 8 bytes.
    #[inline(always)]
    pub fn word_by_kernel(&self, address: u64, source: *const u8) -> Option<KernelWrite> {
        self.find_word(address, Rights::WRITE)?;
        let place = self.found.place(address);
        self.link.near()?.write_few(place, source, size_of::<u64>())
    }

    /// Returns the address of the bytes that such a copy is of.
    pub fn address_of(&self, write: &KernelWrite) -> u64 {
        (write.dest().wrapping_sub(self.found.base)).wrapping_add(self.found.start)
    }
}

impl Endpoint {
    /// Looks the region of a key up at a peer, for as long as it stays open: an operation on it
    /// fails with [`Error::NoSuchKey`] after that, and the key may be looked up again.
    ///
    /// # Errors
    /// [`Error::NoSuchKey`], [`Error::NoSuchPeer`], [`Error::PeerGone`], [`Error::Unreachable`];
    /// [`Error::Again`] where the peer is on another node, until it is connected, and, by
    /// libfabric, until it has answered.
    pub fn resolve(&self, peer: PeerIndex, key: u64) -> Result<RemoteRegion, Error> {
        let link = &self.with_link(peer, |link| Ok(Rc::clone(link)))?;
        if !link.is_alive() {
            return Err(Error::PeerGone);
        }
        let near = match &link.path {
            Path::Near(path) => &path.near,
            Path::Far(path) => {
                let found = self.find_far(path, key);
                if let Some(far) = self.far() {
                    self.collect_taken(far);
                }
                let region = RemoteRegion::beyond(found?, key, link);
                return Ok(region.refusing_if_counted());
            }
            Path::Libfabric(path) => {
                let found = self.look_by_libfabric(path, key)?;
                let region = RemoteRegion::beyond(found, key, link);
                return Ok(region.refusing_if_counted());
            }
        };
        let found = near.table().find(key).ok_or(Error::NoSuchKey)?;
        let mapped = if found.state.is_in_arena() {
            let end = found.base.checked_add(found.len);
            if end.is_none_or(|end| end > near.len()) {
                return Err(Error::Broken);
            }
            near.at(found.base)
        } else {
            std::ptr::null_mut()
        };
        let counts = match found.state.is_counted() {
            true => near.at(found.count_near(Access::Write)),
            false => std::ptr::null_mut(),
        };
        let region = RemoteRegion {
            given_in: found.state.given_in(),
            device_key: RemoteKey::new(found.device_key),
            words: found.words(),
            aligned_words: found.aligned_words(),
            found,
            state: near.table().word(&found),
            beyond: None,
            mapped,
            in_line: std::ptr::null(),
            updated_in_line: std::ptr::null(),
            counts: counts.cast(),
            counted: None,
            mark: 0,
            is_of_device: false,
            key,
            follows: Follows::default(),
            link: Rc::clone(link),
        };
        Ok(region.refusing_if_counted())
    }

    /// Writes bytes that are taken over at once to a region (fi_inject_write).
    ///
    /// # Errors
    /// [`Error::NoSuchKey`], [`Error::NotAllowed`], [`Error::OutOfRange`], [`Error::PeerGone`];
    /// [`Error::Again`] and [`Error::TooLong`] where the bytes go by a ring.
    #[inline]
    pub fn inject_write<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        bytes: &[u8],
        report: R,
    ) -> Result<(), Error> {
        // SAFETY: the slice holds the bytes; so few go to a ring whole, if they go by one.
        unsafe {
            self.write_at_most::<true, R>(region, address, bytes.as_ptr(), bytes.len(), report)
        }
    }

    /// Writes `len` bytes to a region, from `address` on (fi_write).
    ///
    /// # Errors
    /// As [`Endpoint::inject_write`], but for [`Error::TooLong`].
    ///
    /// # Safety
    /// `source` holds the bytes, which stay as they are until the operation is reported, or the
    /// endpoint dropped.
    #[inline]
    pub unsafe fn write<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        source: *const u8,
        len: usize,
        report: R,
    ) -> Result<(), Error> {
        // SAFETY: `source` holds the bytes until the operation is reported.
        unsafe { self.write_at_most::<false, R>(region, address, source, len, report) }
    }

    /// Writes, of bytes that go by a ring only as many as go whole if that is asked for.
    ///
    /// # Safety
    /// As [`Endpoint::write`]; where `WHOLE`, `source` holds the bytes during the call.
    #[inline(always)]
    pub(super) unsafe fn write_at_most<const WHOLE: bool, R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        source: *const u8,
        len: usize,
        report: R,
    ) -> Result<(), Error> {
        let offset = match len {
            8 => region.find_word(address, Rights::WRITE),
            _ => region.find(address, len, Rights::WRITE),
        };
        let Some(offset) = offset else {
            // SAFETY: `source` holds the bytes until the operation is reported, or during the call
            // where `WHOLE`.
            return unsafe { self.write_refused::<WHOLE, R>(region, address, source, len, report) };
        };
        if !region.is_mapped() {
            // SAFETY: `source` holds the bytes until the operation is reported, or during the call
            // where `WHOLE`.
            return unsafe { self.write_beyond::<WHOLE, R>(region, address, source, len, report) };
        }
        if report.context().is_some() && !self.config.transmit.has_room() {
            return Err(Error::Again);
        }
        // SAFETY: the range lies in the region, which is mapped here; `source` holds the bytes. The
        // two may be the same memory, mapped twice, which is as good as disjoint for a copy.
        unsafe { copy::copy(region.mapped.wrapping_add(offset), source, len) };
        self.report_rma(Operation::Write, len, report);
        Ok(())
    }

    /// Writes a few bytes as [`Endpoint::write`] does, where the region is mapped here. Returns
    /// false otherwise, where the access is refused or there is no room for its entry, and has done
    /// nothing. Calls nothing, so that the caller saves no registers.
    ///
    /// # Safety
    /// `source` holds the bytes.
    #[inline(always)]
    pub unsafe fn write_mapped<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        source: *const u8,
        len: usize,
        report: R,
    ) -> bool {
        if !region.is_mapped() {
            return false;
        }
        let offset = region.find(address, len, Rights::WRITE);
        // SAFETY: `source` holds the bytes, and the region is mapped here.
        len <= FEW && unsafe { self.write_few_mapped(region, offset, source, len, report) }
    }

    /// Does as [`Endpoint::write_mapped`] for 8 bytes, whose way is the shortest.
    ///
    /// # Safety
    /// As [`Endpoint::write_mapped`].
    #[inline(always)]
    pub unsafe fn write_word_mapped<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        source: *const u8,
        report: R,
    ) -> bool {
        if !region.is_mapped() {
            return false;
        }
        let offset = region.find_word(address, Rights::WRITE);
        // SAFETY: `source` holds the bytes, and the region is mapped here.
        unsafe { self.write_few_mapped(region, offset, source, size_of::<u64>(), report) }
    }

    /// Writes so many bytes, at most [`FEW`], at this distance from the first byte, if there is
    /// one.
    ///
    /// # Safety
    /// As [`Endpoint::write_mapped`]; the region is mapped here, and has the bytes.
    #[inline(always)]
    unsafe fn write_few_mapped<R: Report>(
        &self,
        region: &RemoteRegion,
        offset: Option<usize>,
        source: *const u8,
        len: usize,
        report: R,
    ) -> bool {
        let Some(offset) = offset else {
            return false;
        };
        // Nobody takes the entry before this call returns. One look tells of its room so.
        if !self.report_written_if_open(len, report) {
            return false;
        }
        // SAFETY: the range lies in the region, which is mapped here; `source` holds the bytes. The
        // two may be the same memory, mapped twice, which is as good as disjoint for a copy.
        unsafe { copy::copy(region.mapped.wrapping_add(offset), source, len) };
        true
    }

    /// Writes a few bytes as [`Endpoint::write`] does to a region that is not mapped here: by a
    /// post in line, which was tried before, or by the kernel's copy. Returns false where that is
    /// not possible at once, and has done nothing.
    ///
    /// # Safety
    /// `source` holds the bytes.
    #[inline(always)]
    pub unsafe fn write_beyond_now<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        source: *const u8,
        len: usize,
        report: R,
    ) -> bool {
        if !region.in_line.is_null() {
            return len == size_of::<u64>()
                // SAFETY: `source` holds the bytes; posts to the region are in line.
                && unsafe { self.write_word_widened(region, address, source, report) };
        }
        let write = region.by_kernel(address, source, len);
        // SAFETY: `source` holds the bytes.
        let is_written =
            self.may_report(report) && write.is_some_and(|write| unsafe { write.run() });
        if !is_written {
            return false;
        }
        self.report_rma(Operation::Write, len, report);
        true
    }

    /// Returns whether an operation that is done at once may report: there is room for its entry.
    #[inline(always)]
    pub fn may_report<R: Report>(&self, report: R) -> bool {
        report.context().is_none() || self.config.transmit.is_open()
    }

    /// Reports a write that the kernel has done.
    #[inline(always)]
    pub fn report_written<R: Report>(&self, len: usize, report: R) {
        self.report_rma(Operation::Write, len, report);
    }

    /// Does as [`Endpoint::report_written`] where it is known that there is room for the entry
    /// ([`Endpoint::may_report`]), whether it is. Calls nothing.
    #[inline(always)]
    pub fn report_written_if_open<R: Report>(&self, len: usize, report: R) -> bool {
        let transmit = &self.config.transmit;
        if let Some(context) = report.context()
            && !transmit.push_plain_if_open(Operation::Write, context, len)
        {
            return false;
        }
        if report.counts() {
            self.config.written.add(1);
        }
        if let Some(whole) = report.part() {
            self.finish(whole.get(), Ok(()));
        }
        true
    }

    /// Writes 8 bytes as [`Endpoint::write`] does by a post in line, and calls nothing. Returns
    /// false where that is not possible at once, and has done nothing.
    ///
    /// # Safety
    /// [`RemoteRegion::is_in_line`] of the region, and `source` holds the bytes.
    #[inline(always)]
    pub unsafe fn write_word_in_line<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        source: *const u8,
        report: R,
    ) -> bool {
        let is_there = region.find_word(address, Rights::WRITE).is_some();
        // SAFETY: `source` holds the bytes; posts to the region are in line, so that its link,
        // which it holds, has the path.
        is_there
            && unsafe { self.write_word_quickly(region, &*region.in_line, address, source, report) }
    }

    /// Writes 8 bytes as [`Endpoint::write_word_in_line`] does to a region of
    /// [`Endpoint::resolve`], by fewer instructions.
    ///
    /// # Safety
    /// As [`Endpoint::write_word_in_line`]; this endpoint has resolved the region.
    #[inline(always)]
    pub unsafe fn write_word_resolved<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        source: *const u8,
        report: R,
    ) -> bool {
        // Asked first: it takes fewer registers, and room is there mostly.
        if region.find_word(address, Rights::WRITE).is_none() {
            return false;
        }
        // SAFETY: `source` holds the bytes; posts to the region are in line, so that its link,
        // which it holds, has the path. A word is found in an open region alone, which counts
        // nothing.
        unsafe {
            let there = (&*region.in_line, address);
            let found = (region, Follows::default());
            self.write_known_word(found, there, || true, source, report)
        }
    }

    /// Does as [`Endpoint::write_word_in_line`] for a region that the endpoint knows by its key.
    ///
    /// # Safety
    /// As [`Endpoint::write_word_in_line`]; [`Endpoint::region_now`] has returned the region.
    #[inline(always)]
    pub unsafe fn write_known_word_in_line<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        source: *const u8,
        report: R,
    ) -> bool {
        let is_there = || region.find_word(address, Rights::WRITE).is_some();
        // SAFETY: `source` holds the bytes; posts to the region are in line, so that its link,
        // which it holds, has the path. A word is found in an open region alone, which counts
        // nothing.
        unsafe {
            let there = (&*region.in_line, address);
            self.write_known_word((region, Follows::YES), there, is_there, source, report)
        }
    }

    /// Writes 8 bytes as [`Endpoint::write_word_in_line`] does, once it has seen to it that this
    /// finds room again. Returns false where there is none, and has done nothing.
    ///
    /// # Safety
    /// As [`Endpoint::write_word_in_line`].
    #[inline(never)]
    pub unsafe fn write_word_widened<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        source: *const u8,
        report: R,
    ) -> bool {
        // SAFETY: `source` holds the bytes, and posts to the region are in line.
        self.widen(region, report)
            && unsafe { self.write_word_in_line(region, address, source, report) }
    }

    /// Sees to it that [`Endpoint::write_word_in_line`] finds room again, if it declined for that.
    /// Returns false where it would do so again.
    #[inline(never)]
    pub fn widen<R: Report>(&self, region: &RemoteRegion, report: R) -> bool {
        // SAFETY: the link, which the region holds, has the path.
        unsafe { region.in_line.as_ref() }.is_some_and(|path| self.widen_path(path, report))
    }

    /// Reads `len` bytes of a region, from `address` on (fi_read).
    ///
    /// # Errors
    /// As [`Endpoint::write`].
    ///
    /// # Safety
    /// `dest` has room for the bytes, and is nobody else's until the operation is reported, or the
    /// endpoint dropped.
    #[inline]
    pub unsafe fn read<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        dest: *mut u8,
        len: usize,
        report: R,
    ) -> Result<(), Error> {
        let Some(offset) = region.find(address, len, Rights::READ) else {
            // SAFETY: `dest` has room for the bytes until the operation is reported.
            return unsafe { self.read_refused(region, address, dest, len, report) };
        };
        if !region.is_mapped() {
            // SAFETY: `dest` has room for the bytes until the operation is reported.
            return unsafe { self.read_beyond(region, address, dest, len, report) };
        }
        if report.context().is_some() && !self.config.transmit.has_room() {
            return Err(Error::Again);
        }
        // SAFETY: the range lies in the region, which is mapped here; `dest` has room.
        unsafe { copy::copy(dest, region.mapped.wrapping_add(offset), len) };
        order::loads();
        self.report_rma(Operation::Read, len, report);
        Ok(())
    }

    /// Writes to memory that is not mapped here.
    ///
    /// # Safety
    /// As [`Endpoint::write`]; where `WHOLE`, `source` holds the bytes during the call.
    #[inline(always)]
    unsafe fn write_beyond<const WHOLE: bool, R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        source: *const u8,
        len: usize,
        report: R,
    ) -> Result<(), Error> {
        // SAFETY: the link, which the region holds, has the path.
        if let Some(path) = unsafe { region.in_line.as_ref() }
            && len == size_of::<u64>()
        {
            // SAFETY: `source` holds the bytes; posts to the region are in line.
            let is_written =
                unsafe { self.write_word_quickly(region, path, address, source, report) };
            if is_written {
                return Ok(());
            }
        }
        // SAFETY: `source` holds the bytes until the operation is reported, or during the call
        // where `WHOLE`.
        unsafe { self.write_otherwise::<WHOLE, R>(region, address, source, len, report) }
    }

    /// Writes to memory that is not mapped here, by any path.
    ///
    /// # Safety
    /// As [`Endpoint::write`]; where `WHOLE`, `source` holds the bytes during the call.
    #[inline(never)]
    unsafe fn write_otherwise<const WHOLE: bool, R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        source: *const u8,
        len: usize,
        report: R,
    ) -> Result<(), Error> {
        // SAFETY: the link, which the region holds, has the path.
        if let Some(path) = unsafe { region.in_line.as_ref() }
            && len == size_of::<u64>()
            && self.widen_path(path, report)
            // SAFETY: `source` holds the bytes; posts to the region are in line.
            && unsafe { self.write_word_quickly(region, path, address, source, report) }
        {
            return Ok(());
        }
        let bytes = (source, len);
        if let Path::Far(path) = &region.link.path {
            // SAFETY: `source` holds the bytes.
            let write = || unsafe { self.write_quickly(region, path, address, bytes, report) };
            if write() || path.widen_memory() && write() {
                return Ok(());
            }
        }
        // SAFETY: `source` holds the bytes until the operation is reported, or during the call
        // where `WHOLE`.
        unsafe { self.write_foreign::<WHOLE, R>(region, address, bytes, report) }
    }

    /// # Safety
    /// As [`Endpoint::write`]; where `WHOLE`, `source` holds the bytes during the call.
    #[inline(never)]
    pub(super) unsafe fn write_foreign<const WHOLE: bool, R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        (source, len): (*const u8, usize),
        report: R,
    ) -> Result<(), Error> {
        let link = &region.link;
        if WHOLE && len > link.eager {
            return Err(Error::TooLong);
        }
        if report.context().is_some() && !self.config.transmit.has_room() {
            return Err(Error::Again);
        }
        if let Path::Far(path) = &link.path {
            let bytes = (source, len);
            // SAFETY: `source` holds the bytes until the operation is reported, or during the call
            // where `WHOLE`.
            let is_written = unsafe {
                self.write_far::<WHOLE, R>(region, path, address, bytes, (None, report))?
            };
            if is_written {
                return Ok(());
            }
        }
        let there = region.found.place(address);
        let is_written = if WHOLE || len < together::LEAST {
            // SAFETY: `source` holds the bytes.
            unsafe { link.write_by_kernel(there, source, len)? }
        } else {
            // SAFETY: `source` holds the bytes.
            unsafe { region.copy_long(Access::Write, address, source.cast_mut(), len)? }
        };
        if is_written {
            region.count(Access::Write);
            self.report_rma(Operation::Write, len, report);
            return Ok(());
        }
        let entry = rma_entry(Operation::Write, len, report);
        let number = self.begin_reported(link, entry, report, State::Answer)?;
        if len > link.eager {
            let target = (region.key, address, region.mark);
            let link = Rc::clone(link);
            self.stream(Stream::to_region(link, source, len, target, number));
            return Ok(());
        }
        let words = [number, region.key, address, 1 | region.mark];
        // SAFETY: `source` holds the bytes, at most `eager`.
        let posted = unsafe { link.post(Kind::Write as u16, words, source, len) };
        posted.inspect_err(|_| self.abandon(number))
    }

    /// Reads memory that is not mapped here.
    ///
    /// # Safety
    /// As [`Endpoint::read`].
    #[inline(always)]
    unsafe fn read_beyond<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        dest: *mut u8,
        len: usize,
        report: R,
    ) -> Result<(), Error> {
        // SAFETY: the link, which the region holds, has the path.
        if let Some(path) = unsafe { region.in_line.as_ref() }
            && len == size_of::<u64>()
            // SAFETY: `dest` has room for the bytes until the operation is reported; posts to the
            // region are in line.
            && unsafe { self.read_word_quickly(region, path, address, dest, report) }
        {
            return Ok(());
        }
        // SAFETY: `dest` has room for the bytes until the operation is reported.
        unsafe { self.read_otherwise(region, address, (dest, len), report) }
    }

    /// Reads memory that is not mapped here, by any path.
    ///
    /// # Safety
    /// As [`Endpoint::read`].
    #[inline(never)]
    unsafe fn read_otherwise<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        place: (*mut u8, usize),
        report: R,
    ) -> Result<(), Error> {
        if let Path::Far(path) = &region.link.path {
            // SAFETY: `dest` has room for the bytes until the operation is reported.
            let read = || unsafe { self.read_quickly(region, path, address, place, report) };
            if read() || path.widen_memory() && read() {
                return Ok(());
            }
        }
        // SAFETY: `dest` has room for the bytes until the operation is reported.
        unsafe { self.read_foreign(region, address, place, report) }
    }

    /// # Safety
    /// As [`Endpoint::read`].
    #[inline(never)]
    pub(super) unsafe fn read_foreign<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        (dest, len): (*mut u8, usize),
        report: R,
    ) -> Result<(), Error> {
        let link = &region.link;
        if report.context().is_some() && !self.config.transmit.has_room() {
            return Err(Error::Again);
        }
        if let Path::Far(path) = &link.path {
            // SAFETY: `dest` has room for the bytes until the operation is reported.
            let is_read = unsafe { self.read_far(region, path, address, (dest, len), report)? };
            if is_read {
                return Ok(());
            }
        }
        if len == 0
            && let Some(path) = link.libfabric()
            && region.found.state.is_counted()
        {
            let entry = rma_entry(Operation::Read, 0, report);
            return self.count_by_libfabric(region, path, Access::Read, (entry, report));
        }
        let there = region.found.place(address);
        // One comparison for no bytes and for many.
        let is_read = if len.wrapping_sub(1) < together::LEAST - 1 {
            // SAFETY: `dest` has room for the bytes.
            unsafe { link.read_by_kernel(there, dest, len)? }
        } else {
            // SAFETY: `dest` has room for the bytes.
            len == 0 || unsafe { region.copy_long(Access::Read, address, dest, len)? }
        };
        if is_read {
            region.count(Access::Read);
            self.report_rma(Operation::Read, len, report);
            return Ok(());
        }
        let entry = rma_entry(Operation::Read, len, report);
        let state = State::Gathering {
            dest,
            left: len,
            answer: None,
        };
        let number = self.begin_reported(link, entry, report, state)?;
        let words = [number, region.key, address, len as u64 | region.mark];
        let asked = link.tell(Kind::Read, words);
        asked.inspect_err(|_| self.abandon(number))
    }

    /// Returns the counter of reads, or of writes and atomic operations.
    #[inline(always)]
    pub(crate) fn counter_of(&self, is_read: bool) -> &Counter {
        let Config { read, written, .. } = &self.config;
        if is_read { read } else { written }
    }

    /// Reports an operation that is done with its call.
    #[inline(always)]
    pub(crate) fn report_rma<R: Report>(&self, operation: Operation, len: usize, report: R) {
        if let Some(context) = report.context() {
            self.config.transmit.push_plain(operation, context, len);
        }
        if report.counts() {
            self.ends(operation).1.add(1);
        }
        if let Some(whole) = report.part() {
            self.finish(whole.get(), Ok(()));
        }
    }

    /// Has memory of near peers that is not mapped here go by their rings, as where the kernel does
    /// not copy between processes.
    ///
    /// # Errors
    /// [`Error::NoSuchPeer`], [`Error::PeerGone`], [`Error::Unreachable`].
    pub fn avoid_kernel(&self, peer: PeerIndex) -> Result<(), Error> {
        self.with_link(peer, |link| {
            if let Some(near) = link.near() {
                near.refuse_kernel();
            }
            Ok(())
        })
    }
}

/// Returns the entry of an operation on memory.
#[inline(always)]
pub(crate) fn rma_entry<R: Report>(operation: Operation, len: usize, report: R) -> Entry {
    Entry {
        context: report.failure().unwrap_or(0),
        operation,
        len,
        data: None,
        tag: None,
        source: None,
        offset: 0,
        is_last: true,
    }
}
