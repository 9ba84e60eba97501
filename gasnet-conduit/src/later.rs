//! Requests of handlers, which are sent when the handlers are over.

use crate::engine::{Core, LATER};
use crate::error::Error;
use crate::remote::Failed;
use crate::send::{Payload, header};
use fi_provider::raw::error as raw;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

/// Requests that are to be sent.
#[derive(Debug, Default)]
pub(crate) struct Later {
    /// The receiver's rank, and the words.
    requests: RefCell<VecDeque<(u32, [u64; 2])>>,
    /// Whether there are any, for threads without a turn.
    has_any: AtomicBool,
}

impl Core {
    /// Sends a short request of two arguments to another process, in a handler: the progress that
    /// has called it does so behind it, or, where there is no room, the next one that finds some.
    ///
    /// # Errors
    /// [`Error::Argument`]; [`Error::NotNow`] outside of handlers.
    pub fn request_later(&self, rank: u32, handler: u8, args: [u32; 2]) -> Result<(), Error> {
        if !self.running.is_here() {
            return Err(Error::NotNow("no handler runs"));
        }
        self.check_rank(rank)?;
        if rank == self.rank {
            return Err(Error::Argument("a process sends itself nothing later"));
        }
        let words = [
            header(handler, &args, Payload::None).to_word(),
            u64::from(args[0]) | u64::from(args[1]) << 32,
        ];
        self.later.requests.borrow_mut().push_back((rank, words));
        self.set_later(true);
        Ok(())
    }

    /// Returns whether requests of handlers are still to be sent: progress sends them.
    pub fn has_later(&self) -> bool {
        // ORDERING: pairs with the release in `set_later`: a thread that sees the effects of a
        // handler behind its request sees the request, too.
        self.later.has_any.load(Ordering::Acquire)
    }

    fn set_later(&self, has_any: bool) {
        self.rest.set(LATER, has_any);
        // ORDERING: pairs with the acquire in `has_later`.
        self.later.has_any.store(has_any, Ordering::Release);
    }

    /// Sends the requests of handlers, as there is room. A receiver that has ended makes the next
    /// poll fail.
    #[cold]
    #[inline(never)]
    pub(crate) fn push_later(&self) {
        let mut later = self.later.requests.borrow_mut();
        while let Some(&(rank, words)) = later.front() {
            match self.requests.inject_words(rank, words, &[]) {
                Err(raw::Error::Again) => return,
                Ok(()) => {}
                Err(error) => self.failed.set(Some(Failed(error))),
            }
            later.pop_front();
        }
        self.set_later(false);
    }
}
