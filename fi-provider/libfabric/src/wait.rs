//! Sleeping until something comes (fi_trywait(3), FI_WAIT_FD): all queues and counters of a domain
//! sleep on one descriptor, which epoll(7) makes of those of its endpoints and of a bell. The bell is
//! for threads that find for each other what the endpoints have.

use crate::object::{Code, object};
use crate::state::{Ep, Objects};
use crate::{cntr, cq, eq};
use fi_ofi_abi::*;
use fi_provider::node::wait::{Patience, Waiter};
use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// The descriptor of a domain.
#[derive(Debug)]
pub(crate) struct Waits {
    epoll: OwnedFd,
    bell: OwnedFd,
    /// Whether a thread may sleep, which looked at all queues and counters before.
    is_armed: bool,
}

/// How long a thread looks again and again before it sleeps.
const AWAKE: Duration = Duration::from_micros(50);

/// Returns the descriptor that a system call has made.
fn made(fd: RawFd) -> Result<OwnedFd, Code> {
    if fd < 0 {
        return Err(std::io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EIO));
    }
    // SAFETY: the call has returned a descriptor that is nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Makes a descriptor that is readable once it was rung.
pub(crate) fn bell() -> Result<OwnedFd, Code> {
    // SAFETY: eventfd may be called with these arguments.
    made(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })
}

/// Makes a bell readable.
pub(crate) fn ring(bell: &OwnedFd) {
    let one = 1_u64;
    // SAFETY: eight bytes are there. A bell that is full is readable.
    unsafe { libc::write(bell.as_raw_fd(), (&raw const one).cast(), 8) };
}

/// Makes a bell silent.
pub(crate) fn hush(bell: &OwnedFd) {
    let mut count = 0_u64;
    // SAFETY: there is room for eight bytes. A bell that was not rung has nothing to read.
    unsafe { libc::read(bell.as_raw_fd(), (&raw mut count).cast(), 8) };
}

impl Waits {
    fn new() -> Result<Self, Code> {
        let waits = Self {
            // SAFETY: epoll_create1 may be called with this argument.
            epoll: made(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?,
            bell: bell()?,
            is_armed: false,
        };
        waits.add(waits.bell.as_raw_fd())?;
        Ok(waits)
    }

    /// Adds a descriptor, which leaves when it is closed.
    fn add(&self, fd: RawFd) -> Result<(), Code> {
        let mut event = libc::epoll_event {
            events: libc::EPOLLIN as u32,
            u64: 0,
        };
        let (epoll, add) = (self.epoll.as_raw_fd(), libc::EPOLL_CTL_ADD);
        // SAFETY: both are open, and the event is there during the call.
        match unsafe { libc::epoll_ctl(epoll, add, fd, &raw mut event) } {
            0 => Ok(()),
            _ => Err(libc::ENOMEM),
        }
    }
}

impl Objects {
    /// Returns the descriptor of the domain, made at the first call.
    fn waits(&mut self) -> Result<&mut Waits, Code> {
        if self.waits.is_none() {
            let waits = Waits::new()?;
            for ep in &self.running {
                if let Some(raw) = ep.raw.get() {
                    let fd = raw.descriptor().map_err(|error| error.code())?;
                    waits.add(fd.as_raw_fd())?;
                }
            }
            self.waits = Some(waits);
            self.note_special();
        }
        self.waits.as_mut().ok_or(libc::ENOMEM)
    }

    /// Returns a descriptor of its own for a queue or a counter.
    pub(crate) fn descriptor(&mut self) -> Result<OwnedFd, Code> {
        let epoll = &self.waits()?.epoll;
        epoll.try_clone().map_err(|_| libc::EMFILE)
    }

    /// Has threads that sleep wake for a new endpoint, too.
    ///
    /// # Errors
    /// That of the system where it has no room for a descriptor.
    pub(crate) fn watch(&mut self, ep: &Ep) -> Result<(), Code> {
        if let Some((waits, raw)) = self.waits.as_ref().zip(ep.raw.get()) {
            let fd = raw.descriptor().map_err(|error| error.code())?;
            waits.add(fd.as_raw_fd())?;
        }
        self.wake();
        Ok(())
    }

    /// Tells whether a thread may sleep.
    pub(crate) fn is_armed(&self) -> bool {
        self.waits.as_ref().is_some_and(|waits| waits.is_armed)
    }

    /// Wakes threads that sleep.
    #[cold]
    pub(crate) fn wake(&mut self) {
        if let Some(waits) = &mut self.waits {
            waits.is_armed = false;
            ring(&waits.bell);
        }
    }

