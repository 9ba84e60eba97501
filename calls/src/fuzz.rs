//! Any bytes are an input: entry functions for fuzzers, each of which panics when something is not as it
//! must be.
//!
//! Bytes of a peer are loaded or refused, without a panic. A value that was loaded is saved and loaded
//! again as the same one. `tests/fuzz` runs these over mutated inputs, and the tests below over the
//! corpora that lie there.

#![expect(unsafe_code, reason = "copies a message as a receiver does")]

use crate::archive::{Archive, Arrived, Load, Loader, Save, SharedSlice};
use crate::packet::{Fetched, Packet, Record};
use crate::pool::Pool;
use crate::rma::RmaVec;
use crate::wire::UNIT;
use fi_provider::raw::domain::{self, Domain};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Debug;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

/// An entry function.
pub type Entry = fn(&[u8]);

/// The entry functions: name, name of the corpus, function.
pub const TARGETS: [(&str, &str, Entry); 2] = [
    ("calls-archive", "calls-archive", archive),
    ("calls-records", "calls-records", records),
];

thread_local! {
    /// A pool of few blocks.
    static POOL: LazyCell<Arc<Pool>> = LazyCell::new(|| {
        let config = domain::Config {
            // Fuzzers have little memory.
            arena_bytes: 1 << 24,
            ..domain::Config::default()
        };
        let domain = Domain::open(config).expect("a domain");
        Pool::new(&domain, 1 << 12, 1 << 16)
    });
}

/// Loads an archive as several types. The first byte is the number of chunks, up to 3, and the next ones
/// are their lengths; the bytes of the chunks and the index data follow.
fn archive(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let Some((lengths, mut rest)) = rest.split_at_checked(usize::from(first % 4)) else {
        return;
    };
    let mut chunks = Vec::new();
    for len in lengths {
        let Some((chunk, behind)) = rest.split_at_checked(usize::from(*len)) else {
            return;
        };
        chunks.push(chunk);
        rest = behind;
    }
    again::<(Vec<u32>, String, Option<Box<[i16]>>)>(rest, &chunks);
    again::<BTreeMap<String, Option<Vec<u64>>>>(rest, &chunks);
    again::<Vec<Result<VecDeque<u128>, (char, bool, Duration)>>>(rest, &chunks);
    again::<[BTreeSet<NonZero<u16>>; 2]>(rest, &chunks);
    again::<(Vec<()>, Vec<Arc<String>>)>(rest, &chunks);
    again::<Vec<Vec<Box<i8>>>>(rest, &chunks);
    #[cfg(feature = "serde")]
    again::<crate::Serde<Vec<(String, Option<Vec<i64>>, BTreeMap<u8, ()>)>>>(rest, &chunks);
    let _ = load::<SharedSlice<[f32; 3]>>(rest, &chunks);
    let _ = load::<RmaVec<u64>>(rest, &chunks);
}

fn load<T: Load>(index: &[u8], chunks: &[&[u8]]) -> Option<T> {
    let mut arrived: Vec<_> = chunks.iter().map(|bytes| Arrived::here(bytes)).collect();
    POOL.with(|pool| {
        Loader::new(index, &mut arrived)
            .with_pool(pool)
            .whole()
            .ok()
    })
}

/// Loads a value, and where that succeeds, saves it and loads that.
fn again<T: Load + Save + PartialEq + Debug>(index: &[u8], chunks: &[&[u8]]) {
    if let Some(value) = load::<T>(index, chunks) {
        for threshold in [1, usize::MAX] {
            let back = Archive::of(&value, threshold).load::<T>();
            assert_eq!(back.as_ref(), Ok(&value));
        }
    }
}

/// Takes a message apart. The first byte is the number of chunks that were read for each record; behind
/// an odd number there is long index data.
fn records(bytes: &[u8]) {
    if let Some((first, rest)) = bytes.split_first() {
        POOL.with(|pool| take_apart(rest, pool, usize::from(first % 4)));
    }
}

/// Takes a message of any bytes apart, as a receiver does.
pub(crate) fn take_apart(bytes: &[u8], pool: &Arc<Pool>, chunks: usize) {
    // SAFETY: the slice has so many bytes.
    let packet = unsafe { Packet::copy(bytes.as_ptr(), bytes.len()) };
    assert_eq!(packet.bytes(), bytes);
    let mut at = 0;
    while let Some((header, end)) = packet.record(at) {
        assert!(end > at && end <= bytes.len());
        let mut record = Record::new(0, header, packet.clone(), at + UNIT);
        assert!(record.failure().to_string().len() < 4 * bytes.len() + 100);
        if let Ok(Some((table, described))) = record.table() {
            assert_eq!(described.len(), table.chunks as usize);
            assert!(size_of_val(&*described) <= bytes.len());
        }
        let arrived = |_| Arrived::here(&[7; 24]);
        let index = pool.take(40).ok().filter(|_| chunks % 2 == 1);
        record.fetched = Some(Box::new(Fetched {
            chunks: (0..chunks).map(arrived).collect(),
            index: index.map(|block| (block, 40)),
        }));
        let _ = record.load(pool, |from| {
            from.whole::<(Vec<u64>, String, Vec<Vec<u8>>)>()
        });
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::Path;

    /// Inputs that do something, and that were found to reach something new.
    #[test]
    fn the_corpora_hold() {
        let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz/corpus");
        for (name, corpus, run) in TARGETS {
            let inputs = std::fs::read_dir(corpora.join(corpus)).unwrap();
            let mut inputs: Vec<_> = inputs.map(|one| one.unwrap().path()).collect();
            inputs.sort();
            assert!(inputs.len() > 10, "{name} has no corpus");
            for input in inputs {
                // The last line tells which input it was that broke something.
                eprintln!("{name}: {}", input.display());
                run(&std::fs::read(input).unwrap());
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_an_archive(
            bytes in prop::collection::vec(prop_oneof![0..4_u8, any::<u8>()], 0..200),
        ) {
            archive(&bytes);
        }
    }
}
