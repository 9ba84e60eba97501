//! The thread that serves peers while the program is elsewhere.
//!
//! It sleeps on the completion queue's descriptor, or looks from time to time where there is none.
//! As long as threads of the program look at the queue themselves, or sleep on it, it leaves that to
//! them.

use crate::port::{Rest, Shared};
use fi_shm::helper::spawn;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Its time between looks where nothing wakes it.
const PERIOD: Duration = Duration::from_micros(200);

/// Time for which it leaves the queue to a thread of the program that sleeps on it: longer than
/// such a thread sleeps.
const TRUST: Duration = Duration::from_millis(2);

/// Its longest sleep where something does.
const LONGEST: Duration = Duration::from_secs(1);

/// The thread; ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Helper {
    is_over: Arc<AtomicBool>,
    bell: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Helper {
    /// Starts the thread, with all signals blocked.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn start(shared: &Arc<Shared>) -> io::Result<Self> {
        // SAFETY: it takes numbers alone.
        let bell = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if bell < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, and nobody else's.
        let bell = unsafe { OwnedFd::from_raw_fd(bell) };
        let is_over = Arc::new(AtomicBool::new(false));
        let serving = Serving {
            shared: Arc::clone(shared),
            is_over: Arc::clone(&is_over),
            bell: bell.as_raw_fd(),
        };
        let thread = spawn("farreach-ofi", move || serving.run());
        Ok(Self {
            is_over,
            bell,
            thread: Some(thread?),
        })
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // ORDERING: the write to the bell comes behind it.
        self.is_over.store(true, Ordering::Release);
        let one = 1_u64;
        // SAFETY: the number has so many bytes.
        unsafe { libc::write(self.bell.as_raw_fd(), (&raw const one).cast(), 8) };
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Serving {
    shared: Arc<Shared>,
    is_over: Arc<AtomicBool>,
    bell: RawFd,
}

impl Serving {
    fn run(&self) {
        let mut seen = self.looks();
        // Whether a thread that sleeps on the queue is to be trusted to wake and look.
        let mut trusts = true;
        // ORDERING: pairs with the store at the end.
        while !self.is_over.load(Ordering::Acquire) {
            let now = self.looks();
            if now != seen {
                // A thread of the program looks at the queue.
                seen = now;
                trusts = true;
                self.sleep(self.shared.facts.leave, false);
                continue;
            }
            // ORDERING: a hint.
            if trusts && self.shared.sleepers.load(Ordering::Relaxed) > 0 {
                // Where it does not, it is stopped.
                trusts = false;
                self.sleep(TRUST, false);
                continue;
            }
            let mut state = self.shared.state.lock();
            while state.progress() {}
            let rest = state.rest();
            drop(state);
            match rest {
                Rest::None => {}
                Rest::OnQueue => self.sleep(LONGEST, true),
                Rest::ByTime => self.sleep(PERIOD, false),
            }
        }
    }

    fn looks(&self) -> u32 {
        // ORDERING: a hint.
        self.shared.looks.load(Ordering::Relaxed)
    }

    /// Sleeps for so long, or until the end, or, `with_queue`, until something comes.
    fn sleep(&self, time: Duration, with_queue: bool) {
        match self.shared.descriptor.filter(|_| with_queue) {
            Some(queue) => sleep(&[self.bell, queue], time),
            None => sleep(&[self.bell], time),
        };
    }
}

/// Returns whether the descriptor can be read.
pub(crate) fn is_readable(descriptor: RawFd) -> bool {
    sleep(&[descriptor], Duration::ZERO)
}

/// Sleeps for so long, or until one of the descriptors can be read. Returns whether one can.
pub(crate) fn sleep(descriptors: &[RawFd], time: Duration) -> bool {
    let watch = |&fd: &RawFd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut watches: Vec<_> = descriptors.iter().map(watch).collect();
    let count = watches.len() as libc::nfds_t;
    let time = libc::timespec {
        tv_sec: time.as_secs() as i64,
        tv_nsec: time.subsec_nanos().into(),
    };
    // SAFETY: there are so many entries; null leaves the mask of signals.
    let ready = unsafe {
        libc::ppoll(
            watches.as_mut_ptr(),
            count,
            &raw const time,
            std::ptr::null(),
        )
    };
    ready > 0
}
