//! The descriptor by which the thread of an endpoint is woken (eventfd(2)).

#![expect(unsafe_code, reason = "makes a descriptor")]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// See the module's documentation.
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
        // SAFETY: eventfd takes numbers alone.
        let number = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just made this descriptor, and nothing else owns it.
        let event = unsafe { OwnedFd::from_raw_fd(number) };
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
