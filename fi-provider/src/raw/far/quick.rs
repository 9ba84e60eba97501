//! Short operations on memory by posts in line: few instructions where nothing has to be waited for.
//! They decline otherwise, and where the endpoint is another or the peer is gone; then nothing was
//! done, and [`memory`](super::memory) sees to it.

#![expect(unsafe_code, reason = "posts operations on memory by its C address")]

use super::mark::{Follows, Mark};
use super::path::FarPath;
use crate::device::amo::{Amo, entry};
use crate::raw::completion::{Counted, Report};
use crate::raw::endpoint::{Endpoint, RemoteRegion};
use crate::raw::rights::Rights;
use fi_mlx5::remote::Segment;
use fi_mlx5::route::Route;

impl Endpoint {
    /// Returns whether an operation with this report may be posted by a path; parts of others need
    /// more than the notes of such a one.
    #[inline(always)]
    fn may_use<R: Report>(&self, path: &FarPath) -> bool {
        !R::IS_PART && path.open_to.get() == self.number()
    }

    /// Returns whether such an operation may be posted, and it is known that there is room for its
    /// entry: calls nothing.
    #[inline(always)]
    fn may_post<R: Report>(&self, path: &FarPath, report: R) -> bool {
        self.may_use::<R>(path) && self.may_note(report)
    }

    /// Returns whether it is known that there is room for the entry of an operation with this
    /// report.
    #[inline(always)]
    fn may_note<R: Report>(&self, report: R) -> bool {
        report.context().is_none() || self.transmit().is_open()
    }

    /// Does as [`Endpoint::may_post`], and looks for that room, too.
    #[inline(always)]
    fn may_post_at_all<R: Report>(&self, path: &FarPath, report: R) -> bool {
        self.may_use::<R>(path) && (report.context().is_none() || self.transmit().has_room())
    }

    /// Lets posts of words with this report go on: by room for their entries, or by that of the
    /// device. Returns false where they do not go on further than before.
    #[inline(always)]
    pub(crate) fn widen_path<R: Report>(&self, path: &FarPath, report: R) -> bool {
        if report.context().is_some() && !self.transmit().is_open() {
            return self.transmit().has_room();
        }
        path.widen_memory()
    }

    /// Keeps room for the entry of an operation that was posted.
    #[inline(always)]
    fn note_entry<R: Report>(&self, path: &FarPath, report: R) {
        if report.context().is_some() {
            self.transmit().reserve_found();
        }
        path.traffic.is_busy.set(true);
    }

    /// Writes 8 bytes, which are taken over at once, by a connected queue.
    ///
    /// # Safety
    /// `source` holds the bytes, and posts by the path are in line by connected queues.
    #[inline(always)]
    pub(crate) unsafe fn write_word_quickly<R: Report>(
        &self,
        region: &RemoteRegion,
        path: &FarPath,
        address: u64,
        source: *const u8,
        report: R,
    ) -> bool {
        if !self.may_post(path, report) {
            return false;
        }
        let mark = Mark::WRITE.of(report, region.follows);
        let there = || Some(Segment::to(address, &region.device_key));
        // SAFETY: the source holds 8 bytes, and posts by the path are in line by connected queues.
        unsafe { self.write_word_there(path, there, source, (mark, report)) }
    }

    /// Does as [`Endpoint::write_word_quickly`] for a region that this endpoint has found, of which the
    /// caller knows whether it follows its key, if `is_there` says so, which is asked where there is
    /// room.
    ///
    /// # Safety
    /// As [`Endpoint::write_word_quickly`]; [`Endpoint::resolve`] or [`Endpoint::region_now`] has
    /// returned the region, and where `is_there` is true it is open, and counts nothing.
    #[inline(always)]
    pub(crate) unsafe fn write_known_word<R: Report>(
        &self,
        (region, follows): (&RemoteRegion, Follows),
        (path, address): (&FarPath, u64),
        is_there: impl FnOnce() -> bool,
        source: *const u8,
        report: R,
    ) -> bool {
        debug_assert_eq!(region.follows, follows);
        if R::IS_PART || !self.may_note(report) {
            return false;
        }
        let mark = Mark::WRITE.of(report, follows);
        let there = || is_there().then(|| Segment::to(address, &region.device_key));
        // SAFETY: the source holds 8 bytes, and posts by the path are in line by connected queues.
        // The path is this endpoint's, as the endpoint has found the region by it, and its peer is
        // there, or the region would be closed (`FarPath::note_end`).
        unsafe { self.write_word_there(path, there, source, (mark, report)) }
    }

