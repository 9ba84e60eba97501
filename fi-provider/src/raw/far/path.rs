//! The path to an endpoint of another node: its place in the own lanes.

#![expect(unsafe_code, reason = "posts bytes by their C addresses")]

use super::Far;
use super::hub::{Connected, HEADER, Hub};
use super::lane::Lane;
use super::log::{Log, Notes};
use super::traffic::Traffic;
use super::wire::Ends;
use crate::raw::error::Error;
use crate::raw::protocol::Kind;
use crate::raw::region::Beyond;
use fi_mlx5::connection::Connection;
use fi_mlx5::lane::{self, Failure};
use fi_mlx5::queue::Place;
use fi_mlx5::remote::{RemoteKey, Segment, Vector};
use fi_mlx5::route::Route;
use fi_mlx5::short::There;
use fi_shm::copy;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most bytes of a record that are put together where they need not be registered.
const SHORT: usize = Route::MESSAGE + HEADER;
/// Bytes from one place to the next.
pub(crate) const PLACE_BYTES: usize = 64;

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
    /// The ways to the lanes, and the peer's place there.
    pub(crate) messages: Route,
    pub(crate) memory: Route,
    pub(crate) place: Place,
    /// The queue for the peer's memory, where posts are in line by connected ones.
    pub(super) connection: Option<Connection>,
    /// The endpoint that may post, of all in the process: none once the peer is gone.
    pub(crate) open_to: Cell<u32>,
    /// The word in which the peer tells the number of records that it has taken.
    taken: *const AtomicU64,
    /// The first word of messages.
    header: u64,
    /// Records sent, and the number that may be, as far as is known that the peer has taken them:
    /// no more once it is gone.
    sent: Cell<u64>,
    allowed: Cell<u64>,
    /// Whether a record waits for the peer to take others.
    is_starved: Cell<bool>,
    /// Operations on memory under way, also of other peers where they share the queue.
    pub(crate) log: Rc<Log>,
    pub(super) notes: Notes,
    pub(crate) traffic: Rc<Traffic>,
    /// Regions of the peer that were looked up.
    pub(crate) regions: RefCell<Vec<Weak<Beyond>>>,
}

/// No endpoint's number.
const NOBODY: u32 = u32::MAX;

/// The header of a record: its kind, and the number by which the receiver knows the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: u16,
    pub(crate) origin: u32,
}

impl Header {
    /// Returns the first word of a record to these ends.
    fn to(theirs: &Ends, kind: u16) -> u64 {
        let origin = theirs.origin;
        Self { kind, origin }.to_word()
    }

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
    pub(crate) fn new(far: &Far, connected: &Connected) -> Self {
        let (hub, theirs, number) = (&far.hub, connected.theirs, connected.number);
        hub.messages.lane().adopt(number);
        hub.memory.lane().adopt(number);
        let log = far.log(number);
        let (memory, place) = (Route::of(hub.memory.lane()), number as Place * PLACE_BYTES);
        Self {
            hub: Arc::clone(hub),
            number,
            theirs,
            to_messages: theirs.vector(theirs.messages),
            to_memory: theirs.vector(theirs.inward),
            messages: Route::of(hub.messages.lane()),
            // SAFETY: the lane is alive with the hub, and the connection is one of its peers.
            connection: unsafe { memory.connection_with(place) },
            memory,
            place,
            open_to: Cell::new(hub.own),
            taken: hub.count(number).cast(),
            header: Header::to(&theirs, Kind::Message as u16),
            sent: Cell::new(0),
            allowed: Cell::new(theirs.credits.into()),
            is_starved: Cell::new(false),
            notes: log.notes(),
            log,
            traffic: Rc::clone(&far.traffic),
            regions: RefCell::default(),
        }
    }

    /// Returns whether the device has told of no failure with the peer.
    pub(crate) fn is_alive(&self) -> bool {
        self.open_to.get() != NOBODY
    }

