//! Text of the tools themselves on standard output: help, versions, options.

use std::io::{ErrorKind, Write};

/// Writes the text of a tool; yields the tool's exit status. A reader that went away is no failure.
pub(crate) fn print(tool: &str, text: &str) -> i32 {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("{tool}: cannot write the output: {error}");
            1
        }
        _ => 0,
    }
}
