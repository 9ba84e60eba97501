//! Scan for queue pairs and completion queues with work to do: the doorbell records of a process,
//! looked at together.

use super::Engine;
use super::completion::CompletionQueue;
use super::memory::Memory;
use super::queue::QueuePair;
use super::types::{Pid, QpState};
use super::uar::Place;
use fi_mlx5_defs::doorbell::{CompletionRecord, QueueRecord};

/// Records that are read at once, at most: no more than a system call takes (`IOV_MAX`).
const TOGETHER: usize = 1024;

/// A doorbell record: the process, its address, and the number of the queue.
type Record = (Pid, u64, u32);

impl Engine {
    /// Returns the queue pairs whose records tell of posted entries, or cannot be read with the
    /// others of their process. Gives all in strict mode, where records make nothing move.
    pub(super) fn ringing(&self, memory: &mut dyn Memory) -> Vec<u32> {
        if self.config.strict {
            return self.qps.numbers();
        }
        let sends = |qp: &QueuePair| matches!(qp.state(), QpState::ReadyToSend | QpState::Error);
        let places = (self.qps.iter())
            .filter(|(_, qp)| sends(qp))
            .map(|(handle, qp)| (qp.pid, qp.init.db_addr, handle));
        let rings = |handle, record| {
            let record: QueueRecord = bytemuck::cast(record);
            let rings = |qp: &QueuePair| qp.has_news(&record) || qp.is_sought();
            self.qps.get(handle).is_some_and(rings)
        };
        with_news(memory, places.collect(), rings)
    }

    /// Returns the completion queues that have an event due, whose records have another word than
    /// before, or cannot be read with the others of their process. Gives all in strict mode, where a
    /// register arms them.
    pub(super) fn notifying(&self, memory: &mut dyn Memory) -> Vec<u32> {
        if self.config.strict {
            return self.cqs.numbers();
        }
        let places = (self.cqs.iter())
            .filter_map(|(number, cq)| cq.place_of_arm().map(|(pid, at)| (pid, at, number)));
        let may_notify = |number, record| {
            let record: CompletionRecord = bytemuck::cast(record);
            let is_due = |cq: &CompletionQueue| cq.may_be_due(&record);
            self.cqs.get(number).is_some_and(is_due)
        };
        with_news(memory, places.collect(), may_notify)
    }
}

/// Returns the numbers of the queues whose records have news, in order, and of those whose records
/// cannot be read together.
fn with_news(
    memory: &mut dyn Memory,
    mut places: Vec<Record>,
    has_news: impl Fn(u32, [u8; 8]) -> bool,
) -> Vec<u32> {
    places.sort_unstable();
    let mut found = Vec::new();
    for own in places.chunk_by(|a, b| a.0 == b.0) {
        for together in own.chunks(TOGETHER) {
            let addresses: Vec<u64> = together.iter().map(|(_, address, _)| *address).collect();
            let mut records = vec![[0; 8]; together.len()];
            let read = memory.read_each(together[0].0, &addresses, &mut records);
            for ((_, _, number), record) in together.iter().zip(records) {
                if read.is_err() || has_news(*number, record) {
                    found.push(*number);
                }
            }
        }
    }
    found.sort_unstable();
    found
}

impl QueuePair {
    /// Returns whether it has sent, and which register it rings is not known yet: the record comes
    /// before the register, and in between the device may have acted.
    fn is_sought(&self) -> bool {
        self.send_consumer != 0 && matches!(self.place, Place::Page(_, None))
    }

    /// Returns whether a record tells of an entry that was not there before.
    fn has_news(&self, record: &QueueRecord) -> bool {
        let sends = self.init.sq_wqe_count > 0 && record.send.get() as u16 != self.send_consumer;
        let receives = self.state() == QpState::Error
            && self.init.rq_wqe_count > 0
            && record.receive.get() as u16 != self.receive_consumer;
        sends || receives
    }
}
