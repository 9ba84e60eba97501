//! Bytes that go through a ring in pieces, as there is room.

#![expect(unsafe_code, reason = "sends bytes by their C address")]

use super::link::Link;
use crate::raw::error::Error;
use crate::raw::protocol::Kind;
use crate::raw::region::Found;
use std::rc::Rc;

/// The longest piece, in bytes: other records come between pieces.
const PIECE: usize = 8 << 10;

/// Bytes on their way to a peer.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) link: Rc<Link>,
    pub(super) target: Target,
    source: Source,
    len: usize,
    sent: usize,
    /// The own operation that they belong to: they are sent while it waits.
    pub(super) own: Option<u64>,
    /// The key of the region that they are read from: they are sent while it is open.
    pub(crate) region: Option<(u64, Found)>,
    /// Whether that is an access of its own.
    pub(crate) is_counted: bool,
}

/// Places to which the peer puts the bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// The room of its operation of this number.
    Pieces(u64),
    /// In the region of a key, from an address on.
    Region { key: u64, address: u64, mark: u64 },
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Memory(*const u8),
    Word(u64),
}

impl Stream {
    /// Makes a stream of `len` bytes at `source`, for the peer's operation `number`; of the own
    /// operation `own`.
    pub(crate) fn pieces(
        link: Rc<Link>,
        source: *const u8,
        len: usize,
        number: u64,
        own: Option<u64>,
    ) -> Self {
        Self {
            link,
            target: Target::Pieces(number),
            source: Source::Memory(source),
            len,
            sent: 0,
            own,
            region: None,
            is_counted: true,
        }
    }

    /// Makes a stream of the first `len` bytes of a word, for the peer's operation `number`.
    pub(crate) fn word(link: Rc<Link>, word: u64, len: usize, number: u64) -> Self {
        let nothing = std::ptr::null();
        Self {
            source: Source::Word(word),
            ..Self::pieces(link, nothing, len, number, None)
        }
    }

    /// Makes a stream of `len` bytes at `source` for a region of the peer, marked as it is; of the
    /// own operation `own`.
    pub(crate) fn to_region(
        link: Rc<Link>,
        source: *const u8,
        len: usize,
        (key, address, mark): (u64, u64, u64),
        own: u64,
    ) -> Self {
        Self {
            target: Target::Region { key, address, mark },
            ..Self::pieces(link, source, len, 0, Some(own))
        }
    }

    /// Sends as much as there is room for. Returns whether that was all.
    ///
    /// # Safety
    /// The source holds the bytes.
    pub(super) unsafe fn push(&mut self) -> Result<bool, Error> {
        let most = PIECE.min(self.link.eager);
        loop {
            let len = (self.len - self.sent).min(most);
            let source = match &self.source {
                Source::Memory(source) => source.wrapping_add(self.sent),
                Source::Word(word) => std::ptr::from_ref(word).cast(),
            };
            let sent = self.sent as u64;
            let is_last = self.sent + len == self.len;
            // SAFETY: the source holds the bytes, at most as many as a record takes.
            let posted = unsafe {
                match self.target {
                    Target::Pieces(number) => {
                        let words = [number, sent];
                        self.link.post(Kind::Piece as u16, words, source, len)
                    }
                    Target::Region { key, address, mark } => {
                        let number = self.own.unwrap_or(0);
                        let place = address.wrapping_add(sent);
                        let words = [number, key, place, u64::from(is_last) | mark];
                        self.link.post(Kind::Write as u16, words, source, len)
                    }
                }
            };
            match posted {
                Ok(()) => self.sent += len,
                Err(Error::Again) => return Ok(false),
                Err(error) => return Err(error),
            }
            if is_last {
                return Ok(true);
            }
        }
    }
}
