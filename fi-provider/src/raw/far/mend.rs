//! Failures of queues: an operation that the peer's device has refused fails alone, and a peer that
//! does not answer takes nobody with it.
//!
//! A queue that has failed does nothing any more. Another takes its place, and does the entries
//! that were behind the one that was the cause; that one's operation fails, unless its region has
//! changed since it was looked up by its key: then it is done in the new one. With connected queues
//! the peer's domain makes the other end of the new queue. A peer that does not answer may have
//! done operations whose answers were lost: all operations on its memory fail.

#![expect(
    unsafe_code,
    reason = "has other queues in the places of those that have failed"
)]

use super::Far;
use super::device::QpType;
use super::lane::Lane;
use super::log::{Log, Noted};
use super::path::FarPath;
use crate::raw::endpoint::{Endpoint, Link};
use crate::raw::error::Error;
use crate::raw::region::Beyond;
use fi_mlx5::lane::{Failure, Flushed, Local, Posted, Renewed};
use fi_mlx5_defs::endian::Be32;
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
        // A look-up for one queue may meet the failure of another, which was gone on with before:
        // such a failure asks for the next call.
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
                // SAFETY: this thread alone uses the lane. The hub keeps the pairs of both rings
                // longer than the lane, and made this one for it alone; local memory is kept until
                // the operations are reported.
                let (renewed, kept) = unsafe { hub.memory.renew(number, &ring, |_| true) };
                let links = std::slice::from_ref(link);
                let again = self.follow(far, links, &path.log, (noted, renewed));
                if let Some(kept) = kept {
                    hub.memory.release(kept, again);
                }
                // A look-up may have met the failure of the next operation.
                lane.fault(Some(number)).is_some()
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
        let Ok(ring) = far.hub.initiator(gate) else {
            end_all(far, links);
            return false;
        };
        // All peers may have been parted from: their operations end here all the same.
        let log = far.initiator_log().filter(|_| lane == Lane::Memory);
        let noted = log.as_ref().map(|log| self.take_noted(far, log));
        let gone = far.gone.borrow();
        let is_wanted = |vector: Option<[u64; 2]>| vector.is_none_or(|it| !gone.contains(&it));
        // SAFETY: this thread alone uses the lane. The hub keeps the initiators of both rings
        // longer than the lane, and made this one for it alone; local memory is kept until the
        // operations are reported.
        let (renewed, kept) = unsafe { gate.renew(0, &ring, is_wanted) };
        drop(gone);
        let mut again = None;
        match log.as_deref().zip(noted) {
            Some((log, noted)) => again = self.follow(far, links, log, (noted, renewed)),
            None if lane == Lane::Messages => self.follow_messages(),
            None => {}
        }
        if let Some(kept) = kept {
            gate.release(kept, again);
        }
        // A look-up may have met the failure of the next operation.
        queue.fault(None).is_some()
    }

    /// Takes the operations that are not done of the queue of a log.
    fn take_noted(&self, far: &Far, log: &Log) -> Vec<Noted> {
        self.sweep_far(far);
        log.take_all(far.lane(Lane::Memory).posted(log.queue))
    }

    /// Notes operations where they are now, and reports those that will not be done. Returns the
    /// place of the one that was the cause, if it is repeated.
    fn follow(
        &self,
        far: &Far,
        links: &[Rc<Link>],
        log: &Log,
        (noted, renewed): (Vec<Noted>, Renewed),
    ) -> Option<Posted> {
        let Renewed {
            failed,
            moved,
            dropped,
        } = renewed;
        let paths = || links.iter().filter_map(|link| link.far());
        log.go_on(far.lane(Lane::Memory).done(log.queue));
        let mut cause = None;
        let mut over = Vec::new();
        for one in noted {
            let is_it = |posted: &Posted| posted.block() == one.block;
            if let Some((_, now)) = moved.iter().find(|(before, _)| is_it(before)) {
                log.note_again(one, now.block());
            } else if dropped.iter().any(is_it) {
                over.push(one);
            } else if is_it(&failed.posted) {
                cause = Some(one);
            }
        }
        for one in over {
            self.end_noted(far, log, one, Err(Error::PeerGone));
        }
        let cause = cause?;
        let is_culprit = |path: &&FarPath| failed.is_to(path.vector(Lane::Memory));
        let path = match far.hub.device.qp_type {
            QpType::Rc => paths().next(),
            QpType::Dc => paths().find(is_culprit),
        };
        let Some(path) = path.filter(|path| path.is_alive()) else {
            self.end_noted(far, log, cause, Err(Error::PeerGone));
            return None;
        };
        let again = self.repeat(path, &cause, &failed);
        path.close_regions(failed.remote_key());
        match again {
            Some(now) => log.note_again(cause, now.block()),
            None => self.end_noted(far, log, cause, Err(Error::NoSuchKey)),
        }
        again
    }

    /// Repeats the operation that was the cause of a failure, if its region has changed since it
    /// was looked up by its key; returns its place then.
    fn repeat(&self, path: &FarPath, cause: &Noted, failed: &Flushed) -> Option<Posted> {
        if !cause.mark.follows() {
            return None;
        }
        let before = path.region_under(failed.remote_key())?;
        let found = Self::look_for(path, before.key).ok()?;
        let (address, len) = (failed.remote_address(), u64::from(cause.len));
        let fits = found.offset(address, len).is_some() && found.state.allows(cause.mark.rights());
        if !fits || found.state == before.found.state || !path.has_room(Lane::Memory) {
            return None;
        }
        let key = Be32::new(found.device_key);
        let lane = path.memory_lane();
        // SAFETY: this thread alone uses the lane, and the connection is one of its peers, on whose
        // memory the entry is; local memory is kept until the operation is reported.
        Some(unsafe { lane.post_again(path.number, failed.clone(), key) })
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
