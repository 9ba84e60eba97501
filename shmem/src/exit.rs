//! How a PE leaves: by the end of the program, by shmem_global_exit, by the signal that ends a job.

#![expect(
    unsafe_code,
    reason = "exit handlers, signals and the flushing of C's streams"
)]

use crate::world;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;
use std::time::Duration;

unsafe extern "C" {
    fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// How long the PEs of the node have to flush their output when a job is ended where the launcher
/// gives them no time.
const GRACE: Duration = Duration::from_millis(250);

/// Ends the program on all PEs with `status`, whatever they do (OpenSHMEM 1.6, section 9.1.6).
///
/// The own C streams are flushed, the others' as well as a signal handler can.
pub fn global_exit(status: c_int) -> ! {
    flush_streams();
    if let Some(node) = world::node() {
        node.request_exit(status);
        if !world::launched_by_oshrun() {
            // Other launchers kill the PEs at once when one of them asks for the end.
            signal_others(&node);
        }
    }
    world::tell_launcher_to_abort(status);
    // SAFETY: _exit has no preconditions.
    unsafe { libc::_exit(status) }
}

fn flush_streams() {
    // SAFETY: a null stream means all of them.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}

/// Sends SIGTERM to the other PEs of the node and gives them some time to go.
fn signal_others(node: &crate::node::Node) {
    let others = || (0..node.processes()).filter(|&pe| pe != node.rank());
    let pid = |pe: u32| node.slot(pe).pid.load(Ordering::Acquire) as libc::pid_t;
    for pid in others().map(pid).filter(|&pid| pid > 0) {
        // SAFETY: kill has no memory preconditions.
        unsafe { libc::kill(pid, libc::SIGTERM) };
    }
    let start = std::time::Instant::now();
    // The handler clears the number before it leaves.
    while others().any(|pe| pid(pe) > 0) && start.elapsed() < GRACE {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Installs the exit handler and the signal handler, once for the life of the process.
pub(crate) fn install() {
    // SAFETY: the handler is a plain function that lives as long as the program.
    unsafe { on_exit(at_exit, std::ptr::null_mut()) };
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

/// The end of the program without shmem_finalize: with status 0 it is implied (section 4, execution
/// model); with any other the launcher ends the job.
extern "C" fn at_exit(status: c_int, _argument: *mut c_void) {
    if world::is_this_process_a_running_pe() && status == 0 {
        world::finalize_all(&"exit");
    }
}

/// The job is being ended: flush the C streams as well as can be, and go.
extern "C" fn on_terminate(signal: c_int) {
    if !world::is_this_process_a_running_pe() {
        die_by(signal);
    }
    // Not async-signal-safe where the signal came inside stdio: the alternative is to lose the output, and
    // the launcher kills whoever hangs.
    flush_streams();
    let status = world::node().and_then(|node| {
        let status = node.exit_status();
        node.own().pid.store(0, Ordering::Release);
        status
    });
    match status {
        // SAFETY: _exit has no preconditions.
        Some(status) => unsafe { libc::_exit(status) },
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
