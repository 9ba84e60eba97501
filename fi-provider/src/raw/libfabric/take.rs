//! Records that come by libfabric.

#![expect(unsafe_code, reason = "reads messages from libfabric's buffers")]

use super::Libfabric;
use super::arrivals::{Arrivals, Held, Incoming};
use super::notice::{CREDITS, HEADER, Header, Kind, Notice};
use crate::raw::address::Address;
use crate::raw::endpoint::link::Link;
use crate::raw::endpoint::origin::{Fate, Origin};
use crate::raw::endpoint::{Endpoint, TURN};
use crate::raw::protocol;
use crate::raw::record::Flat;
use fi_ofi::{Buffer, Event};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Weak;

impl Libfabric {
    /// Returns the addresses of the peers that have sent.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        let arrivals = self.arrivals.borrow();
        let open = arrivals.incoming.values().filter(|one| !one.is_closed);
        open.map(|one| one.origin.address().clone()).collect()
    }

    /// Returns the parts of a message: its header, and its payload as a record; none of nonsense.
    fn parts(&self, buffer: &Buffer) -> Option<(Header, Flat)> {
        let len = buffer.len().checked_sub(HEADER)?;
        // SAFETY: the buffer is aligned, and has a header.
        let header = Header::of_words(unsafe { buffer.start().cast::<[u64; 2]>().read() });
        let record = Flat {
            kind: header.kind,
            payload: buffer.start().wrapping_add(HEADER),
            len,
        };
        Some((header, record))
    }

    /// Tells a sender the number of its records that were taken.
    fn tell_taken(&self, line: u64, incoming: &mut Incoming) {
        incoming.told = incoming.taken;
        self.tell(Notice {
            peer: incoming.peer,
            kind: Kind::Taken,
            line,
            words: [incoming.taken, 0, 0, 0],
        });
    }

    /// Does as a greeting says: begins the line, or tells that its receiver is not here.
    fn begin(&self, arrivals: &mut Arrivals, line: u64, greeting: &Flat) -> Option<()> {
        let bytes = bytes_of(greeting);
        let (to, rest) = bytes.split_at_checked(Address::BYTES.next_multiple_of(8))?;
        let to = Address::of_bytes(to.get(..Address::BYTES)?).ok()?;
        let from = Address::of_bytes(rest).ok()?;
        let peer = self.number(from.name.as_ref()?).ok()?;
        if to != self.address {
            self.tell(Notice {
                peer,
                kind: Kind::Gone,
                line,
                words: [0; 4],
            });
            return Some(());
        }
        let mut incoming = Incoming {
            origin: Origin::new(from),
            peer,
            next: 0,
            ahead: BTreeMap::new(),
            left: VecDeque::new(),
            taken: 0,
            told: 0,
            is_closed: false,
        };
        self.tell_taken(line, &mut incoming);
        arrivals.incoming.entry(line).or_insert(incoming);
        Some(())
    }

    /// Takes messages while the endpoint closes, of which nothing is done but to answer: whether
    /// something is under way.
    pub(crate) fn let_act(&self) -> bool {
        while let Some(event) = self.messenger.next() {
            match event {
                Event::Failed(peer, _) => self.note_end(peer),
                Event::Came(buffer) => {
                    self.pass(&buffer);
                    self.messenger.give_back(buffer);
                }
            }
        }
        self.greet();
        self.pay();
        let lines = self.lines.borrow();
        let mut lines = lines.values().filter_map(Weak::upgrade);
        !self.owed.borrow().is_empty()
            || !self.messenger.is_quiet()
            || lines.any(|line| line.is_under_way())
    }

    /// Answers a message, and does nothing of it.
    fn pass(&self, buffer: &Buffer) {
        let Some((header, record)) = self.parts(buffer) else {
            return;
        };
        let arrivals = &mut *self.arrivals.borrow_mut();
        match Kind::of(header.kind) {
            Some(Kind::Taken) => self.note_taken(header.line, &record),
            Some(Kind::Greeting) => _ = self.begin(arrivals, header.line, &record),
            Some(_) => {}
            None => {
                if let Some(incoming) = arrivals.incoming.get_mut(&header.line) {
                    incoming.taken += 1;
                    self.tell_taken(header.line, incoming);
                }
            }
        }
    }

    fn note_taken(&self, line: u64, record: &Flat) {
        use crate::raw::record::Record;
        let line = self.lines.borrow().get(&line).and_then(Weak::upgrade);
        if let (Some(line), Some([taken])) = (line, record.words()) {
            line.note_taken(taken);
        }
    }

    fn note_gone(&self, line: u64) {
        let line = self.lines.borrow().get(&line).and_then(Weak::upgrade);
        if let Some(line) = line {
            self.end_line(&line);
        }
    }
}

/// Returns the bytes of a message.
fn bytes_of(record: &Flat) -> &[u8] {
    // SAFETY: the payload has so many bytes, which stay as they are as long as the record is used.
    unsafe { std::slice::from_raw_parts(record.payload, record.len) }
}

