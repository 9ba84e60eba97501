//! The teams of this PE, by their handles, and the epochs that they leave to each other.

#![expect(unsafe_code, reason = "the table hands out references to what it owns")]

use super::group::{Plan, Team};
use super::{Config, Handle, INVALID, SHARED, WORLD, blocks, numbers};
use crate::job;
use crate::job::workspace::TEAMS;
use crate::report;
use crate::routine::Routine;
use crate::sync::require_initialized;
use fi_provider::symmetric::address_vector::PeerIndex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// The last epoch of each team number that this PE has used, of 64 bits; no epoch in its
/// block is beyond.
static EPOCHS: [AtomicU64; TEAMS] = [const { AtomicU64::new(0) }; TEAMS];

/// The teams of this PE; null where there is none.
static TABLE: [AtomicPtr<Team>; TEAMS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; TEAMS];

/// Returns the team with the handle `handle`, if there is one.
#[inline]
pub(crate) fn get(handle: Handle) -> Option<&'static Team> {
    let place = TABLE.get(handle.wrapping_sub(1))?;
    // SAFETY: null or a team, which lives until it is destroyed: by a call after which nobody uses it.
    // ORDERING: pairs with the store in `enter`.
    unsafe { place.load(Ordering::Acquire).as_ref() }
}

/// Returns the team that routine `at` was called for; ends the job where there is none.
#[inline]
pub(crate) fn expect(at: Routine, handle: Handle) -> &'static Team {
    require_initialized(at);
    match get(handle) {
        Some(team) => team,
        None => no_team(at, handle),
    }
}

#[cold]
fn no_team(at: Routine, handle: Handle) -> ! {
    let value = match handle {
        INVALID => "SHMEM_TEAM_INVALID".to_owned(),
        other => format!("{other:#x}"),
    };
    report::bad_argument(at, "team", format_args!("{value}"), "a team of this PE")
}

/// Puts a team into the table; returns its handle.
pub(super) fn enter(team: Team) -> Handle {
    let number = team.number();
    let team = Box::into_raw(Box::new(team));
    // ORDERING: releases the team to `get`.
    TABLE[number].store(team, Ordering::Release);
    number + 1
}

/// Takes a team out of the table.
fn remove(number: usize) -> Option<Box<Team>> {
    // ORDERING: as in `get`.
    let team = TABLE[number].swap(std::ptr::null_mut(), Ordering::AcqRel);
    // SAFETY: null, or from `enter`, and nobody finds it any more.
    (!team.is_null()).then(|| unsafe { Box::from_raw(team) })
}

/// Returns the PEs of a team, in the order of its numbers.
pub(crate) fn members(handle: Handle) -> Option<&'static [PeerIndex]> {
    get(handle).map(Team::pes)
}

/// Returns the last epoch of team number `number` on this PE.
pub(super) fn last_epoch_of(number: usize) -> u64 {
    EPOCHS[number].load(Ordering::Relaxed)
}

/// Lets the epochs of team number `number` go on from `epoch`, in the own block as well, to which
/// nobody comes meanwhile.
pub(super) fn skip_to(number: usize, epoch: u64) {
    EPOCHS[number].store(epoch, Ordering::Relaxed);
    if let Some(block) = blocks::own(number) {
        block.arrivals.reset();
        block.arrival.reset();
        block.central.skip_to(epoch);
        block.rounds.skip_to(epoch);
        for slot in &block.slots {
            slot.turn.post(epoch);
        }
        for word in &block.leaders {
            // ORDERING: the PEs of the team meet before one of them writes or awaits a word.
            word.store(epoch, Ordering::Release);
        }
    }
}

/// Forgets a team; its number may be given to another when all its PEs have done so.
pub(super) fn retire(number: usize) {
    if let Some(team) = remove(number) {
        EPOCHS[number].store(team.last_epoch(), Ordering::Relaxed);
    }
}

/// Makes the predefined teams at the beginning of a session, before its first barrier: their epochs
/// begin anew. Those of the session before need not be the same on all PEs, as the PEs of a node
/// may have met without the others.
pub(crate) fn set_up() {
    let Some(job) = job::job() else { return };
    let places = &job.node.places;
    let all = (0..places.pes()).collect();
    let near = places.near().to_vec();
    for (handle, pes) in [(WORLD, all), (SHARED, near)] {
        let number = handle - 1;
        skip_to(number, 0);
        let plan = Plan {
            number,
            epoch: 0,
            pes,
            config: Config::default(),
        };
        enter(Team::new(plan, &job.node));
    }
}

/// Forgets all teams at the end of a session.
pub(crate) fn tear_down() {
    (0..TEAMS).for_each(retire);
    numbers::forget();
}
