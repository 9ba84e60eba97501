//! Peers beyond the node, by messages of the system's libfabric.
//!
//! * Each endpoint has one of libfabric's ([`Messenger`]), whose name is a part of its address. It
//!   needs nobody to connect it: the first message of a line greets its receiver, which answers.
//! * Records are those of a ring of the node (`path`, `arrivals`): within the credits that each line
//!   has. The receiver tells the number of taken ones. They are numbered, as libfabric may tell of
//!   messages in another order than it takes them.
//! * All accesses to memory go by records, as those to memory of the node that neither is mapped nor
//!   copied by the kernel: the peer does them as it makes progress. Keys are looked up by a message
//!   and its answer (`regions`).
//! * Peers that something is waited for get an empty message each second (`waiting`): libfabric
//!   tells of those that are gone. They stay so: a line to an address that was found gone is not
//!   begun again.

use crate::raw::address::{Address, Name};
use crate::raw::error::Error;
use crate::raw::waker::Set;
use alarm::Alarm;
use arrivals::Arrivals;
use fi_ofi::{Messenger, Refused, Wishes};
use line::{Line, fill};
use looks::Looks;
use notice::{HEADER, Header, Notice, Pace};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::{Rc, Weak};
use std::time::Instant;

mod alarm;
pub(crate) mod arrivals;
mod line;
mod looks;
mod notice;
pub(crate) mod path;
pub(crate) mod regions;
mod take;
mod waiting;

/// Bytes of the longest message beside records: a greeting.
const LEAST: usize = Address::BYTES.next_multiple_of(8) + Address::MOST_BYTES;

/// The side of an endpoint that goes by libfabric: of its thread.
#[derive(Debug)]
pub(crate) struct Libfabric {
    messenger: Messenger,
    /// The own address.
    address: Address,
    /// The longest payload of a record.
    most: usize,
    arrivals: RefCell<Arrivals>,
    /// Own lines, by their numbers.
    lines: RefCell<HashMap<u64, Weak<Line>>>,
    /// Lines that have not sent their greetings.
    ungreeted: RefCell<Vec<Rc<Line>>>,
    /// The addresses of peers that are gone.
    gone: RefCell<HashSet<Address>>,
    /// libfabric's numbers of peers, by their names.
    numbers: RefCell<HashMap<Box<[u8]>, u64>>,
    /// Messages beside records that wait for room.
    owed: RefCell<VecDeque<Notice>>,
    /// Pace of the trials of these messages.
    pace: Pace,
    looks: Looks,
    /// A peer is gone, and its state is to be dropped.
    has_ended: Cell<bool>,
    /// Turns, and when peers were probed.
    turns: Cell<u32>,
    probed: Cell<Instant>,
    /// Made when the endpoint is to sleep for the first time.
    sleep: OnceCell<(Set, Alarm)>,
}

impl Libfabric {
    /// Opens libfabric's endpoint by a provider, or its best one, for records of up to `most` bytes
    /// of payload; `address` lacks its name.
    ///
    /// # Errors
    /// [`Error::NoLibfabric`].
    pub(crate) fn open(
        provider: Option<&str>,
        most: usize,
        address: Address,
    ) -> Result<Rc<Self>, Error> {
        let wishes = Wishes {
            provider,
            most: HEADER + most.max(LEAST),
        };
        let messenger = Messenger::open(wishes).map_err(|_| Error::NoLibfabric)?;
        let name = Name::new(messenger.name()).ok_or(Error::NoLibfabric)?;
        let address = Address {
            name: Some(name),
            ..address
        };
        Ok(Rc::new(Self {
            messenger,
            address,
            most,
            arrivals: RefCell::default(),
            lines: RefCell::default(),
            ungreeted: RefCell::default(),
            gone: RefCell::default(),
            numbers: RefCell::default(),
            owed: RefCell::default(),
            pace: Pace::default(),
            looks: Looks::default(),
            has_ended: Cell::new(false),
            turns: Cell::new(0),
            probed: Cell::new(Instant::now()),
            sleep: OnceCell::new(),
        }))
    }

    /// Returns the own address, with libfabric's name.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Returns libfabric's number of a peer.
    fn number(&self, name: &Name) -> Result<u64, Error> {
        if let Some(number) = self.numbers.borrow().get(name.bytes()) {
            return Ok(*number);
        }
        let inserted = self.messenger.insert(name.bytes());
        let number = inserted.map_err(|_| Error::Unreachable)?;
        self.numbers
            .borrow_mut()
            .insert(name.bytes().into(), number);
        Ok(number)
    }

    /// Sends a message beside records now, or when there is room.
    fn tell(&self, notice: Notice) {
        // One whose receiver has no room does not hold up those to others.
        let is_behind = self.owed.borrow().iter().any(|it| it.peer == notice.peer);
        if is_behind || !self.try_to_tell(notice) {
            self.owed.borrow_mut().push_back(notice);
        }
    }

    /// Sends the messages beside records that wait, as there is room.
    fn pay(&self) {
        if self.owed.borrow().is_empty() || !self.pace.is_due() {
            return;
        }
        // The end of a peer, which a trial may find, takes messages out of the queue.
        let mut owed = self.owed.take();
        let count = owed.len();
        let mut full = Vec::new();
        owed.retain(|notice| {
            let waits = full.contains(&notice.peer) || !self.try_to_tell(*notice);
            if waits {
                full.push(notice.peer);
            }
            waits
        });
        if owed.len() < count {
            self.pace.note_room();
        } else {
            self.pace.note_refusal();
        }
        self.owed.replace(owed);
    }

    /// Sends a message beside records; false where there is no room.
    fn try_to_tell(&self, notice: Notice) -> bool {
        let Notice {
            peer,
            kind,
            line,
            words,
        } = notice;
        let header = Header {
            kind: kind as u16,
            number: 0,
            line,
        };
        let all = [&header.to_words()[..], &words].concat();
        self.send(peer, &all, &[]) != Err(Error::Again)
    }

    /// Sends words and bytes.
    ///
    /// # Errors
    /// [`Error::Again`], [`Error::PeerGone`].
    fn send(&self, peer: u64, words: &[u64], bytes: &[u8]) -> Result<(), Error> {
        let fill = |to: *mut u8| fill(to, words, bytes);
        let sent = self
            .messenger
            .send(peer, words.len() * 8 + bytes.len(), fill);
        sent.map_err(|refused| self.refused(peer, refused))
    }

    /// Returns the error of a refused message; notes the end of the peer.
    fn refused(&self, peer: u64, refused: Refused) -> Error {
        match refused {
            Refused::Again => Error::Again,
            Refused::Failed(_) => {
                self.note_end(peer);
                Error::PeerGone
            }
        }
    }

    /// Notes that a peer is gone.
    fn note_end(&self, peer: u64) {
        for line in self.lines.borrow().values().filter_map(Weak::upgrade) {
            if line.peer == peer {
                self.end_line(&line);
            }
        }
        self.owed.borrow_mut().retain(|notice| notice.peer != peer);
    }

    /// Notes that the receiver of a line is gone, for good.
    fn end_line(&self, line: &Line) {
        line.end();
        self.looks.forget(line.id);
        self.gone.borrow_mut().insert(line.to.clone());
        self.has_ended.set(true);
    }
}
