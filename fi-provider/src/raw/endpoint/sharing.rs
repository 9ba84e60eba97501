//! The words by which a peer shares a copy.

use crate::raw::splits::{Splits, Words};
use std::cell::{Cell, OnceCell};
use std::sync::Arc;

/// The part of a path for copies that its peer shares.
#[derive(Debug)]
pub(super) struct Sharing {
    splits: Arc<Splits>,
    pub(super) words: OnceCell<Option<Words>>,
    /// The last turn that the peer was told of.
    pub(super) told: Cell<u32>,
    /// Whether the peer could not copy.
    pub(super) is_refused: Cell<bool>,
    /// Pieces that the peer has copied.
    #[cfg(test)]
    pub(super) theirs: Cell<u32>,
}

impl Sharing {
    pub(super) fn new(splits: &Arc<Splits>) -> Self {
        Self {
            splits: Arc::clone(splits),
            words: OnceCell::new(),
            told: Cell::new(0),
            is_refused: Cell::new(false),
            #[cfg(test)]
            theirs: Cell::new(0),
        }
    }

    /// Returns the words, where the peer may be told of a turn: it has taken its word of the last
    /// one. So no more than one such record is in its ring.
    pub(super) fn words(&self) -> Option<&Words> {
        if self.is_refused.get() {
            return None;
        }
        let words = self.words.get_or_init(|| {
            let words = self.splits.take()?;
            self.told.set(words.split.seen());
            Some(words)
        });
        words.as_ref().filter(|_| self.is_seen())
    }

    pub(super) fn is_seen(&self) -> bool {
        let words = self.words.get().and_then(Option::as_ref);
        words.is_none_or(|words| words.split.seen() == self.told.get())
    }

    /// Gives the words back with the end of the path.
    pub(super) fn end(&mut self, is_alive: bool) {
        let is_over = !is_alive || self.is_seen();
        if let Some(words) = self.words.take().flatten().filter(|_| is_over) {
            words.give_back();
        }
    }
}
