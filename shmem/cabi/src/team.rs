//! Teams (section 9.4), and what belongs to them elsewhere (9.1.10, 9.10.3).

use core::ffi::{c_int, c_long, c_void};
use shmem::collective;
use shmem::team::{Config, Handle, query, split};

families! {
    arguments {
        team: "a team that the calling PE is in",
        src_team: "a team, or SHMEM_TEAM_INVALID",
        src_pe: "the number of a PE in src_team",
        dest_team: "a team, or SHMEM_TEAM_INVALID",
        parent_team: "the team that is divided, or SHMEM_TEAM_INVALID",
        start: "the first PE, counted in parent_team",
        stride: "the distance from one PE to the next; negative: downwards; 0 with a size of 1 only",
        size: "PEs of the new team",
        config: "the configuration, or NULL for the defaults",
        config_mask: "SHMEM_TEAM_NUM_CONTEXTS if num_contexts of config counts, or 0",
        new_team: "room for a handle; SHMEM_TEAM_INVALID where this PE is not in it, and on failure",
        xrange: "PEs of a row: the PE with number n is at x = n % xrange, y = n / xrange",
        xaxis_config: "the configuration of the rows, or NULL",
        xaxis_mask: "as config_mask",
        xaxis_team: "room for the handle of this PE's row: the PEs with the same y",
        yaxis_config: "the configuration of the columns, or NULL",
        yaxis_mask: "as config_mask",
        yaxis_team: "room for the handle of this PE's column: the PEs with the same x",
        dest: "symmetric, an object as this PE addresses it",
        pe: "the PE, counted in team",
    }
    errors "a handle that is no team ends the job, with a message.";

    /// Returns the number of this PE in team, -1 for SHMEM_TEAM_INVALID.
    "9.4.1" at once("team_my_pe")(team: Handle) -> c_int = query::my_pe;
    /// Returns how many PEs team has, -1 for SHMEM_TEAM_INVALID.
    "9.4.2" at once("team_n_pes")(team: Handle) -> c_int = query::n_pes;
    /// Writes what config_mask names of the configuration of team to config; returns 0.
    /// - config: room for a configuration
    /// Errors: nonzero for SHMEM_TEAM_INVALID, and for a mask without config; a handle that is no team ends the job, with a message.
    "9.4.4" at once("team_get_config")(team: Handle, config_mask: c_long, config: *mut Config) -> c_int = query::get_config;
    /// Returns the number in dest_team of the PE that is src_pe in src_team, -1 if it has none.
    "9.4.5" at once("team_translate_pe")(src_team: Handle, src_pe: c_int, dest_team: Handle) -> c_int = query::translate_pe;
    /// Makes a team of the PEs start, start + stride, ... of parent_team and returns 0. Collective over
    /// parent_team.
    /// Errors: nonzero, on all PEs, where parent_team lacks such a PE, size is not positive, or too many teams exist; a handle that is no team ends the job, with a message.
    "9.4.6" at once("team_split_strided")(parent_team: Handle, start: c_int, stride: c_int, size: c_int, config: *const Config, config_mask: c_long, new_team: *mut Handle) -> c_int = split::split_strided;
    /// Lays the PEs of parent_team out in rows of xrange, makes a team of each row and of each column, and
    /// returns 0. Collective over parent_team.
    /// Errors: nonzero, on all PEs, where xrange is not positive or too many teams exist; a handle that is no team ends the job, with a message.
    "9.4.7" at once("team_split_2d")(parent_team: Handle, xrange: c_int, xaxis_config: *const Config, xaxis_mask: c_long, xaxis_team: *mut Handle, yaxis_config: *const Config, yaxis_mask: c_long, yaxis_team: *mut Handle) -> c_int = split::split_2d;
    /// Destroys team and the contexts made from it that are not private; nothing for SHMEM_TEAM_INVALID. Collective over team.
    /// Errors: a predefined team, or a handle that is no team, ends the job, with a message.
    "9.4.8" at once("team_destroy")(team: Handle) = split::destroy;
    /// Returns an address for loads and stores to the object dest of PE pe of team, or NULL.
    "9.1.10" at once("team_ptr")(team: Handle, dest: *const c_void, pe: c_int) -> *mut c_void = query::ptr;
    /// Waits until every PE of team has called it and returns 0; what each has stored in memory is visible
    /// then, but no transfer is completed. Collective over team.
    "9.10.3" at once("team_sync")(team: Handle) -> c_int = collective::sync;
}
