//! Eight processes in an all-to-all against a model, killed and stopped at random (`soak/referee.c` says how).
//!
//! `FARREACH_SOAK=SECONDS[,SEED]` makes it longer; the seed is printed.

use crate::support::text;
use crate::under::{Run, compile};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Seconds of one run in the tests: two rounds or three.
const SHORT: u64 = 6;

/// The seed that every test run uses, beside one that differs.
const FIXED: u64 = 20;

#[test]
fn nothing_acknowledged_is_lost_and_nobody_hangs() {
    let asked = std::env::var("FARREACH_SOAK").unwrap_or_default();
    let mut words = asked.split(',').map(str::parse::<u64>);
    let random = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_micros() as u64 & 0xffff_ffff);
    let (seconds, seeds) = match (words.next(), words.next()) {
        (Some(Ok(seconds)), Some(Ok(seed))) => (seconds, vec![seed]),
        (Some(Ok(seconds)), _) => (seconds, vec![random]),
        _ => (SHORT, vec![FIXED, random]),
    };
    let program = compile("soak", &["soak/referee.c", "soak/worker.c"]);
    for seed in seeds {
        let run = Run::new("soak", Duration::from_secs(seconds + 60));
        let output = run.of(&program, &[&seed.to_string(), &seconds.to_string()]);
        let told = format!("seed {seed}, {seconds} s: {}", text(&output));
        assert!(output.status.success(), "{told}");
        println!("{told}");
    }
}
