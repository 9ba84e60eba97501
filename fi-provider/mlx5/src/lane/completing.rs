//! Completions, and what waits for them: quiet, and the order of a fence.

use super::{Failure, Lane, Posted, Threads};
use crate::completion::Completed;
use crate::entry::Entry;
use crate::opcode::Opcode;
use crate::queue::{END, Queue};
use std::sync::atomic::Ordering;

/// Looks at an empty queue before the processor is offered to others.
const LOOKS: u32 = 200;

impl Lane {
    /// Takes a completion, or lets the device have its turn.
    #[inline]
    pub(super) fn wait_once(&self) -> Result<(), Failure> {
        if self.poll()? { Ok(()) } else { self.idle() }
    }

    /// Takes the next completion, if there is one.
    #[inline(always)]
    pub fn poll(&self) -> Result<bool, Failure> {
        match self.completions.next() {
            Some(done) => self.complete(done),
            None => self.poll_elsewhere(),
        }
    }

    /// [`Lane::poll`] where nothing is there: looks into the completion queue, where that is not the lane's own.
    #[cold]
    fn poll_elsewhere(&self) -> Result<bool, Failure> {
        if let Some(share) = &self.share {
            share.look();
            if let Some(done) = self.completions.next() {
                return self.complete(done);
            }
        }
        self.failure.get().map_or(Ok(false), Err)
    }

    /// Whether a completion is there.
    fn is_ready(&self) -> bool {
        if let Some(share) = &self.share
            && !self.completions.is_ready()
        {
            share.look();
        }
        self.completions.is_ready()
    }

    /// Takes a completion of this queue and those of it behind it, or lets the device have its turn.
    #[inline]
    fn wait_for(&self, queue: &Queue) -> Result<(), Failure> {
        let (count, index) = self.completions.take_all_of(queue.number());
        if count == 0 {
            return self.wait_once();
        }
        self.complete_to(queue, count, index);
        Ok(())
    }

