//! The system calls that std has no safe form of, each behind a safe function.

#![expect(
    unsafe_code,
    reason = "signals, poll, wait, prctl, affinity and the child's set-up between fork and exec have no safe form in std"
)]

use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use fi_bootstrap::server::Departure;

/// A descriptor for [`poll`], with the events to watch and those found.
pub(super) type Watch = libc::pollfd;

/// Watches `fd` for input, or for room for output.
pub(super) fn watch(fd: &impl AsRawFd, output: bool) -> Watch {
    let events = if output { libc::POLLOUT } else { libc::POLLIN };
    libc::pollfd {
        fd: fd.as_raw_fd(),
        events,
        revents: 0,
    }
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// The signals that are read from a descriptor instead of interrupting.
pub(super) struct Signals(OwnedFd);

impl AsRawFd for Signals {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Signals {
    /// Blocks the signals that end a job, and SIGCHLD, and opens a descriptor to read them from. A SIGHUP that is
    /// ignored (nohup) stays so.
    pub(super) fn take() -> io::Result<Self> {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: sigemptyset initialises the set that it is given; sigaddset and sigaction then work on initialised
        // sets and on signals that exist; `old` is a valid place for the former action. SIGCHLD's default action is
        // installed because an inherited SIG_IGN would make the kernel reap children unseen.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            let mut old = MaybeUninit::<libc::sigaction>::zeroed();
            let hangup = libc::sigaction(libc::SIGHUP, std::ptr::null(), old.as_mut_ptr());
            let ignored = hangup == 0 && old.assume_init().sa_sigaction == libc::SIG_IGN;
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGQUIT, libc::SIGCHLD] {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            if !ignored {
                libc::sigaddset(set.as_mut_ptr(), libc::SIGHUP);
            }
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            checked(libc::sigprocmask(
                libc::SIG_BLOCK,
                set.as_ptr(),
                std::ptr::null_mut(),
            ))?;
            let fd = checked(libc::signalfd(
                -1,
                set.as_ptr(),
                libc::SFD_CLOEXEC | libc::SFD_NONBLOCK,
            ))?;
            // The descriptor is new and nobody else's.
            Ok(Signals(OwnedFd::from_raw_fd(fd)))
        }
    }

    /// Returns the next signal that has arrived, if any.
    pub(super) fn next(&self) -> Option<i32> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::uninit();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: read writes at most `size` bytes to `info`, which has that size and outlives the call.
        let count = unsafe { libc::read(self.0.as_raw_fd(), info.as_mut_ptr().cast(), size) };
        if usize::try_from(count) != Ok(size) {
            return None;
        }
        // SAFETY: the kernel has written the whole structure, which has no invalid bit patterns.
        let number = unsafe { info.assume_init() }.ssi_signo;
        i32::try_from(number).ok()
    }
}

/// Waits until something is to be done with one of the descriptors or the time has passed (`None`: for ever).
pub(super) fn poll(watches: &mut [Watch], timeout: Option<Duration>) {
    // Rounded up: a deadline has passed when the wait is over.
    let milliseconds = timeout.map_or(-1, |time| {
        i32::try_from(time.as_micros().div_ceil(1000)).unwrap_or(i32::MAX)
    });
    let count = watches.len() as libc::nfds_t;
    // SAFETY: the pointer and the count describe `watches`, which is borrowed mutably over the call.
    if unsafe { libc::poll(watches.as_mut_ptr(), count, milliseconds) } < 0 {
        for watch in watches {
            watch.revents = 0;
        }
    }
}

/// Returns the number of bytes that wait in a pipe.
pub(super) fn waiting(pipe: &std::fs::File) -> usize {
    let mut count: libc::c_int = 0;
    // SAFETY: FIONREAD writes one int to `count`, which outlives the call; the descriptor is open while borrowed.
    let result = unsafe { libc::ioctl(pipe.as_raw_fd(), libc::FIONREAD, &raw mut count) };
    checked(result).map_or(0, |_| usize::try_from(count).unwrap_or(0))
}

/// Returns the number of a descriptor's inode.
pub(super) fn inode(fd: &impl AsRawFd) -> io::Result<u64> {
    let mut found = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: fstat writes one structure to `found`, which has its size and outlives the call.
    checked(unsafe { libc::fstat(fd.as_raw_fd(), found.as_mut_ptr()) })?;
    // SAFETY: fstat has succeeded, and has written the whole structure.
    Ok(unsafe { found.assume_init() }.st_ino)
}

