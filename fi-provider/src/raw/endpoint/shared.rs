//! Shared receive contexts (fi_srx_context): buffers that messages to any of several endpoints
//! take.
//!
//! Endpoints with one have no buffers of their own, so that the short ways of messages find none.
//! Whether a message has a buffer is found by the endpoint that it comes to; one that was early and
//! gets its buffer later is handed to its endpoint, which tells of it in its next progress.
//!
//! Of a buffer for several messages the context counts those that endpoints have not told of: the
//! last one of these gives it back.

#![expect(
    unsafe_code,
    reason = "takes buffers by their C addresses from a program"
)]

use super::held::{Early, Peeked};
use super::landings::Landings;
use super::link::Link;
use super::origin::Beside;
use super::posted::Posted;
use crate::raw::address_vector::{AddressVector, PeerIndex};
use crate::raw::error::Error;
use crate::raw::matcher::{Buffer, Matcher, Place};
use crate::raw::tagged::{self, Receive, Tagged, Wanted};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Buffers for the messages of several endpoints, which have the same address vector: a handle,
/// whose clones are the same context, for the endpoints of a thread.
#[derive(Clone, Debug)]
pub struct ReceiveContext(pub(super) Rc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    matcher: RefCell<Matcher<Held>>,
    tagged: RefCell<Tagged<Held>>,
    pub(super) landings: Landings,
    /// The vector of all endpoints: that of the first one.
    vector: OnceCell<AddressVector>,
    /// The vector's version with which the senders of early messages were looked up.
    named: Cell<u64>,
    /// Members by the numbers of the endpoints.
    members: RefCell<HashMap<u32, Rc<Handed>>>,
    /// Buffers for several messages to which some are coming, by their addresses.
    several: RefCell<HashMap<*mut u8, Several>>,
    /// Such buffers that take no more messages: the next endpoint that makes progress tells of them.
    pub(super) closed: RefCell<VecDeque<Buffer>>,
}

/// Messages that come to a buffer for several.
#[derive(Debug)]
struct Several {
    /// The endpoints that have not told of a message yet: for each message one.
    coming: Vec<u32>,
    /// The buffer, once it takes no more.
    closed: Option<Buffer>,
}

/// An early message, and the number of the endpoint to which it has come.
type Held = (u32, Early);

/// Early messages of an endpoint, of which it is to do the rest.
#[derive(Debug, Default)]
pub(super) struct Handed {
    /// Early messages that have buffers.
    pub(super) matched: RefCell<VecDeque<(Early, Place, Option<PeerIndex>)>>,
    /// The answers to those that were dropped.
    pub(super) dropped: RefCell<Vec<(u64, Rc<Link>)>>,
}

/// An endpoint's part of a context.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) context: ReceiveContext,
    pub(super) number: u32,
    pub(super) handed: Rc<Handed>,
}

impl ReceiveContext {
    /// Makes a context that holds early messages of so many bytes, and so many, and as much again
    /// of tagged ones.
    pub fn new(most_early: (usize, usize)) -> Self {
        Self(Rc::new(Inner {
            matcher: RefCell::new(Matcher::new(most_early)),
            tagged: RefCell::new(Tagged::new(most_early)),
            landings: Landings::default(),
            vector: OnceCell::new(),
            named: Cell::default(),
            members: RefCell::default(),
            several: RefCell::default(),
            closed: RefCell::default(),
        }))
    }

    /// Makes an endpoint one of those whose messages take the buffers.
    ///
    /// # Errors
    /// [`Error::NoSuchPeer`] where the others have another address vector.
    pub(super) fn join(&self, number: u32, vector: &AddressVector) -> Result<Member, Error> {
        if !self.0.vector.get_or_init(|| vector.clone()).is(vector) {
            return Err(Error::NoSuchPeer);
        }
        let handed = Rc::<Handed>::default();
        let mut members = self.0.members.borrow_mut();
        members.insert(number, Rc::clone(&handed));
        Ok(Member {
            context: self.clone(),
            number,
            handed,
        })
    }

