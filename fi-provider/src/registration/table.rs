//! The entries of a cache, found by their addresses.
//!
//! No entry contains another, so that entries in the order of their beginnings are in the order of
//! their ends, too: of those that begin at or before an address the last one reaches furthest, and
//! both searches are by halves. Nothing here allocates or frees once the table is made: the thread
//! that holds its lock never unmaps memory, which the reader of such news might wait for.

use super::counts::{Counters, Limits};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// State of the memory behind an entry, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum State {
    /// It is the memory that was registered.
    Valid,
    /// Its pages may be others, in the same mapping.
    Changed,
    /// The mapping is another, or none.
    Gone,
}

/// Registered memory of whole pages.
pub(super) struct Entry {
    /// Its addresses.
    pub(super) range: Range<usize>,
    /// The key by which own entries of a queue name it.
    pub(super) key: u32,
    state: AtomicU8,
    /// Guard that ends the registration when it is dropped.
    _registration: Box<dyn Send + Sync>,
}

impl Entry {
    pub(super) fn new(range: Range<usize>, key: u32, registration: Box<dyn Send + Sync>) -> Self {
        Self {
            range,
            key,
            state: AtomicU8::new(State::Valid as u8),
            _registration: registration,
        }
    }

    pub(super) fn state(&self) -> State {
        // ORDERING: written and read under the table's lock, or by the thread that took the entry
        // out of it.
        match self.state.load(Ordering::Relaxed) {
            0 => State::Valid,
            1 => State::Changed,
            _ => State::Gone,
        }
    }

    fn set(&self, state: State) -> bool {
        // ORDERING: as in `state`.
        self.state.fetch_max(state as u8, Ordering::Relaxed) == State::Valid as u8
    }
}

/// An entry with the time of its last use.
type Row = (Arc<Entry>, u64);

/// See the module's documentation.
pub(super) struct Table {
    rows: Vec<Row>,
    limits: Limits,
    /// Bytes of all entries.
    bytes: usize,
    /// Entries that are not valid any more.
    invalid: usize,
    /// Counts uses.
    clock: u64,
    counters: Arc<Counters>,
}

impl Table {
    /// Makes an empty table.
    pub(super) fn new(limits: Limits, counters: Arc<Counters>) -> Self {
        Self {
            rows: Vec::with_capacity(limits.entries),
            limits,
            bytes: 0,
            invalid: 0,
            clock: 0,
            counters,
        }
    }

