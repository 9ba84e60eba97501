//! An agent: oshrun on another host, which runs the PEs there as oshrun does on one machine, and speaks to the oshrun
//! that has started it.
//!
//! It is two processes, as oshrun is: each ends the PEs when the other is gone. When oshrun is gone, or has been silent
//! for too long, it ends them too.

mod connect;
mod work;

use std::ffi::OsString;

use super::hosts::Call;
use super::sys::Signals;
use super::{Failure, guard, report, sys};

/// Runs an agent with the arguments behind its mode; yields its exit status.
pub(super) fn main(arguments: impl Iterator<Item = OsString>) -> i32 {
    let call = match Call::parse(arguments) {
        Ok(call) => call,
        Err(failure) => return report::failure(&failure),
    };
    match guard::watch_over(|_| Ok(None), |_, signals| run(&call, signals)) {
        Ok(status) => status,
        Err(failure) => report::failure(&failure),
    }
}

fn run(call: &Call, signals: &Signals) -> Result<i32, Failure> {
    let guard = sys::parent();
    let secret = connect::read_secret(signals)?;
    let link = connect::connect(call, &secret, signals)?;
    Ok(work::Agent::new(link, signals, guard).run())
}
