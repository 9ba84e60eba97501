//! Tagged messages (fi_tagged(3)): receives choose them by 64 bits that their senders give them.
//!
//! Tagged messages and others never take each other's buffers; apart from that they are the same.

#![expect(unsafe_code, reason = "sends and receives bytes by their C addresses")]

use super::held::{Early, Peeked};
use super::origin::{Beside, Fate, Origin};
use super::unguarded::unguarded;
use super::{Endpoint, Few, Level, NAMELESS};
use crate::raw::address_vector::PeerIndex;
use crate::raw::completion::Report;
use crate::raw::error::Error;
use crate::raw::matcher::Place;
use crate::raw::protocol::{Kind, TAGGED};
use crate::raw::record::Record;
use crate::raw::tagged::{self, Receive, Wanted};
use fi_shm::copy;

impl Endpoint {
    /// Sends a tagged message whose bytes are taken over at once, and 64 bits of data with it if
    /// given (fi_tinject, fi_tinjectdata).
    ///
    /// # Errors
    /// As [`Endpoint::inject`].
    #[inline(always)]
    pub fn inject_tagged(
        &self,
        peer: PeerIndex,
        message: &[u8],
        tag: u64,
        data: Option<u64>,
    ) -> Result<(), Error> {
        if data.is_none()
            // SAFETY: functions that are called before the last use of `link` know nothing of the
            // endpoint.
            && let Some(link) = unsafe { self.link_now(peer.into()) }
            && let Some(path) = link.ring_for(message.len())
        {
            // SAFETY: the slice holds the bytes, beside which a record has room for a word.
            return unsafe { path.post(TAGGED, [tag], message.as_ptr(), message.len()) }
                .or_else(|left| link.settle(path, left));
        }
        self.inject_tagged_otherwise(peer, message, tag, data)
    }

    /// Sends a tagged message as [`Endpoint::inject_now`] does an untagged one.
    #[inline(always)]
    pub fn inject_tagged_now(&self, peer: u64, message: &[u8], tag: u64) -> bool {
        self.post_now(peer, TAGGED, [tag], message)
    }

    /// Sends a tagged message of few bytes as [`Endpoint::inject_few`] does an untagged one.
    ///
    /// # Safety
    /// `message` holds `len` bytes.
    #[inline(always)]
    pub unsafe fn inject_tagged_few(
        &self,
        peer: u64,
        message: *const u8,
        len: usize,
        tag: u64,
    ) -> Few {
        // SAFETY: `message` holds the bytes.
        unsafe { self.post_few(peer, TAGGED, [tag], message, len) }
    }

