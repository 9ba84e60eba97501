//! Connected queues that a lane gets while it is in use, by a thread that connects them meanwhile.

#![expect(
    unsafe_code,
    reason = "hands queues from the thread that connects them to the lane"
)]

use crate::queue::{Queue, SendRing};
use std::cell::{Cell, UnsafeCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// States of one peer's queue, the values of [`Place::state`], in their order.
pub(super) mod state {
    /// Few posts.
    pub(crate) const NONE: u32 = 0;
    /// The lane asks for one.
    pub(crate) const WANTED: u32 = 1;
    /// It is there.
    pub(crate) const READY: u32 = 2;
    /// The lane uses it.
    pub(crate) const TAKEN: u32 = 3;
    /// The lane cannot use it.
    pub(crate) const REFUSED: u32 = 4;
}

/// One peer.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) state: AtomicU32,
    /// Written before the state is READY, read afterwards.
    pub(super) ring: UnsafeCell<Option<SendRing>>,
    /// Of the lane alone: posts, and how far the peer's initiator was filled before the last one.
    pub(super) posts: Cell<u32>,
    pub(super) mark: Cell<u64>,
}

impl Place {
    /// Returns whether all entries that were posted to the peer by its initiator, `way`, are known
    /// to be done.
    pub(super) fn is_through(&self, way: &Queue) -> bool {
        way.is_idle() || way.consumed.get() > self.mark.get()
    }
}

/// Queues of a lane that come later, one for each peer at most: the lane and the thread that
/// connects them share this.
#[derive(Debug)]
pub struct Later {
    pub(super) places: Box<[Place]>,
}

// SAFETY: the cells are of the thread that holds the lane; a ring is written by the one thread that
// connects queues before the state that lets the lane read it.
unsafe impl Sync for Later {}
// SAFETY: the cells are of the thread that holds the lane, and rings lead to memory that belongs to
// no thread.
unsafe impl Send for Later {}

impl Later {
    /// Makes one for so many peers.
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

    /// Returns the number of peers.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn state(&self, peer: u32) -> u32 {
        // ORDERING: pairs with the release in `offer`: a place that is READY has its ring.
        self.places[peer as usize].state.load(Ordering::Acquire)
    }

    /// Returns whether the lane asks for a queue to this peer.
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

    /// Returns the number of peers that the lane reaches by queues which came later.
    #[must_use]
    pub fn taken(&self) -> u32 {
        let taken = |place: &&Place| place.state.load(Ordering::Relaxed) == state::TAKEN;
        self.places.iter().filter(taken).count() as u32
    }
}
