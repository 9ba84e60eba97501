//! The words for operations that go wrong, each of which ends the job: a refused transfer, an argument,
//! a call at the wrong time, a wait for ever.

use crate::ctx::{self, Context, registry};
use crate::job::message::fatal;
use crate::job::{self, Phase};
use crate::routine::Routine;
use fi_provider::symmetric::Error;
use std::ffi::c_int;
use std::fmt::{Arguments, Display};
use std::thread;
use std::time::Duration;

/// Time for which news of a device that fails is held back: a peer that dies takes its queues with
/// it, and the launcher, which knows why it died, ends the job in this time.
const PATIENCE: Duration = Duration::from_millis(500);

/// Reports a refused transfer on the default context, as [`transfer_on`] does.
#[cold]
#[inline(never)]
pub(crate) fn transfer(
    at: Routine,
    error: Error,
    what: &str,
    addr: usize,
    bytes: usize,
    pe: c_int,
) -> ! {
    transfer_on(ctx::default_ctx(), at, error, what, (addr, bytes), pe)
}

/// Reports a refused transfer: `what` names the argument with the symmetric address and so many
/// bytes, `pe` is a PE as `ctx` counts them.
#[cold]
#[inline(never)]
pub(crate) fn transfer_on(
    ctx: &Context,
    at: Routine,
    error: Error,
    what: &str,
    (addr, bytes): (usize, usize),
    pe: c_int,
) -> ! {
    let_others_go_first(error);
    let pe_of = PeOf(ctx, pe);
    if is_of_device(error) {
        let peer = u32::try_from(pe).ok();
        let of_other = ctx
            .endpoint
            .culprit(peer)
            .filter(|&(found, _)| Some(found) != peer);
        if let Some((other, failure)) = of_other {
            // The operation that failed is an earlier one, to another PE.
            earlier(ctx, at, other, failure);
        }
    }
    match error {
        Error::NotEnabled if job::phase() == Phase::Running => unusable(ctx, at),
        Error::NotEnabled => call(at, error),
        Error::NoSuchPeer => pe_out_of_range(ctx, at, pe),
        Error::TooLong => fatal(format_args!(
            "{at}: the length for {pe_of} is over PTRDIFF_MAX bytes ({what} {addr:#x})"
        )),
        Error::NotInWindow => fatal(format_args!(
            "{at}: {what} {addr:#x} for {pe_of} is not symmetric: {}",
            Whereabouts
        )),
        Error::PastWindow => fatal(format_args!(
            "{at}: {bytes} bytes at {what} {addr:#x} for {pe_of} run over the end of symmetric memory: {}",
            Whereabouts
        )),
        Error::Unsupported => fatal(format_args!(
            "{at}: the device has no atomic operation of {bytes} bytes for {what} {addr:#x} on {pe_of}: it lacks masked atomics of that size"
        )),
        Error::Misaligned => fatal(format_args!(
            "{at}: {what} {addr:#x} for {pe_of} is not aligned to {bytes} bytes"
        )),
        Error::PeerUnreachable => fatal(format_args!(
            "{at}: {pe_of} does not answer: has it ended? ({what} {addr:#x})"
        )),
        other => fatal(format_args!("{at}: {what} {addr:#x}, {pe_of}: {other}")),
    }
}

/// Reports that an earlier operation to a PE, as `ctx` counts them, has failed.
fn earlier(ctx: &Context, at: Routine, pe: u32, failure: impl Into<Error> + Display + Copy) -> ! {
    let pe_of = PeOf(ctx, pe as c_int);
    match failure.into() {
        Error::PeerUnreachable => fatal(format_args!(
            "{at}: {pe_of} does not answer an earlier operation: has it ended?"
        )),
        _ => fatal(format_args!(
            "{at}: an earlier operation to {pe_of} failed: {failure}"
        )),
    }
}

/// Returns the routine's name for the object that it works on: `name`, or `sig_addr` for a signal.
pub(crate) fn object_name(at: Routine, name: &'static str) -> &'static str {
    if at.contains("signal") {
        "sig_addr"
    } else {
        name
    }
}

/// A PE as a context counts them, for messages.
struct PeOf<'a>(&'a Context, c_int);

