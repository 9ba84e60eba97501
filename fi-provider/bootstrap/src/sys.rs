//! The few system calls that std has no safe form of: adopting the launcher's descriptor, sending
//! on it, starting threads that get no signals, and a look for MPI.

#![expect(
    unsafe_code,
    reason = "inherited descriptors, send(2) with flags, signal masks and dlsym: not safe in std"
)]

use std::ffi::{CStr, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::ptr::NonNull;

/// The launcher's socket, under the number that the launcher has left it. The number is the
/// process's: another library may use it, too, and closes it when it is done, as MPICH does. A
/// program that closes all others still has it.
#[derive(Debug)]
pub(crate) struct Socket {
    fd: RawFd,
    inode: u64,
}

impl Socket {
    /// Returns the stream socket under the number `fd`, and marks it close-on-exec.
    ///
    /// # Errors
    /// When `fd` is not open, is no socket, or is another than the one with the number `inode`.
    pub(crate) fn adopt(fd: RawFd, inode: Option<u64>) -> io::Result<Self> {
        let mut kind: c_int = 0;
        let mut length = size_of::<c_int>() as libc::socklen_t;
        // SAFETY: getsockopt reads no memory of ours and writes at most `length` bytes to `kind`,
        // both of which outlive the call.
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
        let found = inode_of(fd)?;
        if inode.is_some_and(|inode| inode != found) {
            return Err(io::Error::other("another socket has its number"));
        }
        // SAFETY: fcntl with F_SETFD takes an integer and touches no memory.
        if unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { fd, inode: found })
    }

    /// Returns an error where the socket has been closed, or its number is another file's.
    fn check(&self) -> io::Result<()> {
        match inode_of(self.fd)? {
            inode if inode == self.inode => Ok(()),
            _ => Err(io::Error::from_raw_os_error(libc::EBADF)),
        }
    }

    /// Sends all of `bytes`; a closed peer is an error and never a SIGPIPE. A signal handler may.
    ///
    /// # Errors
    /// `BrokenPipe` or `ConnectionReset` when the launcher is gone, EBADF where the socket has been
    /// closed here, or another error of send(2).
    pub(crate) fn send_all(&self, bytes: &[u8]) -> io::Result<()> {
        self.check()?;
        send_all(self, bytes)
    }

    /// Reads some bytes, at least one, of the answer to a request; 0 at the connection's end. A
    /// signal handler may.
    ///
    /// # Errors
    /// Those of recv(2).
    pub(crate) fn receive(&self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            // SAFETY: the pointer and the length describe `bytes`, which is borrowed over the call.
            let count = unsafe { libc::recv(self.fd, bytes.as_mut_ptr().cast(), bytes.len(), 0) };
            if let Ok(count) = usize::try_from(count) {
                return Ok(count);
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the number is not -1, as it was open. It stays open while it is borrowed: for a
        // request, after a look, and for waits of this library's beginning. Others that share it
        // are not finalized then.
        unsafe { BorrowedFd::borrow_raw(self.fd) }
    }
}

/// Sends all of `bytes`; a closed peer is an error and never a SIGPIPE.
///
/// # Errors
/// `BrokenPipe` or `ConnectionReset` when the launcher is gone, or another error of send(2).
pub(crate) fn send_all(socket: &impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
    let fd = socket.as_fd().as_raw_fd();
    while !bytes.is_empty() {
        let (from, length) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: the pointer and the length describe `bytes`, which is borrowed over the call; send only reads it.
        let sent = unsafe { libc::send(fd, from, length, libc::MSG_NOSIGNAL) };
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

/// Returns the inode's number of an open file.
fn inode_of(fd: RawFd) -> io::Result<u64> {
    let mut found = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: fstat writes one structure to `found`, which has its size and outlives the call.
    if unsafe { libc::fstat(fd, found.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: fstat has succeeded, and has written the whole structure.
    Ok(unsafe { found.assume_init() }.st_ino)
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

/// Returns whether an MPI library of this process has been initialised that speaks to the launcher
/// over `PMI_FD`, as MPICH and those made of it do. Open MPI has means of its own. Not for signal
/// handlers.
pub(crate) fn does_mpi_share() -> bool {
    let find = |name: &CStr| {
        // SAFETY: the name is a C string, and the lookup has no other precondition.
        NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
    };
    let Some(found) = find(c"MPI_Initialized") else {
        return false;
    };
    if find(c"ompi_mpi_comm_world").is_some() {
        return false;
    }
    type Initialized = unsafe extern "C" fn(*mut c_int) -> c_int;
    // SAFETY: MPI reserves the name for a function of this type (MPI 4.0, section 11.2).
    let initialized = unsafe { std::mem::transmute::<*mut c_void, Initialized>(found.as_ptr()) };
    let mut answer = 0;
    // SAFETY: it may be called at any time and by any thread, and writes one int, which outlives
    // the call.
    let status = unsafe { initialized(&raw mut answer) };
    status == 0 && answer != 0
}
