//! Files of completion events.

use super::context::{Context, check, none};
use crate::error::Error;
use crate::verbs::core::{CompChannel, Cq};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A file that is readable when completion queues that were made for it have events: each does,
/// behind [`CompletionQueue::arm`](super::CompletionQueue::arm), with its next completion. It does
/// not block; for poll(2) and its like alone.
#[derive(Clone, Debug)]
pub struct Channel(Arc<Open>);

#[derive(Debug)]
struct Open {
    channel: NonNull<CompChannel>,
    context: Arc<Context>,
}

// SAFETY: libibverbs lets any thread use a channel.
unsafe impl Send for Open {}
// SAFETY: libibverbs lets several threads do so at a time.
unsafe impl Sync for Open {}

impl Channel {
    pub(super) fn new(context: &Arc<Context>) -> Result<Self, Error> {
        // SAFETY: the context is open.
        let channel = unsafe { (context.library.create_channel)(context.raw()) };
        let call = "ibv_create_comp_channel";
        let made = Self(Arc::new(Open {
            channel: NonNull::new(channel).ok_or_else(|| Error::last(call))?,
            context: Arc::clone(context),
        }));
        let fd = made.0.raw_fd();
        // SAFETY: the file is open; both commands take and give numbers.
        let result = unsafe {
            let flags = libc::fcntl(fd, libc::F_GETFL);
            libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK)
        };
        check("fcntl", result).map(|()| made)
    }

    pub(super) fn raw(&self) -> *mut CompChannel {
        self.0.channel.as_ptr()
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.0.context
    }

    /// Takes the events that are there, so that the file is not readable.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn drain(&self) -> Result<(), Error> {
        let library = self.0.context.library;
        loop {
            let (mut cq, mut events) = (none::<Cq>(), none());
            // SAFETY: the channel is alive, and both results are written where they may be.
            let result = unsafe { (library.get_event)(self.raw(), &raw mut cq, &raw mut events) };
            if result == 0 {
                // SAFETY: the queue that the event is of is alive, as its events are taken back when
                // it is destroyed; it was made with null or with its count of events, which it
                // keeps as long as it lives. This event was not acknowledged.
                unsafe {
                    if let Some(events) = events.cast::<AtomicU32>().as_ref() {
                        // ORDERING: only a number, of threads that take turns with the queue.
                        events.fetch_add(1, Ordering::Relaxed);
                    }
                    (library.ack_events)(cq, 1);
                }
                continue;
            }
            match io::Error::last_os_error().kind() {
                io::ErrorKind::WouldBlock => return Ok(()),
                io::ErrorKind::Interrupted => {}
                _ => return Err(Error::last("ibv_get_cq_event")),
            }
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the file is open as long as this, and not -1.
        unsafe { BorrowedFd::borrow_raw(self.0.raw_fd()) }
    }
}

impl Open {
    fn raw_fd(&self) -> i32 {
        // SAFETY: the channel is alive, and its file does not change.
        unsafe { self.channel.as_ref().fd }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: the queues that use it hold a share of this, hence are gone.
        self.context
            .close(|library| unsafe { (library.destroy_channel)(self.channel.as_ptr()) });
    }
}
