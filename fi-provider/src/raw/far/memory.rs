//! Reading and writing memory of peers over the device: the peer's process takes no part.

#![expect(unsafe_code, reason = "posts operations on memory by its C address")]

use super::Far;
use super::lane::Lane;
use super::log::{After, Detail, Log, Noted};
use super::mark::{Follows, Mark};
use super::path::FarPath;
use super::vector::take_word;
use crate::device::Kept;
use crate::device::amo::{Amo, entry};
use crate::raw::completion::{Operation, Plain, Promise, Report, Silent};
use crate::raw::endpoint::{Endpoint, Link, RemoteRegion, rma_entry};
use crate::raw::error::Error;
use crate::raw::protocol::Kind;
use crate::raw::region::{Access, Found, SLOT_BYTES, Seen, TABLE_BYTES, first_slot};
use crate::registration::Loan;
use fi_mlx5::lane::{Failure, Local, Posted, To};
use fi_mlx5::remote::Vector;
use fi_mlx5_defs::endian::Be32;
use std::cell::Cell;
use std::num::NonZero;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The local memory of an operation.
enum Here {
    Registered(Local, Option<Loan>),
    Bounce(Kept),
}

/// Slots of a peer's table that are read at a time, at most.
const SLOTS_AT_ONCE: usize = 8;
/// Longest time that an entry of a table may be in the making.
const TORN: Duration = Duration::from_secs(1);

impl FarPath {
    pub(crate) fn to(&self, address: u64, key: u32) -> To<'_> {
        To {
            peer: self.number,
            vector: &self.to_memory,
            address,
            key: Be32::new(key),
        }
    }

    /// Returns the block of the next entry by the memory lane, modulo its ring.
    #[inline(always)]
    pub(crate) fn next_block(&self) -> u64 {
        // SAFETY: the lane is alive and used by this thread alone; all its queues are of one kind,
        // and the connection is one of its peers.
        unsafe { self.memory.next(self.place) }.into()
    }

    /// Returns the address of the peer's count of such accesses to a region.
    pub(crate) fn count_at(&self, found: &Found, access: Access) -> u64 {
        let (table, _) = self.theirs.table;
        table.wrapping_add(found.count_far(access))
    }

    /// Returns the address vector to the peer's target of a lane.
    pub(crate) fn vector(&self, lane: Lane) -> &Vector {
        match lane {
            Lane::Messages => &self.to_messages,
            Lane::Memory => &self.to_memory,
        }
    }

    /// Returns the reason why nothing can be posted to the peer by a lane now, if that is so.
    pub(crate) fn refusal(&self, lane: Lane) -> Option<Error> {
        if !self.is_alive() {
            return Some(Error::PeerGone);
        }
        let queues = match lane {
            Lane::Messages => self.hub.messages.lane(),
            Lane::Memory => self.memory_lane(),
        };
        let is_mended = queues.faults() > 0 && queues.fault(Some(self.number)).is_some();
        is_mended.then_some(Error::Again)
    }

    /// Waits until an entry of the memory lane is done.
    fn wait(&self, posted: Posted) -> Result<(), Failure> {
        let lane = self.memory_lane();
        loop {
            match lane.end(posted) {
                Some(true) => return Ok(()),
                Some(false) => return Err(Failure::Unreachable),
                None => {}
            }
            match lane.take_next() {
                Some((queue, _)) => self.traffic.note_taken(queue),
                None => lane.idle()?,
            }
        }
    }
}

impl Endpoint {
    /// Finds the region of a key in the table of a peer, and waits for that.
    ///
    /// # Errors
    /// [`Error::NoSuchKey`], [`Error::PeerGone`], [`Error::Broken`]; [`Error::Again`] where the
    /// lane has no room.
    pub(crate) fn find_far(&self, path: &FarPath, key: u64) -> Result<Found, Error> {
        let found = Self::look_for(path, key);
        // The wait has taken completions.
        if let Some(far) = self.far() {
            self.collect_taken(far);
        }
        found
    }

