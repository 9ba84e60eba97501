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
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    units: Units,
    len: usize,
}

/// So many units lie in the packet itself.
const FEW: usize = 2;

#[derive(Clone, Debug)]
enum Units {
    Few([u128; FEW]),
    Many(Arc<[u128]>),
}

impl Packet {
    /// Copies a message.
    ///
    /// # Safety
    /// `bytes` leads to `len` bytes, which others may change.
    #[inline]
    pub(crate) unsafe fn copy(bytes: *const u8, len: usize) -> Self {
        let count = len.div_ceil(UNIT);
        if count <= FEW {
            let mut few = [0; FEW];
            // SAFETY: there is room for `count` units; `bytes` has `len` bytes.
            unsafe { copy::copy_message(few.as_mut_ptr().cast(), bytes, len) };
            let units = Units::Few(few);
            return Self { units, len };
        }
        let mut many = Arc::<[u128]>::new_uninit_slice(count);
        if let Some(all) = Arc::get_mut(&mut many) {
            all[count - 1].write(0);
            // SAFETY: there is room for `count` units, of which the last may be a part of the message;
            // `bytes` has `len` bytes.
            unsafe { copy::copy(all.as_mut_ptr().cast(), bytes, len) };
        }
        // SAFETY: the last unit was written, and the bytes of all before it; any bytes are numbers.
        let units = Units::Many(unsafe { many.assume_init() });
        Self { units, len }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        let units = match &self.units {
            Units::Few(few) => &few[..],
            Units::Many(many) => many,
        };
        &bytemuck::cast_slice(units)[..self.len]
    }

    /// The header of the record at `at`, and where its body ends. None at the end; where the record
    /// makes no sense the rest is dropped.
    #[inline]
    pub(crate) fn record(&self, at: usize) -> Option<(Header, usize)> {
        record(self.bytes(), at)
    }
}

/// Does as [`Packet::record`] with the bytes of a packet.
#[inline]
pub(crate) fn record(bytes: &[u8], at: usize) -> Option<(Header, usize)> {
    let header: Header = read(bytes.get(at..)?)?;
    let end = at + UNIT + header.len as usize;
    (end <= bytes.len() && (header.len as usize).is_multiple_of(UNIT)).then_some((header, end))
}

/// A record that has come.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) source: u32,
    pub(crate) header: Header,
    pub(crate) packet: Packet,
    /// Where the body begins in the packet.
    pub(crate) at: usize,
    /// Chunks and index data that were read from the source.
    pub(crate) fetched: Option<Box<Fetched>>,
}

/// Chunks that were read.
#[derive(Debug)]
pub(crate) struct Fetched {
    /// In their order.
    pub(crate) chunks: Vec<Arrived<'static>>,
    /// Index data that was too long for a message, and its bytes.
    pub(crate) index: Option<(Block, usize)>,
}

/// The body of a record makes no sense.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Broken;

impl Record {
    /// A record of which nothing was read from the source.
    #[inline]
    pub(crate) fn new(source: u32, header: Header, packet: Packet, at: usize) -> Self {
        Self {
            source,
            header,
            packet,
            at,
            fetched: None,
        }
    }

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
        let (fetched, long) = match self.fetched.take() {
            Some(all) => (all.chunks, all.index),
            None => (Vec::new(), None),
        };
        let mut fetched = fetched.into_iter();
        let body = self.body();
        let at = size_of::<Table>() + size_of_val(&*chunks);
        let (index, mut here) = match &long {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::take_apart;
    use crate::wire::CALL;
    use fi_provider::raw::domain::{self, Domain};
    use proptest::prelude::*;

    /// Records of any sort, with tables and chunks that may make sense.
    fn record() -> impl Strategy<Value = Vec<u8>> {
        let described = (0..80_u64, 0..5_u8).prop_map(|(len, kind)| Described {
            len,
            key: 0,
            address: 0,
            kind,
            align: 8,
            unused: [0; 6],
        });
        let table = (prop::collection::vec(described, 0..4), 0..4_u32, 0..60_u32);
        let rest = prop::collection::vec(prop_oneof![0..4_u8, any::<u8>()], 0..200);
        (table, rest, 0..4_u8, 0..3_u32).prop_map(|((all, more, index), rest, flags, short)| {
            let table = Table {
                chunks: all.len() as u32 + more / 3,
                index,
                parcel: 1,
            };
            let mut body = [
                bytemuck::bytes_of(&table),
                bytemuck::cast_slice(&all),
                &rest,
            ]
            .concat();
            body.resize(padded(body.len()), 0);
            let header = Header {
                len: body.len() as u32 - 16 * (short / 2),
                word: 0,
                kind: CALL,
                flags,
                id: 0,
            };
            [bytemuck::bytes_of(&header), &body].concat()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn records_of_any_bytes_are_loaded_or_refused(
            records in prop::collection::vec(record(), 1..4),
            noise in prop::collection::vec(any::<u8>(), 0..100),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            chunks in 0..4_usize,
        ) {
            let domain = Domain::open(domain::Config::default()).unwrap();
            let pool = Pool::new(&domain, 1 << 12, 1 << 16);
            take_apart(&noise, &pool, chunks);
            let mut bytes = records.concat();
            take_apart(&bytes, &pool, chunks);
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            take_apart(&bytes, &pool, chunks);
            bytes.extend(noise);
            take_apart(&bytes, &pool, chunks);
        }
    }
}
