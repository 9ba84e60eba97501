//! Requests that ask for no answer: writes of elements, and atomic operations of which nobody awaits
//! the result.
//!
//! The first such request of a lane behind a quiet or a fence asks for its answer at once: often a
//! quiet comes next. Further ones ask for none. A gather is an operation for those to one peer: as
//! long as some are behind, it is one of the lane's operations under way, and quiet sends the peer
//! one probe, whose answer says that all before it are executed, as messages come in their order.

use crate::error::Failure;
use crate::form::Swap;
use crate::lane::{GATHERING, Lane, SILENT};
use crate::message::{Message, Probe};
use crate::operation::{Kind, Operation, Operations};
use crate::port::{Port, State};
use crate::transfer::Tries;
use fi_ofi_abi::{FI_INJECT, FiMsg};
use std::cell::Cell;

/// Peers for which a lane gathers at a time; requests to others ask for their answers.
const MOST: usize = 8;

/// A name for a region of a peer, by which a caller says that it means the same as before; 0 is none.
/// The caller sees to it that it names nothing else until [`Port::forget_names`].
pub type Name = usize;

/// The gathers of a lane.
#[derive(Debug)]
pub(crate) struct Gathers {
    /// The one of the last request, if there was one, its message, and the name of the region that
    /// this is for; none where posts in line may not take it: the lane is not as most are, or the next
    /// request asks for its answer.
    last: Cell<*mut Operation>,
    last_swap: Cell<*mut Swap>,
    last_name: Cell<Name>,
    /// All of them.
    all: [Cell<*mut Operation>; MOST],
}

impl Gathers {
    pub(crate) fn new() -> Self {
        Self {
            last: Cell::new(std::ptr::null_mut()),
            last_swap: Cell::new(std::ptr::null_mut()),
            last_name: Cell::new(0),
            all: [const { Cell::new(std::ptr::null_mut()) }; MOST],
        }
    }

    /// Has posts in line find none, until a request has gone by one again.
    pub(crate) fn hide(&self) {
        self.last_name.set(0);
    }

    fn all(&self) -> impl Iterator<Item = *mut Operation> {
        self.all.iter().map(Cell::get).filter(|one| !one.is_null())
    }
}

impl Lane {
    /// Returns whether requests ask for no answers, as there is no quiet between them.
    pub(crate) fn is_gathering(&self) -> bool {
        self.others().get() & GATHERING != 0
    }

    /// Has requests ask for no answers from now on.
    pub(crate) fn gather(&self) {
        self.others().set(self.others().get() | GATHERING);
        self.show_last();
    }

    /// Has the next request ask for its answer.
    pub(crate) fn gather_no_more(&self) {
        self.others().set(self.others().get() & !GATHERING);
        self.gathers.hide();
    }

    /// Has posts in line find the last gather, where they may, and it has a name.
    fn show_last(&self) {
        let last = self.gathers.last.get();
        if self.is_plain() && !last.is_null() {
            // SAFETY: the gather lies in a chunk, which stays; the port's lock guards it.
            self.gathers.last_name.set(unsafe { (*last).name });
        }
    }

    /// Returns the message of the last gather, for one more request to the region of this name;
    /// none where its name is another one, or where requests ask for answers.
    #[inline(always)]
    pub(crate) fn gather_again(&self, name: Name) -> Option<*mut Swap> {
        if self.gathers.last_name.get() != name {
            return None;
        }
        self.others().set(self.others().get() | SILENT);
        Some(self.gathers.last_swap.get())
    }

    /// Returns the last gather, for one more request to this peer; none where it was to another
    /// one, where the lane is not as most are, or where requests ask for answers.
    pub(crate) fn gather_to(&self, peer: u32) -> Option<*mut Operation> {
        let last = self.gathers.last.get();
        if !self.is_gathering() || !self.is_plain() || last.is_null() {
            return None;
        }
        // SAFETY: the gather lies in a chunk, which stays; the port's lock guards it.
        if unsafe { (*last).peer() } != peer {
            return None;
        }
        self.others().set(self.others().get() | SILENT);
        Some(last)
    }

    /// Notes that the last gather's message is for the region of this name.
    pub(crate) fn name_last(&self, name: Name) {
        // SAFETY: the gather lies in a chunk, which stays; the port's lock guards it.
        unsafe { (*self.gathers.last.get()).name = name };
        self.gathers.last_name.set(name);
    }

    /// Has no gather a name any more.
    pub(crate) fn forget_names(&self) {
        self.gathers.hide();
        for gather in self.gathers.all() {
            // SAFETY: the gather lies in a chunk, which stays; the port's lock guards it.
            unsafe { (*gather).name = 0 };
        }
    }

    /// Returns the gather for a request to this peer; none where the lane has too many others.
    pub(crate) fn gather_for(
        &self,
        operations: &mut Operations,
        peer: u32,
    ) -> Option<*mut Operation> {
        self.put_aside();
        let last = self.find(operations, peer)?;
        self.gathers.last.set(last);
        // SAFETY: the gather lies in a chunk, which stays.
        self.gathers.last_swap.set(unsafe { &raw mut (*last).swap });
        self.gathers.hide();
        self.show_last();
        // SAFETY: the gather is the lane's, whose port's lock this thread has.
        if unsafe { std::mem::take(&mut (*last).is_behind) } {
            self.end(Kind::Atomic);
        }
        self.others().set(self.others().get() | SILENT);
        Some(last)
    }