    /// # Safety
    /// As [`Endpoint::write_word_quickly`]; the path is open to this endpoint.
    #[inline(always)]
    unsafe fn write_word_there<R: Report>(
        &self,
        path: &FarPath,
        there: impl FnOnce() -> Option<Segment>,
        source: *const u8,
        (mark, report): (Mark, R),
    ) -> bool {
        // SAFETY: the source holds 8 bytes.
        let word = || unsafe { source.cast::<u64>().read_unaligned() };
        // SAFETY: posts by the path are in line by connected queues; the lane is alive and used by
        // this thread alone.
        let posted = unsafe { path.connection().inject(word, there) };
        let Some(block) = posted else {
            return false;
        };
        let bytes = size_of::<u64>() as u32;
        path.notes.note(block, mark, bytes, report);
        self.note_entry(path, report);
        true
    }

    /// Has the device add to an aligned word of 8 bytes of a region that the endpoint knows by its
    /// key, by a connected queue, and counts that; if `is_there` says so, which is asked where
    /// there is room.
    ///
    /// # Safety
    /// As [`Endpoint::write_known_word`], with the operand in place of the source.
    #[inline(always)]
    pub(crate) unsafe fn add_to_known_word(
        &self,
        region: &RemoteRegion,
        (path, address): (&FarPath, u64),
        is_there: impl FnOnce() -> bool,
        operand: *const u8,
    ) -> bool {
        // SAFETY: the operand has 8 bytes.
        let word = || unsafe { operand.cast::<u64>().read_unaligned() };
        let there = || is_there().then(|| Segment::to(address, &region.device_key));
        // SAFETY: posts by the path are in line by connected queues; the lane is alive and used by
        // this thread alone. The path is open to this endpoint, as in `write_known_word`.
        let posted = unsafe { path.connection().add(word, there) };
        let Some(block) = posted else {
            return false;
        };
        let mark = Mark::ADDITION.of(Counted, Follows::YES);
        let bytes = size_of::<u64>() as u32;
        path.notes.note(block, mark, bytes, Counted);
        self.note_entry(path, Counted);
        true
    }

    /// Writes `len` bytes, which are taken over at once.
    ///
    /// # Safety
    /// `source` holds the bytes.
    #[inline(always)]
    pub(crate) unsafe fn write_quickly<R: Report>(
        &self,
        region: &RemoteRegion,
        path: &FarPath,
        address: u64,
        (source, len): (*const u8, usize),
        report: R,
    ) -> bool {
        // A length of 0 in an entry stands for 2^31.
        if len == 0 || len > Route::SHORT || !self.may_post_at_all(path, report) {
            return false;
        }
        let block = path.next_block();
        let there = path.there(address, &region.device_key);
        // SAFETY: the lane is alive and used by this thread alone, the connection is one of its
        // peers, and the source holds the bytes.
        if !unsafe { path.memory.write_guarded(source, len, there) } {
            return false;
        }
        let mark = Mark::WRITE.of(report, region.follows);
        path.log.note(block, mark, len as u32, report);
        self.note_entry(path, report);
        true
    }