    /// Does as [`Endpoint::find_far`], and leaves it to the caller to report the operations whose
    /// completions the wait has taken.
    pub(super) fn look_for(path: &FarPath, key: u64) -> Result<Found, Error> {
        let start = Instant::now();
        let slots = TABLE_BYTES / SLOT_BYTES;
        // Pieces are as long as records, of which the shortest hold some slots.
        let at_once = SLOTS_AT_ONCE.min(path.hub.memory.piece_len() / SLOT_BYTES);
        let first = first_slot(key);
        let mut at = first;
        while at < first + slots {
            let slot = at % slots;
            let many = at_once.min(slots - slot);
            let kept = path.hub.memory.claim_for_look_up(many * SLOT_BYTES);
            let kept = kept.ok_or(Error::Again)?;
            let read = read_table(path, slot, kept.local);
            // SAFETY: the piece holds so many words, aligned, which the device has written.
            let words = |near: usize| unsafe {
                let slot = (kept.local.address as *const [u64; 8]).add(near);
                slot.read_volatile()
            };
            let seen = read.map(|()| {
                let mut all =
                    (0..many).map(|near| (near, Seen::of(slot + near, &words(near), key)));
                all.find(|(_, seen)| !matches!(seen, Seen::Other))
            });
            let unfinished = seen.as_ref().err().and_then(|(_, posted)| *posted);
            path.hub.memory.release_of_look_up(kept, unfinished);
            match seen.map_err(|(error, _)| error)? {
                None => at += many,
                Some((_, Seen::It(found))) => return Ok(found),
                Some((near, Seen::Torn)) if start.elapsed() < TORN => at += near,
                Some((_, Seen::Torn)) => return Err(Error::Broken),
                Some((_, Seen::End | Seen::Other)) => break,
            }
        }
        Err(Error::NoSuchKey)
    }

    /// Looks that an operation can be posted, and reserves room for its entry.
    pub(super) fn start_far<R: Report>(
        &self,
        link: &Link,
        path: &FarPath,
        report: R,
    ) -> Result<(), Error> {
        if let Some(error) = path.refusal(Lane::Memory) {
            return Err(error);
        }
        // A region may be another endpoint's, whose progress would end the operation.
        if link.own != self.number() {
            return Err(Error::NoSuchPeer);
        }
        path.traffic.is_busy.set(true);
        if !self.has_room_far(path) {
            return Err(Error::Again);
        }
        if report.context().is_some() && !self.transmit().reserve() {
            return Err(Error::Again);
        }
        Ok(())
    }

    /// Notes an operation that was posted, and that leaves `after` to do.
    pub(super) fn note_posted<R: Report>(
        &self,
        path: &FarPath,
        follows: Follows,
        (operation, len, report): (Operation, usize, R),
        posted: Result<Posted, Failure>,
        (after, told): (After, Option<(u64, Rc<Link>)>),
    ) -> Result<(), Error> {
        let posted = match posted {
            Ok(posted) => posted,
            Err(failure) => {
                self.unstart_far(report);
                self.let_go(path, after);
                return Err(path.failure(failure));
            }
        };
        let block = posted.block();
        if matches!(after, After::Nothing) && told.is_none() && !R::IS_PART {
            let mark = match operation {
                Operation::Read => Mark::READ,
                _ => Mark::WRITE,
            };
            let mark = mark.of(report, follows);
            path.log.note(block, mark, len as u32, report);
            return Ok(());
        }
        let detail = Detail {
            entry: rma_entry(operation, len, report),
            promise: Promise::of(report),
            after,
            told,
            pending: report.part().map(NonZero::get),
        };
        path.log.note_detail(block, follows, detail);
        Ok(())
    }

