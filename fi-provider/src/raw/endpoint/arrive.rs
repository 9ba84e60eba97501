//! Records of peers: the request of each, checked and done.

#![expect(
    unsafe_code,
    reason = "stores peers' bytes in buffers and regions given by their C addresses"
)]

use super::atomic::Asked;
use super::held::{Bytes, Early, OVERHEAD};
use super::link::Link;
use super::origin::{Beside, Fate, Origin};
use super::pending::State;
use super::stream::Stream;
use super::unguarded::unguarded;
use super::{Endpoint, MOST_OWED, Operation};
use crate::raw::address_vector::PeerIndex;
use crate::raw::completion::{Entry, Failure};
use crate::raw::error::Error;
use crate::raw::matcher::{Buffer, Place};
use crate::raw::protocol::{
    HAS_DATA, HAS_TAG, Kind, MARKS, TAGGED, UNCOUNTED, WANTS_ANSWER, WANTS_MATCH,
};
use crate::raw::record::Record;
use crate::raw::region::{Access, Found, Rights};
use fi_shm::copy;
use std::rc::Rc;

impl Endpoint {
    /// Carries a record out.
    #[inline(always)]
    pub(crate) fn arrive(&self, origin: &mut Origin, record: impl Record) -> Fate {
        if record.kind() == Kind::Message as u16 {
            return self.take_plain(origin, record);
        }
        if record.kind() == TAGGED
            && let Some([tag]) = record.words()
        {
            return self.take_tagged(origin, record, tag);
        }
        let Some((kind, flags)) = Kind::of(record.kind()) else {
            return Fate::Broken;
        };
        self.arrive_seldom(origin, record, kind, flags)
    }

    /// Returns the number of a sender in the address vector.
    pub(super) fn source(&self, origin: &mut Origin) -> Option<PeerIndex> {
        let version = self.vector.version();
        if origin.version != version {
            origin.version = version;
            origin.source = self.vector.find(&origin.address).into();
        }
        origin.source.into()
    }

    /// Returns the way back to a sender; none where it cannot be reached, and so needs no answer.
    pub(crate) fn way_back(&self, origin: &mut Origin) -> Option<Rc<Link>> {
        // A failure was told by `find_way_back`.
        let _ = self.find_way_back(origin);
        origin.link.clone()
    }

    fn find_way_back(&self, origin: &mut Origin) -> Result<(), Error> {
        if origin.link.is_none() {
            origin.link = Some(self.link_to(&origin.address)?);
        }
        Ok(())
    }

    #[inline(never)]
    fn arrive_seldom(
        &self,
        origin: &mut Origin,
        record: impl Record,
        kind: Kind,
        flags: u16,
    ) -> Fate {
        let needs_way = !matches!(kind, Kind::Told | Kind::Bye)
            && (kind != Kind::Message || flags & WANTS_ANSWER != 0);
        match needs_way.then(|| self.find_way_back(origin)) {
            // Nobody waits for an answer. The message itself may be wanted.
            Some(Err(Error::PeerGone)) if kind != Kind::Message => return Fate::Taken,
            None | Some(Ok(()) | Err(Error::PeerGone)) => {}
            // This process or the peer has no room for the way back now.
            Some(Err(_)) => {
                record.leave();
                return self.note_left();
            }
        }
        let burden = origin.link.as_ref().map_or(0, |link| link.burden());
        if burden >= MOST_OWED && kind.asks() {
            record.leave();
            return Fate::Left;
        }
        let done = match kind {
            Kind::Message => return self.message(origin, record, flags),
            Kind::Offer => return self.offer(origin, record, flags),
            Kind::Told => return self.told(origin, record),
            Kind::Bye => return self.part(origin),
            Kind::Fetch => self.fetch(origin, &record),
            Kind::Piece => self.piece(origin, &record),
            Kind::Done => self.done(origin, &record),
            Kind::Write => self.written(origin, &record),
            Kind::Read => self.asked(origin, &record),
            Kind::Atomic => self.updated(origin, &record),
            Kind::Share => self.help(origin, &record),
        };
        done.map_or(Fate::Broken, |()| Fate::Taken)
    }

