//! Which queue pairs have something to do: the doorbell records of a process, looked at together.

use super::Engine;
use super::memory::Memory;
use super::queue::QueuePair;
use super::types::{Pid, QpState};
use super::uar::Place;
use fi_mlx5_defs::doorbell::QueueRecord;

/// Records that are read at once, at most: no more than a system call takes (`IOV_MAX`).
const TOGETHER: usize = 1024;

impl Engine {
    /// The queue pairs whose records say that something was posted, or cannot be read with the others of their process. In strict mode
    /// records make nothing move, and all are given.
    pub(super) fn ringing(&self, memory: &mut dyn Memory) -> Vec<u32> {
        if self.config.strict {
            return self.qps.numbers();
        }
        let mut places: Vec<(Pid, u64, u32)> = self
            .qps
            .iter()
            .filter(|(_, qp)| matches!(qp.state(), QpState::ReadyToSend | QpState::Error))
            .map(|(handle, qp)| (qp.pid, qp.init.db_addr, handle))
            .collect();
        places.sort_unstable();
        let mut ringing = Vec::new();
        for own in places.chunk_by(|a, b| a.0 == b.0) {
            for together in own.chunks(TOGETHER) {
                self.look(memory, together, &mut ringing);
            }
        }
        ringing.sort_unstable();
        ringing
    }

    /// Adds those of one process that ring.
    fn look(&self, memory: &mut dyn Memory, places: &[(Pid, u64, u32)], ringing: &mut Vec<u32>) {
        let addresses: Vec<u64> = places.iter().map(|(_, address, _)| *address).collect();
        let mut records = vec![[0; size_of::<QueueRecord>()]; places.len()];
        let read = memory.read_each(places[0].0, &addresses, &mut records);
        for ((_, _, handle), record) in places.iter().zip(records) {
            let record: QueueRecord = bytemuck::cast(record);
            let rings = |qp: &QueuePair| qp.has_news(&record) || qp.is_sought();
            if read.is_err() || self.qps.get(*handle).is_some_and(rings) {
                ringing.push(*handle);
            }
        }
    }
}

impl QueuePair {
    /// Whether it has sent, and which register it rings is not known yet: the record comes before the register, and in
    /// between the device may have acted.
    fn is_sought(&self) -> bool {
        self.send_consumer != 0 && matches!(self.place, Place::Page(_, None))
    }

    /// Whether a record tells of anything that was not there before.
    fn has_news(&self, record: &QueueRecord) -> bool {
        let sends = self.init.sq_wqe_count > 0 && record.send.get() as u16 != self.send_consumer;
        let receives = self.state() == QpState::Error
            && self.init.rq_wqe_count > 0
            && record.receive.get() as u16 != self.receive_consumer;
        sends || receives
    }
}
