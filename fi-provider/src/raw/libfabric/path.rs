//! The path to an endpoint by libfabric: a line of records to its receiver.

#![expect(unsafe_code, reason = "sends bytes by their C addresses")]

use super::Libfabric;
use super::line::{Line, fill};
use super::notice::{HEADER, Header, Kind, Pace};
use crate::raw::address::Address;
use crate::raw::error::Error;
use fi_ofi::Refused;
use fi_shm::{copy, random};
use std::cell::Cell;
use std::rc::Rc;

/// The sender's end of a line.
#[derive(Debug)]
pub(crate) struct LibfabricPath {
    pub(super) libfabric: Rc<Libfabric>,
    pub(super) line: Rc<Line>,
}

impl LibfabricPath {
    /// Begins a line to an endpoint.
    ///
    /// # Errors
    /// [`Error::Unreachable`] where the address has no name of libfabric's, or one that the provider
    /// refuses; [`Error::PeerGone`] where it was found gone before; [`Error::System`].
    pub(crate) fn open(libfabric: &Rc<Libfabric>, to: &Address) -> Result<Self, Error> {
        let name = to.name.as_ref().ok_or(Error::Unreachable)?;
        if libfabric.gone.borrow().contains(to) {
            return Err(Error::PeerGone);
        }
        let line = Rc::new(Line {
            id: u64::from_ne_bytes(random::bytes()?),
            peer: libfabric.number(name)?,
            to: to.clone(),
            is_alive: Cell::new(true),
            is_greeted: Cell::new(false),
            sent: Cell::new(0),
            taken: Cell::new(0),
            is_starved: Cell::new(false),
            pace: Pace::default(),
        });
        let mut lines = libfabric.lines.borrow_mut();
        lines.retain(|_, line| line.strong_count() > 0);
        lines.insert(line.id, Rc::downgrade(&line));
        drop(lines);
        libfabric.ungreeted.borrow_mut().push(Rc::clone(&line));
        libfabric.greet();
        Ok(Self {
            libfabric: Rc::clone(libfabric),
            line,
        })
    }

    /// Returns whether libfabric has told of no failure with the peer.
    pub(crate) fn is_alive(&self) -> bool {
        self.line.is_alive.get()
    }

    /// Returns whether the peer has answered the greeting.
    pub(super) fn is_greeted(&self) -> bool {
        self.line.is_greeted.get()
    }

    /// Notes that the endpoint is gone.
    pub(crate) fn note_end(&self) {
        self.libfabric.end_line(&self.line);
    }

    /// Returns the bytes of the longest payload of a record.
    pub(crate) fn most(&self) -> usize {
        self.libfabric.most
    }

    /// Sends a record of words and bytes.
    ///
    /// # Errors
    /// [`Error::Again`] where the peer or libfabric has no room; [`Error::PeerGone`].
    ///
    /// # Safety
    /// `bytes` holds `len` bytes, which are with the words no more than [`LibfabricPath::most`].
    pub(crate) unsafe fn post(
        &self,
        kind: u16,
        words: &[u64],
        bytes: *const u8,
        len: usize,
    ) -> Result<(), Error> {
        let line = &self.line;
        if !self.is_alive() {
            return Err(Error::PeerGone);
        }
        line.is_starved.set(!line.may_send());
        if line.is_starved.get() {
            return Err(Error::Again);
        }
        let sent = line.sent.get();
        let header = Header {
            kind,
            number: sent as u32,
            line: line.id,
        };
        let write = |to: *mut u8| {
            // SAFETY: there is room for header, words and bytes, which `bytes` holds.
            unsafe {
                to.cast::<[u64; 2]>().write(header.to_words());
                let words_at = to.wrapping_add(HEADER).cast::<u64>();
                words_at.copy_from_nonoverlapping(words.as_ptr(), words.len());
                copy::copy(to.wrapping_add(HEADER + words.len() * 8), bytes, len);
            }
        };
        let bytes = HEADER + words.len() * 8 + len;
        let posted = self.libfabric.messenger.send(line.peer, bytes, write);
        posted.map_err(|refused| self.note_refusal(refused))?;
        line.pace.note_room();
        line.sent.set(sent.wrapping_add(1));
        Ok(())
    }

    /// Returns the error of a refused record, of which the line takes note.
    #[cold]
    fn note_refusal(&self, refused: Refused) -> Error {
        self.line.is_starved.set(true);
        self.line.pace.note_refusal();
        self.libfabric.refused(self.line.peer, refused)
    }
}

impl Libfabric {
    /// Sends the greetings that wait, as there is room.
    pub(super) fn greet(&self) {
        if self.ungreeted.borrow().is_empty() {
            return;
        }
        let waits = |line: &Rc<Line>| {
            line.is_alive.get() && (!line.pace.is_due() || !self.try_to_greet(line))
        };
        self.ungreeted.borrow_mut().retain(waits);
    }

    /// Sends the greeting of a line; false where there is no room.
    fn try_to_greet(&self, line: &Line) -> bool {
        let header = Header {
            kind: Kind::Greeting as u16,
            number: 0,
            line: line.id,
        };
        let mut bytes = line.to.to_short_bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend(self.address.to_bytes());
        let sent = self.messenger.send(line.peer, HEADER + bytes.len(), |to| {
            fill(to, &header.to_words(), &bytes);
        });
        match sent {
            Ok(()) => line.pace.note_room(),
            Err(Refused::Again) => {
                line.pace.note_refusal();
                return false;
            }
            // The error is the next post's.
            Err(Refused::Failed(_)) => self.end_line(line),
        }
        true
    }
}
