//! The few system calls that std has no safe form of: adopting the launcher's descriptor, sending on it, and
//! starting threads that get no signals.

#![expect(
    unsafe_code,
    reason = "adopting an inherited descriptor, send(2) with flags and signal masks have no safe form in std"
)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// Takes over the stream socket that a launcher left open under the number `fd`, and marks it close-on-exec.
///
/// # Errors
/// When `fd` is not open, is no socket, or is another than the one with the number `inode`.
pub(crate) fn adopt_socket(fd: RawFd, inode: Option<u64>) -> io::Result<UnixStream> {
    let mut kind: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: getsockopt reads no memory of ours and writes at most `length` bytes to `kind`, both of which outlive the call.
    let found = unsafe {
        libc::getsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_TYPE,
            (&raw mut kind).cast(),
            &raw mut length,
        )
    };
    if found != 0 {
        return Err(io::Error::last_os_error());
    }
    if kind != libc::SOCK_STREAM {
        return Err(io::Error::from_raw_os_error(libc::EPROTOTYPE));
    }
    if let Some(inode) = inode {
        let mut found = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: fstat writes one structure to `found`, which has its size and outlives the call.
        if unsafe { libc::fstat(fd, found.as_mut_ptr()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: fstat has succeeded, and has written the whole structure.
        if unsafe { found.assume_init() }.st_ino != inode {
            return Err(io::Error::other("another socket has its number"));
        }
    }
    // SAFETY: fcntl with F_SETFD takes an integer and touches no memory.
    if unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `fd` is open (getsockopt succeeded on it), and the launcher left it to this process for this very use:
    // `PMI_FD` names one owner, and the environment is read once, by `Bootstrap::connect`.
    Ok(UnixStream::from(unsafe { OwnedFd::from_raw_fd(fd) }))
}

/// Sends all of `bytes`; a closed peer is an error and never a SIGPIPE.
///
/// # Errors
/// `BrokenPipe` or `ConnectionReset` when the launcher is gone, or another error of send(2).
pub(crate) fn send_all(socket: &UnixStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: the pointer and the length describe `bytes`, which is borrowed over the call; send only reads it.
        let sent = unsafe {
            libc::send(
                socket.as_raw_fd(),
                bytes.as_ptr().cast(),
                bytes.len(),
                libc::MSG_NOSIGNAL,
            )
        };
        match usize::try_from(sent) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// Does something, such as to start a thread that inherits it, with all signals blocked: they are the program's.
pub(crate) fn without_signals<T>(what: impl FnOnce() -> T) -> T {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: the first set is filled before it is read; the second one is written.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = what();
    // SAFETY: the set was written above; the mask that it replaces is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    result
}

/// The threads of this process; 0 where the system does not tell.
pub(crate) fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}
