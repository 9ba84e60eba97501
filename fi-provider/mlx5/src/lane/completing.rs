//! Completions, and the calls that wait for them: quiet, and the order of a fence.

use super::{Failure, Lane, Posted};
use crate::completion::Completed;
use crate::entry::Entry;
use crate::queue::{END, Queue};
use fi_mlx5_defs::opcode::Opcode;

/// Looks at an empty queue before the processor is offered to others.
const LOOKS: u32 = 200;
/// Pauses between two looks of a thread that lets others have the lane.
const PAUSES: u32 = 10;

impl Lane {
    /// Takes a completion, or lets the device have its turn; fails where any queue of the lane has
    /// failed.
    #[inline]
    fn wait_once(&self) -> Result<(), Failure> {
        if self.poll()? { Ok(()) } else { self.idle() }
    }

    /// Takes a completion of any queue, or lets the device have its turn; fails where this queue
    /// has failed.
    #[cold]
    #[inline(never)]
    pub(super) fn wait_for_room(&self, queue: &Queue) -> Result<(), Failure> {
        if !self.take() {
            self.idle()?;
        }
        self.check(queue)
    }

    /// Takes the next completion, if there is one.
    ///
    /// # Errors
    /// That the completion tells of a failure; or else, where nothing is there, that the device is
    /// gone or a queue has failed before.
    #[inline(always)]
    pub fn poll(&self) -> Result<bool, Failure> {
        match self.completions.next() {
            Some(done) => self.complete(done),
            None => self.poll_elsewhere(),
        }
    }

    /// Does [`Lane::poll`] where no completion is there: looks into the completion queue, where
    /// that is not the lane's own.
    #[cold]
    fn poll_elsewhere(&self) -> Result<bool, Failure> {
        if let Some(share) = &self.share {
            share.look();
            if let Some(done) = self.completions.next() {
                return self.complete(done);
            }
        }
        self.failure().map_or(Ok(false), Err)
    }

    /// Takes the next completion, of a success or a failure; returns false where none is there.
    pub(super) fn take(&self) -> bool {
        if !self.is_ready() {
            return false;
        }
        if let Some(done) = self.completions.next() {
            // A failure is kept, for the callers of its queue.
            let _ = self.complete(done);
        }
        true
    }

    /// Returns whether a completion is there.
    pub fn is_ready(&self) -> bool {
        if let Some(share) = &self.share
            && !self.completions.is_ready()
        {
            share.look();
        }
        self.completions.is_ready()
    }

    /// Takes completions that are there: of this queue, as many as follow each other, or one of
    /// another.
    #[inline]
    fn take_of(&self, queue: &Queue) {
        let (count, index) = self.completions.take_all_of(queue.number());
        if count == 0 {
            self.take();
        } else {
            self.complete_to(queue, count, index);
        }
    }

