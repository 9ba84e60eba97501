//! An endpoint's way to its lane.
//!
//! An endpoint holds a [`Route`] to its lane. Where the lane belongs to one thread and has BlueFlame
//! and registers of its own, [`Route::inject`] and [`Route::add`] are in line at the place of the
//! call. All lanes with BlueFlame have the posts of [`crate::short`], which are compiled for each
//! guard. Where the queue has no room without looking, all of them decline, and the lane's own
//! functions ([`crate::lane`]) do the work.

#![expect(unsafe_code, reason = "finds a lane's queues through raw pointers")]

use crate::connection::Connection;
use crate::guard::{Alone, Kind};
use crate::head::head;
use crate::lane::{Lane, Way};
use crate::post::{commit, control, element, element_to, kept_apart, next_place};
use crate::queue::{Place, Queue, what};
use crate::remote::{Segment, Vector};
use crate::unit::unit;
use fi_mlx5_defs::endian::Be64;
use fi_mlx5_defs::opcode::Opcode;

/// Properties of its lane that an endpoint holds: job constants.
#[derive(Debug)]
#[repr(C)]
pub struct Route {
    /// Whether elements are posted in line by initiators, of which a peer has always the same.
    pub(crate) initiators: bool,
    /// Whether they are posted in line by a connected queue for each peer.
    pub(crate) connected: bool,
    /// Whether elements are posted so in a function of its own, on registers that other lanes ring
    /// as well.
    pub(crate) initiators_on_register: bool,
    pub(crate) connected_on_register: bool,
    /// Whether the way is this one, each by a comparison of its own.
    pub(crate) by_initiators: bool,
    pub(crate) by_connection: bool,
    pub(crate) way: Way,
    pub(crate) guard: Kind,
    /// Bytes that an entry may hold inline.
    pub(crate) most_inline: u16,
    /// Bytes that an entry may hold inline where `connected`, else 0.
    pub(crate) connected_inline: u16,
    /// The places of the initiators, of which there are a power of two.
    pub(crate) mask: Place,
    pub(crate) queues: *const Queue,
    pub(crate) lane: *const Lane,
}

impl Route {
    /// Returns the route to the lane, for an endpoint; the lane must not move while it is used.
    pub fn of(lane: &Lane) -> Self {
        let (way, guard) = (lane.way(), lane.guard());
        Self {
            initiators: guard == Kind::Alone && way == Way::Initiators,
            connected: guard == Kind::Alone && way == Way::Connected,
            initiators_on_register: guard == Kind::OnRegister && way == Way::Initiators,
            connected_on_register: guard == Kind::OnRegister && way == Way::Connected,
            by_initiators: way == Way::Initiators,
            by_connection: way == Way::Connected,
            way,
            guard,
            most_inline: lane.max_inline() as u16,
            connected_inline: match (guard, way) {
                (Kind::Alone, Way::Connected) => lane.max_inline() as u16,
                _ => 0,
            },
            mask: lane.initiators().saturating_sub(1) as usize * size_of::<Queue>(),
            queues: lane.queues(),
            lane,
        }
    }

    /// Returns no route.
    pub const fn none() -> Self {
        Self {
            initiators: false,
            connected: false,
            initiators_on_register: false,
            connected_on_register: false,
            by_initiators: false,
            by_connection: false,
            way: Way::None,
            guard: Kind::None,
            most_inline: 0,
            connected_inline: 0,
            mask: 0,
            queues: std::ptr::null(),
            lane: std::ptr::null(),
        }
    }

    /// Returns a route to the same lane, with no posts in line: for endpoints whose peers have
    /// other numbers than the lane's.
    #[must_use]
    pub fn out_of_line(self) -> Self {
        Self {
            queues: self.queues,
            lane: self.lane,
            guard: self.guard,
            ..Self::none()
        }
    }

    /// Returns the lane, if there is one.
    ///
    /// # Safety
    /// The lane that the route was made of is alive.
    #[inline(always)]
    pub unsafe fn lane(&self) -> Option<&Lane> {
        // SAFETY: null, or the lane that the route was made of, which is alive.
        unsafe { self.lane.as_ref() }
    }

    /// Returns whether posts are in line, or else there are only those of [`crate::short`] and of
    /// the lane.
    #[must_use]
    pub fn is_in_line(&self) -> bool {
        self.initiators || self.connected
    }

    /// Returns whether several threads may use the lane.
    #[inline(always)]
    #[must_use]
    pub fn is_shared(&self) -> bool {
        !matches!(self.guard, Kind::None | Kind::Alone | Kind::OnRegister)
    }