    pub(super) fn landings(&self) -> &Landings {
        &self.0.landings
    }

    /// Posts pieces of memory, of which one is filled after the other (fi_recv, fi_recvv); one piece
    /// alone where it is for several messages.
    ///
    /// # Errors
    /// [`Error::NoRoom`] where there is no memory to which a message for several pieces can come.
    ///
    /// # Safety
    /// As [`super::Endpoint::post_receive_vector`], but for endpoints that are dropped: the bytes are
    /// nobody else's until the context and its endpoints are.
    pub unsafe fn post_receive(
        &self,
        pieces: &[(*mut u8, usize)],
        posted: Posted,
    ) -> Result<(), Error> {
        let (address, len) = self.0.landings.whole(pieces)?;
        self.name();
        self.match_buffers(Some(Buffer {
            address,
            len,
            context: posted.context,
            source: posted.source,
            least: posted.least.filter(|_| pieces.len() == 1),
            used: 0,
        }));
        Ok(())
    }

    /// Gives early messages to buffers: a new one, or those that are there.
    fn match_buffers(&self, buffer: Option<Buffer>) {
        let held = |(_, early): &Held| early.held();
        let deliver = |found: Result<(Held, Place, Option<PeerIndex>), Buffer>| match found {
            Ok((held, place, source)) => self.hand_over(held, place, source),
            Err(closed) => self.close(closed),
        };
        let mut matcher = self.0.matcher.borrow_mut();
        matcher.post(buffer, held, || true, deliver);
    }

    /// Posts pieces of memory, of which one is filled after the other, for one tagged message
    /// (fi_trecv, fi_trecvv).
    ///
    /// # Errors
    /// As [`ReceiveContext::post_receive`].
    ///
    /// # Safety
    /// As [`ReceiveContext::post_receive`].
    pub unsafe fn post_tagged(
        &self,
        pieces: &[(*mut u8, usize)],
        wanted: Wanted,
        context: u64,
    ) -> Result<(), Error> {
        let (address, len) = self.0.landings.whole(pieces)?;
        self.name();
        let receive = Receive {
            wanted,
            address,
            len,
            context,
        };
        let early = self.0.tagged.borrow_mut().post(receive);
        if let Some(early) = early {
            self.hand_over(early.message, receive.place(early.len), early.source);
        }
        Ok(())
    }

    /// Takes back a buffer that was posted with this context, the oldest; false where none waits,
    /// or where messages are still coming to it: the entry of the last one gives it back.
    pub fn cancel_receive(&self, context: u64) -> bool {
        let buffer = self.0.matcher.borrow_mut().cancel(context);
        let Some(buffer) = buffer else {
            return false;
        };
        self.0.landings.let_go(Some(buffer.address));
        !self.is_left_to_others(buffer)
    }

    /// Takes back a buffer that was posted for a tagged message with this context, the oldest, and
    /// returns its tag; none where none waits.
    pub fn cancel_tagged(&self, context: u64) -> Option<u64> {
        let receive = self.0.tagged.borrow_mut().cancel(context);
        self.0
            .landings
            .let_go(receive.map(|receive| receive.address));
        receive.map(|receive| receive.wanted.tag)
    }

    /// Leaves it to its endpoint to bring a message to its place.
    fn hand_over(&self, (number, early): Held, mut place: Place, source: Option<PeerIndex>) {
        self.count(number, &mut place);
        let members = self.0.members.borrow();
        // The early messages of an endpoint go with it.
        if let Some(handed) = members.get(&number) {
            let mut matched = handed.matched.borrow_mut();
            matched.push_back((early, place, source));
        }
    }

    /// Counts a message of an endpoint to a buffer for several.
    fn count(&self, number: u32, place: &mut Place) {
        if place.is_last && place.offset == 0 {
            return;
        }
        place.has_others = true;
        let address = place.buffer();
        let mut several = self.0.several.borrow_mut();
        let one = several.entry(address).or_insert_with(|| Several {
            coming: Vec::new(),
            closed: None,
        });
        one.coming.push(number);
        if place.is_last {
            one.closed = Some(Buffer {
                address,
                len: 0,
                context: place.context,
                source: None,
                least: None,
                used: place.offset + place.len,
            });
        }
    }