    /// Reads a message that its sender keeps, at an address under a key, to its place, for the
    /// operation `pending`; false where that cannot be now.
    ///
    /// # Safety
    /// `dest` has room for the bytes, and is nobody else's until `pending` is reported.
    pub(crate) unsafe fn read_message(
        &self,
        link: &Rc<Link>,
        (address, key): (u64, u32),
        (dest, len): (*mut u8, usize),
        pending: u64,
    ) -> bool {
        let Some(path) = link
            .far()
            .filter(|path| path.refusal(Lane::Memory).is_none())
        else {
            return false;
        };
        path.traffic.is_busy.set(true);
        if !self.has_room_far(path) {
            return false;
        }
        // SAFETY: the bytes are there until `pending` is reported.
        let here = unsafe { self.here::<false>(path, dest, len) };
        let (local, after) = match here {
            Ok(Some(Here::Bounce(kept))) => (kept.local, After::Copy(kept, dest, len)),
            Ok(Some(Here::Registered(local, loan))) => {
                (local, loan.map_or(After::Nothing, After::Return))
            }
            Ok(None) | Err(_) => return false,
        };
        // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
        // memory is registered until the entry is done.
        let posted = unsafe { path.memory_lane().read(path.to(address, key), local) };
        let Ok(posted) = posted else {
            self.let_go(path, after);
            return false;
        };
        let detail = Detail {
            entry: rma_entry(Operation::Receive, len, Silent),
            promise: Promise::of(Silent),
            after,
            told: None,
            pending: Some(pending),
        };
        path.log
            .note_detail(posted.block(), Follows::default(), detail);
        true
    }

    /// Takes back the reservation of an operation that was not posted.
    pub(super) fn unstart_far<R: Report>(&self, report: R) {
        if report.context().is_some() {
            self.transmit().release();
        }
    }

    /// Lets memory of an operation go that will not be done.
    fn let_go(&self, path: &FarPath, after: After) {
        if let After::Copy(kept, ..) | After::Word(kept, ..) = after {
            path.hub.memory.release(kept, None);
        }
    }

    /// Returns the local memory for an operation on so many bytes; none where it can be had neither
    /// now nor later.
    ///
    /// # Errors
    /// [`Error::Again`] where all bounce memory is in use.
    ///
    /// # Safety
    /// The bytes are there until the operation is reported; or during the call where `WHOLE`, and
    /// then they are copied.
    unsafe fn here<const WHOLE: bool>(
        &self,
        path: &FarPath,
        memory: *mut u8,
        len: usize,
    ) -> Result<Option<Here>, Error> {
        let gate = &path.hub.memory;
        if len > gate.max_message() {
            return Ok(None);
        }
        if !WHOLE && let Some(local) = self.own_memory(memory.addr(), len) {
            return Ok(Some(Here::Registered(local, None)));
        }
        if len <= gate.piece_len() {
            let kept = gate.claim_free(len).ok_or(Error::Again)?;
            return Ok(Some(Here::Bounce(kept)));
        }
        if WHOLE {
            return Ok(None);
        }
        // SAFETY: the bytes are there until the operation is reported, and the loan is kept so
        // long.
        let loan = unsafe { gate.lend_for(memory.addr(), len) };
        Ok(loan.map(|loan| {
            let local = Local {
                address: memory.addr() as u64,
                length: len as u32,
                key: loan.key(),
            };
            Here::Registered(local, Some(loan))
        }))
    }

