//! A descriptor of time.

#![expect(
    unsafe_code,
    reason = "makes a descriptor that becomes readable by time"
)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// A descriptor that becomes readable at a time (timerfd_create(2)).
#[derive(Debug)]
pub(super) struct Alarm(OwnedFd);

impl Alarm {
    pub(super) fn new() -> io::Result<Self> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: it takes numbers alone.
        let number = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is open, and nothing else owns it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(number) }))
    }

    /// Makes the descriptor readable after a time, and not before; never where none is given.
    pub(super) fn set(&self, time: Option<Duration>) {
        let none = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let value = time.map_or(none, |time| libc::timespec {
            tv_sec: time.as_secs() as i64,
            // One of no time at all would be none.
            tv_nsec: i64::from(time.subsec_nanos().max(1)),
        });
        let times = libc::itimerspec {
            it_interval: none,
            it_value: value,
        };
        // SAFETY: the descriptor is open, and the struct is read during the call.
        unsafe {
            libc::timerfd_settime(
                self.0.as_raw_fd(),
                0,
                &raw const times,
                std::ptr::null_mut(),
            )
        };
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
