//! How a job is ended early: shmem_global_exit, and the signal by which launchers end it.

#![expect(unsafe_code, reason = "signals, and the flushing of C's streams")]

use crate::job;
use crate::node::Node;
use crate::places::Rank;
use std::ffi::c_int;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long the PEs of the node have to flush their output when a job is ended where the launcher
/// gives them no time.
const GRACE: Duration = Duration::from_millis(250);

/// Ends the program on all PEs with `status`, whatever they do (OpenSHMEM 1.6, section 9.1.6).
///
/// The own C streams are flushed, the others' as well as a signal handler can.
pub fn global_exit(status: c_int) -> ! {
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
    let others = node.ranks().filter(|&rank| rank != node.places.rank());
    let handles: Vec<Option<OwnedFd>> = others.map(|rank| open_process(node, rank)).collect();
    for handle in handles.iter().flatten() {
        let nothing = std::ptr::null::<libc::siginfo_t>();
        // SAFETY: the descriptor is open; a null record asks for what kill(2) does.
        unsafe {
            let signal = libc::SYS_pidfd_send_signal;
            libc::syscall(signal, handle.as_raw_fd(), libc::SIGTERM, nothing, 0);
        }
    }
    handles
        .iter()
        .all(|handle| handle.as_ref().is_some_and(|handle| has_ended(handle, end)))
}

/// A descriptor of the process of the PE with rank `rank`; `None` where it has not begun or is gone.
fn open_process(node: &Node, rank: Rank) -> Option<OwnedFd> {
    let pid = node.slot(rank).pid.load(Ordering::Acquire);
    if pid == 0 {
        return None;
    }
    // SAFETY: pidfd_open has no memory preconditions.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let fd = c_int::try_from(fd).ok().filter(|&fd| fd >= 0)?;
    // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
    Some(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Waits until `end` for the end of a process, reaped or not.
fn has_ended(process: &OwnedFd, end: Instant) -> bool {
    let mut poll = libc::pollfd {
        fd: process.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    loop {
        let left = end.saturating_duration_since(Instant::now());
        // SAFETY: one valid record.
        match unsafe { libc::poll(&raw mut poll, 1, left.as_millis() as c_int) } {
            1 => return true,
            0 => return false,
            // A signal came between.
            _ if left.is_zero() => return false,
            _ => (),
        }
    }
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
