//! Prints the files that are generated from the tables: `shmem-headers WHAT`.

use shmem_cabi::{check, header, registry};
use std::process::ExitCode;

fn main() -> ExitCode {
    let what = std::env::args().nth(1).unwrap_or_default();
    let text = match what.as_str() {
        "header" => header::print(),
        "direct" => header::print_direct(),
        "profiling" => header::print_profiling(),
        "extensions" => header::print_extensions(),
        "symbols" => registry::symbols().join("\n") + "\n",
        "check-c" => check::c(),
        "check-cxx" => check::cxx(),
        "check-bad" => check::bad(),
        other => {
            eprintln!("shmem-headers: nothing is called {other:?}");
            return ExitCode::FAILURE;
        }
    };
    print!("{text}");
    ExitCode::SUCCESS
}
