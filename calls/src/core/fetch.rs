//! Chunks that lie with the sender: they are read into memory that was allocated for them, or into
//! blocks of the pool.

#![expect(unsafe_code, reason = "has the fabric write to memory by its address")]

use super::send::header;
use super::{Core, PROBE, Ready, Way, is_final};
use crate::archive::{Arrived, Heap};
use crate::call::Sink;
use crate::error::Error;
use crate::packet::{Fetched, Record};
use crate::pool::Block;
use crate::wire::{BLOCK, Described, FAILED, FETCHED, HERE, INDEX, PLAIN, REFUSED, REPLY};
use fi_provider::raw::completion::Context;
use fi_provider::raw::error as raw;
use std::sync::Arc;

/// Reads that may be under way at a time.
pub(super) const MOST_READS: usize = 1 << 12;
/// The context of a probe, with its rank in the lower bits.
const PROBING: u64 = 1 << 63;

/// A record whose chunks are being read.
pub(super) struct Fetch {
    record: Record,
    sink: Option<Arc<dyn Sink>>,
    parcel: u64,
    /// In the order of the chunks; index data last, as a block.
    buffers: Vec<Buffer>,
    index: Option<(Block, usize)>,
    /// Reads that have not ended.
    left: usize,
    failed: Option<raw::Error>,
}

/// Memory that a chunk is read into.
enum Buffer {
    Heap(Heap, usize),
    Block(Block, usize),
}

/// A read for which there was no room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stalled {
    fetch: usize,
    from: Described,
    to: *mut u8,
}

impl Buffer {
    fn as_ptr(&self) -> *mut u8 {
        match self {
            Self::Heap(heap, _) => heap.as_ptr(),
            Self::Block(block, _) => block.as_ptr(),
        }
    }

    fn into_arrived(self) -> Arrived<'static> {
        match self {
            Self::Heap(heap, len) => Arrived::Heap(Some(heap), len),
            Self::Block(block, len) => Arrived::Block(Some(Arc::new(block)), len),
        }
    }
}

impl Core {
    /// Begins to read the chunks of a record, which comes out of a turn when they are there: as a call,
    /// or for the one that waits for the reply.
    pub(crate) fn fetch(&mut self, record: Record, sink: Option<Arc<dyn Sink>>) {
        let Ok(Some((table, chunks))) = record.table() else {
            return self.refuse(record, sink, 0, "its table of chunks makes no sense");
        };
        let far: Vec<Described> = chunks
            .into_iter()
            .filter(|chunk| chunk.kind != HERE)
            .collect();
        if far.is_empty() {
            return self.come_out(record, sink);
        }
        if far.iter().filter(|chunk| chunk.kind == INDEX).count() > 1 {
            // One place has room for the block of index data that is read into.
            let text = "its table of chunks makes no sense";
            return self.refuse(record, sink, table.parcel, text);
        }
        let all = far
            .iter()
            .try_fold(0_u64, |all, chunk| all.checked_add(chunk.len));
        if all.is_none_or(|all| all > self.most as u64) {
            return self.refuse(
                record,
                sink,
                table.parcel,
                "they are more than Config::most bytes",
            );
        }
        let mut fetch = Fetch {
            record,
            sink,
            parcel: table.parcel,
            buffers: Vec::with_capacity(far.len()),
            index: None,
            left: far.len(),
            failed: None,
        };
        let mut places = Vec::with_capacity(far.len());
        for chunk in &far {
            let len = chunk.len as usize;
            let buffer = match chunk.kind {
                // SAFETY: a read writes all bytes before the record comes out of a turn; where that
                // fails, it does not.
                PLAIN => unsafe { Heap::new(len, chunk.align.into()) }
                    .map(|heap| Buffer::Heap(heap, len)),
                BLOCK | INDEX => self
                    .pool
                    .take(len)
                    .ok()
                    .map(|block| Buffer::Block(block, len)),
                _ => None,
            };
            let Some(buffer) = buffer else {
                let Fetch { record, sink, .. } = fetch;
                let text = format!("there is no memory, or none of the pool, for {len} bytes");
                return self.refuse(record, sink, table.parcel, &text);
            };
            places.push((*chunk, buffer.as_ptr()));
            match buffer {
                Buffer::Block(block, len) if chunk.kind == INDEX => {
                    fetch.index = Some((block, len))
                }
                other => fetch.buffers.push(other),
            }
        }
        let key = self.fetches.insert(fetch);
        for (from, to) in places {
            self.read(Stalled {
                fetch: key,
                from,
                to,
            });
        }
        self.take_ended();
    }

    /// Starts a read.
    fn read(&mut self, read: Stalled) {
        let Stalled { fetch, from, to } = read;
        let source = self.fetches[fetch].record.source;
        let (replies, len) = (&self.replies, from.len as usize);
        let started = replies.on_region(source, from.key, |region| {
            // SAFETY: the buffer has room for the bytes, and is the fetch's until all of its reads have
            // ended, or the endpoint is dropped, which is before the fetch.
            unsafe { replies.read(region, from.address, to, len, Context(fetch as u64)) }
        });
        match started {
            Ok(()) => {}
            Err(raw::Error::Again) => self.stalled.push_back(read),
            Err(error) => self.end_read(fetch, Some(error)),
        }
    }

    /// Takes note of reads that have ended, and starts others.
    pub(super) fn take_ended(&mut self) {
        while let Some(told) = self.ended.next() {
            let (context, error) = match told {
                Ok(entry) => (entry.context, None),
                Err(failure) => (failure.entry.context, Some(failure.error)),
            };
            if context & PROBING != 0 {
                let rank = context as u32;
                self.peers[rank as usize].is_probed = false;
                if let Some(error) = error
                    && is_final(error)
                {
                    self.part(rank, error);
                }
            } else {
                self.end_read(context as usize, error);
            }
        }
        for _ in 0..self.stalled.len() {
            if let Some(one) = self.stalled.pop_front() {
                self.read(one);
            }
        }
    }

