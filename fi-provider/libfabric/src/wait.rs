//! Sleeping until something comes (fi_trywait(3), FI_WAIT_FD): all queues and counters of a domain
//! sleep on one descriptor, a set of those of its endpoints and of a waker. The waker wakes
//! threads for whose queue or counter another thread has made progress.

use crate::object::{Code, object};
use crate::state::{Ep, Objects};
use crate::{cntr, cq, eq};
use fi_ofi_abi::*;
use fi_provider::node::wait::{Patience, Waiter};
use fi_provider::raw::endpoint::Endpoint;
use fi_provider::raw::waker::{Set, Waker};
use std::ffi::{c_int, c_void};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// The descriptor of a domain.
#[derive(Debug)]
pub(crate) struct Waits {
    set: Set,
    waker: Waker,
    /// Whether a thread may sleep, which looked at all queues and counters before.
    is_armed: bool,
}

/// How long a thread looks again and again before it sleeps.
const AWAKE: Duration = Duration::from_micros(50);

impl Waits {
    fn new() -> Result<Self, Code> {
        let (set, waker) = (Set::new().map_err(code)?, Waker::new().map_err(code)?);
        set.add(&waker).map_err(code)?;
        Ok(Self {
            set,
            waker,
            is_armed: false,
        })
    }

    /// Has threads that sleep wake for an endpoint.
    fn add(&self, raw: &Endpoint) -> Result<(), Code> {
        let fd = raw.descriptor().map_err(|error| error.code())?;
        self.set.add(&fd).map_err(code)
    }
}

/// Returns the code of an error of the system.
pub(crate) fn code(error: std::io::Error) -> Code {
    error.raw_os_error().unwrap_or(libc::EIO)
}

impl Objects {
    /// Returns the descriptor of the domain, made at the first call.
    fn waits(&mut self) -> Result<&mut Waits, Code> {
        if self.waits.is_none() {
            let waits = Waits::new()?;
            for ep in &self.running {
                if let Some(raw) = ep.raw.get() {
                    waits.add(raw)?;
                }
            }
            self.waits = Some(waits);
            self.note_special();
        }
        self.waits.as_mut().ok_or(libc::ENOMEM)
    }

    /// Returns a descriptor of its own for a queue or a counter.
    pub(crate) fn descriptor(&mut self) -> Result<OwnedFd, Code> {
        let set = self.waits()?.set.as_fd();
        set.try_clone_to_owned().map_err(|_| libc::EMFILE)
    }

    /// Has threads that sleep wake for a new endpoint, too.
    ///
    /// # Errors
    /// That of the system where it has no room for a descriptor.
    pub(crate) fn watch(&mut self, ep: &Ep) -> Result<(), Code> {
        if let Some((waits, raw)) = self.waits.as_ref().zip(ep.raw.get()) {
            waits.add(raw)?;
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
            waits.waker.wake();
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
        waits.waker.rest();
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
        Ok(self.waits()?.set.as_fd().as_raw_fd())
    }
}

/// Answers FI_GETWAIT of a queue or a counter.
///
/// # Safety
/// `argument` is NULL or leads to room for a descriptor.
pub(crate) unsafe fn control(
    fd: Option<BorrowedFd<'_>>,
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