    /// Writes over the device, and has the peer told with `told` behind that; false where records
    /// have to carry the bytes.
    ///
    /// # Errors
    /// [`Error::Again`], [`Error::PeerGone`].
    ///
    /// # Safety
    /// `source` holds the bytes until the operation is reported; or during the call where `WHOLE`.
    pub(crate) unsafe fn write_far<const WHOLE: bool, R: Report>(
        &self,
        region: &RemoteRegion,
        path: &FarPath,
        address: u64,
        (source, len): (*const u8, usize),
        (told, report): (Option<u64>, R),
    ) -> Result<bool, Error> {
        let what = (Operation::Write, len, report);
        if len == 0 {
            self.report_rma(Operation::Write, len, report);
            return Ok(true);
        }
        let told = told.map(|data| (data, Rc::clone(&region.link)));
        self.start_far(&region.link, path, report)?;
        let to = path.to(address, region.found.device_key);
        let queue = path.memory_lane();
        if len <= queue.max_inline() {
            // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
            // source holds the bytes.
            let posted = unsafe { queue.write_inline(to, source, len) };
            self.note_posted(path, region.follows, what, posted, (After::Nothing, told))?;
            return Ok(true);
        }
        // SAFETY: the source holds the bytes until the operation is reported, or during the call
        // where `WHOLE`.
        let here = unsafe { self.here::<WHOLE>(path, source.cast_mut(), len) };
        let here = here.inspect_err(|_| self.unstart_far(report))?;
        let (posted, after) = match here {
            None => {
                self.unstart_far(report);
                return Ok(false);
            }
            // SAFETY: this thread alone uses the lane, and the connection is one of its peers. The
            // piece has room for the bytes, which the source holds, and is registered and kept
            // until the entry is done.
            Some(Here::Bounce(kept)) => unsafe {
                std::ptr::copy_nonoverlapping(source, kept.local.address as *mut u8, len);
                let posted = queue.write(to, kept.local);
                path.hub.memory.release(kept, posted.ok());
                (posted, After::Nothing)
            },
            // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
            // memory is registered until the operation is done.
            Some(Here::Registered(local, loan)) => unsafe {
                let posted = queue.write(to, local);
                (posted, loan.map_or(After::Nothing, After::Return))
            },
        };
        self.note_posted(path, region.follows, what, posted, (after, told))?;
        Ok(true)
    }

    /// Reads over the device; false where records have to carry the bytes.
    ///
    /// # Errors
    /// As [`Endpoint::write_far`].
    ///
    /// # Safety
    /// `dest` has room for the bytes, and is nobody else's until the operation is reported.
    pub(crate) unsafe fn read_far<R: Report>(
        &self,
        region: &RemoteRegion,
        path: &FarPath,
        address: u64,
        (dest, len): (*mut u8, usize),
        report: R,
    ) -> Result<bool, Error> {
        let what = (Operation::Read, len, report);
        if len == 0 {
            self.report_rma(Operation::Read, len, report);
            return Ok(true);
        }
        if matches!(len, 4 | 8) {
            path.log.make_results(&path.hub.device)?;
        }
        self.start_far(&region.link, path, report)?;
        // SAFETY: the bytes are there until the operation is reported.
        let here = unsafe { self.here::<false>(path, dest, len) };
        let here = here.inspect_err(|_| self.unstart_far(report))?;
        let (local, after) = match here {
            None => {
                self.unstart_far(report);
                return Ok(false);
            }
            Some(Here::Bounce(kept)) => (kept.local, After::Copy(kept, dest, len)),
            Some(Here::Registered(local, loan)) => {
                (local, loan.map_or(After::Nothing, After::Return))
            }
        };
        let to = path.to(address, region.found.device_key);
        // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
        // memory is registered until the operation is done.
        let posted = unsafe { path.memory_lane().read(to, local) };
        self.note_posted(path, region.follows, what, posted, (after, None))?;
        Ok(true)
    }

    /// Has the device do an atomic operation on a word of 4 or 8 bytes, aligned to it; false where
    /// it has none like that.
    ///
    /// # Errors
    /// As [`Endpoint::write_far`].
    ///
    /// # Safety
    /// As [`Endpoint::fetch_atomic`].
    pub(crate) unsafe fn atomic_far<R: Report>(
        &self,
        region: &RemoteRegion,
        path: &FarPath,
        (address, bytes): (u64, usize),
        amo: Amo,
        found: *mut u8,
        (what, report): (Mark, R),
    ) -> Result<bool, Error> {
        let gate = &path.hub.memory;
        let Some(entry) = entry(amo, bytes, || gate.has_masked_atomics(bytes)) else {
            return Ok(false);
        };
        if R::IS_PART {
            // SAFETY: `found` has room for the word until the operation is reported, aligned.
            unsafe {
                self.atomic_part_far(region, path, (address, &entry), (found, bytes), report)?
            };
            return Ok(true);
        }
        path.log.make_results(&path.hub.device)?;
        self.start_far(&region.link, path, report)?;
        // An entry begins where this one does also if it is not posted in line.
        let block = path.next_block();
        let Some(words) = path.log.words() else {
            self.unstart_far(report);
            return Err(Error::Again);
        };
        let to = path.to(address, region.found.device_key);
        let local = words.at(block, bytes as u32);
        // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
        // words are registered as long as the log.
        let posted = unsafe { path.memory_lane().atomic(to, &entry, local) };
        if let Err(failure) = posted {
            self.unstart_far(report);
            return Err(path.failure(failure));
        }
        let mark = what.of(report, region.follows);
        let word = (found, bytes as u32);
        path.log.note_word(block, mark, word, report);
        Ok(true)
    }

