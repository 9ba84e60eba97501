//! The descriptors by which threads are woken.

#![expect(unsafe_code, reason = "makes descriptors")]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// A descriptor that the own process makes readable (eventfd(2)).
#[derive(Debug)]
pub struct Waker {
    event: File,
    /// The wakes that nobody has read, and those that are about to be written: the descriptor is
    /// read only where there are some.
    unread: AtomicU64,
}

impl Waker {
    /// Makes a waker that is not readable.
    ///
    /// # Errors
    /// That of eventfd(2).
    pub fn new() -> io::Result<Self> {
        // SAFETY: eventfd takes numbers alone, and gives a descriptor that nothing else owns.
        let event = unsafe { own(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))? };
        Ok(Self {
            event: event.into(),
            unread: AtomicU64::new(0),
        })
    }

    /// Makes the descriptor readable.
    pub fn wake(&self) {
        // Counted first: a thread that finds the descriptor readable knows of a wake to read, also
        // while this thread is held up behind its write.
        // ORDERING: pairs with the load in `rest`.
        self.unread.fetch_add(1, Ordering::Release);
        self.write();
    }

    /// Adds 1 to the number in the descriptor.
    fn write(&self) {
        // That has room for 2^64 - 2 of them.
        let _ = (&self.event).write(&1_u64.to_ne_bytes());
    }

    /// Has the descriptor be readable no longer, until [`Waker::wake`]: once more, perhaps, where
    /// that is called just now.
    pub fn rest(&self) {
        // ORDERING: pairs with the addition in `wake`.
        if self.unread.load(Ordering::Acquire) != 0 {
            let mut wakes = [0; size_of::<u64>()];
            // There may be nothing to read: of a wake that is not written yet.
            if (&self.event).read(&mut wakes).is_ok() {
                // ORDERING: the number alone matters.
                self.unread
                    .fetch_sub(u64::from_ne_bytes(wakes), Ordering::Relaxed);
            }
        }
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// A descriptor that is readable when one of others is (epoll(7)).
#[derive(Debug)]
pub struct Set(OwnedFd);

impl Set {
    /// Makes a set of no others.
    ///
    /// # Errors
    /// That of epoll_create1(2).
    pub fn new() -> io::Result<Self> {
        // SAFETY: epoll_create1 takes a number alone, and gives a descriptor that nothing else owns.
        let set = unsafe { own(libc::epoll_create1(libc::EPOLL_CLOEXEC))? };
        Ok(Self(set))
    }

    /// Adds a descriptor, which leaves when it is closed.
    ///
    /// # Errors
    /// That of epoll_ctl(2).
    pub fn add(&self, member: &impl AsFd) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: libc::EPOLLIN as u32,
            u64: 0,
        };
        let (set, member) = (self.0.as_raw_fd(), member.as_fd().as_raw_fd());
        // SAFETY: both descriptors are open, and the event is read during the call.
        match unsafe { libc::epoll_ctl(set, libc::EPOLL_CTL_ADD, member, &raw mut event) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl AsFd for Set {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Takes over a descriptor that the kernel has just made, or the error of the call.
///
/// # Safety
/// Nothing else owns a descriptor of this number.
unsafe fn own(number: RawFd) -> io::Result<OwnedFd> {
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::handover;
    use std::time::Duration;

    fn is_readable(waker: &Waker) -> bool {
        let mut watch = [libc::pollfd {
            fd: waker.as_fd().as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        }];
        handover::poll(&mut watch, Some(Duration::ZERO)).unwrap();
        watch[0].revents != 0
    }

    #[test]
    fn all_wakes_are_read_at_once() {
        let waker = Waker::new().unwrap();
        assert!(!is_readable(&waker));
        (0..3).for_each(|_| waker.wake());
        assert!(is_readable(&waker));
        waker.rest();
        assert!(!is_readable(&waker) && waker.unread.into_inner() == 0);
    }

    #[test]
    fn a_wake_that_is_held_up_is_read_when_it_is_written() {
        let waker = Waker::new().unwrap();
        waker.unread.fetch_add(1, Ordering::Release);
        waker.rest();
        waker.wake();
        waker.rest();
        assert!(!is_readable(&waker));
        waker.write();
        assert!(is_readable(&waker));
        waker.rest();
        assert!(!is_readable(&waker) && waker.unread.into_inner() == 0);
    }
}