    /// Has a buffer that takes no more messages be given back.
    fn close(&self, buffer: Buffer) {
        if !self.is_left_to_others(buffer) {
            self.0.closed.borrow_mut().push_back(buffer);
        }
    }

    /// Leaves it to messages that are still coming to a buffer, if there are some, to give it back.
    fn is_left_to_others(&self, buffer: Buffer) -> bool {
        let mut several = self.0.several.borrow_mut();
        let one = several.get_mut(&buffer.address);
        one.map(|one| one.closed = Some(buffer)).is_some()
    }

    /// Tells of the first tagged message that a receive would get now, as [`super::Endpoint::peek`] does.
    pub fn peek(&self, wanted: Wanted) -> Option<Peeked> {
        self.name();
        self.0.tagged.borrow().peek(&wanted).map(peeked)
    }

    /// Keeps such a message for [`ReceiveContext::receive_claimed`], as [`super::Endpoint::claim`] does.
    pub fn claim(&self, wanted: Wanted, context: u64) -> Option<Peeked> {
        self.name();
        let mut tagged = self.0.tagged.borrow_mut();
        tagged.claim(&wanted, context).map(peeked)
    }

    /// Receives the message that was claimed with the context `claimed`, as
    /// [`super::Endpoint::receive_claimed`] does; its endpoint tells of it in its next progress.
    ///
    /// # Errors
    /// As [`ReceiveContext::post_receive`]: the message stays claimed.
    ///
    /// # Safety
    /// As [`ReceiveContext::post_receive`], where it returns true.
    pub unsafe fn receive_claimed(
        &self,
        pieces: &[(*mut u8, usize)],
        claimed: u64,
        context: u64,
    ) -> Result<bool, Error> {
        let (address, len) = self.0.landings.whole(pieces)?;
        let early = self.0.tagged.borrow_mut().take_claimed(claimed);
        let Some(mut early) = early else {
            self.0.landings.let_go(Some(address));
            return Ok(false);
        };
        if let Some((sender, vector)) = early.message.1.sender.as_ref().zip(self.0.vector.get()) {
            early.source = vector.find(sender);
        }
        let receive = Receive {
            wanted: Wanted::tag(early.tag),
            address,
            len,
            context,
        };
        self.hand_over(early.message, receive.place(early.len), early.source);
        Ok(true)
    }

    /// Drops a tagged message and tells of it, as [`super::Endpoint::discard`] does.
    pub fn discard(&self, wanted: Wanted) -> Option<Peeked> {
        self.name();
        let early = self.0.tagged.borrow_mut().take(&wanted);
        early.map(|early| self.drop_early(early))
    }

    /// Drops a claimed message and tells of it, as [`super::Endpoint::discard_claimed`] does.
    pub fn discard_claimed(&self, context: u64) -> Option<Peeked> {
        let early = self.0.tagged.borrow_mut().take_claimed(context);
        early.map(|early| self.drop_early(early))
    }

    /// Leaves it to its endpoint to answer the sender of a message that is dropped.
    fn drop_early(&self, early: tagged::Early<Held>) -> Peeked {
        let told = peeked(&early);
        let (number, early) = early.message;
        let members = self.0.members.borrow();
        if let (Some(answer), Some(handed)) = (early.answer, members.get(&number)) {
            handed.dropped.borrow_mut().push(answer);
        }
        told
    }

    /// Gives early messages the numbers that their senders have got.
    fn name(&self) {
        let inner = &*self.0;
        // Nothing has come before there is an endpoint.
        let Some(vector) = inner.vector.get() else {
            return;
        };
        let version = vector.version();
        if inner.named.replace(version) == version {
            return;
        }
        let find = |(_, early): &Held| vector.find(early.sender.as_ref()?);
        inner.matcher.borrow_mut().name(find);
        self.match_buffers(None);
        let matched = inner.tagged.borrow_mut().name(find);
        for (early, place) in matched {
            self.hand_over(early.message, place, early.source);
        }
    }
}

