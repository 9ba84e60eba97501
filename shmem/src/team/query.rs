//! Queries of teams (OpenSHMEM 1.6, sections 9.4.1 to 9.4.5 and 9.1.10).

#![expect(
    unsafe_code,
    reason = "C arguments are read and written through pointers"
)]

use super::table::expect;
use super::{Config, Handle, INVALID, NUM_CONTEXTS};
use crate::query;
use crate::routine::Routine;
use std::ffi::{c_int, c_long, c_void};

/// Returns the number of this PE in `team`, -1 for SHMEM_TEAM_INVALID (9.4.1).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn my_pe(at: Routine, team: Handle) -> c_int {
    if team == INVALID {
        return -1;
    }
    expect(at, team).me_as_c()
}

/// Returns the number of PEs of `team`, -1 for SHMEM_TEAM_INVALID (9.4.2).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn n_pes(at: Routine, team: Handle) -> c_int {
    if team == INVALID {
        return -1;
    }
    expect(at, team).pes().len() as c_int
}

/// Writes the members of the team's configuration that `config_mask` names (9.4.4); returns 0, or
/// -1 for SHMEM_TEAM_INVALID and for a null `config` with a mask.
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

/// Returns the number in `dest_team` of the PE that is `src_pe` in `src_team`, -1 where it has none
/// (9.4.5).
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

/// Returns an address for loads and stores to the object `dest` of the PE that is `pe` in `team`,
/// or null (9.1.10).
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
        Some(&pe) => unsafe { query::ptr(dest, pe as c_int) },
        None => std::ptr::null_mut(),
    }
}
