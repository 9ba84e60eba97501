//! `farreach`: tells of the fabric on this machine, and of the critical path of programs on it.
//!
//! `farreach info` tells of the networks between nodes, opens the device, makes lanes as jobs have
//! them, and tells of their resources;
//! `farreach icount` counts the instructions of a program's calls. `farreach measure`, `farreach
//! model` and `farreach whatif` tell where the time of a small message goes, and `farreach report`
//! draws it.

mod arguments;
mod icount;
mod info;
mod measure;
mod model;
mod network;
mod output;
mod report;

use arguments::Request;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// The exit status for a wrong command line.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let done = match arguments::parse(std::env::args_os().skip(1)) {
        Ok(Request::Print(text)) => Ok(text),
        Ok(Request::Info(options)) => info::tell(&options).map_err(|error| (1, error)),
        Ok(Request::Measure(request)) => measure::run(&request),
        Ok(Request::Model(request)) => model::run(&request),
        Ok(Request::Report(request)) => report::run(&request),
        Ok(Request::Icount(options)) => icount::tell(&options).map_err(|error| (1, error)),
        Err(message) => Err((USAGE, message)),
    };
    match done.and_then(|text| print(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err((status, message)) => {
            eprintln!("farreach: {message}");
            ExitCode::from(status)
        }
    }
}

/// Writes to stdout; a reader that is gone wants no more.
fn print(text: &str) -> Result<(), (u8, String)> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err((1, format!("cannot write the output: {error}")))
        }
        _ => Ok(()),
    }
}
