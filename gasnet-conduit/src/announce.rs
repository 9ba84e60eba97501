//! Short messages by either of the endpoints: a process that has left a handler for ever takes
//! messages by the other one alone.

use crate::engine::Engine;
use crate::error::Error;
use crate::lock::Guard;
use crate::send::{Payload, header};

impl<G: Guard> Engine<G> {
    /// Sends a short message of two arguments to another process: as a request, or as a reply that
    /// answers nothing, where that is possible at once. Sent in both ways it reaches a process that
    /// has left a handler of a request or of a reply ([`Engine::leave_handler`]), too.
    ///
    /// # Errors
    /// [`Error::WouldWait`] where there is no room; [`Error::Argument`], [`Error::Peer`],
    /// [`Error::NotNow`] in a handler.
    pub fn announce(
        &self,
        rank: u32,
        handler: u8,
        args: [u32; 2],
        as_reply: bool,
    ) -> Result<(), Error> {
        let core = &self.core;
        core.check_rank(rank)?;
        if rank == core.rank {
            return Err(Error::Argument("a process announces nothing to itself"));
        }
        let _turn = self.turn()?;
        let words = [
            header(handler, &args, Payload::None).to_word(),
            u64::from(args[0]) | u64::from(args[1]) << 32,
        ];
        let endpoint = if as_reply {
            &core.replies
        } else {
            &core.requests
        };
        self.insist_or_try::<_, true>(rank, || endpoint.inject_words(rank, words, &[]))
    }
}
