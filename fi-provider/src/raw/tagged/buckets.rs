//! Lists of values whose keys have something in common: there are as many lists as values, and a
//! random hash chooses, so that few values of other keys are in the list of a key.

use super::lists::{List, Slab};
use super::{PeerIndex, Source};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// A tag and a source, or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    tag: u64,
    source: u64,
}

/// Lists of one kind, by keys.
#[derive(Debug)]
pub(super) struct Buckets {
    /// A power of 2 of them.
    lists: Vec<List>,
    /// Peers choose the tags, and know none of these.
    seeds: [u64; 3],
}

/// The lists in the beginning.
const FEWEST: usize = 16;

impl Key {
    #[inline(always)]
    pub(super) fn new(tag: u64, source: Option<PeerIndex>) -> Self {
        let source = Source::from(source).word();
        Self { tag, source }
    }
}

/// Both halves of a product.
#[inline(always)]
fn fold(one: u64, other: u64) -> u64 {
    let wide = u128::from(one) * u128::from(other);
    wide as u64 ^ (wide >> 64) as u64
}

impl Buckets {
    pub(super) fn new() -> Self {
        let state = RandomState::new();
        Self {
            lists: vec![List::EMPTY; FEWEST],
            seeds: [0, 1, 2].map(|seed| state.hash_one(seed) | 1),
        }
    }

    #[inline(always)]
    fn index(&self, key: Key) -> usize {
        let [one, two, three] = self.seeds;
        let hash = fold(fold(key.tag ^ one, two) ^ key.source, three);
        hash as usize & (self.lists.len() - 1)
    }

    /// The list with the values of a key, and others.
    #[inline(always)]
    pub(super) fn of(&self, key: Key) -> List {
        self.lists[self.index(key)]
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(super) fn of_mut(&mut self, key: Key) -> &mut List {
        let index = self.index(key);
        &mut self.lists[index]
    }

    /// Makes more lists where there are as many values; `key` tells those of a value.
    #[inline(always)]
    pub(super) fn fit<T, const LISTS: usize>(
        &mut self,
        slab: &mut Slab<T, LISTS>,
        kind: usize,
        key: impl Fn(&T) -> Key,
    ) {
        if slab.len() >= self.lists.len() {
            self.grow(slab, kind, key);
        }
    }

    /// Doubles the lists. Each new one has its values from one old one, in their order.
    #[cold]
    #[inline(never)]
    fn grow<T, const LISTS: usize>(
        &mut self,
        slab: &mut Slab<T, LISTS>,
        kind: usize,
        key: impl Fn(&T) -> Key,
    ) {
        let many = 2 * self.lists.len();
        let old = std::mem::replace(&mut self.lists, vec![List::EMPTY; many]);
        for list in old {
            let values = slab.in_order(kind, list);
            let values: Vec<_> = values.map(|(at, value)| (at, key(value))).collect();
            for (at, key) in values {
                slab.append(kind, self.of_mut(key), at);
            }
        }
    }

    /// All lists.
    #[cfg(test)]
    pub(super) fn all(&self) -> &[List] {
        &self.lists
    }

    /// Whether all lists are empty.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.lists.iter().all(|list| list.is_empty())
    }
}
