//! The words for mistakes, and their codes.

use super::{
    BAD_ARG, BARRIER_MISMATCH, NOT_INIT, NOT_READY, OK, RESOURCE, exit, rank, ranks, state,
};
use gasnet_conduit::Error;
use std::ffi::{CStr, c_char, c_int};
use std::fmt::Arguments;
use std::io::Write as _;
use std::sync::atomic::Ordering;

/// Names of the functions of active messages, in the order of the header's numbers.
const MESSAGES: [&str; 7] = [
    "gasnet_AMRequestShort",
    "gasnet_AMRequestMedium",
    "gasnet_AMRequestLong",
    "gasnet_AMRequestLongAsync",
    "gasnet_AMReplyShort",
    "gasnet_AMReplyMedium",
    "gasnet_AMReplyLong",
];

/// Says why a call of a routine is wrong: one line on standard error.
pub(super) fn say(routine: &str, what: Arguments<'_>) {
    let line = if ranks() == 0 {
        format!("gasnet: {routine}: {what}\n")
    } else {
        format!("gasnet: rank {}: {routine}: {what}\n", rank())
    };
    // Nobody is left to tell when standard error is closed.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Says why a call is wrong, and ends the job with status 1.
#[cold]
pub(super) fn end_job(routine: &str, what: Arguments<'_>) -> ! {
    say(routine, what);
    exit::end_at_once(1)
}

/// Ends a program that calls too early.
#[cold]
pub(super) fn before_init() -> ! {
    end_job("gasnet", format_args!("gasnet_init has not been called"))
}

/// Ends the job for an access to memory that failed.
#[cold]
pub(super) fn access(routine: &str, node: u32, address: u64, bytes: usize, error: &Error) -> ! {
    if state().reach.load(Ordering::Relaxed) == 0 {
        end_job(routine, format_args!("gasnet_attach has not been called"));
    }
    if node >= ranks() {
        end_job(
            routine,
            format_args!("node {node} is not one of the {} of the job", ranks()),
        );
    }
    end_job(
        routine,
        format_args!("node {node}, {bytes} bytes at {address:#x}: {error}"),
    )
}

/// Returns the code for an error of the engine's, by its number.
pub(super) fn code(number: c_int) -> c_int {
    match number {
        0 => OK,
        -1 | -2 | -5 => BAD_ARG,
        _ => RESOURCE,
    }
}

/// Returns the words for a result of the engine's.
fn words(number: c_int) -> &'static str {
    match number {
        -1 => "an argument is out of its range",
        -2 => "the bytes do not lie in the segment",
        -3 => "no memory, or no room in a table",
        -4 => "the process has ended, or cannot be reached",
        -5 => "not allowed here: a request in a handler, a reply to a reply, or a second one",
        _ => "the operation has failed",
    }
}

/// Returns the code for a poll that failed.
pub(super) fn of_poll(result: c_int) -> c_int {
    say("gasnet_AMPoll", format_args!("{}", words(result)));
    code(result)
}

#[unsafe(no_mangle)]
extern "C" fn farreach_gasnet_failed(
    function: c_int,
    result: c_int,
    node: u32,
    handler: u32,
    bytes: u64,
    to: u64,
) -> c_int {
    let name = usize::try_from(function)
        .ok()
        .and_then(|at| MESSAGES.get(at));
    let name = name.copied().unwrap_or("gasnet");
    let most = state().most_medium.load(Ordering::Relaxed);
    if node >= ranks() {
        say(
            name,
            format_args!("node {node} is not one of the {} of the job", ranks()),
        );
    } else if name.ends_with("Medium") && bytes > u64::from(most) {
        say(
            name,
            format_args!("{bytes} bytes, and gasnet_AMMaxMedium() is {most}"),
        );
    } else if to != 0 {
        say(
            name,
            format_args!(
                "node {node}, handler {handler}, {bytes} bytes to {to:#x}: {}",
                words(result)
            ),
        );
    } else {
        say(
            name,
            format_args!("node {node}, handler {handler}: {}", words(result)),
        );
    }
    code(result)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_gasnet_lock_failed(routine: *const c_char, is_held: c_int) -> ! {
    // SAFETY: the header passes a string.
    let routine = unsafe { CStr::from_ptr(routine) }.to_string_lossy();
    let what = if is_held != 0 {
        "the lock is held already"
    } else {
        "the lock is not held"
    };
    end_job(&routine, format_args!("{what}"))
}

/// Returns the name of a result, or its description.
#[unsafe(no_mangle)]
extern "C" fn farreach_gasnet_error(code: c_int, is_name: c_int) -> *const c_char {
    let (name, words) = match code {
        OK => (c"GASNET_OK", c"no error"),
        NOT_INIT => (
            c"GASNET_ERR_NOT_INIT",
            c"GASNet is not initialised, or is so already",
        ),
        BAD_ARG => (c"GASNET_ERR_BAD_ARG", c"an argument is not allowed"),
        RESOURCE => (
            c"GASNET_ERR_RESOURCE",
            c"memory, a device or a peer is missing",
        ),
        BARRIER_MISMATCH => (
            c"GASNET_ERR_BARRIER_MISMATCH",
            c"the processes have named different barriers",
        ),
        NOT_READY => (c"GASNET_ERR_NOT_READY", c"the operation is not complete"),
        _ => (c"unknown", c"not a result of GASNet's"),
    };
    if is_name != 0 { name } else { words }.as_ptr()
}