impl Endpoint {
    /// Takes messages that have come by libfabric, and goes on with all that waits there.
    pub(crate) fn turn_libfabric(&self, libfabric: &Libfabric) {
        self.take_left_of(libfabric);
        for _ in 0..TURN {
            match libfabric.messenger.next() {
                None => break,
                Some(Event::Failed(peer, _)) => libfabric.note_end(peer),
                Some(Event::Came(buffer)) => {
                    self.take_buffer(libfabric, &buffer);
                    libfabric.messenger.give_back(buffer);
                }
            }
        }
        libfabric.greet();
        libfabric.pay();
        self.note_turn(libfabric);
        if libfabric.has_ended.take() {
            self.part_from_gone(Link::is_over);
        }
    }

    /// Does as a message says.
    fn take_buffer(&self, libfabric: &Libfabric, buffer: &Buffer) {
        let Some((header, record)) = libfabric.parts(buffer) else {
            return;
        };
        let arrivals = &mut *libfabric.arrivals.borrow_mut();
        let line = header.line;
        match Kind::of(header.kind) {
            None => self.take_record(libfabric, arrivals, header, record),
            Some(Kind::Greeting) => _ = libfabric.begin(arrivals, line, &record),
            Some(Kind::Taken) => libfabric.note_taken(line, &record),
            Some(Kind::Gone) => libfabric.note_gone(line),
            Some(Kind::Probe) => {}
            Some(Kind::Found) => libfabric.note_found(&record),
            Some(Kind::Look) => {
                if let Some(incoming) = arrivals.incoming.get(&line) {
                    self.tell_region(libfabric, (line, incoming.peer), &record);
                }
            }
            Some(Kind::Count) => {
                if let Some(incoming) = arrivals.incoming.get_mut(&line) {
                    self.count_for_peer(&mut incoming.origin, &record);
                }
            }
        }
    }

    /// Takes a record, which may be ahead of others.
    fn take_record(
        &self,
        libfabric: &Libfabric,
        arrivals: &mut Arrivals,
        header: Header,
        record: Flat,
    ) {
        let Some(incoming) = arrivals.incoming.get_mut(&header.line) else {
            // Nobody is told: the sender is not known.
            return;
        };
        let ahead = header.number.wrapping_sub(incoming.next);
        if ahead != 0 {
            if u64::from(ahead) < CREDITS {
                incoming.ahead.insert(header.number, Held::new(&record));
            }
            return;
        }
        let has_left = !incoming.left.is_empty();
        self.take_next(libfabric, header.line, incoming, record);
        while let Some(held) = incoming.ahead.remove(&incoming.next) {
            self.take_next(libfabric, header.line, incoming, held.record());
        }
        if !has_left && !incoming.left.is_empty() {
            arrivals.left.push(header.line);
        }
    }

    /// Takes the next record of a line, or leaves it behind others.
    fn take_next(&self, libfabric: &Libfabric, line: u64, incoming: &mut Incoming, record: Flat) {
        incoming.next = incoming.next.wrapping_add(1);
        let held = (record.kind, record.payload, record.len);
        if !incoming.left.is_empty() || !self.carry_out(libfabric, line, incoming, record) {
            let (kind, payload, len) = held;
            let record = Flat { kind, payload, len };
            incoming.left.push_back(Held::new(&record));
        }
    }

    /// Carries a record out; false where there is no room for it.
    fn carry_out(
        &self,
        libfabric: &Libfabric,
        line: u64,
        incoming: &mut Incoming,
        record: Flat,
    ) -> bool {
        let kind = record.kind;
        let origin = &mut incoming.origin;
        let fate = if incoming.is_closed || self.refuse_outdated(origin, &record) {
            Fate::Taken
        } else {
            self.arrive(&mut incoming.origin, record)
        };
        match fate {
            Fate::Left => return false,
            // Also of a peer that nothing was sent to.
            Fate::Taken => incoming.is_closed |= kind == protocol::Kind::Bye as u16,
            Fate::Broken => {
                incoming.is_closed = true;
                self.part(&incoming.origin);
            }
        }
        incoming.taken += 1;
        if incoming.taken - incoming.told >= CREDITS / 4 || incoming.is_closed {
            libfabric.tell_taken(line, incoming);
        }
        true
    }

    /// Goes on with records that there was no room for.
    fn take_left_of(&self, libfabric: &Libfabric) {
        let arrivals = &mut *libfabric.arrivals.borrow_mut();
        for line in std::mem::take(&mut arrivals.left) {
            let Some(incoming) = arrivals.incoming.get_mut(&line) else {
                continue;
            };
            while let Some(held) = incoming.left.pop_front() {
                if !self.carry_out(libfabric, line, incoming, held.record()) {
                    incoming.left.push_front(held);
                    arrivals.left.push(line);
                    break;
                }
            }
        }
    }
}