    /// Takes a message with a tag or data, or whose sender waits for an answer.
    fn message(&self, origin: &mut Origin, record: impl Record, flags: u16) -> Fate {
        let [has_tag, has_data, wants_answer] =
            [HAS_TAG, HAS_DATA, WANTS_ANSWER].map(|flag| flags & flag != 0);
        let header = usize::from(has_tag) + usize::from(has_data) + usize::from(wants_answer);
        if record.len() < header * 8 {
            return Fate::Broken;
        }
        let word = |is_there: bool, index| is_there.then(|| record.word(index)).flatten();
        let tag = word(has_tag, 0);
        let data = word(has_data, usize::from(has_tag));
        let answer = word(wants_answer, header.saturating_sub(1));
        let answer = answer.and_then(|number| Some((number, self.way_back(origin)?)));
        self.take_message(origin, record, header * 8, Beside { tag, data }, answer)
    }

    /// Gives a message of bytes alone to the first buffer where nothing stands against that, and
    /// takes it as other messages otherwise.
    #[inline(always)]
    fn take_plain(&self, origin: &mut Origin, record: impl Record) -> Fate {
        if let Some(in_place) = self.config.in_place {
            return self.take_in_place(in_place, origin, record);
        }
        loop {
            // SAFETY: the record has so many bytes.
            if unsafe { self.give(origin, record.payload(), record.len()) } {
                return Fate::Taken;
            }
            if !self.renew(origin) {
                return self.take_message(origin, record, 0, Beside::default(), None);
            }
        }
    }

    /// Brings about the state for which [`Endpoint::give`] only looks. Returns whether anything of
    /// it was left to do.
    #[cold]
    #[inline(never)]
    pub(super) fn renew(&self, origin: &mut Origin) -> bool {
        self.renew_in_line(origin)
    }

    /// Does as [`Endpoint::renew`], in line.
    #[inline(always)]
    pub(super) fn renew_in_line(&self, origin: &mut Origin) -> bool {
        let is_old = origin.version != self.vector.version();
        self.source(origin);
        let was_open = self.config.receive.is_open();
        let has_room = self.config.receive.has_room();
        self.matcher.borrow_mut().wrap()
            || self.tagged.borrow_mut().wrap()
            || has_room && (is_old || !was_open)
    }

    /// Gives a message to the first buffer, by few instructions; false where something stands
    /// against that: then nothing was done.
    ///
    /// # Safety
    /// `payload` holds `len` bytes.
    #[inline(always)]
    pub(crate) unsafe fn give(&self, origin: &Origin, payload: *const u8, len: usize) -> bool {
        if !origin.is_of(&self.vector) {
            return false;
        }
        // SAFETY: no other reference is there: functions that borrow the matcher let no record
        // arrive meanwhile; the endpoint is of one thread, as its cells are; and until the last use
        // of `first` functions of the queue and of the matcher alone are called.
        let matcher = unsafe { unguarded(&self.matcher) };
        let Some(first) = matcher.first_plain(len) else {
            return false;
        };
        let queue = &self.config.receive;
        if !queue.push_message(first.context(), len, &origin.source) {
            return false;
        }
        // SAFETY: the buffer has room for `len` bytes until the program has its entry (the
        // requirement of `post_receive`), which is behind this call; `payload` holds them.
        unsafe { copy::copy(first.take(), payload, len) };
        self.config.received.add(1);
        true
    }

