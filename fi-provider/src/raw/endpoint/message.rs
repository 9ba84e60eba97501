//! Messages (fi_msg(3)).
//!
//! Short ones go in one record; longer ones are offered, and the receiver fetches them: from the
//! sender's arena itself, by the kernel's copy, by its device, or in pieces through records.
//! Messages of one endpoint to another arrive in their order.

#![expect(unsafe_code, reason = "sends and receives bytes by their C addresses")]

use super::link::{Link, Path};
use super::near_path::Seldom;
use super::origin::Beside;
use super::pending::State;
use super::posted::{Few, Level, Posted};
use super::unguarded::unguarded;
use super::{Endpoint, Operation};
use crate::raw::address_vector::PeerIndex;
use crate::raw::completion::{Entry, Promise, Report};
use crate::raw::error::Error;
use crate::raw::matcher::Buffer;
use crate::raw::protocol::{HAS_DATA, HAS_KEY, HAS_TAG, IN_ARENA, Kind};
use crate::raw::region::{Addressing, Rights};
use std::rc::Rc;

/// Bytes that are few.
const FEW: usize = 16;

/// Sends a message that is too long for the ring, or for another path: one of 8 bytes over a device
/// in few instructions.
#[inline(never)]
fn inject_otherwise(link: &Link, message: &[u8]) -> Result<(), Error> {
    if let Path::Far(path) = &link.path
        && message.len() == size_of::<u64>()
        // SAFETY: the message has 8 bytes.
        && unsafe { path.send_word(message.as_ptr()) }
    {
        return Ok(());
    }
    inject_slowly(link, message)
}

#[inline(never)]
fn inject_slowly(link: &Link, message: &[u8]) -> Result<(), Error> {
    if let Path::Far(path) = &link.path
        && message.len() == size_of::<u64>()
        && path.widen_messages()
        // SAFETY: the message has 8 bytes.
        && unsafe { path.send_word(message.as_ptr()) }
    {
        return Ok(());
    }
    if message.len() > link.eager {
        return Err(Error::TooLong);
    }
    // SAFETY: the slice holds the bytes, at most `eager`.
    unsafe { link.post(Kind::Message as u16, [], message.as_ptr(), message.len()) }
}

impl Beside {
    /// Sends a message whole; with the number of the operation, and the flags that ask for it, where
    /// that wants an answer.
    ///
    /// # Errors
    /// As [`Link::post`].
    ///
    /// # Safety
    /// `message` holds `len` bytes, at most [`Link::eager`].
    #[inline(always)]
    pub(super) unsafe fn post(
        self,
        link: &Link,
        answer: Option<(u64, u16)>,
        message: *const u8,
        len: usize,
    ) -> Result<(), Error> {
        const PLAIN: u16 = Kind::Message as u16;
        let Self { tag, data } = self;
        let kind = PLAIN | answer.map_or(0, |(_, flags)| flags);
        let (with_data, with_tag) = (kind | HAS_DATA, kind | HAS_TAG);
        let both = with_data | HAS_TAG;
        // SAFETY: `message` holds the bytes, at most `eager`.
        unsafe {
            match (tag, data, answer) {
                (None, None, None) => link.post(kind, [], message, len),
                (None, Some(data), None) => link.post(with_data, [data], message, len),
                (Some(tag), None, None) => link.post(with_tag, [tag], message, len),
                (Some(tag), Some(data), None) => link.post(both, [tag, data], message, len),
                (None, None, Some((number, _))) => link.post(kind, [number], message, len),
                (None, Some(data), Some((number, _))) => {
                    link.post(with_data, [data, number], message, len)
                }
                (Some(tag), None, Some((number, _))) => {
                    link.post(with_tag, [tag, number], message, len)
                }
                (Some(tag), Some(data), Some((number, _))) => {
                    link.post(both, [tag, data, number], message, len)
                }
            }
        }
    }
}

impl Endpoint {
    /// Returns the longest message that [`Endpoint::inject`] takes, in bytes, for rings of this
    /// domain's configuration; peers with shorter rings take less.
    pub fn inject_size(&self) -> usize {
        fi_shm::ring::max_payload(self.domain.config().ring_bytes) - 48
    }

    /// Sends a message whose bytes are taken over at once (fi_inject).
    ///
    /// # Errors
    /// [`Error::Again`], [`Error::NoSuchPeer`], [`Error::PeerGone`], [`Error::Unreachable`];
    /// [`Error::TooLong`] above [`Endpoint::inject_size`].
    #[inline]
    pub fn inject(&self, peer: PeerIndex, message: &[u8]) -> Result<(), Error> {
        self.with_link(peer, |link| {
            if let Some(path) = link.ring_for(message.len()) {
                // SAFETY: the slice holds the bytes, no more than there is room for in a record.
                return unsafe {
                    path.post(Kind::Message as u16, [], message.as_ptr(), message.len())
                }
                .or_else(|left| link.settle(path, left));
            }
            inject_otherwise(link, message)
        })
    }

