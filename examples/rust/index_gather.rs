//! Index-gather: each PE reads elements at indices of its own from a table that is dealt out over all.
//!
//! The table is filled by its owners and then frozen, so that nobody can write it any more. Gathers of
//! many indices are on their way at a time. Each PE compares with the formula of the table.
//!
//! Usage: index_gather [ELEMENTS READS-OF-A-PE]
//!
// run: np=1,2,3,4 expect-stdout="as computed"
// run: np=3 args=100 5000

use shmem::{Array, Layout, World};
use std::process::ExitCode;

/// Reads that are on their way at a time.
const BATCH: usize = 2048;

/// Returns the entry of the table at `index`.
fn entry(index: usize) -> u64 {
    (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7
}

/// Returns the indices that PE `pe` reads.
fn indices(pe: usize, count: usize, len: usize) -> Vec<usize> {
    let mut state = pe as u64 * 77 + 5;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize % len
    };
    (0..count).map(next).collect()
}

/// Returns the sum of the values read, in a way that tells the order.
fn mixed(sum: u64, value: u64) -> u64 {
    sum.rotate_left(5) ^ value
}

fn main() -> ExitCode {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect();
    let [len, count] = numbers[..].try_into().unwrap_or([50_000, 20_000]);
    let Ok(world) = World::init() else {
        return ExitCode::FAILURE;
    };
    let Some(table): Option<Array<'_, u64>> = world.array(len, Layout::Block) else {
        eprintln!("index_gather: no room for {len} elements");
        return ExitCode::FAILURE;
    };
    table.update_own(|index, _| entry(index));
    world.barrier_all();

    let wanted = indices(world.my_pe(), count, len);
    let mut found = 0;
    for batch in wanted.chunks(BATCH) {
        let values = table.gather(world.ctx(), batch);
        found = values.into_iter().fold(found, mixed);
    }
    let alone = wanted
        .iter()
        .fold(0, |sum, &index| mixed(sum, entry(index)));

    let wrong = world.team().sum(u32::from(found != alone));
    if wrong > 0 {
        eprintln!("index_gather: {wrong} PEs have read something else");
        return ExitCode::FAILURE;
    }
    if world.my_pe() == 0 {
        let reads = world.n_pes() * count;
        println!("{reads} reads of a table of {len} elements, as computed");
    }
    ExitCode::SUCCESS
}