    /// Gives a message, whose bytes begin at `header`, to its buffer, or holds it.
    #[inline(never)]
    pub(super) fn take_message(
        &self,
        origin: &mut Origin,
        record: impl Record,
        header: usize,
        beside: Beside,
        mut answer: Option<(u64, Rc<Link>)>,
    ) -> Fate {
        self.look_for_names();
        if !self.may_match(beside) {
            record.leave();
            return self.note_left();
        }
        let source = self.source(origin);
        let len = record.len() - header;
        if let Some(place) = self.place_for(beside, source, len) {
            // SAFETY: the place has room for its bytes until its entry is there (the requirement of
            // `post_receive` and `post_tagged`), outside of the ring.
            unsafe { record.copy_to(header, place.address, place.len) };
            drop(record);
            self.received(&place, len, beside, source, answer);
            return Fate::Taken;
        }
        if !self.may_hold(beside, OVERHEAD + len) {
            record.leave();
            return self.note_left();
        }
        let mut bytes = vec![0; len].into_boxed_slice();
        // SAFETY: there is room for so many bytes.
        unsafe { record.copy_to(header, bytes.as_mut_ptr(), len) };
        if record.kind() & WANTS_MATCH != WANTS_MATCH
            && let Some((number, link)) = answer.take()
        {
            self.owe(&link, Kind::Done, [number, 0, 0]);
        }
        let early = Early {
            bytes: Bytes::Here(bytes),
            beside,
            sender: source.is_none().then(|| origin.address().clone()),
            answer,
        };
        self.hold(source, early);
        Fate::Taken
    }

    /// Returns whether a message that comes may be matched: there is room for its entry, and for
    /// those of messages before it.
    #[inline(always)]
    pub(super) fn may_match(&self, beside: Beside) -> bool {
        let is_free = match beside.tag {
            _ if let Some(member) = &self.shared => member.may_match(),
            None => !self.matcher.borrow().is_stalled(),
            Some(_) => self.paired.borrow().is_empty(),
        };
        is_free && self.config.receive.admits()
    }

    /// Finds a place for a message of `len` bytes that has come.
    #[inline(always)]
    pub(super) fn place_for(
        &self,
        beside: Beside,
        source: Option<PeerIndex>,
        len: usize,
    ) -> Option<Place> {
        if let Some(member) = &self.shared {
            return member.place_for(beside, source, len);
        }
        if let Some(tag) = beside.tag {
            return self.tagged.borrow_mut().arrive(tag, source, len);
        }
        let mut matcher = self.matcher.borrow_mut();
        matcher.arrive(source, len, |closed| self.close_buffer(closed))
    }

    #[cold]
    pub(super) fn note_left(&self) -> Fate {
        self.note_work();
        Fate::Left
    }

    /// Reports a message that is in its place, and answers the sender if it waits for that.
    pub(super) fn received(
        &self,
        place: &Place,
        len: usize,
        beside: Beside,
        source: Option<PeerIndex>,
        answer: Option<(u64, Rc<Link>)>,
    ) {
        self.land(place.address, place.len);
        let entry = self.entry_of(place, beside, source);
        let result = if place.len < len {
            self.report_cut(entry, len - place.len);
            Err(Error::Truncated)
        } else {
            self.report_receive(entry, Ok(()));
            Ok(())
        };
        if let Some((number, link)) = answer {
            let code = result.err().map_or(0, Error::to_wire).into();
            self.owe(&link, Kind::Done, [number, code, 0]);
        }
    }

    /// Reports a message that was longer than its buffer, by so many bytes.
    #[cold]
    pub(super) fn report_cut(&self, entry: Entry, cut: usize) {
        let error = Error::Truncated;
        (self.config.receive).push(Err(Failure { error, entry, cut }));
        self.count_receive(entry.context, Err(error));
    }

    /// Reports that a buffer is the caller's again, without a message.
    pub(super) fn close_buffer(&self, buffer: &Buffer) {
        if !self.is_left_to_another(buffer.address) {
            self.give_back(buffer);
        }
    }

    /// Reports that a buffer is the caller's again, to which no message comes.
    pub(super) fn give_back(&self, buffer: &Buffer) {
        let entry = Entry {
            context: buffer.context,
            operation: Operation::Receive,
            len: 0,
            data: None,
            tag: None,
            source: None,
            offset: buffer.used,
            is_last: true,
        };
        self.config.receive.push(Ok(entry));
    }

    /// Takes a record by which a peer tells that it has written here.
    fn told(&self, origin: &mut Origin, record: impl Record) -> Fate {
        let Some([data, len]) = record.words() else {
            return Fate::Broken;
        };
        if !self.config.receive.admits() {
            record.leave();
            return self.note_left();
        }
        let entry = Entry {
            context: 0,
            operation: Operation::RemoteWrite,
            len: len as usize,
            data: Some(data),
            tag: None,
            source: self.source(origin),
            offset: 0,
            is_last: false,
        };
        self.config.receive.push(Ok(entry));
        Fate::Taken
    }

