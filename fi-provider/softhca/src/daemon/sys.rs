//! The system calls that the device's process makes and that std does not have.
#![expect(
    unsafe_code,
    reason = "system calls: sockets that carry descriptors, descriptors of processes and signals"
)]

use std::ffi::CString;
use std::fs::File;
use std::io::{Error, Result};
use std::mem::{MaybeUninit, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::ptr::{null, null_mut};

/// Returns the result of a system call that gives -1 when it fails.
pub(super) fn checked(result: libc::ssize_t) -> Result<usize> {
    usize::try_from(result).map_err(|_| Error::last_os_error())
}

/// Returns the descriptor that a system call made.
fn descriptor(result: libc::c_long) -> Result<OwnedFd> {
    let number = RawFd::try_from(result).unwrap_or(-1);
    if number < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor for us, and nobody else knows its number.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Names a system call that is denied, as containers do; for `map_err`. Other errors stay as they
/// are.
pub(super) fn denied(call: &'static str) -> impl FnOnce(Error) -> Error {
    move |error| match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES | libc::ENOSYS) => {
            Error::new(error.kind(), format!("{call}: {error}"))
        }
        _ => error,
    }
}

/// Opens a listening socket of packets, called `name` in `directory`.
pub(super) fn listen(directory: &Path, name: &str) -> Result<OwnedFd> {
    let directory = File::open(directory)?;
    let socket = packet_socket(libc::SOCK_NONBLOCK)?;
    let (address, length) = address(&directory, name);
    // SAFETY: `address` is a sockaddr_un of `length` bytes.
    let bound = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    checked(bound as isize)?;
    // SAFETY: listen has no requirement on memory.
    checked(unsafe { libc::listen(socket.as_raw_fd(), 1024) } as isize)?;
    Ok(socket)
}

/// Opens a connection to the socket of packets called `name` in `directory`.
pub(super) fn connect(directory: &Path, name: &str) -> Result<OwnedFd> {
    let directory = File::open(directory)?;
    let socket = packet_socket(0)?;
    let (address, length) = address(&directory, name);
    // SAFETY: `address` is a sockaddr_un of `length` bytes.
    let made = unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) };
    checked(made as isize)?;
    Ok(socket)
}

fn packet_socket(flags: i32) -> Result<OwnedFd> {
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | flags;
    // SAFETY: socket has no requirement on memory.
    descriptor(unsafe { libc::socket(libc::AF_UNIX, kind, 0) }.into())
}

/// Returns the address of a socket in an open directory, by which its path is short: it has at most
/// 107 bytes.
fn address(directory: &File, name: &str) -> (libc::sockaddr_un, libc::socklen_t) {
    let name = format!("/proc/self/fd/{}/{name}", directory.as_raw_fd());
    // SAFETY: all zeros is a valid sockaddr_un.
    let mut address: libc::sockaddr_un = unsafe { zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, from) in address.sun_path.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed();
    }
    (address, size_of::<libc::sockaddr_un>() as libc::socklen_t)
}

/// Process and user that have made a connection, as this process's namespaces number them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    pub(super) process: u32,
    pub(super) user: u32,
}

