//! PCIe transactions of the model of time, as an analyzer in front of each NIC would see them.

use super::types::Pid;
use std::collections::BTreeMap;
use std::fmt;

/// The way of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the root complex to the NIC.
    Down,
    /// From the NIC to the root complex.
    Up,
}

/// The kind of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionKind {
    /// A memory write.
    MemoryWrite,
    /// A memory read.
    MemoryRead,
    /// The data of a memory read.
    Completion,
    /// The acknowledgement of a memory write, of the data link layer.
    Acknowledgement,
}

/// The part that a NIC has in an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its queue pair had the entry.
    Requester,
    /// Its queue pair answers.
    Responder,
}

/// The meaning of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// An entry that is written to a register.
    Post,
    /// The 8 bytes that tell of an entry.
    Doorbell,
    /// An entry that the NIC reads.
    Entry,
    /// Data of a message, write, read or atomic operation.
    Payload,
    /// An entry of a completion queue.
    CompletionEntry,
}

/// A transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Time when the NIC's side of the bus sees it, in ns; on the clock of [`super::Engine::step`].
    pub time: u64,
    /// Its way.
    pub direction: Direction,
    /// Its kind.
    pub kind: TransactionKind,
    /// Bytes of data, or bytes asked for.
    pub bytes: u64,
    /// The queue pair at this NIC.
    pub queue_pair: u32,
    /// The meaning of the bytes.
    pub what: Content,
    /// The process at this NIC.
    pub process: Pid,
    /// The part of this NIC in the operation.
    pub side: Role,
    /// The entry, counted from 1 as the device saw them; 0 for none.
    pub operation: u64,
}

impl Transaction {
    /// The names of the columns, in the order of the fields.
    pub const HEADER: &str = "time_ns,direction,kind,bytes,queue_pair,what,process,side,operation";
}

impl fmt::Display for Transaction {
    /// Writes the line of the CSV, without its end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = match self.direction {
            Direction::Down => "down",
            Direction::Up => "up",
        };
        let kind = match self.kind {
            TransactionKind::MemoryWrite => "MWr",
            TransactionKind::MemoryRead => "MRd",
            TransactionKind::Completion => "CplD",
            TransactionKind::Acknowledgement => "Ack",
        };
        let what = match self.what {
            Content::Post => "post",
            Content::Doorbell => "doorbell",
            Content::Entry => "entry",
            Content::Payload => "payload",
            Content::CompletionEntry => "completion",
        };
        let side = match self.side {
            Role::Requester => "requester",
            Role::Responder => "responder",
        };
        write!(
            f,
            "{},{direction},{kind},{},{},{what},{},{side},{}",
            self.time, self.bytes, self.queue_pair, self.process, self.operation
        )
    }
}

/// A NIC's part in an operation: the common fields of its transactions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port {
    pub(super) queue_pair: u32,
    pub(super) process: Pid,
    pub(super) side: Role,
    pub(super) operation: u64,
}

/// Transactions that are known and not told yet, in the order of time.
#[derive(Debug, Default)]
pub(super) struct Trace {
    known: BTreeMap<(u64, u64), Transaction>,
    count: u64,
}

impl Trace {
    /// Notes one.
    pub(super) fn note(
        &mut self,
        port: &Port,
        time: u64,
        (direction, kind): (Direction, TransactionKind),
        what: Content,
        bytes: u64,
    ) {
        self.count += 1;
        let transaction = Transaction {
            time,
            direction,
            kind,
            bytes,
            queue_pair: port.queue_pair,
            what,
            process: port.process,
            side: port.side,
            operation: port.operation,
        };
        self.known.insert((time, self.count), transaction);
    }

    /// Notes a write upstream, and its acknowledgement `way` later there and back.
    pub(super) fn write(&mut self, port: &Port, time: u64, way: u64, what: Content, bytes: u64) {
        let (write, ack) = (
            (Direction::Up, TransactionKind::MemoryWrite),
            (Direction::Down, TransactionKind::Acknowledgement),
        );
        self.note(port, time, write, what, bytes);
        self.note(port, time + 2 * way, ack, what, 0);
    }

    /// Notes a read upstream, and its data `way` later there and back.
    pub(super) fn read(&mut self, port: &Port, time: u64, way: u64, what: Content, bytes: u64) {
        let (read, data) = (
            (Direction::Up, TransactionKind::MemoryRead),
            (Direction::Down, TransactionKind::Completion),
        );
        self.note(port, time, read, what, bytes);
        self.note(port, time + 2 * way, data, what, bytes);
    }

    /// Takes those from before `end`.
    pub(super) fn take(&mut self, end: u64) -> Vec<Transaction> {
        let later = self.known.split_off(&(end, 0));
        let earlier = std::mem::replace(&mut self.known, later);
        earlier.into_values().collect()
    }
}
