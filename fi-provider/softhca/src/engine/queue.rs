//! Queue pairs and shared receive queues: their state, and reads of their rings.

use super::flight::Underway;
use super::memory::{Fault, Memory};
use super::rings::Rings;
use super::table::Owned;
use super::types::{ContextId, Error, Pid, QpAttr, QpInit, QpKind, QpState, SrqInit};
use super::uar::Place;
use bytemuck::{Zeroable, bytes_of_mut};
use fi_mlx5_defs::doorbell::QueueRecord;
use fi_mlx5_defs::opcode::Syndrome;
use fi_mlx5_defs::wqe::{BASIC_BLOCK, SrqNext};

/// Entries of a ring at most: indices have 16 bits, and full must differ from empty.
const MAX_ENTRIES: u32 = 1 << 15;
/// Bytes of a receive entry at most, as a power of two.
const MAX_SHIFT: u32 = 12;

/// A send that waits for its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) why: Why,
    /// Time when it was tried first, in ns.
    pub(super) since: u64,
}

/// Cause for which a send waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Nobody answers.
    NoAnswer,
    /// The peer has no receive posted; its time code says how long to wait between two attempts.
    NotReady(u8),
}

/// The outcome of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Done, with this many bytes.
    Done(u32),
    /// Failed.
    Failed(Syndrome),
    /// Nothing was done yet.
    Wait(Why),
}

/// A queue pair.
#[derive(Debug)]
pub(super) struct QueuePair {
    pub(super) context: ContextId,
    pub(super) pid: Pid,
    pub(super) init: QpInit,
    /// With the current state.
    pub(super) attr: QpAttr,
    pub(super) place: Place,
    /// Basic blocks executed, or under way.
    pub(super) send_consumer: u16,
    /// Receives used.
    pub(super) receive_consumer: u16,
    /// Doorbells that were rung (strict mode).
    pub(super) rings: Rings,
    pub(super) waiting: Option<Waiting>,
    /// The doorbell record as the scan of this step has found it, until it is used.
    pub(super) scanned: Option<QueueRecord>,
    /// Whether it was reset: its register may hold the very word that it rings by next.
    pub(super) was_reset: bool,
    /// Operations taken from the send queue and not done, where operations take time.
    pub(super) underway: Underway,
}

impl Owned for QueuePair {
    fn context(&self) -> ContextId {
        self.context
    }
}

impl QueuePair {
    /// Checks the sizes; the objects it names are the caller's to check.
    pub(super) fn check(init: &QpInit) -> Result<(), Error> {
        let ring = |count: u32| count == 0 || count.is_power_of_two() && count <= MAX_ENTRIES;
        if !ring(init.sq_wqe_count) || !ring(init.rq_wqe_count) {
            return Err(Error::Invalid(
                "a work queue has a power of two of entries, 32768 at most",
            ));
        }
        if init.rq_wqe_count > 0 && !(4..=MAX_SHIFT).contains(&init.rq_wqe_shift) {
            return Err(Error::Invalid("a receive entry has 16 to 4096 bytes"));
        }
        let send_end = init
            .sq_offset
            .checked_add(u64::from(init.sq_wqe_count) * BASIC_BLOCK as u64);
        let ends = [
            send_end.and_then(|end| init.buf_addr.checked_add(end)),
            init.buf_addr
                .checked_add(u64::from(init.rq_wqe_count) << (init.rq_wqe_shift & 15)),
            init.db_addr.checked_add(8),
        ];
        if ends.contains(&None) {
            return Err(Error::Invalid(
                "the queue pair wraps around the address space",
            ));
        }
        if init.kind == QpKind::Dct && init.srq.is_none() {
            return Err(Error::Invalid(
                "a DC target receives from a shared receive queue",
            ));
        }
        Ok(())
    }

    pub(super) fn new(context: ContextId, pid: Pid, init: QpInit, place: Place) -> Self {
        Self {
            context,
            pid,
            init,
            attr: QpAttr::default(),
            place,
            send_consumer: 0,
            receive_consumer: 0,
            rings: Rings::default(),
            waiting: None,
            scanned: None,
            was_reset: false,
            underway: Underway::default(),
        }
    }

    pub(super) fn state(&self) -> QpState {
        self.attr.state
    }

    /// Takes indices and attributes back to the beginning.
    pub(super) fn reset(&mut self) {
        *self = Self {
            was_reset: true,
            ..Self::new(self.context, self.pid, self.init, self.place)
        };
    }

    /// Returns whether requests of peers are answered.
    pub(super) fn answers(&self) -> bool {
        matches!(
            self.state(),
            QpState::ReadyToReceive
                | QpState::ReadyToSend
                | QpState::SendDrained
                | QpState::SendError
        )
    }