    /// Sends a message as [`Endpoint::inject`] does by the ring of a peer that was sent to before,
    /// and counts it. Returns false where that is not possible at once, and has done nothing: also
    /// where no peer can have the number.
    #[inline(always)]
    pub fn inject_now(&self, peer: u64, message: &[u8]) -> bool {
        self.post_now(peer, Kind::Message as u16, [], message)
    }

    /// Sends a message of few bytes as [`Endpoint::inject_now`] does, and calls nothing.
    ///
    /// # Safety
    /// `message` holds `len` bytes.
    #[inline(always)]
    pub unsafe fn inject_few(&self, peer: u64, message: *const u8, len: usize) -> Few {
        // SAFETY: `message` holds the bytes.
        unsafe { self.post_few(peer, Kind::Message as u16, [], message, len) }
    }

    /// Sends a record as [`Endpoint::post_now`] does, and calls nothing.
    ///
    /// # Safety
    /// `message` holds `len` bytes.
    #[inline(always)]
    pub(super) unsafe fn post_few<const N: usize>(
        &self,
        peer: u64,
        kind: u16,
        words: [u64; N],
        message: *const u8,
        len: usize,
    ) -> Few {
        if len > FEW {
            return Few::Not;
        }
        // SAFETY: functions that are called before the last use of `link` know nothing of the
        // endpoint.
        let link = unsafe { self.link_now(peer) };
        let Some(path) = link.and_then(|link| link.ring_for(len)) else {
            return Few::Not;
        };
        // SAFETY: `message` holds the bytes, beside which a record has room for the words.
        let posted = unsafe { path.post_short(kind, words, message, len) };
        if posted == Err(Seldom::Full) {
            return Few::Not;
        }
        self.counter(Operation::Send).add(1);
        match posted {
            Ok(()) => Few::Sent,
            Err(_) => Few::Untold,
        }
    }

    /// Wakes a peer behind a message that [`Few::Untold`] is told of.
    #[cold]
    #[inline(never)]
    pub fn wake_peer(&self, peer: u64) {
        // SAFETY: functions that are called before the last use of `link` know nothing of the
        // endpoint.
        let link = unsafe { self.link_now(peer) };
        if let Some(path) = link.and_then(|link| link.ring_for(0)) {
            // The message is sent: a peer that cannot be woken is found to be gone later.
            let _ = path.wake();
        }
    }

    /// Sends a record by the ring of a peer that was sent to before, and counts it as a message.
    #[inline(always)]
    pub(super) fn post_now<const N: usize>(
        &self,
        peer: u64,
        kind: u16,
        words: [u64; N],
        message: &[u8],
    ) -> bool {
        // SAFETY: functions that are called before the last use of `link` know nothing of the
        // endpoint.
        let link = unsafe { self.link_now(peer) };
        let Some(path) = link.and_then(|link| link.ring_for(message.len())) else {
            return false;
        };
        // SAFETY: the slice holds the bytes, beside which a record has room for the words.
        let posted = unsafe { path.post(kind, words, message.as_ptr(), message.len()) };
        if posted == Err(Seldom::Full) {
            return false;
        }
        self.counter(Operation::Send).add(1);
        if posted.is_err() {
            // The message is sent: a peer that cannot be woken is found to be gone later.
            let _ = path.wake();
        }
        true
    }

    /// Sends a message of 8 bytes as [`Endpoint::inject`] does over the device to a peer that was
    /// sent to before, and counts it. Returns false where that is not possible at once, and has
    /// done nothing. Calls nothing.
    ///
    /// # Safety
    /// `message` holds the bytes.
    #[inline(always)]
    pub unsafe fn inject_word_over_device(&self, peer: u64, message: *const u8) -> bool {
        // SAFETY: functions that are called before the last use of `link` know nothing of the
        // endpoint.
        let link = unsafe { self.link_now(peer) };
        let Some(path) = link.and_then(|link| link.far()) else {
            return false;
        };
        // SAFETY: `message` holds the bytes.
        if !unsafe { path.send_word(message) } {
            return false;
        }
        self.counter(Operation::Send).add(1);
        true
    }

    /// Sees to it that [`Endpoint::inject_word_over_device`] finds room again, if it declined for
    /// that. Returns false where it would do so again.
    pub fn widen_to(&self, peer: u64) -> bool {
        // SAFETY: functions that are called before the last use of `link` know nothing of the
        // endpoint.
        let link = unsafe { self.link_now(peer) };
        link.and_then(|link| link.far())
            .is_some_and(|path| path.widen_messages())
    }

