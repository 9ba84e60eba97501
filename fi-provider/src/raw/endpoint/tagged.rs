//! Tagged messages (fi_tagged(3)): receives choose them by 64 bits that their senders give them.
//!
//! Tagged messages and others never take each other's buffers; apart from that they are the same.

#![expect(unsafe_code, reason = "sends and receives bytes by their C addresses")]

use super::arrive::{Beside, Early};
use super::{Endpoint, Level, NAMELESS};
use crate::raw::address_vector::PeerIndex;
use crate::raw::completion::Report;
use crate::raw::error::Error;
use crate::raw::matcher::Place;
use crate::raw::protocol::Kind;
use crate::raw::tagged::{self, Receive, Wanted};

/// A tagged message that has come before its receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peeked {
    /// Its tag.
    pub tag: u64,
    /// Its bytes.
    pub len: usize,
    /// Its sender, if it is in the endpoint's address vector.
    pub source: Option<PeerIndex>,
    /// The data that came with it.
    pub data: Option<u64>,
}

impl Peeked {
    fn of(early: &tagged::Early<Early>) -> Self {
        Self {
            tag: early.tag,
            len: early.len,
            source: early.source,
            data: early.message.beside.data,
        }
    }
}

impl Endpoint {
    /// Sends a tagged message whose bytes are taken over at once, and 64 bits of data with it if
    /// given (fi_tinject, fi_tinjectdata).
    ///
    /// # Errors
    /// As [`Endpoint::inject`].
    #[inline]
    pub fn inject_tagged(
        &self,
        peer: PeerIndex,
        message: &[u8],
        tag: u64,
        data: Option<u64>,
    ) -> Result<(), Error> {
        let tag = Some(tag);
        self.with_link(peer, |link| {
            if message.len() > link.eager {
                return Err(Error::TooLong);
            }
            // SAFETY: the slice holds the bytes, at most `eager`.
            unsafe { Beside { tag, data }.post(link, None, message.as_ptr(), message.len()) }
        })
    }

    /// Sends a tagged message, and 64 bits of data with it if given (fi_tsend, fi_tsenddata).
    ///
    /// # Errors
    /// As [`Endpoint::send`].
    ///
    /// # Safety
    /// As [`Endpoint::send`].
    pub unsafe fn send_tagged<R: Report>(
        &self,
        peer: PeerIndex,
        (message, len): (*const u8, usize),
        (tag, data): (u64, Option<u64>),
        level: Level,
        report: R,
    ) -> Result<(), Error> {
        let tag = Some(tag);
        let beside = Beside { tag, data };
        // SAFETY: `message` holds the bytes until the operation is reported.
        unsafe { self.start_send(peer, (message, len), beside, level, report) }.map(drop)
    }

    /// Posts a buffer of `len` bytes for one tagged message (fi_trecv). Receives that want the same
    /// message get it in the order in which they were posted; of one sender's messages that a
    /// receive wants it gets the one that was sent first.
    ///
    /// # Safety
    /// As [`Endpoint::post_receive`].
    #[inline]
    pub unsafe fn post_tagged(&self, buffer: *mut u8, len: usize, wanted: Wanted, context: u64) {
        self.look_for_names();
        let receive = Receive {
            wanted,
            address: buffer,
            len,
            context,
        };
        let early = self.tagged.borrow_mut().post(receive);
        if let Some(early) = early {
            self.deliver_early(early, &receive);
        }
    }

    /// Takes back a buffer that was posted for a tagged message with this context, the oldest; false
    /// where none waits: its message has come, and its entry is there or will be.
    pub fn cancel_tagged(&self, context: u64) -> bool {
        let receive = self.tagged.borrow_mut().cancel(context);
        if let Some(receive) = &receive {
            self.land(receive.address, 0);
        }
        receive.is_some()
    }

    /// Tells of the first tagged message that a receive would get now, if there is one: it stays
    /// (FI_PEEK). Like all of these calls it makes no progress.
    pub fn peek(&self, wanted: Wanted) -> Option<Peeked> {
        self.look_for_names();
        self.tagged.borrow().peek(&wanted).map(Peeked::of)
    }

