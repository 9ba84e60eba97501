//! Reading and writing memory of peers over the device: the peer's process takes no part.

#![expect(unsafe_code, reason = "posts operations on memory by its C address")]

use super::Far;
use super::path::FarPath;
use crate::device::Kept;
use crate::device::amo::{Amo, entry};
use crate::raw::completion::{Entry, Operation, Promise, Report, Silent};
use crate::raw::endpoint::{Atomic, Endpoint, Link, RemoteRegion, rma_entry};
use crate::raw::error::Error;
use crate::raw::protocol::Kind;
use crate::raw::region::{Found, Rights, SLOT_BYTES, Seen, State, TABLE_BYTES, first_slot};
use crate::registration::Loan;
use fi_mlx5::lane::{self, Failure, Local, Posted, To};
use fi_mlx5::remote::Vector;
use fi_mlx5_defs::endian::Be32;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// One of the endpoint's lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// That of records.
    Messages,
    /// That of accesses to memory.
    Memory,
}

/// An operation under way.
#[derive(Debug)]
pub(crate) struct UnderWay {
    pub(crate) posted: Posted,
    /// Why it will not be done.
    pub(crate) failed: Option<Error>,
    entry: Entry,
    promise: Promise,
    after: After,
    /// The data that the peer is told behind the write.
    told: Option<u64>,
    /// The operation that waits for this one, and reports.
    pending: Option<u64>,
    /// The word that tells whether the region is as it was found.
    state: Option<Rc<AtomicU64>>,
    follow_up: Option<FollowUp>,
}

/// By what an operation finds its region again, where it went there by a key: key, address and
/// bytes, the right that it needs, and the state in which the region was found.
pub(crate) type FollowUp = (u64, u64, u64, Rights, State);

/// Operations of one path under way, in the order in which they were posted.
pub(crate) type Queue = VecDeque<UnderWay>;

/// The last step of an operation.
#[derive(Debug)]
enum After {
    Nothing,
    /// Lets memory go.
    Return(Loan),
    /// Takes so many bytes from the bounce memory to their place.
    Copy(Kept, *mut u8, usize),
    /// The same, of a word of so many bytes that an atomic operation has brought.
    Word(Kept, *mut u8, usize),
}

/// The local memory of an operation.
enum Here {
    Registered(Local, Option<Loan>),
    Bounce(Kept),
}

impl UnderWay {
    /// How it may be repeated.
    pub(crate) fn follow_up(&self) -> Option<FollowUp> {
        self.follow_up
    }

    /// Notes that the region is not as it was found.
    pub(crate) fn close_region(&self) {
        if let Some(state) = &self.state {
            // ORDERING: the word is of this thread alone.
            state.store(0, Ordering::Relaxed);
        }
    }
}

/// Slots of a peer's table that are read at a time.
const SLOTS_AT_ONCE: usize = 8;
/// How long an entry of a table may be in the making.
const TORN: Duration = Duration::from_secs(1);

impl FarPath {
    /// The lane that memory is accessed by.
    fn lane(&self) -> &lane::Lane {
        self.hub.memory.lane()
    }

    pub(crate) fn to(&self, address: u64, key: u32) -> To<'_> {
        To {
            peer: self.number,
            vector: &self.to_memory,
            address,
            key: Be32::new(key),
        }
    }

    /// The oldest operation, if it is over, and how.
    fn take_ended(&self) -> Option<(UnderWay, Result<(), Error>)> {
        let mut under_way = self.under_way.borrow_mut();
        let oldest = under_way.front()?;
        let result = match oldest.failed {
            Some(error) => Err(error),
            None if self.lane().end(oldest.posted)? => Ok(()),
            // Another queue takes the place of this one.
            None if self.is_alive() => return None,
            None => Err(Error::PeerGone),
        };
        Some((under_way.pop_front()?, result))
    }

    /// To the peer's target of a lane.
    pub(crate) fn vector(&self, lane: Lane) -> &Vector {
        match lane {
            Lane::Messages => &self.to_messages,
            Lane::Memory => &self.to_memory,
        }
    }

    /// Why nothing can be posted to the peer by a lane now, if that is so.
    pub(crate) fn refusal(&self, lane: Lane) -> Option<Error> {
        if !self.is_alive() {
            return Some(Error::PeerGone);
        }
        let queues = match lane {
            Lane::Messages => self.hub.messages.lane(),
            Lane::Memory => self.lane(),
        };
        let is_mended = queues.faults() > 0 && queues.fault(Some(self.number)).is_some();
        is_mended.then_some(Error::Again)
    }
}

