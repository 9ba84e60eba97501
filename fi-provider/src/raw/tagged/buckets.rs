//! Lists of values whose keys have something in common: there are as many lists as values, and a
//! random hash chooses, so that few values of other keys are in the list of a key.

#![expect(unsafe_code, reason = "goes through lists by their heads")]

use super::lists::{Heads, List, Slab};
use crate::raw::address_vector::PeerIndex;
use crate::raw::completion::Source;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// A tag and a source, or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) tag: u64,
    source: u64,
}

/// Lists of one kind, by keys.
#[derive(Debug)]
pub(super) struct Buckets {
    heads: Heads,
    /// Peers choose the tags, and know none of these.
    seeds: [u64; 2],
}

impl Key {
    #[inline(always)]
    pub(super) fn new(tag: u64, source: Option<PeerIndex>) -> Self {
        Self::from(tag, source.into())
    }

    #[inline(always)]
    pub(super) fn from(tag: u64, source: Source) -> Self {
        let source = source.word();
        Self { tag, source }
    }

    /// Returns the source, or none for any.
    pub(super) fn source(self) -> Option<PeerIndex> {
        self.source.try_into().ok()
    }
}

/// Folds both halves of a product into one word.
#[inline(always)]
fn fold(one: u64, other: u64) -> u64 {
    let wide = u128::from(one) * u128::from(other);
    wide as u64 ^ (wide >> 64) as u64
}

impl Buckets {
    pub(super) fn new() -> Self {
        let state = RandomState::new();
        Self {
            heads: Heads::new(1),
            seeds: [0, 1].map(|seed| state.hash_one(seed)),
        }
    }

    /// Returns the list with the values of a key, and others: until [`Buckets::grow`].
    #[inline(always)]
    pub(super) fn of(&self, key: Key) -> List {
        let [one, other] = self.seeds;
        let hash = fold(key.tag ^ one, key.source ^ other);
        self.heads.list(hash as usize)
    }

    /// Makes at least `many` lists; `key` tells the key of a value. Each new one has its values
    /// from one old one, in their order.
    ///
    /// # Safety
    /// All that is in the lists is of this slab and of this kind.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn grow<T, const LISTS: usize>(
        &mut self,
        many: usize,
        (slab, kind): (&mut Slab<T, LISTS>, usize),
        key: impl Fn(&T) -> Key,
    ) {
        let many = many.next_power_of_two();
        let old = std::mem::replace(&mut self.heads, Heads::new(many));
        for list in old.all() {
            // SAFETY: `old` lives until the end, and the values in its lists are of the slab and of
            // this kind.
            let values = unsafe { slab.in_order(kind, list) };
            let values: Vec<_> = values.map(|(at, value)| (at, key(value))).collect();
            for (at, key) in values {
                // SAFETY: the place is that of a value of the slab, which nobody looks for in the
                // old list any more; the new heads' lists have values of the slab and of this kind
                // alone.
                unsafe { slab.append(kind, self.of(key), at) };
            }
        }
    }

    /// Returns all lists.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<List> {
        self.heads.all().collect()
    }

    /// Returns whether all lists are empty.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        // SAFETY: the heads are alive.
        self.heads.all().all(|list| unsafe { list.is_empty() })
    }
}
