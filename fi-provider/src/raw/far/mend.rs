//! Failures of queues: an operation that the peer's device has refused fails alone, and a peer that
//! does not answer takes nobody with it.
//!
//! A queue that has failed does nothing any more. Another takes its place, and does the entries that
//! were behind the one that was the cause; that one's operation fails, unless its region has
//! changed since it was looked up by its key: then it is done in the new one. With connected queues
//! the peer's domain makes the other end of the new queue. A peer that does not answer may have done
//! operations whose answers were lost: all operations on its memory fail.

#![expect(
    unsafe_code,
    reason = "has other queues in the places of those that have failed"
)]

use super::Far;
use super::device::Transport;
use super::memory::{FollowUp, Lane};
use super::path::FarPath;
use crate::raw::endpoint::{Endpoint, Link};
use crate::raw::error::Error;
use fi_mlx5::lane::{Failure, Flushed, Local, Posted, Renewed};
use fi_mlx5_defs::endian::Be32;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How long a peer may be silent while something is waited for, before it is probed.
const SILENCE: Duration = Duration::from_secs(1);
/// Turns that find nothing, between two looks at the clock.
const TURNS: u32 = 256;

impl Endpoint {
    /// Notes a turn that has found nothing. Peers that something is waited for are probed now and
    /// then: the device tells of those that are gone.
    pub(crate) fn note_idle(&self, far: &Far) {
        let turns = far.idle_turns.get().wrapping_add(1);
        far.idle_turns.set(turns);
        if turns.is_multiple_of(TURNS) && far.probed.get().elapsed() >= SILENCE {
            far.probed.set(Instant::now());
            self.probe(far);
        }
    }

    #[cold]
    fn probe(&self, far: &Far) {
        for link in self.far_links() {
            let Some(path) = link.far() else { continue };
            let is_waiting = link.asked.get() > 0 || link.burden() > 0 || path.is_starved();
            if is_waiting && path.refusal(Lane::Memory).is_none() {
                path.probe(far.hub.memory.discard(size_of::<u64>()));
            }
        }
    }

    /// Goes on with what failures ask for.
    #[cold]
    pub(crate) fn mend(&self, far: &Far) {
        let links = self.far_links();
        let lanes = [Lane::Messages, Lane::Memory];
        let is_waiting = match far.hub.device.transport {
            _ if lanes.iter().any(|&lane| far.lane(lane).is_lost()) => {
                links
                    .iter()
                    .filter_map(|link| link.far())
                    .for_each(FarPath::note_end);
                false
            }
            Transport::Rc => {
                let mended = links.iter().map(|link| self.mend_connected(far, link));
                mended.fold(false, |any, is_waiting| any | is_waiting)
            }
            Transport::Dc => {
                let mended = lanes.map(|lane| self.mend_initiator(far, lane, &links));
                mended.contains(&true)
            }
        };
        // Others are of peers that are gone.
        far.known_faults
            .set(if is_waiting { usize::MAX } else { far.faults() });
        self.collect_far(far);
        self.part_from_gone();
    }

    /// Goes on with a peer that has connected queues; whether something is waited for.
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
                // SAFETY: this thread alone uses the lane. The hub keeps the pairs of both rings
                // longer than the lane, and made this one for it alone; local memory is kept until
                // the operations are reported.
                let renewed = unsafe { hub.memory.renew(number, &ring, |_| true) };
                self.follow(std::slice::from_ref(link), renewed);
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

    /// Goes on with the initiator of a lane; whether something is waited for.
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
            paths().for_each(FarPath::note_end);
            return false;
        };
        let gone = far.gone.borrow();
        let is_wanted = |vector: Option<[u64; 2]>| vector.is_none_or(|it| !gone.contains(&it));
        // SAFETY: this thread alone uses the lane. The hub keeps the initiators of both rings longer
        // than the lane, and made this one for it alone; local memory is kept until the operations
        // are reported.
        let renewed = unsafe { gate.renew(0, &ring, is_wanted) };
        drop(gone);
        if lane == Lane::Memory {
            self.follow(links, renewed);
        }
        false
    }

    /// Finds operations on memory where they are now.
    fn follow(&self, links: &[Rc<Link>], renewed: Renewed) {
        let mut failed = Some(renewed.failed);
        for link in links {
            let Some(path) = link.far() else { continue };
            let cause = path.follow(&renewed.moved, &renewed.dropped, failed.as_ref());
            if cause && let Some(entry) = failed.take() {
                self.repeat(path, entry);
            }
        }
    }

    /// Repeats the operation that was the cause of a failure, if its region has changed since it was
    /// looked up by its key.
    fn repeat(&self, path: &FarPath, entry: Flushed) {
        let Some((key, address, len, rights, before)) = path.follow_up(entry.posted) else {
            return;
        };
        let Ok(found) = self.find_far(path, key) else {
            return;
        };
        let fits = found.offset(address, len).is_some() && found.state.allows(rights);
        let lane = path.hub.memory.lane();
        // SAFETY: this thread alone uses the lane, and the connection is one of its peers.
        if !fits || found.state == before || !unsafe { lane.has_room(path.number) } {
            return;
        }
        let (posted, key) = (entry.posted, Be32::new(found.device_key));
        // SAFETY: this thread alone uses the lane, and the connection is one of its peers, on whose
        // memory the entry is; local memory is kept until the operation is reported.
        let now = unsafe { lane.post_again(path.number, entry, key) };
        path.move_to_end(posted, now);
    }
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
            if lane.has_room(self.number) {
                // A failure that comes just now is looked at the next time.
                let _ = lane.read(to, local);
            }
        }
    }

    /// Notes where operations are now, and which will not be done; whether the one that was the
    /// cause is among them.
    fn follow(
        &self,
        moved: &[(Posted, Posted)],
        dropped: &[Posted],
        cause: Option<&Flushed>,
    ) -> bool {
        let mut has_cause = false;
        let mut under_way = self.under_way.borrow_mut();
        for one in under_way.iter_mut() {
            if let Some((_, now)) = moved.iter().find(|(before, _)| *before == one.posted) {
                one.posted = *now;
            } else if dropped.contains(&one.posted) {
                one.failed = Some(Error::PeerGone);
            } else if cause.is_some_and(|cause| cause.posted == one.posted) {
                has_cause = true;
                one.failed = Some(if self.is_alive() {
                    Error::NoSuchKey
                } else {
                    Error::PeerGone
                });
            }
        }
        has_cause
    }

    /// How the operation at a place may be repeated.
    fn follow_up(&self, posted: Posted) -> Option<FollowUp> {
        let under_way = self.under_way.borrow();
        let one = under_way.iter().find(|one| one.posted == posted)?;
        one.follow_up().filter(|_| self.is_alive())
    }

    /// Has an operation that was repeated behind all others.
    fn move_to_end(&self, before: Posted, now: Posted) {
        let mut under_way = self.under_way.borrow_mut();
        let Some(at) = under_way.iter().position(|one| one.posted == before) else {
            return;
        };
        if let Some(mut one) = under_way.remove(at) {
            one.close_region();
            (one.posted, one.failed) = (now, None);
            under_way.push_back(one);
        }
    }
}