/// Reaps one child that has ended; `Ok(None)` when none has, an error when there is no child at all.
pub(super) fn reap() -> io::Result<Option<(i32, Departure)>> {
    let mut status = 0;
    // SAFETY: waitpid writes one int to `status`, which outlives the call.
    let pid = checked(unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) })?;
    if pid == 0 {
        return Ok(None);
    }
    Ok(Some((pid, departure(status))))
}

/// Returns the end of a process, as wait(2) tells it: a status, or a signal, with or without a core
/// file.
fn departure(status: libc::c_int) -> Departure {
    if libc::WIFSIGNALED(status) {
        Departure::Killed(libc::WTERMSIG(status))
    } else {
        Departure::Exited(libc::WEXITSTATUS(status))
    }
}

/// Sends a signal to one process; that it is gone is no matter.
pub(super) fn kill(pid: i32, signal: i32) {
    debug_assert!(pid > 1, "0 and below name groups");
    // SAFETY: kill takes two integers and touches no memory.
    unsafe { libc::kill(pid, signal) };
}

/// Returns the parent's process number.
pub(super) fn parent() -> i32 {
    // SAFETY: getppid has no arguments and cannot fail.
    unsafe { libc::getppid() }
}

/// Returns a descriptor of a process, readable when the process has ended.
pub(super) fn process(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: pidfd_open takes two integers and touches no memory.
    let number = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let number = checked(libc::c_int::try_from(number).unwrap_or(-1))?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Returns this machine's addresses of interfaces that are up, each with its network's mask.
pub(super) fn networks() -> Vec<(IpAddr, IpAddr)> {
    let mut list = std::ptr::null_mut();
    // SAFETY: getifaddrs writes one pointer to `list`, which outlives the call.
    if unsafe { libc::getifaddrs(&raw mut list) } != 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = list;
    while !at.is_null() {
        // SAFETY: `at` is not null, and an entry of the list, which is freed below; nobody writes to it.
        let entry = unsafe { &*at };
        if entry.ifa_flags & libc::IFF_UP.cast_unsigned() != 0 {
            // SAFETY: both are null, or addresses of the entry, whose families say how long they are.
            let pair = unsafe { (address(entry.ifa_addr), address(entry.ifa_netmask)) };
            if let (Some(address), Some(mask)) = pair {
                found.push((address, mask));
            }
        }
        at = entry.ifa_next;
    }
    // SAFETY: getifaddrs has made the list; nothing borrows from it any more.
    unsafe { libc::freeifaddrs(list) };
    found
}

/// Returns the address in a socket address of IP.
///
/// # Safety
/// `from` is null, or points to a socket address of its family's length.
unsafe fn address(from: *const libc::sockaddr) -> Option<IpAddr> {
    if from.is_null() {
        return None;
    }
    // SAFETY: it is not null, and a socket address of any length has a family; no alignment is
    // assumed.
    let family = unsafe { (&raw const (*from).sa_family).read_unaligned() };
    match i32::from(family) {
        libc::AF_INET => {
            // SAFETY: one of this family is a sockaddr_in.
            let of = unsafe { from.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(of.sin_addr.s_addr.to_ne_bytes()).into())
        }
        libc::AF_INET6 => {
            // SAFETY: one of this family is a sockaddr_in6.
            let of = unsafe { from.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(of.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

/// Returns whether `fd` is the terminal of this process, and another group of processes has its
/// input now.
pub(super) fn is_in_background(fd: &impl AsRawFd) -> bool {
    // SAFETY: both calls take integers at most and touch no memory.
    let (foreground, own) = unsafe { (libc::tcgetpgrp(fd.as_raw_fd()), libc::getpgrp()) };
    foreground > 0 && foreground != own
}

/// Makes this process the parent of descendants whose own parent has ended.
pub(super) fn adopt_orphans() -> io::Result<()> {
    // SAFETY: this prctl takes integers only.
    checked(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }).map(drop)
}

/// Asks for `signal` when the parent ends.
pub(super) fn signal_on_parents_death(signal: i32) -> io::Result<()> {
    // SAFETY: this prctl takes integers only, and is async-signal-safe.
    checked(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal, 0, 0, 0) }).map(drop)
}

/// Splits the process in two; yields the child's number to the parent and `None` to the child.
///
/// Only for a process of one thread: the child goes on as a full process.
pub(super) fn fork() -> io::Result<Option<i32>> {
    // SAFETY: oshrun has a single thread, so that no lock can be held by a thread that the child lacks.
    let pid = checked(unsafe { libc::fork() })?;
    Ok((pid != 0).then_some(pid))
}

/// A process's limit of open descriptors.
#[derive(Debug, Clone, Copy)]
pub(super) struct DescriptorLimit(libc::rlimit);

/// Raises the limit of open descriptors as far as it goes; yields the former one for the PEs.
pub(super) fn raise_descriptor_limit() -> Option<DescriptorLimit> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: getrlimit writes one structure to `limit`, which outlives the call.
    checked(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) }).ok()?;
    let raised = libc::rlimit {
        rlim_cur: limit.rlim_max,
        ..limit
    };
    // SAFETY: setrlimit only reads `raised`.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) };
    Some(DescriptorLimit(limit))
}