    /// Sends a message, and 64 bits of data with it if given (fi_send, fi_senddata).
    ///
    /// # Errors
    /// As [`Endpoint::inject`], but for [`Error::TooLong`].
    ///
    /// # Safety
    /// `message` holds `len` bytes, which stay as they are until the operation is reported, or the
    /// endpoint dropped: a peer that fetches them just then gets others.
    pub unsafe fn send<R: Report>(
        &self,
        peer: PeerIndex,
        message: *const u8,
        len: usize,
        data: Option<u64>,
        level: Level,
        report: R,
    ) -> Result<(), Error> {
        let beside = Beside { tag: None, data };
        // SAFETY: `message` holds the bytes until the operation is reported.
        unsafe { self.start_send(peer, (message, len), beside, level, report) }.map(drop)
    }

    /// Sends a message as [`Endpoint::send`] does; returns the number of the operation where the
    /// bytes are fetched later.
    ///
    /// # Safety
    /// As [`Endpoint::send`]; where it returns no number, `message` holds the bytes during the
    /// call.
    #[inline(always)]
    pub(super) unsafe fn start_send<R: Report>(
        &self,
        peer: PeerIndex,
        (message, len): (*const u8, usize),
        beside: Beside,
        level: Level,
        report: R,
    ) -> Result<Option<u64>, Error> {
        let entry = Entry {
            context: report.failure().unwrap_or(0),
            operation: Operation::Send,
            len,
            data: None,
            tag: beside.tag,
            source: None,
            offset: 0,
            is_last: true,
        };
        if R::IS_PART {
            let message = (message, beside);
            // SAFETY: `message` holds the bytes until the operation is reported.
            return unsafe { self.send_part(peer, message, entry, level, report.part()) };
        }
        let promise = Promise::of(report);
        self.with_link(peer, |link| {
            // SAFETY: `message` holds the bytes until the operation is reported; those of a short
            // one are taken over by the call.
            unsafe {
                if len > link.eager {
                    let number = self.offer_message(link, message, beside, entry, promise)?;
                    return Ok(Some(number));
                }
                match (level, &link.path) {
                    // libfabric tells nothing of messages that have left, but the messages that it
                    // holds may be lost with the sender.
                    (Level::Delivered | Level::Matched, _)
                    | (Level::Transmitted, Path::Libfabric(_)) => {
                        let message = (message, level.asks());
                        self.send_answered(link, message, beside, entry, promise)?;
                    }
                    (Level::Transmitted, Path::Far(path)) => {
                        self.send_transmitted(link, path, (message, beside), entry, promise)?;
                    }
                    _ => self.send_whole(link, message, beside, entry, promise)?,
                }
                Ok(None)
            }
        })
    }

    /// # Safety
    /// `message` holds the bytes of the entry, at most `eager`.
    #[inline(always)]
    unsafe fn send_whole(
        &self,
        link: &Link,
        message: *const u8,
        beside: Beside,
        entry: Entry,
        promise: Promise,
    ) -> Result<(), Error> {
        if promise.has_entry && !self.config.transmit.has_room() {
            return Err(Error::Again);
        }
        // SAFETY: `message` holds the bytes, at most `eager`.
        unsafe { beside.post(link, None, message, entry.len)? };
        self.report(entry, promise, Ok(()), false);
        Ok(())
    }

    /// # Safety
    /// As [`Endpoint::send_whole`].
    unsafe fn send_answered(
        &self,
        link: &Rc<Link>,
        (message, flags): (*const u8, u16),
        beside: Beside,
        entry: Entry,
        promise: Promise,
    ) -> Result<(), Error> {
        let number = self.begin(link, entry, promise, State::Answer)?;
        // SAFETY: `message` holds the bytes, at most `eager`.
        let posted = unsafe { beside.post(link, Some((number, flags)), message, entry.len) };
        posted.inspect_err(|_| self.abandon(number))
    }

