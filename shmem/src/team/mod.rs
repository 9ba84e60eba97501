//! Teams (OpenSHMEM 1.6, section 9.4): sets of PEs with numbers of their own.
//!
//! A handle is the place of the team in a table, counted from 1, so that the predefined handles are constants and
//! SHMEM_TEAM_INVALID is 0. The numbers of a team in the tables of its PEs are equal: it is also that of the team's
//! blocks in the workspace (`crate::job::workspace`).
//!
//! This file has handle and configuration, plain data; `group` has a team as a PE sees it, `table`
//! the teams of this PE, `query` and `split` have the routines.

#![expect(unsafe_code, reason = "a configuration is read through a pointer of C")]

pub(crate) mod agree;
mod blocks;
pub(crate) mod group;
pub(crate) mod meet;
mod numbers;
pub mod query;
pub(crate) mod slots;
pub mod split;
pub(crate) mod table;

use std::ffi::{c_int, c_long};

/// A team in C: its place in the table, from 1.
pub type Handle = usize;

/// No team (SHMEM_TEAM_INVALID).
pub const INVALID: Handle = 0;

/// All PEs (SHMEM_TEAM_WORLD).
pub const WORLD: Handle = 1;

/// The PEs of this node, whose memory is reached by loads and stores (SHMEM_TEAM_SHARED).
pub const SHARED: Handle = 2;

const _: () = assert!(INVALID == 0 && WORLD == 1 && SHARED == 2);

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
    /// Returns the fields of `config` that `mask` names, and for the rest the defaults.
    ///
    /// # Safety
    /// Unless `mask` is 0, `config` is null or a configuration.
    pub(super) unsafe fn masked(config: *const Self, mask: c_long) -> Self {
        if mask & NUM_CONTEXTS == 0 || config.is_null() {
            return Self::default();
        }
        // SAFETY: `config` is not null, hence a configuration: the mask is not 0.
        unsafe { config.read() }
    }
}
