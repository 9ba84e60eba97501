//! The places of the blocks of teams: the own one, and those of peers of the node.

#![expect(
    unsafe_code,
    reason = "blocks are views of mapped memory that zero bytes initialise"
)]

use crate::ctx;
use crate::job;
use crate::job::workspace::{BLOCK, Block, TEAMS};
use fi_provider::symmetric::address_vector::PeerIndex;

/// Returns the address of this PE's block of team number `team`, while there is a session.
fn address(team: usize) -> Option<usize> {
    assert!(team < TEAMS);
    Some(job::session()?.space.workspace() + team * BLOCK)
}

/// Returns this PE's block of team number `team`, while there is a session.
pub(super) fn own(team: usize) -> Option<&'static Block> {
    let address = address(team)?;
    // SAFETY: mapped while the session lasts, which the users of teams do not outlive; aligned to a page, and larger
    // than a block; all fields are atomic or cells.
    Some(unsafe { &*(address as *const Block) })
}

/// Returns the block of `pe`, where its memory is reached by loads and stores.
pub(super) fn near(team: usize, pe: PeerIndex) -> Option<&'static Block> {
    let address = ctx::default_ctx().endpoint.element(address(team)?, pe)?;
    // SAFETY: mapped while the session lasts, which the users of teams do not outlive; aligned to a
    // page, and larger than a block; all fields are atomic or cells.
    Some(unsafe { &*(address as *const Block) })
}