    /// Takes the completions that are there, and reports the operations that are done. Returns
    /// whether there were any.
    #[inline(always)]
    pub(crate) fn look_far(&self, far: &Far) -> bool {
        let mut any = false;
        while far.lane(Lane::Messages).take_next().is_some() {
            any = true;
        }
        let lane = far.lane(Lane::Memory);
        while let Some((queue, done)) = lane.take_next() {
            any = true;
            self.collect_far(far, queue, done);
        }
        any
    }

    /// Reports the operations whose completions were taken by posts and waits. Returns whether
    /// there were any. Their blocks may be used again from then on.
    pub(crate) fn collect_taken(&self, far: &Far) -> bool {
        let Some(behind) = far.traffic.take_behind() else {
            return false;
        };
        for queue in behind {
            let done = far.lane(Lane::Memory).done(queue);
            self.collect_far(far, queue, done);
        }
        true
    }

    /// Returns whether the next access to memory of a peer finds room: in its queue, and in the
    /// log, from which operations are taken that are known to be done.
    fn has_room_far(&self, path: &FarPath) -> bool {
        let has_room = path.has_room(Lane::Memory);
        if let Some(far) = self.far() {
            self.collect_taken(far);
        }
        has_room
    }

    /// Reports the operations of a queue before block `done`.
    #[inline(always)]
    fn collect_far(&self, far: &Far, queue: u32, done: u64) {
        let logs = far.logs.borrow();
        let Some(Some(log)) = logs.get(queue as usize) else {
            return;
        };
        far.note_latest(log);
        while let Some((block, mark)) = log.take_plain(done) {
            // SAFETY: the caller of the operation has room for the word, aligned, and it is nobody
            // else's until the operation is reported.
            unsafe { log.end_plain(block, mark, true) };
            self.report_done(mark, log.plain_at(block));
        }
        if !log.is_empty(done) {
            let log = Rc::clone(log);
            drop(logs);
            self.end_before(far, &log, done, Ok(()));
        }
    }

    #[inline(never)]
    pub(super) fn end_rest(&self, queue: u32, done: u64) -> bool {
        if let Some(far) = self.far() {
            self.collect_far(far, queue, done);
        }
        true
    }

    /// Reports an operation that is done, by its notes: it has no details. Returns true.
    #[inline(always)]
    pub(super) fn report_done(&self, mark: Mark, plain: &Cell<Plain>) -> bool {
        if mark.counts() {
            self.counter_of(mark.reads()).add(1);
        }
        if mark.has_context() {
            return self.transmit().fill_plain(plain);
        }
        true
    }

    /// Reports all operations that are done. Returns whether there were any.
    pub(crate) fn sweep_far(&self, far: &Far) -> bool {
        let lane = far.lane(Lane::Memory);
        let mut any = false;
        for log in far.all_logs() {
            any |= self.end_before(far, &log, lane.done(log.queue), Ok(()));
        }
        any
    }

    /// Reports the operations of logs that have ended.
    #[cold]
    pub(crate) fn end_logs(&self, far: &Far) {
        let lane = far.lane(Lane::Memory);
        for log in far.all_logs().iter().filter(|log| log.is_over()) {
            self.end_before(far, log, lane.done(log.queue), Ok(()));
            let posted = lane.posted(log.queue);
            self.end_before(far, log, posted, Err(Error::PeerGone));
        }
    }

