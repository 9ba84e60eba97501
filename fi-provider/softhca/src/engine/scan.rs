//! Scan for queue pairs and completion queues with work to do: the doorbell records of a process,
//! read by one system call.

use super::Engine;
use super::memory::Memory;
use super::queue::QueuePair;
use super::types::{Pid, QpState};
use super::uar::Place;
use fi_mlx5_defs::doorbell::{CompletionRecord, QueueRecord};

/// Records that are read at once, at most: no more than a system call takes (`IOV_MAX`).
const TOGETHER: usize = 1024;

/// A doorbell record: the process, its address, and its queue.
type Record = (Pid, u64, Queue);

/// Queue that has a doorbell record, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Queue {
    Pair(u32),
    Completions(u32),
}

/// Doorbell records that were looked at, together where they are of one process.
#[derive(Debug)]
pub(super) struct Scan {
    /// Queue pairs that may have something to do, in the order of their numbers.
    pub(super) ringing: Vec<u32>,
    /// Completion queues that can be armed, and their records, which may be older by now: none where
    /// those of the process cannot be read together.
    arms: Vec<(u32, Option<CompletionRecord>)>,
}

impl Engine {
    /// Looks at the records of all queue pairs that send and of all completion queues that can be
    /// armed. Gives all queues in strict mode, where records make nothing move.
    pub(super) fn scan(&mut self, memory: &mut dyn Memory) -> Scan {
        if self.config.strict {
            return Scan {
                ringing: self.qps.numbers(),
                arms: (self.cqs.numbers().into_iter().map(|cqn| (cqn, None))).collect(),
            };
        }
        let mut scan = Scan {
            ringing: Vec::new(),
            arms: Vec::new(),
        };
        for own in self.records().chunk_by(|a, b| a.0 == b.0) {
            for together in own.chunks(TOGETHER) {
                let addresses: Vec<u64> = together.iter().map(|(_, address, _)| *address).collect();
                let mut words = vec![[0; 8]; together.len()];
                let read = memory.read_each(together[0].0, &addresses, &mut words);
                for ((_, _, queue), word) in together.iter().zip(words) {
                    self.sort(&mut scan, *queue, read.ok().map(|()| word));
                }
            }
        }
        scan.ringing.sort_unstable();
        scan.arms.sort_unstable_by_key(|(cqn, _)| *cqn);
        scan
    }

    /// Returns the records to look at, those of a process behind each other.
    fn records(&self) -> Vec<Record> {
        let sends = |qp: &QueuePair| matches!(qp.state(), QpState::ReadyToSend | QpState::Error);
        let pairs = (self.qps.iter())
            .filter(|(_, qp)| sends(qp))
            .map(|(handle, qp)| (qp.pid, qp.init.db_addr, Queue::Pair(handle)));
        let completions = self.cqs.iter().filter_map(|(number, cq)| {
            let (pid, address) = cq.place_of_arm()?;
            Some((pid, address, Queue::Completions(number)))
        });
        let mut records: Vec<Record> = pairs.chain(completions).collect();
        records.sort_unstable();
        records
    }

    /// Takes in a record, or that there is none.
    fn sort(&mut self, scan: &mut Scan, queue: Queue, record: Option<[u8; 8]>) {
        match queue {
            Queue::Pair(handle) => {
                if let Some(qp) = self.qps.get_mut(handle)
                    && qp.takes_in(record.map(bytemuck::cast))
                {
                    scan.ringing.push(handle);
                }
            }
            Queue::Completions(cqn) => scan.arms.push((cqn, record.map(bytemuck::cast))),
        }
    }

    /// Returns the completion queues that have an event due, whose records had another word than
    /// before, or could not be read. Gives all in strict mode, where a register arms them.
    pub(super) fn notifying(&self, scan: &Scan) -> Vec<u32> {
        let is_due = |cqn, record: &CompletionRecord| {
            self.cqs.get(cqn).is_some_and(|cq| cq.may_be_due(record))
        };
        (scan.arms.iter())
            .filter(|(cqn, record)| record.as_ref().is_none_or(|record| is_due(*cqn, record)))
            .map(|(cqn, _)| *cqn)
            .collect()
    }
}

impl QueuePair {
    /// Keeps the record of a scan for the next look at it; returns true if it tells of something to do,
    /// or if there is none.
    fn takes_in(&mut self, record: Option<QueueRecord>) -> bool {
        self.scanned = record;
        record.is_none_or(|record| self.has_news(&record) || self.is_sought())
    }

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
