//! Times rows alike in both programs: names, sizes, indices.

use std::time::Instant;

/// Elements of the arrays that both processes have together, of 8 bytes.
pub const LEN: usize = 1 << 20;
/// Updates and reads of each process at random places, in one call.
pub const PLACES: usize = 100_000;
/// Bytes of a transfer at the speed of memory.
pub const BLOCK: usize = 1 << 20;
/// Batches of which the median counts.
pub const BATCHES: usize = 15;

/// The processes.
pub const PES: usize = 2;

/// Prints the median over [`BATCHES`] of the time of one operation, in nanoseconds, if `prints`: a
/// batch is `rounds` calls of `operations` each. One batch goes before those that count.
pub fn row(name: &str, rounds: usize, operations: usize, prints: bool, mut call: impl FnMut()) {
    let mut batches = [0.0; BATCHES + 1];
    for batch in &mut batches {
        let start = Instant::now();
        for _ in 0..rounds {
            call();
        }
        *batch = start.elapsed().as_secs_f64() * 1e9 / (rounds * operations) as f64;
    }
    let batches = &mut batches[1..];
    batches.sort_by(f64::total_cmp);
    if prints {
        println!("row\t{name}\t{:.2}", batches[BATCHES / 2]);
    }
}

/// Calls of `rounds` rounds that [`row`] makes.
pub fn calls(rounds: usize) -> usize {
    rounds * (BATCHES + 1)
}

/// Returns the places of the accesses of process `pe`, by a generator (xorshift).
pub fn places(pe: usize) -> Vec<usize> {
    let mut state = (pe as u64 + 1).wrapping_mul(88_172_645_463_325_252);
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize % LEN
    };
    std::iter::repeat_with(next).take(PLACES).collect()
}

/// Returns how often each element of `range` is among the places of all processes.
pub fn hits(range: std::ops::Range<usize>) -> Vec<u64> {
    let mut hits = vec![0; range.len()];
    for place in (0..PES).flat_map(places) {
        if range.contains(&place) {
            hits[place - range.start] += 1;
        }
    }
    hits
}

/// Returns the value of element `index` of the table that is read at random places.
pub fn entry(index: usize) -> u64 {
    index as u64 * 3 + 1
}
