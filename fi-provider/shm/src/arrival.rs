//! In which order processes come to something.

use crate::sync::{AtomicU64, Ordering};

/// Number of processes that have come, all times together; all zero bytes is the initial state. 64
/// bits: no job lasts until they wrap.
#[repr(C)]
#[derive(Debug)]
pub struct Arrivals(AtomicU64);

/// A process's word of its coming: one more than its number in [`Arrivals`]; all zero bytes is the
/// initial state.
#[repr(C)]
#[derive(Debug)]
pub struct Arrival(AtomicU64);

impl Default for Arrivals {
    fn default() -> Self {
        Self(AtomicU64::new(0))
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
    /// Does as [`Arrivals::reset`].
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// The most processes whose order is told.
pub const MOST: usize = 1024;

/// Calls `f` for each of `count` processes, 2 at least, that has come before this one, `me`; its
/// writes before are visible then. So of each pair of processes it is called on one. All meet
/// before they come again.
///
/// `of(i)` is the [`Arrival`] of process `i`; `pause` is called where one that has come has not
/// said so yet.
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
    // ORDERING: the next word, not the counter, tells of the writes; the counter only gives each
    // its place.
    let number = arrivals.0.fetch_add(1, Ordering::Relaxed);
    let place = number % count as u64;
    let first = number - place;
    // ORDERING: releases the writes of this process to the load below, in those that come later.
    of(me).0.store(number + 1, Ordering::Release);
    let mut seen = [0_u64; MOST / 64];
    let mut found = 0;
    while found < place {
        for other in (0..count).filter(|&other| other != me) {
            let bit = 1 << (other % 64);
            // ORDERING: pairs with the store above.
            let theirs = of(other).0.load(Ordering::Acquire);
            let is_before = first < theirs && theirs <= number;
            if seen[other / 64] & bit == 0 && is_before {
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::thread;
    use std::time::{Duration, Instant};

    /// Numbers at which counters of 31 and 32 bits end.
    const ENDS: [u64; 2] = [1 << 31, 1 << 32];

    /// Lets `count` threads come `times` times behind the first `before` arrivals; the pairs that
    /// are told of, each as the sum of two bits, for each time.
    fn pairs(count: usize, before: u64, times: usize) -> Vec<Vec<u64>> {
        let arrivals = Arrivals(AtomicU64::new(before));
        let words: Vec<Arrival> = (0..count).map(|_| Arrival::default()).collect();
        let met = AtomicU64::new(0);
        let start = Instant::now();
        let pause = || {
            assert!(start.elapsed() < Duration::from_secs(20), "for ever");
            thread::yield_now();
        };
        let run = |me: usize| {
            let mut told = vec![Vec::new(); times];
            for (time, pairs) in (1..).zip(&mut told) {
                let note = |other: usize| pairs.push(1 << me | 1 << other);
                for_each_before(&arrivals, |i| &words[i], me, count, pause, note);
                met.fetch_add(1, Ordering::AcqRel);
                while met.load(Ordering::Acquire) < time * count as u64 {
                    pause();
                }
            }
            told
        };
        let mut all = vec![Vec::new(); times];
        thread::scope(|scope| {
            let run = &run;
            let threads: Vec<_> = (0..count).map(|me| scope.spawn(move || run(me))).collect();
            for thread in threads {
                for (time, pairs) in thread.join().unwrap().into_iter().enumerate() {
                    all[time].extend(pairs);
                }
            }
        });
        all.iter_mut().for_each(|pairs| pairs.sort_unstable());
        all
    }

    #[test]
    fn each_pair_is_told_of_once_across_the_ends_of_32_bits() {
        for count in [2, 3, 5, 6, 7] {
            let mut expected: Vec<u64> = (0..count)
                .flat_map(|one| (0..one).map(move |other| 1 << one | 1 << other))
                .collect();
            expected.sort_unstable();
            for end in ENDS {
                // Whole times, the second of which goes across the end.
                let before = (end / count as u64 - 1) * count as u64;
                let all = pairs(count, before, 4);
                assert!(all.iter().all(|it| *it == expected), "{count}: {all:?}");
            }
        }
    }
}
