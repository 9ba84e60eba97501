//! Sending: records are gathered in messages, and arguments kept until they were read.

use super::{Core, Ready, Way};
use crate::archive::{Chunk, Save, Saver};
use crate::call::Sink;
use crate::pool::Block;
use crate::sync::Mutex;
use crate::wire::{
    BLOCK, CHUNKS, DONE, Described, HERE, Header, INDEX, PLAIN, Table, UNIT, padded,
};
use bytemuck::bytes_of;
use fi_provider::raw::error as raw;
use fi_provider::raw::region::Region;
use std::collections::VecDeque;
use std::iter;
use std::sync::Arc;
use std::time::Instant;

/// Records that come together between looks at a clock; before, each looks.
const LOOK: u32 = 8;

/// Messages to a rank that were not sent.
#[derive(Default)]
pub(super) struct Outbox {
    /// Records that wait for others.
    buffer: Vec<u8>,
    records: u32,
    /// So many records, before the clock is looked at.
    look: u32,
    since: Option<Instant>,
    /// Messages that wait for room.
    full: VecDeque<Vec<u8>>,
    is_dirty: bool,
}

impl Outbox {
    /// Whether messages wait for room.
    pub(super) fn is_full(&self) -> bool {
        !self.full.is_empty()
    }

    /// Drops all messages; returns the bytes of those that waited for room.
    pub(super) fn drop_all(&mut self) -> usize {
        self.buffer = Vec::new();
        self.records = 0;
        self.look = 0;
        self.full.drain(..).map(|message| message.len()).sum()
    }
}

/// Where a chunk lies that a receiver reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) len: usize,
    pub(crate) key: u64,
    pub(crate) address: u64,
    pub(crate) kind: u8,
    pub(crate) align: u8,
}

/// Arguments that are kept until their chunks were read.
#[expect(dead_code, reason = "they are dropped, one after the other")]
pub(crate) struct Kept {
    /// Closed before the arguments are dropped.
    pub(crate) regions: Vec<Region>,
    /// Has the index data, where that is too long for a message.
    pub(crate) index: Option<Block>,
    /// The values, which nobody looks at: the lock has several threads keep them.
    pub(crate) arguments: Mutex<Box<dyn Send>>,
    /// Told when the arguments are dropped.
    pub(crate) borrowed: Option<Arc<dyn Send + Sync>>,
}

/// Arguments that are kept for one of the ranks that they are sent to.
pub(crate) struct KeptFor {
    pub(crate) kept: Arc<Kept>,
    pub(crate) sink: Option<Arc<dyn Sink>>,
}

impl Core {
    /// The most bytes of a record's body.
    #[inline]
    pub(crate) fn most_body(&self) -> usize {
        self.message - UNIT
    }

