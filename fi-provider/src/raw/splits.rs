//! Words in the own arena by which a peer of the node takes a share of a copy.

#![expect(unsafe_code, reason = "takes words in shared memory by their address")]

use super::arena::Arena;
use super::inbox::Range;
use fi_shm::segment::page_size;
use fi_shm::split::{self, Split};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The words of a domain, for its links. The arena never gets them back: a peer may look at them for
/// a turn that is long over.
#[derive(Debug)]
pub(crate) struct Splits {
    arena: Arc<Arena>,
    /// The last turn of any link: so none comes twice in the same words.
    turn: AtomicU32,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    pages: Vec<Range>,
    /// Offsets of words that no link has.
    free: Vec<usize>,
}

/// The words of one link.
#[derive(Debug)]
pub(crate) struct Words {
    splits: Arc<Splits>,
    pub(crate) split: Split,
    pub(crate) offset: usize,
}

impl Splits {
    pub(crate) fn new(arena: Arc<Arena>) -> Self {
        Self {
            arena,
            turn: AtomicU32::new(0),
            state: Mutex::default(),
        }
    }

    /// Takes words for a link; none where the arena has no room.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Words> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.free.is_empty() {
            let page = Range::take(&self.arena, page_size()).ok()?;
            let all = (page.offset..page.offset + page_size()).step_by(split::BYTES);
            state.free.extend(all.rev());
            state.pages.push(page);
        }
        let offset = state.free.pop()?;
        // SAFETY: the words lie in a page of the arena, aligned, zero at first, which `self` holds;
        // they are used as such alone.
        let split = unsafe { Split::at(self.arena.at(offset)) };
        Some(Words {
            splits: Arc::clone(self),
            split,
            offset,
        })
    }
}

impl Words {
    /// Returns the number of a new turn, which is not 0.
    pub(crate) fn next_turn(&self) -> u32 {
        loop {
            // ORDERING: a number alone; turns of one link are of one thread.
            let turn = self.splits.turn.fetch_add(1, Ordering::Relaxed);
            if turn != 0 {
                return turn;
            }
        }
    }

    /// Gives the words back: those of which no peer will take word any more.
    pub(crate) fn give_back(self) {
        let state = &self.splits.state;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.free.push(self.offset);
    }
}