    pub(super) fn record(&self, memory: &mut dyn Memory) -> Result<QueueRecord, Fault> {
        let mut record = QueueRecord::zeroed();
        memory.read(self.pid, self.init.db_addr, bytes_of_mut(&mut record))?;
        Ok(record)
    }

    /// Reads `count` basic blocks from block `index` on, around the end of the ring.
    pub(super) fn read_blocks(
        &self,
        memory: &mut dyn Memory,
        index: u16,
        count: u16,
        into: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let blocks = self.init.sq_wqe_count as usize;
        let count = usize::from(count).min(blocks);
        let first = usize::from(index) & blocks.wrapping_sub(1);
        let before_end = count.min(blocks - first);
        into.clear();
        into.resize(count * BASIC_BLOCK, 0);
        let (head, tail) = into.split_at_mut(before_end * BASIC_BLOCK);
        let base = self.init.buf_addr + self.init.sq_offset;
        memory.read(self.pid, base + (first * BASIC_BLOCK) as u64, head)?;
        if tail.is_empty() {
            Ok(())
        } else {
            memory.read(self.pid, base, tail)
        }
    }

    /// Reads receive `index` of the queue pair's own ring.
    pub(super) fn read_receive(
        &self,
        memory: &mut dyn Memory,
        index: u16,
    ) -> Result<Vec<u8>, Fault> {
        let slot = u64::from(index) & (u64::from(self.init.rq_wqe_count).wrapping_sub(1));
        let mut bytes = vec![0; 1 << self.init.rq_wqe_shift];
        memory.read(
            self.pid,
            self.init.buf_addr + (slot << self.init.rq_wqe_shift),
            &mut bytes,
        )?;
        Ok(bytes)
    }
}

/// A shared receive queue: a linked list in a ring.
#[derive(Debug)]
pub(super) struct SharedQueue {
    context: ContextId,
    pid: Pid,
    pub(super) init: SrqInit,
    /// The slot that is used next.
    head: u16,
    /// Slots used.
    consumer: u16,
    pub(super) limit: u32,
}

impl Owned for SharedQueue {
    fn context(&self) -> ContextId {
        self.context
    }
}

impl SharedQueue {
    pub(super) fn new(context: ContextId, pid: Pid, init: SrqInit) -> Result<Self, Error> {
        if !init.wqe_count.is_power_of_two() || init.wqe_count > MAX_ENTRIES {
            return Err(Error::Invalid(
                "a shared receive queue has a power of two of entries, 32768 at most",
            ));
        }
        if !(5..=MAX_SHIFT).contains(&init.wqe_shift) {
            return Err(Error::Invalid(
                "an entry of a shared receive queue has 32 to 4096 bytes",
            ));
        }
        let bytes = u64::from(init.wqe_count) << init.wqe_shift;
        if init.buf_addr.checked_add(bytes).is_none() || init.db_addr.checked_add(4).is_none() {
            return Err(Error::Invalid(
                "the shared receive queue wraps around the address space",
            ));
        }
        Ok(Self {
            context,
            pid,
            init,
            head: 0,
            consumer: 0,
            limit: 0,
        })
    }

    /// Returns the number of entries that are posted and not used.
    pub(super) fn posted(&self, memory: &mut dyn Memory) -> Result<u16, Fault> {
        let mut counter = [0; 4];
        memory.read(self.pid, self.init.db_addr, &mut counter)?;
        let posted = (u32::from_be_bytes(counter) as u16).wrapping_sub(self.consumer);
        if u32::from(posted) > self.init.wqe_count {
            Err(Fault)
        } else {
            Ok(posted)
        }
    }

    /// Reads the next entry: its slot, and its bytes.
    pub(super) fn read_next(&self, memory: &mut dyn Memory) -> Result<(u16, Vec<u8>), Fault> {
        let mut bytes = vec![0; 1 << self.init.wqe_shift];
        let at = self.init.buf_addr + (u64::from(self.head) << self.init.wqe_shift);
        memory.read(self.pid, at, &mut bytes)?;
        Ok((self.head, bytes))
    }

    /// Goes on to the next entry, behind the one with these bytes, which is used.
    pub(super) fn advance(&mut self, bytes: &[u8]) {
        let next: SrqNext = bytemuck::pod_read_unaligned(&bytes[..size_of::<SrqNext>()]);
        self.head = next.next_index.get() & (self.init.wqe_count - 1) as u16;
        self.consumer = self.consumer.wrapping_add(1);
    }
}
