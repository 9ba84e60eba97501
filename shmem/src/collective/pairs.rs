//! The exchange of blocks where PEs share processors: of each pair of PEs, the one that comes later copies both blocks.
//!
//! So nobody waits before it can copy, and nobody's array is written before it has come: one
//! meeting at the end is all, and the PE that comes first sleeps once. [`super::flat`] has two
//! meetings, which costs little where all PEs run.

#![expect(
    unsafe_code,
    reason = "copies between arrays that C has given as symmetric"
)]

use super::party::near;
use crate::routine::Routine;
use crate::team::group::Team;
use fi_provider::node::copy::copy;

/// See [`super::flat::alltoall`].
///
/// # Safety
/// As there; all PEs of the team are near.
pub(super) unsafe fn alltoall(
    team: &Team,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
) {
    let me = team.me();
    let block = |array: *const u8, of: usize, number: usize, what| {
        near(
            team,
            at,
            what,
            array.wrapping_add(number * bytes).addr(),
            bytes,
            of,
        )
    };
    let exchange = |from: usize, to: usize| {
        let source = block(source, from, to, "source") as *const u8;
        let dest = block(dest, to, from, "dest") as *mut u8;
        // SAFETY: both PEs have come to the collective, so that the source is complete and the destination waits for it;
        // nobody else copies between these two.
        unsafe { copy(dest, source, bytes) };
    };
    exchange(me, me);
    team.for_each_before_me(|other| {
        exchange(other, me);
        exchange(me, other);
    });
    team.meet(at);
}
