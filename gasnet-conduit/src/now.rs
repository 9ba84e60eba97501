//! Requests by few instructions, where nothing stands against that.

#![expect(unsafe_code, reason = "unlocks, and sends the bytes of integers")]

use crate::engine::{Core, Engine};
use crate::error::Error;
use crate::lock::Guard;
use crate::send::{Payload, header};
use crate::wire::{Header, MOST_ARGS};
use fi_provider::raw::endpoint;
use fi_shm::copy;

/// How far a request has come by few instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is not sent: that is not possible at once.
    No,
    /// It is sent, and nothing else is to be done.
    Yes,
    /// It is sent, and [`Engine::poll`] is to be called: messages have come.
    More,
    /// It is sent, and [`Engine::wake`] is to be called: the peer sleeps.
    Unheard,
}

/// Sends by an expression with the endpoint of requests, which returns whether it has sent: in line, as a
/// closure of this size is not.
macro_rules! far_now {
    ($engine:expr, |$requests:ident| $send:expr) => {{
        let engine = $engine;
        if !engine.guard.try_lock() {
            return Sent::No;
        }
        let $requests = &engine.core.requests;
        let is_sent = !engine.core.rest.is_busy() && $send;
        let is_silent = engine.core.is_silent();
        // SAFETY: locked above.
        unsafe { engine.guard.unlock() };
        match (is_sent, is_silent) {
            (false, _) => Sent::No,
            (true, true) => Sent::Yes,
            (true, false) => Sent::More,
        }
    }};
}

/// Sending requests by few instructions.
impl<G: Guard> Engine<G> {
    /// Sends a short request without arguments as [`Engine::request_short`] does. Calls nothing.
    #[inline(always)]
    pub fn request_short_now(&self, rank: u32, handler: u8) -> Sent {
        self.send_now(rank, header(handler, &[], Payload::None), &[])
    }

    /// The same with arguments.
    #[inline(always)]
    pub fn request_args_now(&self, rank: u32, handler: u8, args: &[u32]) -> Sent {
        if args.len() > MOST_ARGS {
            return Sent::No;
        }
        self.send_now(rank, header(handler, args, Payload::None), bytes_of(args))
    }

    /// Sends a medium request without arguments as [`Engine::request_medium`] does, of up to
    /// [`copy::FEW`] bytes. Calls nothing.
    #[inline(always)]
    pub fn request_medium_now(&self, rank: u32, handler: u8, payload: &[u8]) -> Sent {
        if payload.len() > copy::FEW {
            return Sent::No;
        }
        self.send_now(
            rank,
            header(handler, &[], Payload::Medium(payload)),
            payload,
        )
    }

    #[inline(always)]
    fn send_now(&self, rank: u32, header: Header, bytes: &[u8]) -> Sent {
        if !self.guard.try_lock() {
            return Sent::No;
        }
        let sent = self.core.send_now(rank, header, bytes);
        // SAFETY: locked above.
        unsafe { self.guard.unlock() };
        sent
    }

    /// Sends a request over the device as the functions above do by a ring: a short one without
    /// arguments.
    #[inline(always)]
    pub fn request_short_far_now(&self, rank: u32, handler: u8) -> Sent {
        let word = header(handler, &[], Payload::None).to_word();
        far_now!(self, |requests| requests
            .inject_word_over_device_now(rank, word))
    }

    /// The same with arguments: those of one word in one step.
    #[inline(always)]
    pub fn request_args_far_now(&self, rank: u32, handler: u8, args: &[u32]) -> Sent {
        let word = header(handler, args, Payload::None).to_word();
        let pair = match *args {
            [one] => [word, u64::from(one)],
            [one, two] => [word, u64::from(one) | u64::from(two) << 32],
            _ => return self.request_many_args_far_now(rank, handler, args),
        };
        far_now!(self, |requests| requests
            .inject_pair_over_device_now(rank, pair))
    }

    #[inline(never)]
    fn request_many_args_far_now(&self, rank: u32, handler: u8, args: &[u32]) -> Sent {
        if args.len() > MOST_ARGS {
            return Sent::No;
        }
        self.send_far_now(rank, header(handler, args, Payload::None), bytes_of(args))
    }

    /// The same of a medium one.
    #[inline(always)]
    pub fn request_medium_far_now(&self, rank: u32, handler: u8, payload: &[u8]) -> Sent {
        self.send_far_now(
            rank,
            header(handler, &[], Payload::Medium(payload)),
            payload,
        )
    }

    #[inline(always)]
    fn send_far_now(&self, rank: u32, header: Header, bytes: &[u8]) -> Sent {
        if bytes.len() > copy::FEW {
            return Sent::No;
        }
        let words = [header.to_word()];
        far_now!(self, |requests| requests
            .inject_words_over_device_now(rank, words, bytes))
    }

    /// Wakes a peer.
    ///
    /// # Errors
    /// [`Error::NotNow`] in a handler.
    pub fn wake(&self, rank: u32) -> Result<(), Error> {
        let _turn = self.turn()?;
        self.core.requests.wake(rank);
        Ok(())
    }
}

#[inline(always)]
fn bytes_of(args: &[u32]) -> &[u8] {
    // SAFETY: the bytes of integers.
    unsafe { std::slice::from_raw_parts(args.as_ptr().cast(), size_of_val(args)) }
}

impl Core {
    #[inline(always)]
    fn send_now(&self, rank: u32, header: Header, bytes: &[u8]) -> Sent {
        // A handler must not send requests.
        if self.rest.is_busy() {
            return Sent::No;
        }
        // To itself a process sends in another way, and is not connected.
        let words = [header.to_word()];
        match (self.requests).inject_words_now(rank, words, bytes) {
            endpoint::Sent::No => Sent::No,
            endpoint::Sent::Unheard => Sent::Unheard,
            endpoint::Sent::Yes if self.is_silent() => Sent::Yes,
            endpoint::Sent::Yes => Sent::More,
        }
    }
}
