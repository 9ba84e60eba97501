//! Messages that are taken where they lie, in their ring or in the device's buffer, by a function
//! of the program's in the place of buffers; and messages that are sent from words and bytes.

#![expect(
    unsafe_code,
    reason = "calls a program's function with memory of rings, and sends bytes by their C address"
)]

use super::link::{Link, Path};
use super::lying::{InPlace, Lying};
use super::origin::{Fate, Origin};
use super::{Endpoint, Incoming, NEWS};
use crate::raw::address_vector::PeerIndex;
use crate::raw::error::Error;
use crate::raw::far::path::FarPath;
use crate::raw::protocol::Kind;
use crate::raw::record::Record;
use fi_shm::bell::BYTE_BELLS;
use fi_shm::ring::Other;
use std::num::NonZero;
use std::sync::atomic::Ordering;

/// The way to a peer that was sent to before. Its functions send messages as
/// [`Endpoint::inject_words`] does, where that is possible at once, and call nothing.
#[derive(Clone, Copy, Debug)]
pub struct Way<'a>(&'a Link);

/// The outcome of [`Way::inject_words`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The message is not sent: there is no room.
    No,
    /// It is not sent: there is no ring of an endpoint that takes messages in place, or it takes no
    /// message of this length whole.
    Beyond,
    /// It is sent.
    Yes,
}

impl Endpoint {
    /// Makes progress as [`Endpoint::progress`] does: by fewer instructions where messages are taken
    /// in place.
    #[inline(always)]
    pub fn progress_in_place(&self) {
        // SAFETY: the word is mapped as long as the inbox, which is beside it, and aligned.
        // ORDERING: decides only whether to look.
        if unsafe { &*self.first_bells }.load(Ordering::Relaxed) != 0 {
            self.look_in_place();
        }
        if self.todo.get() != 0 {
            self.look_further::<true>();
        }
    }

    #[inline(never)]
    fn look_in_place(&self) {
        let Some(in_place) = self.config.in_place else {
            return self.look_first();
        };
        let mut bells = self.inbox.bells().silence_bytes();
        while let Some(rung) = NonZero::new(bells) {
            let bell = rung.trailing_zeros() as usize / 8;
            bells &= bells - 1;
            // SAFETY: the reference is used here alone. The program's function is called meanwhile,
            // which calls none of this endpoint (the requirement of `InPlace::new`).
            let one = unsafe { self.ring_of(bell) };
            let is_done =
                one.is_some_and(|one| self.drain_in_place(in_place, one) && one.lead.is_plain());
            if !is_done {
                self.drain_otherwise(in_place, bell);
            }
        }
    }

    /// Takes messages of one ring where they lie. Returns false at something else, and where not all is
    /// as it mostly is.
    ///
    /// Takes a quarter of the ring in one turn, at most.
    #[inline(always)]
    fn drain_in_place(&self, in_place: InPlace, one: &mut Incoming) -> bool {
        let Incoming {
            receiver, origin, ..
        } = one;
        loop {
            let record = match receiver.of_kind(Kind::Message as u16) {
                Ok(Some(record)) => record,
                Ok(None) => return true,
                Err(Other) => return false,
            };
            let lying = Lying {
                bytes: record.payload().cast_mut(),
                len: record.len(),
            };
            if !self.take_lying(in_place, origin, lying) {
                return false;
            }
            record.done();
        }
    }

    /// Has the program's function take a message of a sender that was heard before; false where it is to
    /// come again, or the number of the sender is to be looked up.
    #[inline(always)]
    fn take_lying(&self, in_place: InPlace, origin: &Origin, lying: Lying) -> bool {
        let source = (*origin.source()).into();
        // SAFETY: the endpoint lives, and this is its thread (the requirement of `InPlace::new`). The
        // bytes are the message's, which no reference leads to.
        origin.is_of(&self.vector) && unsafe { (in_place.take)(in_place.context, source, lying) }
    }

    /// Does as [`Endpoint::take_lying`] for `len` bytes at `payload`, aligned to 8; false also where the
    /// program has no such function.
    #[inline(always)]
    pub(crate) fn take_lying_at(&self, origin: &Origin, payload: *const u8, len: usize) -> bool {
        let bytes = payload.cast_mut();
        let lying = Lying { bytes, len };
        (self.config.in_place).is_some_and(|in_place| self.take_lying(in_place, origin, lying))
    }