    /// Notes that a peer's endpoint is closed: nothing of it is waited for any more.
    pub(crate) fn part(&self, origin: &Origin) -> Fate {
        let link = self.known.borrow().get(&origin.address).cloned();
        if let Some(link) = link {
            link.close();
            // Of peers that have ended there may be answers yet.
            self.part_from_gone(Link::is_closed);
        }
        Fate::Taken
    }

    /// Serves a peer that fetches a message that was offered to it.
    fn fetch(&self, origin: &mut Origin, record: &impl Record) -> Option<()> {
        let [number, pieces, len] = record.words()?;
        let link = self.way_back(origin)?;
        let mut pending = self.pending.borrow_mut();
        let offered = pending.get(number, &link);
        // It may have failed here meanwhile.
        let Some(offered) = offered else {
            return Some(());
        };
        let State::Offered { source } = offered.state else {
            return None;
        };
        let len = (offered.entry.len).min(len as usize);
        drop(pending);
        self.stream(Stream::pieces(link, source, len, pieces, Some(number)));
        Some(())
    }

    /// Takes bytes for which this endpoint has asked.
    fn piece(&self, origin: &mut Origin, record: &impl Record) -> Option<()> {
        let [number, offset] = record.words()?;
        let link = self.way_back(origin)?;
        if self.end_unnumbered(number, &link, Ok(())) {
            return Some(());
        }
        let mut pending = self.pending.borrow_mut();
        let Some(wanted) = pending.get(number, &link) else {
            return Some(());
        };
        let State::Gathering { dest, left, .. } = &mut wanted.state else {
            return None;
        };
        let len = record.len() - 16;
        let end = usize::try_from(offset).ok()?.checked_add(len)?;
        if end > wanted.entry.len || len > *left || *left == 0 {
            return None;
        }
        // SAFETY: the buffer has room for all bytes of the entry, of which these are; it stays
        // until the operation is done.
        unsafe { record.copy_to(16, dest.wrapping_add(offset as usize), len) };
        *left -= len;
        let is_whole = *left == 0;
        drop(pending);
        if is_whole {
            self.finish(number, Ok(()));
        }
        Some(())
    }

    /// Takes the end of an own operation.
    fn done(&self, origin: &mut Origin, record: &impl Record) -> Option<()> {
        let [number, code] = record.words()?;
        let link = self.way_back(origin)?;
        let result = u8::try_from(code).ok().map(Error::of_wire);
        if let Some(result) = result
            && self.end_unnumbered(number, &link, result)
        {
            return Some(());
        }
        let is_with_others = {
            let mut pending = self.pending.borrow_mut();
            pending.get(number, &link).map(|one| one.is_with_others())
        };
        if is_with_others == Some(true) {
            // No peer that keeps to the protocol tells of its end.
            return None;
        }
        if is_with_others.is_some() {
            self.finish(number, result?);
        }
        Some(())
    }

    /// Does the write of a peer to a region by the ring.
    fn written(&self, origin: &mut Origin, record: &impl Record) -> Option<()> {
        let [number, key, address, end] = record.words()?;
        let (is_last, is_counted) = (end & !MARKS != 0, end & UNCOUNTED == 0);
        let link = self.way_back(origin)?;
        let len = record.len() - 32;
        let done = self.range(key, address, len, Rights::WRITE);
        if let Ok((place, found)) = &done {
            // SAFETY: the range is in a region, which is mapped and writable while it is open.
            unsafe { record.copy_to(32, *place, len) };
            if is_last && is_counted {
                self.domain.regions().count(found, Access::Write);
            }
        }
        if is_last || done.is_err() {
            let code = done.err().map_or(0, Error::to_wire).into();
            self.owe(&link, Kind::Done, [number, code, 0]);
        }
        Some(())
    }

