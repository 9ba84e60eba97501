//! Peers: where each is and how it is reached (fi_av(3)).
//!
//! A record says nothing of the process that reads it, but for those of peers of the same node. So one process of a node
//! writes the records of all peers into a [`Table`], and all map its memory: privately, so that each has pages of its own where it
//! writes how it reaches the peers of its node, and shares all others.

#![expect(
    unsafe_code,
    reason = "records lie in memory that processes share, and are read through views of it"
)]

use crate::symmetric::remote::Remote;
use fi_shm::segment::{Memfd, Reservation, page_size};
use std::io;
use std::sync::Arc;

/// The record of one peer: one cache line, all that an operation reads of it.
///
/// Route and range are one test: the window of a peer on this node has a length, that of any other has
/// none, so that an address outside of it and a peer elsewhere leave the line at the same branch. Atomics
/// have a length of their own, because in a job of several nodes those on peers of this node take the device too.
/// All zero bytes are the record of a peer that nothing reaches.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Bytes of the peer's window that this process reaches by loads and stores; 0 for none.
    pub(crate) window_len: usize,
    /// As `window_len`, for the processor's atomics.
    pub(crate) atomic_len: usize,
    /// Distance to add (modulo 2^64) to an own symmetric address to get the peer's, as mapped here.
    pub(crate) delta: usize,
    /// Way in which a device reaches the peer.
    pub(crate) remote: Remote,
}

const _: () = assert!(size_of::<Peer>() == 64);

impl Peer {
    /// Offsets in a record of the length for loads and stores, of that for the processor's atomics,
    /// and of the distance, in bytes from its start.
    pub const NEAR: [usize; 3] = [
        std::mem::offset_of!(Peer, window_len),
        std::mem::offset_of!(Peer, atomic_len),
        std::mem::offset_of!(Peer, delta),
    ];
}

/// The number of a peer in its address vector: the rank, densely from 0 (FI_AV_TABLE).
pub type PeerIndex = u32;

/// Memory for the records of all peers of a job, which the processes of a node share.
#[derive(Clone, Debug)]
pub struct Table {
    memory: Arc<Memfd>,
    offset: usize,
    count: u32,
}

impl Table {
    /// Returns the bytes of a table of `count` peers: whole pages.
    pub fn bytes(count: u32) -> usize {
        (count as usize * size_of::<Peer>())
            .max(1)
            .next_multiple_of(page_size())
    }

    /// Makes the table of `count` peers that lies at `offset`, a whole number of pages, in
    /// `memory`, and takes [`Table::bytes`] there.
    pub fn new(memory: Arc<Memfd>, offset: usize, count: u32) -> Self {
        Self {
            memory,
            offset,
            count,
        }
    }

    /// Makes a table of this process's own.
    ///
    /// # Errors
    /// The error of memfd_create(2), ftruncate(2) or fcntl(2).
    pub(crate) fn private(count: u32) -> io::Result<Self> {
        let memory = Memfd::create(c"farreach-peers", Self::bytes(count))?;
        Ok(Self::new(Arc::new(memory), 0, count))
    }

    /// Returns the memory, mapped for the one process that writes it.
    pub(crate) fn records(&self) -> io::Result<Records> {
        let space = Reservation::anywhere(Self::bytes(self.count))?;
        space.map_shared(0, &self.memory, self.offset, space.len())?;
        Ok(Records::in_space(space, self.count))
    }
}

/// Mapped memory full of records.
#[derive(Debug)]
pub(crate) struct Records {
    space: Reservation,
    count: u32,
}

impl Records {
    /// Makes records of peers that nothing reaches, of this process alone.
    fn nowhere(count: u32) -> io::Result<Self> {
        let space = Reservation::zeroed(Table::bytes(count))?;
        Ok(Self::in_space(space, count))
    }

    /// Makes the records in mapped memory: no core file holds them.
    fn in_space(space: Reservation, count: u32) -> Self {
        space.keep_from_cores();
        Self { space, count }
    }

    /// Returns all records.
    fn all(&self) -> &[Peer] {
        // SAFETY: mapped as long as `self`, for so many records, which any bytes are.
        unsafe { std::slice::from_raw_parts(self.space.base() as *const Peer, self.count as usize) }
    }

    /// Returns all records, to be written.
    pub(crate) fn all_mut(&mut self) -> &mut [Peer] {
        // SAFETY: mapped as long as `self`, for so many records, which any bytes are; this borrow
        // is exclusive, and other processes do not read a record that this one still writes.
        unsafe {
            std::slice::from_raw_parts_mut(self.space.base() as *mut Peer, self.count as usize)
        }
    }
}

#[derive(Debug)]
enum Memory {
    /// The peers of the job.
    Job(Records),
    /// Some of them, copied.
    Selected(Vec<Peer>),
}

/// The peers of a job, in the order of their ranks.
#[derive(Debug)]
pub struct AddressVector {
    memory: Memory,
}

impl AddressVector {
    /// Makes a vector of `count` peers that nothing reaches.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub(crate) fn of_unreachable(count: u32) -> io::Result<Self> {
        Ok(Self {
            memory: Memory::Job(Records::nowhere(count)?),
        })
    }

    /// Makes the vector of the peers of a table that is written. As long as this lives nobody
    /// writes there.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub(crate) fn of_table(table: &Table) -> io::Result<Self> {
        let space = Reservation::anywhere(Table::bytes(table.count))?;
        space.map_private(0, &table.memory, table.offset, space.len())?;
        let memory = Memory::Job(Records::in_space(space, table.count));
        Ok(Self { memory })
    }

    /// Makes a vector of the same peers for a process whose window has its parts the other way
    /// round: a copy.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub(crate) fn swapped(&self, swap: impl Fn(&Remote) -> Remote) -> io::Result<Self> {
        let mut copy = Records::nowhere(self.len() as u32)?;
        for (own, theirs) in copy.all_mut().iter_mut().zip(self.records()) {
            own.remote = swap(&theirs.remote);
        }
        Ok(Self {
            memory: Memory::Job(copy),
        })
    }

    /// Makes `peer` one of this node whose window of `len` bytes is mapped `delta` bytes (modulo 2^64)
    /// above the own one; `atomic_len` bytes of it are for the processor's atomics.
    pub(crate) fn set_on_node(
        &mut self,
        peer: PeerIndex,
        len: usize,
        atomic_len: usize,
        delta: usize,
    ) {
        let records = match &mut self.memory {
            Memory::Job(records) => records.all_mut(),
            Memory::Selected(peers) => peers,
        };
        let record = &mut records[peer as usize];
        record.window_len = len;
        record.atomic_len = atomic_len;
        record.delta = delta;
    }

    /// Returns the peers `members` of this vector, numbered anew in this order; `None` where one of
    /// them is no peer.
    pub fn select(&self, members: &[PeerIndex]) -> Option<Self> {
        let record = |&peer: &PeerIndex| self.records().get(peer as usize).copied();
        let peers = members.iter().map(record).collect::<Option<_>>()?;
        Some(Self {
            memory: Memory::Selected(peers),
        })
    }

    /// Returns the number of peers.
    pub fn len(&self) -> usize {
        self.records().len()
    }

    /// Returns whether there is no peer.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the records, for endpoints.
    pub(crate) fn records(&self) -> &[Peer] {
        match &self.memory {
            Memory::Job(records) => records.all(),
            Memory::Selected(peers) => peers,
        }
    }
}
