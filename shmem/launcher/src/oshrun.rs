//! oshrun: starts the PEs of a job, serves PMI-1 to them, and ends the processes that they leave.
//!
//! Two processes: the one that the user started watches over the one that runs the job, so that a
//! kill -9 of either still ends everything that descends from the job. `guard` is the first, `run`
//! the second. `device` adds softhca to them when the job is to have a device in software.
//!
//! On several hosts the PEs are started by agents, which are oshrun in another mode: `agent` is
//! their side, `hosts` oshrun's. The PEs of one machine or host are a `crew`, the job of all is
//! `job`.

mod agent;
mod arguments;
mod binding;
mod compile;
mod connection;
mod crew;
mod device;
mod environment;
mod guard;
mod hosts;
mod interpreter;
mod job;
mod output;
mod pes;
mod processes;
mod program;
mod report;
mod run;
pub mod scale;
mod sys;

use arguments::{Options, Request};

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

    /// Makes a failure that needs no words.
    fn silent(status: i32) -> Self {
        Failure::new(status, "")
    }
}

/// Runs oshrun with this process's arguments; yields its exit status.
pub fn main() -> i32 {
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments.next_if(|first| first == hosts::MODE).is_some() {
        return agent::main(arguments);
    }
    let request = match arguments::parse(arguments) {
        Ok(Request::Run(options)) => options,
        Ok(Request::Print(text)) => {
            return crate::stdout::print("oshrun", &text);
        }
        Err(failure) => return report::failure(&failure),
    };
    launch(*request).unwrap_or_else(|failure| report::failure(&failure))
}

/// Runs a job, where it belongs.
fn launch(mut options: Options) -> Result<i32, Failure> {
    let list = hosts::List::find(&options)?;
    if let Some(list) = &list
        && !options.counted
    {
        options.pes = list.slots();
    }
    match list {
        Some(list) if !list.is_this_machine(&options) => {
            hosts::check(&options)?;
            guard::watch_over(
                |_| Ok(None),
                |_, signals| hosts::run(&options, &list, signals),
            )
        }
        _ => guard::watch_over(
            |signals| device::provide(&options, signals),
            |device, signals| run::run(&options, device, signals),
        ),
    }
}
