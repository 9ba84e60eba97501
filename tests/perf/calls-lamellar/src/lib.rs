//! Sizes and timing that both programs share.

use std::time::Instant;

/// Echoes of a batch.
pub const ECHOES: usize = 500;
/// Calls without a reply of a batch, of 64 bytes each.
pub const CALLS: usize = 50_000;
/// Batches of which the median counts.
pub const BATCHES: usize = 15;

/// Prints the median of the time of one operation of a batch, in ns, behind a batch that does not
/// count.
pub fn row(name: &str, operations: usize, mut batch: impl FnMut()) {
    let mut times = [0.0; BATCHES + 1];
    for time in &mut times {
        let start = Instant::now();
        batch();
        *time = start.elapsed().as_secs_f64() * 1e9 / operations as f64;
    }
    let times = &mut times[1..];
    times.sort_by(f64::total_cmp);
    println!("row\t{name}\t{:.1}", times[BATCHES / 2]);
}