    /// Returns the peer's gather; that of a peer with nothing under way, or a new one, where it has
    /// none.
    fn find(&self, operations: &mut Operations, peer: u32) -> Option<*mut Operation> {
        // SAFETY: gathers lie in chunks, which stay; the port's lock guards them.
        unsafe {
            let mut all = self.gathers.all();
            if let Some(found) = all.find(|&one| (*one).peer() == peer) {
                return Some(found);
            }
            let is_over = |one: *mut Operation| !(*one).is_behind && !(*one).is_asked;
            let mut places = self.gathers.all.iter();
            let place = places.find(|one| one.get().is_null() || is_over(one.get()))?;
            if place.get().is_null() {
                place.set(operations.take_for(self));
                (*place.get()).set_kind(Kind::Silent);
                (*place.get()).plain = std::ptr::null();
            }
            let found = place.get();
            (*found).name = 0;
            (*found).set_peer(peer);
            (*found).swap.set_peer(peer);
            Some(found)
        }
    }

    /// Notes in the last gather that it is behind.
    fn put_aside(&self) {
        let others = self.others();
        if others.get() & SILENT == 0 {
            return;
        }
        others.set(others.get() & !SILENT);
        // SAFETY: the gather lies in a chunk, which stays; the port's lock guards it.
        let is_behind = unsafe { &mut (*self.gathers.last.get()).is_behind };
        if !std::mem::replace(is_behind, true) {
            self.begin(Kind::Atomic);
        }
    }

    /// Returns whether peers are to be sent probes, which quiet waits for.
    pub(crate) fn is_behind(&self) -> bool {
        self.put_aside();
        // SAFETY: gathers lie in chunks, which stay; the port's lock guards them.
        let is_behind = |one: *mut Operation| unsafe { (*one).is_behind && !(*one).is_asked };
        self.gathers.all().any(is_behind)
    }

    /// Ends the operations under way by a gather, with a failure.
    #[cold]
    pub(crate) fn lose(&self, gather: *mut Operation, failure: Failure) {
        self.put_aside();
        // SAFETY: the gather is the lane's, whose port's lock this thread has.
        unsafe {
            if std::mem::take(&mut (*gather).is_behind) {
                self.end(Kind::Atomic);
            }
            if (*gather).is_asked {
                self.end_probe(gather);
            }
            self.fail((*gather).peer(), failure);
        }
    }

    /// Ends the probe of a gather.
    ///
    /// # Safety
    /// The gather is the lane's, and waits for an answer.
    pub(crate) unsafe fn end_probe(&self, gather: *mut Operation) {
        // SAFETY: the gather is the lane's, whose port's lock this thread has.
        unsafe {
            (*gather).is_asked = false;
            (*gather).rename();
        }
        self.end(Kind::Atomic);
    }

    /// Takes all gathers from the lane, by which nothing is under way.
    pub(crate) fn take_gathers(&self) -> impl Iterator<Item = *mut Operation> {
        self.gathers.hide();
        self.gathers.last.set(std::ptr::null_mut());
        let places = self.gathers.all.iter();
        let all = places.map(|place| place.replace(std::ptr::null_mut()));
        all.filter(|one| !one.is_null())
    }
}

impl Port {
    /// Sends a probe to each peer that is behind and has none, and tries again where there is no room
    /// as `tries` says.
    pub(crate) fn probe(&self, state: &mut State, lane: &Lane, tries: Tries) {
        if !lane.is_behind() {
            return;
        }
        for gather in lane.gathers.all() {
            // SAFETY: the gather is the lane's, whose port's lock this thread has.
            let is_behind = unsafe { (*gather).is_behind && !(*gather).is_asked };
            if is_behind {
                // SAFETY: the gather is the lane's, is behind, and waits for no answer.
                unsafe { self.probe_one(state, lane, gather, tries) };
            }
        }
    }

    /// # Safety
    /// The gather is the lane's, is behind, and waits for no answer.
    unsafe fn probe_one(
        &self,
        state: &mut State,
        lane: &Lane,
        gather: *mut Operation,
        tries: Tries,
    ) {
        let ep = state.objects.ep;
        // SAFETY: this thread has the lock, which guards the structs and the gather.
        let message: *const FiMsg = unsafe {
            let peer = (*gather).peer();
            let probe = Message::Probe(Probe {
                key: (*gather).swap.key(),
                from: self.facts().number,
                token: (*gather).token,
            });
            let (words, bytes) = probe.encode();
            let address = state.peers[peer as usize].address;
            let form = &mut *self.shared().forms.get();
            form.message(words, bytes, address, gather)
        };
        // SAFETY: the endpoint is open, the message whole, and its bytes are taken over.
        let send = || unsafe { ((*(*ep).msg).sendmsg)(ep, message, FI_INJECT) };
        // SAFETY: the gather is the lane's, whose port's lock this thread has.
        let note = |is_asked| unsafe {
            (*gather).is_asked = is_asked;
            (*gather).is_behind = !is_asked;
        };
        note(true);
        let mut sent = send();
        if tries == Tries::UntilSent {
            // The looks meanwhile may find that the peer is lost.
            sent = self.shared().try_again(state, sent, send);
        } else if sent == -(libc::EAGAIN as isize) {
            return note(false);
        }
        if sent != 0 {
            let failure = Failure {
                errno: -sent as i32,
                operation: Kind::Silent.name(),
            };
            lane.lose(gather, failure);
        }
    }
}

#[cfg(test)]
mod tests;
