//! Requests and replies by few instructions, where nothing stands against that.

#![expect(unsafe_code, reason = "unlocks, and sends the bytes of integers")]

use crate::engine::{Core, Engine};
use crate::lock::Guard;
use crate::message::Message;
use crate::send::{Payload, header};
use crate::wire::{Header, MOST_ARGS};
use fi_provider::raw::endpoint::{self, Way};
use fi_shm::copy;

/// The progress of a request by few instructions.
#[derive(Clone, Copy, Debug)]
pub enum Sent<'a> {
    /// It is not sent: that is not possible at once.
    No,
    /// It is not sent, as no ring takes it: the function behind this one is to be called, which sends
    /// over the device. Until then the turn is this thread's.
    Beyond(Beyond<'a>),
    /// It is sent, and nothing else is to be done.
    Yes,
    /// It is sent, and [`Engine::poll`] is to be called: messages have come.
    More,
}

/// A request that no ring takes: its way, and its first word.
#[derive(Clone, Copy, Debug)]
pub struct Beyond<'a>(Way<'a>, u64);

impl<'a> Beyond<'a> {
    /// Returns the way alone.
    #[inline(always)]
    #[must_use]
    pub fn way(self) -> Way<'a> {
        self.0
    }

    /// Returns the word alone.
    #[inline(always)]
    #[must_use]
    pub fn word(self) -> Word {
        Word(self.1)
    }
}

/// The first word of a request.
#[derive(Clone, Copy, Debug)]
pub struct Word(u64);

impl Word {
    /// Returns the index of the handler.
    #[inline(always)]
    #[must_use]
    pub fn handler(self) -> u8 {
        // Where `Header::to_word` has it.
        self.0 as u8
    }
}

/// The progress of a reply by few instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replied {
    /// It is not sent: that is not possible at once.
    No,
    /// It is not sent, as no ring takes it: the function behind this one is to be called, which sends
    /// over the device.
    Beyond,
    /// It is sent.
    Yes,
}

/// Sends by an expression, which returns whether it has sent, in the turn that this thread has, and
/// ends that: in line, as a closure of this size is not.
macro_rules! beyond {
    ($engine:expr, $send:expr) => {{
        let engine = $engine;
        if !$send {
            // SAFETY: the turn is this thread's.
            unsafe { engine.guard.unlock() };
            return Sent::No;
        }
        let is_silent = engine.core.is_silent();
        // SAFETY: the turn is this thread's.
        unsafe { engine.guard.unlock() };
        if is_silent { Sent::Yes } else { Sent::More }
    }};
}

