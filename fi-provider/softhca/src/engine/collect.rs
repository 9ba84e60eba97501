//! Stores to one BlueFlame buffer, gathered until they are a doorbell or a whole copy.
//!
//! A doorbell is the first 8 bytes of an entry; a BlueFlame copy goes on with the rest, in whole
//! basic blocks, and in any order. So the device acts when the first 8 bytes are there, and the
//! bytes that come after them, or came before, are compared with the entry.

use super::types::{ContextId, Violation};
use fi_mlx5_defs::doorbell::{BLUEFLAME_HALF, SEND_BYTES};
use fi_mlx5_defs::wqe::BASIC_BLOCK;
use std::collections::BTreeMap;

/// Bytes of a doorbell without BlueFlame.
pub(super) const PLAIN: usize = SEND_BYTES as usize;

/// Bytes of a buffer.
const HALF: usize = BLUEFLAME_HALF as usize;

/// A buffer: context, page, and offset in the page.
pub(super) type Key = (ContextId, u32, u32);

/// Doorbell that the first 8 bytes rang.
#[derive(Clone, Debug, Default)]
pub(super) struct Rung {
    pub(super) qpn: u32,
    /// The entry, as it is in the ring; empty when it is not known.
    pub(super) entry: Vec<u8>,
    /// Bytes of the whole copy, if there is one.
    pub(super) copy: usize,
    /// The register takes copies.
    pub(super) blueflame: bool,
}

/// Outcome of a store.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// The first 8 bytes are not there yet, or there is nothing to be done about these.
    Kept,
    /// Now the first 8 bytes are there.
    Head([u8; PLAIN]),
}

/// Bytes stored to one buffer since its last doorbell or copy was complete.
#[derive(Debug)]
struct Gathered {
    thread: u32,
    bytes: [u8; HALF],
    known: [bool; HALF],
    rung: Option<Rung>,
    /// Bytes that did not belong to the copy that they seemed to go on with: of which queue pair, and where.
    doubt: Option<(u32, usize)>,
    /// A violation was told: the rest of the copy is not judged.
    told: bool,
}

impl Gathered {
    fn new(thread: u32) -> Self {
        Self {
            thread,
            bytes: [0; HALF],
            known: [false; HALF],
            rung: None,
            doubt: None,
            told: false,
        }
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.known[at..at + bytes.len()].fill(true);
    }

    fn has_head(&self) -> bool {
        self.known[..PLAIN].iter().all(|known| *known)
    }

    fn has_tail(&self) -> bool {
        self.known[PLAIN..].iter().any(|known| *known)
    }

    /// Returns whether there is a doorbell and nothing behind it: another thread may ring now.
    fn rests(&self) -> bool {
        self.told || self.rung.is_some() && !self.has_tail()
    }

    fn is_whole(&self, copy: usize) -> bool {
        copy <= HALF && self.known[..copy].iter().all(|known| *known)
    }

    /// Returns the first byte behind the doorbell that is not one of the copy.
    fn differs(&self, rung: &Rung) -> Option<usize> {
        (PLAIN..HALF).filter(|&at| self.known[at]).find(|&at| {
            at >= rung.copy
                || rung
                    .entry
                    .get(at)
                    .is_some_and(|byte| *byte != self.bytes[at])
        })
    }

    /// Returns the violation by the bytes that are there, if they are one; no further bytes belong
    /// to it.
    fn finish(&self, key: Key) -> Option<Violation> {
        let (_, page, offset) = key;
        match (&self.rung, self.doubt) {
            _ if self.told => None,
            (Some(rung), _) if self.has_tail() => Some(Violation::BlueFlameShort {
                qpn: rung.qpn,
                got: self.known.iter().filter(|known| **known).count(),
                of: rung.copy,
            }),
            (Some(_), _) => None,
            (None, Some((qpn, at))) => Some(Violation::BlueFlameDiffers { qpn, at }),
            (None, None) => Some(Violation::NoDoorbell { page, offset }),
        }
    }
}

/// All buffers that something was stored to.
#[derive(Debug, Default)]
pub(super) struct Collector {
    buffers: BTreeMap<Key, Gathered>,
}

impl Collector {
    /// Takes a store of `bytes` to byte `at` of a buffer, which it does not leave.
    pub(super) fn store(
        &mut self,
        key: Key,
        thread: u32,
        at: usize,
        bytes: &[u8],
        found: &mut Vec<Violation>,
    ) -> Stored {
        let other = self
            .buffers
            .get(&key)
            .filter(|gathered| gathered.thread != thread && !gathered.rests());
        if let Some(gathered) = other {
            if gathered.doubt.is_some() {
                self.finish(key, found);
            } else {
                let (_, page, offset) = key;
                found.push(Violation::Interleaved { page, offset });
                self.buffers.remove(&key);
            }
        }
        let again = self.buffers.get(&key).is_some_and(|gathered| {
            gathered.known[at..at + bytes.len()]
                .iter()
                .any(|known| *known)
        });
        if again {
            self.finish(key, found);
        }
        let gathered = self
            .buffers
            .entry(key)
            .or_insert_with(|| Gathered::new(thread));
        gathered.thread = thread;
        gathered.put(at, bytes);
        if gathered.rung.is_some() {
            self.go_on(key, found);
            return Stored::Kept;
        }
        let mut head = [0; PLAIN];
        head.copy_from_slice(&gathered.bytes[..PLAIN]);
        if gathered.has_head() {
            Stored::Head(head)
        } else {
            Stored::Kept
        }
    }

