//! Completion queues that the library polls.

use super::super::channel::Channel;
use super::super::context::{check, none};
use crate::error::Error;
use crate::verbs::core::Cq;
use crate::verbs::datagrams::{Wc, wc_status};
use crate::verbs::inline;
use fi_mlx5_defs::cqe::Cqe;
use fi_mlx5_defs::doorbell::CompletionRecord;
use std::mem::{size_of, zeroed};
use std::ptr::NonNull;

/// A completion queue that the library polls.
#[derive(Debug)]
pub(super) struct Polled {
    cq: NonNull<Cq>,
    bytes: u64,
    channel: Channel,
}

// SAFETY: libibverbs lets any thread use a queue.
unsafe impl Send for Polled {}

impl Polled {
    pub(super) fn new(channel: &Channel, entries: u32) -> Result<Self, Error> {
        let context = channel.context();
        let create = context.library.create_polled_cq;
        let (file, entries) = (channel.raw(), entries.cast_signed());
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
            channel: channel.clone(),
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
        let context = self.channel.context();
        context.book.count_completions(self.bytes, false);
        // SAFETY: the queue pair that used it is gone: it is dropped before.
        context.close(|library| unsafe { (library.destroy_cq)(self.cq.as_ptr()) });
    }
}
