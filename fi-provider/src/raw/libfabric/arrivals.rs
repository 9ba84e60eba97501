//! Lines that lead here, and their records.

#![expect(unsafe_code, reason = "copies records from libfabric's buffers")]

use crate::raw::endpoint::origin::Origin;
use crate::raw::record::Flat;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// A record in memory of its own.
#[derive(Debug)]
pub(super) struct Held {
    kind: u16,
    words: Box<[u64]>,
    len: usize,
}

impl Held {
    pub(super) fn new(record: &Flat) -> Self {
        let mut words = vec![0_u64; record.len.div_ceil(8)].into_boxed_slice();
        // SAFETY: the payload has so many bytes, for which there is room.
        unsafe {
            let to = words.as_mut_ptr().cast::<u8>();
            to.copy_from_nonoverlapping(record.payload, record.len);
        }
        Self {
            kind: record.kind,
            words,
            len: record.len,
        }
    }

    pub(super) fn record(&self) -> Flat {
        Flat {
            kind: self.kind,
            payload: self.words.as_ptr().cast(),
            len: self.len,
        }
    }
}

/// A line that leads here.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) origin: Origin,
    /// libfabric's number of the sender.
    pub(super) peer: u64,
    /// The number of the next record.
    pub(super) next: u32,
    /// Records behind that one, of which libfabric has told before.
    pub(super) ahead: BTreeMap<u32, Held>,
    /// Records that there was no room for, in their order.
    pub(super) left: VecDeque<Held>,
    /// Records taken, and those of which the sender was told.
    pub(super) taken: u64,
    pub(super) told: u64,
    /// Nothing of it is carried out any more.
    pub(super) is_closed: bool,
}

/// The receiving side of an endpoint.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// Lines by their numbers.
    pub(super) incoming: HashMap<u64, Incoming>,
    /// Lines with records left.
    pub(super) left: Vec<u64>,
}

impl Arrivals {
    /// Returns whether records were left.
    pub(super) fn has_left(&self) -> bool {
        !self.left.is_empty()
    }
}