    /// Returns the queue of the initiator for the peer at `place`.
    ///
    /// # Safety
    /// The route's lane is alive, and has initiators.
    #[inline(always)]
    pub(crate) unsafe fn initiator(&self, place: Place) -> *const Queue {
        // SAFETY: the mask is that of the lane's initiators, so that the sum lies in the allocation
        // of its queues.
        unsafe { self.queues.byte_add(place & self.mask) }
    }

    /// Returns the queue that is connected with the peer at `place`.
    ///
    /// # Safety
    /// The route's lane is alive, and has a connected queue for each peer.
    #[inline(always)]
    pub(crate) unsafe fn connection(&self, place: Place) -> *const Queue {
        // SAFETY: the lane has a queue for each peer, so that the sum lies in the allocation of its
        // queues.
        unsafe { self.queues.byte_add(place) }
    }

    /// Returns the block that the next entry to the peer at `place` begins with, modulo 2^16.
    ///
    /// # Safety
    /// The route's lane is alive and used by this thread alone; all its queues are of one kind, and
    /// `place` is that of one of its peers.
    #[inline(always)]
    #[must_use]
    pub unsafe fn next(&self, place: Place) -> u16 {
        // SAFETY: the lane is alive, its queues are of one kind, and the place is a peer's; this
        // thread alone changes them.
        unsafe {
            let queue = if self.by_initiators {
                self.initiator(place)
            } else {
                self.connection(place)
            };
            (*queue).producer.get()
        }
    }

    /// Writes `value` to `address` of the peer at `place`, if nothing has to be waited for.
    ///
    /// # Safety
    /// The route's lane is alive and used by this thread alone; `place` is that of one of its peers,
    /// `vector` leads to that peer.
    #[inline(always)]
    pub unsafe fn inject<T: Copy>(
        &self,
        value: T,
        there: Segment,
        vector: &Vector,
        place: Place,
    ) -> bool {
        let Segment(there) = there;
        let queues = self.queues;
        if self.initiators {
            // SAFETY: the lane is alive and this thread's, and the place that of a peer; in-line
            // routes have initiators under `Alone`.
            let posted = unsafe {
                let queue = self.initiator(place);
                element_to::<T, Alone>(queues, queue, value, there, vector).is_some()
            };
            kept_apart!("initiator");
            return posted;
        }
        if !self.connected {
            return false;
        }
        // SAFETY: the lane is alive and this thread's, and the place that of a peer; it has a
        // connected queue under `Alone`.
        let posted = unsafe { element::<T, Alone>(queues, self.connection(place), value, there) };
        kept_apart!("connected");
        posted.is_some()
    }

    /// Returns whether posts are in line by a connected queue for each peer.
    #[must_use]
    pub fn is_connected_in_line(&self) -> bool {
        self.connected
    }

    /// Returns the connection with the peer at `place`; none where posts are not in line by
    /// connected queues.
    ///
    /// # Safety
    /// The route's lane is alive, and `place` is that of one of its peers.
    #[must_use]
    pub unsafe fn connection_with(&self, place: Place) -> Option<Connection> {
        // SAFETY: the lane is alive, and has a connected queue for each peer; routes of connected
        // queues in line have a lane of one thread with registers of its own.
        (self.connected)
            .then(|| unsafe { Connection::new(self.queues, self.connection(place), self.lane) })
    }

    /// Adds `value`, of 8 bytes, at `address` of the peer at `place`, if nothing has to be waited for.
    ///
    /// # Safety
    /// As [`Route::inject`].
    #[inline(always)]
    pub unsafe fn add(&self, value: u64, there: Segment, place: Place) -> bool {
        if !self.connected {
            return false;
        }
        // SAFETY: the lane is alive and this thread's, so that nobody changes the queue meanwhile;
        // it has one for each peer.
        let queue = unsafe { &*self.connection(place) };
        let Some(at) = queue.free_block() else {
            return false;
        };
        const OTHER: u64 = what(Opcode::Write, 0, 3) ^ what(Opcode::FetchAdd, 0, 4);
        let record = queue.record;
        // SAFETY: the lane is alive, and with it the record.
        let control = control(queue, unsafe { next_place(record) } ^ OTHER);
        let operand = unit(Be64::new(value).raw(), 0);
        // SAFETY: the lane is alive.
        let [low, high] = unsafe { head(self.queues) }.discard;
        let result = unit(low, high);
        queue.unfenced.set(true);
        let entry = [control, there.0, operand, result];
        // SAFETY: the block is free, and the queue this thread's.
        unsafe { commit::<Alone>(self.queues, queue, record, at, entry, 4) };
        true
    }
}
