//! Change of a lane over to a connected queue that has come meanwhile ([`Later`](super::Later)).
//!
//! A peer's way changes only when no posted entry to it is outstanding: so all entries that are on
//! their way to a peer are in one queue, whose order is that of all operations to it.

#![expect(
    unsafe_code,
    reason = "takes queues over from the thread that connects them"
)]

use super::later::{Place, state};
use super::{CONNECTED_UNITS, Failure, Lane, fits};
use crate::queue::{Queue, SendRing};
use fi_mlx5_defs::endian::Be32;
use std::sync::atomic::Ordering;

/// Posts to a peer after which a queue of its own is wanted.
const MANY: u32 = 16;

impl Lane {
    /// Returns the queue for the next post to peer `index`: the one that it has had or, when that
    /// is through with everything posted to the peer, the one that has come meanwhile.
    pub(super) fn way_to(&self, index: u32) -> u32 {
        let Some(later) = &self.later else {
            return self.queue_of(index);
        };
        let Some(place) = later.places.get(index as usize) else {
            return self.queue_of(index);
        };
        let state = later.state(index);
        if state == state::READY {
            // Once for each peer. A failure here fails the post, too.
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
            // SAFETY: the posting thread holds the lane.
            unsafe { self.sign_last(at)? };
        }
        while !place.is_through(way) {
            self.wait_for_room(way)?;
        }
        Ok(())
    }

    /// Returns whether peer `index` could change over to a queue that has come, if one has, without
    /// a wait: as far as completions that are there tell, of whose queues `taken` is told. There is
    /// room in the queue that it has.
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    pub(super) unsafe fn may_change(&self, index: u32, mut taken: impl FnMut(u32)) -> bool {
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
            match self.take_next() {
                Some((queue, _)) => taken(queue),
                None => return self.check(way).is_err(),
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
