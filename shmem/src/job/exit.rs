//! The early end of a job: shmem_global_exit, and the signal by which launchers end it.
//!
//! A signal handler may have stopped its thread anywhere, with any lock. So it neither allocates
//! nor locks, and leaves the flushing of the C streams to a child.

#![expect(unsafe_code, reason = "signals, and the flushing of C's streams")]

use super::node::Node;
use super::places::Rank;
use crate::job;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// The status that the job ends with after an error.
pub(crate) const FAILURE: c_int = 1;

/// Time that the PEs of the node have to flush their output when a job is ended where the launcher
/// gives them no time.
const GRACE: Duration = Duration::from_millis(250);

/// Time between two looks whether they have.
const STEP: Duration = Duration::from_millis(1);

/// Ends the program on all PEs with `status`, whatever they do (OpenSHMEM 1.6, section 9.1.6).
///
/// The own C streams are flushed, the others' as well as a signal handler can.
///
/// The system passes on the low eight bits: a status other than 0 that has none of them becomes 1,
/// for it tells of a failure.
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn global_exit(status: c_int) -> ! {
    end_job(status)
}

/// Ends the program on all PEs with `status`, for a call of this process.
pub(crate) fn end_job(status: c_int) -> ! {
    let status = match status & 0xff {
        0 if status != 0 => FAILURE,
        _ => status,
    };
    flush_streams();
    end_all(status)
}

/// Ends the program as [`global_exit`] does, in a signal handler.
pub(crate) fn end_in_handler(status: c_int) -> ! {
    flush_in_child();
    end_all(status)
}

/// Ends the job; a signal handler may call this.
fn end_all(status: c_int) -> ! {
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

/// Time that a child has to flush the streams, in seconds.
const FLUSH: libc::c_uint = 1;

/// Bytes of the child's stack: functions of the program's own streams run there.
const STACK: usize = 256 << 10;

/// Flushes the C streams from a signal handler: by a child that has this process's memory, and ends
/// where it hangs, because the interrupted thread or one that does not go on has a lock, or fails,
/// because a stream was being changed.
fn flush_in_child() {
    let anywhere = std::ptr::null_mut();
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
    // SAFETY: a new mapping replaces nothing.
    let stack = unsafe { libc::mmap(anywhere, STACK, access, flags, -1, 0) };
    if stack == libc::MAP_FAILED {
        return;
    }
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is filled before it is read; the other one is written.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
    }
    // No signal tells of the child's end, until which this thread stands still.
    let flags = libc::CLONE_VM | libc::CLONE_VFORK;
    // SAFETY: the stack is mapped, grows down from its end, and is nobody else's; the function asks
    // for no argument.
    let child = unsafe { libc::clone(flush, stack.byte_add(STACK), flags, anywhere) };
    if child > 0 {
        // SAFETY: the status is not asked for.
        unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::__WALL) };
    }
    // SAFETY: the set was written above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
}

/// Flushes the C streams, for [`FLUSH`] seconds at most: the child's function.
extern "C" fn flush(_argument: *mut c_void) -> c_int {
    // SAFETY: no call has memory preconditions but for the set, which is emptied before it is used.
    // Actions, mask and timer are the child's own.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // A core dump ends all processes that have the memory.
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        let mut only = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(only.as_mut_ptr());
        libc::sigaddset(only.as_mut_ptr(), libc::SIGALRM);
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        libc::alarm(FLUSH);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, only.as_ptr(), std::ptr::null_mut());
    }
    flush_streams();
    0
}

/// Writes a line to standard error by the system call alone.
pub(crate) fn write_to_stderr(mut line: &[u8]) {
    while !line.is_empty() {
        // SAFETY: the buffer has these bytes.
        let written = unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
        match usize::try_from(written) {
            Ok(written) => line = &line[written..],
            // SAFETY: the location is the thread's own.
            Err(_) if unsafe { *libc::__errno_location() } == libc::EINTR => (),
            // Nobody is left to tell when standard error is closed.
            Err(_) => return,
        }
    }
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
        // SAFETY: the descriptor is open; a null record asks for the signal of kill(2).
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

/// Returns whether the address of a handler is that of this module's.
pub(crate) fn is_own_handler(handler: libc::sighandler_t) -> bool {
    handler == on_terminate as *const () as usize
}

/// Flushes the C streams as well as can be, and goes: the job is being ended.
extern "C" fn on_terminate(signal: c_int) {
    if !job::is_this_process_a_running_pe() {
        return die_by(signal);
    }
    flush_in_child();
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
