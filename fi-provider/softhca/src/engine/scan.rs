//! Scan for queue pairs and completion queues with work to do: the doorbell records of a process,
//! read by one system call where one of its doorbell registers was written.

use super::Engine;
use super::memory::Memory;
use super::queue::QueuePair;
use super::types::{Pid, QpState};
use super::uar::Place;
use fi_mlx5_defs::doorbell::{CompletionRecord, QueueRecord};
use std::collections::BTreeSet;
use std::mem::take;

/// Records that are read at once, at most: no more than a system call takes (`IOV_MAX`).
const TOGETHER: usize = 1024;

/// A doorbell record: the process, its address, and its queue.
type Record = (Pid, u64, Queue);

/// Queue that has a doorbell record, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// Doorbell records of a process, as they were read last. They stay so until the process writes one
/// of its doorbell registers: it writes the record first.
#[derive(Debug)]
pub(super) struct Known {
    records: Vec<Record>,
    words: Vec<[u8; 8]>,
}

impl Engine {
    /// Looks at the records of all queue pairs that send and of all completion queues that can be
    /// armed, which are read again where their process has rung. Gives all queues in strict mode,
    /// where records make nothing move.
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
        let rung = self.rung(memory);
        let mut known = take(&mut self.known);
        for own in self.records().chunk_by(|a, b| a.0 == b.0) {
            let process = own[0].0;
            let is_same = !rung.contains(&process) && self.are_watched(own);
            let same = known.remove(&process);
            let same = same.filter(|known| is_same && known.records == own);
            let now = same.or_else(|| Known::read(memory, own));
            for (at, (_, _, queue)) in own.iter().enumerate() {
                let word = now.as_ref().map(|now| now.words[at]);
                self.sort(&mut scan, *queue, word);
            }
            self.known.extend(now.map(|now| (process, now)));
        }
        scan.ringing.sort_unstable();
        scan.arms.sort_unstable_by_key(|(cqn, _)| *cqn);
        scan
    }

    /// Returns the processes of which a doorbell register may have been written since the last
    /// scan.
    fn rung(&self, memory: &mut dyn Memory) -> BTreeSet<Pid> {
        let mut rung = BTreeSet::new();
        for (id, context) in &self.contexts {
            let mut pages = context.uars.pages();
            if context.uars.has_static_pages() || memory.has_rung(*id, &mut pages) {
                rung.insert(context.pid);
            }
        }
        rung
    }

    /// Returns whether registers change behind each of the records.
    fn are_watched(&self, records: &[Record]) -> bool {
        records.iter().all(|(_, _, queue)| match queue {
            Queue::Pair(handle) => self.qps.get(*handle).is_some_and(QueuePair::is_watched),
            Queue::Completions(_) => true,
        })
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

impl Known {
    /// Reads the records of a process; none where they cannot be read.
    fn read(memory: &mut dyn Memory, own: &[Record]) -> Option<Self> {
        let addresses: Vec<u64> = own.iter().map(|(_, address, _)| *address).collect();
        let mut words = vec![[0; 8]; own.len()];
        let process = own[0].0;
        let parts = addresses.chunks(TOGETHER).zip(words.chunks_mut(TOGETHER));
        for (addresses, words) in parts {
            memory.read_each(process, addresses, words).ok()?;
        }
        Some(Self {
            records: own.to_vec(),
            words,
        })
    }
}

impl QueuePair {
    /// Keeps the record of a scan for the next look at it; returns true if it tells of something to do,
    /// or if there is none.
    fn takes_in(&mut self, record: Option<QueueRecord>) -> bool {
        self.scanned = record;
        record.is_none_or(|record| self.has_news(&record) || self.is_sought())
    }

    /// Returns whether a register changes behind the record. In the error state receives complete,
    /// which are posted without one.
    fn is_watched(&self) -> bool {
        let has_page = matches!(self.place, Place::Page(..));
        has_page && !self.was_reset && self.state() != QpState::Error
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