    /// Sends a tagged message that is too long for the ring, or for another path, or has data.
    #[inline(never)]
    fn inject_tagged_otherwise(
        &self,
        peer: PeerIndex,
        message: &[u8],
        tag: u64,
        data: Option<u64>,
    ) -> Result<(), Error> {
        let tag = Some(tag);
        self.with_link(peer, move |link| {
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
        // Made where it is needed, so that it goes from registers to its place.
        let receive = || Receive {
            wanted,
            address: buffer,
            len,
            context,
        };
        // SAFETY: no other reference is there: functions of the endpoint that borrow the matcher
        // call nothing of the program's, which posts receives; the endpoint is of one thread, as
        // its cells are; and `post_plain` knows nothing of the endpoint.
        let tagged = unsafe { unguarded(&self.tagged) };
        if !tagged.post_plain(&receive()) {
            self.post_tagged_seldom(&receive());
        }
    }

    /// Posts a buffer as [`Endpoint::post_tagged`] does, and calls nothing. Returns false where few
    /// instructions do not, and has done nothing.
    ///
    /// # Safety
    /// As [`Endpoint::post_receive`], where it returns true.
    #[inline(always)]
    pub unsafe fn post_tagged_now(
        &self,
        address: *mut u8,
        len: usize,
        wanted: Wanted,
        context: u64,
    ) -> bool {
        // SAFETY: no other reference is there, as in `post_tagged`.
        let tagged = unsafe { unguarded(&self.tagged) };
        tagged.post_plain(&Receive {
            wanted,
            address,
            len,
            context,
        })
    }

    /// Posts a receive where messages may wait for it, or more memory is needed.
    #[cold]
    #[inline(never)]
    fn post_tagged_seldom(&self, receive: &Receive) {
        self.look_for_names();
        let early = self.tagged.borrow_mut().post(*receive);
        if let Some(early) = early {
            self.deliver_early(early, receive);
        }
    }

    /// Posts a receive whose end needs more than few instructions.
    pub(super) fn post_tagged_apart(&self, receive: &Receive) {
        self.look_for_names();
        let early = self.tagged.borrow_mut().post_apart(*receive);
        if let Some(early) = early {
            self.deliver_early(early, receive);
        }
    }

    /// Gives a tagged message to its receive, by few instructions; false where something stands
    /// against that: then nothing was done. By fewer yet if `QUICK`: where nothing is special
    /// ([`Tagged::has_special`](tagged::Tagged::has_special)).
    ///
    /// # Safety
    /// `payload` holds `len` bytes.
    #[inline(always)]
    pub(crate) unsafe fn give_tagged<const QUICK: bool>(
        &self,
        origin: &Origin,
        tag: u64,
        payload: *const u8,
        len: usize,
    ) -> bool {
        if !origin.is_of(&self.vector) || !QUICK && self.has_tagged_before() {
            return false;
        }
        // SAFETY: no other reference is there: functions that borrow the matcher let no record
        // arrive meanwhile; the endpoint is of one thread, as its cells are; and until the last use
        // of `first` or `found` functions of the queue and of the matcher alone are called.
        let tagged = unsafe { unguarded(&self.tagged) };
        let (queue, source) = (&self.config.receive, origin.source());
        let buffer = if QUICK {
            let Some(first) = tagged.first_plain(tag, source, len) else {
                return false;
            };
            if !queue.push_tagged(first.context(), len, source, tag) {
                return false;
            }
            first.take()
        } else {
            let Some(found) = tagged.find_plain(tag, *source, len) else {
                return false;
            };
            if !queue.push_tagged(found.context(), len, source, tag) {
                return false;
            }
            found.take()
        };
        // SAFETY: the buffer has room for `len` bytes until the program has its entry (the
        // requirement of `post_tagged`), which is behind this call; `payload` holds them.
        unsafe { copy::copy(buffer, payload, len) };
        self.config.received.add(1);
        true
    }

    /// Returns whether tagged messages may go other ways than to the first receive.
    #[inline(always)]
    pub(crate) fn has_special_tagged(&self) -> bool {
        // SAFETY: no other reference is there: functions of the endpoint that borrow the matcher
        // let no record arrive meanwhile; the endpoint is of one thread, as its cells are; and
        // `has_special` calls nothing.
        unsafe { unguarded(&self.tagged) }.has_special()
    }

    /// Returns whether messages may go before one that comes: of senders that have got numbers, or
    /// matched ones that wait for room for their entries.
    #[inline(always)]
    fn has_tagged_before(&self) -> bool {
        self.todo.get() & NAMELESS != 0 || !self.paired.borrow().is_empty()
    }

    /// Gives a message of a tag and bytes to its receive where nothing stands against that, and
    /// takes it as other messages otherwise.
    #[inline(never)]
    pub(super) fn take_tagged(&self, origin: &mut Origin, record: impl Record, tag: u64) -> Fate {
        let len = record.len() - size_of::<u64>();
        loop {
            let payload = record.payload().wrapping_add(size_of::<u64>());
            // SAFETY: the record has so many bytes behind its tag.
            if unsafe { self.give_tagged::<false>(origin, tag, payload, len) } {
                return Fate::Taken;
            }
            if !self.renew(origin) {
                let beside = Beside {
                    tag: Some(tag),
                    data: None,
                };
                return self.take_message(origin, record, size_of::<u64>(), beside, None);
            }
        }
    }

    /// Takes back a buffer that was posted for a tagged message with this context, the oldest, and
    /// returns its tag; none where none waits: its message has come, and its entry is there or will
    /// be.
    pub fn cancel_tagged(&self, context: u64) -> Option<u64> {
        let receive = self.tagged.borrow_mut().cancel(context);
        if let Some(receive) = &receive {
            self.receive_counters.borrow_mut().remove(&context);
            self.land(receive.address, 0);
        }
        receive.map(|receive| receive.wanted.tag)
    }

    /// Tells of the first tagged message that a receive would get now, if there is one: it stays
    /// (FI_PEEK). Like all of these calls it makes no progress.
    pub fn peek(&self, wanted: Wanted) -> Option<Peeked> {
        self.look_for_names();
        self.tagged.borrow().peek(&wanted).map(Peeked::of)
    }

    /// Does as [`Endpoint::peek`], and keeps the message for [`Endpoint::receive_claimed`] with
    /// this context: no other receive gets it (FI_PEEK with FI_CLAIM).
    pub fn claim(&self, wanted: Wanted, context: u64) -> Option<Peeked> {
        self.look_for_names();
        let mut tagged = self.tagged.borrow_mut();
        tagged.claim(&wanted, context).map(Peeked::of)
    }

    /// Receives the message that was claimed with the context `claimed`, the oldest, in pieces of
    /// memory, of which one is filled after the other; its entry has `context`. Returns false where
    /// there is none (FI_CLAIM).
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
    pub(super) fn deliver_early(&self, early: tagged::Early<Early>, receive: &Receive) {
        self.deliver_if_room(early.message, receive.place(early.len), early.source);
    }

    /// Brings a message to its place, or keeps the two until there is room for the entry.
    fn deliver_if_room(&self, early: Early, place: Place, source: Option<PeerIndex>) {
        if self.paired.borrow().is_empty() && self.config.receive.admits() {
            return self.deliver(early, &place, source);
        }
        self.paired.borrow_mut().push_back((early, place, source));
        self.tagged.borrow_mut().note_waiting();
        self.note_work();
    }

    /// Brings the messages to their places that had no room for their entries.
    pub(super) fn deliver_paired(&self) {
        while !self.paired.borrow().is_empty() {
            if !self.config.receive.admits() {
                return self.note_work();
            }
            let first = self.paired.borrow_mut().pop_front();
            if let Some((early, place, source)) = first {
                self.tagged.borrow_mut().note_delivered();
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
        let is_any = match &self.shared {
            Some(member) => member.name_senders(),
            None => self.matcher.borrow().has_nameless() || self.tagged.borrow().has_nameless(),
        };
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
