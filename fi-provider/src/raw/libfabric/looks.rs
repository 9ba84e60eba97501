//! Keys that are looked up.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Instant;

/// Keys that are looked up, by their lines.
#[derive(Debug, Default)]
pub(super) struct Looks {
    pub(super) last: Cell<u64>,
    pub(super) asked: RefCell<HashMap<(u64, u64), Look>>,
}

/// A key that is looked up.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) number: u64,
    /// The words that tell of the region, and when they came.
    pub(super) answer: Option<([u64; 3], Instant)>,
}

impl Looks {
    /// Returns whether the receiver of a line has an answer to give.
    pub(super) fn are_waiting_for(&self, line: u64) -> bool {
        let asked = self.asked.borrow();
        let mut of_line = asked.iter().filter(|((of, _), _)| *of == line);
        of_line.any(|(_, look)| look.answer.is_none())
    }

    /// Gives up those of a line.
    pub(super) fn forget(&self, line: u64) {
        self.asked.borrow_mut().retain(|(of, _), _| *of != line);
    }
}
