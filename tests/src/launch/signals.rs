//! Signals to oshrun, and readers that go away.

use super::job::{Job, Jobs};
use crate::place::Place;
use crate::sys::{self, Ended};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Checks that SIGINT and SIGTERM end the job, wherever its PEs are; oshrun's exit status tells
/// which it was.
pub(crate) fn end_the_job(place: &Place, args: &[String]) -> Result<(), String> {
    let jobs = Jobs::new(place, args)?;
    let places = [
        "barrier", "barriers", "compute", "wait", "sleep", "finalize",
    ];
    for (where_pes_are, signal) in places
        .into_iter()
        .flat_map(|at| [(at, libc::SIGINT), (at, libc::SIGTERM)])
    {
        let job = jobs.start(&["stay", where_pes_are])?;
        job.wait_until_ready()?;
        // Most PEs are where they shall be by now; a barrier that all have reached is over at once.
        std::thread::sleep(Duration::from_millis(10));
        end(job, signal)
            .map_err(|error| format!("PEs in {where_pes_are}, signal {signal}: {error}"))?;
        jobs.check_files()?;
    }
    for signal in [libc::SIGINT, libc::SIGTERM] {
        for millis in 0..20 {
            let job = jobs.start(&["everywhere"])?;
            std::thread::sleep(Duration::from_millis(millis * 2));
            sys::kill(job.launcher(), signal);
            job.wait_until_over()
                .map_err(|error| format!("signal {signal} after {} ms: {error}", millis * 2))?;
            jobs.check_files()?;
        }
    }
    jobs.finish()
}

/// Checks that a PE that is stopped cannot hold up the end.
pub(crate) fn stopped_pe(place: &Place, args: &[String]) -> Result<(), String> {
    let jobs = Jobs::new(place, args)?;
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let job = jobs.start(&["everywhere"])?;
        job.wait_until_ready()?;
        for pe in job.pes().iter().take(2) {
            sys::kill(pe.pid, libc::SIGSTOP);
        }
        end(job, signal)?;
    }
    jobs.finish()
}

fn end(job: Job<'_>, signal: i32) -> Result<(), String> {
    sys::kill(job.launcher(), signal);
    let over = job.wait_until_over()?;
    // A shell takes a death by the signal itself for the same.
    if over.ended == Ended::Exit(128 + signal) || over.ended == Ended::Signal(signal) {
        Ok(())
    } else {
        Err(format!("{:?}\n{}", over.ended, over.stderr))
    }
}

/// Checks that `oshrun … | head -n 1` ends, labelled or not.
pub(crate) fn reader_goes_away(place: &Place, args: &[String]) -> Result<(), String> {
    let jobs = Jobs::new(place, args)?;
    for options in ["", "-l"] {
        let script = r#""$1" $3 -n 4 "$2" flood | head -n 1"#;
        let status = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(place.staged("bin/oshrun"))
            .args([&args[0], options])
            .stdin(Stdio::null())
            .status()
            .map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!("the pipe ended with {status}"));
        }
    }
    jobs.finish()
}