    /// Takes messages of all rings that have this bell, or the news.
    #[inline(never)]
    fn drain_otherwise(&self, in_place: InPlace, bell: usize) {
        if bell == NEWS {
            return self.take_news();
        }
        // The news of each ring that has rung was taken before: its bell is the first one of the word.
        let rings = self.incoming.borrow().len();
        for ring in (bell..rings).step_by(BYTE_BELLS) {
            // SAFETY: the reference is used here alone; the program's function calls none of this
            // endpoint (the requirement of `InPlace::new`).
            let one = unsafe { self.ring_of(ring) };
            let is_done = one.is_none_or(|one| {
                // The first one was looked at before.
                let is_empty = match ring == bell {
                    true => one.receiver.is_idle(),
                    false => self.drain_in_place(in_place, one),
                };
                is_empty && !one.lead.is_over()
            });
            if !is_done {
                self.drain_at(ring);
            }
        }
    }

    /// Looks at all rings where bells are bytes, of which [`Endpoint::progress`] tells nothing more.
    #[cold]
    #[inline(never)]
    pub(super) fn look_at_all_rings(&self) {
        let Some(in_place) = self.config.in_place else {
            return;
        };
        (0..BYTE_BELLS).for_each(|bell| self.drain_otherwise(in_place, bell));
    }

    /// Has the program's function take a message.
    #[inline(always)]
    pub(super) fn take_in_place(
        &self,
        in_place: InPlace,
        origin: &mut Origin,
        record: impl Record,
    ) -> Fate {
        let source = self.source(origin);
        let lying = Lying {
            bytes: record.payload().cast_mut(),
            len: record.len(),
        };
        // SAFETY: the endpoint lives, and this is its thread (the requirement of `InPlace::new`). The
        // bytes are the record's, which no reference leads to.
        if unsafe { (in_place.take)(in_place.context, source, lying) } {
            return Fate::Taken;
        }
        record.leave();
        self.note_left()
    }

    /// Sends a message of words and bytes, which are taken over at once, as [`Endpoint::inject`] does.
    ///
    /// # Errors
    /// As [`Endpoint::inject`].
    #[inline(always)]
    pub fn inject_words<const N: usize>(
        &self,
        peer: PeerIndex,
        words: [u64; N],
        bytes: &[u8],
    ) -> Result<(), Error> {
        self.with_link(peer, |link| {
            if let Some(path) = link.ring_for(N * 8 + bytes.len()) {
                // SAFETY: the slice holds the bytes; with the words they are no more than there is room
                // for in a record.
                return unsafe {
                    path.post(Kind::Message as u16, words, bytes.as_ptr(), bytes.len())
                }
                .or_else(|left| link.settle(path, left));
            }
            inject_words_otherwise(link, &words, bytes)
        })
    }

    /// Returns the way to a peer that was sent to before.
    ///
    /// # Safety
    /// Until the last use of the way, nothing else is done with the endpoint.
    #[inline(always)]
    pub unsafe fn way_now(&self, peer: PeerIndex) -> Option<Way<'_>> {
        // SAFETY: nothing else is done with the endpoint, and functions of the way know nothing of it.
        unsafe { self.link_now(peer.into()) }.map(Way)
    }

    /// Returns whether a message of `len` bytes goes by the ring of a peer and finds room there: then it
    /// does so until another one is sent.
    ///
    /// # Errors
    /// As [`Endpoint::inject`].
    pub fn has_ring_room(&self, peer: PeerIndex, len: usize) -> Result<bool, Error> {
        self.with_link(peer, |link| {
            Ok((link.ring_for(len)).is_some_and(|path| path.has_room(len)))
        })
    }

    /// The bit of [`Endpoint::todo`] that says that there is a device to look at.
    pub const DEVICE: u8 = super::DEVICE;

    /// Tells whether a message has come over the device, by few instructions.
    ///
    /// # Safety
    /// The endpoint's domain has a device.
    #[inline(always)]
    pub unsafe fn has_come_over_device(&self) -> bool {
        // SAFETY: each endpoint of such a domain has a part of it.
        unsafe { self.far.as_ref().unwrap_unchecked() }
            .receives
            .is_ready()
    }

    /// Tells whether the device has nothing for [`Endpoint::progress`], by few instructions.
    ///
    /// # Safety
    /// The endpoint's domain has a device.
    #[inline(always)]
    pub unsafe fn is_device_at_rest(&self) -> bool {
        // SAFETY: each endpoint of such a domain has a part of it.
        let far = unsafe { self.far.as_ref().unwrap_unchecked() };
        !far.receives.is_ready() && !far.traffic.is_busy.get()
    }

    /// Tells whether a peer is reached in its memory: connects to it where it says that it is of this
    /// node.
    ///
    /// # Errors
    /// [`Error::NoSuchPeer`], [`Error::PeerGone`], [`Error::NoRoom`].
    pub fn is_near(&self, peer: PeerIndex) -> Result<bool, Error> {
        let address = self.vector.address(peer).ok_or(Error::NoSuchPeer)?;
        if !self.domain.shared().port().may_be_near(address.port) {
            return Ok(false);
        }
        match self.with_link(peer, |link| Ok(link.near().is_some())) {
            Err(Error::Unreachable | Error::Again) => Ok(false),
            known => known,
        }
    }
}

