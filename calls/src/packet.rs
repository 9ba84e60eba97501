//! Messages that have come, and their records.

#![expect(unsafe_code, reason = "copies messages out of memory that peers write")]

use crate::archive::{Arrived, Loader};
use crate::error::Error;
use crate::pool::{Block, Pool};
use crate::wire::{CHUNKS, Described, HERE, Header, INDEX, PANICKED, Table, UNIT, padded, read};
use fi_shm::copy;
use std::sync::Arc;

/// A message that has come, copied out of the ring or buffer that it came to; its first byte is at a
/// multiple of [`UNIT`].
#[derive(Debug)]
pub(crate) struct Packet {
    units: Vec<u128>,
    len: usize,
}

impl Packet {
    /// Copies a message.
    ///
    /// # Safety
    /// `bytes` leads to `len` bytes, which others may change.
    pub(crate) unsafe fn copy(bytes: *const u8, len: usize) -> Self {
        let count = len.div_ceil(UNIT);
        let mut units = Vec::<u128>::with_capacity(count);
        // SAFETY: there is room for `count` units, of which the last may be part of a message; it is
        // written first. `bytes` has `len` bytes. Any bytes are numbers.
        unsafe {
            if count > 0 {
                units.as_mut_ptr().add(count - 1).write(0);
            }
            copy::copy(units.as_mut_ptr().cast(), bytes, len);
            units.set_len(count);
        }
        Self { units, len }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.units)[..self.len]
    }

    /// The header of the record at `at`, and where its body ends. None at the end; where the record
    /// makes no sense the rest is dropped.
    pub(crate) fn record(&self, at: usize) -> Option<(Header, usize)> {
        let header: Header = read(self.bytes().get(at..)?)?;
        let end = (at + UNIT).checked_add(header.len as usize)?;
        (end <= self.len && (header.len as usize).is_multiple_of(UNIT)).then_some((header, end))
    }
}

/// A record that has come.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) source: u32,
    pub(crate) header: Header,
    pub(crate) packet: Arc<Packet>,
    /// Where the body begins in the packet.
    pub(crate) at: usize,
    /// The chunks that were fetched, in their order.
    pub(crate) fetched: Vec<Arrived<'static>>,
    /// Index data that was fetched, and its bytes.
    pub(crate) index: Option<(Arc<Block>, usize)>,
}

/// The body of a record makes no sense.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Broken;

impl Record {
    /// The failure that the record tells of.
    pub(crate) fn failure(&self) -> Error {
        let text = String::from_utf8_lossy(self.body());
        let (rank, message) = (self.source, text.trim_end_matches('\0').to_owned());
        match self.header.word {
            PANICKED => Error::Panicked { rank, message },
            _ => Error::Refused { rank, message },
        }
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.packet.bytes()[self.at..self.at + self.header.len as usize]
    }

    /// The table of chunks, and these.
    ///
    /// # Errors
    /// [`Broken`].
    pub(crate) fn table(&self) -> Result<Option<(Table, Vec<Described>)>, Broken> {
        if self.header.flags & CHUNKS == 0 {
            return Ok(None);
        }
        let body = self.body();
        let table: Table = read(body).ok_or(Broken)?;
        let rest = &body[size_of::<Table>()..];
        let many = (table.chunks as usize).checked_mul(size_of::<Described>());
        let chunks = many.and_then(|bytes| rest.get(..bytes)).ok_or(Broken)?;
        Ok(Some((
            table,
            chunks
                .chunks_exact(size_of::<Described>())
                .filter_map(read)
                .collect(),
        )))
    }

    /// Gives `load` the values of the record.
    ///
    /// # Errors
    /// [`Broken`].
    pub(crate) fn load<T>(
        &mut self,
        pool: &Arc<Pool>,
        load: impl FnOnce(Loader<'_, '_>) -> T,
    ) -> Result<T, Broken> {
        let Some((table, chunks)) = self.table()? else {
            return Ok(load(Loader::new(self.body(), &mut []).with_pool(pool)));
        };
        let mut fetched = std::mem::take(&mut self.fetched).into_iter();
        let body = self.body();
        let at = size_of::<Table>() + size_of_val(&*chunks);
        let (index, mut here) = match &self.index {
            Some((block, len)) => (&block.bytes()[..*len], at),
            None => {
                let end = at + table.index as usize;
                (body.get(at..end).ok_or(Broken)?, padded(end))
            }
        };
        let mut arrived = Vec::with_capacity(chunks.len());
        for chunk in chunks.iter().filter(|chunk| chunk.kind != INDEX) {
            arrived.push(if chunk.kind == HERE {
                let end = here.checked_add(chunk.len as usize).ok_or(Broken)?;
                let bytes = body.get(here..end).ok_or(Broken)?;
                here = padded(end);
                Arrived::here(bytes)
            } else {
                fetched.next().ok_or(Broken)?
            });
        }
        Ok(load(Loader::new(index, &mut arrived).with_pool(pool)))
    }
}
