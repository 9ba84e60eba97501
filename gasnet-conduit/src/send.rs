//! Requests and replies.

#![expect(
    unsafe_code,
    reason = "sends bytes by their C address, and calls handlers of messages to itself"
)]

use crate::arrive::{At, Waiting};
use crate::engine::{Core, Engine, Turn};
use crate::error::Error;
use crate::lock::Guard;
use crate::message::{Category, Message};
use crate::segment::By;
use crate::wire::{Header, MOST_ARGS, MOST_WORDS};
use fi_provider::raw::endpoint::Endpoint;
use fi_provider::raw::error as raw;
use fi_shm::copy;

/// A message to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) header: Header,
    /// The address of a long message's payload.
    to: u64,
    args: &'a [u32],
    /// A payload that travels with it.
    payload: &'a [u8],
}

impl Parts<'_> {
    /// Writes the words before the payload, and returns their number.
    #[inline(always)]
    fn words(&self, words: &mut [u64; MOST_WORDS]) -> usize {
        words[0] = self.header.to_word();
        let mut many = 1;
        if self.header.category == Category::Long {
            words[1] = self.to;
            many = 2;
        }
        for pair in self.args.chunks(2) {
            let second = pair.get(1).copied().unwrap_or(0);
            words[many] = u64::from(pair[0]) | u64::from(second) << 32;
            many += 1;
        }
        many
    }

    /// Returns the whole as it travels, and its bytes.
    pub(crate) fn joined(&self) -> (Box<[u64]>, usize) {
        let mut words = [0; MOST_WORDS];
        let many = self.words(&mut words);
        let mut whole = words[..many].to_vec();
        whole.extend(self.payload.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(word)
        }));
        (whole.into_boxed_slice(), many * 8 + self.payload.len())
    }

    /// Sends the message.
    #[inline(always)]
    fn send(&self, endpoint: &Endpoint, rank: u32) -> Result<(), raw::Error> {
        if self.args.is_empty() && self.header.category != Category::Long {
            return endpoint.inject_words(rank, [self.header.to_word()], self.payload);
        }
        self.send_with_words(endpoint, rank)
    }

    #[inline(never)]
    fn send_with_words(&self, endpoint: &Endpoint, rank: u32) -> Result<(), raw::Error> {
        let mut words = [0; MOST_WORDS];
        let many = self.words(&mut words);
        macro_rules! by_number {
            ($($n:literal)*) => {
                match many {
                    $($n => {
                        let mut few = [0; $n];
                        few.copy_from_slice(&words[..$n]);
                        endpoint.inject_words(rank, few, self.payload)
                    })*
                    _ => endpoint.inject_words(rank, words, self.payload),
                }
            };
        }
        by_number!(2 3 4 5 6 7 8 9)
    }
}

/// A payload that a caller gives.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Payload<'a> {
    None,
    Medium(&'a [u8]),
    /// To be stored at this address of the peer.
    Long(&'a [u8], u64),
    /// So many bytes that are at this address of the peer already.
    There(u64, usize),
}

const TOO_LONG: Error = Error::Argument("the payload of a long message has 2^48 bytes or more");

/// Whether a message has no room for the length of such a payload.
fn is_too_long(len: usize) -> bool {
    len as u64 >= 1 << 48
}

/// Returns the payload of a long message that the caller has stored already.
///
/// # Errors
/// [`Error::Argument`].
fn stored((to, len): (u64, usize)) -> Result<Payload<'static>, Error> {
    if is_too_long(len) {
        return Err(TOO_LONG);
    }
    Ok(Payload::There(to, len))
}

impl Core {
    /// # Errors
    /// [`Error::Argument`].
    fn check(&self, rank: u32, payload: Payload<'_>, args: &[u32]) -> Result<(), Error> {
        self.check_rank(rank)?;
        if args.len() > MOST_ARGS {
            return Err(Error::Argument("a message has more than 16 arguments"));
        }
        match payload {
            Payload::Medium(bytes) if bytes.len() > self.most_medium => Err(Error::Argument(
                "the payload of a medium message is longer than most_medium",
            )),
            Payload::Long(bytes, _) if is_too_long(bytes.len()) => Err(TOO_LONG),
            _ => Ok(()),
        }
    }