impl Way<'_> {
    /// The most bytes for [`Way::inject_words_over_device`].
    pub const FEW: usize = FarPath::FEW;

    /// Sends a message of words and bytes by the ring.
    #[inline(always)]
    pub fn inject_words<const N: usize>(self, words: [u64; N], bytes: &[u8]) -> Sent {
        let Some(path) = self.0.byte_ring_for(N * 8 + bytes.len()) else {
            return Sent::Beyond;
        };
        let (kind, len) = (Kind::Message as u16, bytes.len());
        // SAFETY: the slice holds the bytes; with the words they are no more than there is room for in a
        // record. A store rings the ring's bell.
        match unsafe { path.post_by_byte(kind, words, bytes.as_ptr(), len) } {
            true => Sent::Yes,
            false => Sent::No,
        }
    }

    /// Sends a message of one word over the device. Returns false where that is not possible at once,
    /// and has done nothing.
    #[inline(always)]
    pub fn inject_word_over_device(self, word: u64) -> bool {
        let path = self.0.far();
        // SAFETY: the word has 8 bytes.
        path.is_some_and(|path| unsafe { path.send_word(std::ptr::from_ref(&word).cast()) })
    }

    /// Sends a message of two words in the same way.
    #[inline(always)]
    pub fn inject_pair_over_device(self, words: [u64; 2]) -> bool {
        self.0.far().is_some_and(|path| path.send_pair(words))
    }

    /// Sends a message of words and at most [`Way::FEW`] bytes in the same way. Returns `None` where
    /// [`Way::inject_words_by_other_queues`] is to be called, and has done nothing then.
    ///
    /// # Safety
    /// `bytes` holds `len` bytes.
    #[inline(always)]
    pub unsafe fn inject_words_over_device<const N: usize>(
        self,
        words: [u64; N],
        (bytes, len): (*const u8, usize),
    ) -> Option<bool> {
        let Some(path) = self.0.far() else {
            return Some(false);
        };
        // SAFETY: `bytes` holds the bytes, of which there are few enough.
        unsafe { path.send_few(words, (bytes, len)) }
    }

    /// Sends the message for which [`Way::inject_words_over_device`] has just returned `None`.
    /// Returns false where that is not possible at once, and has done nothing.
    ///
    /// # Safety
    /// `bytes` holds `len` bytes.
    #[inline(always)]
    pub unsafe fn inject_words_by_other_queues(
        self,
        words: &[u64],
        (bytes, len): (*const u8, usize),
    ) -> bool {
        let path = self.0.far();
        // SAFETY: `bytes` holds the bytes, and `send_few` was called for them just now.
        path.is_some_and(|path| unsafe { path.send_many(words, (bytes, len)) })
    }

    /// Sees to it that functions of the way find room again over the device, if they declined for
    /// that. Returns false where they would do so again.
    #[inline(never)]
    pub fn widen(self) -> bool {
        self.0.far().is_some_and(|path| path.widen_messages())
    }
}

/// Sends a message over a device, or tells that it is too long.
#[inline(never)]
fn inject_words_otherwise(link: &Link, words: &[u64], bytes: &[u8]) -> Result<(), Error> {
    if words.len() * 8 + bytes.len() > link.eager {
        return Err(Error::TooLong);
    }
    let path = match &link.path {
        Path::Near(_) => return Err(Error::TooLong),
        Path::Far(path) => path,
        // SAFETY: the slice holds the bytes, with the words at most `eager`.
        Path::Libfabric(path) => unsafe {
            return path.post(Kind::Message as u16, words, bytes.as_ptr(), bytes.len());
        },
    };
    if let ([word], []) = (words, bytes)
        // SAFETY: the word has 8 bytes.
        && unsafe { path.send_word(std::ptr::from_ref(word).cast()) }
    {
        return Ok(());
    }
    // SAFETY: the slice holds the bytes, with the words at most `eager`.
    unsafe { path.post(Kind::Message as u16, words, bytes.as_ptr(), bytes.len()) }
}

#[cfg(test)]
mod tests;
