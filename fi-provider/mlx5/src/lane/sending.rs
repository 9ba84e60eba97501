//! Messages: entries that come to a receive of the peer ([`crate::receives`]).

use super::{Failure, Lane, Local, Posted};
use crate::entry::BLOCKS;
use crate::remote::Vector;
use fi_mlx5_defs::opcode::Opcode;

impl Lane {
    /// Posts a message of the bytes at `source`, which the entry takes with it.
    ///
    /// # Errors
    /// That the device is gone, or that the peer's queue has failed.
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    pub unsafe fn send_inline(
        &self,
        peer: u32,
        vector: &Vector,
        source: *const u8,
        len: usize,
    ) -> Result<Posted, Failure> {
        let queue = self.way_to(peer);
        let mut entry = self.entry(queue, vector);
        // A segment of no bytes is left out.
        if len > 0 {
            // SAFETY: `source` has `len` bytes.
            unsafe { entry.inline(source, len) };
        }
        // SAFETY: this thread holds the lane, and the peer is one of the lane's.
        unsafe { self.post(queue, Opcode::Send, 0, &mut entry) }
    }

    /// Posts a message of pieces of local memory, at most [`Lane::SEGMENTS`], one behind the other,
    /// which have to stay as they are until the completion.
    ///
    /// # Errors
    /// As [`Lane::send_inline`].
    ///
    /// # Safety
    /// As [`Lane::write`].
    pub unsafe fn send(
        &self,
        peer: u32,
        vector: &Vector,
        pieces: impl IntoIterator<Item = Local>,
    ) -> Result<Posted, Failure> {
        // SAFETY: this thread holds the lane, the peer is one of the lane's, and the pieces are
        // registered.
        unsafe { self.send_headed(peer, vector, &[], pieces) }
    }

    /// Sends as [`Lane::send`] does, with words in front that the entry takes with it: one of them,
    /// and two more for each piece fewer than [`Lane::SEGMENTS`].
    ///
    /// # Errors
    /// As [`Lane::send_inline`].
    ///
    /// # Safety
    /// As [`Lane::write`].
    pub unsafe fn send_headed(
        &self,
        peer: u32,
        vector: &Vector,
        header: &[u64],
        pieces: impl IntoIterator<Item = Local>,
    ) -> Result<Posted, Failure> {
        let queue = self.way_to(peer);
        let mut entry = self.entry(queue, vector);
        if !header.is_empty() {
            // SAFETY: the header has so many bytes.
            unsafe { entry.inline(header.as_ptr().cast(), size_of_val(header)) };
        }
        // A length of 0 in a segment stands for 2^31.
        entry.locals(pieces.into_iter().filter(|piece| piece.length > 0));
        // SAFETY: this thread holds the lane, and the peer is one of the lane's; the pieces are
        // registered.
        unsafe { self.post(queue, Opcode::Send, 0, &mut entry) }
    }

    /// Returns whether the next post to peer `index` finds room for the largest entry, so that it
    /// does not wait: as far as completions that are there tell. `taken` is told of their queues. A
    /// post to a queue that has failed does not wait either.
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    pub unsafe fn has_room(&self, index: u32, mut taken: impl FnMut(u32)) -> bool {
        let queue = &self.queues[self.queue_of(index) as usize];
        let ahead = Self::ahead(queue, BLOCKS as u16);
        // A post counts the completion of an armed queue's entry.
        while self.is_full(queue, ahead, u32::from(queue.armed.get())) {
            match self.take_next() {
                Some((queue, _)) => taken(queue),
                None => return self.check(queue).is_err(),
            }
        }
        // SAFETY: this thread holds the lane, and the peer is one of the lane's.
        unsafe { self.may_change(index, taken) }
    }
}
