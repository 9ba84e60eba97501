//! Sample sort: keys that are spread over all PEs are sorted, so that each PE has those of a range.
//!
//! Each PE shows some of its keys; all choose the same splitters from those. PEs tell each other how
//! many keys they send, by an exchange of counts, and get to know by another one where to put them.
//! Each PE then owns the keys that it has received, and sorts them in place. PE 0 sorts all keys alone
//! in the end and compares.
//!
//! Usage: samplesort [KEYS-OF-A-PE]
//!
// run: np=1,2,3,5 expect-stdout="as alone"
// run: np=4 args=10

use shmem::{Layout, Owned, Shared, World};
use std::process::ExitCode;

/// Keys that each PE shows.
const SAMPLES: usize = 32;

/// Returns the keys of PE `pe`: a fixed order without a pattern, small ones more often.
fn keys(pe: usize, count: usize) -> Vec<u64> {
    let mut state = pe as u64 * 1000 + 1;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let key = state >> 34;
        (key * key) >> 28
    };
    (0..count).map(next).collect()
}

/// Returns the greatest key of each PE but the last.
fn splitters(world: &World, sorted: &[u64]) -> Vec<u64> {
    let n = world.n_pes();
    let own: [u64; SAMPLES] = std::array::from_fn(|i| {
        let at = (i * sorted.len() + sorted.len() / 2) / SAMPLES;
        sorted.get(at).copied().unwrap_or(u64::MAX)
    });
    let mut all = world.team().gather_values(own).concat();
    all.sort_unstable();
    (1..n).map(|pe| all[pe * SAMPLES]).collect()
}

/// Returns the sums of the values before each.
fn before(counts: &[u64]) -> Vec<u64> {
    let sums = counts.iter().scan(0, |sum, &count| {
        *sum += count;
        Some(*sum - count)
    });
    sums.collect()
}

/// Returns the keys of this PE's range, and their number.
fn sort<'w>(world: &'w World, mut own: Vec<u64>) -> (Owned<'w, u64>, usize) {
    let (n, team) = (world.n_pes(), world.team());
    own.sort_unstable();
    let splitters = splitters(world, &own);
    let mut ends: Vec<usize> = splitters
        .iter()
        .map(|&splitter| own.partition_point(|&key| key <= splitter))
        .collect();
    ends.push(own.len());
    let starts: Vec<usize> = [&[0], &ends[..n - 1]].concat();

    // The count that each PE gets of this one, the count that this one gets of each, and the place.
    let [out, inward, places]: [Shared<'_, u64>; 3] =
        std::array::from_fn(|_| world.alloc(n).expect("room for counts"));
    let counts: Vec<u64> = ends
        .iter()
        .zip(&starts)
        .map(|(end, start)| (end - start) as u64)
        .collect();
    out.write(0, &counts);
    team.alltoall((&inward, 0), (&out, 0), 1);
    let counts = inward.to_vec();
    // All have read the counts.
    out.write(0, &before(&counts));
    team.alltoall((&places, 0), (&out, 0), 1);

    let count: u64 = counts.iter().sum();
    let room = team.max(count).max(1) as usize;
    let sorted: Shared<'_, u64> = world.alloc(room).expect("room for the keys");
    world.ctx().scope(|scope| {
        for pe in 0..n {
            let to = places.load(pe) as usize;
            scope.put(&sorted, to, &own[starts[pe]..ends[pe]], pe);
        }
    });
    let mut sorted = world.own(sorted);
    sorted[..count as usize].sort_unstable();
    (sorted, count as usize)
}

fn main() -> ExitCode {
    let number = std::env::args().nth(1).and_then(|a| a.parse().ok());
    let count: usize = number.unwrap_or(10_000).max(1);
    let Ok(world) = World::init() else {
        return ExitCode::FAILURE;
    };
    let (me, n, team) = (world.my_pe(), world.n_pes(), world.team());
    let (sorted, own) = sort(&world, keys(me, count));
    let all = world
        .array(n * count, Layout::Block)
        .expect("room for all keys");
    all.write(world.ctx(), team.sum_before(own), &sorted[..own]);
    world.barrier_all();
    let (least, most) = (team.min(own), team.max(own));
    if me == 0 {
        let mut found = vec![0; n * count];
        all.read(world.ctx(), 0, &mut found);
        let mut alone: Vec<u64> = (0..n).flat_map(|pe| keys(pe, count)).collect();
        alone.sort_unstable();
        if found != alone {
            eprintln!("samplesort: {n} PEs and one PE disagree");
            return ExitCode::FAILURE;
        }
        println!(
            "{} keys on {n} PEs, {least} to {most} on each, as alone",
            n * count
        );
    }
    ExitCode::SUCCESS
}
