//! Calls of 8 MB beside one copy of as many bytes.

use crate::actions;
use crate::shared::{BYTES, shared};
use crate::{Failure, median};
use calls::{Calls, SharedSlice};
use std::time::Instant;

/// Prints the table of calls of 8 MB. Rank 0 writes all elements anew before each copy and call.
pub(crate) fn table(calls: &Calls, rounds: usize) -> Result<(), Failure> {
    let other = calls.to(1)?;
    let mut rma = calls.rma_vec(&vec![0.0; BYTES / 8])?;
    let mut times = [const { Vec::new() }; 5];
    let registered = calls.pool_registrations();
    // Two rounds more, the first, which do not count.
    for round in 0..rounds + 2 {
        let value = round as f64;
        let [mut warm, mut new] = [0.0; 2];
        shared().write(value);
        warm += other.run(actions::copy_warm, ()).wait()? as f64;
        while rma.get_mut().is_none() {
            calls.poll();
        }
        rma.get_mut().unwrap_or_default().fill(value);
        let by_rma = time(|| {
            let found = other.run(actions::take_rma, (rma.clone(),)).wait()?;
            check(found, value)
        })?;
        shared().write(value);
        new += other.run(actions::copy_new, ()).wait()? as f64;
        let values = vec![value; BYTES / 8];
        let by_vec = time(|| {
            let found = other.run(actions::take_vec, (values,)).wait()?;
            check(found, value)
        })?;
        let values = SharedSlice::from(vec![value; BYTES / 8]);
        let by_shared = time(|| {
            let found = other.run(actions::take_vec, (values.clone(),)).wait()?;
            check(found, value)
        })?;
        if round >= 2 {
            let all = [warm, by_rma, new, by_vec, by_shared];
            times
                .iter_mut()
                .zip(all)
                .for_each(|(times, time)| times.push(time / 1e3));
        }
    }
    let ratio = |times: &[f64], to: &[f64]| {
        median(times.iter().zip(to).map(|(time, to)| time / to).collect())
    };
    let [warm, by_rma, new, by_vec, by_shared] = &times;
    let rows = [
        ("memcpy to memory that was used before", warm, None),
        ("call with an RmaVec", by_rma, Some(warm)),
        ("memcpy to a new vector", new, None),
        ("call with a Vec", by_vec, Some(new)),
        ("call with a SharedSlice for a Vec", by_shared, Some(new)),
    ];
    println!("| 8 MB | us | to the copy |\n|---|---|---|");
    for (name, times, to) in rows {
        let to = to.map_or(String::new(), |to| format!("{:.2}", ratio(times, to)));
        println!("| {name} | {:.0} | {to} |", median(times.clone()));
    }
    let registered = calls.pool_registrations() - registered;
    println!("\nRegistrations of the pool meanwhile: {registered}.\n");
    Ok(())
}

fn check(found: f64, value: f64) -> Result<(), Failure> {
    match found {
        found if found.to_bits() == value.to_bits() => Ok(()),
        found => Err(format!("{found} came in the place of {value}").into()),
    }
}

fn time(body: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let start = Instant::now();
    body()?;
    Ok(start.elapsed().as_nanos() as f64)
}
