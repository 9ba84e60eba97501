//! Teams (OpenSHMEM 1.6, section 9.4): sets of PEs with numbers of their own.
//!
//! A handle is the place of the team in a table, counted from 1, so that the predefined handles are constants and
//! SHMEM_TEAM_INVALID is 0. The numbers of a team in the tables of its PEs are equal: it is also that of the team's
//! blocks in the workspace (`crate::workspace`).

#![expect(
    unsafe_code,
    reason = "C arguments are read and written through pointers; the table hands out references to what it owns"
)]

mod group;
mod meet;
mod slots;
mod split;

pub(crate) use group::{Team, set_up, tear_down};
pub(crate) use meet::tell;
pub(crate) use slots::Shown;
pub use split::{split_2d, split_strided};

use crate::report::{self, Routine};
use crate::sync::require_initialized;
use crate::workspace::TEAMS;
use crate::{ctx, world};
use fi_provider::symmetric::address_vector::PeerIndex;
use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// A team in C: its place in the table, from 1.
pub type Handle = usize;

/// No team (SHMEM_TEAM_INVALID).
pub const INVALID: Handle = 0;

/// All PEs (SHMEM_TEAM_WORLD).
pub const WORLD: Handle = 1;

/// The PEs of this node, whose memory is reached by loads and stores (SHMEM_TEAM_SHARED).
pub const SHARED: Handle = 2;

/// The configuration of a team (shmem_team_config_t, 9.4.3).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Contexts that the program wants to have of the team at a time. A wish: they are made when they are asked for.
    pub num_contexts: c_int,
}

/// The bit for [`Config::num_contexts`] in a configuration mask (SHMEM_TEAM_NUM_CONTEXTS).
pub const NUM_CONTEXTS: c_long = 1;

impl Config {
    /// What `mask` names of `config`, and for the rest the defaults.
    ///
    /// # Safety
    /// Unless `mask` is 0, `config` is null or a configuration.
    unsafe fn masked(config: *const Self, mask: c_long) -> Self {
        if mask & NUM_CONTEXTS == 0 || config.is_null() {
            return Self::default();
        }
        // SAFETY: `config` is not null, hence a configuration: the mask is not 0.
        unsafe { config.read() }
    }
}

/// The teams of this PE; null where there is none.
static TABLE: [AtomicPtr<Team>; TEAMS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; TEAMS];

/// The team with the handle `handle`, if there is one.
#[inline]
pub(crate) fn get(handle: Handle) -> Option<&'static Team> {
    let place = TABLE.get(handle.wrapping_sub(1))?;
    // SAFETY: null or a team, which lives until it is destroyed: by a call after which nobody uses it.
    // ORDERING: pairs with the store in `enter`.
    unsafe { place.load(Ordering::Acquire).as_ref() }
}

/// The team that routine `at` was called for; ends the job where there is none.
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
fn enter(team: Team) -> Handle {
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

/// The PEs of a team, in the order of its numbers.
pub(crate) fn members(handle: Handle) -> Option<&'static [PeerIndex]> {
    get(handle).map(Team::pes)
}

/// The number of this PE in `team`, -1 for SHMEM_TEAM_INVALID (9.4.1).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn my_pe(at: Routine, team: Handle) -> c_int {
    if team == INVALID {
        return -1;
    }
    expect(at, team).me_as_c()
}

/// The PEs of `team`, -1 for SHMEM_TEAM_INVALID (9.4.2).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn n_pes(at: Routine, team: Handle) -> c_int {
    if team == INVALID {
        return -1;
    }
    expect(at, team).pes().len() as c_int
}

/// Writes what `config_mask` names of the team's configuration (9.4.4); returns 0, or -1 for SHMEM_TEAM_INVALID and
/// for a null `config` with a mask.
///
/// # Safety
/// `config` is null or writable.
pub unsafe fn get_config(
    at: Routine,
    team: Handle,
    config_mask: c_long,
    config: *mut Config,
) -> c_int {
    if team == INVALID {
        return -1;
    }
    let has = expect(at, team).config();
    if config_mask & NUM_CONTEXTS == 0 {
        return 0;
    }
    if config.is_null() {
        return -1;
    }
    // SAFETY: `config` is not null, hence writable.
    unsafe { (*config).num_contexts = has.num_contexts };
    0
}

/// The number in `dest_team` of the PE that is `src_pe` in `src_team`, -1 where it has none (9.4.5).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn translate_pe(
    at: Routine,
    src_team: Handle,
    src_pe: c_int,
    dest_team: Handle,
) -> c_int {
    if src_team == INVALID || dest_team == INVALID {
        return -1;
    }
    let (from, to) = (expect(at, src_team), expect(at, dest_team));
    let Some(&pe) = usize::try_from(src_pe)
        .ok()
        .and_then(|pe| from.pes().get(pe))
    else {
        return -1;
    };
    let place = to.pes().iter().position(|&other| other == pe);
    place.map_or(-1, |place| place as c_int)
}

/// Destroys `team` (9.4.8), and the contexts made from it. Collective over the team.
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn destroy(at: Routine, team: Handle) {
    if team == INVALID {
        return;
    }
    if team == WORLD || team == SHARED {
        report::bad_argument(
            at,
            "team",
            format_args!("{team:#x}"),
            "a team that can be destroyed: it is predefined",
        );
    }
    let gone = expect(at, team);
    // SAFETY: the program uses no context of a team that it destroys.
    unsafe { ctx::destroy_of_team(at, team) };
    split::destroy(at, gone);
}

/// An address for loads and stores to the object `dest` of the PE that is `pe` in `team`, or null (9.1.10).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn ptr(at: Routine, team: Handle, dest: *const c_void, pe: c_int) -> *mut c_void {
    if team == INVALID {
        return std::ptr::null_mut();
    }
    match usize::try_from(pe)
        .ok()
        .and_then(|pe| expect(at, team).pes().get(pe))
    {
        // SAFETY: the rules of threads: this call's own caller keeps to them.
        Some(&pe) => unsafe { world::ptr(dest, pe as c_int) },
        None => std::ptr::null_mut(),
    }
}

/// Waits for all PEs of `team`; what they stored is visible then (9.10.3). Returns 0.
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn sync(at: Routine, team: Handle) -> c_int {
    expect(at, team).meet(at);
    0
}
