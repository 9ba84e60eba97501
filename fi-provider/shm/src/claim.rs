//! Claims: which processes that share a memory are still there, and which process each is.
//!
//! A claim is a write lock on one byte of the memory's file (POSIX record locks, fcntl(2)). The
//! kernel lets it go when its process ends, and only then can the process's number become
//! another's. So a process that is found by its claim, and has the claim still when its descriptor
//! is open, is the one that claimed: nobody has to store numbers of processes, nor to hold a
//! descriptor of each, of which a node of 1000 would have a million.
//!
//! A process that closes any descriptor of the memory loses its claims as well. So a claim shows
//! that its process lives; a missing claim does not show that it has ended.

use crate::segment::Memfd;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

impl Memfd {
    /// Claims `place`, any number, until this process ends. Children of a fork have no part in it.
    ///
    /// # Errors
    /// The error of fcntl(2); `EACCES` or `EAGAIN` where another process has the claim.
    pub fn claim(&self, place: u32) -> io::Result<()> {
        self.lock(libc::F_SETLK, place).map(drop)
    }

    /// Returns whether another process than this one has claimed `place`, and has not ended.
    ///
    /// # Errors
    /// The error of fcntl(2), or that the program has closed the descriptor.
    pub fn is_claimed(&self, place: u32) -> io::Result<bool> {
        Ok(self.holder(place)?.is_some())
    }

    /// Returns a descriptor (pidfd_open(2)) of the other process that has claimed `place`; none
    /// where it has ended, or is in a PID namespace that this process does not see.
    ///
    /// # Errors
    /// The error of fcntl(2) or pidfd_open(2), or that the program has closed the descriptor.
    pub fn claimant(&self, place: u32) -> io::Result<Option<OwnedFd>> {
        let Some(pid) = self.holder(place)?.filter(|&pid| pid > 0) else {
            return Ok(None);
        };
        // SAFETY: pidfd_open has no requirement on memory.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        let fd = RawFd::try_from(fd).unwrap_or(-1);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just made this descriptor, and nothing else owns it.
        let process = unsafe { OwnedFd::from_raw_fd(fd) };
        // If it ended before the descriptor was made, the number may be another's.
        Ok((self.holder(place)? == Some(pid)).then_some(process))
    }

    /// Returns the number of the other process that has claimed `place`, 0 if it has none in this
    /// PID namespace.
    fn holder(&self, place: u32) -> io::Result<Option<libc::pid_t>> {
        let found = self.lock(libc::F_GETLK, place)?;
        Ok((i32::from(found.l_type) != libc::F_UNLCK).then_some(found.l_pid))
    }

    fn lock(&self, command: i32, place: u32) -> io::Result<libc::flock> {
        if !self.is_intact() {
            return Err(crate::segment::closed());
        }
        // SAFETY: all zeros is a valid flock.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = libc::F_WRLCK as _;
        lock.l_whence = libc::SEEK_SET as _;
        lock.l_start = libc::off_t::from(place);
        lock.l_len = 1;
        // SAFETY: both commands take a flock, which outlives the call.
        match unsafe { libc::fcntl(self.raw_fd(), command, &raw mut lock) } {
            0 => Ok(lock),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