    /// Wakes threads that sleep if a queue or a counter has something.
    #[cold]
    pub(crate) fn wake_for_news(&mut self) {
        let has_entries = self.queues.iter().any(|(_, queue)| queue.has_entries());
        if has_entries
            || self
                .counters
                .iter()
                .any(|(_, counter)| counter.has_changed())
        {
            self.wake();
        }
    }

    /// Lets a thread sleep on the descriptor that has found nothing in its queue or counter.
    ///
    /// # Errors
    /// EAGAIN where it must not: something is there, or nobody would tell of it.
    pub(crate) fn arm(&mut self) -> Result<(), Code> {
        let waits = self.waits()?;
        hush(&waits.bell);
        waits.is_armed = true;
        let mut endpoints = self.running.iter().filter_map(|ep| ep.raw.get());
        if endpoints.all(|raw| raw.arm_for_more()) {
            Ok(())
        } else {
            Err(libc::EAGAIN)
        }
    }
}

/// A thread that waits for a queue or a counter.
pub(crate) struct Wait {
    start: Instant,
    limit: Option<Duration>,
    waiter: Waiter,
    sleeps: bool,
}

impl Wait {
    /// A wait of so many milliseconds, negative for ever, in which the thread `sleeps` or not.
    pub(crate) fn new(timeout: c_int, sleeps: bool) -> Self {
        Self {
            start: Instant::now(),
            limit: u64::try_from(timeout).ok().map(Duration::from_millis),
            waiter: Waiter::new(Patience::new(false)),
            sleeps,
        }
    }

    /// Tells whether the time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.limit
            .is_some_and(|limit| self.start.elapsed() >= limit)
    }

    /// Waits a while, or until something comes where `arm` lets the thread sleep on a descriptor.
    pub(crate) fn pause(&mut self, arm: impl FnOnce() -> Result<RawFd, Code>) {
        let waited = self.start.elapsed();
        if !self.sleeps || waited < AWAKE {
            self.waiter.pause();
            return;
        }
        let Ok(fd) = arm() else {
            self.waiter.pause();
            return;
        };
        let left = self.limit.map(|limit| limit.saturating_sub(waited));
        // Not less than what is left.
        let left = left.map(|left| left.as_millis().saturating_add(1));
        let left = left.map_or(-1, |left| c_int::try_from(left).unwrap_or(c_int::MAX));
        let mut poll = libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one record is there.
        unsafe { libc::poll(&raw mut poll, 1, left) };
    }
}

impl Objects {
    /// Does as [`Objects::arm`], and returns the descriptor, which stays as long as the domain.
    pub(crate) fn arm_to_sleep(&mut self) -> Result<RawFd, Code> {
        self.arm()?;
        Ok(self.waits()?.epoll.as_raw_fd())
    }
}

/// Answers FI_GETWAIT of a queue or a counter.
///
/// # Safety
/// `argument` is NULL or leads to room for a descriptor.
pub(crate) unsafe fn control(
    fd: Option<&OwnedFd>,
    command: c_int,
    argument: *mut c_void,
) -> Result<(), Code> {
    let fd = fd.filter(|_| command == FI_GETWAIT).ok_or(FI_ENOSYS)?;
    if argument.is_null() {
        return Err(libc::EINVAL);
    }
    // SAFETY: there is room for a descriptor.
    unsafe { argument.cast::<c_int>().write(fd.as_raw_fd()) };
    Ok(())
}

/// Tells whether threads may sleep on the descriptors of objects (fi_trywait).
pub(crate) unsafe extern "C" fn trywait(
    _: *mut FidFabric,
    fids: *mut *mut Fid,
    count: c_int,
) -> c_int {
    if count < 0 || fids.is_null() && count > 0 {
        return -libc::EINVAL;
    }
    for index in 0..count as usize {
        // SAFETY: `fids` leads to `count` open objects, by fi_poll(3).
        let (fid, class) = unsafe {
            let fid = *fids.add(index);
            (fid, (*fid).fclass)
        };
        let quiet = match class {
            FI_CLASS_CQ => object!(cq::Object, fid).trywait(),
            FI_CLASS_CNTR => object!(cntr::Object, fid).trywait(),
            FI_CLASS_EQ => object!(eq::Object, fid).trywait(),
            _ => Err(FI_ENOSYS),
        };
        if let Err(code) = quiet {
            return -code;
        }
    }
    0
}
