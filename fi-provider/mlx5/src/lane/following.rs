//! Users that follow entries by their places, and never call quiet: completions queue by queue, as
//! they come, and completions for entries that have none of their own.

#![expect(
    unsafe_code,
    reason = "posts the entries that tell of those before them"
)]

use super::{Lane, Posted};
use crate::completion::Completed;
use crate::queue::{END, Queue};

impl Posted {
    /// Returns the entry's first block, counted from the queue's beginning.
    #[inline(always)]
    #[must_use]
    pub fn block(self) -> u64 {
        self.end - 1
    }
}

/// A queue of a lane, as [`Lane::is_lone`] finds it.
#[derive(Clone, Copy, Debug)]
pub struct Lone(*const Queue);

/// A queue of no lane, in the place of one: nothing is ever posted to it.
#[derive(Debug)]
pub struct Nobody(Box<Queue>);

impl Nobody {
    /// Returns it for [`Lane::is_lone`], as long as this lives.
    #[must_use]
    pub fn lone(&self) -> Lone {
        Lone(&raw const *self.0)
    }
}

impl Default for Nobody {
    fn default() -> Self {
        Self(Box::new(Queue::absent(0)))
    }
}

impl Lane {
    /// Returns the queue that peer `index` is reached by, in the terms of the functions here.
    pub fn queue_to(&self, index: u32) -> u32 {
        self.queue_of(index)
    }

    /// Returns the number of blocks of the ring of a queue that is there.
    pub fn blocks(&self, queue: u32) -> u32 {
        self.queues[queue as usize].mask + 1
    }

    /// Returns the number of blocks that were posted to a queue from its beginning.
    #[inline(always)]
    pub fn posted(&self, queue: u32) -> u64 {
        self.queues[queue as usize].posted()
    }

    /// Returns the number of blocks of a queue that are known to be done, from its beginning.
    #[inline(always)]
    pub fn done(&self, queue: u32) -> u64 {
        self.queues[queue as usize].consumed.get()
    }

    /// Lets posts in line go on behind the one entry of an armed queue: for half of the ring, behind
    /// which one has to ask for a completion and finds room for that. False where peer `index` is
    /// reached by a queue of another state.
    #[cold]
    #[inline(never)]
    pub fn widen(&self, index: u32) -> bool {
        let queue = &self.queues[self.queue_of(index) as usize];
        self.check(queue).is_ok() && self.widen_queue(queue)
    }

    /// Does as [`Lane::widen`] for this queue, where none has failed. Calls nothing.
    #[inline(always)]
    pub(crate) fn widen_at_once(&self, queue: &Queue) -> bool {
        self.failure().is_none() && self.widen_queue(queue)
    }

    /// Does as [`Lane::widen`] for a queue that has not failed.
    #[inline(always)]
    fn widen_queue(&self, queue: &Queue) -> bool {
        if !queue.armed.get() || queue.is_idle() || !self.may_ask(1) {
            return false;
        }
        // There is room: a ring has 16 blocks at least, and the one entry of an armed queue no more
        // than half a register takes.
        let ahead = (queue.mask + 1) >> 1;
        self.count_armed(queue);
        let end = queue.producer.get().wrapping_add(ahead as u16);
        queue.limit.set(end);
        true
    }

    /// Takes the next completion, of a success or a failure, and arms its queue where that is
    /// through; returns the queue, and its blocks that are known to be done. Returns `None` where
    /// none is there.
    #[inline(always)]
    pub fn take_next(&self) -> Option<(u32, u64)> {
        if self.share.is_some() && !self.is_ready() {
            return None;
        }
        let done = self.completions.next()?;
        let queue = self.queue_numbered(done.number);
        let at = queue.producer.get();
        if done.syndrome.is_none() && queue.armed.get() && at == queue.limit.get() {
            // The one entry of an armed queue, which is armed again.
            queue.complete(at);
            Self::arm_again(queue, at);
        } else {
            self.note_done(queue, done);
        }
        Some((self.index_of(queue), queue.consumed.get()))
    }

    /// Returns the queue for [`Lane::is_lone`]; `None` where the completion queue is not the
    /// lane's own, or is checked for overruns.
    pub fn lone(&self, queue: u32) -> Option<Lone> {
        let is_there = (queue as usize) < self.queues.len();
        let is_own = self.share.is_none() && !self.completions.is_checked();
        (is_there && is_own).then(|| Lone(self.queues.place(queue as usize)))
    }

