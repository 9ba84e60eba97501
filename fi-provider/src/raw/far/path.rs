//! The path to an endpoint of another node: its place in the own lanes.

#![expect(unsafe_code, reason = "posts bytes by their C addresses")]

use super::hub::{Connected, HEADER, Hub};
use super::memory::{Lane, Queue};
use super::wire::Ends;
use crate::raw::error::Error;
use fi_mlx5::lane::Failure;
use fi_mlx5::remote::Vector;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most bytes of a record that are put together where they need not be registered.
const SHORT: usize = 256;

/// A connection, as the endpoint's thread uses it.
#[derive(Debug)]
pub(crate) struct FarPath {
    pub(crate) hub: Arc<Hub>,
    /// The peer's place in the lanes.
    pub(crate) number: u32,
    pub(crate) theirs: Ends,
    /// To the peer's targets.
    pub(crate) to_messages: Vector,
    pub(crate) to_memory: Vector,
    /// Records sent.
    sent: Cell<u64>,
    is_dead: Cell<bool>,
    /// Whether a record waits for the peer to take others.
    is_starved: Cell<bool>,
    /// Operations on memory.
    pub(crate) under_way: RefCell<Queue>,
}

/// The header of a record: its kind, and the number by which the receiver knows the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: u16,
    pub(crate) origin: u32,
}

impl Header {
    pub(crate) fn to_word(self) -> u64 {
        u64::from(self.origin) << 32 | u64::from(self.kind)
    }

    pub(crate) fn of_word(word: u64) -> Self {
        Self {
            kind: word as u16,
            origin: (word >> 32) as u32,
        }
    }
}

impl FarPath {
    pub(crate) fn new(hub: &Arc<Hub>, connected: &Connected) -> Self {
        let theirs = connected.theirs;
        hub.messages.lane().adopt(connected.number);
        hub.memory.lane().adopt(connected.number);
        Self {
            hub: Arc::clone(hub),
            number: connected.number,
            theirs,
            to_messages: theirs.vector(theirs.messages),
            to_memory: theirs.vector(theirs.inward),
            sent: Cell::new(0),
            is_dead: Cell::new(false),
            is_starved: Cell::new(false),
            under_way: RefCell::default(),
        }
    }

    /// Whether the device has told of no failure with the peer.
    pub(crate) fn is_alive(&self) -> bool {
        !self.is_dead.get()
    }

    /// Notes that the device does nothing with the peer any more.
    pub(crate) fn note_end(&self) {
        if !self.is_dead.replace(true) {
            self.hub.part(self.number);
        }
    }

    /// Whether a record waits for the peer to take others.
    pub(crate) fn is_starved(&self) -> bool {
        self.is_starved.get()
    }

    /// Bytes of the longest payload of a record, both to the peer and to here.
    pub(crate) fn most(&self) -> usize {
        self.hub.most.min(self.theirs.most as usize)
    }

    /// The records that the peer has taken.
    fn taken(&self) -> u64 {
        let word = self.hub.count(self.number);
        // SAFETY: the word is the hub's, mapped and aligned, and only atomic operations and the
        // device access it.
        let word = unsafe { AtomicU64::from_ptr(word) };
        // ORDERING: only a number; the device writes it whole.
        word.load(Ordering::Relaxed)
    }

    fn may_send(&self) -> bool {
        self.sent.get().wrapping_sub(self.taken()) < u64::from(self.theirs.credits)
    }

    /// Sends a record of words and bytes.
    ///
    /// # Errors
    /// [`Error::Again`] where the peer, the queue or the bounce memory has no room,
    /// [`Error::PeerGone`].
    ///
    /// # Safety
    /// `bytes` holds `len` bytes, which are with the words no more than [`FarPath::most`].
    pub(crate) unsafe fn post(
        &self,
        kind: u16,
        words: &[u64],
        bytes: *const u8,
        len: usize,
    ) -> Result<(), Error> {
        let lane = self.hub.messages.lane();
        if let Some(error) = self.refusal(Lane::Messages) {
            return Err(error);
        }
        let is_starved = !self.may_send();
        self.is_starved.set(is_starved);
        // SAFETY: this thread alone uses the lane, and the connection is one of its peers.
        if is_starved || !unsafe { lane.has_room(self.number) } {
            return Err(Error::Again);
        }
        let origin = self.theirs.origin;
        let header = Header { kind, origin }.to_word();
        let total = HEADER + words.len() * 8 + len;
        // SAFETY: there is room for header, words and bytes, which `bytes` holds.
        let fill = |to: *mut u8| unsafe {
            to.cast::<u64>().write_unaligned(header);
            let behind = to.add(HEADER);
            std::ptr::copy_nonoverlapping(words.as_ptr().cast(), behind, words.len() * 8);
            if len > 0 {
                std::ptr::copy_nonoverlapping(bytes, behind.add(words.len() * 8), len);
            }
        };
        let vector = &self.to_messages;
        let posted = if total <= lane.max_inline().min(SHORT) {
            let mut short = [0_u8; SHORT];
            fill(short.as_mut_ptr());
            // SAFETY: this thread alone uses the lane, the connection is one of its peers, and so
            // many bytes are there.
            unsafe { lane.send_inline(self.number, vector, short.as_ptr(), total) }
        } else {
            let Some(kept) = self.hub.messages.claim_free(total) else {
                return Err(Error::Again);
            };
            fill(kept.local.address as *mut u8);
            // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
            // piece is registered and kept until the entry is done.
            let posted = unsafe { lane.send(self.number, vector, [kept.local]) };
            self.hub.messages.release(kept, posted.ok());
            posted
        };
        posted.map_err(|failure| self.failure(failure))?;
        self.sent.set(self.sent.get().wrapping_add(1));
        Ok(())
    }

    /// The error of a post that a failure has refused: progress tells what becomes of the peer.
    pub(crate) fn failure(&self, failure: Failure) -> Error {
        match failure {
            Failure::Lost => {
                self.note_end();
                Error::PeerGone
            }
            _ if self.is_alive() => Error::Again,
            _ => Error::PeerGone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_they_were_written() {
        let header = Header {
            kind: 0x501,
            origin: u32::MAX - 3,
        };
        assert_eq!(Header::of_word(header.to_word()), header);
    }
}
