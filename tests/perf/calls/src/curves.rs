//! Bandwidth in both directions: calls whose action returns its argument.

use crate::actions;
use crate::{Failure, figure, median, puts};
use calls::{Call, Calls, Load, SharedSlice};
use std::collections::VecDeque;
use std::path::Path;
use std::time::Instant;

/// Bytes of an argument: 8 B to 64 MiB.
pub(crate) const SIZES: [usize; 13] = {
    let mut sizes = [8; 13];
    let mut at = 1;
    while at < sizes.len() {
        sizes[at] = sizes[at - 1] * 4;
        at += 1;
    }
    // 8 * 4^11 is 32 MiB.
    sizes[12] = 64 << 20;
    sizes
};
/// Calls of a thread that are under way at a time.
pub(crate) const WINDOWS: [usize; 3] = [1, 4, 16];
/// Threads of each process.
pub(crate) const THREADS: [usize; 2] = [1, 2];
/// Types of arguments; the last are no calls.
pub(crate) const KINDS: [&str; 4] = ["RmaVec", "Vec", "SharedSlice", "put"];

/// Kinds of calls.
const CALLS: usize = KINDS.len() - 1;
/// Bytes of a round in each direction, and the most calls.
const BYTES: usize = 32 << 20;
const MOST_CALLS: usize = 2000;
/// Bytes that are under way at a time, at most: larger windows are smaller.
const UNDER_WAY: usize = 128 << 20;

/// The curves of a number of threads and a window: GB/s, by kind and size.
pub(crate) struct Panel {
    pub(crate) threads: usize,
    pub(crate) window: usize,
    pub(crate) curves: [[f64; SIZES.len()]; KINDS.len()],
}

/// Measures all curves; prints them, and draws them if there is a folder for that.
pub(crate) fn table(calls: &Calls, rounds: usize, folder: Option<&str>) -> Result<(), Failure> {
    let other = calls.to(1)?;
    puts::prepare(other, SIZES[SIZES.len() - 1])?;
    let put = SIZES.map(|size| {
        let rates = (0..=2 * rounds).map(|_| put_rate(calls, size));
        rates.collect::<Result<Vec<_>, _>>().map(median)
    });
    let mut panels = Vec::new();
    for threads in THREADS {
        for window in WINDOWS {
            other.run(actions::threads, (threads as u64,)).wait()?;
            let mut curves = [[0.0; SIZES.len()]; KINDS.len()];
            for (at, size) in SIZES.into_iter().enumerate() {
                let mut rates = [const { Vec::new() }; CALLS];
                // One round more, the first, which does not count.
                for round in 0..=rounds {
                    for (kind, rates) in rates.iter_mut().enumerate() {
                        let rate = measure(calls, kind, size, window, threads)?;
                        if round > 0 {
                            rates.push(rate);
                        }
                    }
                }
                for (curve, rates) in curves.iter_mut().zip(rates) {
                    curve[at] = median(rates);
                }
                curves[CALLS][at] = *put[at].as_ref().map_err(ToString::to_string)?;
            }
            let panel = Panel {
                threads,
                window,
                curves,
            };
            print(&panel);
            panels.push(panel);
        }
    }
    match folder {
        Some(folder) => figure::draw(&panels, &Path::new(folder).join("calls-bandwidth.svg")),
        None => Ok(()),
    }
}

fn print(panel: &Panel) {
    let Panel {
        threads,
        window,
        curves,
    } = panel;
    println!("\nGB/s in both directions, window {window}, threads {threads}:\n");
    println!(
        "| B | {} |\n|---|{}",
        KINDS.join(" | "),
        "---|".repeat(KINDS.len())
    );
    for (at, size) in SIZES.iter().enumerate() {
        let rates = curves.map(|rates| format!("{:.3}", rates[at]));
        println!("| {size} | {} |", rates.join(" | "));
    }
}

/// Returns the GB/s of both directions together, by puts of one thread of each process.
fn put_rate(calls: &Calls, size: usize) -> Result<f64, Failure> {
    let count = (4 * BYTES / size).min(1 << 16) as u64;
    let start = Instant::now();
    let there = calls.to(1)?.run(puts::put_back, (size as u64, count));
    calls.poll();
    puts::put(size, count)?;
    there.wait()??;
    let bytes = 2 * size as u64 * count;
    Ok(bytes as f64 / start.elapsed().as_nanos() as f64)
}

/// Returns the GB/s of both directions together, by calls.
fn measure(
    calls: &Calls,
    kind: usize,
    size: usize,
    window: usize,
    threads: usize,
) -> Result<f64, Failure> {
    let window = window.min(UNDER_WAY / size);
    let count = (BYTES / size).clamp(window * threads, MOST_CALLS) / threads;
    let other = calls.to(1)?;
    let rma = calls.rma_vec(&vec![1_u8; size])?;
    let shared = SharedSlice::from(vec![1_u8; size]);
    let one = || -> Result<(), Failure> {
        match kind {
            0 => slide(window, count, |_| {
                other.run(actions::echo_rma, (rma.clone(),))
            }),
            1 => slide(window, count, |last: Option<Vec<u8>>| {
                let bytes = last.unwrap_or_else(|| vec![1; size]);
                other.run(actions::echo_vec, (bytes,))
            }),
            _ => slide(window, count, |_| {
                other.run(actions::echo_shared, (shared.clone(),))
            }),
        }
    };
    let start = Instant::now();
    if threads == 1 {
        one()?;
    } else {
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
            let ended = |one: std::thread::ScopedJoinHandle<'_, _>| {
                one.join()
                    .unwrap_or_else(|_| Err("a thread has panicked".into()))
            };
            all.into_iter().try_for_each(ended)
        })?;
    }
    let bytes = 2 * size * count * threads;
    Ok(bytes as f64 / start.elapsed().as_nanos() as f64)
}

/// Makes `count` calls, of which `window` are under way at a time.
fn slide<R: Load + Send + 'static>(
    window: usize,
    count: usize,
    mut next: impl FnMut(Option<R>) -> Call<R>,
) -> Result<(), Failure> {
    let mut under_way = VecDeque::with_capacity(window);
    for _ in 0..count {
        let last = if under_way.len() == window {
            under_way.pop_front().map(Call::wait).transpose()?
        } else {
            None
        };
        under_way.push_back(next(last));
    }
    for call in under_way {
        call.wait()?;
    }
    Ok(())
}
