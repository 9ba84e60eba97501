//! Connected queues that a lane gets while it is in use, by a thread that connects them meanwhile.
//!
//! A peer's way changes only when nothing that was posted to it is outstanding: so everything that is on its way to a peer is in one
//! queue, whose order is that of all operations to it.

#![expect(
    unsafe_code,
    reason = "hands queues from the thread that connects them to the lane"
)]

use super::{CONNECTED_UNITS, Failure, Lane, fits};
use crate::queue::{Queue, SendRing};
use fi_mlx5_defs::endian::Be32;
use std::cell::{Cell, UnsafeCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Posts to a peer after which a queue of its own is wanted.
const MANY: u32 = 16;

/// What is known of one peer's queue: the states of [`Place::state`], in their order.
mod state {
    /// Few posts.
    pub(super) const NONE: u32 = 0;
    /// The lane asks for one.
    pub(super) const WANTED: u32 = 1;
    /// It is there.
    pub(super) const READY: u32 = 2;
    /// The lane uses it.
    pub(super) const TAKEN: u32 = 3;
    /// The lane cannot use it.
    pub(super) const REFUSED: u32 = 4;
}

/// One peer.
#[derive(Debug)]
struct Place {
    state: AtomicU32,
    /// Written before the state is READY, read afterwards.
    ring: UnsafeCell<Option<SendRing>>,
    /// Of the lane alone: posts, and how far the peer's initiator was filled before the last one.
    posts: Cell<u32>,
    mark: Cell<u64>,
}

impl Place {
    /// Whether all that was posted to the peer by its initiator, `way`, is known to be done.
    fn is_through(&self, way: &Queue) -> bool {
        way.is_idle() || way.consumed.get() > self.mark.get()
    }
}

/// Queues of a lane that come later, one for each peer at most: what the lane and the thread that connects them share.
#[derive(Debug)]
pub struct Later {
    places: Box<[Place]>,
}

// SAFETY: the cells are of whoever holds the lane; a ring is written by the one thread that connects queues before the state that lets the lane read it.
unsafe impl Sync for Later {}
// SAFETY: the cells are of the thread that holds the lane, and rings lead to memory that belongs to
// no thread.
unsafe impl Send for Later {}

impl Later {
    /// For so many peers.
    #[must_use]
    pub fn new(peers: u32) -> Arc<Self> {
        let place = |_| Place {
            state: AtomicU32::new(state::NONE),
            ring: UnsafeCell::new(None),
            posts: Cell::new(0),
            mark: Cell::new(0),
        };
        Arc::new(Self {
            places: (0..peers).map(place).collect(),
        })
    }

    /// Peers.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    fn state(&self, peer: u32) -> u32 {
        // ORDERING: pairs with the release in `offer`: what is READY has its ring.
        self.places[peer as usize].state.load(Ordering::Acquire)
    }

    /// Whether the lane asks for a queue to this peer.
    #[must_use]
    pub fn is_wanted(&self, peer: u32) -> bool {
        self.state(peer) == state::WANTED
    }

    /// Gives the lane a queue to this peer, connected at both ends; for one thread.
    ///
    /// # Safety
    /// The queue's memory and register live longer than the lane, and nobody else uses them.
    pub unsafe fn offer(&self, peer: u32, ring: SendRing) {
        let place = &self.places[peer as usize];
        if self.state(peer) < state::READY {
            // SAFETY: the lane reads it in the state READY only, and there is one thread that offers.
            unsafe { *place.ring.get() = Some(ring) };
            // ORDERING: pairs with the load in `state`. The lane changes the state before only from NONE to WANTED, which is forgotten.
            place.state.store(state::READY, Ordering::Release);
        }
    }

    /// Peers that the lane reaches by queues which came later.
    #[must_use]
    pub fn taken(&self) -> u32 {
        let taken = |place: &&Place| place.state.load(Ordering::Relaxed) == state::TAKEN;
        self.places.iter().filter(taken).count() as u32
    }
}