impl Endpoint {
    /// Finds the region of a key in the table of a peer, and waits for that.
    ///
    /// # Errors
    /// [`Error::NoSuchKey`], [`Error::PeerGone`], [`Error::Broken`]; [`Error::Again`] where the
    /// lane has no room.
    pub(crate) fn find_far(&self, path: &FarPath, key: u64) -> Result<Found, Error> {
        let start = Instant::now();
        let slots = TABLE_BYTES / SLOT_BYTES;
        let first = first_slot(key);
        let mut at = first;
        while at < first + slots {
            let slot = at % slots;
            let many = SLOTS_AT_ONCE.min(slots - slot);
            let kept = path.hub.memory.claim_free(many * SLOT_BYTES);
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
            path.hub.memory.release(kept, None);
            match seen? {
                None => at += many,
                Some((_, Seen::It(found))) => return Ok(found),
                Some((near, Seen::Torn)) if start.elapsed() < TORN => at += near,
                Some((_, Seen::Torn)) => return Err(Error::Broken),
                Some((_, Seen::End | Seen::Other)) => break,
            }
        }
        Err(Error::NoSuchKey)
    }

    /// Reserves room for the entry of an operation, and looks that the lane has some for its post.
    fn start_far<R: Report>(&self, link: &Link, path: &FarPath, report: R) -> Result<(), Error> {
        if let Some(error) = path.refusal(Lane::Memory) {
            return Err(error);
        }
        // A region may be another endpoint's, whose progress would end the operation.
        if link.own != self.number() {
            return Err(Error::NoSuchPeer);
        }
        // SAFETY: this thread alone uses the lane, and the connection is one of its peers.
        if !unsafe { path.lane().has_room(path.number) } {
            return Err(Error::Again);
        }
        if report.context().is_some() && !self.transmit().reserve() {
            return Err(Error::Again);
        }
        Ok(())
    }

    /// Notes an operation that was posted.
    fn note_posted<R: Report>(
        &self,
        (region, address): (&RemoteRegion, u64),
        path: &FarPath,
        (operation, len, report): (Operation, usize, R),
        posted: Result<Posted, Failure>,
        after: After,
    ) -> Result<(), Error> {
        let posted = match posted {
            Ok(posted) => posted,
            Err(failure) => {
                self.unstart_far(report);
                self.let_go(path, after);
                return Err(path.failure(failure));
            }
        };
        let right = match operation {
            Operation::Read => Rights::READ,
            Operation::Atomic => Rights::ATOMIC,
            _ => Rights::WRITE,
        };
        let one = UnderWay {
            posted,
            failed: None,
            follow_up: region.follows.then_some((
                region.key,
                address,
                len as u64,
                right,
                region.found.state,
            )),
            entry: rma_entry(operation, len, report),
            promise: Promise::of(report),
            after,
            told: None,
            pending: None,
            state: region.own_state(),
        };
        self.note_under_way(&region.link, path, one);
        Ok(())
    }

