//! In which order processes come to something.

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// How many have come, all times together; all zero bytes is the initial state.
#[repr(C)]
#[derive(Debug)]
pub struct Arrivals(AtomicU32);

/// What one process says of its coming; all zero bytes is the initial state.
#[repr(C)]
#[derive(Debug)]
pub struct Arrival(AtomicU64);

impl Default for Arrivals {
    fn default() -> Self {
        Self(AtomicU32::new(0))
    }
}

impl Default for Arrival {
    fn default() -> Self {
        Self(AtomicU64::new(0))
    }
}

impl Arrivals {
    /// Counts from the beginning; nobody comes meanwhile.
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Arrival {
    /// As [`Arrivals::reset`].
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// The most processes whose order is told.
pub const MOST: usize = 1024;

/// Calls `f` for each of `count` processes, 2 at least, that has come before this one, `me`; what it has written before is visible
/// then. So of each pair of processes it is called on one. All meet before they come again.
///
/// `of(i)` is what process `i` says; `pause` is called where one that has come has not said so yet.
///
/// # Panics
/// If `count` is over [`MOST`].
pub fn for_each_before<'a>(
    arrivals: &Arrivals,
    of: impl Fn(usize) -> &'a Arrival,
    me: usize,
    count: usize,
    mut pause: impl FnMut(),
    mut f: impl FnMut(usize),
) {
    assert!(count <= MOST);
    // ORDERING: the next word, not the counter, tells of what was written; the counter only gives each its place.
    let place = arrivals.0.fetch_add(1, Ordering::Relaxed) % count as u32;
    let last = of(me).0.load(Ordering::Relaxed);
    let turn = (last >> 32) + 1;
    // ORDERING: releases what this process has written to the load below, in those that come later.
    of(me)
        .0
        .store(turn << 32 | u64::from(place), Ordering::Release);
    let mut seen = [0_u64; MOST / 64];
    let mut found = 0;
    while found < place {
        for other in (0..count).filter(|&other| other != me) {
            let bit = 1 << (other % 64);
            // ORDERING: pairs with the store above.
            let theirs = of(other).0.load(Ordering::Acquire);
            if seen[other / 64] & bit == 0 && theirs >> 32 == turn && (theirs as u32) < place {
                seen[other / 64] |= bit;
                found += 1;
                f(other);
            }
        }
        if found < place {
            pause();
        }
    }
}
