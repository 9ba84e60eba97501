//! Steps of a post that can be done again and again without a post, to measure the time of each. They
//! are those of [`Route::inject`] by a connected queue; the copy to the register cannot be done apart,
//! as the device would take it for a post.

#![expect(unsafe_code, reason = "writes rings through raw pointers")]

use crate::post::{count_to, described, put};
use crate::queue::Place;
use crate::remote::Segment;
use crate::route::Route;

impl Route {
    /// Writes the entry that [`Route::inject`] would post next, where it would lie, and posts
    /// nothing: the next post writes another one there. Does nothing, and returns false, where
    /// that would decline.
    ///
    /// # Safety
    /// As [`Route::inject`], and the route is one that
    /// [`Route::is_connected_in_line`] says so of.
    #[inline(always)]
    pub unsafe fn describe<T: Copy>(&self, value: T, there: Segment, place: Place) -> bool {
        // SAFETY: the lane is alive and this thread's, and has a connected queue for the peer at
        // the place.
        let queue = unsafe { &*self.connection(place) };
        let Some(at) = queue.free_block() else {
            return false;
        };
        // SAFETY: the queue's record is mapped as long as the lane lives, and nobody else writes
        // it; the block is free.
        unsafe {
            let (entry, used) = described(queue, value, there.0);
            put(queue, at, &entry, used);
        }
        true
    }

    /// Writes the number of the next entry into the doorbell record, where it is already, with the
    /// barriers before and behind it.
    ///
    /// # Safety
    /// As [`Route::describe`].
    #[inline(always)]
    pub unsafe fn count_again(&self, place: Place) {
        // SAFETY: the lane is alive and this thread's, and has a connected queue for the peer at
        // the place, whose record is mapped as long.
        unsafe {
            let queue = &*self.connection(place);
            count_to(queue.record, queue.producer.get());
        }
    }
}
