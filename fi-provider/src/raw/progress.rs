//! A thread that makes progress for endpoints, while the threads of the program do something else
//! (FI_PROGRESS_AUTO): it sleeps on their descriptors when nothing is to do.
//!
//! An endpoint, with its queues and counters, is of one thread. So the thread opens the endpoints
//! that it serves, and others reach them by functions that it calls ([`Progress::with`]). No handle
//! of an endpoint's ever leaves the thread, as none may be sent. Where all threads of a program use
//! their endpoints by turns, it takes its turns ([`Served::for_each`]), and others wake it when they
//! leave something to do ([`Progress::waker`]).

use super::endpoint::{Endpoint, Outlook};
use super::error::Error;
use super::waker::Waker;
use crate::helper;
use fi_shm::handover;
use fi_shm::wait::{Patience, Waiter};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The pause before another attempt where the system is short of memory.
const FULL: Duration = Duration::from_millis(10);

/// Endpoints, and all of the program's that belongs to them.
pub trait Served: 'static {
    /// Calls `act` with each endpoint.
    fn for_each(&self, act: &mut dyn FnMut(&Endpoint));

    /// Is called after each progress, to take entries, say, and to post buffers again.
    fn turn(&mut self) {}

    /// Returns whether the program waits for something of which no endpoint's descriptor tells: the
    /// thread does not sleep then.
    fn is_untold(&self) -> bool {
        false
    }
}

impl Served for Endpoint {
    fn for_each(&self, act: &mut dyn FnMut(&Endpoint)) {
        act(self);
    }
}

impl Served for Vec<Endpoint> {
    fn for_each(&self, act: &mut dyn FnMut(&Endpoint)) {
        self.iter().for_each(act);
    }
}

/// A thread that serves a `T`. Dropping it ends the thread, which drops the `T` there.
#[derive(Debug)]
pub struct Progress<T: Served> {
    /// None once the thread is to end.
    calls: Option<Sender<Call<T>>>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<()>>,
}

/// A function that the thread calls.
type Call<T> = Box<dyn FnOnce(&mut T) + Send>;

impl<T: Served> Progress<T> {
    /// Starts a thread that serves the value that `open` makes there.
    ///
    /// # Errors
    /// That of `open`; [`Error::System`] where a thread or a descriptor is refused.
    pub fn start(open: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<Self, Error> {
        let waker = Arc::new(Waker::new()?);
        let (calls, called) = mpsc::channel();
        let (tell, told) = mpsc::channel();
        let woken = Arc::clone(&waker);
        let life = move || {
            let opened = open();
            // The starter waits.
            let _ = tell.send(opened.as_ref().map(|_| ()).map_err(|&error| error));
            if let Ok(served) = opened {
                serve(served, &called, &woken);
            }
        };
        let mut started = Self {
            calls: Some(calls),
            waker,
            thread: Some(helper::spawn("farreach-progress", life)?),
        };
        match told.recv() {
            Ok(Ok(())) => Ok(started),
            Ok(Err(error)) => Err(error),
            Err(_) => started.tell_panic(),
        }
    }

    /// Has the thread call `act`, and waits for the result.
    ///
    /// # Panics
    /// Where `act` panics, or has before; and on the thread itself, which would wait for ever.
    pub fn with<R: Send + 'static>(&self, act: impl FnOnce(&mut T) -> R + Send + 'static) -> R {
        let own = self.thread.as_ref().map(|thread| thread.thread().id());
        assert!(
            own != Some(std::thread::current().id()),
            "a progress thread waits for itself"
        );
        let (tell, told) = mpsc::channel();
        self.post(move |served| {
            // The caller waits.
            let _ = tell.send(act(served));
        });
        told.recv().expect("the progress thread has panicked")
    }

    /// Has the thread call `act`, behind those before. Does nothing where one of those has panicked.
    pub fn post(&self, act: impl FnOnce(&mut T) + Send + 'static) {
        if let Some(calls) = &self.calls {
            let _ = calls.send(Box::new(act));
        }
        // Behind the send: the thread looks for calls behind each time that it is woken.
        self.waker.wake();
    }

    /// Returns the waker by which other threads have the thread look at its endpoints, where they use
    /// these themselves: by turns, for which `T` provides.
    pub fn waker(&self) -> &Arc<Waker> {
        &self.waker
    }

    /// Panics as the thread did.
    fn tell_panic(&mut self) -> ! {
        let thread = self.thread.take().map(JoinHandle::join);
        match thread {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            _ => panic!("the progress thread has ended"),
        }
    }
}

impl<T: Served> Drop for Progress<T> {
    fn drop(&mut self) {
        self.calls = None;
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            // A panic there has been told already.
            let _ = thread.join();
        }
    }
}

/// Runs the thread.
fn serve<T: Served>(mut served: T, calls: &Receiver<Call<T>>, waker: &Waker) {
    let mut waiter = Waiter::new(Patience::new(true));
    loop {
        // Before calls are looked for: those that come later wake.
        waker.rest();
        loop {
            match calls.try_recv() {
                Ok(act) => act(&mut served),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
        served.for_each(&mut |endpoint| endpoint.progress());
        served.turn();
        match outlook(&served) {
            Outlook::Quiet => sleep(&served, waker),
            Outlook::Busy => {}
            // Nobody tells when there is room.
            Outlook::Untold => {
                waiter.pause();
                continue;
            }
        }
        waiter = Waiter::new(Patience::new(true));
    }
}

/// Asks all endpoints to wake the thread; returns the prospects of all together.
fn outlook(served: &impl Served) -> Outlook {
    let mut all = Outlook::Quiet;
    served.for_each(&mut |endpoint| {
        // Without a descriptor nobody wakes.
        let one = match endpoint.descriptor() {
            Ok(_) => endpoint.outlook(),
            Err(_) => Outlook::Untold,
        };
        all = all.max(one);
    });
    if served.is_untold() {
        all = all.max(Outlook::Untold);
    }
    all
}

/// Sleeps until a descriptor is readable.
fn sleep(served: &impl Served, waker: &Waker) {
    let watch = |fd: i32| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut watches = vec![watch(waker.as_fd().as_raw_fd())];
    served.for_each(&mut |endpoint| {
        let descriptor = endpoint.descriptor();
        watches.extend(descriptor.map(|fd| watch(fd.as_raw_fd())));
    });
    if handover::poll(&mut watches, None).is_err() {
        std::thread::sleep(FULL);
    }
}