/// Tells of a message that is held.
fn peeked(early: &tagged::Early<Held>) -> Peeked {
    Peeked::new(early, early.message.1.beside)
}

impl Member {
    /// Returns whether a message that comes may be matched: those before it were told of.
    pub(super) fn may_match(&self) -> bool {
        self.handed.matched.borrow().is_empty()
    }

    /// Returns whether [`super::Endpoint::deliver_shared`] has something to do.
    pub(super) fn has_work(&self) -> bool {
        let has_dropped = !self.handed.dropped.borrow().is_empty();
        has_dropped || !self.may_match() || !self.context.0.closed.borrow().is_empty()
    }

    /// Notes that a message is reported. Returns whether that gives its buffer back.
    pub(super) fn ends_buffer(&self, buffer: *mut u8) -> bool {
        let mut several = self.context.0.several.borrow_mut();
        // One that is not counted is alone.
        let Some(one) = several.get_mut(&buffer) else {
            return true;
        };
        let mut coming = one.coming.iter();
        if let Some(at) = coming.position(|number| *number == self.number) {
            one.coming.swap_remove(at);
        }
        let is_ended = one.coming.is_empty();
        let is_last = is_ended && one.closed.is_some();
        if is_ended {
            several.remove(&buffer);
        }
        is_last
    }

    /// Finds a place for a message of `len` bytes that has come.
    pub(super) fn place_for(
        &self,
        beside: Beside,
        source: Option<PeerIndex>,
        len: usize,
    ) -> Option<Place> {
        let inner = &*self.context.0;
        if let Some(tag) = beside.tag {
            return inner.tagged.borrow_mut().arrive(tag, source, len);
        }
        let mut matcher = inner.matcher.borrow_mut();
        let mut place = matcher.arrive(source, len, |closed| self.context.close(*closed))?;
        self.context.count(self.number, &mut place);
        Some(place)
    }

    /// Returns whether an early message may be held, of which `held` bytes are counted.
    pub(super) fn may_hold(&self, beside: Beside, held: usize) -> bool {
        let inner = &*self.context.0;
        match beside.tag {
            None => inner.matcher.borrow().has_room(held),
            Some(_) => inner.tagged.borrow().has_room(held),
        }
    }

    /// Holds an early message, for which there is room.
    pub(super) fn hold(&self, source: Option<PeerIndex>, early: Early) {
        let (len, held, tag) = (early.len(), early.held(), early.beside.tag);
        let inner = &*self.context.0;
        let early = (self.number, early);
        match tag {
            None => (inner.matcher.borrow_mut()).hold(source, len, held, early),
            Some(tag) => (inner.tagged.borrow_mut()).hold(tag, source, len, held, early),
        }
    }

    /// Gives early messages the numbers that their senders have got. Returns whether some have
    /// none.
    pub(super) fn name_senders(&self) -> bool {
        self.context.name();
        let inner = &*self.context.0;
        inner.matcher.borrow().has_nameless() || inner.tagged.borrow().has_nameless()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let inner = &*self.context.0;
        let is_own = |(number, _): &Held| *number == self.number;
        let held = |(_, early): &Held| early.held();
        inner.matcher.borrow_mut().forget(is_own, held);
        inner.tagged.borrow_mut().forget(is_own);
        inner.members.borrow_mut().remove(&self.number);
        // Messages that the endpoint does not tell of any more.
        inner.several.borrow_mut().retain(|_, one| {
            one.coming.retain(|number| *number != self.number);
            let is_ended = one.coming.is_empty();
            if let (true, Some(buffer)) = (is_ended, one.closed) {
                inner.closed.borrow_mut().push_back(buffer);
            }
            !is_ended
        });
    }
}
