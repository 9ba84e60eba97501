//! Peers that something is waited for, and sleeping until libfabric tells of something.

#![expect(
    unsafe_code,
    reason = "makes a descriptor that becomes readable by time"
)]

use super::{Kind, Libfabric, Notice};
use crate::raw::endpoint::{Endpoint, Link, Outlook};
use crate::raw::error::Error;
use crate::raw::waker::{Set, Waker};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// How long a peer may be silent while something is waited for, before it is probed.
const SILENCE: Duration = Duration::from_secs(1);
/// Turns that find nothing, between two looks at the clock.
const TURNS: u32 = 256;

/// A descriptor that becomes readable at a time (timerfd_create(2)).
#[derive(Debug)]
pub(super) struct Alarm(OwnedFd);

impl Alarm {
    fn new() -> io::Result<Self> {
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
    fn set(&self, time: Option<Duration>) {
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

impl Libfabric {
    /// The descriptor that is readable when this one is, or libfabric tells of something.
    pub(crate) fn descriptor(&self, waker: &Waker) -> Result<BorrowedFd<'_>, Error> {
        if let Some((set, _)) = self.sleep.get() {
            return Ok(set.as_fd());
        }
        let (set, alarm) = (Set::new()?, Alarm::new()?);
        set.add(waker)?;
        set.add(&alarm)?;
        if let Some(queue) = self.messenger.descriptor() {
            // SAFETY: the descriptor is open as long as the messenger, and so longer than the call.
            set.add(&unsafe { BorrowedFd::borrow_raw(queue) })?;
        }
        Ok(self.sleep.get_or_init(|| (set, alarm)).0.as_fd())
    }
}

impl Endpoint {
    /// Whether something is waited for that the peer's process does.
    fn is_waiting_for(&self, link: &Link) -> bool {
        let line = link.libfabric().is_some_and(|path| path.line.is_waiting());
        link.is_alive() && (line || link.asked.get() > 0 || link.burden() > 0)
    }

    /// Notes a turn that has found nothing. Peers that something is waited for are probed now and
    /// then: libfabric tells of those that are gone.
    pub(super) fn note_idle_turn(&self, libfabric: &Libfabric) {
        let turns = libfabric.idle_turns.get().wrapping_add(1);
        libfabric.idle_turns.set(turns);
        if turns.is_multiple_of(TURNS) {
            self.probe_by_libfabric(libfabric);
        }
    }

    /// Probes peers if it is time. Returns when it will be, where something is waited for.
    fn probe_by_libfabric(&self, libfabric: &Libfabric) -> Option<Duration> {
        let silent = libfabric.probed.get().elapsed();
        let left = SILENCE.checked_sub(silent);
        let links = self.libfabric_links();
        let mut waiting = links.iter().filter(|link| self.is_waiting_for(link));
        if let Some(left) = left {
            return waiting.next().map(|_| left);
        }
        libfabric.probed.set(Instant::now());
        let probed = waiting.filter_map(|link| link.libfabric());
        let count = probed.map(|path| {
            let notice = Notice {
                peer: path.line.peer,
                kind: Kind::Probe,
                line: path.line.id,
                words: [0; 4],
            };
            if !libfabric.try_to_tell(notice) && path.line.is_refused() {
                libfabric.note_end(path.line.peer);
            }
        });
        (count.count() > 0).then_some(SILENCE)
    }

    /// Has the endpoint's descriptor become readable when libfabric has something.
    pub(crate) fn arm_libfabric(&self, libfabric: &Libfabric) -> Outlook {
        let waits = libfabric.arrivals.borrow().has_left()
            || !libfabric.owed.borrow().is_empty()
            || !libfabric.ungreeted.borrow().is_empty();
        let Some((_, alarm)) = libfabric.sleep.get().filter(|_| !waits) else {
            return Outlook::Untold;
        };
        if libfabric.messenger.descriptor().is_none() {
            return Outlook::Untold;
        }
        alarm.set(self.probe_by_libfabric(libfabric));
        if libfabric.has_ended.get() || !libfabric.messenger.may_sleep() {
            return Outlook::Busy;
        }
        Outlook::Quiet
    }
}
