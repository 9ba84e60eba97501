//! Times remote calls between two processes of a node, each beside the same work without a
//! library, in the same run:
//!
//! * `short`: an echo of an empty call, beside two flags that the processes set for each other, and the
//!   rate of calls of 64 B without a reply;
//! * `large`: calls of 8 MB, beside one copy of as many bytes that the other process has written;
//! * `curves`: bandwidth in both directions over size, window and threads, beside puts of the fabric:
//!   figure 5 of Biddiscombe et al. (2017).
//!
//! `oshrun -n 2 calls WHAT [ROUNDS [FIGURES]]`; `FIGURES` is a folder for `calls-bandwidth.svg`. Each
//! process is bound to a processor of its own; medians of the rounds count.

mod actions;
mod curves;
mod figure;
mod large;
mod puts;
mod shared;
mod short;

use calls::Calls;
use std::sync::atomic::Ordering;
use std::time::Duration;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "short".to_owned());
    let rounds = match arguments.next() {
        Some(text) => text.parse()?,
        None => 15,
    };
    let calls = Calls::open()?;
    if calls.ranks() != 2 {
        return Err("there are two processes: oshrun -n 2".into());
    }
    shared::bind(calls.rank() as usize)?;
    if calls.rank() == 1 {
        serve(&calls);
        return Ok(calls.close()?);
    }
    let other = calls.to(1)?;
    if !other.run(actions::map, shared::create()?).wait()? {
        return Err("the other process cannot map the memory".into());
    }
    match what.as_str() {
        "short" => short::table(&calls, rounds)?,
        "large" => large::table(&calls, rounds)?,
        "curves" => curves::table(&calls, rounds, arguments.next().as_deref())?,
        other => return Err(format!("no such table: {other}").into()),
    }
    other.run(actions::end, ()).wait()?;
    Ok(calls.close()?)
}

/// Runs actions until all is over, by as many threads as rank 0 wants.
fn serve(calls: &Calls) {
    let is_over = || actions::IS_OVER.load(Ordering::Acquire);
    let threads = || actions::THREADS.load(Ordering::Acquire);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over() {
                if threads() < 2 {
                    std::thread::sleep(Duration::from_millis(1));
                } else {
                    calls.poll();
                    std::thread::yield_now();
                }
            }
        });
        while !is_over() {
            calls.poll();
            if threads() > 1 {
                std::thread::yield_now();
            }
        }
    });
}

/// Returns the median.
fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}
