//! Failures of queues: an operation that the peer's device has refused fails alone, and a peer that
//! does not answer takes nobody with it.
//!
//! A queue that has failed does nothing any more. Another takes its place, and does the entries
//! that were behind the one that was the cause; that one's operation fails, unless its region has
//! changed since it was looked up by its key: then it is done in the new one, and counted there if
//! that is counted. With connected queues the peer's domain makes the other end of the new queue. A
//! peer that does not answer may have done operations whose answers were lost: all operations on its
//! memory fail.

#![expect(
    unsafe_code,
    reason = "has other queues in the places of those that have failed"
)]

use super::Far;
use super::device::QpType;
use super::lane::Lane;
use super::log::{Log, Noted};
use super::path::FarPath;
use crate::device::Waiting;
use crate::raw::completion::Operation;
use crate::raw::endpoint::{Endpoint, Link, RemoteRegion};
use crate::raw::error::Error;
use crate::raw::region::{Access, Beyond, Found};
use fi_mlx5::lane::{Failure, Flushed, Local, Undone};
use fi_mlx5_defs::endian::Be32;
use std::ptr;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Longest time that a peer may be silent while something is waited for, before it is probed.
const SILENCE: Duration = Duration::from_secs(1);
/// Turns that find nothing, between two looks at the clock.
const TURNS: u32 = 256;

/// Returns whether something is waited for that the peer's process does.
fn is_waiting_for(link: &Link) -> bool {
    let is_starved = link.far().is_some_and(FarPath::is_starved);
    is_starved || link.asked.get() > 0 || link.burden() > 0
}

impl Endpoint {
    /// Notes a turn that has found nothing. Returns whether it is one of each so many. Peers that
    /// something is waited for are probed now and then: the device tells of those that are gone.
    pub(crate) fn note_idle(&self, far: &Far) -> bool {
        let turns = far.idle_turns.get().wrapping_add(1);
        far.idle_turns.set(turns);
        let is_one = turns.is_multiple_of(TURNS);
        if is_one && far.probed.get().elapsed() >= SILENCE {
            far.probed.set(Instant::now());
            self.probe(far);
        }
        is_one
    }

    /// Probes peers if it is time. Returns when it will be, where something is waited for.
    pub(crate) fn probe_in_time(&self, far: &Far) -> Option<Instant> {
        if !self.far_links().iter().any(|link| is_waiting_for(link)) {
            return None;
        }
        if far.probed.get().elapsed() >= SILENCE {
            far.probed.set(Instant::now());
            self.probe(far);
        }
        Some(far.probed.get() + SILENCE)
    }

    #[cold]
    fn probe(&self, far: &Far) {
        let links = self.far_links();
        for link in &links {
            let Some(path) = link.far() else { continue };
            if is_waiting_for(link) && path.refusal(Lane::Memory).is_none() {
                path.probe(far.hub.memory.discard(size_of::<u64>()));
            }
        }
        self.collect_taken(far);
        let is_starved = |link: &Rc<Link>| link.far().is_some_and(FarPath::is_starved);
        far.traffic.is_starved.set(links.iter().any(is_starved));
    }

    /// Goes on with the work that failures ask for.
    #[cold]
    pub(crate) fn mend(&self, far: &Far) {
        let links = self.far_links();
        let lanes = [Lane::Messages, Lane::Memory];
        // A look-up may meet the failure of a queue that was gone on with before, also of its own
        // new one: such a failure asks for the next call.
        let known = far.faults();
        let is_waiting = match far.hub.device.qp_type {
            _ if lanes.iter().any(|&lane| far.lane(lane).is_lost()) => {
                end_all(far, &links);
                false
            }
            QpType::Rc => {
                let mended = links.iter().map(|link| self.mend_connected(far, link));
                mended.fold(false, |any, is_waiting| any | is_waiting)
            }
            QpType::Dc => {
                let mended = lanes.map(|lane| self.mend_initiator(far, lane, &links));
                mended.contains(&true)
            }
        };
        // Others are of peers that are gone.
        far.known_faults
            .set(if is_waiting { usize::MAX } else { known });
        self.sweep_far(far);
        if far.traffic.has_ended.take() {
            self.end_logs(far);
        }
        self.part_from_gone(Link::is_over);
    }