impl Display for PeOf<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(ctx, pe) = *self;
        match registry::world_pe(ctx, pe) {
            Some(of_world) => write!(f, "PE {pe} of the context's team, PE {of_world} of all,"),
            None => write!(f, "PE {pe}"),
        }
    }
}

/// Leaves the launcher the first word about the end of a peer.
fn let_others_go_first(error: Error) {
    if is_of_device(error) {
        thread::sleep(PATIENCE);
    }
}

/// Returns whether the device has told of a failure.
fn is_of_device(error: Error) -> bool {
    matches!(error, Error::PeerUnreachable | Error::Device)
}

/// The places of symmetric memory, for messages.
pub(crate) struct Whereabouts;

impl Display for Whereabouts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some([statics, heap]) = job::symmetric_ranges() else {
            return f.write_str("the library is not initialised");
        };
        write!(
            f,
            "static data is at {:#x} to {:#x}, the heap at {:#x} to {:#x}",
            statics.start, statics.end, heap.start, heap.end
        )
    }
}

/// Reports that the routine cannot be called now.
#[cold]
#[inline(never)]
pub(crate) fn call(at: Routine, error: Error) -> ! {
    call_on(ctx::default_ctx(), at, error)
}

/// Reports that the routine cannot be called now, or not on this context, or an earlier operation
/// on it has failed.
#[cold]
#[inline(never)]
pub(crate) fn call_on(ctx: &Context, at: Routine, error: Error) -> ! {
    let_others_go_first(error);
    if is_of_device(error)
        && let Some((pe, failure)) = ctx.endpoint.culprit(None)
    {
        earlier(ctx, at, pe, failure);
    }
    match job::phase() {
        Phase::Before => fatal(format_args!("{at} was called before shmem_init")),
        Phase::After => fatal(format_args!("{at} was called after shmem_finalize")),
        Phase::Ended => fatal(format_args!(
            "{at} was called after the end of the program had finalized the library"
        )),
        Phase::Forked => fatal(format_args!(
            "{at} was called in a process that a PE forked, which is not a PE"
        )),
        Phase::Running => match error {
            Error::PeerUnreachable => fatal(format_args!(
                "{at}: a PE of another node does not answer: has it ended?"
            )),
            Error::Device => fatal(format_args!("{at}: {error}")),
            _ => fatal(format_args!("{at}: the context is none that can be used")),
        },
    }
}

/// Reports a context that has no PEs, while the library is initialised.
fn unusable(ctx: &Context, at: Routine) -> ! {
    if ctx::is_invalid(ctx) {
        fatal(format_args!(
            "{at}: ctx is SHMEM_CTX_INVALID, by which no PE can be reached (was a context created?)"
        ))
    }
    fatal(format_args!(
        "{at}: ctx is a context that was destroyed, or none"
    ))
}

/// Reports a PE number that the team of `ctx` does not have.
#[cold]
#[inline(never)]
pub(crate) fn pe_out_of_range(ctx: &Context, at: Routine, pe: c_int) -> ! {
    let (count, of_team) = if registry::is_of_world(ctx) {
        (job::size(), "")
    } else {
        let count = ctx.endpoint.peer_count();
        (count, ", the PEs of the context's team")
    };
    fatal(format_args!(
        "{at}: pe {pe} is out of range (0 to {}{of_team})",
        count - 1
    ))
}

/// Reports an argument that is none of those allowed.
#[cold]
#[inline(never)]
pub(crate) fn bad_argument(at: Routine, name: &str, value: Arguments<'_>, allowed: &str) -> ! {
    fatal(format_args!("{at}: {name} {value} is not {allowed}"))
}

/// Reports an own object that is not aligned to its `bytes` bytes, so that nobody can change it as
/// a whole.
#[cold]
#[inline(never)]
pub(crate) fn misaligned(at: Routine, name: &str, addr: usize, bytes: usize) -> ! {
    fatal(format_args!(
        "{at}: {name} {addr:#x} is not aligned to {bytes} bytes"
    ))
}

/// Reports a wait that can never end, because PE `gone` has finalised and all PEs that are left
/// wait too.
#[cold]
#[inline(never)]
pub(crate) fn nobody_left(at: Routine, gone: u32) -> ! {
    fatal(format_args!(
        "{at} waits for ever: PE {gone} has exited or called shmem_finalize, and no PE is left that could end the wait"
    ))
}