/// Sending requests by few instructions.
impl<G: Guard> Engine<G> {
    /// Sends a short request without arguments as [`Engine::request_short`] does. Calls nothing.
    /// Behind it comes [`Engine::request_short_beyond`].
    #[inline(always)]
    pub fn request_short_now(&self, rank: u32, handler: u8) -> Sent<'_> {
        self.send_now(rank, header(handler, &[], Payload::None), &[])
    }

    /// Sends a short request with arguments in the same way. Behind it comes
    /// [`Engine::request_args_beyond`].
    #[inline(always)]
    pub fn request_args_now(&self, rank: u32, handler: u8, args: &[u32]) -> Sent<'_> {
        if args.len() > MOST_ARGS {
            return Sent::No;
        }
        self.send_now(rank, header(handler, args, Payload::None), bytes_of(args))
    }

    /// Sends a medium request without arguments as [`Engine::request_medium`] does, of up to
    /// [`copy::FEW`] bytes. Calls nothing. Behind it comes [`Engine::request_medium_beyond`].
    #[inline(always)]
    pub fn request_medium_now(&self, rank: u32, handler: u8, payload: &[u8]) -> Sent<'_> {
        if payload.len() > copy::FEW {
            return Sent::No;
        }
        self.send_now(
            rank,
            header(handler, &[], Payload::Medium(payload)),
            payload,
        )
    }

    /// Sends a medium request with arguments in the same way; they take all of the `N` words but
    /// the first. Behind it comes [`Engine::request_medium_args_beyond`].
    #[inline(always)]
    pub fn request_medium_args_now<const N: usize>(
        &self,
        rank: u32,
        handler: u8,
        payload: &[u8],
        args: &[u32],
    ) -> Sent<'_> {
        if payload.len() > copy::FEW {
            return Sent::No;
        }
        let header = header(handler, args, Payload::Medium(payload));
        self.send_words_now(rank, in_words::<N>(header, args), payload)
    }

    #[inline(always)]
    fn send_now(&self, rank: u32, header: Header, bytes: &[u8]) -> Sent<'_> {
        self.send_words_now(rank, [header.to_word()], bytes)
    }

    #[inline(always)]
    fn send_words_now<const N: usize>(&self, rank: u32, words: [u64; N], bytes: &[u8]) -> Sent<'_> {
        if !self.guard.try_lock() {
            return Sent::No;
        }
        let sent = self.core.send_now(rank, words, bytes);
        if !matches!(sent, Sent::Beyond(_)) {
            // SAFETY: locked above.
            unsafe { self.guard.unlock() };
        }
        sent
    }

    /// Sends over the device the request that [`Engine::request_short_now`] has not sent.
    ///
    /// # Safety
    /// Word and way are those that a function that this one is behind has just returned: nothing else
    /// was done with the engine by this thread. As for all of these functions; handler, arguments and
    /// payload are the same.
    #[inline(always)]
    pub unsafe fn request_short_beyond(&self, Word(word): Word, way: Way<'_>) -> Sent<'_> {
        beyond!(self, way.inject_word_over_device(word))
    }

    /// Sends over the device the request that [`Engine::request_args_now`] has not sent: arguments
    /// of one word go in one step.
    ///
    /// # Safety
    /// As [`Engine::request_short_beyond`].
    #[inline(always)]
    pub unsafe fn request_args_beyond(&self, handler: u8, args: &[u32], way: Way<'_>) -> Sent<'_> {
        let word = header(handler, args, Payload::None).to_word();
        let Some(args_word) = in_one_word(args) else {
            // SAFETY: the way was returned just now, as callers promise.
            return unsafe { self.request_many_args_beyond(handler, args, way) };
        };
        beyond!(self, way.inject_pair_over_device([word, args_word]))
    }

    /// # Safety
    /// As [`Engine::request_short_beyond`].
    #[inline(never)]
    unsafe fn request_many_args_beyond(&self, handler: u8, args: &[u32], way: Way<'_>) -> Sent<'_> {
        const { assert!(MOST_ARGS * size_of::<u32>() <= Way::FEW) };
        let words = [header(handler, args, Payload::None).to_word()];
        beyond!(self, send_over_device(way, words, bytes_of(args)))
    }

    /// Sends over the device the request that [`Engine::request_medium_now`] has not sent. Behind
    /// it comes [`Engine::request_medium_by_other_queues`], with the same arguments.
    ///
    /// # Safety
    /// As [`Engine::request_short_beyond`]; `payload` holds so many bytes.
    #[inline(always)]
    pub unsafe fn request_medium_beyond<'a>(
        &self,
        Word(word): Word,
        payload: (*const u8, usize),
        way: Way<'a>,
    ) -> Sent<'a> {
        const { assert!(copy::FEW <= Way::FEW) };
        // SAFETY: `payload` holds the bytes, of which the function before takes few enough.
        let Some(is_sent) = (unsafe { way.inject_words_over_device([word], payload) }) else {
            return Sent::Beyond(Beyond(way, word));
        };
        beyond!(self, is_sent)
    }

    /// Sends over the device the request that [`Engine::request_medium_args_now`] has not sent,
    /// with the same arguments. Nothing comes behind it.
    ///
    /// # Safety
    /// As [`Engine::request_short_beyond`].
    #[inline(always)]
    pub unsafe fn request_medium_args_beyond<const N: usize>(
        &self,
        handler: u8,
        payload: &[u8],
        args: &[u32],
        way: Way<'_>,
    ) -> Sent<'_> {
        let words = in_words::<N>(header(handler, args, Payload::Medium(payload)), args);
        beyond!(self, send_over_device(way, words, payload))
    }

    /// Sends over the device the request that [`Engine::request_medium_beyond`] has not sent.
    /// Nothing comes behind it.
    ///
    /// # Safety
    /// As [`Engine::request_medium_beyond`].
    #[inline(always)]
    pub unsafe fn request_medium_by_other_queues(
        &self,
        Word(word): Word,
        payload: (*const u8, usize),
        way: Way<'_>,
    ) -> Sent<'_> {
        // SAFETY: `payload` holds the bytes, for which the function before has just been called.
        beyond!(self, unsafe {
            way.inject_words_by_other_queues(&[word], payload)
        })
    }

    /// Sees to it that the functions above find room again, if they declined for that. Returns false
    /// where they would do so again.
    #[inline(never)]
    pub fn widen(&self, rank: u32) -> bool {
        if !self.guard.try_lock() {
            return false;
        }
        // SAFETY: the turn is this thread's, which does nothing else with the endpoint meanwhile.
        let way = unsafe { self.core.requests.way_now(rank) };
        let is_wider = !self.core.rest.is_busy() && way.is_some_and(Way::widen);
        // SAFETY: locked above.
        unsafe { self.guard.unlock() };
        is_wider
    }
}

