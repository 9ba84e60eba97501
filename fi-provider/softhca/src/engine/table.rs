//! Objects by number.

use super::types::{ContextId, Error};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Something that belongs to a context.
pub(super) trait Owned {
    fn context(&self) -> ContextId;
}

/// Objects by number; a number is not used again before all others were.
#[derive(Debug)]
pub(super) struct Table<T> {
    what: &'static str,
    items: BTreeMap<u32, T>,
    first: u32,
    end: u32,
    next: u32,
}

impl<T: Owned> Table<T> {
    /// Makes an empty table of numbers from `first` up to `end`.
    pub(super) fn new(what: &'static str, first: u32, end: u32) -> Self {
        Self {
            what,
            items: BTreeMap::new(),
            first,
            end,
            next: first,
        }
    }

    /// Takes an object in.
    pub(super) fn insert(&mut self, item: T) -> Result<u32, Error> {
        if self.items.len() >= (self.end - self.first) as usize {
            return Err(Error::Exhausted(self.what));
        }
        loop {
            let number = self.next;
            self.next = if number + 1 == self.end {
                self.first
            } else {
                number + 1
            };
            if let Entry::Vacant(free) = self.items.entry(number) {
                free.insert(item);
                return Ok(number);
            }
        }
    }

    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.items.get(&number)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.items.get_mut(&number)
    }

    /// Returns the object, if `context` owns it.
    pub(super) fn of(&self, context: ContextId, number: u32) -> Result<&T, Error> {
        let item = self
            .items
            .get(&number)
            .filter(|item| item.context() == context);
        item.ok_or(Error::NotFound(self.what))
    }

    /// Returns the object, if `context` owns it.
    pub(super) fn of_mut(&mut self, context: ContextId, number: u32) -> Result<&mut T, Error> {
        let item = self
            .items
            .get_mut(&number)
            .filter(|item| item.context() == context);
        item.ok_or(Error::NotFound(self.what))
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<T> {
        self.items.remove(&number)
    }

    /// Drops all that `context` owns.
    pub(super) fn forget(&mut self, context: ContextId) {
        self.items.retain(|_, item| item.context() != context);
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.items.iter().map(|(number, item)| (*number, item))
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.items.values()
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.values_mut()
    }

    /// Returns the numbers, in a list of their own: the table may change meanwhile.
    pub(super) fn numbers(&self) -> Vec<u32> {
        self.items.keys().copied().collect()
    }
}
