//! Failures of a lane. Each failure is of one queue, whose later entries the device flushes;
//! entries of other queues go on.

#![expect(unsafe_code, reason = "reads the entry that failed")]

use super::fault::{Culprit, Fault};
use super::{Failure, Lane};
use crate::queue::{FLAGS, Queue};
use fi_mlx5_defs::wqe::flags;

impl Lane {
    /// Returns the first failure of any queue.
    #[inline(always)]
    pub(super) fn failure(&self) -> Option<Failure> {
        self.faults.first.get()
    }

    /// Notes that the device is gone; returns the first failure.
    #[cold]
    pub(super) fn lose(&self) -> Failure {
        self.faults.lost.set(true);
        self.note_first(Failure::Lost)
    }

    fn note_first(&self, failure: Failure) -> Failure {
        let first = self.failure().unwrap_or(failure);
        self.faults.first.set(Some(first));
        self.careful.set(true);
        first
    }

    /// Returns the failure by which no outstanding entry of a queue will be done any more, or be
    /// posted to it, if there is one.
    #[inline(always)]
    pub(super) fn check(&self, queue: &Queue) -> Result<(), Failure> {
        if self.failure().is_none() {
            return Ok(());
        }
        self.check_failed(queue)
    }

    #[cold]
    fn check_failed(&self, queue: &Queue) -> Result<(), Failure> {
        if self.faults.lost.get() {
            return self.failure().map_or(Ok(()), Err);
        }
        let fault = self.fault_of(self.index_of(queue));
        fault.map_or(Ok(()), |fault| Err(fault.failure))
    }

    pub(super) fn fault_of(&self, queue: u32) -> Option<Fault> {
        let faults = self.faults.of_queues.borrow();
        faults.iter().find(|fault| fault.queue == queue).copied()
    }

    /// Returns the failure of the queue that peer `index` is reached by; or of the first queue that
    /// failed, where no peer is named.
    pub fn fault(&self, index: Option<u32>) -> Option<Fault> {
        match index {
            Some(index) => self.fault_of(self.queue_of(index)),
            None => self.faults.of_queues.borrow().first().copied(),
        }
    }

    /// Returns the number of queues that have failed and are in their places still.
    #[inline(always)]
    pub fn faults(&self) -> usize {
        if self.failure().is_none() {
            return 0;
        }
        self.faults.of_queues.borrow().len()
    }

    /// Returns the number of failures of queues so far, those included of queues that others have
    /// taken the place of.
    #[inline(always)]
    pub fn faults_so_far(&self) -> usize {
        self.faults.so_far.get()
    }

    /// Returns whether the device is gone.
    pub fn is_lost(&self) -> bool {
        self.faults.lost.get()
    }

    /// Forgets the failure of a queue that is there no more.
    pub(super) fn forget_fault(&self, queue: u32) {
        let mut faults = self.faults.of_queues.borrow_mut();
        faults.retain(|fault| fault.queue != queue);
        if !self.faults.lost.get() {
            self.faults
                .first
                .set(faults.first().map(|fault| fault.failure));
        }
    }

    /// Returns which of the lane's queues it is.
    pub(super) fn index_of(&self, queue: &Queue) -> u32 {
        let bytes = (&raw const *queue).addr() - self.queues.as_ptr().addr();
        (bytes / size_of::<Queue>()) as u32
    }

    /// Notes that the entry of a queue that begins with block `at` has failed; returns the first
    /// failure of the lane.
    ///
    /// The first entry of a queue that fails is the cause. All before it are done; the device
    /// flushes those behind it, each with a completion, whether it asked for one or not.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(&self, queue: &Queue, at: u16, failure: Failure) -> Failure {
        let [_, flags_word] = self.unit_of(queue, at, 0);
        if queue.armed.replace(false) {
            // Its one entry's completion is not counted.
            queue.set_flags(0);
            queue.signalled_end.set(queue.producer.get());
        } else if flags_word >> FLAGS & u64::from(flags::COMPLETION) != 0 {
            self.outstanding.set(self.outstanding.get() - 1);
        }
        let index = self.index_of(queue);
        let mut faults = self.faults.of_queues.borrow_mut();
        let known = faults.iter_mut().find(|fault| fault.queue == index);
        if let Some(known) = known {
            known.last = at;
        } else {
            self.give_depth(queue, queue.complete(at));
            let culprit = if self.enters_targets(index) {
                Culprit::Entered(self.unit_of(queue, at, 1))
            } else {
                Culprit::Connected(index)
            };
            faults.push(Fault {
                queue: index,
                culprit,
                failure,
                last: at,
            });
            self.faults.so_far.update(|many| many + 1);
        }
        drop(faults);
        // Posts in line have to look, and are refused then.
        queue.limit.set(queue.producer.get());
        self.note_first(failure)
    }

    /// Returns a unit of the entry that begins with block `at`, which the queue still has.
    pub(super) fn unit_of(&self, queue: &Queue, at: u16, unit: usize) -> [u64; 2] {
        // SAFETY: a block has four units, and its ring is mapped as long as the lane; nobody writes
        // to it until it is known to be done.
        unsafe { queue.block(at).cast::<[u64; 2]>().add(unit).read() }
    }
}