/// Sends a reply over the device by an expression on the way to the requester; returns whether it has.
macro_rules! reply_beyond {
    ($message:expr, |$way:ident| $send:expr) => {{
        let message = $message;
        let is_sent = message.way_back().is_some_and(|$way| $send);
        if is_sent {
            message.note_reply();
        }
        is_sent
    }};
}

/// Replying by few instructions, in a handler.
impl Message {
    /// Sends a short reply without arguments as [`Message::reply_short`] does. Calls nothing. Behind it
    /// comes [`Message::reply_short_beyond`].
    #[inline(always)]
    pub fn reply_short_now(&self, handler: u8) -> Replied {
        self.reply_now(header(handler, &[], Payload::None), &[])
    }

    /// Sends a short reply with arguments in the same way. Behind it comes
    /// [`Message::reply_args_beyond`].
    #[inline(always)]
    pub fn reply_args_now(&self, handler: u8, args: &[u32]) -> Replied {
        if args.len() > MOST_ARGS {
            return Replied::No;
        }
        self.reply_now(header(handler, args, Payload::None), bytes_of(args))
    }

    /// Sends a medium reply as [`Message::reply_medium`] does, of up to [`copy::FEW`] bytes, whose
    /// arguments take all of the `N` words but the first. Calls nothing. Behind it comes
    /// [`Message::reply_medium_beyond`].
    #[inline(always)]
    pub fn reply_medium_now<const N: usize>(
        &self,
        handler: u8,
        payload: &[u8],
        args: &[u32],
    ) -> Replied {
        if payload.len() > copy::FEW {
            return Replied::No;
        }
        let header = header(handler, args, Payload::Medium(payload));
        self.reply_words_now(in_words::<N>(header, args), payload)
    }

    #[inline(always)]
    fn reply_now(&self, header: Header, bytes: &[u8]) -> Replied {
        self.reply_words_now([header.to_word()], bytes)
    }

    #[inline(always)]
    fn reply_words_now<const N: usize>(&self, words: [u64; N], bytes: &[u8]) -> Replied {
        let Some(way) = self.way_back() else {
            return Replied::No;
        };
        match way.inject_words(words, bytes) {
            endpoint::Sent::No => Replied::No,
            endpoint::Sent::Beyond => Replied::Beyond,
            endpoint::Sent::Yes => {
                self.note_reply();
                Replied::Yes
            }
        }
    }

    /// Sends over the device the reply that [`Message::reply_short_now`] has not sent. Returns
    /// false where that is not possible at once.
    #[inline(always)]
    pub fn reply_short_beyond(&self, handler: u8) -> bool {
        let word = header(handler, &[], Payload::None).to_word();
        reply_beyond!(self, |way| way.inject_word_over_device(word))
    }

