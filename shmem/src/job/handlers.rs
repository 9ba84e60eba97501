//! Signal handlers of the program: whether one may run while its PE waits.

#![expect(
    unsafe_code,
    reason = "asks the C library for actions and for the mask of signals"
)]

use super::exit;
use std::ffi::c_int;

/// Signals that a thread raises by its own instructions or calls, which a thread that waits does
/// not. Sanitizers and many runtimes handle them.
const OF_THE_THREAD: [c_int; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
    libc::SIGABRT,
];

/// Returns whether a handler of the program could run on the calling thread, for the signal of a
/// timer, a child or another process. Such a handler may end the thread's wait.
pub(crate) fn may_run() -> bool {
    let Some(blocked) = blocked() else {
        return true;
    };
    (1..=libc::SIGRTMAX())
        .filter(|signal| !OF_THE_THREAD.contains(signal))
        .any(|signal| is_handled_by_program(signal) && !contains(&blocked, signal))
}

/// Returns whether an action is neither one of the system nor the library's own.
fn is_handled_by_program(signal: c_int) -> bool {
    // SAFETY: an all-zero action is a valid one.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: no action is given, and the record to be filled lives during the call.
    if unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now) } != 0 {
        // One of the signals that the C library keeps to itself.
        return false;
    }
    let of_system = matches!(now.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN);
    !of_system && !exit::is_own_handler(now.sa_sigaction)
}

/// Returns the signals that are blocked in the calling thread.
fn blocked() -> Option<libc::sigset_t> {
    // SAFETY: an all-zero set is a valid, empty one.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: no set is given, so that nothing changes; the one to be filled lives during the call.
    let failed = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set) };
    (failed == 0).then_some(set)
}

fn contains(set: &libc::sigset_t, signal: c_int) -> bool {
    // SAFETY: the set was filled by pthread_sigmask.
    unsafe { libc::sigismember(set, signal) == 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn handler(_signal: c_int) {}

    fn set(signal: c_int, action: usize) {
        // SAFETY: the action is one of the system's, or a function that takes the signal and does
        // nothing.
        unsafe { libc::signal(signal, action) };
    }

    fn block(how: c_int, signal: c_int) {
        // SAFETY: an all-zero set is a valid, empty one; both calls get a valid set.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigaddset(&raw mut set, signal);
            libc::pthread_sigmask(how, &raw const set, std::ptr::null_mut());
        }
    }

    // One test: handlers are the whole process's.
    #[test]
    fn a_handler_counts_unless_its_signal_is_blocked_ignored_or_raised_by_the_thread_itself() {
        let ours = handler as *const () as usize;
        assert!(!may_run(), "none is installed");
        for signal in [libc::SIGALRM, libc::SIGCHLD, libc::SIGRTMAX()] {
            set(signal, ours);
            assert!(may_run(), "signal {signal}");
            block(libc::SIG_BLOCK, signal);
            assert!(!may_run(), "signal {signal}, blocked");
            block(libc::SIG_UNBLOCK, signal);
            set(signal, libc::SIG_IGN);
            assert!(!may_run(), "signal {signal}, ignored");
            set(signal, libc::SIG_DFL);
        }
        set(libc::SIGFPE, ours);
        assert!(!may_run(), "an instruction's signal");
        set(libc::SIGFPE, libc::SIG_DFL);
        exit::install();
        assert!(!may_run(), "the library's own handler");
    }
}