    fn end_read(&mut self, key: usize, error: Option<raw::Error>) {
        let Some(fetch) = self.fetches.get_mut(key) else {
            return;
        };
        fetch.left -= 1;
        fetch.failed = fetch.failed.or(error);
        if fetch.left > 0 {
            return;
        }
        let Fetch {
            mut record,
            sink,
            parcel,
            buffers,
            index,
            failed,
            ..
        } = self.fetches.remove(key);
        if let Some(error) = failed {
            if is_final(error) {
                self.part(record.source, error);
            }
            if let (Some(sink), Some(lost)) = (&sink, self.lost(record.source)) {
                let failed = Ready::Failed(Arc::clone(sink), lost);
                return self.out.push(failed);
            }
            let text = format!("they could not be read: {error}");
            return self.refuse(record, sink, parcel, &text);
        }
        self.append(
            record.source,
            Way::Replies,
            header(FETCHED, 0, parcel),
            std::iter::empty(),
        );
        let chunks = buffers.into_iter().map(Buffer::into_arrived).collect();
        record.fetched = Some(Box::new(Fetched { chunks, index }));
        self.come_out(record, sink);
    }

    fn come_out(&mut self, record: Record, sink: Option<Arc<dyn Sink>>) {
        self.out.push(match sink {
            Some(sink) => Ready::Reply(sink, record),
            None => Ready::Call(record),
        });
    }

    /// Refuses a record whose chunks cannot be had, and lets its sender drop them.
    fn refuse(&mut self, record: Record, sink: Option<Arc<dyn Sink>>, parcel: u64, why: &str) {
        let source = record.source;
        if parcel != 0 {
            self.append(
                source,
                Way::Replies,
                header(FETCHED, 0, parcel),
                std::iter::empty(),
            );
        }
        if let Some(sink) = sink {
            let error = Error::Refused {
                rank: self.rank,
                message: why.to_owned(),
            };
            return self.out.push(Ready::Failed(sink, error));
        }
        self.fail(source, record.header.id, REFUSED, why);
    }

    /// Tells a rank that its call has failed.
    pub(crate) fn fail(&mut self, rank: u32, id: u64, how: u16, why: &str) {
        let most = why.floor_char_boundary(self.most_body().min(1 << 10));
        let kind = if id == 0 { FAILED } else { REPLY };
        self.append(
            rank,
            Way::Replies,
            header(kind, how, id),
            std::iter::once(&why.as_bytes()[..most]),
        );
        if id == 0 {
            self.note_ran(rank, 1);
        }
    }

    /// Begins to read a word of a rank of another node.
    ///
    /// # Errors
    /// Those of the fabric.
    pub(super) fn probe(&mut self, rank: u32) -> Result<(), raw::Error> {
        if std::mem::replace(&mut self.peers[rank as usize].is_probed, true) {
            return Ok(());
        }
        let (replies, to) = (&self.replies, (&raw mut *self.probed).cast());
        let report = Context(PROBING | u64::from(rank));
        // SAFETY: the word is the core's, dropped behind the endpoint, and nobody reads it.
        let started = replies.on_region(rank, PROBE, |region| unsafe {
            replies.read(region, 0, to, size_of::<u64>(), report)
        });
        match started {
            Ok(()) => Ok(()),
            Err(error) => {
                self.peers[rank as usize].is_probed = false;
                if error == raw::Error::Again {
                    Ok(())
                } else {
                    Err(error)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::Calls;
    use crate::packet::Packet;
    use crate::wire::{CALL, CHUNKS, Header, Table, UNIT};
    use bytemuck::bytes_of;

    /// A call of rank 0 with a table of these chunks, of 200 bytes each in a block of its pool.
    fn call_with(calls: &Calls, kinds: &[u8]) -> Record {
        let block = calls.inner().pool.take(200).unwrap();
        let (key, address) = block.place();
        let describe = |&kind| Described {
            len: 200,
            key,
            address,
            kind,
            align: 0,
            unused: [0; 6],
        };
        let all: Vec<Described> = kinds.iter().map(describe).collect();
        let table = Table {
            chunks: all.len() as u32,
            index: 0,
            parcel: 0,
        };
        let body = [bytes_of(&table), bytemuck::cast_slice(&all)].concat();
        let header = Header {
            len: body.len() as u32,
            flags: CHUNKS,
            ..header(CALL, 0, 0)
        };
        let bytes = [bytes_of(&header), &body].concat();
        // SAFETY: the slice has so many bytes.
        let packet = unsafe { Packet::copy(bytes.as_ptr(), bytes.len()) };
        Record::new(0, header, packet, UNIT)
    }

    #[test]
    fn a_second_block_of_index_data_is_refused() {
        let calls = Calls::alone().unwrap();
        for (kinds, is_refused) in [
            (&[INDEX, BLOCK][..], false),
            (&[INDEX, INDEX], true),
            (&[BLOCK, INDEX, BLOCK, INDEX], true),
        ] {
            let record = call_with(&calls, kinds);
            let mut core = calls.inner().turn();
            core.fetch(record, None);
            assert_eq!(core.out.is_empty(), is_refused, "{kinds:?}");
            core.out.clear();
            assert!(core.fetches.is_empty());
        }
        let lost = loop {
            calls.poll();
            if let Some(lost) = calls.inner().take_lost() {
                break lost;
            }
        };
        assert!(lost.to_string().contains("makes no sense"), "{lost}");
    }
}