/// Returns the next connection, and the peer that has made it.
pub(super) fn accept(socket: BorrowedFd<'_>) -> Result<(OwnedFd, Peer)> {
    // SAFETY: the peer's address is not asked for.
    let number = unsafe {
        libc::accept4(
            socket.as_raw_fd(),
            null_mut(),
            null_mut(),
            libc::SOCK_CLOEXEC,
        )
    };
    let connection = descriptor(number.into())?;
    let mut peer = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: `peer` has `length` bytes, and both outlive the call.
    let got = unsafe {
        libc::getsockopt(
            connection.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    checked(got as isize)?;
    let peer = Peer {
        process: peer.pid.cast_unsigned(),
        user: peer.uid,
    };
    Ok((connection, peer))
}

/// Opens a file to be closed when another one is needed.
pub(super) fn spare() -> Result<OwnedFd> {
    File::open("/dev/null").map(OwnedFd::from)
}

/// Returns true for the errors of a system call that found no number for a new file.
pub(super) fn is_out_of_files(error: &Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Lets this process have as many files as it may. Where that fails the limit stays as it is.
pub(super) fn raise_limit_of_files() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a place for the limit, which both calls use while it lives.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Makes two connected sockets of packets.
pub(super) fn packet_pair() -> Result<(OwnedFd, OwnedFd)> {
    let mut pair = [-1; 2];
    // SAFETY: `pair` has room for two descriptors.
    let made = unsafe {
        libc::socketpair(
            libc::AF_UNIX,
            libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC,
            0,
            pair.as_mut_ptr(),
        )
    };
    checked(made as isize)?;
    Ok((descriptor(pair[0].into())?, descriptor(pair[1].into())?))
}

/// Receives one packet without waiting; 0 bytes when the other side is gone.
pub(super) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize> {
    // SAFETY: the buffer is valid for writes of its length.
    checked(unsafe {
        libc::recv(
            socket.as_raw_fd(),
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            libc::MSG_DONTWAIT,
        )
    })
}

/// Sends one packet without waiting, and a descriptor with it.
pub(super) fn send(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    with: Option<BorrowedFd<'_>>,
) -> Result<()> {
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // Aligned as a control header asks for; room for one header and one descriptor.
    let mut control = [0_u64; 4];
    // SAFETY: all zeros is a valid msghdr.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    if let Some(descriptor) = with {
        let size = size_of::<RawFd>() as u32;
        message.msg_control = control.as_mut_ptr().cast();
        // SAFETY: computes a length from a number.
        message.msg_controllen = unsafe { libc::CMSG_SPACE(size) } as _;
        // SAFETY: the message has a control buffer with room for a header and one descriptor, so there is a first header, and
        // behind it the data of one descriptor.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size) as _;
            libc::CMSG_DATA(header)
                .cast::<RawFd>()
                .write_unaligned(descriptor.as_raw_fd());
        }
    }
    // SAFETY: the message describes buffers that outlive the call; sending only reads them.
    let sent = unsafe {
        libc::sendmsg(
            socket.as_raw_fd(),
            &raw const message,
            libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
        )
    };
    checked(sent).map(drop)
}

/// Waits for one packet, and takes the descriptor that came with it.
pub(super) fn receive_with_file(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> Result<(usize, Option<OwnedFd>)> {
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // Aligned as a control header asks for; room for one header and one descriptor.
    let mut control = [0_u64; 4];
    // SAFETY: all zeros is a valid msghdr.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the message describes buffers that are valid for writes and outlive the call.
    let got = checked(unsafe {
        libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC)
    })?;
    // SAFETY: the kernel has filled the message in, so that this gives null or a header inside `control`.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    // SAFETY: null, or a header inside `control`.
    let rights =
        unsafe { header.as_ref() }.is_some_and(|found| found.cmsg_type == libc::SCM_RIGHTS);
    let file = if rights {
        // SAFETY: SCM_RIGHTS carries at least one descriptor behind its header.
        let number = unsafe { libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned() };
        Some(descriptor(number.into())?)
    } else {
        None
    };
    Ok((got, file))
}

/// Makes a file in memory of this name and size, all zeros and without pages yet.
pub(super) fn sparse_file(name: &str, size: u64) -> Result<OwnedFd> {
    let name = CString::new(name)?;
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is a C string.
    let file = unsafe { libc::memfd_create(name.as_ptr(), flags) };
    let file = descriptor(file.into()).map_err(denied("memfd_create"))?;
    // SAFETY: ftruncate has no requirement on memory.
    checked(unsafe { libc::ftruncate(file.as_raw_fd(), size.cast_signed()) } as isize)?;
    Ok(file)
}

/// Lets nobody change the size of a file in memory.
pub(super) fn keep_size(file: BorrowedFd<'_>) -> Result<()> {
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;
    // SAFETY: fcntl has no requirement on memory here.
    checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } as isize)?;
    Ok(())
}

/// Returns whether a file is in memory, of pages of the usual size, and keeps so many bytes: pages
/// that nobody can take away while they are mapped.
pub(super) fn keeps(file: &File, bytes: u64) -> Result<bool> {
    // SAFETY: F_GET_SEALS has no argument and touches no memory of this process.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    checked(seals as isize)?;
    // SAFETY: all zeros is a valid statfs.
    let mut system: libc::statfs = unsafe { zeroed() };
    // SAFETY: `system` is a place for the result.
    checked(unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut system) } as isize)?;
    let is_in_memory = system.f_type == libc::TMPFS_MAGIC;
    let is_fixed = seals & libc::F_SEAL_SHRINK != 0;
    Ok(is_in_memory && is_fixed && bytes <= file.metadata()?.len())
}

