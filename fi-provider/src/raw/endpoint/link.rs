//! The way to one endpoint of the node: the ring in its process's memory.

#![expect(unsafe_code, reason = "sends bytes by their C address")]

use crate::raw::address::Address;
use crate::raw::domain::Domain;
use crate::raw::error::Error;
use crate::raw::near::Near;
use crate::raw::protocol::Kind;
use fi_shm::bell::{Bell, Bells};
use fi_shm::{copy, ring};
use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::VecDeque;
use std::sync::Arc;

/// A ring to an endpoint, and its bell; released when it is dropped.
#[derive(Debug)]
pub(crate) struct Link {
    sender: UnsafeCell<ring::Sender>,
    bell: Bell,
    /// The longest message that goes through the ring whole, in bytes.
    pub(crate) eager: usize,
    offset: u64,
    is_closed: Cell<bool>,
    /// Records that wait for room.
    pub(crate) owed: RefCell<VecDeque<(Kind, [u64; 3])>>,
    /// Streams that go this way.
    pub(crate) streams: Cell<usize>,
    /// Whether there was no room for one of them, this time.
    pub(crate) is_full: Cell<bool>,
    /// Own operations that wait for the peer.
    pub(crate) asked: Cell<usize>,
    pub(crate) address: Address,
    /// The number of the own endpoint.
    pub(crate) own: u32,
    pub(crate) near: Arc<Near>,
}

/// Words before the bytes of any record, at most.
const MOST_WORDS: usize = 6;

impl Link {
    /// Connects endpoint `own` of the domain to the endpoint of this address.
    pub(crate) fn open(domain: &Domain, own: u32, address: &Address) -> Result<Self, Error> {
        let near = domain.near(&address.process)?;
        let grant = near.ask_for_ring(own, address.endpoint)?;
        let capacity = grant.capacity as usize;
        let bells = grant.bell as usize + 1;
        if !ring::is_capacity(capacity) || ring::max_payload(capacity) <= 8 * MOST_WORDS {
            return Err(Error::Broken);
        }
        // SAFETY: ring and bells lie in the process's memory (`ask_for_ring` has checked), which is
        // mapped as long as `near`; the process has made the ring for this endpoint, in pages that
        // were zero.
        let (sender, bells) = unsafe {
            (
                ring::Sender::new(near.at(grant.offset), capacity),
                Bells::new(near.at(grant.bells), bells),
            )
        };
        Ok(Self {
            sender: UnsafeCell::new(sender),
            bell: bells.bell(grant.bell as usize).ok_or(Error::Broken)?,
            eager: ring::max_payload(capacity) - 8 * MOST_WORDS,
            offset: grant.offset,
            is_closed: Cell::new(false),
            owed: RefCell::default(),
            streams: Cell::new(0),
            is_full: Cell::new(false),
            asked: Cell::new(0),
            address: address.clone(),
            own,
            near,
        })
    }

    /// Returns how many answers wait for room.
    pub(crate) fn burden(&self) -> usize {
        self.owed.borrow().len() + self.streams.get()
    }

    /// Sends the records that wait, as there is room; whether that was all.
    pub(crate) fn pay(&self) -> bool {
        let mut owed = self.owed.borrow_mut();
        while let Some(&(kind, words)) = owed.front() {
            if self.tell(kind, words) == Err(Error::Again) {
                return false;
            }
            owed.pop_front();
        }
        true
    }

    /// Whether the endpoint, or its process, is gone.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closed.get() || !self.near.is_alive()
    }

    /// Notes that the endpoint is closed.
    pub(crate) fn close(&self) {
        self.is_closed.set(true);
    }

    /// Sends a record of words and bytes.
    ///
    /// # Errors
    /// [`Error::Again`] where the ring is full, [`Error::PeerGone`], [`Error::Broken`].
    ///
    /// # Safety
    /// `bytes` holds `len` bytes, at most [`Link::eager`].
    #[inline(always)]
    pub(crate) unsafe fn post<const N: usize>(
        &self,
        kind: u16,
        words: [u64; N],
        bytes: *const u8,
        len: usize,
    ) -> Result<(), Error> {
        const { assert!(N <= MOST_WORDS) };
        // SAFETY: the only reference: a link is of one thread, as a `Cell` in it is, and no call
        // below comes back to this link before the reference's last use.
        let sender = unsafe { &mut *self.sender.get() };
        let Ok(Some(mut room)) = sender.reserve(N * 8 + len) else {
            return Err(self.refusal());
        };
        for (index, word) in words.into_iter().enumerate() {
            room.set_word(index, word);
        }
        // SAFETY: the room has been reserved for the words and the bytes, which `bytes` holds.
        unsafe { copy::copy(room.payload().add(N * 8), bytes, len) };
        room.publish(kind);
        self.bell.ring();
        Ok(())
    }

    /// Sends a record of words alone.
    ///
    /// # Errors
    /// As [`Link::post`].
    pub(crate) fn tell<const N: usize>(&self, kind: Kind, words: [u64; N]) -> Result<(), Error> {
        // SAFETY: there are no bytes.
        unsafe { self.post(kind as u16, words, std::ptr::null(), 0) }
    }

    #[cold]
    fn refusal(&self) -> Error {
        // SAFETY: the only reference: a link is of one thread, `post` has used its own, and
        // `in_flight` knows nothing of links.
        let in_flight = unsafe { (*self.sender.get()).in_flight() };
        if self.is_over() {
            Error::PeerGone
        } else if in_flight.is_err() {
            Error::Broken
        } else {
            Error::Again
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.near.release_ring(self.offset);
    }
}
