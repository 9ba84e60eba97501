//! The entry functions of softhca and of remote calls for AFL++, and for single inputs.
//!
//! `fuzz TARGET` under afl-fuzz runs the inputs that it is given; `fuzz TARGET FILE...` runs the
//! files.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let name = arguments.next().unwrap_or_default();
    let targets = [&softhca::fuzz::TARGETS[..], &calls::fuzz::TARGETS].concat();
    let Some(&(_, _, run)) = targets.iter().find(|(known, ..)| name == *known) else {
        let names: Vec<_> = targets.iter().map(|(name, ..)| *name).collect();
        let names = names.join(" | ");
        eprintln!("usage: fuzz {names} [FILE...]");
        return ExitCode::from(2);
    };
    let files: Vec<_> = arguments.collect();
    for file in &files {
        match std::fs::read(file) {
            Ok(bytes) => run(&bytes),
            Err(error) => {
                eprintln!("fuzz: {}: {error}", file.display());
                return ExitCode::FAILURE;
            }
        }
    }
    if files.is_empty() {
        afl::fuzz(true, run);
    }
    ExitCode::SUCCESS
}
