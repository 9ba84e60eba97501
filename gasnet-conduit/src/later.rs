//! Requests of handlers, which are sent when the handlers are over.

use crate::engine::{Core, LATER};
use crate::error::Error;
use crate::remote::Failed;
use crate::send::{Payload, header};
use fi_provider::raw::error as raw;
use std::cell::RefCell;
use std::collections::VecDeque;

/// Requests that are to be sent: the receiver's rank, and the words.
#[derive(Debug, Default)]
pub(crate) struct Later(RefCell<VecDeque<(u32, [u64; 2])>>);

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
        self.later.0.borrow_mut().push_back((rank, words));
        self.rest.set(LATER, true);
        Ok(())
    }

    /// Sends the requests of handlers, as there is room. A receiver that has ended makes the next
    /// poll fail.
    #[cold]
    #[inline(never)]
    pub(crate) fn push_later(&self) {
        let mut later = self.later.0.borrow_mut();
        while let Some(&(rank, words)) = later.front() {
            match self.requests.inject_words(rank, words, &[]) {
                Err(raw::Error::Again) => return,
                Ok(()) => {}
                Err(error) => self.failed.set(Some(Failed(error))),
            }
            later.pop_front();
        }
        self.rest.set(LATER, false);
    }
}