    /// Has the own handler take a message to this process.
    fn send_to_self(
        &self,
        handler: u8,
        payload: Payload<'_>,
        args: &[u32],
        is_reply: bool,
    ) -> Result<(), Error> {
        let header = header(handler, args, payload);
        let mut copied = Vec::new();
        let place = match payload {
            Payload::None => (std::ptr::null_mut(), 0),
            Payload::Medium(bytes) => {
                // Aligned to 8.
                copied.resize(bytes.len().div_ceil(8), 0_u64);
                let place = copied.as_mut_ptr().cast::<u8>();
                // SAFETY: there is room for the bytes, which are elsewhere.
                unsafe { copy::copy(place, bytes.as_ptr(), bytes.len()) };
                (place, bytes.len())
            }
            Payload::There(to, len) => (std::ptr::with_exposed_provenance_mut(to as usize), len),
            Payload::Long(bytes, to) => {
                if !self.regions.has(to, bytes.len() as u64) {
                    return Err(Error::OutOfRange { rank: self.rank });
                }
                let place: *mut u8 = std::ptr::with_exposed_provenance_mut(to as usize);
                // SAFETY: the bytes lie in memory that peers may write, as this process may. Those of the
                // caller may be the same.
                unsafe { std::ptr::copy(bytes.as_ptr(), place, bytes.len()) };
                (place, bytes.len())
            }
        };
        // A handler may keep a pointer to the arguments as long as it runs.
        let args = args.as_ptr();
        // SAFETY: there are as many arguments as the header says, and the payload is memory of this
        // process.
        unsafe { self.handle((self.rank, is_reply, At::Own), header, args, place) };
        Ok(())
    }

    /// Returns whether a message of any words finds room in the ring of a peer.
    fn has_ring_room(&self, rank: u32) -> Result<bool, Error> {
        let has_room = self.requests.has_ring_room(rank, 8 * MOST_WORDS);
        has_room.map_err(|error| Error::of_peer(rank, error))
    }

    /// Stores bytes in a peer's memory if that is mapped here, or there are none; whether it has.
    fn store(&self, rank: u32, bytes: &[u8], to: u64) -> Result<bool, Error> {
        if bytes.is_empty() {
            return Ok(true);
        }
        let range = (to, bytes.len());
        let mapped = if self.near[rank as usize] {
            self.regions.with(
                self,
                By::Any,
                rank,
                range,
                |region| Ok(region.mapped_at(to)),
            )
        } else {
            self.regions.check(rank, range).map(|()| None)
        };
        let mapped = mapped.map_err(|error| Error::of_peer(rank, error))?;
        if let Some(place) = mapped {
            // SAFETY: the bytes lie in the region, which is mapped here.
            unsafe { copy::copy(place, bytes.as_ptr(), bytes.len()) };
        }
        Ok(mapped.is_some())
    }

    /// Replies to a request in its handler.
    fn reply(
        &self,
        rank: u32,
        handler: u8,
        payload: Payload<'_>,
        args: &[u32],
    ) -> Result<(), Error> {
        self.check(rank, payload, args)?;
        if rank == self.rank {
            return self.send_to_self(handler, payload, args, true);
        }
        let payload = match payload {
            Payload::Long(bytes, to) if self.store(rank, bytes, to)? => {
                Payload::There(to, bytes.len())
            }
            payload => payload,
        };
        if let Payload::Long(bytes, to) = payload
            && bytes.len() > self.most_medium
        {
            let message = Waiting::new(&parts(handler, Payload::There(to, bytes.len()), args));
            self.keep(rank, message.behind(to, bytes));
            return Ok(());
        }
        let parts = parts(handler, payload, args);
        match parts.send(&self.replies, rank) {
            Ok(()) => Ok(()),
            Err(raw::Error::Again) => {
                self.keep(rank, Waiting::new(&parts));
                Ok(())
            }
            Err(error) => Err(Error::of_peer(rank, error)),
        }
    }
}