    /// Returns whether a queue is armed, and one entry of one block is outstanding on it.
    ///
    /// # Safety
    /// [`Lane::lone`] of this lane has returned `lone`, or [`Nobody::lone`] of one that lives; and this
    /// thread alone uses the lane.
    #[inline(always)]
    pub unsafe fn is_lone(&self, lone: Lone) -> bool {
        // SAFETY: the queue is one of this lane's, which stay in their places as long as it lives, or
        // nobody's, which lives; this thread alone uses them.
        let queue = unsafe { &*lone.0 };
        queue.producer.get() == (queue.consumed.get() + 1) as u16 && queue.armed.get()
    }

    /// Returns whether the completion of the one entry has come, and is the next:
    /// [`Lane::pass_lone`] takes it. Returns false where [`Lane::is_due`].
    ///
    /// # Safety
    /// As [`Lane::is_lone`], which has returned true, and nothing was posted or taken since.
    #[inline(always)]
    pub unsafe fn has_lone(&self, lone: Lone) -> bool {
        // SAFETY: the queue is this lane's, which stays in its place as long as it lives; this thread
        // alone uses it.
        let queue = unsafe { &*lone.0 };
        self.completions.has_success_of(|| queue.number_as_read())
    }

    /// Takes the completion that [`Lane::has_lone`] has just found; the queue is armed again.
    ///
    /// # Safety
    /// As [`Lane::has_lone`], which has returned true.
    #[inline(always)]
    pub unsafe fn pass_lone(&self, lone: Lone) {
        // SAFETY: the queue is this lane's, which stays in its place as long as it lives; this thread
        // alone uses it.
        let queue = unsafe { &*lone.0 };
        self.completions.pass_one();
        queue.consumed.set(queue.consumed.get() + 1);
        // Of reads and atomics the next fence has to know nothing: it may.
        queue.limit.set(queue.limit.get().wrapping_add(1));
        debug_assert_eq!(queue.consumed.get() as u16, queue.producer.get());
    }

    /// Returns whether a user that takes completions alone is to look at everything else with the
    /// next one, as with one of a thousand.
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        self.completions.ends_stretch()
    }

    /// Takes the next completion where it is that of the one entry of an armed queue, which is armed
    /// again; returns the blocks of the queue that are known to be done. Does nothing otherwise, or
    /// where the completion queue is not the lane's own, and returns `None`.
    #[inline(always)]
    pub fn take_only(&self, queue: u32) -> Option<u64> {
        let queue = self.queues.get(queue as usize)?;
        let at = queue.producer.get();
        let is_only = queue.armed.get() && at == queue.limit.get() && self.share.is_none();
        if !is_only || !self.completions.take_success_of(|| queue.number_as_read()) {
            return None;
        }
        queue.complete(at);
        Self::arm_again(queue, at);
        Some(queue.consumed.get())
    }

    /// Arms a queue again whose one entry is done.
    #[inline(always)]
    pub(super) fn arm_again(queue: &Queue, at: u16) {
        queue.limit.set(at.wrapping_add(1));
        queue.unfenced.set(false);
    }

    #[inline(never)]
    fn note_done(&self, queue: &Queue, done: Completed) {
        // A failure is kept, for the callers of its queue.
        let _ = self.complete(done);
        self.rest(queue);
    }

    /// Posts an empty entry with a completion to each queue where entries are outstanding and none
    /// that is asks for one; whether nothing is outstanding, but on queues that have failed. Where
    /// `tidies`, queues that were idle go out of the list that this function goes through, until
    /// the next post to them.
    ///
    /// # Safety
    /// As [`Lane::write_inline`], on a lane of one thread.
    pub unsafe fn ask(&self, tidies: bool) -> bool {
        let mut is_idle = true;
        let mut at = self.used.get();
        while at != END {
            let queue = &self.queues[(at - 1) as usize];
            if !queue.is_idle() && self.check(queue).is_ok() {
                is_idle = false;
                let silent = queue.signalled_end.get() == queue.consumed.get() as u16;
                if silent && !queue.armed.get() {
                    // There is room: entries in line leave some. A failure is kept.
                    // SAFETY: this thread alone uses the lane, and the queue is one of it.
                    let _ = unsafe { self.sign_last(at - 1) };
                }
            }
            at = queue.link.get();
        }
        if tidies {
            self.tidy();
        }
        is_idle
    }
}
