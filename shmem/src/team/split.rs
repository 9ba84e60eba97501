//! The beginning and end of teams (OpenSHMEM 1.6, sections 9.4.6 to 9.4.8).
//!
//! The PEs of the parent team agree on a number that none of them uses, and on the epoch behind which the meetings of
//! the new teams begin. All teams of one split have the same number: no PE is in two of them.

use super::group::{Plan, Team};
use super::numbers::{self, Numbers};
use super::table::{self, enter, expect};
use super::{Config, Handle, INVALID, SHARED, WORLD};
use crate::collective::combine::{And, Max};
use crate::collective::small::reduce_words;
use crate::ctx::created;
use crate::job;
use crate::job::workspace::TEAMS;
use crate::report;
use crate::routine::Routine;
use fi_provider::symmetric::address_vector::PeerIndex;
use std::ffi::{c_int, c_long};

/// Makes the PEs of `parent` agree on a number that each of them has taken, and on the epoch to
/// begin behind; `None` where all numbers are in use.
fn agree(at: Routine, parent: &Team) -> Option<(usize, u64)> {
    loop {
        let mut free = numbers::free().0;
        reduce_words::<And>(at, parent, &mut free);
        // Splits of two teams at the same time look in different places.
        let start = parent.number() * 37 % TEAMS;
        let number = Numbers(free).first_from(start)?;
        let is_taken = numbers::take(number);
        let mut told = [u64::from(!is_taken), table::last_epoch_of(number)];
        reduce_words::<Max>(at, parent, &mut told);
        let [refused, epoch] = told;
        if refused == 0 {
            return Some((number, epoch));
        }
        if is_taken {
            numbers::give_back(number);
        }
    }
}

/// Makes the team of `members`, this PE's numbers in `parent`, if it is one of them: for every PE of the parent at the
/// same time. The handle, [`INVALID`] for others; `None` where no team can be made.
fn create(at: Routine, parent: &Team, members: Vec<usize>, config: Config) -> Option<Handle> {
    let job = job::job()?;
    let (number, epoch) = agree(at, parent)?;
    let handle = if members.contains(&parent.me()) {
        let pes: Vec<PeerIndex> = members.iter().map(|&i| parent.pes()[i]).collect();
        table::skip_to(number, epoch);
        enter(Team::new(
            Plan {
                number,
                epoch,
                pes,
                config,
            },
            &job.node,
        ))
    } else {
        numbers::give_back(number);
        INVALID
    };
    // Nobody comes to a meeting of the new team before all its PEs have put their flags there.
    parent.meet(at);
    Some(handle)
}

/// Makes a team of the PEs `start`, `start + stride` and so on of `parent`, `size` in all (9.4.6); `new_team` gets
/// SHMEM_TEAM_INVALID on the other PEs. Collective over the parent. Returns 0, or -1 on all of them where the PEs
/// are not all there or no more teams can be made.
///
/// # Safety
/// `new_team` is writable; `config` is null or a configuration.
#[expect(clippy::too_many_arguments, reason = "those of the C routine")]
pub unsafe fn split_strided(
    at: Routine,
    parent: Handle,
    start: c_int,
    stride: c_int,
    size: c_int,
    config: *const Config,
    config_mask: c_long,
    new_team: *mut Handle,
) -> c_int {
    // SAFETY: `new_team` is writable.
    unsafe { new_team.write(INVALID) };
    if parent == INVALID {
        return -1;
    }
    let parent = expect(at, parent);
    let Some(members) = strided(parent.pes().len(), start, stride, size) else {
        return -1;
    };
    // SAFETY: `config` is null or a configuration.
    let config = unsafe { Config::masked(config, config_mask) };
    match create(at, parent, members, config) {
        Some(handle) => {
            // SAFETY: `new_team` is writable.
            unsafe { new_team.write(handle) };
            0
        }
        None => -1,
    }
}

/// Returns the numbers from `start` on, if all are below `count`.
fn strided(count: usize, start: c_int, stride: c_int, size: c_int) -> Option<Vec<usize>> {
    if size < 1 || (stride == 0 && size > 1) {
        return None;
    }
    let at = |i: c_int| i64::from(start) + i64::from(stride) * i64::from(i);
    let range = 0..count as i64;
    if !range.contains(&at(0)) || !range.contains(&at(size - 1)) {
        return None;
    }
    Some((0..size).map(|i| at(i) as usize).collect())
}