    /// Takes a completion of this queue and those of it behind it, or lets the device have its turn.
    #[inline]
    pub(super) fn wait_for(&self, queue: &Queue) -> Result<(), Failure> {
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
            queue.signalled_end.set(queue.producer.get());
        }
        self.outstanding
            .set(self.outstanding.get() + u32::from(armed) - count);
        let end = if armed || index == queue.signalled.get() {
            queue.signalled_end.get()
        } else {
            index.wrapping_add(1)
        };
        self.give_depth(queue, queue.complete(end));
    }

    #[inline(always)]
    pub(super) fn complete(&self, done: Completed) -> Result<bool, Failure> {
        let queue = self.queue_numbered(done.number);
        if let Some(syndrome) = done.syndrome {
            return Err(self.fail(queue, done.index, Failure::of(syndrome)));
        }
        self.complete_to(queue, 1, done.index);
        Ok(true)
    }

    /// Looks once for a completion, with the lane held for that alone; where none is there, a
    /// software device acts.
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
                Err(self.lose())
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

    /// Waits until a completion is there, or the queue has done everything before block `end`.
    /// Right behind a post neither is so: counts of instructions leave this function out, by its
    /// name. Other threads may have the lane meanwhile.
    #[cold]
    #[inline(never)]
    fn idle_until_ready(&self, queue: &Queue, end: u64) -> Result<(), Failure> {
        let mut turns = 0;
        while queue.consumed.get() < end && !self.is_ready() {
            self.check(queue)?;
            self.let_others(&mut turns)?;
        }
        Ok(())
    }

    /// Lets the device have its turn and, on a lane of several threads, those that wait for the
    /// lane.
    fn let_others(&self, turns: &mut u32) -> Result<(), Failure> {
        if !self.is_shared() {
            return self.turn();
        }
        *turns += 1;
        let lock = &self.queues.head().lock;
        lock.give();
        let is_there = match self.hook {
            Some(hook) => hook() == 0,
            None if turns.is_multiple_of(LOOKS / PAUSES) => {
                // The device writes on while the processor is another's.
                std::thread::yield_now();
                true
            }
            None => {
                (0..PAUSES).for_each(|_| std::hint::spin_loop());
                true
            }
        };
        lock.take();
        if is_there { Ok(()) } else { Err(self.lose()) }
    }

    /// Waits for something that another thread does with the lane, which it may have meanwhile.
    ///
    /// # Errors
    /// That the device is gone.
    pub fn wait_for_others(&self) -> Result<(), Failure> {
        self.take();
        self.let_others(&mut 0)
    }

    #[inline(always)]
    fn turn(&self) -> Result<(), Failure> {
        match self.hook {
            Some(hook) if hook() != 0 => Err(self.lose()),
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
                Ok(())
            }
        }
    }

    /// Waits until an entry is done. Other threads may have the lane meanwhile: callers hold it
    /// again when this returns.
    ///
    /// # Errors
    /// That the device is gone, or that the entry's queue has failed before it.
    pub fn wait(&self, posted: Posted) -> Result<(), Failure> {
        let queue = &self.queues[posted.queue as usize];
        self.await_end(queue, posted.end)?;
        self.rest(queue);
        Ok(())
    }

    /// Waits until a queue has done everything before block `end`; as [`Lane::wait`].
    #[inline(always)]
    pub(super) fn await_end(&self, queue: &Queue, end: u64) -> Result<(), Failure> {
        while queue.consumed.get() < end {
            self.idle_until_ready(queue, end)?;
            self.take_of(queue);
        }
        Ok(())
    }

    /// Waits until everything that was posted to a queue of a lane of one thread is done, of which
    /// the last has a completion.
    #[inline]
    pub(crate) fn settle(&self, queue: &Queue) -> Result<(), Failure> {
        while !queue.is_idle() {
            self.idle_until_ready(queue, u64::MAX)?;
            self.take_of(queue);
        }
        self.rest(queue);
        Ok(())
    }

    /// Returns whether an entry is done, as far as completions that are there tell: for threads
    /// that let others have the lane while they wait.
    pub fn is_done(&self, posted: Posted) -> Result<bool, Failure> {
        let queue = &self.queues[posted.queue as usize];
        while queue.consumed.get() < posted.end {
            if !self.take() {
                return self.check(queue).map(|()| false);
            }
        }
        self.rest(queue);
        Ok(true)
    }

    /// Returns whether an entry is done, as far as completions tell that were taken; or false where
    /// it never will be, because its queue has failed before it.
    pub fn end(&self, posted: Posted) -> Option<bool> {
        let queue = &self.queues[posted.queue as usize];
        if queue.consumed.get() >= posted.end {
            return Some(true);
        }
        self.check(queue).is_err().then_some(false)
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
        // SAFETY: this thread holds the lane, and the queue is that of one of its peers.
        unsafe { self.sign_last(index)? };
        self.wait(Posted {
            queue: index,
            end: queue.posted(),
        })
    }

    /// Arms a queue that has nothing outstanding.
    pub(super) fn rest(&self, queue: &Queue) {
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
        let is_signed = || queue.signalled_end.get() == queue.producer.get() || queue.armed.get();
        if queue.is_idle() || is_signed() {
            return Ok(());
        }
        // SAFETY: this thread holds the lane, and the queue is one of the lane's.
        unsafe { self.post(index, Opcode::Nop, 0, &mut Entry::new()) }.map(|_| ())
    }

    /// Has [`Lane::quiet_one`] leave the next quiet to [`Lane::quiet`]: its caller does something
    /// behind it. The lane is held.
    pub fn expect_quiet(&self) {
        self.careful.set(true);
    }

    /// Does [`Lane::quiet`] for the commonest case, a lane of one thread where one armed queue has
    /// its one entry outstanding and the device has done it: the next completion is that entry's.
    /// Does nothing, and returns false, in any other.
    #[inline(always)]
    pub fn quiet_one(&self) -> bool {
        if self.careful.get() {
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
        Self::arm_again(queue, at);
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

    /// Waits until everything that was posted before is done. Threads that share the lane may have
    /// it meanwhile.
    ///
    /// # Errors
    /// That the device is gone, or the first failure of a queue; all other queues have done their
    /// entries then.
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    pub unsafe fn quiet(&self) -> Result<(), Failure> {
        if self.careful.get() {
            // SAFETY: this thread holds the lane (the requirement here, too).
            return unsafe { self.quiet_by_queues() };
        }
        let mut at = self.used.get();
        while at != END {
            // SAFETY: this thread holds the lane, and the queue is one of it.
            if unsafe { self.sign_last(at - 1) }.is_err() {
                // SAFETY: this thread holds the lane (the requirement here, too).
                return unsafe { self.quiet_by_queues() };
            }
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
                    if self.wait_for(queue).is_err() {
                        // SAFETY: this thread holds the lane (the requirement here, too).
                        return unsafe { self.quiet_again(at, next) };
                    }
                }
                queue.link.set(self.used.replace(at));
                self.arm(queue);
            }
            at = next;
        }
        Ok(())
    }

    /// Orders all entries that were posted before all entries posted later to the same peer. Writes
    /// are in order by themselves; entries behind reads and atomics have to wait for them (manual:
    /// "fence").
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

    /// Returns the queue with this number.
    #[inline(always)]
    pub(super) fn queue_numbered(&self, number: u32) -> &Queue {
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