    /// Sends a record with others, soon: its body is `parts` one behind the other, each up to a multiple
    /// of [`UNIT`].
    #[inline(always)]
    pub(crate) fn append<'a>(
        &mut self,
        rank: u32,
        way: Way,
        header: Header,
        parts: impl Iterator<Item = &'a [u8]> + Clone,
    ) {
        let len = parts.clone().map(|part| padded(part.len())).sum::<usize>();
        self.append_body(rank, way, header, len, |buffer| {
            for part in parts {
                buffer.extend_from_slice(part);
                pad(buffer);
            }
        });
    }

    /// Sends a record with others, soon, whose index data is that of a value with [`Save::FIXED`].
    #[inline(always)]
    pub(crate) fn append_fixed<X: Save>(
        &mut self,
        rank: u32,
        way: Way,
        header: Header,
        (value, len): (&X, usize),
    ) {
        self.append_body(rank, way, header, padded(len), |buffer| {
            Saver::append_fixed(buffer, value);
            pad(buffer);
        });
    }

    /// Sends a record with others, soon, to whose message `body` appends `len` bytes.
    #[inline(always)]
    fn append_body(
        &mut self,
        rank: u32,
        way: Way,
        mut header: Header,
        len: usize,
        body: impl FnOnce(&mut Vec<u8>),
    ) {
        debug_assert!(len <= self.most_body());
        let message = self.message;
        let mut outbox = self.outbox(rank, way);
        if outbox.buffer.len() + UNIT + len > message {
            self.push(rank, way);
            outbox = self.outbox(rank, way);
        }
        header.len = len as u32;
        let buffer = &mut outbox.buffer;
        buffer.reserve(UNIT + len);
        buffer.extend_from_slice(bytes_of(&header));
        body(buffer);
        outbox.records += 1;
        if outbox.records >= outbox.look {
            self.note_records(rank, way);
        }
    }

    /// Notes records that were added: sends the message, where they are as many as come together, or
    /// have waited.
    #[inline(never)]
    fn note_records(&mut self, rank: u32, way: Way) {
        let together = self.together;
        let outbox = self.outbox(rank, way);
        let records = outbox.records;
        let more = if records < LOOK { 1 } else { LOOK };
        outbox.look = together.min(records + more);
        if !std::mem::replace(&mut outbox.is_dirty, true) {
            self.dirty.push((rank, way));
        }
        if records > 1 && (records >= together || self.has_waited(rank, way)) {
            self.push(rank, way);
        }
    }

    /// Whether records have waited long enough.
    fn has_waited(&mut self, rank: u32, way: Way) -> bool {
        let outbox = self.outbox(rank, way);
        match outbox.since {
            None => {
                outbox.since = Some(Instant::now());
                false
            }
            Some(since) => since.elapsed() >= self.delay,
        }
    }

    /// Sends the records that have come together.
    fn push(&mut self, rank: u32, way: Way) {
        let endpoint = match way {
            Way::Calls => &self.requests,
            Way::Replies => &self.replies,
        };
        let peer = &mut self.peers[rank as usize];
        let outbox = &mut peer.outboxes[way as usize];
        outbox.records = 0;
        outbox.look = 0;
        outbox.since = None;
        if peer.lost.is_some() || outbox.buffer.is_empty() {
            outbox.buffer.clear();
            return;
        }
        if outbox.full.is_empty() {
            if endpoint.inject_now(rank.into(), &outbox.buffer) {
                outbox.buffer.clear();
                return;
            }
            match endpoint.inject(rank, &outbox.buffer) {
                Ok(()) => {
                    outbox.buffer.clear();
                    return;
                }
                Err(raw::Error::Again) => {}
                Err(error) => return self.part(rank, error),
            }
        }
        self.unsent += outbox.buffer.len();
        let next = Vec::with_capacity(self.message);
        outbox
            .full
            .push_back(std::mem::replace(&mut outbox.buffer, next));
    }

    /// Sends all messages that there is room for.
    pub(super) fn flush(&mut self) {
        let mut at = 0;
        while let Some(&(rank, way)) = self.dirty.get(at) {
            if !self.outbox(rank, way).full.is_empty() {
                self.push_full(rank, way);
            }
            self.push(rank, way);
            let outbox = self.outbox(rank, way);
            if outbox.full.is_empty() {
                outbox.is_dirty = false;
                self.dirty.swap_remove(at);
            } else {
                at += 1;
            }
        }
    }

    #[inline]
    fn outbox(&mut self, rank: u32, way: Way) -> &mut Outbox {
        &mut self.peers[rank as usize].outboxes[way as usize]
    }

    /// Sends messages that have waited for room.
    fn push_full(&mut self, rank: u32, way: Way) {
        let endpoint = match way {
            Way::Calls => &self.requests,
            Way::Replies => &self.replies,
        };
        let outbox = &mut self.peers[rank as usize].outboxes[way as usize];
        while let Some(first) = outbox.full.front() {
            match endpoint.inject(rank, first) {
                Ok(()) => {}
                Err(raw::Error::Again) => return,
                Err(error) => return self.part(rank, error),
            }
            self.unsent -= first.len();
            outbox.full.pop_front();
        }
    }

    /// Tells ranks how many of their calls without a reply were run.
    pub(super) fn tell_of_ran(&mut self) {
        for rank in std::mem::take(&mut self.ran) {
            let peer = &mut self.peers[rank as usize];
            peer.is_ran_noted = false;
            if peer.lost.is_some() {
                continue;
            }
            let header = header(DONE, 0, peer.ran);
            self.append(rank, Way::Replies, header, iter::empty());
        }
    }

    /// Sends a record with the bytes of its chunks, which all fit in a message.
    #[inline(never)]
    pub(crate) fn append_whole(
        &mut self,
        rank: u32,
        way: Way,
        mut header: Header,
        (index, chunks): (&[u8], &[Chunk<'_>]),
    ) {
        let described: Vec<Described> = chunks
            .iter()
            .map(|chunk| here(chunk.bytes().len()))
            .collect();
        let table = Table {
            chunks: chunks.len() as u32,
            index: index.len() as u32,
            parcel: 0,
        };
        header.flags |= CHUNKS;
        let parts = [bytes_of(&table), bytemuck::cast_slice(&described), index];
        let parts = parts.into_iter().chain(chunks.iter().map(Chunk::bytes));
        self.append(rank, way, header, parts);
    }

    /// Sends a record with the places of its chunks, and keeps them until they were read.
    pub(crate) fn append_places(
        &mut self,
        rank: u32,
        way: Way,
        mut header: Header,
        (index, places): (&[u8], &[Place]),
        kept: KeptFor,
    ) {
        let key = self.kept.vacant_key();
        let parcel = self.number(key);
        self.kept.insert((rank, parcel, kept));
        let described: Vec<Described> = places.iter().map(Place::describe).collect();
        let table = Table {
            chunks: places.len() as u32,
            index: index.len() as u32,
            parcel,
        };
        header.flags |= CHUNKS;
        let parts = [bytes_of(&table), bytemuck::cast_slice(&described), index];
        self.append(rank, way, header, parts.into_iter());
    }

    /// Drops arguments whose chunks were read.
    pub(super) fn release(&mut self, rank: u32, parcel: u64) {
        let key = parcel as u32 as usize;
        if self
            .kept
            .get(key)
            .is_some_and(|one| (one.0, one.1) == (rank, parcel))
        {
            self.out.push(Ready::Sent(self.kept.remove(key).2));
        }
    }
}

impl Place {
    pub(crate) fn of_block(block: &Block, len: usize, is_index: bool) -> Self {
        let (key, address) = block.place();
        Self {
            len,
            key,
            address,
            kind: if is_index { INDEX } else { BLOCK },
            align: 0,
        }
    }

    pub(crate) fn of_region(region: &Region, len: usize, align: u8) -> Self {
        Self {
            len,
            key: region.key(),
            address: 0,
            kind: PLAIN,
            align,
        }
    }

    fn describe(&self) -> Described {
        Described {
            len: self.len as u64,
            key: self.key,
            address: self.address,
            kind: self.kind,
            align: self.align,
            unused: [0; 6],
        }
    }
}

/// A chunk that is sent along.
fn here(len: usize) -> Described {
    Described {
        len: len as u64,
        key: 0,
        address: 0,
        kind: HERE,
        align: 0,
        unused: [0; 6],
    }
}

/// Appends zeros up to a multiple of [`UNIT`].
#[inline(always)]
fn pad(buffer: &mut Vec<u8>) {
    let end = padded(buffer.len());
    if buffer.len() < end {
        buffer.resize(end, 0);
    }
}

/// A header without flags.
#[inline]
pub(crate) fn header(kind: u8, word: u16, id: u64) -> Header {
    Header {
        len: 0,
        word,
        kind,
        flags: 0,
        id,
    }
}