    /// Goes on with a peer that has connected queues. Returns whether something is waited for.
    fn mend_connected(&self, far: &Far, link: &Rc<Link>) -> bool {
        let Some(path) = link.far().filter(|path| path.is_alive()) else {
            return false;
        };
        let (number, hub) = (path.number, &far.hub);
        if far.lane(Lane::Messages).fault(Some(number)).is_some() {
            path.note_end();
            return false;
        }
        let lane = far.lane(Lane::Memory);
        let Some(fault) = lane.fault(Some(number)) else {
            return false;
        };
        if fault.failure == Failure::Unreachable {
            path.note_end();
            return false;
        }
        if !lane.is_flushed(number) {
            return true;
        }
        match hub.renewed(number) {
            Ok(Some(ring)) => {
                let noted = self.take_noted(far, &path.log);
                // SAFETY: this thread alone uses the lane. The hub keeps the pair of the new ring
                // until another takes its place, and made it for the lane alone; the old one is
                // flushed, and dropped behind that.
                let (undone, pieces) = unsafe {
                    let left = hub.memory.renew(number, &ring);
                    hub.drop_old();
                    left
                };
                let left = Left {
                    index: number,
                    noted,
                    undone,
                    pieces,
                };
                self.follow(far, std::slice::from_ref(link), &path.log, left, |_| true);
                false
            }
            Ok(None) => {
                let asked = hub.renew(number, || self.wake_service());
                asked.map_or_else(|_| path.note_end(), |()| {});
                path.is_alive()
            }
            Err(_) => {
                path.note_end();
                false
            }
        }
    }

    /// Goes on with the initiator of a lane. Returns whether something is waited for.
    fn mend_initiator(&self, far: &Far, lane: Lane, links: &[Rc<Link>]) -> bool {
        let (gate, queue) = (far.gate(lane), far.lane(lane));
        let Some(fault) = queue.fault(None) else {
            return false;
        };
        if !queue.is_flushed(0) {
            return true;
        }
        let paths = || links.iter().filter_map(|link| link.far());
        let is_culprit = |path: &&FarPath| fault.is_of(path.number, path.vector(lane));
        if fault.failure != Failure::RemoteAccess {
            // Also a peer that was parted from: entries to it may be there still.
            far.gone.borrow_mut().extend(fault.vector());
            for path in paths().filter(is_culprit) {
                let both = [Lane::Messages, Lane::Memory].map(|lane| path.vector(lane).words());
                far.gone.borrow_mut().extend(both);
                path.note_end();
            }
        }
        let Ok(ring) = far.hub.initiator(lane) else {
            end_all(far, links);
            return false;
        };
        // All peers may have been parted from: their operations end here all the same.
        let log = far.initiator_log().filter(|_| lane == Lane::Memory);
        let noted = log.as_ref().map(|log| self.take_noted(far, log));
        let gone = far.gone.borrow().clone();
        let is_wanted = |entry: &Flushed| entry.vector().is_none_or(|it| !gone.contains(&it));
        // SAFETY: this thread alone uses the lane. The hub keeps the initiator of the new ring until
        // another takes its place, and made it for the lane alone; the old one is flushed, and
        // dropped behind that.
        let (mut undone, mut pieces) = unsafe {
            let left = gate.renew(0, &ring);
            far.hub.drop_old();
            left
        };
        match log.as_deref().zip(noted) {
            Some((log, noted)) => {
                let left = Left {
                    index: 0,
                    noted,
                    undone,
                    pieces,
                };
                self.follow(far, links, log, left, is_wanted);
            }
            None => {
                undone.behind.retain(is_wanted);
                // SAFETY: this thread alone uses the lane; local memory is kept until the
                // operations are reported.
                unsafe { gate.post_again(0, &undone.behind, &mut pieces) };
                pieces
                    .into_iter()
                    .for_each(|(_, kept)| gate.release(kept, None));
                if lane == Lane::Messages {
                    self.follow_messages();
                }
            }
        }
        false
    }

    /// Takes the operations that are not done of the queue of a log.
    fn take_noted(&self, far: &Far, log: &Log) -> Vec<Noted> {
        self.sweep_far(far);
        log.take_all(far.lane(Lane::Memory).posted(log.queue))
    }