    /// Notes `count` completions of a queue, of which the last is that of the entry at block `index`.
    #[inline(always)]
    fn complete_to(&self, queue: &Queue, count: u32, index: u16) {
        // That of the one entry of an armed queue, which is the first, is not counted.
        let armed = queue.armed.replace(false);
        if armed {
            queue.set_flags(0);
        }
        self.outstanding
            .set(self.outstanding.get() + u32::from(armed) - count);
        let end = if index == queue.signalled.get() {
            queue.signalled_end.get()
        } else {
            index.wrapping_add(1)
        };
        let done = queue.complete(end);
        if self.threads == Threads::Counted {
            // ORDERING: none, as in `Counted::enter`.
            queue.depth.fetch_add(done.into(), Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn complete(&self, done: Completed) -> Result<bool, Failure> {
        if let Some(syndrome) = done.syndrome {
            return Err(self.keep(Failure::of(syndrome)));
        }
        let queue = self.queue_numbered(done.number);
        self.complete_to(queue, 1, done.index);
        Ok(true)
    }

    /// Keeps a failure and returns the first one, which is the cause: it makes the device flush the rest.
    #[cold]
    fn keep(&self, failure: Failure) -> Failure {
        let failure = self.failure.get().unwrap_or(failure);
        self.failure.set(Some(failure));
        failure
    }

    /// Looks once for a completion, with the lane held for that alone; where none is there, a software device acts.
    ///
    /// # Errors
    /// That the device is gone, or has failed before.
    pub fn progress(&self) -> Result<(), Failure> {
        let held = self.hold();
        let found = self.poll()?;
        drop(held);
        match self.hook {
            Some(hook) if !found && hook() != 0 => {
                let _held = self.hold();
                Err(self.keep(Failure::Lost))
            }
            _ => Ok(()),
        }
    }

    /// Lets the device have its turn: the completion queue was found empty.
    #[cold]
    #[inline(never)]
    pub fn idle(&self) -> Result<(), Failure> {
        self.turn()
    }

    /// Waits until a completion is there, which it is never at once behind a post: what is left out where instructions are counted.
    #[cold]
    #[inline(never)]
    fn idle_until_ready(&self) -> Result<(), Failure> {
        while !self.is_ready() {
            if let Some(failure) = self.failure.get() {
                return Err(failure);
            }
            self.turn()?;
        }
        Ok(())
    }

    #[inline(always)]
    fn turn(&self) -> Result<(), Failure> {
        match self.hook {
            Some(hook) if hook() != 0 => Err(self.keep(Failure::Lost)),
            Some(_) => Ok(()),
            None => {
                // The device writes on while the processor is another's.
                for _ in 0..LOOKS {
                    if self.is_ready() {
                        return Ok(());
                    }
                    std::hint::spin_loop();
                }
                std::thread::yield_now();
                self.failure.get().map_or(Ok(()), Err)
            }
        }
    }

    /// Waits until an entry is done.
    pub fn wait(&self, posted: Posted) -> Result<(), Failure> {
        let queue = &self.queues[posted.queue as usize];
        while queue.consumed.get() < posted.end {
            self.idle_until_ready()?;
            self.wait_for(queue)?;
        }
        self.rest(queue);
        Ok(())
    }

    /// Waits until everything that was posted to a queue is done, of which the last has a completion.
    #[inline]
    pub(crate) fn settle(&self, queue: &Queue) -> Result<(), Failure> {
        while !queue.is_idle() {
            self.idle_until_ready()?;
            self.wait_for(queue)?;
        }
        self.rest(queue);
        Ok(())
    }

    /// Whether an entry is done, as far as completions that are there tell: for threads that let others have the lane while they wait.
    pub fn is_done(&self, posted: Posted) -> Result<bool, Failure> {
        let queue = &self.queues[posted.queue as usize];
        while queue.consumed.get() < posted.end {
            if !self.poll()? {
                return Ok(false);
            }
        }
        self.rest(queue);
        Ok(true)
    }

    /// Waits until everything that was posted to peer `index` is done.
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    pub unsafe fn drain(&self, index: u32) -> Result<(), Failure> {
        let index = self.queue_of(index);
        let queue = &self.queues[index as usize];
        if queue.link.get() == 0 {
            return Ok(());
        }
        // SAFETY: by contract.
        unsafe { self.sign_last(index)? };
        self.settle(queue)
    }

    /// Arms a queue that has nothing outstanding.
    fn rest(&self, queue: &Queue) {
        // A queue out of the list must stay closed to posts in line: quiet would not see them.
        if queue.is_idle() && queue.link.get() != 0 {
            self.arm(queue);
        }
    }

    /// Sees to it that the last entry of a queue has a completion.
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    pub(super) unsafe fn sign_last(&self, index: u32) -> Result<(), Failure> {
        let queue = &self.queues[index as usize];
        if queue.is_idle() || queue.signalled_end.get() == queue.producer.get() {
            return Ok(());
        }
        // SAFETY: by contract.
        unsafe { self.post(index, Opcode::Nop, 0, &mut Entry::new()) }.map(|_| ())
    }

    /// [`Lane::quiet`] for the commonest case, a lane of one thread where one armed queue has its one entry outstanding and
    /// the device has done it: the next completion is that entry's. Does nothing, and returns false, in any other.
    #[inline(always)]
    pub fn quiet_one(&self) -> bool {
        if self.is_shared() {
            // Other threads may be at the rest.
            return false;
        }
        let Some(queue) = self.queues.get(self.used.get().wrapping_sub(1) as usize) else {
            return false;
        };
        let at = queue.producer.get();
        let is_only = queue.armed.get()
            && at == queue.limit.get()
            && queue.link.get() == END
            && self.outstanding.get() == 0;
        if !is_only || !self.completions.take_success() {
            return false;
        }
        queue.complete(at);
        let next = at.wrapping_add(1);
        queue.signalled.set(at);
        queue.signalled_end.set(next);
        queue.limit.set(next);
        queue.unfenced.set(false);
        true
    }

    /// Waits for the device, if [`Lane::quiet_one`] would only have to wait.
    ///
    /// # Errors
    /// That the device is gone, or has failed before.
    pub fn await_one(&self) -> Result<(), Failure> {
        while !self.is_shared() && self.outstanding.get() == 0 && !self.is_ready() {
            let index = self.used.get().wrapping_sub(1) as usize;
            match self.queues.get(index) {
                Some(queue) if queue.armed.get() && !queue.is_idle() => self.idle()?,
                _ => break,
            }
        }
        Ok(())
    }

    /// Waits until everything that was posted is done.
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    pub unsafe fn quiet(&self) -> Result<(), Failure> {
        if let Some(failure) = self.failure.get() {
            return Err(failure);
        }
        let mut at = self.used.get();
        while at != END {
            // SAFETY: by contract.
            unsafe { self.sign_last(at - 1)? };
            at = self.queues[(at - 1) as usize].link.get();
        }
        let mut at = self.used.replace(END);
        while at != END {
            let queue = &self.queues[(at - 1) as usize];
            let next = queue.link.replace(0);
            if queue.armed.get() && queue.is_idle() {
                // Not used since the last time: out of the list.
                self.disarm(queue);
            } else {
                while !queue.is_idle() {
                    self.wait_for(queue)?;
                }
                queue.link.set(self.used.replace(at));
                self.arm(queue);
            }
            at = next;
        }
        Ok(())
    }

    /// Orders everything that was posted before everything posted later to the same peer. Writes are in order by
    /// themselves; what comes behind reads and atomics has to wait for them (manual: "fence").
    pub fn fence(&self) {
        let mut at = self.used.get();
        while at != END {
            let queue = &self.queues[(at - 1) as usize];
            if queue.unfenced.replace(false) {
                queue.fence.set(true);
                queue.limit.set(queue.producer.get());
            }
            at = queue.link.get();
        }
    }

    /// The queue with this number.
    #[inline(always)]
    fn queue_numbered(&self, number: u32) -> &Queue {
        let mask = self.by_number.len() - 1;
        let mut at = number as usize & mask;
        loop {
            // The table has a place for every number that the device was given.
            let queue = &self.queues[(self.by_number[at].get() - 1) as usize];
            if queue.number() == number {
                return queue;
            }
            at = (at + 1) & mask;
        }
    }
}
