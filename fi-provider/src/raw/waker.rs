//! The descriptors by which the thread of an endpoint is woken.

#![expect(unsafe_code, reason = "makes descriptors")]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// A descriptor that the own process makes readable (eventfd(2)).
#[derive(Debug)]
pub(crate) struct Waker {
    event: File,
    /// Whether the descriptor may be readable: it is read only then.
    is_set: AtomicBool,
}

impl Waker {
    /// # Errors
    /// That of eventfd(2).
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: eventfd takes numbers alone, and gives a descriptor that nothing else owns.
        let event = unsafe { own(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))? };
        Ok(Self {
            event: event.into(),
            is_set: AtomicBool::new(false),
        })
    }

    /// Makes the descriptor readable.
    pub(crate) fn wake(&self) {
        // One that has been written 2^64 - 2 times is readable already.
        let _ = (&self.event).write(&1_u64.to_ne_bytes());
        // ORDERING: pairs with the swap in `rest`: behind the write, so that the read comes behind
        // it, too.
        self.is_set.store(true, Ordering::Release);
    }

    /// Has the descriptor be readable no longer, until [`Waker::wake`]: once more, perhaps, where
    /// that is called just now.
    pub(crate) fn rest(&self) {
        // ORDERING: pairs with the store in `wake`.
        if self.is_set.swap(false, Ordering::Acquire) {
            // There may be nothing to read: two wakes, of which the first read has taken both.
            let _ = (&self.event).read(&mut [0; size_of::<u64>()]);
        }
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// A descriptor that is readable when one of two others is (epoll(7)).
#[derive(Debug)]
pub(crate) struct Both(OwnedFd);

impl Both {
    /// # Errors
    /// That of epoll_create1(2) or epoll_ctl(2).
    pub(crate) fn new(one: &impl AsFd, other: &impl AsFd) -> io::Result<Self> {
        // SAFETY: epoll_create1 takes a number alone, and gives a descriptor that nothing else owns.
        let set = unsafe { own(libc::epoll_create1(libc::EPOLL_CLOEXEC))? };
        for member in [one.as_fd(), other.as_fd()] {
            let mut event = libc::epoll_event {
                events: libc::EPOLLIN as u32,
                u64: 0,
            };
            let (set, member) = (set.as_raw_fd(), member.as_raw_fd());
            // SAFETY: both descriptors are open, and the event is read during the call.
            let added =
                unsafe { libc::epoll_ctl(set, libc::EPOLL_CTL_ADD, member, &raw mut event) };
            if added != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(Self(set))
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
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
