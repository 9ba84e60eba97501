//! Wait objects (fi_cq_open(3), fi_trywait(3)): the descriptors on which threads sleep that wait for a
//! queue or a counter. Each is a set of those of the domain's endpoints, which bring something, and of
//! a waker, by which the thread is told that brings it. In a domain with automatic progress the set is
//! the waker alone: the domain's thread makes the progress.

use crate::automatic::keep_armed;
use crate::object::{Code, object};
use crate::state::{Ep, Objects};
use crate::{cntr, cq, eq};
use fi_ofi_abi::*;
use fi_provider::node::wait::{Patience, Waiter};
use fi_provider::raw::endpoint::Endpoint;
use fi_provider::raw::waker::{Set, Waker};
use std::cell::{Cell, OnceCell};
use std::ffi::{c_int, c_void};
use std::io::{Error, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// The wait object of a queue or a counter.
#[derive(Debug, Default)]
pub(crate) struct WaitObject {
    /// Made when it is needed first.
    descriptors: OnceCell<Descriptors>,
    /// Whether a thread may sleep, which looked at the queue or the counter before.
    is_armed: Cell<bool>,
}

#[derive(Debug)]
struct Descriptors {
    set: Set,
    waker: Waker,
}

/// Time that a thread looks again and again before it sleeps.
const AWAKE: Duration = Duration::from_micros(50);

impl Descriptors {
    fn new() -> Result<Self, Code> {
        let (set, waker) = (Set::new().map_err(code)?, Waker::new().map_err(code)?);
        set.add(&waker).map_err(code)?;
        Ok(Self { set, waker })
    }

    /// Has threads that sleep wake for an endpoint.
    fn add(&self, raw: &Endpoint) -> Result<(), Code> {
        let fd = raw.descriptor().map_err(|error| error.code())?;
        self.set.add(&fd).map_err(code)
    }
}

impl WaitObject {
    /// Wakes the threads that sleep.
    pub(crate) fn wake(&self) {
        if self.is_armed.take()
            && let Some(descriptors) = self.descriptors.get()
        {
            descriptors.waker.wake();
        }
    }
}

/// Returns the code of an error of the system.
pub(crate) fn code(error: Error) -> Code {
    error.raw_os_error().unwrap_or(libc::EIO)
}

impl Objects {
    /// Returns the descriptors of a wait object.
    fn descriptors<'a>(&mut self, wait: &'a WaitObject) -> Result<&'a Descriptors, Code> {
        if let Some(made) = wait.descriptors.get() {
            return Ok(made);
        }
        let made = Descriptors::new()?;
        if self.automatic.is_none() {
            for raw in self.running.iter().filter_map(|ep| ep.raw.get()) {
                made.add(raw)?;
            }
        }
        self.has_waits = true;
        self.note_special();
        Ok(wait.descriptors.get_or_init(|| made))
    }

    /// Returns a descriptor of its own of a wait object.
    pub(crate) fn descriptor(&mut self, wait: &WaitObject) -> Result<OwnedFd, Code> {
        let set = self.descriptors(wait)?.set.as_fd();
        set.try_clone_to_owned().map_err(|_| libc::EMFILE)
    }

    /// Has threads that sleep wake for a new endpoint, too.
    ///
    /// # Errors
    /// That of the system where it has no room for a descriptor.
    pub(crate) fn watch(&mut self, ep: &Ep) -> Result<(), Code> {
        if let Some(automatic) = &mut self.automatic {
            automatic.wake();
            return Ok(());
        }
        if let Some(raw) = ep.raw.get() {
            let made = |wait: &WaitObject| match wait.descriptors.get() {
                Some(made) => made.add(raw),
                None => Ok(()),
            };
            let mut queues = self.queues.iter();
            queues.try_for_each(|(_, queue)| made(&queue.wait))?;
            let mut counters = self.counters.iter();
            counters.try_for_each(|(_, counter)| made(&counter.wait))?;
        }
        self.wake();
        Ok(())
    }

    /// Wakes all threads that sleep.
    #[cold]
    pub(crate) fn wake(&mut self) {
        self.queues.iter().for_each(|(_, queue)| queue.wait.wake());
        let counters = self.counters.iter();
        counters.for_each(|(_, counter)| counter.wait.wake());
        self.has_watchers = self.automatic.is_some();
    }

    /// Wakes threads that sleep whose queue or counter has something, after progress, or after an
    /// operation `has_begun`; and the thread that makes progress while they sleep, where there is
    /// some to make.
    #[cold]
    pub(crate) fn tell_news(&mut self, has_begun: bool) {
        let mut is_any_armed = false;
        let mut tell = |wait: &WaitObject, has_news: &dyn Fn() -> bool| {
            if wait.is_armed.get() && has_news() {
                wait.wake();
            }
            is_any_armed |= wait.is_armed.get();
        };
        for (_, queue) in self.queues.iter() {
            tell(&queue.wait, &|| queue.has_entries());
        }
        for (_, counter) in self.counters.iter() {
            tell(&counter.wait, &|| counter.has_changed());
        }
        self.has_watchers = is_any_armed || self.automatic.is_some();
        match &mut self.automatic {
            Some(automatic) => automatic.wake_for(&self.running, has_begun),
            None if is_any_armed && !keep_armed(&self.running, has_begun) => self.wake(),
            None => {}
        }
    }

    /// Lets a thread sleep on the descriptor that has found nothing in its queue or counter. Returns the
    /// descriptor, which stays as long as the wait object.
    ///
    /// # Errors
    /// EAGAIN where it must not: something is there, or nobody would tell of it.
    pub(crate) fn arm(&mut self, wait: &WaitObject) -> Result<RawFd, Code> {
        let descriptors = self.descriptors(wait)?;
        descriptors.waker.rest();
        let mut endpoints = self.running.iter().filter_map(|ep| ep.raw.get());
        if self.automatic.is_none() && !endpoints.all(Endpoint::arm_for_more) {
            // Others may sleep, whose descriptors do not tell of these any more.
            self.wake();
            return Err(libc::EAGAIN);
        }
        wait.is_armed.set(true);
        self.has_watchers = true;
        Ok(descriptors.set.as_fd().as_raw_fd())
    }
}

