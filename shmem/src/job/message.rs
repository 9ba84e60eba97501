//! Lines for the user, and the orderly end of the job behind the last of them.
//!
//! One line each, on standard error: `farreach: PE 1: shmem_int_p: pe 7 is out of range (0 to 3)`.
//! The words about operations are those of [`crate::report`].

use super::exit;
use crate::job;
use std::fmt::{self, Arguments, Write as _};
use std::io::Write as _;

/// Writes one line; in one system call, so that the lines of PEs do not mix.
pub(crate) fn say(line: Arguments<'_>) {
    let text = match job::known_pe() {
        Some(pe) => format!("farreach: PE {pe}: {line}\n"),
        None => format!("farreach: {line}\n"),
    };
    // Nobody is left to tell when standard error is closed.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// A line that is put together on the stack, which is short where signal handlers run. Text that
/// does not fit is cut.
struct Line {
    bytes: [u8; Line::LENGTH],
    length: usize,
}

impl Line {
    const LENGTH: usize = 512;
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // One byte is for the end of the line.
        let room = Self::LENGTH - 1 - self.length;
        let taken = text.len().min(room);
        self.bytes[self.length..][..taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.length += taken;
        Ok(())
    }
}

/// Prints a line as [`say`] does, in a signal handler: without a lock and without memory of the
/// heap.
pub(crate) fn say_in_handler(line: Arguments<'_>) {
    let mut text = Line {
        bytes: [0; Line::LENGTH],
        length: 0,
    };
    // A line takes any text.
    let _ = match job::job() {
        Some(job) => write!(text, "farreach: PE {}: {line}", job.node.pe()),
        None => write!(text, "farreach: {line}"),
    };
    text.bytes[text.length] = b'\n';
    exit::write_to_stderr(&text.bytes[..=text.length]);
}

/// Writes one line and ends the job.
#[cold]
#[inline(never)]
pub(crate) fn fatal(line: Arguments<'_>) -> ! {
    say(line);
    exit::end_job(exit::FAILURE)
}