#[inline(always)]
pub(crate) fn header(handler: u8, args: &[u32], payload: Payload<'_>) -> Header {
    let (category, bytes, is_carried) = match payload {
        Payload::None => (Category::Short, 0, false),
        Payload::Medium(_) => (Category::Medium, 0, false),
        Payload::Long(bytes, _) => (Category::Long, bytes.len(), true),
        Payload::There(_, len) => (Category::Long, len, false),
    };
    Header {
        handler,
        args: args.len() as u8,
        category,
        is_carried,
        bytes: bytes as u64,
    }
}

#[inline(always)]
fn parts<'a>(handler: u8, payload: Payload<'a>, args: &'a [u32]) -> Parts<'a> {
    let (to, carried): (u64, &[u8]) = match payload {
        Payload::None => (0, &[]),
        Payload::Medium(bytes) => (0, bytes),
        Payload::Long(bytes, to) => (to, bytes),
        Payload::There(to, _) => (to, &[]),
    };
    Parts {
        header: header(handler, args, payload),
        to,
        args,
        payload: carried,
    }
}

/// Waiting for room, in turns.
impl<G: Guard> Engine<G> {
    /// Polls until a call finds room, in a turn. Others have turns meanwhile.
    ///
    /// # Errors
    /// That of the call.
    #[inline(always)]
    pub(crate) fn insist<T>(
        &self,
        rank: u32,
        mut call: impl FnMut() -> Result<T, raw::Error>,
    ) -> Result<T, Error> {
        match call() {
            Ok(done) => Ok(done),
            Err(raw::Error::Again) => self.insist_longer(rank, call),
            Err(error) => Err(Error::of_peer(rank, error)),
        }
    }

    /// Insists as [`Engine::insist`] does; with `TRIES` the call is made once.
    ///
    /// # Errors
    /// That of the call; [`Error::WouldWait`].
    #[inline(always)]
    pub(crate) fn insist_or_try<T, const TRIES: bool>(
        &self,
        rank: u32,
        mut call: impl FnMut() -> Result<T, raw::Error>,
    ) -> Result<T, Error> {
        if !TRIES {
            return self.insist(rank, call);
        }
        call().map_err(|error| match error {
            raw::Error::Again => Error::WouldWait,
            error => Error::of_peer(rank, error),
        })
    }

    #[cold]
    #[inline(never)]
    fn insist_longer<T>(
        &self,
        rank: u32,
        mut call: impl FnMut() -> Result<T, raw::Error>,
    ) -> Result<T, Error> {
        let mut waiter = self.core.waiter();
        loop {
            self.core.work();
            // SAFETY: this thread has locked, as it has the turn.
            unsafe {
                if !self.guard.hand_on() {
                    self.guard.unlock();
                }
            }
            waiter.pause();
            self.guard.lock();
            match call() {
                Err(raw::Error::Again) => {}
                result => return result.map_err(|error| Error::of_peer(rank, error)),
            }
        }
    }

    /// Sends a request in a turn. With `TRIES` it looks for no messages, and waits for no room
    /// before anything is done.
    #[inline(never)]
    fn request<const TRIES: bool>(
        turn: Turn<'_, G>,
        rank: u32,
        handler: u8,
        payload: Payload<'_>,
        args: &[u32],
    ) -> Result<(), Error> {
        let this = turn.engine();
        this.core.check(rank, payload, args)?;
        if rank == this.core.rank {
            this.core.send_to_self(handler, payload, args, false)?;
            if !TRIES {
                this.core.listen();
            }
            turn.hand_on();
            return Ok(());
        }
        let placed = this.place::<TRIES>(rank, payload)?;
        let parts = parts(handler, placed, args);
        let send = || parts.send(&this.core.requests, rank);
        if TRIES {
            return match (payload, placed) {
                // The payload is stored: there is no way back.
                (Payload::Long(..), Payload::There(..)) => this.insist(rank, send),
                _ => this.insist_or_try::<_, true>(rank, send),
            };
        }
        this.insist(rank, send)?;
        if this.core.listen() {
            turn.hand_on();
        }
        Ok(())
    }