    fn note_under_way(&self, link: &Rc<Link>, path: &FarPath, one: UnderWay) {
        let mut under_way = path.under_way.borrow_mut();
        if under_way.is_empty()
            && let Some(far) = self.far()
        {
            far.active.borrow_mut().push(Rc::clone(link));
        }
        under_way.push_back(one);
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
        // SAFETY: this thread alone uses the lane, and the connection is one of its peers.
        if !unsafe { path.lane().has_room(path.number) } {
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
        let posted = unsafe { path.lane().read(path.to(address, key), local) };
        let Ok(posted) = posted else {
            self.let_go(path, after);
            return false;
        };
        let one = UnderWay {
            posted,
            failed: None,
            entry: rma_entry(Operation::Receive, len, Silent),
            promise: Promise::of(Silent),
            after,
            told: None,
            pending: Some(pending),
            state: None,
            follow_up: None,
        };
        self.note_under_way(link, path, one);
        true
    }

    /// Takes back the reservation of an operation that was not posted.
    fn unstart_far<R: Report>(&self, report: R) {
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

    /// The local memory for an operation on so many bytes; none where it can be had neither now nor
    /// later.
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
        // SAFETY: the bytes are there until the operation is reported, and the loan is kept so long.
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

    /// Writes over the device; false where records have to carry the bytes.
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
        report: R,
    ) -> Result<bool, Error> {
        let what = (Operation::Write, len, report);
        if len == 0 {
            self.report_rma(Operation::Write, len, report);
            return Ok(true);
        }
        self.start_far(&region.link, path, report)?;
        let to = path.to(address, region.found.device_key);
        let queue = path.lane();
        if len <= queue.max_inline() {
            // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
            // source holds the bytes.
            let posted = unsafe { queue.write_inline(to, source, len) };
            self.note_posted((region, address), path, what, posted, After::Nothing)?;
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
        self.note_posted((region, address), path, what, posted, after)?;
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
        let posted = unsafe { path.lane().read(to, local) };
        self.note_posted((region, address), path, what, posted, after)?;
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
        report: R,
    ) -> Result<bool, Error> {
        let gate = &path.hub.memory;
        let Some(entry) = entry(amo, bytes, || gate.has_masked_atomics(bytes)) else {
            return Ok(false);
        };
        self.start_far(&region.link, path, report)?;
        let Some(kept) = path.hub.memory.claim_free(bytes) else {
            self.unstart_far(report);
            return Err(Error::Again);
        };
        let to = path.to(address, region.found.device_key);
        // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
        // piece is registered until the operation is done.
        let posted = unsafe { path.lane().atomic(to, &entry, kept.local) };
        let what = (Operation::Atomic, bytes, report);
        let after = After::Word(kept, found, bytes);
        self.note_posted((region, address), path, what, posted, after)?;
        Ok(true)
    }

    /// Reports operations that are over.
    pub(crate) fn collect_far(&self, far: &Far) {
        let links = std::mem::take(&mut *far.active.borrow_mut());
        for link in links {
            let Some(path) = link.far() else { continue };
            while let Some((one, result)) = path.take_ended() {
                self.end_far(&link, path, one, result);
            }
            if !path.under_way.borrow().is_empty() {
                far.active.borrow_mut().push(link);
            }
        }
    }

    fn end_far(
        &self,
        link: &Rc<Link>,
        path: &FarPath,
        mut one: UnderWay,
        result: Result<(), Error>,
    ) {
        match std::mem::replace(&mut one.after, After::Nothing) {
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
                path.hub.memory.release(kept, None);
            }
            After::Word(kept, dest, bytes) => {
                if result.is_ok() {
                    let word = path.hub.memory.word_in(kept.local);
                    // SAFETY: the destination has room for the word, is aligned to it, and nobody
                    // else's until the operation is reported.
                    unsafe {
                        if bytes == 4 {
                            dest.cast::<u32>().write(word as u32);
                        } else {
                            dest.cast::<u64>().write(word);
                        }
                    }
                }
                path.hub.memory.release(kept, None);
            }
        }
        if result == Err(Error::NoSuchKey) {
            one.close_region();
        }
        if let (Ok(()), Some(data)) = (result, one.told) {
            self.owe(link, Kind::Told, [data, one.entry.len as u64, 0]);
        }
        match one.pending {
            Some(pending) => self.finish(pending, result),
            None => self.report(one.entry, one.promise, result, true),
        }
    }
}

impl FarPath {
    /// Has the peer told, with this data, when the operation that was posted last is done.
    pub(crate) fn tell_behind(&self, data: u64) {
        if let Some(newest) = self.under_way.borrow_mut().back_mut() {
            newest.told = Some(data);
        }
    }
}

/// Reads slots of a peer's table, from this one on, and waits for that.
fn read_table(path: &FarPath, slot: usize, local: Local) -> Result<(), Error> {
    if let Some(error) = path.refusal(Lane::Memory) {
        return Err(error);
    }
    let (table, key) = path.theirs.table;
    let to = path.to(table + (slot * SLOT_BYTES) as u64, key);
    let lane = path.lane();
    // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the piece is
    // registered.
    let posted = unsafe { lane.read(to, local) };
    let done = posted.and_then(|posted| lane.wait(posted));
    done.map_err(|failure| path.failure(failure))
}

/// The operation for the device.
pub(crate) fn amo(operation: Atomic, operand: u64, comparand: u64) -> Amo {
    match operation {
        Atomic::Read => Amo::Fetch,
        Atomic::Swap => Amo::Swap(operand),
        Atomic::Add => Amo::Add(operand),
        Atomic::And => Amo::And(operand),
        Atomic::Or => Amo::Or(operand),
        Atomic::Xor => Amo::Xor(operand),
        Atomic::CompareSwap => Amo::CompareSwap(comparand, operand),
    }
}