    /// Takes the entry that the first 8 bytes of a buffer named, and compares the bytes that are
    /// there already.
    pub(super) fn rung(&mut self, key: Key, rung: Rung, found: &mut Vec<Violation>) {
        let Some(gathered) = self.buffers.get_mut(&key) else {
            return;
        };
        if let Some(at) = gathered.differs(&rung) {
            let doubt = gathered.doubt.take();
            let (qpn, at) = doubt.unwrap_or((rung.qpn, at));
            found.push(Violation::BlueFlameDiffers { qpn, at });
            match doubt {
                // They were of the copy before; that of this entry is still to come.
                Some(_) => gathered.known[PLAIN..].fill(false),
                None => gathered.told = true,
            }
        }
        gathered.doubt = None;
        gathered.rung = Some(rung);
        self.go_on(key, found);
    }

    /// Judges a copy that has its first 8 bytes.
    fn go_on(&mut self, key: Key, found: &mut Vec<Violation>) {
        let Some(gathered) = self.buffers.get_mut(&key) else {
            return;
        };
        let Some(rung) = &gathered.rung else {
            return;
        };
        if !gathered.told && gathered.has_tail() && !rung.blueflame {
            found.push(Violation::NoBlueFlame { qpn: rung.qpn });
            gathered.told = true;
        }
        if gathered.is_whole(rung.copy) && (gathered.told || gathered.differs(rung).is_none()) {
            self.buffers.remove(&key);
            return;
        }
        if !gathered.told
            && let Some(at) = gathered.differs(rung)
        {
            // Then the doorbell was one without a copy, and this is the start of the next, whose first 8 bytes come last.
            gathered.doubt = Some((rung.qpn, at));
            gathered.rung = None;
            gathered.known[..PLAIN].fill(false);
        }
    }

    fn finish(&mut self, key: Key, found: &mut Vec<Violation>) {
        let gathered = self.buffers.remove(&key);
        found.extend(gathered.and_then(|gathered| gathered.finish(key)));
    }

    /// Ends all buffers of a context, from which no further store comes.
    pub(super) fn close(&mut self, context: ContextId) -> Vec<Violation> {
        let mut found = Vec::new();
        let keys: Vec<Key> = self.buffers.keys().copied().collect();
        for key in keys.into_iter().filter(|key| key.0 == context) {
            self.finish(key, &mut found);
        }
        found
    }
}

