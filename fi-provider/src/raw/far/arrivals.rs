//! Records that come over the device.

#![expect(unsafe_code, reason = "reads records that a device has written")]

use super::Far;
use super::hub::{CREDITS, HEADER, Hub};
use super::path::{Header, PLACE_BYTES};
use super::wire::Ends;
use crate::raw::address::Address;
use crate::raw::endpoint::origin::Origin;
use crate::raw::endpoint::unguarded::unguarded;
use crate::raw::protocol::{Kind, TAGGED};
use fi_mlx5::lane::To;
use fi_mlx5::queue::Place;
use fi_mlx5::receives::{Buffers, Expected, Receives};
use fi_mlx5::remote::{Segment, Vector};
use fi_mlx5::route::Route;
use fi_mlx5_defs::endian::Be32;
use std::collections::VecDeque;
use std::ptr::NonNull;

/// Records that are taken before a peer is told of them.
const DUE: i64 = CREDITS as i64 / 4;

/// A buffer with a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Full {
    pub(super) index: u16,
    pub(super) bytes: u32,
}

/// A peer that sends records.
#[derive(Debug)]
pub(crate) struct FarOrigin {
    pub(super) origin: Origin,
    /// The number of its connection.
    pub(super) number: u32,
    /// The headers of its messages of bytes alone, and of a tag and bytes.
    pub(super) plain: u64,
    pub(super) tagged: u64,
    pub(super) theirs: Ends,
    pub(super) to_memory: Vector,
    /// The queue pair by which its records come, where it has one of its own.
    pub(super) queue: Option<u32>,
    /// Records that there was no room for, in their order.
    pub(super) left: VecDeque<Full>,
    /// The queue pair by which its records come, as their completions tell it.
    pub(super) expected: Expected,
    /// Records taken of which the peer was told.
    pub(super) told: u64,
    /// Number of records that are to be taken before it is told again: none or fewer where it could
    /// not be.
    pub(super) until_due: i64,
    /// Nothing of it is carried out any more.
    pub(super) is_closed: bool,
    /// It is not closed, and none of its records was left.
    pub(super) is_plain: bool,
    /// The way to its memory, and its place there.
    pub(super) memory: Route,
    pub(super) place: Place,
}

/// The receiving side of an endpoint.
#[derive(Debug)]
pub(crate) struct Arrivals {
    /// Origins by the numbers of their connections: from boxes, to which nothing else leads but
    /// `latest`.
    pub(super) origins: Vec<Option<NonNull<FarOrigin>>>,
    /// The sender of the last message of bytes, or of a tag and bytes: one of them, or null where it
    /// has left records since.
    pub(super) latest: *mut FarOrigin,
    /// Peers with records left.
    pub(super) left: Vec<u32>,
    /// Peers that could not be told the number of their records that were taken.
    pub(super) untold: Vec<u32>,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self {
            origins: Vec::new(),
            latest: std::ptr::null_mut(),
            left: Vec::new(),
            untold: Vec::new(),
        }
    }
}

impl Drop for Arrivals {
    fn drop(&mut self) {
        for origin in self.origins.drain(..).flatten() {
            // SAFETY: the pointer is of a box that `knows` has leaked, and is forgotten here.
            drop(unsafe { Box::from_raw(origin.as_ptr()) });
        }
    }
}

/// Takes over the receive queue of a hub.
pub(crate) fn receives(hub: &Hub) -> Receives {
    let buffers = Buffers {
        address: hub.buffer(0).addr() as u64,
        bytes: (HEADER + hub.most) as u32,
        key: hub.buffers.lkey(),
    };
    let (ring, completions) = (hub.receives.ring(), hub.receives.completion_ring());
    // SAFETY: the hub, which is kept longer beside the receives, keeps the queue, and hands its
    // rings out once; the buffers are registered, and only the receives and the device access them.
    unsafe { Receives::new(ring, completions, buffers) }
}