    /// Sends over the device the reply that [`Message::reply_args_now`] has not sent.
    #[inline(always)]
    pub fn reply_args_beyond(&self, handler: u8, args: &[u32]) -> bool {
        const { assert!(MOST_ARGS * size_of::<u32>() <= Way::FEW) };
        let word = header(handler, args, Payload::None).to_word();
        if let Some(args) = in_one_word(args) {
            return reply_beyond!(self, |way| way.inject_pair_over_device([word, args]));
        }
        reply_beyond!(self, |way| send_over_device(way, [word], bytes_of(args)))
    }

    /// Sends over the device the reply that [`Message::reply_medium_now`] has not sent.
    #[inline(always)]
    pub fn reply_medium_beyond<const N: usize>(
        &self,
        handler: u8,
        payload: &[u8],
        args: &[u32],
    ) -> bool {
        let words = in_words::<N>(header(handler, args, Payload::Medium(payload)), args);
        reply_beyond!(self, |way| send_over_device(way, words, payload))
    }

    /// Returns the way to the requester, where a reply is due.
    #[inline(always)]
    fn way_back(&self) -> Option<Way<'_>> {
        // To itself a process sends in another way, and is not connected.
        // SAFETY: the handler runs in this thread's turn, which does nothing else with the endpoint
        // before the last use of the way.
        unsafe { self.due()?.replies.way_now(self.source) }
    }
}

/// Returns a header, and behind it the arguments, which take all other words.
#[inline(always)]
fn in_words<const N: usize>(header: Header, args: &[u32]) -> [u64; N] {
    debug_assert_eq!(1 + args.len().div_ceil(2), N);
    let mut words = [0; N];
    let Some((first, rest)) = words.split_first_mut() else {
        return words;
    };
    *first = header.to_word();
    for (word, pair) in rest.iter_mut().zip(args.chunks(2)) {
        *word = in_one_word(pair).unwrap_or(0);
    }
    words
}

/// Sends words, and at most [`Way::FEW`] bytes behind them, over the device; false where that is not
/// possible at once.
#[inline(always)]
fn send_over_device<const N: usize>(way: Way<'_>, words: [u64; N], bytes: &[u8]) -> bool {
    let bytes = (bytes.as_ptr(), bytes.len());
    // SAFETY: the slice holds the bytes, of which there are few enough.
    unsafe {
        let is_sent = way.inject_words_over_device(words, bytes);
        is_sent.unwrap_or_else(|| way.inject_words_by_other_queues(&words, bytes))
    }
}

/// Returns one or two arguments, as they lie in a message.
#[inline(always)]
fn in_one_word(args: &[u32]) -> Option<u64> {
    match *args {
        [one] => Some(u64::from(one)),
        [one, two] => Some(u64::from(one) | u64::from(two) << 32),
        _ => None,
    }
}

#[inline(always)]
fn bytes_of(args: &[u32]) -> &[u8] {
    // SAFETY: the bytes of integers.
    unsafe { std::slice::from_raw_parts(args.as_ptr().cast(), size_of_val(args)) }
}

impl Core {
    #[inline(always)]
    fn send_now<const N: usize>(&self, rank: u32, words: [u64; N], bytes: &[u8]) -> Sent<'_> {
        // A handler must not send requests.
        if self.rest.is_busy() {
            return Sent::No;
        }
        // To itself a process sends in another way, and is not connected.
        // SAFETY: this thread alone uses the endpoint, and does nothing else with it before the last use
        // of the way, as callers promise.
        let Some(way) = (unsafe { self.requests.way_now(rank) }) else {
            return Sent::No;
        };
        match way.inject_words(words, bytes) {
            endpoint::Sent::No => Sent::No,
            endpoint::Sent::Beyond => Sent::Beyond(Beyond(way, words[0])),
            endpoint::Sent::Yes if self.is_silent() => Sent::Yes,
            endpoint::Sent::Yes => Sent::More,
        }
    }
}