/// A thread that waits for a queue or a counter.
pub(crate) struct Wait {
    start: Instant,
    limit: Option<Duration>,
    waiter: Waiter,
    sleeps: bool,
    /// Whether a signal has ended a sleep.
    is_interrupted: bool,
}

impl Wait {
    /// Makes a wait of so many milliseconds, negative for ever, in which the thread `sleeps` or
    /// not.
    pub(crate) fn new(timeout: c_int, sleeps: bool) -> Self {
        Self {
            start: Instant::now(),
            limit: u64::try_from(timeout).ok().map(Duration::from_millis),
            waiter: Waiter::new(Patience::new(false)),
            sleeps,
            is_interrupted: false,
        }
    }

    /// Tells why a wait ends for which nothing has come: EINTR where a signal has ended a sleep,
    /// and
    /// `late` where the time is over.
    pub(crate) fn end(&self, late: Code) -> Option<Code> {
        if self.is_interrupted {
            return Some(libc::EINTR);
        }
        let is_over = |limit| self.start.elapsed() >= limit;
        self.limit.is_some_and(is_over).then_some(late)
    }

    /// Waits a while, or until something comes where `arm` lets the thread sleep on a descriptor;
    /// not longer than until a signal comes while it sleeps.
    pub(crate) fn pause(&mut self, arm: impl FnOnce() -> Result<RawFd, Code>) {
        let waited = self.start.elapsed();
        let fd = (self.sleeps && waited >= AWAKE).then(arm);
        let Some(Ok(fd)) = fd else {
            self.is_interrupted |= self.waiter.pause_until_signal();
            return;
        };
        let left = self.limit.map(|limit| limit.saturating_sub(waited));
        // Not less than the time that is left.
        let left = left.map(|left| left.as_millis().saturating_add(1));
        let left = left.map_or(-1, |left| c_int::try_from(left).unwrap_or(c_int::MAX));
        let mut poll = libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one record is there.
        if unsafe { libc::poll(&raw mut poll, 1, left) } < 0 {
            self.is_interrupted |= Error::last_os_error().kind() == ErrorKind::Interrupted;
        }
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
