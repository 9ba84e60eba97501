//! A histogram whose bins are dealt out over all PEs: each PE adds its own keys to them.
//!
//! The bins are an array of atomic counters with one numbering; a batch of additions is on its way at
//! a time, to all PEs. PE 0 counts all keys alone in the end and compares.
//!
//! Usage: histogram [BINS KEYS-OF-A-PE]
//!
// run: np=1,2,3,4 expect-stdout="as alone"
// run: np=2 args=1000 50

use shmem::{Layout, World};
use std::process::ExitCode;

/// Additions that are on their way at a time.
const BATCH: usize = 1024;

/// Returns the bins of PE `pe`'s keys, in a fixed order without a pattern.
fn keys(pe: usize, count: usize, bins: usize) -> impl Iterator<Item = usize> {
    let mut state = pe as u64 + 1;
    (0..count).map(move |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize) % bins
    })
}

fn main() -> ExitCode {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect();
    let [bins, count] = numbers[..].try_into().unwrap_or([5000, 20_000]);
    let Ok(world) = World::init() else {
        return ExitCode::FAILURE;
    };
    let (me, n) = (world.my_pe(), world.n_pes());
    let Some(counts) = world.array::<u64>(bins, Layout::Cyclic) else {
        eprintln!("histogram: no room for {bins} bins");
        return ExitCode::FAILURE;
    };

    let ones: Vec<(usize, u64)> = keys(me, count, bins).map(|bin| (bin, 1)).collect();
    for batch in ones.chunks(BATCH) {
        counts.batch_add(world.ctx(), batch);
    }
    world.barrier_all();

    // The fullest bin: each PE looks at its own ones.
    let fullest = counts.own().map(|(_, count)| count).max().unwrap_or(0);
    let fullest = world.team().max(fullest);
    if me == 0 {
        let mut alone = vec![0; bins];
        (0..n).for_each(|pe| keys(pe, count, bins).for_each(|bin| alone[bin] += 1));
        let mut found = vec![0; bins];
        counts.read(world.ctx(), 0, &mut found);
        if found != alone || alone.iter().max() != Some(&fullest) {
            eprintln!("histogram: {n} PEs and one PE disagree");
            return ExitCode::FAILURE;
        }
        println!(
            "{} keys of {n} PEs in {bins} bins, {fullest} in the fullest, as alone",
            n * count
        );
    }
    ExitCode::SUCCESS
}
