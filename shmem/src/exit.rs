//! How a job is ended early: shmem_global_exit, and the signal by which launchers end it.

#![expect(unsafe_code, reason = "signals, and the flushing of C's streams")]

use crate::job;
use crate::node::Node;
use crate::places::Rank;
use std::ffi::c_int;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// How long the PEs of the node have to flush their output when a job is ended where the launcher
/// gives them no time.
const GRACE: Duration = Duration::from_millis(250);

/// How often to look whether they have.
const STEP: Duration = Duration::from_millis(1);

/// Ends the program on all PEs with `status`, whatever they do (OpenSHMEM 1.6, section 9.1.6).
///
/// The own C streams are flushed, the others' as well as a signal handler can.
///
/// The system passes on the low eight bits: a status other than 0 that has none of them becomes 1, for
/// it tells of a failure.
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn global_exit(status: c_int) -> ! {
    end_job(status)
}

/// Ends the program on all PEs with `status`, for a call of this process.
pub(crate) fn end_job(status: c_int) -> ! {
    let status = match status & 0xff {
        0 if status != 0 => crate::report::FAILURE,
        _ => status,
    };
    flush_streams();
    let mut all_gone = false;
    // A child of a PE ends itself only.
    if let Some(node) = job::node().filter(|_| job::is_this_process_the_pe()) {
        node.request_exit(status);
        if !job::launched_by_oshrun() {
            // Other launchers kill the PEs at once when one of them asks for the end, and then report that. PEs of
            // other nodes can be reached by the launcher alone.
            all_gone = end_others(&node) && node.places.is_one_node();
        }
    }
    if all_gone {
        job::leave_launcher();
    } else {
        job::tell_launcher_to_abort(status);
    }
    // SAFETY: _exit has no preconditions.
    unsafe { libc::_exit(status) }
}

/// Ends this process with `status` as every other PE ends itself, so that the launcher has nobody to end.
pub(crate) fn leave(status: c_int) -> ! {
    flush_streams();
    job::leave_launcher();
    // SAFETY: _exit has no preconditions.
    unsafe { libc::_exit(status) }
}

fn flush_streams() {
    // SAFETY: a null stream means all of them.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}

/// Sends SIGTERM to the other PEs of the node and waits for their end; whether all have ended in time.
fn end_others(node: &Node) -> bool {
    let end = Instant::now() + GRACE;
    let others = || node.ranks().filter(|&rank| rank != node.places.rank());
    let mut all_told = true;
    for rank in others() {
        all_told &= tell(node, rank);
    }
    all_told && others().all(|rank| has_ended(node, rank, end))
}

/// Sends SIGTERM to the PE with rank `rank`; whether it was there, and could be reached.
fn tell(node: &Node, rank: Rank) -> bool {
    node.process_of(rank).is_some_and(|process| {
        let nothing = std::ptr::null::<libc::siginfo_t>();
        let send = libc::SYS_pidfd_send_signal;
        // SAFETY: the descriptor is open; a null record asks for what kill(2) does.
        unsafe { libc::syscall(send, process.as_raw_fd(), libc::SIGTERM, nothing, 0) == 0 }
    })
}

/// Waits until `end` for the end of the PE with rank `rank`.
fn has_ended(node: &Node, rank: Rank, end: Instant) -> bool {
    while !node.is_gone(rank) {
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(STEP);
    }
    true
}

/// Installs the signal handler, once for the life of the process.
pub(crate) fn install() {
    // SAFETY: an all-zero sigaction is a valid one to be filled in by the call.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGTERM, std::ptr::null(), &raw mut now);
        if now.sa_sigaction == libc::SIG_DFL {
            now.sa_sigaction = on_terminate as *const () as usize;
            now.sa_flags = libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigaction(libc::SIGTERM, &raw const now, std::ptr::null_mut());
        }
    }
}

/// Whether the address of a handler is that of this module's.
pub(crate) fn is_own_handler(handler: libc::sighandler_t) -> bool {
    handler == on_terminate as *const () as usize
}

/// The job is being ended: flush the C streams as well as can be, and go.
extern "C" fn on_terminate(signal: c_int) {
    if !job::is_this_process_a_running_pe() {
        die_by(signal);
    }
    // Not async-signal-safe where the signal came inside stdio: the alternative is to lose the output, and
    // the launcher kills whoever hangs.
    flush_streams();
    match job::node().and_then(|node| node.exit_status()) {
        Some(status) => {
            job::leave_launcher();
            // SAFETY: _exit has no preconditions.
            unsafe { libc::_exit(status) }
        }
        None => die_by(signal),
    }
}

/// Ends the process by the signal's default action.
fn die_by(signal: c_int) {
    // SAFETY: neither call has memory preconditions; the signal is delivered when the handler returns.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
