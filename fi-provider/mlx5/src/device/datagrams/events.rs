//! Completion queues that the library polls, and the file of their events.

use super::super::context::{Context, check};
use super::none;
use crate::error::Error;
use crate::verbs::core::Cq;
use crate::verbs::datagrams::{CompChannel, Wc, wc_status};
use crate::verbs::inline;
use fi_mlx5_defs::cqe::Cqe;
use fi_mlx5_defs::doorbell::CompletionRecord;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;

/// A file of completion events, which does not block.
#[derive(Debug)]
pub(super) struct Channel {
    channel: NonNull<CompChannel>,
    context: Arc<Context>,
}

// SAFETY: libibverbs lets any thread use a channel.
unsafe impl Send for Channel {}
// SAFETY: libibverbs lets several threads do so at a time.
unsafe impl Sync for Channel {}

impl Channel {
    pub(super) fn new(context: &Arc<Context>) -> Result<Self, Error> {
        // SAFETY: the context is open.
        let channel = unsafe { (context.library.create_channel)(context.raw()) };
        let call = "ibv_create_comp_channel";
        let made = Self {
            channel: NonNull::new(channel).ok_or_else(|| Error::last(call))?,
            context: Arc::clone(context),
        };
        let fd = made.raw_fd();
        // SAFETY: the file is open; both commands take and give numbers.
        let result = unsafe {
            let flags = libc::fcntl(fd, libc::F_GETFL);
            libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK)
        };
        check("fcntl", result).map(|()| made)
    }

    fn raw_fd(&self) -> i32 {
        // SAFETY: the channel is alive, and its file does not change.
        unsafe { self.channel.as_ref().fd }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the file is open as long as this, and not -1.
        unsafe { BorrowedFd::borrow_raw(self.raw_fd()) }
    }

    /// Takes the events that are there.
    pub(super) fn drain(&self) -> Result<(), Error> {
        let library = self.context.library;
        loop {
            let (mut cq, mut unused) = (none::<Cq>(), none());
            // SAFETY: the channel is alive, and both results are written where they may be.
            let result =
                unsafe { (library.get_event)(self.channel.as_ptr(), &raw mut cq, &raw mut unused) };
            if result == 0 {
                // SAFETY: the queue that the event is of is alive, as its events are taken back when
                // it is destroyed; this event was not acknowledged.
                unsafe { (library.ack_events)(cq, 1) };
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

impl Drop for Channel {
    fn drop(&mut self) {
        // SAFETY: the queues that use it hold a share of this, hence are gone.
        self.context
            .close(|library| unsafe { (library.destroy_channel)(self.channel.as_ptr()) });
    }
}

/// A completion queue that the library polls.
#[derive(Debug)]
pub(super) struct Polled {
    cq: NonNull<Cq>,
    bytes: u64,
    channel: Arc<Channel>,
}

// SAFETY: libibverbs lets any thread use a queue.
unsafe impl Send for Polled {}

impl Polled {
    pub(super) fn new(channel: &Arc<Channel>, entries: u32) -> Result<Self, Error> {
        let context = &channel.context;
        let create = context.library.create_polled_cq;
        let (file, entries) = (channel.channel.as_ptr(), entries.cast_signed());
        // SAFETY: the context is open, and the channel is of it and alive.
        let cq = unsafe { create(context.raw(), entries, none(), file, 0) };
        let cq = NonNull::new(cq).ok_or_else(|| Error::last("ibv_create_cq"))?;
        // SAFETY: the library gave a queue, whose length does not change. It keeps one entry more.
        let entries = u64::from(unsafe { cq.as_ref().cqe }.cast_unsigned()) + 1;
        let bytes = entries * size_of::<Cqe>() as u64 + size_of::<CompletionRecord>() as u64;
        context.book.count_completions(bytes, true);
        Ok(Self {
            cq,
            bytes,
            channel: Arc::clone(channel),
        })
    }

    pub(super) fn raw(&self) -> *mut Cq {
        self.cq.as_ptr()
    }

    /// Takes the next completion, of a request that `call` has posted.
    pub(super) fn poll(&mut self, call: &'static str) -> Result<Option<Wc>, Error> {
        // SAFETY: a structure of numbers, of which zero is one.
        let mut done: Wc = unsafe { zeroed() };
        // SAFETY: the queue is alive, and no other thread has it.
        match unsafe { inline::poll_cq(self.cq.as_ptr(), &mut done) } {
            0 => Ok(None),
            1 if done.status == wc_status::SUCCESS => Ok(Some(done)),
            1 => {
                let what = format!("status {} (enum ibv_wc_status)", done.status);
                Err(Error::Unexpected { call, what })
            }
            _ => Err(Error::last("ibv_poll_cq")),
        }
    }

    /// Asks for an event with the next completion.
    pub(super) fn arm(&mut self) -> Result<(), Error> {
        // SAFETY: the queue is alive.
        check("ibv_req_notify_cq", unsafe {
            inline::req_notify_cq(self.cq.as_ptr())
        })
    }
}

impl Drop for Polled {
    fn drop(&mut self) {
        let context = &self.channel.context;
        context.book.count_completions(self.bytes, false);
        // SAFETY: the queue pair that used it is gone: it is dropped before.
        context.close(|library| unsafe { (library.destroy_cq)(self.cq.as_ptr()) });
    }
}