    /// # Safety
    /// `message` holds the bytes of the entry until the operation is reported.
    pub(super) unsafe fn offer_message(
        &self,
        link: &Rc<Link>,
        message: *const u8,
        beside: Beside,
        entry: Entry,
        promise: Promise,
    ) -> Result<u64, Error> {
        let number = self.begin(link, entry, promise, State::Offered { source: message })?;
        let arena = &self.domain.regions().arena;
        let mapped = link.near().and_then(|_| arena.offset_of(message.addr()));
        let (place, flags) = match mapped {
            Some(offset) => (offset, IN_ARENA),
            None => (message.addr(), 0),
        };
        let len = entry.len as u64;
        // SAFETY: `message` holds the bytes until the operation is reported.
        let key = unsafe { self.show_message(link, number, message, entry.len) };
        let (place, key) = match key {
            Some((address, key)) => (address, Some(u64::from(key))),
            None => (place as u64, None),
        };
        let mut kind = Kind::Offer as u16 | flags;
        let (mut words, mut many) = ([number, place, len, 0, 0, 0], 3);
        let further = [
            (HAS_KEY, key),
            (HAS_DATA, beside.data),
            (HAS_TAG, beside.tag),
        ];
        for (flag, word) in further {
            if let Some(word) = word {
                kind |= flag;
                words[many] = word;
                many += 1;
            }
        }
        // SAFETY: the array has so many words, no more than there is room for beside `eager` bytes.
        let posted = unsafe { link.post(kind, [], words.as_ptr().cast(), 8 * many) };
        posted.inspect_err(|_| self.abandon(number))?;
        Ok(number)
    }

    /// Lets the receiver of a message read it over the device, as long as the operation of this
    /// number is under way: returns the address and the key by which it does. Returns none where it
    /// does not go by a device, or that cannot be: the bytes go in pieces then.
    ///
    /// # Safety
    /// `message` holds the bytes until the operation is reported.
    unsafe fn show_message(
        &self,
        link: &Link,
        number: u64,
        message: *const u8,
        len: usize,
    ) -> Option<(u64, u32)> {
        let hub = &link.far()?.hub;
        if len > hub.memory.max_message() {
            return None;
        }
        let regions = self.domain.regions();
        if let Some(known) = regions.remote_memory(message.addr(), len) {
            return Some(known);
        }
        let bytes = (message.cast_mut(), len);
        // SAFETY: the bytes are there until the operation is reported, and registered as long as it
        // is under way. The device only reads them.
        let shown = unsafe {
            hub.device
                .register(bytes, Rights::READ, Addressing::Virtual)
        };
        let shown = shown.ok()?;
        let key = shown.rkey();
        self.pending.borrow_mut().show(number, shown);
        Some((message.addr() as u64, key))
    }

    /// Posts a buffer of `len` bytes for messages (fi_recv).
    ///
    /// # Safety
    /// The bytes at `buffer` stay mapped, and are nobody else's, until an entry says that the
    /// buffer is the caller's again, it is cancelled, or the endpoint dropped.
    #[inline]
    pub unsafe fn post_receive(&self, buffer: *mut u8, len: usize, posted: Posted) {
        // Made where it is needed, so that it goes from registers to its slot.
        let buffer = || Buffer {
            address: buffer,
            len,
            context: posted.context,
            source: posted.source,
            least: posted.least,
            used: 0,
        };
        // SAFETY: no other reference is there: functions of the endpoint that borrow the matcher
        // call nothing of the program's, which posts buffers; the endpoint is of one thread, as its
        // cells are; and `add_if_open` knows nothing of the endpoint.
        let matcher = unsafe { unguarded(&self.matcher) };
        if !matcher.add_if_open(buffer()) {
            self.post_seldom(buffer());
        }
    }

    /// Posts a buffer as [`Endpoint::post_receive`] does, and calls nothing. Returns false where
    /// few instructions do not, and has done nothing.
    ///
    /// # Safety
    /// As [`Endpoint::post_receive`], where it returns true.
    #[inline(always)]
    pub unsafe fn post_receive_now(&self, address: *mut u8, len: usize, context: u64) -> bool {
        // SAFETY: no other reference is there, as in `post_receive`.
        let matcher = unsafe { unguarded(&self.matcher) };
        matcher.add_if_open(Buffer {
            address,
            len,
            context,
            source: None,
            least: None,
            used: 0,
        })
    }

    /// Adds a buffer where messages may wait for it, or more memory is needed.
    #[cold]
    #[inline(never)]
    fn post_seldom(&self, buffer: Buffer) {
        let mut matcher = self.matcher.borrow_mut();
        if matcher.has_early() {
            drop(matcher);
            return self.match_buffers(Some(buffer));
        }
        matcher.add(buffer);
    }

    /// Takes back a buffer that was posted with this context, the oldest; false where none waits,
    /// or where messages are still coming to it: the entry of the last one gives it back.
    pub fn cancel_receive(&self, context: u64) -> bool {
        let buffer = self.matcher.borrow_mut().cancel(context);
        if let Some(buffer) = &buffer {
            self.receive_counters.borrow_mut().remove(&context);
            self.land(buffer.address, 0);
        }
        buffer.is_some_and(|buffer| !self.is_left_to_another(buffer.address))
    }
}