/// Returns the number of bytes of the copy of an entry of `units` of 16 bytes.
pub(super) fn copy_length(units: usize) -> usize {
    fi_mlx5_defs::wqe::blocks(units).max(1) * BASIC_BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = (ContextId(1), 3, 0x800);
    const OTHER: Key = (ContextId(1), 3, 0x900);

    /// Entries of 100 bytes in two blocks; queue pair 7.
    struct Bench {
        collector: Collector,
        found: Vec<Violation>,
        heads: usize,
    }

    fn entry(n: u8) -> Vec<u8> {
        (0..100).map(|byte: u8| byte ^ n.wrapping_mul(31)).collect()
    }

    fn padded(n: u8) -> Vec<u8> {
        let mut bytes = entry(n);
        bytes.resize(128, 0xee);
        bytes
    }

    impl Bench {
        fn new() -> Self {
            Self {
                collector: Collector::default(),
                found: Vec::new(),
                heads: 0,
            }
        }

        fn store(&mut self, key: Key, thread: u32, n: u8, range: std::ops::Range<usize>) {
            self.bytes(key, thread, n, range.start, &padded(n)[range]);
        }

        fn bytes(&mut self, key: Key, thread: u32, n: u8, at: usize, bytes: &[u8]) {
            let stored = self
                .collector
                .store(key, thread, at, bytes, &mut self.found);
            if let Stored::Head(head) = stored {
                self.heads += 1;
                assert_eq!(head, entry(n)[..8]);
                let rung = Rung {
                    qpn: 7,
                    entry: entry(n),
                    copy: 128,
                    blueflame: true,
                };
                self.collector.rung(key, rung, &mut self.found);
            }
        }

        fn copy(&mut self, key: Key, n: u8, order: impl Iterator<Item = usize>) {
            for at in order {
                self.store(key, 1, n, at * 8..at * 8 + 8);
            }
        }

        /// Returns the violations that were told, and then those that are told at the end.
        fn end(mut self) -> (usize, Vec<Violation>, Vec<Violation>) {
            let last = self.collector.close(ContextId(1));
            assert!(self.collector.buffers.is_empty());
            (self.heads, self.found, last)
        }
    }

    #[test]
    fn copies_arrive_in_any_order_and_in_any_pieces() {
        let mut bench = Bench::new();
        bench.copy(KEY, 1, 0..16);
        bench.copy(OTHER, 2, (0..16).rev());
        bench.copy(KEY, 3, (0..16).map(|n| n * 5 % 16));
        bench.store(OTHER, 1, 4, 0..128);
        bench.store(KEY, 1, 5, 64..128);
        bench.store(KEY, 1, 5, 32..64);
        bench.store(KEY, 1, 5, 0..32);
        bench.store(KEY, 1, 6, 0..4);
        bench.store(KEY, 1, 6, 4..16);
        bench.store(KEY, 1, 6, 16..128);
        assert_eq!(bench.end(), (6, vec![], vec![]));
    }

    #[test]
    fn doorbells_are_complete_by_themselves() {
        let mut bench = Bench::new();
        for n in 0..3 {
            bench.store(KEY, 1, n, 0..8);
            bench.store(OTHER, u32::from(n), n, 0..8);
            bench.store(OTHER, u32::from(n), n, 0..4);
            bench.store(OTHER, u32::from(n), n, 4..8);
        }
        assert_eq!(bench.end(), (9, vec![], vec![]));
    }

    #[test]
    fn a_doorbell_may_be_followed_by_a_copy_that_starts_at_its_end() {
        let mut bench = Bench::new();
        bench.store(KEY, 1, 1, 0..8);
        bench.copy(KEY, 2, (0..16).rev());
        assert_eq!(bench.end(), (2, vec![], vec![]));
    }

    #[test]
    fn a_byte_that_differs_is_told() {
        let differs = Violation::BlueFlameDiffers { qpn: 7, at: 43 };
        let mut wrong = padded(1);
        wrong[43] ^= 1;
        // In one piece: at once.
        let mut bench = Bench::new();
        bench.bytes(KEY, 1, 1, 0, &wrong);
        assert_eq!(bench.end(), (1, vec![differs], vec![]));
        // Behind the doorbell: at the end.
        let mut bench = Bench::new();
        for at in (0..128).step_by(8) {
            bench.bytes(KEY, 1, 1, at, &wrong[at..at + 8]);
        }
        bench.store(OTHER, 1, 2, 0..8);
        assert_eq!(bench.end(), (2, vec![], vec![differs]));
        // Or with the next doorbell in the same buffer, whose copy it does not go into.
        let mut bench = Bench::new();
        for at in (0..128).step_by(8) {
            bench.bytes(KEY, 1, 1, at, &wrong[at..at + 8]);
        }
        bench.copy(KEY, 2, 0..16);
        assert_eq!(bench.end(), (2, vec![differs], vec![]));
        // Before the doorbell.
        let mut bench = Bench::new();
        for at in (0..128).step_by(8).rev() {
            bench.bytes(KEY, 1, 1, at, &wrong[at..at + 8]);
        }
        assert_eq!(bench.end(), (1, vec![differs], vec![]));
    }

    #[test]
    fn copies_that_are_too_short_or_too_long_are_told() {
        let mut bench = Bench::new();
        bench.store(KEY, 1, 1, 0..64);
        bench.store(OTHER, 1, 2, 0..120);
        bench.store(KEY, 1, 3, 0..8);
        let short = |got| Violation::BlueFlameShort {
            qpn: 7,
            got,
            of: 128,
        };
        assert_eq!(bench.end(), (3, vec![short(64)], vec![short(120)]));
        let mut bench = Bench::new();
        bench.copy(KEY, 1, 0..16);
        bench.bytes(KEY, 1, 1, 128, &[0; 64]);
        let end = Violation::NoDoorbell {
            page: 3,
            offset: 0x800,
        };
        assert_eq!(bench.end(), (1, vec![], vec![end]));
    }

    #[test]
    fn a_thread_may_ring_elsewhere_in_the_middle_of_a_copy() {
        let mut bench = Bench::new();
        bench.copy(KEY, 1, 0..5);
        bench.copy(OTHER, 2, 0..16);
        bench.copy(KEY, 1, 5..16);
        assert_eq!(bench.end(), (2, vec![], vec![]));
    }

    #[test]
    fn threads_that_store_to_one_buffer_at_once_are_told() {
        let mut bench = Bench::new();
        bench.store(KEY, 1, 1, 0..64);
        bench.store(KEY, 2, 2, 0..8);
        let interleaved = Violation::Interleaved {
            page: 3,
            offset: 0x800,
        };
        assert_eq!(bench.end(), (2, vec![interleaved], vec![]));
        // To two of them: no matter.
        let mut bench = Bench::new();
        for at in (0..128).step_by(16) {
            bench.store(KEY, 1, 1, at..at + 16);
            bench.store(OTHER, 2, 2, at..at + 16);
        }
        assert_eq!(bench.end(), (2, vec![], vec![]));
    }
}