    /// Stores the payload of a long message where that is possible at once: returns how it travels
    /// otherwise.
    fn place<'a, const TRIES: bool>(
        &self,
        rank: u32,
        payload: Payload<'a>,
    ) -> Result<Payload<'a>, Error> {
        let Payload::Long(bytes, to) = payload else {
            return Ok(payload);
        };
        if TRIES && self.core.near[rank as usize] && !self.core.has_ring_room(rank)? {
            return Err(Error::WouldWait);
        }
        if self.core.store(rank, bytes, to)? {
            return Ok(Payload::There(to, bytes.len()));
        }
        if bytes.len() > self.core.most_medium {
            self.write_now::<TRIES>(rank, bytes, to)?;
            return Ok(Payload::There(to, bytes.len()));
        }
        Ok(payload)
    }
}

/// Sending requests. All of them wait while there is no room, handling messages meanwhile; bytes and
/// arguments are the caller's again on return.
impl<G: Guard> Engine<G> {
    #[inline(always)]
    fn send<const TRIES: bool>(
        &self,
        rank: u32,
        handler: u8,
        payload: Payload<'_>,
        args: &[u32],
    ) -> Result<(), Error> {
        let turn = self.turn_of::<TRIES>()?;
        Self::request::<TRIES>(turn, rank, handler, payload, args)
    }

    /// Sends a short request.
    ///
    /// # Errors
    /// [`Error::Argument`], [`Error::Peer`], [`Error::NotNow`] in a handler.
    #[inline]
    pub fn request_short(&self, rank: u32, handler: u8, args: &[u32]) -> Result<(), Error> {
        self.send::<false>(rank, handler, Payload::None, args)
    }

    /// Sends a medium request.
    ///
    /// # Errors
    /// As [`Engine::request_short`].
    #[inline]
    pub fn request_medium(
        &self,
        rank: u32,
        handler: u8,
        payload: &[u8],
        args: &[u32],
    ) -> Result<(), Error> {
        self.send::<false>(rank, handler, Payload::Medium(payload), args)
    }

    /// Sends a long request: the payload is stored at `to`, an address in the peer's memory, before the
    /// handler runs.
    ///
    /// # Errors
    /// As [`Engine::request_short`]; [`Error::OutOfRange`].
    #[inline]
    pub fn request_long(
        &self,
        rank: u32,
        handler: u8,
        payload: &[u8],
        to: u64,
        args: &[u32],
    ) -> Result<(), Error> {
        self.send::<false>(rank, handler, Payload::Long(payload, to), args)
    }

    /// Sends a long request whose payload the caller has stored already: `place` is its address in
    /// the peer's memory, and its bytes.
    ///
    /// # Errors
    /// As [`Engine::request_short`].
    pub fn request_stored(
        &self,
        rank: u32,
        handler: u8,
        place: (u64, usize),
        args: &[u32],
    ) -> Result<(), Error> {
        self.send::<false>(rank, handler, stored(place)?, args)
    }
}

/// Sending requests where there is room at once.
impl<G: Guard> Engine<G> {
    /// Sends a short request as [`Engine::request_short`] does, without waiting and without handling
    /// messages.
    ///
    /// # Errors
    /// As [`Engine::request_short`]; [`Error::WouldWait`] where there is no room, or another thread uses the
    /// engine: nothing has been done then.
    #[inline]
    pub fn try_request_short(&self, rank: u32, handler: u8, args: &[u32]) -> Result<(), Error> {
        self.send::<true>(rank, handler, Payload::None, args)
    }

