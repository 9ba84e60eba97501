//! Calls of few bytes: an echo beside bare flags, and the rate of calls without a reply.

use crate::actions;
use crate::shared::shared;
use crate::{Failure, median};
use calls::{Calls, Peer};
use std::time::Instant;

/// Turns of flags, and echoes, in a round.
const TURNS: u64 = 500;
/// Calls without a reply in a round.
const TELLS: u64 = 20_000;

/// Prints the table of calls of few bytes.
pub(crate) fn table(calls: &Calls, rounds: usize) -> Result<(), Failure> {
    let other = calls.to(1)?;
    let [mut flags, mut echoes, mut tells] = [const { Vec::new() }; 3];
    let mut ratios = Vec::new();
    for _ in 0..rounds {
        flags.push(pingpong(calls, other)?);
        echoes.push(echo(other)?);
        ratios.push(echoes[echoes.len() - 1] / flags[flags.len() - 1]);
        tells.push(tell(calls, other)?);
    }
    let told = other.run(actions::sum, ()).wait()?;
    assert_eq!(told, rounds as u64 * TELLS, "calls are lost");
    let (flags, echo, tell) = (median(flags), median(echoes), median(tells));
    println!("| there and back | ns | to two flags |\n|---|---|---|");
    println!("| two flags | {flags:.0} | |");
    println!(
        "| echo of an empty call | {echo:.0} | {:.2} |",
        median(ratios)
    );
    println!("\n| calls without a reply | ns | millions a second |\n|---|---|---|");
    println!("| of 64 B | {tell:.1} | {:.1} |\n", 1e3 / tell);
    Ok(())
}

/// Returns the time in ns of two flags there and back.
fn pingpong(calls: &Calls, other: Peer<'_>) -> Result<f64, Failure> {
    let call = other.run(actions::flags, (TURNS + 1,));
    calls.poll();
    shared().flags(0, 1);
    let start = Instant::now();
    shared().flags(0, TURNS);
    let time = start.elapsed();
    call.wait()?;
    Ok(time.as_nanos() as f64 / TURNS as f64)
}

fn echo(other: Peer<'_>) -> Result<f64, Failure> {
    let start = Instant::now();
    for _ in 0..TURNS {
        other.run(actions::nothing, ()).wait()?;
    }
    Ok(start.elapsed().as_nanos() as f64 / TURNS as f64)
}

fn tell(calls: &Calls, other: Peer<'_>) -> Result<f64, Failure> {
    let start = Instant::now();
    for turn in 0..TELLS {
        other.tell(actions::add, ([turn, 0, 0, 0, 0, 0, 0, 1],));
    }
    calls.wait_all()?;
    Ok(start.elapsed().as_nanos() as f64 / TELLS as f64)
}
