//! Messages that come before their buffers, or that their senders keep until they are fetched.

#![expect(
    unsafe_code,
    reason = "brings bytes to buffers given by their C addresses"
)]

use super::arrive::entry_of;
use super::held::{Bytes, Early, OVERHEAD};
use super::link::Link;
use super::origin::{Beside, Fate, Origin};
use super::pending::{Pending, State};
use super::together::{Name, Transfer};
use super::{Endpoint, NAMELESS};
use crate::raw::address_vector::PeerIndex;
use crate::raw::completion::{Entry, Failure, Promise};
use crate::raw::error::Error;
use crate::raw::matcher::{Buffer, Place};
use crate::raw::protocol::{HAS_DATA, HAS_KEY, HAS_TAG, IN_ARENA, Kind};
use crate::raw::record::Record;
use crate::raw::region::Access;
use fi_shm::copy;
use std::cell::RefCell;
use std::rc::Rc;

impl Endpoint {
    /// Returns whether an early message may be held, of which `held` bytes are counted.
    pub(super) fn may_hold(&self, beside: Beside, held: usize) -> bool {
        if let Some(member) = &self.shared {
            return member.may_hold(beside, held);
        }
        match beside.tag {
            None => self.matcher.borrow().has_room(held),
            Some(_) => self.tagged.borrow().has_room(held),
        }
    }

    /// Holds an early message, for which there is room.
    pub(super) fn hold(&self, source: Option<PeerIndex>, early: Early) {
        if source.is_none() {
            self.todo.set(self.todo.get() | NAMELESS);
        }
        if let Some(member) = &self.shared {
            return member.hold(source, early);
        }
        let (len, held) = (early.len(), early.held());
        match early.beside.tag {
            None => self.matcher.borrow_mut().hold(source, len, held, early),
            Some(tag) => (self.tagged.borrow_mut()).hold(tag, source, len, held, early),
        }
    }

    /// Takes the offer of a message that the sender keeps until it is fetched.
    pub(super) fn offer(&self, origin: &mut Origin, record: impl Record, flags: u16) -> Fate {
        let Some([number, address, len]) = record.words() else {
            return Fate::Broken;
        };
        let [has_key, has_data, has_tag] =
            [HAS_KEY, HAS_DATA, HAS_TAG].map(|flag| flags & flag != 0);
        let data_at = 3 + usize::from(has_key);
        let tag_at = data_at + usize::from(has_data);
        if record.len() < 8 * (tag_at + usize::from(has_tag)) {
            return Fate::Broken;
        }
        let word = |is_there: bool, index| is_there.then(|| record.word(index)).flatten();
        let (key, data) = (word(has_key, 3), word(has_data, data_at));
        let tag = word(has_tag, tag_at);
        let beside = Beside { tag, data };
        let Some(link) = self.way_back(origin) else {
            return Fate::Taken;
        };
        self.look_for_names();
        if !self.may_match(beside) {
            record.leave();
            return self.note_left();
        }
        let source = self.source(origin);
        let len = len as usize;
        let is_mapped = flags & IN_ARENA != 0;
        if is_mapped && link.mapped(address, len).is_none() {
            return Fate::Broken;
        }
        let place = self.place_for(beside, source, len);
        let early = Early {
            bytes: if is_mapped {
                Bytes::Mapped(address, len)
            } else {
                Bytes::There(address, len, key.map(|key| key as u32))
            },
            beside,
            sender: source.is_none().then(|| origin.address().clone()),
            answer: Some((number, link)),
        };
        match place {
            Some(place) => self.deliver(early, &place, source),
            None if self.may_hold(beside, OVERHEAD) => self.hold(source, early),
            None => {
                record.leave();
                return self.note_left();
            }
        }
        Fate::Taken
    }

    /// Brings a message that was held, or that its sender keeps, to its place.
    pub(super) fn deliver(&self, early: Early, place: &Place, source: Option<PeerIndex>) {
        let len = early.len();
        let (address, key, link, number) = match (early.bytes, early.answer) {
            (Bytes::Here(bytes), answer) => {
                // SAFETY: the place has room for its bytes, at most those of the message.
                unsafe { copy::copy(place.address, bytes.as_ptr(), place.len) };
                return self.received(place, len, early.beside, source, answer);
            }
            // The bytes are the sender's as long as its endpoint is there.
            (Bytes::Mapped(..) | Bytes::There(..), Some((_, link))) if link.is_over() => {
                return self.fail_message(place, early.beside, source, Error::PeerGone);
            }
            (Bytes::Mapped(offset, _), Some((number, link))) => {
                let Some(there) = link.mapped(offset, len) else {
                    return;
                };
                // SAFETY: the range lies in the sender's arena (`offer` has looked), which the link
                // keeps mapped; the place has room for its bytes. Words may be torn in a message.
                unsafe { there.copy_to(place.address, place.len) };
                return self.received(place, len, early.beside, source, Some((number, link)));
            }
            (Bytes::There(address, _, key), Some((number, link))) => (address, key, link, number),
            (Bytes::There(..) | Bytes::Mapped(..), None) => return,
        };
        // SAFETY: the place has room for its bytes until its entry is there.
        let fetched = unsafe {
            let copy = Transfer {
                access: Access::Read,
                here: place.address,
                there: address,
                len: place.len,
            };
            link.copy_together(Name::Offer(number), copy)
        };
        match fetched {
            Ok(true) => self.received(place, len, early.beside, source, Some((number, link))),
            Ok(false) => {
                let remote = key.map(|key| (address, key));
                self.gather(early.beside, (number, &link), place, (len, remote), source);
            }
            Err(error) => {
                self.fail_message(place, early.beside, source, error);
                self.owe(&link, Kind::Done, [number, error.to_wire().into(), 0]);
            }
        }
    }

