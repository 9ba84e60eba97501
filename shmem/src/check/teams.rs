//! Groups of PEs that take part in a collective, and the names that all their PEs agree on.
//!
//! A team's handle is one PE's own. For a name that its members agree on, it is called by the collective that made it:
//! the name of the parent, how many collectives that has had, and the PEs of the new team.

use crate::team::{self, table};
use fi_provider::symmetric::address_vector::PeerIndex;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The PEs that take part in a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// The team with this handle.
    Team(usize),
    /// An active set: the first PE, the logarithm of the distance between two, and how many they are; and the place of
    /// the pSync array, by which two collectives of one set may be told apart.
    Active {
        /// The first PE.
        start: u32,
        /// The logarithm to base 2 of the distance between two PEs.
        log_stride: u32,
        /// The number of PEs.
        size: u32,
        /// Place of the pSync array in symmetric memory.
        sync: u64,
    },
}

/// Handles and the names of their teams.
static NAMES: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());
/// The collectives that each named group has had on this PE.
static NUMBERS: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a number for a value, the same on every PE.
pub(super) fn fingerprint(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Group {
    /// The team of all PEs.
    pub const ALL: Self = Self::Team(team::WORLD);

    /// Returns the PEs that take part, in their order; `None` where there is no such group.
    pub(super) fn members(self) -> Option<Vec<PeerIndex>> {
        match self {
            Self::Team(handle) => Some(table::get(handle)?.pes().to_vec()),
            Self::Active {
                start,
                log_stride,
                size,
                ..
            } => (0..size)
                .map(|i| start.checked_add(i.checked_mul(1_u32.checked_shl(log_stride)?)?))
                .collect(),
        }
    }

    /// Returns the number of PEs that take part; `None` where there is no such group.
    pub(super) fn size(self) -> Option<usize> {
        Some(self.members()?.len())
    }

    /// Returns the name that all members have for it; `None` where there is no such team.
    pub(super) fn name(self) -> Option<u64> {
        match self {
            Self::Team(team::WORLD | team::SHARED) | Self::Active { .. } => {
                Some(fingerprint((self, self.members()?)))
            }
            Self::Team(handle) => lock(&NAMES).get(&handle).copied(),
        }
    }
}

/// Returns the number of the next collective of the group called `name`.
pub(super) fn next_number(name: u64) -> u64 {
    let mut numbers = lock(&NUMBERS);
    let number = numbers.entry(name).or_default();
    *number += 1;
    *number
}

/// Gives team `handle` a name, behind a collective of team `parent` that has made it.
pub(super) fn made(parent: usize, handle: usize) {
    let Some(parent) = Group::Team(parent).name() else {
        return;
    };
    let number = lock(&NUMBERS).get(&parent).copied();
    if let Some(members) = Group::Team(handle).members() {
        lock(&NAMES).insert(handle, fingerprint((parent, number, members)));
    }
}

impl Group {
    /// Names the PEs that take part, for messages.
    pub(super) fn describe(self) -> String {
        /// The most PEs that are listed.
        const MOST: usize = 8;
        if self == Self::ALL {
            return "all PEs".to_owned();
        }
        let members = self.members().unwrap_or_default();
        let listed: Vec<String> = members.iter().take(MOST).map(u32::to_string).collect();
        let more = if members.len() > MOST { ", ..." } else { "" };
        let kind = match self {
            Self::Team(_) => "team",
            Self::Active { .. } => "active set",
        };
        format!("the {kind} of PEs {}{more}", listed.join(", "))
    }
}