    /// Does as [`Endpoint::peek`], and keeps the message for [`Endpoint::receive_claimed`] with this
    /// context: no other receive gets it (FI_PEEK with FI_CLAIM).
    pub fn claim(&self, wanted: Wanted, context: u64) -> Option<Peeked> {
        self.look_for_names();
        let mut tagged = self.tagged.borrow_mut();
        tagged.claim(&wanted, context).map(Peeked::of)
    }

    /// Receives the message that was claimed with the context `claimed`, the oldest, in pieces of
    /// memory, of which one is filled after the other; its entry has `context`. False where there is
    /// none (FI_CLAIM).
    ///
    /// # Errors
    /// As [`Endpoint::post_tagged_vector`]: the message stays claimed.
    ///
    /// # Safety
    /// As [`Endpoint::post_tagged_vector`], where it returns true.
    pub unsafe fn receive_claimed(
        &self,
        pieces: &[(*mut u8, usize)],
        claimed: u64,
        context: u64,
    ) -> Result<bool, Error> {
        let (buffer, len) = self.whole(pieces)?;
        let claimed = self.tagged.borrow_mut().take_claimed(claimed);
        let Some(mut early) = claimed else {
            self.land(buffer, 0);
            return Ok(false);
        };
        if let Some(sender) = &early.message.sender {
            early.source = self.vector.find(sender);
        }
        let receive = Receive {
            wanted: Wanted::tag(early.tag),
            address: buffer,
            len,
            context,
        };
        self.deliver_early(early, &receive);
        Ok(true)
    }

    /// Drops the first tagged message that a receive would get now, and tells of it (FI_PEEK with
    /// FI_DISCARD). For its sender it counts as received.
    pub fn discard(&self, wanted: Wanted) -> Option<Peeked> {
        self.look_for_names();
        let early = self.tagged.borrow_mut().take(&wanted);
        early.map(|early| self.drop_early(early))
    }

    /// Drops the message that was claimed with this context, the oldest (FI_CLAIM with FI_DISCARD).
    pub fn discard_claimed(&self, context: u64) -> Option<Peeked> {
        let early = self.tagged.borrow_mut().take_claimed(context);
        early.map(|early| self.drop_early(early))
    }

    fn drop_early(&self, early: tagged::Early<Early>) -> Peeked {
        let peeked = Peeked::of(&early);
        if let Some((number, link)) = early.message.answer {
            self.owe(&link, Kind::Done, [number, 0, 0]);
        }
        peeked
    }

    /// Brings an early message to its receive.
    fn deliver_early(&self, early: tagged::Early<Early>, receive: &Receive) {
        self.deliver_if_room(early.message, receive.place(early.len), early.source);
    }

    /// Brings a message to its place, or keeps the two until there is room for the entry.
    fn deliver_if_room(&self, early: Early, place: Place, source: Option<PeerIndex>) {
        if self.paired.borrow().is_empty() && self.config.receive.has_room() {
            return self.deliver(early, &place, source);
        }
        self.paired.borrow_mut().push_back((early, place, source));
        self.note_work();
    }

    /// Brings the messages to their places that had no room for their entries.
    pub(super) fn deliver_paired(&self) {
        while !self.paired.borrow().is_empty() {
            if !self.config.receive.has_room() {
                return self.note_work();
            }
            let first = self.paired.borrow_mut().pop_front();
            if let Some((early, place, source)) = first {
                self.deliver(early, &place, source);
            }
        }
    }

    /// Matches early messages whose senders have got numbers since they came: before others.
    #[inline(always)]
    pub(super) fn look_for_names(&self) {
        if self.todo.get() & NAMELESS != 0 {
            self.match_named();
        }
    }

    #[cold]
    #[inline(never)]
    fn match_named(&self) {
        if self.named.get() != self.vector.version() {
            // Also names them.
            self.match_early();
            self.name_senders();
        }
        let is_any = self.matcher.borrow().has_nameless() || self.tagged.borrow().has_nameless();
        if !is_any {
            self.todo.set(self.todo.get() & !NAMELESS);
        }
    }

    /// Gives early messages the numbers that their senders have got.
    pub(super) fn name_senders(&self) {
        let version = self.vector.version();
        if self.named.replace(version) == version {
            return;
        }
        let find = |early: &Early| self.vector.find(early.sender.as_ref()?);
        self.matcher.borrow_mut().name(find);
        let matched = self.tagged.borrow_mut().name(find);
        for (early, place) in matched {
            self.deliver_if_room(early.message, place, early.source);
        }
    }
}