    /// Notes that the device does nothing with the peer any more.
    pub(crate) fn note_end(&self) {
        if self.open_to.replace(NOBODY) == NOBODY {
            return;
        }
        self.allowed.set(self.sent.get());
        // Posts to regions that are known by their keys look at these alone.
        self.known_regions().for_each(|region| region.close());
        self.hub.part(self.number);
        // Of a queue that others share, the device tells.
        if !self.theirs.is_dynamic || self.memory_lane().is_lost() {
            self.log.end();
            self.traffic.has_ended.set(true);
            self.hub.messages.give_up(self.number);
            self.hub.memory.give_up(self.number);
        }
        self.traffic.is_busy.set(true);
    }

    /// Returns the lane by which memory is accessed.
    pub(crate) fn memory_lane(&self) -> &lane::Lane {
        self.hub.memory.lane()
    }

    /// Returns the peer's memory at an address, under a key of its device, for posts in line.
    #[inline(always)]
    pub(crate) fn there(&self, address: u64, key: &RemoteKey) -> There<'_> {
        There {
            segment: Segment::to(address, key),
            vector: &self.to_memory,
            place: self.place,
        }
    }

    /// Lets posts of messages in line go on: by [`lane::Lane::widen`], and by a look at the number
    /// of records that the peer has taken. Returns false where they do not go on further than
    /// before.
    pub(crate) fn widen_messages(&self) -> bool {
        let is_allowed = !self.may_send();
        let is_allowed = self.allow() && is_allowed;
        self.hub.messages.lane().widen(self.number) || is_allowed
    }

    /// Lets posts to the peer's memory in line go on, by [`lane::Lane::widen`]. Returns false as
    /// [`FarPath::widen_messages`] does.
    pub(crate) fn widen_memory(&self) -> bool {
        self.memory_lane().widen(self.number)
    }

    /// Returns whether the next post by a lane finds room.
    pub(crate) fn has_room(&self, lane: Lane) -> bool {
        let taken = |queue| {
            if lane == Lane::Memory {
                self.traffic.note_taken(queue);
            }
        };
        let queues = match lane {
            Lane::Messages => self.hub.messages.lane(),
            Lane::Memory => self.memory_lane(),
        };
        // SAFETY: this thread alone uses the lane, and the connection is one of its peers.
        unsafe { queues.has_room(self.number, taken) }
    }

    /// Keeps a region of the peer in mind.
    pub(crate) fn note_region(&self, region: &Rc<Beyond>) {
        let mut regions = self.regions.borrow_mut();
        regions.retain(|one| one.strong_count() > 0);
        regions.push(Rc::downgrade(region));
    }

    /// Returns whether posts to the peer's memory are in line by a connected queue.
    pub(crate) fn is_connected_in_line(&self) -> bool {
        self.connection.is_some()
    }

    /// Returns the queue for the peer's memory.
    ///
    /// # Safety
    /// [`FarPath::is_connected_in_line`].
    #[inline(always)]
    pub(super) unsafe fn connection(&self) -> &Connection {
        // SAFETY: `connection` is not none, as posts in line go by a connected queue.
        unsafe { self.connection.as_ref().unwrap_unchecked() }
    }

    /// Lets posts in line to the peer's memory go on, where no queue has failed
    /// ([`lane::Lane::widen`]). Calls nothing.
    ///
    /// # Safety
    /// [`FarPath::is_connected_in_line`], and this is the thread of the path's endpoint.
    #[inline(always)]
    pub(crate) unsafe fn widen_connection(&self) -> bool {
        // SAFETY: there is a connection; its lane is alive with the hub, and used by this thread
        // alone.
        unsafe { self.connection().widen() }
    }

    /// Returns the regions that were kept in mind and are used.
    pub(super) fn known_regions(&self) -> impl Iterator<Item = Rc<Beyond>> {
        let regions = self.regions.borrow();
        let known: Vec<_> = regions.iter().filter_map(Weak::upgrade).collect();
        known.into_iter()
    }

    /// Returns whether a record waits for the peer to take others.
    pub(crate) fn is_starved(&self) -> bool {
        self.is_starved.get()
    }

    /// Returns the bytes of the longest payload of a record, both to the peer and to here.
    pub(crate) fn most(&self) -> usize {
        self.hub.most.min(self.theirs.most as usize)
    }

    /// Returns the number of records that the peer has taken.
    #[inline(always)]
    fn taken(&self) -> u64 {
        // SAFETY: the word is the hub's, mapped and aligned, and only atomic operations and the
        // device access it.
        // ORDERING: only a number; the device writes it whole.
        unsafe { (*self.taken).load(Ordering::Relaxed) }
    }

    /// Returns whether another record may be sent, as far as is known. Of a peer that is gone it is
    /// known.
    #[inline(always)]
    fn may_send(&self) -> bool {
        self.sent.get() != self.allowed.get()
    }

    /// Looks at the number of records that the peer has taken. Returns whether another one may be
    /// sent.
    fn allow(&self) -> bool {
        let (taken, credits) = (self.taken(), u64::from(self.theirs.credits));
        let may_send = self.is_alive() && self.sent.get().wrapping_sub(taken) < credits;
        let allowed = if may_send {
            taken.wrapping_add(credits)
        } else {
            self.sent.get()
        };
        self.allowed.set(allowed);
        may_send
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
        if let Some(error) = self.refusal(Lane::Messages) {
            return Err(error);
        }
        let is_starved = !self.may_send() && !self.allow();
        self.is_starved.set(is_starved);
        self.traffic.is_busy.set(true);
        if is_starved {
            self.traffic.is_starved.set(true);
            return Err(Error::Again);
        }
        let header = Header::to(&self.theirs, kind);
        let behind = words.len() * 8 + len;
        // SAFETY: where it is called, there is room for the words and the bytes, which `bytes`
        // holds.
        let fill = |to: *mut u8| unsafe { put(to, words, (bytes, len)) };
        // SAFETY: there are so many bytes.
        if unsafe { self.send_filled(header, behind, fill) } {
            return Ok(());
        }
        self.post_otherwise(header, behind, &fill)
    }

    /// Sends a record that a post in line has declined.
    ///
    /// # Errors
    /// As [`FarPath::post`].
    #[inline(never)]
    fn post_otherwise(
        &self,
        header: u64,
        behind: usize,
        fill: &dyn Fn(*mut u8),
    ) -> Result<(), Error> {
        // SAFETY: there are so many bytes.
        if self.widen_messages() && unsafe { self.send_filled(header, behind, fill) } {
            return Ok(());
        }
        if !self.has_room(Lane::Messages) {
            return Err(Error::Again);
        }
        let lane = self.hub.messages.lane();
        let whole = |start: *mut u8| {
            // SAFETY: where it is called, there is room for header, words and bytes.
            unsafe { start.cast::<u64>().write_unaligned(header) };
            fill(start.wrapping_add(HEADER));
        };
        let posted = if HEADER + behind <= lane.max_inline().min(SHORT) {
            let mut short = [0_u8; SHORT];
            whole(short.as_mut_ptr());
            let bytes = short.as_ptr();
            // SAFETY: this thread alone uses the lane, the connection is one of its peers, and so
            // many bytes are there.
            unsafe { lane.send_inline(self.number, &self.to_messages, bytes, HEADER + behind) }
                .map(drop)
        } else {
            let Some(kept) = self.hub.messages.claim_free(HEADER + behind) else {
                return Err(Error::Again);
            };
            whole(kept.local.address as *mut u8);
            // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
            // piece is registered and kept until the entry is done.
            let posted = unsafe { lane.send(self.number, &self.to_messages, [kept.local]) };
            self.hub.messages.release(kept, posted.ok());
            posted.map(drop)
        };
        posted.map_err(|failure| self.failure(failure))?;
        self.sent.set(self.sent.get().wrapping_add(1));
        Ok(())
    }

    /// Sends a record of this header and `len` bytes that `fill` writes, within the credits, by a
    /// post in line; false where that declines.
    ///
    /// # Safety
    /// `fill` writes no more.
    #[inline(always)]
    unsafe fn send_filled(&self, header: u64, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        let (vector, place) = (&self.to_messages, self.place);
        // SAFETY: the lane is alive and used by this thread alone, the connection is one of its
        // peers, and so many bytes are written.
        let is_sent = unsafe { (self.messages).send_filled(header, (len, fill), vector, place) };
        if is_sent {
            self.sent.set(self.sent.get().wrapping_add(1));
        }
        is_sent
    }

    /// Sends a message of 8 bytes by a post in line; false where something stands against that.
    ///
    /// # Safety
    /// `bytes` holds 8 bytes.
    #[inline(always)]
    pub(crate) unsafe fn send_word(&self, bytes: *const u8) -> bool {
        // SAFETY: 8 bytes are there.
        let word = unsafe { bytes.cast::<u64>().read_unaligned() };
        self.send_words([self.header, word])
    }

    /// Sends a message of two words by a post in line; false where something stands against that.
    #[inline(always)]
    pub(crate) fn send_pair(&self, [first, second]: [u64; 2]) -> bool {
        self.send_words([self.header, first, second])
    }

    /// Sends a header and the words behind it.
    #[inline(always)]
    fn send_words<const N: usize>(&self, words: [u64; N]) -> bool {
        if !self.may_send() {
            return false;
        }
        // SAFETY: the lane is alive and used by this thread alone, and the connection is one of its
        // peers.
        let is_sent = unsafe {
            self.messages
                .send_words(words, &self.to_messages, self.place)
        };
        if is_sent != Some(true) {
            return false;
        }
        self.sent.set(self.sent.get().wrapping_add(1));
        self.traffic.is_busy.set(true);
        true
    }

    /// The most bytes for [`FarPath::send_few`].
    pub(crate) const FEW: usize = Route::FEW;

    /// Sends a message of words and at most [`FarPath::FEW`] bytes by a post in line; false where
    /// something stands against that, `None` where [`FarPath::send_many`] is to be called.
    ///
    /// # Safety
    /// `bytes` holds `len` bytes, which are no more than that.
    #[inline(always)]
    pub(crate) unsafe fn send_few<const N: usize>(
        &self,
        words: [u64; N],
        few: (*const u8, usize),
    ) -> Option<bool> {
        if !self.may_send() {
            return Some(false);
        }
        // SAFETY: the lane is alive and used by this thread alone, the connection is one of its
        // peers, and `bytes` holds the bytes.
        let is_sent = unsafe { (self.messages).send_few(self.header, words, few, self.place) }?;
        if is_sent {
            self.sent.set(self.sent.get().wrapping_add(1));
            self.traffic.is_busy.set(true);
        }
        Some(is_sent)
    }

    /// Does as [`FarPath::send_few`], which has just returned `None`: by other queues than
    /// connected ones in line.
    ///
    /// # Safety
    /// `bytes` holds `len` bytes.
    #[inline(never)]
    pub(crate) unsafe fn send_many(&self, words: &[u64], (bytes, len): (*const u8, usize)) -> bool {
        // SAFETY: where it is called, there is room for the words and the bytes, which `bytes`
        // holds.
        let fill = |to: *mut u8| unsafe { put(to, words, (bytes, len)) };
        // SAFETY: so much is written.
        let is_sent = unsafe { self.send_filled(self.header, size_of_val(words) + len, fill) };
        if is_sent {
            self.traffic.is_busy.set(true);
        }
        is_sent
    }

    /// Returns the error of a post that a failure has refused: progress tells the fate of the peer.
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

/// Writes words, and bytes behind them.
///
/// # Safety
/// There is room for both, and `bytes` holds `len` bytes.
#[inline(always)]
unsafe fn put(to: *mut u8, words: &[u64], (bytes, len): (*const u8, usize)) {
    // SAFETY: there is room for the words and the bytes.
    unsafe {
        for (at, word) in words.iter().enumerate() {
            to.cast::<u64>().add(at).write_unaligned(*word);
        }
        copy::copy_message(to.add(size_of_val(words)), bytes, len);
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