    /// Goes on with the entries that a queue left undone, by the queue in its place: with the one
    /// that was the cause, if its operation is repeated, and with those behind it that are wanted.
    /// Notes their operations where they are now, and reports the others.
    fn follow(
        &self,
        far: &Far,
        links: &[Rc<Link>],
        log: &Log,
        left: Left,
        is_wanted: impl Fn(&Flushed) -> bool,
    ) {
        let (gate, Undone { mut failed, behind }) = (&far.hub.memory, left.undone);
        log.go_on(gate.lane().done(log.queue));
        let mut paths = links.iter().filter_map(|link| link.far());
        let path = match far.hub.device.qp_type {
            QpType::Rc => paths.next(),
            QpType::Dc => paths.find(|path| failed.is_to(path.vector(Lane::Memory))),
        };
        let mut noted = left.noted.into_iter().peekable();
        let cause = noted.next_if(|one| one.block == failed.posted.block());
        // First of all: an entry behind may fail, too, and then flushes a look-up.
        let change = match (&cause, path.filter(|path| path.is_alive())) {
            (Some(cause), Some(path)) => Change::look_for(path, cause, &failed),
            _ => Err(End::Fails(Error::PeerGone)),
        };
        let (mut again, mut over, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        match (cause, &change) {
            (Some(cause), Ok(change)) => {
                failed.set_remote_key(change.key());
                repeated.push(cause.whole());
                again.push((failed, Some(cause)));
            }
            (Some(cause), Err(end)) => over.push((cause, end.result())),
            (None, _) => {}
        }
        for mut entry in behind {
            let one = noted.next_if(|one| one.block == entry.posted.block());
            if !is_wanted(&entry) {
                over.extend(one.map(|one| (one, Err(Error::PeerGone))));
                continue;
            }
            match (&change, one) {
                (Ok(change), Some(one)) if change.suits(&one, &entry) => {
                    entry.set_remote_key(change.key());
                    repeated.push(one.whole());
                    again.push((entry, Some(one)));
                }
                (Ok(change), Some(one)) if change.takes_count(&mut entry) => {
                    over.push((one, Ok(())))
                }
                (_, one) => again.push((entry, one)),
            }
        }
        debug_assert!(noted.next().is_none(), "an operation without an entry");
        let (entries, operations): (Vec<_>, Vec<_>) = again.into_iter().unzip();
        let mut pieces = left.pieces;
        // SAFETY: this thread alone uses the lane; local memory is kept until the operations are
        // reported.
        let places = unsafe { gate.post_again(left.index, &entries, &mut pieces) };
        for (one, now) in operations.into_iter().zip(places) {
            if let Some(one) = one {
                log.note_again(one, now.block());
            }
        }
        pieces
            .into_iter()
            .for_each(|(_, kept)| gate.release(kept, None));
        for (one, result) in over {
            self.end_noted(far, log, one, result);
        }
        if let Ok(change) = change
            && change.found.state.is_counted()
        {
            self.count_all_repeated(links, &change, repeated);
        }
    }

    /// Counts operations that were repeated where their region is counted: those that are parts of
    /// one together.
    fn count_all_repeated(
        &self,
        links: &[Rc<Link>],
        change: &Change<'_>,
        mut operations: Vec<(Operation, Option<u64>)>,
    ) {
        let is_its = |link: &&Rc<Link>| link.far().is_some_and(|path| ptr::eq(path, change.path));
        let Some(link) = links.iter().find(is_its) else {
            return;
        };
        operations.dedup_by(|one, before| one.1.is_some() && one.1 == before.1);
        let before = &change.before.found;
        let now = RemoteRegion::beyond(change.found, change.before.key, link);
        for operation in operations {
            self.count_repeated((before, &now), operation);
        }
    }
}

/// The part of the work of a queue that has failed which is left to the one in its place.
struct Left {
    /// A peer that is reached by the queue.
    index: u32,
    noted: Vec<Noted>,
    undone: Undone,
    pieces: Vec<Waiting>,
}

/// The end of an operation that was the cause of a failure and is not repeated.
enum End {
    Fails(Error),
    /// A count in a region that was closed behind the access, which was done.
    Done,
}

impl End {
    fn result(&self) -> Result<(), Error> {
        match self {
            Self::Fails(error) => Err(*error),
            Self::Done => Ok(()),
        }
    }
}

/// A region of a peer that is under its key in the place of another one, which was found before.
struct Change<'a> {
    path: &'a FarPath,
    before: Rc<Beyond>,
    found: Found,
}