/// Returns the members of this PE's row (same y) and column (same x), where PE `me` of `count` is
/// at (`me` mod `xrange`, `me` / `xrange`).
fn row_and_column(count: usize, xrange: usize, me: usize) -> (Vec<usize>, Vec<usize>) {
    let (x, y) = (me % xrange, me / xrange);
    let row = y * xrange..count.min((y + 1) * xrange);
    let column = (x..count).step_by(xrange);
    (row.collect(), column.collect())
}

/// Makes two teams of `parent`, laid out in rows of `xrange` PEs: this PE's row, and its column (9.4.7). Collective over
/// the parent. Returns 0, or -1 on all its PEs where a team cannot be made.
///
/// # Safety
/// Both handles are writable; both configurations are null or valid.
#[expect(clippy::too_many_arguments, reason = "those of the C routine")]
pub unsafe fn split_2d(
    at: Routine,
    parent: Handle,
    xrange: c_int,
    xaxis_config: *const Config,
    xaxis_mask: c_long,
    xaxis_team: *mut Handle,
    yaxis_config: *const Config,
    yaxis_mask: c_long,
    yaxis_team: *mut Handle,
) -> c_int {
    // SAFETY: both handles are writable.
    unsafe {
        xaxis_team.write(INVALID);
        yaxis_team.write(INVALID);
    }
    if parent == INVALID || xrange < 1 {
        return -1;
    }
    let parent = expect(at, parent);
    let count = parent.pes().len();
    let (row, column) = row_and_column(count, count.min(xrange as usize), parent.me());
    // SAFETY: both configurations are null or valid.
    let (x_config, y_config) = unsafe {
        (
            Config::masked(xaxis_config, xaxis_mask),
            Config::masked(yaxis_config, yaxis_mask),
        )
    };
    let Some(x) = create(at, parent, row, x_config) else {
        return -1;
    };
    let Some(y) = create(at, parent, column, y_config) else {
        end(at, expect(at, x));
        return -1;
    };
    // SAFETY: both handles are writable.
    unsafe {
        xaxis_team.write(x);
        yaxis_team.write(y);
    }
    0
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
    unsafe { created::destroy_of_team(at, team) };
    end(at, gone);
}

/// Destroys a team, when all its PEs have come.
fn end(at: Routine, team: &'static Team) {
    // A PE that is still in the team's last collective leaves it first.
    team.meet(at);
    let number = team.number();
    table::retire(number);
    numbers::give_back(number);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn strides_go_up_and_down_and_never_around() {
        assert_eq!(strided(8, 1, 3, 3), Some(vec![1, 4, 7]));
        assert_eq!(strided(8, 6, -2, 4), Some(vec![6, 4, 2, 0]));
        assert_eq!(strided(8, 3, 3, 3), None);
        assert_eq!(strided(8, 2, -2, 3), None);
        assert_eq!(strided(8, 5, 0, 1), Some(vec![5]));
        assert_eq!(strided(8, 5, 0, 2), None);
        assert_eq!(strided(8, 0, 1, 0), None);
        assert_eq!(strided(8, 0, 1, -1), None);
        assert_eq!(strided(8, -1, 1, 2), None);
        assert_eq!(strided(8, 8, 1, 1), None);
        assert_eq!(strided(8, 0, c_int::MAX, c_int::MAX), None);
    }

    #[test]
    fn ten_pes_in_rows_of_three() {
        assert_eq!(row_and_column(10, 3, 4), (vec![3, 4, 5], vec![1, 4, 7]));
        assert_eq!(row_and_column(10, 3, 9), (vec![9], vec![0, 3, 6, 9]));
    }

    proptest! {
        #[test]
        fn every_pe_is_at_its_coordinates(count in 1_usize..60, xrange in 1_usize..60) {
            let xrange = xrange.min(count);
            for me in 0..count {
                let (row, column) = row_and_column(count, xrange, me);
                prop_assert_eq!(row[me % xrange], me);
                prop_assert_eq!(column[me / xrange], me);
                for &other in &row {
                    prop_assert_eq!(&row_and_column(count, xrange, other).0, &row);
                }
            }
        }
    }
}
