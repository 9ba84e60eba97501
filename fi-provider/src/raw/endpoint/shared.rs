//! Shared receive contexts (fi_srx_context): buffers that messages to any of several endpoints
//! take.
//!
//! Endpoints with one have no buffers of their own, so that the short ways of messages find none.
//! Whether a message has a buffer is found by the endpoint that it comes to; one that was early and
//! gets its buffer later is handed to its endpoint, which tells of it in its next progress.

#![expect(
    unsafe_code,
    reason = "takes buffers by their C addresses from a program"
)]

use super::arrive::Beside;
use super::early::Early;
use super::scattered::Landings;
use super::{Endpoint, NAMELESS};
use crate::raw::address_vector::{AddressVector, PeerIndex};
use crate::raw::error::Error;
use crate::raw::matcher::{Buffer, Matcher, Place};
use crate::raw::tagged::{Receive, Tagged, Wanted};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Buffers for the messages of several endpoints, which have the same address vector: a handle,
/// whose clones are the same context, for the endpoints of a thread.
#[derive(Clone, Debug)]
pub struct ReceiveContext(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    matcher: RefCell<Matcher<Held>>,
    tagged: RefCell<Tagged<Held>>,
    pub(super) landings: Landings,
    /// That of all endpoints: of the first one.
    vector: OnceCell<AddressVector>,
    /// The vector's version with which the senders of early messages were looked up.
    named: Cell<u64>,
    /// By the numbers of the endpoints.
    members: RefCell<HashMap<u32, Rc<Matched>>>,
}

/// An early message, and the number of the endpoint to which it has come.
type Held = (u32, Early);

/// Messages of an endpoint that have buffers, and that it has not told of.
type Matched = RefCell<VecDeque<(Early, Place, Option<PeerIndex>)>>;

/// An endpoint's part of a context.
#[derive(Debug)]
pub(super) struct Member {
    context: ReceiveContext,
    number: u32,
    matched: Rc<Matched>,
}

impl ReceiveContext {
    /// A context that holds early messages of so many bytes, and so many, and as much again of
    /// tagged ones.
    pub fn new(most_early: (usize, usize)) -> Self {
        Self(Rc::new(Inner {
            matcher: RefCell::new(Matcher::new(most_early)),
            tagged: RefCell::new(Tagged::new(most_early)),
            landings: Landings::default(),
            vector: OnceCell::new(),
            named: Cell::default(),
            members: RefCell::default(),
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
        let matched = Rc::<Matched>::default();
        let mut members = self.0.members.borrow_mut();
        members.insert(number, Rc::clone(&matched));
        Ok(Member {
            context: self.clone(),
            number,
            matched,
        })
    }

    pub(super) fn landings(&self) -> &Landings {
        &self.0.landings
    }

    /// Posts pieces of memory, of which one is filled after the other, for one message of `source`,
    /// or of anybody (fi_recv, fi_recvv).
    ///
    /// # Errors
    /// [`Error::NoRoom`] where there is no memory to which a message for several pieces can come.
    ///
    /// # Safety
    /// As [`Endpoint::post_receive_vector`], but for endpoints that are dropped: the bytes are
    /// nobody else's until the context and its endpoints are.
    pub unsafe fn post_receive(
        &self,
        pieces: &[(*mut u8, usize)],
        context: u64,
        source: Option<PeerIndex>,
    ) -> Result<(), Error> {
        let (address, len) = self.0.landings.whole(pieces)?;
        self.name();
        self.match_buffers(Some(Buffer {
            address,
            len,
            context,
            source,
            least: None,
            used: 0,
        }));
        Ok(())
    }

    /// Gives early messages to buffers: a new one, or those that are there.
    fn match_buffers(&self, buffer: Option<Buffer>) {
        let held = |(_, early): &Held| early.held();
        // Buffers for one message are never closed before it comes.
        let deliver = |found: Result<(Held, Place, Option<PeerIndex>), Buffer>| {
            if let Ok((held, place, source)) = found {
                self.hand_over(held, place, source);
            }
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

    /// Takes back a buffer that was posted with this context, the oldest; false where none waits.
    pub fn cancel_receive(&self, context: u64) -> bool {
        let buffer = self.0.matcher.borrow_mut().cancel(context);
        let address = buffer.map(|buffer| buffer.address);
        self.0.landings.let_go(address);
        address.is_some()
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
    fn hand_over(&self, (number, early): Held, place: Place, source: Option<PeerIndex>) {
        let members = self.0.members.borrow();
        // The early messages of an endpoint go with it.
        if let Some(matched) = members.get(&number) {
            matched.borrow_mut().push_back((early, place, source));
        }
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

impl Member {
    /// Whether a message that comes may be matched: those before it were told of.
    pub(super) fn may_match(&self) -> bool {
        self.matched.borrow().is_empty()
    }

    /// Finds a place for a message of `len` bytes that has come.
    pub(super) fn place_for(
        &self,
        beside: Beside,
        source: Option<PeerIndex>,
        len: usize,
    ) -> Option<Place> {
        let inner = &*self.context.0;
        match beside.tag {
            Some(tag) => inner.tagged.borrow_mut().arrive(tag, source, len),
            None => inner.matcher.borrow_mut().arrive(source, len, |_| ()),
        }
    }

    /// Whether an early message may be held, of which `held` bytes are counted.
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

    /// Gives early messages the numbers that their senders have got; whether some have none.
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
    }
}

impl Endpoint {
    /// Brings the messages to their places that have got buffers of the shared context since they
    /// came.
    pub(super) fn deliver_shared(&self, member: &Member) {
        while self.config.receive.has_room() {
            let Some((early, place, source)) = member.matched.borrow_mut().pop_front() else {
                break;
            };
            self.deliver(early, &place, source);
        }
        if self.todo.get() & NAMELESS != 0 && !member.name_senders() {
            self.todo.set(self.todo.get() & !NAMELESS);
        }
    }
}