    /// Sends a medium request in the same way.
    ///
    /// # Errors
    /// As [`Engine::try_request_short`].
    #[inline]
    pub fn try_request_medium(
        &self,
        rank: u32,
        handler: u8,
        payload: &[u8],
        args: &[u32],
    ) -> Result<(), Error> {
        self.send::<true>(rank, handler, Payload::Medium(payload), args)
    }

    /// Sends a long request in the same way. Where the payload neither is stored nor travels with the
    /// message, waits for the end of its write, once that has been started, and then for room.
    ///
    /// # Errors
    /// As [`Engine::try_request_short`]; [`Error::OutOfRange`].
    #[inline]
    pub fn try_request_long(
        &self,
        rank: u32,
        handler: u8,
        payload: &[u8],
        to: u64,
        args: &[u32],
    ) -> Result<(), Error> {
        self.send::<true>(rank, handler, Payload::Long(payload, to), args)
    }

    /// Returns whether [`Engine::try_request_stored`] to a process of this node finds room now; false of
    /// others. Another thread may take the room.
    ///
    /// # Errors
    /// As [`Engine::try_request_short`].
    pub fn has_room(&self, rank: u32) -> Result<bool, Error> {
        self.core.check_rank(rank)?;
        let _turn = self.turn_of::<true>()?;
        Ok(self.core.near[rank as usize]
            && (rank == self.core.rank || self.core.has_ring_room(rank)?))
    }

    /// Sends a long request, whose payload the caller has stored already, in the same way.
    ///
    /// # Errors
    /// As [`Engine::try_request_short`].
    pub fn try_request_stored(
        &self,
        rank: u32,
        handler: u8,
        place: (u64, usize),
        args: &[u32],
    ) -> Result<(), Error> {
        self.send::<true>(rank, handler, stored(place)?, args)
    }
}

/// Replying to a request in its handler, once: never waits.
impl Message {
    /// Sends a short reply.
    ///
    /// # Errors
    /// [`Error::NotNow`] where this is no request, or was replied to; [`Error::Argument`],
    /// [`Error::Peer`].
    pub fn reply_short(&self, handler: u8, args: &[u32]) -> Result<(), Error> {
        self.reply(handler, Payload::None, args)
    }

    /// Sends a medium reply.
    ///
    /// # Errors
    /// As [`Message::reply_short`].
    pub fn reply_medium(&self, handler: u8, payload: &[u8], args: &[u32]) -> Result<(), Error> {
        self.reply(handler, Payload::Medium(payload), args)
    }

    /// Sends a long reply: the payload is stored at `to`, an address in the requester's memory, before
    /// the handler runs.
    ///
    /// # Errors
    /// As [`Message::reply_short`]; [`Error::OutOfRange`].
    pub fn reply_long(
        &self,
        handler: u8,
        payload: &[u8],
        to: u64,
        args: &[u32],
    ) -> Result<(), Error> {
        self.reply(handler, Payload::Long(payload, to), args)
    }

    /// Sends a long reply whose payload the caller has stored already, as
    /// [`Engine::request_stored`].
    ///
    /// # Errors
    /// As [`Message::reply_short`].
    pub fn reply_stored(
        &self,
        handler: u8,
        place: (u64, usize),
        args: &[u32],
    ) -> Result<(), Error> {
        self.reply(handler, stored(place)?, args)
    }

    #[inline(always)]
    fn reply(&self, handler: u8, payload: Payload<'_>, args: &[u32]) -> Result<(), Error> {
        let Some(core) = self.due() else {
            return Err(Error::NotNow(
                "a reply to a reply, or a second one to a request",
            ));
        };
        core.reply(self.source, handler, payload, args)?;
        // Not before: one that is refused may be followed by another one.
        self.note_reply();
        Ok(())
    }
}