    /// Returns whether there is room for an entry of so many bytes.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.rows.len() < self.limits.entries && bytes <= self.limits.bytes - self.bytes
    }

    /// Returns the entry that contains all of `range`; it counts as used now. All others than valid
    /// ones were taken out before.
    pub(super) fn find(&mut self, range: &Range<usize>) -> Option<Arc<Entry>> {
        let behind = self
            .rows
            .partition_point(|(entry, _)| entry.range.start <= range.start);
        let (entry, used) = self.rows[..behind].last_mut()?;
        if entry.range.end < range.end || entry.state() != State::Valid {
            return None;
        }
        self.clock += 1;
        *used = self.clock;
        Some(Arc::clone(entry))
    }

    /// Sets the state of all entries that have some of `range`.
    pub(super) fn invalidate(&mut self, range: &Range<usize>, state: State) {
        let behind = self
            .rows
            .partition_point(|(entry, _)| entry.range.start < range.end);
        let touched = self.rows[..behind].iter().rev();
        let touched = touched.take_while(|(entry, _)| entry.range.end > range.start);
        let found = touched.filter(|(entry, _)| entry.set(state)).count();
        self.invalid += found;
        self.counters.invalidations.add(found as u64);
    }

    /// Takes out an entry that is not valid any more.
    pub(super) fn take_invalid(&mut self) -> Option<Arc<Entry>> {
        if self.invalid == 0 {
            return None;
        }
        let mut rows = self.rows.iter();
        let index = rows.position(|(entry, _)| entry.state() != State::Valid)?;
        self.invalid -= 1;
        Some(self.remove(index))
    }

    /// Takes out the entry that was used longest ago, of those that nobody uses now.
    pub(super) fn take_oldest(&mut self) -> Option<Arc<Entry>> {
        let idle = self.rows.iter().enumerate();
        let idle = idle.filter(|(_, (entry, _))| Arc::strong_count(entry) == 1);
        let (index, _) = idle.min_by_key(|(_, (_, used))| *used)?;
        Some(self.remove(index))
    }

    /// Takes out an entry that lies in `range`.
    pub(super) fn take_inside(&mut self, range: &Range<usize>) -> Option<Arc<Entry>> {
        let first = self
            .rows
            .partition_point(|(entry, _)| entry.range.start < range.start);
        let (entry, _) = self.rows.get(first)?;
        (entry.range.end <= range.end).then(|| self.remove(first))
    }

    /// Takes an entry in, that neither contains nor lies in another; gives it back where there is no room.
    pub(super) fn insert(&mut self, entry: Arc<Entry>) -> Result<(), Arc<Entry>> {
        if !self.has_room(entry.range.len()) {
            return Err(entry);
        }
        let at = self
            .rows
            .partition_point(|(other, _)| other.range.start < entry.range.start);
        self.bytes += entry.range.len();
        self.counters.entries.add(1);
        self.counters.bytes.add(entry.range.len() as u64);
        self.clock += 1;
        self.rows.insert(at, (entry, self.clock));
        Ok(())
    }

    fn remove(&mut self, index: usize) -> Arc<Entry> {
        let (entry, _) = self.rows.remove(index);
        self.bytes -= entry.range.len();
        self.counters.entries.subtract(1);
        self.counters.bytes.subtract(entry.range.len() as u64);
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(range: Range<usize>) -> Arc<Entry> {
        Arc::new(Entry::new(range, 0, Box::new(())))
    }

    fn table(bytes: usize, entries: usize) -> (Table, Arc<Counters>) {
        let counters = Arc::new(Counters::default());
        (
            Table::new(Limits { bytes, entries }, Arc::clone(&counters)),
            counters,
        )
    }

    #[test]
    fn the_oldest_that_is_idle_goes_first() {
        let (mut table, counters) = table(99, 3);
        for start in [10, 20, 30] {
            assert!(table.insert(entry(start..start + 5)).is_ok());
        }
        assert!(table.insert(entry(40..45)).is_err());
        let used = table.find(&(21..22));
        assert!(table.find(&(11..12)).is_some());
        assert_eq!(table.take_oldest().map(|entry| entry.range.start), Some(30));
        assert_eq!(table.take_oldest().map(|entry| entry.range.start), Some(10));
        assert!(table.take_oldest().is_none());
        drop(used);
        assert_eq!(table.take_oldest().map(|entry| entry.range.start), Some(20));
        assert_eq!(
            (table.rows.len(), table.bytes, counters.bytes.get()),
            (0, 0, 0)
        );
    }

    proptest! {
        /// Compares the table with a list in which every question is answered by looking at all of
        /// it.
        #[test]
        fn as_a_plain_list(steps in prop::collection::vec((0_u8..4, 0_usize..40, 1_usize..12), 1..200)) {
            let (mut table, counters) = table(9999, 200);
            let mut plain: Vec<(Range<usize>, bool)> = Vec::new();
            for (what, start, len) in steps {
                let range = start..start + len;
                let inside = |outer: &Range<usize>, inner: &Range<usize>| outer.start <= inner.start && inner.end <= outer.end;
                match what {
                    0 => {
                        while table.take_invalid().is_some() {}
                        plain.retain(|(_, valid)| *valid);
                        let known = plain.iter().any(|(other, _)| inside(other, &range));
                        let found = table.find(&range);
                        prop_assert_eq!(found.is_some(), known, "{:?} in {:?}", range, plain);
                        prop_assert!(found.is_none_or(|entry| inside(&entry.range, &range)));
                    }
                    1 => {
                        while table.take_invalid().is_some() {}
                        plain.retain(|(_, valid)| *valid);
                        if plain.iter().any(|(other, _)| inside(other, &range)) {
                            continue;
                        }
                        while table.take_inside(&range).is_some() {}
                        plain.retain(|(other, _)| !inside(&range, other));
                        prop_assert!(table.insert(entry(range.clone())).is_ok());
                        plain.push((range, true));
                    }
                    _ => {
                        let mut count = 0;
                        for (other, valid) in &mut plain {
                            if *valid && other.start < range.end && range.start < other.end {
                                (*valid, count) = (false, count + 1);
                            }
                        }
                        let before = counters.invalidations.get();
                        table.invalidate(&range, State::Gone);
                        prop_assert_eq!(counters.invalidations.get() - before, count);
                    }
                }
                prop_assert_eq!(table.rows.len(), plain.len());
                prop_assert_eq!(table.bytes, plain.iter().map(|(range, _)| range.len()).sum::<usize>());
            }
        }
    }
}
