//! Moving bytes: gathered here, scattered there.

use super::memory::{Fault, Memory};
use super::region::Span;
use std::cmp::min;

/// Bytes that are moved at a time.
const CHUNK: u64 = 256 * 1024;
/// Between two writes to one range, bytes are cut here only, so that no aligned word is.
const CUT: u64 = 64;

/// Source of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    /// Bytes of the request itself.
    Bytes(&'a [u8]),
    /// A process's memory.
    Span(Span),
}

impl Source<'_> {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Span(span) => span.len,
        }
    }
}

/// Side whose memory failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Source,
    Destination,
}

/// Copies all sources, one behind the other, into the destinations, which have room for them.
pub(super) fn copy(
    memory: &mut dyn Memory,
    sources: &[Source<'_>],
    destinations: &[Span],
    scratch: &mut Vec<u8>,
) -> Result<(), Side> {
    let mut left: u64 = sources.iter().map(Source::len).sum();
    let mut gather = Gather { sources, offset: 0 };
    for destination in destinations {
        let mut done = 0;
        while left > 0 && done < destination.len {
            let room = min(destination.len - done, left);
            let mut n = min(room, CHUNK);
            if n < room {
                n -= (destination.addr + done + n) % CUT;
            }
            scratch.clear();
            scratch.resize(n as usize, 0);
            gather.fill(memory, scratch).map_err(|_| Side::Source)?;
            destination
                .write(memory, done, scratch)
                .map_err(|_| Side::Destination)?;
            done += n;
            left -= n;
        }
    }
    Ok(())
}

struct Gather<'a> {
    sources: &'a [Source<'a>],
    /// Bytes of the first source that are done.
    offset: u64,
}

impl Gather<'_> {
    fn fill(&mut self, memory: &mut dyn Memory, mut into: &mut [u8]) -> Result<(), Fault> {
        while let [first, rest @ ..] = self.sources {
            if into.is_empty() {
                break;
            }
            let n = min(first.len() - self.offset, into.len() as u64);
            let (head, tail) = into.split_at_mut(n as usize);
            match first {
                Source::Bytes(bytes) => {
                    head.copy_from_slice(&bytes[self.offset as usize..][..n as usize])
                }
                Source::Span(span) if n > 0 => span.read(memory, self.offset, head)?,
                Source::Span(_) => {}
            }
            into = tail;
            self.offset += n;
            if self.offset == first.len() {
                self.sources = rest;
                self.offset = 0;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One process of one megabyte and a half, which notes where writes were cut.
    struct Flat(Vec<u8>, Vec<u64>);

    impl Memory for Flat {
        fn read(&mut self, _: u32, addr: u64, buf: &mut [u8]) -> Result<(), Fault> {
            let from = self
                .0
                .get(addr as usize..addr as usize + buf.len())
                .ok_or(Fault)?;
            buf.copy_from_slice(from);
            Ok(())
        }

        fn write(&mut self, _: u32, addr: u64, data: &[u8]) -> Result<(), Fault> {
            let to = self
                .0
                .get_mut(addr as usize..addr as usize + data.len())
                .ok_or(Fault)?;
            to.copy_from_slice(data);
            self.1.push(addr);
            Ok(())
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_byte_lands_in_order(
            lens in prop::collection::vec(0..2000_u64, 0..6),
            cuts in prop::collection::vec(0..3000_u64, 0..6),
            inline in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            let total: u64 = lens.iter().sum::<u64>() + inline.len() as u64;
            let mut memory = Flat((0..32_768).map(|n: u32| (n % 251) as u8).collect(), Vec::new());
            let mut expected = inline.clone();
            let mut sources = vec![Source::Bytes(&inline)];
            let mut addr = 0;
            for &len in &lens {
                expected.extend_from_slice(&memory.0[addr as usize..(addr + len) as usize]);
                sources.push(Source::Span(Span { region: 1, pid: 0, addr, len }));
                addr += len;
            }
            let mut destinations: Vec<Span> = Vec::new();
            let mut at = 16_384;
            for &len in cuts.iter().take(3) {
                destinations.push(Span { region: 1, pid: 0, addr: at, len });
                at += len;
            }
            destinations.push(Span { region: 1, pid: 0, addr: at, len: total });
            copy(&mut memory, &sources, &destinations, &mut Vec::new()).unwrap();
            prop_assert_eq!(&memory.0[16_384..16_384 + expected.len()], &expected[..]);
        }
    }

    #[test]
    fn long_ones_are_cut_between_words() {
        let len = 600_000;
        let mut memory = Flat(vec![0; 1_300_000], Vec::new());
        memory.0[5..5 + len].copy_from_slice(&vec![7; len]);
        let source = Source::Span(Span {
            region: 1,
            pid: 0,
            addr: 5,
            len: len as u64,
        });
        let to = Span {
            region: 1,
            pid: 0,
            addr: 650_003,
            len: len as u64,
        };
        copy(&mut memory, &[source], &[to], &mut Vec::new()).unwrap();
        assert!(
            memory.0[650_003..650_003 + len]
                .iter()
                .all(|&byte| byte == 7)
        );
        assert_eq!(memory.0[650_003 + len], 0);
        assert!(memory.1.len() >= 3 && memory.1[1..].iter().all(|addr| addr % CUT == 0));
    }

    #[test]
    fn the_side_that_fails_is_told() {
        let mut memory = Flat(vec![0; 100], Vec::new());
        let good = Span {
            region: 1,
            pid: 0,
            addr: 0,
            len: 8,
        };
        let bad = Span {
            region: 1,
            pid: 0,
            addr: 96,
            len: 8,
        };
        let mut scratch = Vec::new();
        assert_eq!(
            copy(&mut memory, &[Source::Span(bad)], &[good], &mut scratch),
            Err(Side::Source)
        );
        assert_eq!(
            copy(&mut memory, &[Source::Span(good)], &[bad], &mut scratch),
            Err(Side::Destination)
        );
    }
}
