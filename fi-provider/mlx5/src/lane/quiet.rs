//! Quiet queue by queue: on a lane that several threads share, where a queue has failed, and where
//! something was asked for behind quiet.
//!
//! Other threads may post meanwhile. So quiet waits for the entries that were posted when it began,
//! and not until a queue is idle.

#![expect(
    unsafe_code,
    reason = "posts the entries that tell of those before them"
)]

use super::{Failure, Lane, Posted};
use crate::queue::END;

/// Queues that quiet keeps in mind without taking memory for it.
const FEW: usize = 16;

/// The ends to wait for.
struct Ends {
    few: [Option<Posted>; FEW],
    count: usize,
    others: Vec<Posted>,
}

impl Ends {
    const fn new() -> Self {
        Self {
            few: [None; FEW],
            count: 0,
            others: Vec::new(),
        }
    }

    fn push(&mut self, posted: Posted) {
        match self.few.get_mut(self.count) {
            Some(place) => *place = Some(posted),
            None => self.others.push(posted),
        }
        self.count += 1;
    }

    fn iter(&self) -> impl Iterator<Item = Posted> {
        let few = self.few.iter().flatten().copied();
        few.chain(self.others.iter().copied())
    }
}

impl Lane {
    /// Does [`Lane::quiet`] on a lane of one thread, unless `gives_up` returns true while there is
    /// something to wait for: entries that are not done then stay outstanding, and a later call waits
    /// for them.
    ///
    /// # Errors
    /// As [`Lane::quiet`].
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    pub unsafe fn quiet_unless(&self, gives_up: impl Fn() -> bool) -> Result<(), Failure> {
        let mut at = self.used.get();
        while at != END {
            let queue = &self.queues[(at - 1) as usize];
            // SAFETY: this thread holds the lane (the requirement here, too).
            unsafe { self.sign_last(at - 1)? };
            while !queue.is_idle() {
                if gives_up() {
                    return Ok(());
                }
                self.wait_for(queue)?;
            }
            at = queue.link.get();
        }
        // SAFETY: this thread holds the lane (the requirement here, too).
        unsafe { self.quiet() }
    }

    /// Does [`Lane::quiet`] in all but the common case.
    ///
    /// # Errors
    /// As [`Lane::quiet`].
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn quiet_by_queues(&self) -> Result<(), Failure> {
        let mut ends = Ends::new();
        let mut at = self.used.get();
        while at != END {
            let index = at - 1;
            let queue = &self.queues[index as usize];
            // A failure is told below: `sign_last` waits for room in this queue at most.
            // SAFETY: this thread holds the lane (the requirement of `sign_last`, and of this
            // function).
            if !queue.is_idle() && unsafe { self.sign_last(index) }.is_ok() {
                ends.push(Posted {
                    queue: index,
                    end: queue.posted(),
                });
            }
            at = queue.link.get();
        }
        for end in ends.iter() {
            // As above.
            let _ = self.await_end(&self.queues[end.queue as usize], end.end);
        }
        self.tidy();
        match self.failure() {
            Some(failure) => Err(failure),
            None => {
                self.careful.set(self.is_shared());
                Ok(())
            }
        }
    }

    /// Takes the completions that are there, and returns whether [`Lane::quiet`] has nothing to wait
    /// for: nothing is outstanding, or a queue has failed. Has the last entry of each queue tell that
    /// it is done; waits for room in a queue at most.
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    pub unsafe fn is_quiet(&self) -> bool {
        let mut at = self.used.get();
        while at != END {
            // SAFETY: this thread holds the lane, and the queue is one of the lane's.
            if unsafe { self.sign_last(at - 1) }.is_err() {
                return true;
            }
            at = self.queues[(at - 1) as usize].link.get();
        }
        while self.take() {}
        self.is_idle() || self.failure().is_some()
    }

    /// Arms the queues in use that are idle, and lets those go out of the list that were not used
    /// since the last time.
    pub(super) fn tidy(&self) {
        let mut at = self.used.replace(END);
        while at != END {
            let queue = &self.queues[(at - 1) as usize];
            let next = queue.link.replace(0);
            if queue.armed.get() && queue.is_idle() {
                self.disarm(queue);
            } else {
                queue.link.set(self.used.replace(at));
                self.rest(queue);
            }
            at = next;
        }
    }

    /// Goes on with a quiet that came to a queue, `first`, when one failed: puts it and the list
    /// behind it, `next`, back among those in use.
    ///
    /// # Errors
    /// As [`Lane::quiet`].
    ///
    /// # Safety
    /// As [`Lane::write_inline`].
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn quiet_again(&self, first: u32, next: u32) -> Result<(), Failure> {
        self.queues[(first - 1) as usize].link.set(next);
        let mut at = first;
        while at != END {
            let queue = &self.queues[(at - 1) as usize];
            let next = queue.link.get();
            queue.link.set(self.used.replace(at));
            at = next;
        }
        // SAFETY: this thread holds the lane (the requirement here, too).
        unsafe { self.quiet_by_queues() }
    }

    /// Returns the number of completions that were taken so far, modulo 2^24: the argument of
    /// [`CompletionQueue::arm`](crate::device::CompletionQueue::arm).
    pub fn consumed(&self) -> u32 {
        self.completions.consumed()
    }

    /// Returns whether nothing is outstanding on any queue.
    pub fn is_idle(&self) -> bool {
        let mut at = self.used.get();
        while at != END {
            let queue = &self.queues[(at - 1) as usize];
            if !queue.is_idle() {
                return false;
            }
            at = queue.link.get();
        }
        true
    }
}