    /// Reports the operations before a block. Returns whether there were any.
    #[inline(never)]
    fn end_before(&self, far: &Far, log: &Log, block: u64, result: Result<(), Error>) -> bool {
        let mut any = false;
        while let Some((at, mark)) = log.advance(block) {
            any = true;
            if mark.has_details() {
                if let Some(detail) = log.take_detail() {
                    self.end_detailed(far, detail, result);
                }
                continue;
            }
            // SAFETY: the caller of the operation has room for the word, aligned, and it is nobody
            // else's until the operation is reported.
            let promise = unsafe { log.end_plain(at, mark, result.is_ok()) };
            self.report_plain(mark.operation(), log.len_at(at), promise, result);
        }
        any
    }

    /// Ends an operation of this log that was taken from it.
    pub(crate) fn end_noted(&self, far: &Far, log: &Log, noted: Noted, result: Result<(), Error>) {
        let (operation, len) = (noted.mark.operation(), noted.len as usize);
        let promise = noted.promise();
        log.forget(&noted);
        match noted.detail {
            Some(detail) => self.end_detailed(far, detail, result),
            None => self.report_plain(operation, len, promise, result),
        }
    }

    /// Reports an operation on memory.
    #[inline(always)]
    fn report_plain(
        &self,
        operation: Operation,
        len: usize,
        promise: Promise,
        result: Result<(), Error>,
    ) {
        if result.is_ok() {
            if promise.counts {
                self.counter(operation).add(1);
            }
            if promise.has_entry {
                // Over a device there are no more bytes.
                let plain = Plain::new(operation, 0, len as u32, promise.context);
                self.transmit().fill_plain(&Cell::new(plain));
            }
            return;
        }
        self.report(rma_entry(operation, len, promise), promise, result, true);
    }

    /// Ends an operation that leaves more to do than its report.
    fn end_detailed(&self, far: &Far, detail: Detail, result: Result<(), Error>) {
        match detail.after {
            After::Nothing => {}
            After::Return(loan) => drop(loan),
            After::Copy(kept, dest, len) => {
                if result.is_ok() {
                    // SAFETY: the piece holds the bytes, and the destination has room for them and
                    // is nobody else's until the operation is reported.
                    unsafe {
                        let from = kept.local.address as *const u8;
                        std::ptr::copy_nonoverlapping(from, dest, len);
                    }
                }
                far.hub.memory.release(kept, None);
            }
            After::Word(kept, dest, bytes) => {
                if result.is_ok() {
                    // SAFETY: the piece holds the word, aligned, and the destination has room for
                    // it, aligned to it, and is nobody else's until the operation is reported.
                    unsafe { take_word(kept.local, dest, bytes) };
                }
                far.hub.memory.release(kept, None);
            }
        }
        if let (Ok(()), Some((data, link))) = (result, &detail.told) {
            self.owe(link, Kind::Told, [*data, detail.entry.len as u64, 0]);
        }
        match detail.pending {
            Some(pending) => self.finish(pending, result),
            None => self.report(detail.entry, detail.promise, result, true),
        }
    }
}

/// Reads slots of a peer's table, from this one on, and waits for that.
///
/// # Errors
/// As [`FarPath::failure`], with the entry that the device may still do.
fn read_table(path: &FarPath, slot: usize, local: Local) -> Result<(), (Error, Option<Posted>)> {
    if let Some(error) = path.refusal(Lane::Memory) {
        return Err((error, None));
    }
    path.traffic.is_busy.set(true);
    let (table, key) = path.theirs.table;
    let to = path.to(table + (slot * SLOT_BYTES) as u64, key);
    let lane = path.memory_lane();
    // The post itself would take completions of any queue, and tell nobody.
    while !path.has_room(Lane::Memory) {
        lane.idle()
            .map_err(|failure| (path.failure(failure), None))?;
    }
    // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the piece is
    // registered.
    let posted = unsafe { lane.read(to, local) };
    let posted = posted.map_err(|failure| (path.failure(failure), None))?;
    let done = path.wait(posted);
    done.map_err(|failure| (path.failure(failure), Some(posted)))
}