    /// Reads 8 bytes as [`Endpoint::read`] does, by a post in line. Returns false where that is not
    /// possible at once, and has done nothing. Calls nothing.
    ///
    /// # Safety
    /// As [`Endpoint::read`]; [`RemoteRegion::is_in_line`] of the region.
    #[inline(always)]
    pub unsafe fn read_word_in_line<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        dest: *mut u8,
        report: R,
    ) -> bool {
        // SAFETY: `dest` has room for the bytes until the operation is reported; posts to the
        // region are in line, so that its link, which it holds, has the path.
        region.find_word(address, Rights::READ).is_some()
            && unsafe { self.read_word_quickly(region, &*region.in_line, address, dest, report) }
    }

    /// Reads a word of 8 bytes by a connected queue.
    ///
    /// # Safety
    /// `dest` has room for the bytes, and is nobody else's until the operation is reported. Posts by
    /// the path are in line by connected queues.
    #[inline(always)]
    pub(crate) unsafe fn read_word_quickly<R: Report>(
        &self,
        region: &RemoteRegion,
        path: &FarPath,
        address: u64,
        dest: *mut u8,
        report: R,
    ) -> bool {
        let bytes = size_of::<u64>() as u32;
        let log = &*path.log;
        let Some(words) = log.words().filter(|_| self.may_post(path, report)) else {
            return false;
        };
        let there = Segment::to(address, &region.device_key);
        let local = |block: u16| words.word_at(block.into());
        // SAFETY: posts by the path are in line by connected queues; the lane is alive and used by
        // this thread alone, and the word is registered as long as the log.
        let posted = unsafe { path.connection().read(local, there) };
        let Some(block) = posted else {
            return false;
        };
        let mark = Mark::READ_WORD.of(report, region.follows);
        log.note_word(block.into(), mark, (dest, bytes), report);
        self.note_entry(path, report);
        true
    }

    /// Has the device do an atomic operation on a word of 8 bytes, aligned to it, by a connected
    /// queue; with `RESOLVED` by fewer instructions.
    ///
    /// # Safety
    /// As [`Endpoint::read_word_quickly`], with `found` for `dest`. With `RESOLVED`
    /// [`Endpoint::resolve_by_device`] of this endpoint has returned the region, which is open.
    #[inline(always)]
    pub(crate) unsafe fn update_word_quickly<R: Report, const RESOLVED: bool>(
        &self,
        region: &RemoteRegion,
        path: &FarPath,
        (address, amo): (u64, Amo),
        found: *mut u8,
        (what, report): (Mark, R),
    ) -> bool {
        let bytes = size_of::<u64>() as u32;
        // Only operations that every device has.
        let Some(atomic) = entry(amo, size_of::<u64>(), || false) else {
            return false;
        };
        // Of a region that was resolved, the path is this endpoint's, and its peer is there, or the region
        // would be closed (`FarPath::note_end`).
        let may_post = || match RESOLVED {
            true => !R::IS_PART && self.may_note(report),
            false => self.may_post(path, report),
        };
        let log = &*path.log;
        let Some(words) = log.words().filter(|_| may_post()) else {
            return false;
        };
        let there = Segment::to(address, &region.device_key);
        let local = |block: u16| words.word_at(block.into());
        // SAFETY: posts by the path are in line by connected queues; the lane is alive and used by
        // this thread alone, and the word is registered as long as the log.
        let posted = unsafe { path.connection().update(&atomic, local, there) };
        let Some(block) = posted else {
            return false;
        };
        let follows = match RESOLVED {
            true => Follows::default(),
            false => region.follows,
        };
        debug_assert_eq!(region.follows, follows);
        let mark = what.of(report, follows);
        log.note_word(block.into(), mark, (found, bytes), report);
        self.note_entry(path, report);
        true
    }

    /// Reads a word of 4 or 8 bytes.
    ///
    /// # Safety
    /// `dest` has room for the bytes, and is nobody else's until the operation is reported.
    #[inline(always)]
    pub(crate) unsafe fn read_quickly<R: Report>(
        &self,
        region: &RemoteRegion,
        path: &FarPath,
        address: u64,
        (dest, len): (*mut u8, usize),
        report: R,
    ) -> bool {
        if !matches!(len, 4 | 8) || !self.may_post_at_all(path, report) {
            return false;
        }
        let (block, bytes) = (path.next_block(), len as u32);
        let Some(words) = path.log.words() else {
            return false;
        };
        let local = words.at(block, bytes);
        let there = path.there(address, &region.device_key);
        // SAFETY: the lane is alive and used by this thread alone, the connection is one of its
        // peers, and the word is registered as long as the log.
        if !unsafe { path.memory.start_read(local, there) } {
            return false;
        }
        let mark = Mark::READ_WORD.of(report, region.follows);
        path.log.note_word(block, mark, (dest, bytes), report);
        self.note_entry(path, report);
        true
    }

    /// Has the device do an atomic operation on a word of 4 or 8 bytes, aligned to it.
    ///
    /// # Safety
    /// `found` has room for the word, aligned to it, and is nobody else's until the operation is
    /// reported.
    #[inline(always)]
    pub(crate) unsafe fn update_quickly<R: Report>(
        &self,
        region: &RemoteRegion,
        path: &FarPath,
        (address, len): (u64, usize),
        amo: Amo,
        found: *mut u8,
        (what, report): (Mark, R),
    ) -> bool {
        if !self.may_post_at_all(path, report) {
            return false;
        }
        let (block, bytes) = (path.next_block(), len as u32);
        let gate = &path.hub.memory;
        let Some(atomic) = entry(amo, len, || gate.has_masked_atomics(len)) else {
            return false;
        };
        let Some(words) = path.log.words() else {
            return false;
        };
        let local = words.at(block, bytes);
        let there = path.there(address, &region.device_key);
        // SAFETY: the lane is alive and used by this thread alone, the connection is one of its
        // peers, and the word is registered as long as the log.
        if !unsafe { path.memory.start_atomic(&atomic, local, there) } {
            return false;
        }
        let mark = what.of(report, region.follows);
        path.log.note_word(block, mark, (found, bytes), report);
        self.note_entry(path, report);
        true
    }
}