impl FarOrigin {
    /// Carries out nothing of it any more.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
        self.is_plain = false;
    }

    /// Returns whether the peer is to be told the number of its records that were taken.
    #[inline(always)]
    pub(super) fn is_due(&self) -> bool {
        self.until_due <= 0
    }

    /// Returns the number of its records that were taken.
    pub(super) fn taken(&self) -> u64 {
        self.told.wrapping_add_signed(DUE - self.until_due)
    }

    /// Goes on behind a message that was taken: tells the peer if that is due. Returns whether no
    /// other one has come.
    #[inline(always)]
    pub(super) fn go_on(&mut self, far: &Far) -> bool {
        if self.is_due() {
            return self.go_on_telling(far);
        }
        !far.receives.is_ready()
    }

    #[inline(never)]
    pub(super) fn go_on_telling(&mut self, far: &Far) -> bool {
        if !self.tell(far) {
            // SAFETY: no other reference to the arrivals is used: `Endpoint::take_next_message` and
            // `take_next_tagged`, which have called this, end with it.
            unsafe { unguarded(&far.arrivals) }.note_untold(far, self.number);
        }
        !far.receives.is_ready()
    }

    /// Tells the peer the number of its records that were taken, if a post in line finds room:
    /// [`FarOrigin::tell_slowly`] takes completions for that, and operations that are done would
    /// lie in the way of those that the program starts before they are reported.
    pub(super) fn tell(&mut self, far: &Far) -> bool {
        let (address, key) = self.theirs.taken;
        let segment = Segment::new(address, Be32::new(key));
        let taken = self.taken();
        far.traffic.is_busy.set(true);
        // SAFETY: the lane is alive and used by this thread alone, and the connection is one of its
        // peers.
        let is_told = unsafe {
            self.memory
                .inject(taken, segment, &self.to_memory, self.place)
        };
        if is_told {
            (self.told, self.until_due) = (taken, DUE);
        }
        is_told
    }

    /// Tells it if that is due, also where the lane has no room without looking, or is not
    /// connected yet; false where that cannot be now. In a turn that looks for everything, which
    /// reports the operations whose completions were taken.
    #[cold]
    pub(super) fn tell_slowly(&mut self, far: &Far) -> bool {
        if !self.is_due() || self.tell(far) {
            return true;
        }
        let number = self.number;
        let (address, key) = self.theirs.taken;
        let key = Be32::new(key);
        let hub = &far.hub;
        let lane = hub.memory.lane();
        if !lane.adopt(number) || lane.faults() > 0 && lane.fault(Some(number)).is_some() {
            // A peer that is gone needs it no more, and others are told behind the failure.
            return self.is_closed || hub.is_over(number);
        }
        let taken = |queue| far.traffic.note_taken(queue);
        // SAFETY: this thread alone uses the lane, and the connection is one of its peers.
        if unsafe { lane.has_room(number, taken) } {
            let to = To {
                peer: number,
                vector: &self.to_memory,
                address,
                key,
            };
            let taken = self.taken();
            let count = (&raw const taken).cast();
            // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
            // word is there. A failure that comes just now is looked at the next time.
            let posted = unsafe { lane.write_inline(to, count, size_of::<u64>()) };
            if posted.is_ok() {
                (self.told, self.until_due) = (taken, DUE);
            }
        }
        self.until_due == DUE
    }
}

impl Arrivals {
    /// Returns whether a record that has come to this queue may be of connection `number`.
    pub(super) fn knows(&mut self, hub: &Hub, number: u32, queue: u32) -> bool {
        let at = number as usize;
        if let Some(origin) = self.origin(number) {
            return origin.queue.is_none_or(|known| known == queue);
        }
        let Some(connected) = hub.connection(number) else {
            return false;
        };
        if self.origins.len() <= at {
            self.origins.resize_with(at + 1, || None);
        }
        let theirs = connected.theirs;
        let header = |kind| {
            let origin = number;
            Header { kind, origin }.to_word()
        };
        let origin = Box::new(FarOrigin {
            origin: Origin::new(connected.address),
            number,
            plain: header(Kind::Message as u16),
            tagged: header(TAGGED),
            theirs,
            to_memory: theirs.vector(theirs.inward),
            queue: hub.queue_of(number),
            expected: Expected::queue(hub.queue_of(number)),
            left: VecDeque::new(),
            told: 0,
            until_due: DUE,
            is_closed: false,
            is_plain: true,
            memory: Route::of(hub.memory.lane()),
            place: number as Place * PLACE_BYTES,
        });
        self.origins[at] = Some(NonNull::from(Box::leak(origin)));
        self.knows(hub, number, queue)
    }

    /// Returns the peer of connection `number`, if it has sent records.
    #[inline(always)]
    pub(super) fn origin(&mut self, number: u32) -> Option<&mut FarOrigin> {
        let origin = self.origins.get(number as usize)?.as_ref()?;
        // SAFETY: the pointer is of a box that `knows` has leaked, and no other reference leads
        // there, as the arrivals are borrowed.
        Some(unsafe { &mut *origin.as_ptr() })
    }

    pub(super) fn first_left(&mut self, number: u32) -> Option<Full> {
        self.origin(number)?.left.front().copied()
    }

    pub(super) fn forget_first(&mut self, number: u32) {
        if let Some(origin) = self.origin(number) {
            origin.left.pop_front();
            origin.is_plain = origin.left.is_empty() && !origin.is_closed;
        }
    }

    /// Tells a peer the number of its records that were taken, now or later.
    #[inline(never)]
    pub(super) fn tell(&mut self, far: &Far, number: u32) {
        if let Some(peer) = self.origin(number)
            && !peer.tell(far)
        {
            self.note_untold(far, number);
        }
    }

    /// Has a peer told later the number of its records that were taken.
    #[cold]
    pub(super) fn note_untold(&mut self, far: &Far, number: u32) {
        if !self.untold.contains(&number) {
            self.untold.push(number);
        }
        far.traffic.has_left.set(true);
        far.traffic.is_busy.set(true);
    }

    /// Returns whether records were left, or peers not told.
    pub(super) fn has_more(&self) -> bool {
        !self.untold.is_empty() || !self.left.is_empty()
    }

    /// Returns the addresses of the peers that have sent.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        let known = self.origins.iter().flatten();
        // SAFETY: the pointers are of boxes that `knows` has leaked, and no other references lead
        // there, as the arrivals are borrowed.
        let known = known.map(|one| unsafe { one.as_ref() });
        known.map(|one| one.origin.address().clone()).collect()
    }
}