/// Goes back to a former limit of open descriptors.
pub(super) fn restore_descriptor_limit(DescriptorLimit(limit): DescriptorLimit) {
    // SAFETY: setrlimit only reads `limit`.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
}

/// Returns the CPUs that this process may run on, in ascending order.
pub(super) fn allowed_cpus() -> Vec<usize> {
    // SAFETY: a cpu_set_t is a bit field: all zeros is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: sched_getaffinity writes at most the given size to `set`; CPU_ISSET is asked below CPU_SETSIZE only.
    unsafe {
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) != 0 {
            return Vec::new();
        }
        (0..libc::CPU_SETSIZE as usize)
            .filter(|&cpu| libc::CPU_ISSET(cpu, &set))
            .collect()
    }
}

/// The setup of a PE's process between fork and exec.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setup<'a> {
    /// The descriptor to keep over the exec.
    pub(super) keep: Option<BorrowedFd<'a>>,
    /// The only CPU to run on.
    pub(super) cpu: Option<usize>,
    /// The limit of open descriptors to go back to.
    pub(super) descriptors: Option<DescriptorLimit>,
}

/// Has `command` start its process with `setup`, with no signal blocked, and with SIGKILL due when this process ends.
pub(super) fn prepare(command: &mut Command, setup: Setup<'_>) {
    let keep = setup.keep.map(|fd| fd.as_raw_fd());
    let (cpu, descriptors) = (setup.cpu, setup.descriptors);
    let launcher = std::process::id();
    let child = move || -> io::Result<()> {
        signal_on_parents_death(libc::SIGKILL)?;
        if u32::try_from(parent()) != Ok(launcher) {
            // The launcher was gone before the line above could take effect.
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        unblock_signals()?;
        // SAFETY: async-signal-safe calls on this process alone: fcntl on a descriptor that is open (it is borrowed
        // while the command is spawned), sched_setaffinity on a local set with a CPU below CPU_SETSIZE (from
        // `allowed_cpus`), setrlimit on a local structure.
        unsafe {
            if let Some(fd) = keep {
                checked(libc::fcntl(fd, libc::F_SETFD, 0))?;
            }
            if let Some(cpu) = cpu {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                libc::CPU_SET(cpu, &mut set);
                checked(libc::sched_setaffinity(
                    0,
                    size_of::<libc::cpu_set_t>(),
                    &raw const set,
                ))?;
            }
            if let Some(DescriptorLimit(limit)) = descriptors {
                checked(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit))?;
            }
        }
        Ok(())
    };
    // SAFETY: the closure runs in the child of a single-threaded process, allocates nothing, takes no lock and makes
    // async-signal-safe calls only; io::Error from a number does not allocate.
    unsafe { command.pre_exec(child) };
}

/// Has `command` start its process with no signal blocked, and outlive this one.
pub(super) fn prepare_server(command: &mut Command) {
    // SAFETY: the function allocates nothing, takes no lock and makes async-signal-safe calls only.
    unsafe { command.pre_exec(unblock_signals) };
}

/// Lets every signal come; async-signal-safe.
fn unblock_signals() -> io::Result<()> {
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the local set, which sigprocmask reads.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        checked(libc::sigprocmask(
            libc::SIG_SETMASK,
            none.as_ptr(),
            std::ptr::null_mut(),
        ))
        .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_addresses() {
        let loopback = networks()
            .into_iter()
            .find(|(address, _)| *address == IpAddr::V4(Ipv4Addr::LOCALHOST));
        let mask = IpAddr::V4(Ipv4Addr::new(255, 0, 0, 0));
        // A network namespace may have none that is up.
        assert!(loopback.is_none_or(|(_, found)| found == mask));
    }

    #[test]
    fn a_core_file_does_not_change_the_signal() {
        let aborted = Departure::Killed(libc::SIGABRT);
        assert_eq!(departure(0x06), aborted);
        // With the bit of a core file, which not every system lets a test have.
        assert_eq!(departure(0x86), aborted);
        assert_eq!(departure(0x8b), Departure::Killed(libc::SIGSEGV));
        assert_eq!(departure(0x8600), Departure::Exited(0x86));
        assert_eq!(departure(0), Departure::Exited(0));
    }
}