impl<'a> Change<'a> {
    /// Looks for the region that is in the place of that of a failed entry.
    ///
    /// # Errors
    /// The end of the operation, where it is not to be repeated.
    fn look_for(path: &'a FarPath, cause: &Noted, failed: &Flushed) -> Result<Self, End> {
        let gone = Err(End::Fails(Error::NoSuchKey));
        let key = failed.remote_key();
        let is_count = |region: &Rc<Beyond>| path.count_of(&region.found, failed).is_some();
        if let Some(counted) = path.known_regions().find(is_count) {
            path.close_regions(counted.found.device_key);
            return Err(End::Done);
        }
        let before = path.region_under(key);
        path.close_regions(key);
        let Some(before) = before.filter(|_| cause.mark.follows()) else {
            return gone;
        };
        let found = match Endpoint::look_for(path, before.key) {
            Ok(found) => found,
            // The new queue has failed, too.
            Err(Error::Again | Error::PeerGone) => return Err(End::Fails(Error::PeerGone)),
            Err(_) => return gone,
        };
        let is_other = found.state != before.found.state;
        let change = Self {
            path,
            before,
            found,
        };
        let is_repeated = is_other && change.suits(cause, failed);
        if is_repeated { Ok(change) } else { gone }
    }

    /// Returns whether an entry, of this operation, is one on the region before, and can be one on
    /// this region.
    fn suits(&self, one: &Noted, entry: &Flushed) -> bool {
        let place = (entry.remote_address(), u64::from(one.len));
        one.mark.follows()
            && self.path.is_entered_by(entry)
            && entry.remote_key() == self.before.found.device_key
            && self.found.offset(place.0, place.1).is_some()
            && self.found.state.allows(one.mark.rights())
    }

    fn key(&self) -> Be32 {
        Be32::new(self.found.device_key)
    }

    /// Has an entry that counts an access to the region before count one to this region. Returns
    /// whether it is such an entry, and this region counts none.
    fn takes_count(&self, entry: &mut Flushed) -> bool {
        let Some(access) = self.path.count_of(&self.before.found, entry) else {
            return false;
        };
        if !self.found.state.is_counted() {
            return true;
        }
        entry.set_remote_key(Be32::new(self.found.counts_key));
        entry.set_remote_address(self.path.count_at(&self.found, access));
        false
    }
}

/// Ends all that is under way with these peers.
fn end_all(far: &Far, links: &[Rc<Link>]) {
    let paths = links.iter().filter_map(|link| link.far());
    paths.for_each(FarPath::note_end);
    far.all_logs().iter().for_each(|log| log.end());
    far.traffic.has_ended.set(true);
}

impl FarPath {
    /// Reads a word of the peer's table.
    fn probe(&self, local: Local) {
        let (table, key) = self.theirs.table;
        let to = self.to(table, key);
        let lane = self.hub.memory.lane();
        // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
        // memory is registered and of no use to anybody.
        unsafe {
            if self.has_room(Lane::Memory) {
                // A failure that comes just now is looked at the next time.
                let _ = lane.read(to, local);
            }
        }
    }

    /// Returns whether an entry of the memory lane goes to the peer.
    fn is_entered_by(&self, entry: &Flushed) -> bool {
        entry.vector().is_none() || entry.is_to(self.vector(Lane::Memory))
    }

    /// Returns the access to a region that an entry counts, if it counts one.
    fn count_of(&self, found: &Found, entry: &Flushed) -> Option<Access> {
        let counts = |access: &Access| {
            found.state.is_counted()
                && self.is_entered_by(entry)
                && entry.remote_key() == found.counts_key
                && entry.remote_address() == self.count_at(found, *access)
        };
        [Access::Write, Access::Read].into_iter().find(counts)
    }

    /// Returns a region of the peer that its device knows by this key.
    fn region_under(&self, device_key: u32) -> Option<Rc<Beyond>> {
        self.known_regions()
            .find(|region| region.found.device_key == device_key)
    }

    /// Notes that the regions that the peer's device knew by this key are not as they were found.
    fn close_regions(&self, device_key: u32) {
        let is_refused = |region: &Rc<Beyond>| region.found.device_key == device_key;
        let refused = self.known_regions().filter(is_refused);
        refused.for_each(|region| region.close());
    }
}