    /// Does the read of a peer from a region by the ring.
    fn asked(&self, origin: &mut Origin, record: &impl Record) -> Option<()> {
        let [number, key, address, mark] = record.words()?;
        let link = self.way_back(origin)?;
        let is_counted = mark & UNCOUNTED == 0;
        let len = usize::try_from(mark & !MARKS).ok()?;
        match self.range(key, address, len, Rights::READ) {
            Ok((place, found)) => {
                let mut stream = Stream::pieces(link, place, len, number, None);
                stream.region = Some((key, found));
                stream.is_counted = is_counted;
                self.stream(stream);
            }
            Err(error) => self.owe(&link, Kind::Done, [number, error.to_wire().into(), 0]),
        }
        Some(())
    }

    /// Does the atomic operation of a peer on a region.
    fn updated(&self, origin: &mut Origin, record: &impl Record) -> Option<()> {
        let [number, key, address, what, operand, comparand] = record.words()?;
        let asked = Asked::of_wire(what & !MARKS)?;
        let link = self.way_back(origin)?;
        let bytes = asked.bytes();
        let place = self.range(key, address, bytes, asked.right());
        let done = place.and_then(|(place, found)| {
            // SAFETY: the range is in a region, which is mapped while it is open, and writable where
            // it gives the right to more than reading.
            let before = unsafe { asked.apply(place, operand, comparand)? };
            if what & UNCOUNTED == 0 {
                self.domain.regions().count(&found, Access::Write);
            }
            Ok(before)
        });
        match done {
            Ok(before) => self.stream(Stream::word(link, before, bytes, number)),
            Err(error) => self.owe(&link, Kind::Done, [number, error.to_wire().into(), 0]),
        }
        Some(())
    }

    /// Returns the address of a range of an own region, and the region as it was found.
    pub(super) fn range(
        &self,
        key: u64,
        address: u64,
        len: usize,
        rights: Rights,
    ) -> Result<(*mut u8, Found), Error> {
        let regions = self.domain.regions();
        let found = regions.find(key).ok_or(Error::NoSuchKey)?;
        if !found.state.allows(rights) {
            return Err(Error::NotAllowed);
        }
        found.offset(address, len as u64).ok_or(Error::OutOfRange)?;
        let at = found.place(address);
        let place = if found.state.is_in_arena() {
            regions.arena.at(at as usize)
        } else {
            std::ptr::with_exposed_provenance_mut(at as usize)
        };
        Ok((place, found))
    }

    /// Returns the entry of a message that is in this place.
    #[inline(always)]
    pub(super) fn entry_of(
        &self,
        place: &Place,
        beside: Beside,
        source: Option<PeerIndex>,
    ) -> Entry {
        let entry = entry_of(place, beside, source);
        if place.has_others {
            let is_last = self.ends_buffer(place.buffer());
            return Entry { is_last, ..entry };
        }
        entry
    }

    /// Returns whether the message that is reported gives its buffer back: one that may
    /// (`has_others`).
    #[cold]
    pub(crate) fn ends_buffer(&self, buffer: *mut u8) -> bool {
        match &self.shared {
            Some(member) => member.ends_buffer(buffer),
            None => !self.is_left_to_another(buffer),
        }
    }

    /// Leaves it to a message that is still coming to a buffer, if there is one, to tell that the
    /// buffer is the caller's again.
    #[cold]
    pub(crate) fn is_left_to_another(&self, buffer: *mut u8) -> bool {
        let mut pending = self.pending.borrow_mut();
        let heir = pending.coming_to(buffer);
        heir.map(|entry| entry.is_last = true).is_some()
    }

    /// Returns whether a region is as it was found.
    pub(crate) fn is_open(&self, key: u64, found: &Found) -> bool {
        let now = self.domain.regions().find(key);
        now.is_some_and(|now| now.state == found.state)
    }
}

/// Returns the entry of a message in this place.
pub(super) fn entry_of(place: &Place, beside: Beside, source: Option<PeerIndex>) -> Entry {
    Entry {
        context: place.context,
        operation: Operation::Receive,
        len: place.len,
        data: beside.data,
        tag: beside.tag,
        source,
        offset: place.offset,
        is_last: place.is_last,
    }
}