/// Opens a descriptor of a process, readable when the process has ended.
pub(super) fn process(number: u32) -> Result<OwnedFd> {
    // SAFETY: pidfd_open has no requirement on memory.
    let opened = descriptor(unsafe { libc::syscall(libc::SYS_pidfd_open, number, 0) });
    opened.map_err(denied("pidfd_open"))
}

/// Blocks the signals that end a program, and gives a descriptor that reads them, and the mask that was in force before.
pub(super) fn take_signals() -> Result<(OwnedFd, libc::sigset_t)> {
    let mut set = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set, the others take an initialised one; sigprocmask fills the old mask.
    let (file, before) = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP] {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr());
        let file = libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        (file, before.assume_init())
    };
    Ok((descriptor(file.into())?, before))
}

/// Lets a command start with this mask of blocked signals.
pub(super) fn start_with_mask(command: &mut Command, mask: libc::sigset_t) {
    let restore = move || {
        // SAFETY: the mask is initialised, and the old one is not asked for.
        let failed = unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const mask, null_mut()) };
        checked(failed as isize).map(drop)
    };
    // SAFETY: between fork and exec the closure makes one system call, which is async-signal-safe, and does not allocate.
    unsafe { command.pre_exec(restore) };
}

/// Returns the next signal: its number, and whether a process sent it (and not the terminal, which
/// tells the program itself).
pub(super) fn next_signal(signals: BorrowedFd<'_>) -> Option<(i32, bool)> {
    let mut info = MaybeUninit::<libc::signalfd_siginfo>::zeroed();
    let size = size_of::<libc::signalfd_siginfo>();
    // SAFETY: the buffer has room for one siginfo.
    let got = unsafe { libc::read(signals.as_raw_fd(), info.as_mut_ptr().cast(), size) };
    if usize::try_from(got) != Ok(size) {
        return None;
    }
    // SAFETY: the kernel has filled it.
    let info = unsafe { info.assume_init() };
    Some((info.ssi_signo.cast_signed(), info.ssi_code <= 0))
}

/// Sends a signal to a process.
pub(super) fn signal(process: u32, signal: i32) {
    // SAFETY: kill has no requirement on memory. A process that is gone is none of our concern.
    unsafe { libc::kill(process.cast_signed(), signal) };
}

/// Lets short sleeps be short: without it the kernel adds up to 50 us to each.
pub(super) fn sleep_precisely() {
    // SAFETY: prctl with numbers alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000_u64, 0, 0, 0) };
}

/// Asks for the highest priority that a process may have without a class of its own. Without the right
/// to it, the priority stays.
pub(super) fn hurry() {
    // SAFETY: setpriority with numbers alone, for this process.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
}

/// Waits until one of the files is readable or closed, at most `nanoseconds`; true for those that are.
pub(super) fn wait(files: &[RawFd], nanoseconds: Option<u64>) -> Vec<bool> {
    let mut polled: Vec<libc::pollfd> = files
        .iter()
        .map(|fd| libc::pollfd {
            fd: *fd,
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    let time = libc::timespec {
        tv_sec: nanoseconds
            .map_or(0, |time| time / 1_000_000_000)
            .cast_signed(),
        tv_nsec: nanoseconds
            .map_or(0, |time| time % 1_000_000_000)
            .cast_signed(),
    };
    let time = nanoseconds.map_or(null(), |_| &raw const time);
    // SAFETY: the list has as many entries as said; the time is null or outlives the call; no signal mask is given.
    let ready = unsafe {
        libc::ppoll(
            polled.as_mut_ptr(),
            polled.len() as libc::nfds_t,
            time,
            null(),
        )
    };
    polled
        .iter()
        .map(|polled| ready > 0 && polled.revents != 0)
        .collect()
}

/// Returns the user that this process runs as.
pub(super) fn user() -> u32 {
    // SAFETY: geteuid has no requirements.
    unsafe { libc::geteuid() }
}
