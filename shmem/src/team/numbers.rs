//! The numbers of teams that this PE does not use.

use super::SHARED;
use crate::job::workspace::TEAMS;
use std::sync::{Mutex, PoisonError};

const WORDS: usize = TEAMS / 64;

/// The numbers that this PE does not use, a bit each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers(pub(super) [u64; WORDS]);

/// All numbers but those of the predefined teams.
const ALL: Numbers = {
    let mut words = [u64::MAX; WORDS];
    words[0] = u64::MAX << SHARED;
    Numbers(words)
};

static FREE: Mutex<Numbers> = Mutex::new(ALL);

impl Numbers {
    /// Returns the first of them from `start` on, and around.
    pub(super) fn first_from(&self, start: usize) -> Option<usize> {
        let has = |&number: &usize| self.0[number / 64] >> (number % 64) & 1 == 1;
        (start..TEAMS).chain(0..start).find(has)
    }
}

fn with_free<R>(f: impl FnOnce(&mut Numbers) -> R) -> R {
    f(&mut FREE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the numbers that this PE does not use now.
pub(super) fn free() -> Numbers {
    with_free(|free| *free)
}

/// Takes a number, if this PE does not use it: another thread may be about to.
pub(super) fn take(number: usize) -> bool {
    with_free(|free| {
        let bit = 1 << (number % 64);
        let was_free = free.0[number / 64] & bit != 0;
        free.0[number / 64] &= !bit;
        was_free
    })
}

pub(super) fn give_back(number: usize) {
    with_free(|free| free.0[number / 64] |= 1 << (number % 64));
}

/// Gives all numbers back, at the end of a session.
pub(super) fn forget() {
    with_free(|free| *free = ALL);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_predefined_teams_have_numbers() {
        assert_eq!(ALL.first_from(0), Some(2));
        assert_eq!(ALL.first_from(255), Some(255));
        assert_eq!(Numbers([0; WORDS]).first_from(7), None);
        assert_eq!(Numbers([1, 0, 0, 0]).first_from(7), Some(0));
    }
}
