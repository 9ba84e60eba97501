//! oshrun: starts the PEs of a job on this machine, serves PMI-1 to them, and ends what they leave behind.
//!
//! Two processes: the one that the user started watches over the one that runs the job, so that a kill -9 of either
//! still ends everything that descends from the job. `guard` is the first, `run` the second. `device` adds softhca to
//! them when the job is to have a device in software.

mod arguments;
mod binding;
mod compile;
mod connection;
mod device;
mod guard;
mod interpreter;
mod output;
mod pes;
mod processes;
mod program;
mod report;
mod run;
mod sys;

use arguments::Request;

/// Exit status for a wrong command line.
const USAGE: i32 = 2;
/// Exit status when the time limit has passed, as timeout(1) has it.
const TIMED_OUT: i32 = 124;
/// Exit status for a program that cannot be executed, as shells have it.
const NOT_EXECUTABLE: i32 = 126;
/// Exit status for a program that is not there, as shells have it.
const NOT_FOUND: i32 = 127;

/// A failure that ends oshrun with one line and a status.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Failure {
    message: String,
    status: i32,
}

impl Failure {
    fn new(status: i32, message: impl Into<String>) -> Self {
        Failure {
            message: message.into(),
            status,
        }
    }

    /// A failure that needs no words.
    fn silent(status: i32) -> Self {
        Failure::new(status, "")
    }
}

/// Runs oshrun with this process's arguments; yields its exit status.
pub fn main() -> i32 {
    let request = match arguments::parse(std::env::args_os().skip(1)) {
        Ok(Request::Run(options)) => options,
        Ok(Request::Print(text)) => {
            use std::io::Write;
            return i32::from(std::io::stdout().write_all(text.as_bytes()).is_err());
        }
        Err(failure) => return report::failure(&failure),
    };
    match guard::watch_over(&request, |device, signals| {
        run::run(&request, device, signals)
    }) {
        Ok(status) => status,
        Err(failure) => report::failure(&failure),
    }
}
