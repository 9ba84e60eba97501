//! Operations that a program starts itself when a counter has reached a threshold, and that a
//! counter of its choice counts (fi_trigger(3), deferred work).

#![expect(
    unsafe_code,
    reason = "takes messages and buffers by their C addresses"
)]

use super::link::Path;
use super::origin::Beside;
use super::pending::State;
use super::threshold::Act;
use super::{Endpoint, Level, Posted, Work};
use crate::raw::address_vector::PeerIndex;
use crate::raw::completion::{Counter, Entry, Operation, Part, Promise, Report};
use crate::raw::error::Error;
use crate::raw::tagged::{Receive, Wanted};
use std::fmt::{self, Debug, Formatter};
use std::num::NonZero;
use std::rc::Rc;

/// Condition for the start of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Condition<'a> {
    /// The counter.
    pub counter: &'a Counter,
    /// Its count.
    pub threshold: u64,
    /// Whether failures count, too.
    pub with_failures: bool,
}

/// The function of a [`Call`].
pub type Start = dyn Fn(&Endpoint, Part) -> Result<(), Error>;

/// An operation that a program starts by one call, for which it gets a report; not called where
/// that is [`Error::Again`], but again when there is room.
#[derive(Clone)]
pub struct Call {
    /// The peer, of all that the function starts.
    pub peer: PeerIndex,
    /// The operation that the entry tells of, and that is counted.
    pub operation: Operation,
    /// The bytes that the entry tells of.
    pub len: usize,
    /// The tag of the message that the entry tells of, if it has one.
    pub tag: Option<u64>,
    /// Starts one operation with this report, or fails and has started none.
    pub start: Rc<Start>,
}

