//! A party, which stands for a process of a job.

use crate::access::Area;
use crate::lane::{Lane, Own};
use crate::meeting::Meeting;
use fi_provider::device;
use fi_provider::symmetric::address_vector::PeerIndex;
use fi_provider::symmetric::domain::Domain;

/// One of the parties that reach each other: its rank, its symmetric memory, its lane.
#[derive(Debug)]
pub(crate) struct Party<'a> {
    /// Its number, from 0, which is its peer index.
    pub(crate) rank: u32,
    /// The number of parties.
    pub(crate) count: u32,
    /// Divisor of numbers of repetitions, see [`Party::turns`].
    pub(crate) slowness: u32,
    /// The lane to all parties, itself included.
    pub(crate) lane: Lane<'a>,
    /// Its domain.
    pub(crate) domain: &'a Domain,
    /// Its heap: [`HEAP`] bytes.
    pub(crate) heap: Area,
    /// Its static data: [`STATICS`] bytes, in another part of the window.
    pub(crate) statics: Area,
    /// The meeting with the others.
    pub(crate) meeting: &'a Meeting,
}

/// Bytes of each party's heap.
pub(crate) const HEAP: usize = 4 << 20;
/// Bytes of each party's static data.
pub(crate) const STATICS: usize = 64 << 10;

impl Party<'_> {
    /// Returns the next party, around the ring; the party itself if it is alone.
    pub(crate) fn right(&self) -> u32 {
        (self.rank + 1) % self.count
    }

    /// Returns the party before, around the ring.
    pub(crate) fn left(&self) -> u32 {
        (self.rank + self.count - 1) % self.count
    }

    /// Returns all parties.
    pub(crate) fn all(&self) -> std::ops::Range<u32> {
        0..self.count
    }

    /// Returns the number of times that something is done, for the number where operations take
    /// nanoseconds.
    pub(crate) fn turns(&self, times: u32) -> u32 {
        (times / self.slowness).max(1)
    }

    /// Opens a lane beside the party's own, to `members` in this order; for several threads if it
    /// is to be `shared`.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn open_lane(
        &self,
        shared: bool,
        members: &[PeerIndex],
    ) -> Result<Lane<'_>, device::Error> {
        open_lane(self.domain, shared, members)
    }

    /// Returns both parts of the symmetric memory.
    pub(crate) fn areas(&self) -> [Area; 2] {
        [self.heap, self.statics]
    }

    /// Waits for all parties.
    pub(crate) fn meet(&self) {
        self.meeting.meet();
    }

    /// Waits for all parties, when all that this one did is delivered.
    pub(crate) fn quiet_and_meet(&self) {
        self.lane.quiet().unwrap();
        self.meet();
    }
}

/// Opens a lane of `domain` beside the default one, to `members` in this order.
///
/// # Errors
/// Those of the device.
pub(crate) fn open_lane<'a>(
    domain: &'a Domain,
    shared: bool,
    members: &[PeerIndex],
) -> Result<Lane<'a>, device::Error> {
    let gate = match domain.open_gate(shared) {
        // All lanes are one.
        Err(error @ device::Error::NoLane) => domain.share_gate(&error),
        opened => opened?,
    };
    let peers = domain.peers().select(members).expect("members are peers");
    let numbers = members.to_vec();
    let own = Own {
        peers,
        numbers,
        gate,
    };
    Ok(Lane::beside(domain, own))
}