    /// Reports that a message could not be fetched.
    fn fail_message(&self, place: &Place, beside: Beside, source: Option<PeerIndex>, error: Error) {
        self.land(place.address, 0);
        let entry = self.entry_of(place, beside, source);
        self.report_receive(entry, Err(error));
    }

    /// Reads the bytes of a message over the device, where that knows them by address and key, or
    /// asks the sender for them, in pieces.
    fn gather(
        &self,
        beside: Beside,
        (number, link): (u64, &Rc<Link>),
        place: &Place,
        (len, remote): (usize, Option<(u64, u32)>),
        source: Option<PeerIndex>,
    ) {
        // Found out at the end, where others may be coming.
        let entry = Entry {
            is_last: place.is_last || place.has_others,
            ..entry_of(place, beside, source)
        };
        let promise = Promise::of_receive(place.context);
        let state = State::Gathering {
            dest: place.address,
            left: place.len,
            answer: Some(number),
        };
        if place.len == 0 {
            // There is nothing to ask for: its sender is told at once.
            self.land(place.address, 0);
            self.report_cut(self.entry_of(place, beside, source), len);
            return self.owe(
                link,
                Kind::Done,
                [number, Error::Truncated.to_wire().into(), 0],
            );
        }
        match self.begin(link, entry, promise, state) {
            Ok(pieces) => {
                self.note_counter(pieces, place.context);
                self.pending.borrow_mut().cut(pieces, len - place.len);
                let dest = (place.address, place.len);
                // SAFETY: the place has room for its bytes until its entry is there.
                let is_read = remote
                    .is_some_and(|remote| unsafe { self.read_message(link, remote, dest, pieces) });
                if is_read {
                    self.pending.borrow_mut().leave_to_device(pieces);
                } else {
                    self.owe(link, Kind::Fetch, [number, pieces, place.len as u64]);
                }
            }
            Err(error) => {
                self.land(place.address, 0);
                let entry = self.entry_of(place, beside, source);
                self.report_receive(entry, Err(error));
                self.owe(link, Kind::Done, [number, error.to_wire().into(), 0]);
            }
        }
    }

    /// Ends an operation that has brought as much of a message as its buffer has room for, and
    /// which cuts the rest of so many bytes.
    #[cold]
    #[inline(never)]
    pub(super) fn finish_cut(&self, pending: &mut Pending, cut: usize) {
        let error = Error::Truncated;
        let counter = pending.rare.as_ref().and_then(|rare| rare.counter.as_ref());
        match counter {
            Some(counter) => counter.count(Err(error)),
            None => self.config.received.count(Err(error)),
        }
        self.let_buffer_go(pending, Err(error));
        let entry = pending.entry;
        (self.config.receive).fill(Err(Failure { error, entry, cut }));
    }

    /// Gives back the buffer of an operation that has brought a message, all of it or as much as
    /// the buffer has room for, or has failed, and answers the peer if it waits for that.
    #[inline(always)]
    pub(super) fn let_buffer_go(&self, pending: &mut Pending, result: Result<(), Error>) {
        if pending.entry.is_last
            && let Some(buffer) = pending.buffer()
        {
            let is_alone = pending.entry.tag.is_some();
            pending.entry.is_last = is_alone || self.ends_buffer(buffer);
            let len = match result {
                Ok(()) | Err(Error::Truncated) => pending.entry.len,
                Err(_) => 0,
            };
            self.land(buffer, len);
        }
        if let State::Gathering {
            answer: Some(answer),
            ..
        } = pending.state
        {
            let code = result.err().map_or(0, Error::to_wire).into();
            self.owe(&pending.link, Kind::Done, [answer, code, 0]);
        }
    }

    /// Gives early messages to buffers: a new one, or those that are there.
    pub(crate) fn match_buffers(&self, buffer: Option<Buffer>) {
        let found = RefCell::new(Vec::new());
        let room = self.config.receive.room();
        self.name_senders();
        self.matcher.borrow_mut().post(
            buffer,
            Early::held,
            || found.borrow().len() < room,
            |what| found.borrow_mut().push(what),
        );
        if self.matcher.borrow().is_stalled() {
            self.note_work();
        }
        for what in found.into_inner() {
            match what {
                Ok((early, place, source)) => self.deliver(early, &place, source),
                Err(closed) => self.close_buffer(&closed),
            }
        }
    }

    /// Looks whether early messages have buffers by now.
    pub(crate) fn match_early(&self) {
        if self.matcher.borrow().has_early() {
            self.match_buffers(None);
        }
    }
}
