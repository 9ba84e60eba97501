//! The locks that this PE holds (OpenSHMEM 1.6, section 9.14).

use super::place::{fail, place_of};
use crate::job;
use crate::job::node::Node;
use crate::routine::Routine;
use fi_provider::symmetric::address_vector::PeerIndex;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The places of the locks that this PE holds.
static HELD: Mutex<Vec<u64>> = Mutex::new(Vec::new());

fn held() -> MutexGuard<'static, Vec<u64>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the job when this PE holds the lock at `lock` already, before a routine that sets it.
pub(super) fn sets(at: Routine, lock: usize) {
    if place_of(lock).is_some_and(|place| held().contains(&place)) {
        fail(
            at,
            format_args!(
                "lock {lock:#x} is held by PE {} already, which calls this",
                job::my_pe()
            ),
        );
    }
}

/// Notes that this PE holds the lock at `lock`, behind a routine that has set it.
pub(super) fn took(lock: usize) {
    if let Some(place) = place_of(lock) {
        let mut held = held();
        held.push(place);
        show(&held);
    }
}

/// Ends the job unless this PE holds the lock at `lock`, before a routine that clears it.
pub(super) fn clears(at: Routine, lock: usize) {
    let (Some(place), Some(node)) = (place_of(lock), job::node()) else {
        return;
    };
    let mut held = held();
    match held.iter().position(|&other| other == place) {
        Some(index) => {
            held.swap_remove(index);
            show(&held);
        }
        None => {
            let me = job::my_pe();
            let wrong = format_args!("lock {lock:#x} is not held by PE {me}, which clears it");
            match (holder(&node, place), node.places.is_one_node()) {
                (Some(pe), _) => fail(at, format_args!("{wrong}: PE {pe} holds it")),
                (None, true) => fail(at, format_args!("{wrong}: nobody holds it")),
                (None, false) => fail(
                    at,
                    format_args!("{wrong}: nobody of this PE's node holds it"),
                ),
            }
        }
    }
}

/// Lets the other PEs of the node see the locks that this one holds.
fn show(held: &[u64]) {
    if let Some(node) = job::node() {
        let places = held.iter().map(|place| place + 1);
        for (word, place) in node
            .own()
            .board
            .locks
            .iter()
            .zip(places.chain(std::iter::repeat(0)))
        {
            // ORDERING: read by `holder`, for a message only.
            word.store(place, Ordering::Relaxed);
        }
    }
}

/// Returns the PE of this node that holds the lock at `place`.
fn holder(node: &Node, place: u64) -> Option<PeerIndex> {
    let rank = node.ranks().find(|&rank| {
        let locks = &node.slot(rank).board.locks;
        // ORDERING: written by `show`.
        locks
            .iter()
            .any(|word| word.load(Ordering::Relaxed) == place + 1)
    })?;
    Some(node.places.pe_at(rank))
}
