//! The few system calls that the runner needs and std does not offer.
#![expect(
    unsafe_code,
    reason = "signals, reaping and prctl have no safe form in std"
)]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

/// A process id, as the kernel counts them.
pub(crate) type Pid = libc::pid_t;

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By exit, with this status.
    Exit(i32),
    /// By a signal of this number.
    Signal(i32),
}

/// Makes every orphan below this process its child, so that none can get away unseen.
///
/// # Errors
///
/// The kernel's.
pub(crate) fn become_subreaper() -> io::Result<()> {
    // SAFETY: this option of prctl takes plain integers and touches no memory of ours.
    check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })
}

/// Asks for `signal` when the thread that started this process ends.
///
/// # Errors
///
/// The kernel's.
pub(crate) fn signal_when_parent_ends(signal: i32) -> io::Result<()> {
    // SAFETY: this option of prctl takes plain integers and touches no memory of ours.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal, 0, 0, 0) })
}

/// Blocks the signals that [`wait_for_signal`] shall return, for this thread and the threads that it starts.
///
/// # Errors
///
/// The kernel's.
pub(crate) fn block(signals: &[i32]) -> io::Result<()> {
    let set = set_of(signals);
    // SAFETY: `set` is initialised; the old mask is not asked for.
    check(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) })
}

/// Waits until one of the blocked `signals` is there and returns it, or `None` when `timeout` has passed.
pub(crate) fn wait_for_signal(signals: &[i32], timeout: Duration) -> Option<i32> {
    let set = set_of(signals);
    let time = libc::timespec {
        tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    };
    // SAFETY: `set` and `time` are initialised and outlive the call; no information about the signal is asked for.
    let signal =
        unsafe { libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const time) };
    (signal > 0).then_some(signal)
}

/// Lets the child that `command` starts have a process group of its own, no signal blocked, and SIGINT
/// and SIGQUIT as in a terminal: shells ignore them for programs in the background.
pub(crate) fn isolate(command: &mut Command) -> &mut Command {
    command.process_group(0);
    // SAFETY: between fork and exec the closure calls only signal, sigemptyset and sigprocmask, which
    // are async-signal-safe, and allocates nothing.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGINT, libc::SIGQUIT] {
                // SAFETY: the signals exist; no handler is installed.
                libc::signal(signal, libc::SIG_DFL);
            }
            let set = set_of(&[]);
            // SAFETY: `set` is initialised; the old mask is not asked for.
            check(libc::sigprocmask(
                libc::SIG_SETMASK,
                &raw const set,
                std::ptr::null_mut(),
            ))
        })
    }
}

/// Sends `signal` to the process `pid`. A process that is gone is not an error.
pub(crate) fn kill(pid: Pid, signal: i32) {
    if pid > 1 {
        // SAFETY: kill takes plain integers. `pid` is one process: not 0, not negative, not init.
        unsafe { libc::kill(pid, signal) };
    }
}

/// Result of [`reap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaped {
    /// This child had ended and is now gone.
    Child(Pid, Ended),
    /// There are children, and all of them run.
    AllRun,
    /// There is no child.
    NoChild,
}

/// Takes the status of one child that has ended, without waiting.
pub(crate) fn reap() -> Reaped {
    let mut status = 0;
    // SAFETY: `status` is a valid place for the status, and the call does not block.
    let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
    match pid {
        0 => Reaped::AllRun,
        1.. => Reaped::Child(pid, ended(status)),
        _ => Reaped::NoChild,
    }
}

fn ended(status: i32) -> Ended {
    if libc::WIFSIGNALED(status) {
        Ended::Signal(libc::WTERMSIG(status))
    } else {
        Ended::Exit(libc::WEXITSTATUS(status))
    }
}

/// Returns whether this process runs as root.
pub(crate) fn is_root() -> bool {
    // SAFETY: geteuid takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

fn set_of(signals: &[i32]) -> libc::sigset_t {
    // SAFETY: sigset_t is a plain array of integers, for which zero is a value.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is a valid place for a set.
    unsafe { libc::sigemptyset(&raw mut set) };
    for &signal in signals {
        // SAFETY: `set` was initialised above; a number that is no signal is refused by the call.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    set
}

fn check(result: i32) -> io::Result<()> {
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