impl Lane {
    /// The queue for the next post to peer `index`: the one that it has had or, when that is through with everything posted to the
    /// peer, the one that has come meanwhile.
    pub(super) fn way_to(&self, index: u32) -> u32 {
        let Some(later) = &self.later else {
            return self.queue_of(index);
        };
        let Some(place) = later.places.get(index as usize) else {
            return self.queue_of(index);
        };
        let state = later.state(index);
        if state == state::READY {
            // Once for each peer. What fails here fails the post, too.
            if self.await_through(index, place).is_ok() {
                self.take_queue(index, place);
            }
        } else if state == state::NONE {
            place.posts.set(place.posts.get() + 1);
            if place.posts.get() >= MANY {
                // ORDERING: none: it tells nothing but the wish, and gives way to a queue that has come.
                let _ = place.state.compare_exchange(
                    state::NONE,
                    state::WANTED,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
            }
        }
        let way = self.queue_of(index);
        place.mark.set(self.queues[way as usize].posted());
        way
    }

    /// Notes that more than one entry was posted to peer `index`.
    pub(super) fn note_list(&self, index: u32) {
        let place = self
            .later
            .as_ref()
            .and_then(|later| later.places.get(index as usize));
        if let Some(place) = place {
            let way = self.queue_of(index);
            place
                .mark
                .set(self.queues[way as usize].posted().saturating_sub(1));
        }
    }

    /// Takes the queue to peer `index` that has come, on a lane without initiators, before the first
    /// post to the peer; whether there is one.
    pub fn adopt(&self, index: u32) -> bool {
        let Some(later) = self.later.as_ref().filter(|_| self.initiators == 0) else {
            return true;
        };
        let Some(place) = later.places.get(index as usize) else {
            return false;
        };
        if later.state(index) == state::READY {
            self.take_queue(index, place);
        }
        later.state(index) == state::TAKEN
    }

    /// Waits until all that was posted to the peer by its initiator is known to be done.
    fn await_through(&self, index: u32, place: &Place) -> Result<(), Failure> {
        let at = self.queue_of(index);
        let way = &self.queues[at as usize];
        if !place.is_through(way) {
            // SAFETY: whoever posts holds the lane.
            unsafe { self.sign_last(at)? };
        }
        while !place.is_through(way) {
            self.wait_for_room(way)?;
        }
        Ok(())
    }

    /// Whether peer `index` could change over to a queue that has come, if one has, without a wait:
    /// as far as completions that are there tell. There is room in the queue that it has.
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    pub(super) unsafe fn may_change(&self, index: u32) -> bool {
        let Some(later) = &self.later else {
            return true;
        };
        let Some(place) = later.places.get(index as usize) else {
            return true;
        };
        if later.state(index) != state::READY {
            return true;
        }
        let at = self.queue_of(index);
        let way = &self.queues[at as usize];
        while !place.is_through(way) {
            // SAFETY: this thread holds the lane (the requirement here, too).
            if unsafe { self.sign_last(at) }.is_err() {
                return true;
            }
            if !self.take() {
                return self.check(way).is_err();
            }
        }
        true
    }

    /// Has peer `index` reached by the queue that has come.
    fn take_queue(&self, index: u32, known: &Place) {
        // SAFETY: the state is READY, so that nobody writes it any more.
        let ring = unsafe { *known.ring.get() };
        let usable = |ring: &SendRing| {
            self.registers.is_empty()
                && ring.register == self.register
                && ring.register_size as usize >= self.blueflame
                && ring.max_inline as usize >= self.max_inline
                && fits(ring)
        };
        let Some(ring) = ring.filter(usable) else {
            known.state.store(state::REFUSED, Ordering::Relaxed);
            return;
        };
        // SAFETY: the queue's memory is mapped and only the lane uses it. Queues take their next
        // index from their records.
        unsafe { ring.record.write_volatile(Be32::new(0)) };
        let place = self.queues.place(index as usize);
        // SAFETY: the place is one for a queue that comes later. This thread holds the lane, and
        // has no reference to it; others have none before they hold the lane.
        unsafe { Queue::arrive(place, &ring, CONNECTED_UNITS) };
        self.note_number(ring.number, index);
        if let Some(share) = &self.share {
            share.add(ring.number);
        }
        known.state.store(state::TAKEN, Ordering::Relaxed);
    }
}