impl Debug for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct("Call");
        call.field("peer", &self.peer);
        call.field("operation", &self.operation);
        call.finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Starts an operation as [`Endpoint::defer`] does: one that the program starts, or a count. A
    /// counter may be told, which counts its end in the place of the endpoint's. Returns a number
    /// for [`Endpoint::cancel_deferred`].
    ///
    /// # Errors
    /// [`Error::Again`] where too many wait.
    pub fn defer_call<R: Report>(
        &self,
        condition: Condition<'_>,
        call: Call,
        report: R,
        counter: Option<&Counter>,
    ) -> Result<u64, Error> {
        self.defer_on(condition, Work::Call(call), Promise::of(report), counter)
    }

    /// Calls a function as [`Endpoint::defer_call`] does, which reports nothing. It is known by its
    /// context, too ([`Endpoint::cancel_act`]).
    ///
    /// # Errors
    /// As [`Endpoint::defer_call`].
    pub fn defer_act(
        &self,
        condition: Condition<'_>,
        act: Rc<dyn Fn(&Self)>,
        context: u64,
    ) -> Result<u64, Error> {
        let promise = Promise {
            context,
            ..Promise::NOTHING
        };
        self.defer_on(condition, Work::Do(Act(act)), promise, None)
    }

    /// Adds to a counter, or sets it, as [`Endpoint::defer_call`] starts operations.
    ///
    /// # Errors
    /// As [`Endpoint::defer_call`].
    pub fn defer_count(
        &self,
        condition: Condition<'_>,
        counter: &Counter,
        (value, sets): (u64, bool),
    ) -> Result<u64, Error> {
        let work = Work::Count {
            counter: counter.clone(),
            value,
            sets,
        };
        self.defer_on(condition, work, Promise::NOTHING, None)
    }

    /// Starts the operation of a call.
    pub(super) fn call(
        &self,
        call: &Call,
        promise: Promise,
        counter: Option<&Counter>,
    ) -> Result<(), Error> {
        // A handle, as the call may look for links.
        let link = self.with_link(call.peer, |link| Ok(Rc::clone(link)))?;
        let entry = Entry {
            context: promise.context,
            operation: call.operation,
            len: call.len,
            data: None,
            tag: call.tag,
            source: None,
            offset: 0,
            is_last: true,
        };
        let state = State::Parts {
            left: 1,
            error: None,
            told: None,
        };
        let number = self.begin(&link, entry, promise, state)?;
        if let Some(counter) = counter {
            let mut pending = self.pending.borrow_mut();
            pending.count_by(number, counter.clone());
        }
        let part = Part(NonZero::new(number).ok_or(Error::Again)?);
        (call.start)(self, part).inspect_err(|_| self.abandon(number))
    }

    /// Sends a message as a part of an operation; returns the number of its own where the bytes are
    /// fetched later.
    ///
    /// # Safety
    /// `message` holds the bytes of the entry until the operation is reported.
    pub(super) unsafe fn send_part(
        &self,
        peer: PeerIndex,
        (message, beside): (*const u8, Beside),
        entry: Entry,
        level: Level,
        whole: Option<NonZero<u64>>,
    ) -> Result<Option<u64>, Error> {
        let whole = whole.ok_or(Error::Again)?;
        let promise = Promise::NOTHING;
        self.with_link(peer, |link| {
            if entry.len > link.eager {
                // SAFETY: `message` holds the bytes until the operation is reported.
                let number = unsafe { self.offer_message(link, message, beside, entry, promise)? };
                self.pending.borrow_mut().set_part(number, whole);
                return Ok(Some(number));
            }
            let has_left = matches!((level, &link.path), (Level::Transmitted, Path::Near(_)));
            if level == Level::Free || has_left {
                // SAFETY: `message` holds the bytes, at most `eager`.
                unsafe { beside.post(link, None, message, entry.len)? };
                self.finish(whole.get(), Ok(()));
                return Ok(None);
            }
            // The receiver's answer is behind the moment in which it has left.
            let number = self.begin(link, entry, promise, State::Answer)?;
            // SAFETY: `message` holds the bytes, at most `eager`.
            let posted =
                unsafe { beside.post(link, Some((number, level.asks())), message, entry.len) };
            posted.inspect_err(|_| self.abandon(number))?;
            self.pending.borrow_mut().set_part(number, whole);
            Ok(None)
        })
    }

    /// Posts pieces of memory for one message of `source`, or of anybody, as
    /// [`Endpoint::post_receive_vector`] does; this counter counts it. No other receive has this
    /// context.
    ///
    /// # Errors
    /// As [`Endpoint::post_receive_vector`].
    ///
    /// # Safety
    /// As [`Endpoint::post_receive_vector`].
    pub unsafe fn post_receive_counted(
        &self,
        pieces: &[(*mut u8, usize)],
        (context, source): (u64, Option<PeerIndex>),
        counter: &Counter,
    ) -> Result<(), Error> {
        let (address, len) = self.whole(pieces)?;
        self.receive_counters
            .borrow_mut()
            .insert(context, counter.clone());
        let posted = Posted {
            context,
            source,
            // Keeps it apart from plain buffers, and takes one message, as nothing is left then.
            least: Some(usize::MAX),
        };
        // SAFETY: one piece is nobody else's until an entry says that it is the caller's; memory of
        // several is nobody else's as long as it is among the landings.
        unsafe { self.post_receive(address, len, posted) };
        Ok(())
    }

    /// Posts pieces of memory for one tagged message, as [`Endpoint::post_tagged_vector`] does;
    /// this counter counts it. No other receive has this context.
    ///
    /// # Errors
    /// As [`Endpoint::post_tagged_vector`].
    ///
    /// # Safety
    /// As [`Endpoint::post_tagged_vector`].
    pub unsafe fn post_tagged_counted(
        &self,
        pieces: &[(*mut u8, usize)],
        wanted: Wanted,
        context: u64,
        counter: &Counter,
    ) -> Result<(), Error> {
        let (address, len) = self.whole(pieces)?;
        self.receive_counters
            .borrow_mut()
            .insert(context, counter.clone());
        let receive = Receive {
            wanted,
            address,
            len,
            context,
        };
        self.post_tagged_apart(&receive);
        Ok(())
    }

    /// Reports a receive of this context that could not be posted; it is counted by this counter, or
    /// by the endpoint's.
    pub fn fail_receive(
        &self,
        (context, tag): (u64, Option<u64>),
        counter: Option<&Counter>,
        error: Error,
    ) {
        if let Some(counter) = counter {
            self.receive_counters
                .borrow_mut()
                .insert(context, counter.clone());
        }
        let entry = Entry {
            context,
            operation: Operation::Receive,
            len: 0,
            data: None,
            tag,
            source: None,
            offset: 0,
            is_last: true,
        };
        self.report_receive(entry, Err(error));
    }

    /// Reports the end of a receive whose message is here.
    pub(super) fn report_receive(&self, entry: Entry, result: Result<(), Error>) {
        let mut promise = Promise::of_receive(entry.context);
        if !self.receive_counters.borrow().is_empty() {
            self.count_receive(entry.context, result);
            promise.counts = false;
        }
        self.report(entry, promise, result, false);
    }

    /// Counts a receive by its own counter, or by the endpoint's.
    #[cold]
    pub(super) fn count_receive(&self, context: u64, result: Result<(), Error>) {
        let counter = self.receive_counters.borrow_mut().remove(&context);
        let counter = counter.as_ref().unwrap_or(&self.config.received);
        counter.count(result);
    }

    /// Has the counter of a receive count the operation that brings its message.
    pub(super) fn note_counter(&self, number: u64, context: u64) {
        if let Some(counter) = self.receive_counters.borrow_mut().remove(&context) {
            self.pending.borrow_mut().count_by(number, counter);
        }
    }
}
