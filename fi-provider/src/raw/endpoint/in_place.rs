//! Messages that are taken where they lie, in their ring or in the device's buffer, by a function
//! of the program's in the place of buffers; and messages that are sent from words and bytes.

#![expect(
    unsafe_code,
    reason = "calls a program's function with memory of rings, and sends bytes by their C address"
)]

use super::arrive::{Fate, Origin};
use super::link::{Link, Path};
use super::near_path::Seldom;
use super::{Endpoint, NEWS};
use crate::raw::address_vector::PeerIndex;
use crate::raw::error::Error;
use crate::raw::far::memory::Lane;
use crate::raw::far::path::post_widened;
use crate::raw::protocol::Kind;
use crate::raw::record::Record;
use std::num::NonZero;

/// A message that has come, and lies where it came.
#[derive(Clone, Copy, Debug)]
pub struct Lying {
    /// The sender, if it is in the vector.
    pub source: Option<PeerIndex>,
    /// The first byte, aligned to 8. The sender may still change the bytes.
    pub bytes: *mut u8,
    /// Their number.
    pub len: usize,
}

/// A function that takes messages of bytes alone where they lie: others go to buffers, and longer ones
/// than [`Endpoint::inject_size`].
#[derive(Clone, Copy, Debug)]
pub struct InPlace {
    take: unsafe fn(*const (), Lying) -> bool,
    context: *const (),
}

impl InPlace {
    /// Has `take` called with `context` for each message; it returns false where the message is to
    /// come again, behind which all others of its sender wait.
    ///
    /// # Safety
    /// As long as an endpoint with this lives, `take` may be called with `context` by the endpoint's
    /// thread. It calls no function of that endpoint, and accesses nothing of the message but its bytes,
    /// during the call alone.
    pub unsafe fn new(take: unsafe fn(*const (), Lying) -> bool, context: *const ()) -> Self {
        Self { take, context }
    }
}

/// The outcome of [`Endpoint::inject_words_now`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The message is not sent: that is not possible at once.
    No,
    /// It is sent.
    Yes,
    /// It is sent, and the peer sleeps: [`Endpoint::wake`] is to be called.
    Unheard,
}

impl Endpoint {
    /// Makes progress as [`Endpoint::progress`] does: by fewer instructions where messages are taken
    /// in place.
    #[inline(always)]
    pub fn progress_in_place(&self) {
        if self.inbox.bells().is_rung(0) {
            self.look_in_place();
        }
        if self.todo.get() != 0 {
            self.look_further();
        }
    }

    #[inline(never)]
    fn look_in_place(&self) {
        let mut bells = self.inbox.bells().silence(0);
        while let Some(rung) = NonZero::new(bells) {
            let bell = rung.trailing_zeros() as usize;
            bells &= bells - 1;
            if bell == NEWS {
                self.take_news();
            } else {
                self.drain_at(bell);
            }
        }
    }

    /// Has the program's function take a message.
    #[inline(always)]
    pub(super) fn take_in_place(
        &self,
        in_place: InPlace,
        origin: &mut Origin,
        record: impl Record,
    ) -> Fate {
        let lying = Lying {
            source: self.source(origin),
            bytes: record.payload().cast_mut(),
            len: record.len(),
        };
        // SAFETY: the endpoint lives, and this is its thread (the requirement of `InPlace::new`). The
        // bytes are the record's, which no reference leads to.
        if unsafe { (in_place.take)(in_place.context, lying) } {
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

    /// Sends a message as [`Endpoint::inject_words`] does by the ring of a peer that was sent to before,
    /// and calls nothing.
    #[inline(always)]
    pub fn inject_words_now<const N: usize>(
        &self,
        peer: PeerIndex,
        words: [u64; N],
        bytes: &[u8],
    ) -> Sent {
        // SAFETY: functions that are called before the last use of `link` know nothing of the endpoint.
        let link = unsafe { self.link_now(peer.into()) };
        let Some(path) = link.and_then(|link| link.ring_for(N * 8 + bytes.len())) else {
            return Sent::No;
        };
        // SAFETY: the slice holds the bytes; with the words they are no more than there is room for in a
        // record.
        match unsafe { path.post_known(Kind::Message as u16, words, bytes.as_ptr(), bytes.len()) } {
            Ok(()) => Sent::Yes,
            Err(Seldom::Full) => Sent::No,
            Err(Seldom::Watched) => Sent::Unheard,
        }
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

    /// Sends a message of one word as [`Endpoint::inject_words`] does over the device to a peer that was
    /// sent to before. Returns false where that is not possible at once, and has done nothing.
    #[inline(always)]
    pub fn inject_word_over_device_now(&self, peer: PeerIndex, word: u64) -> bool {
        // SAFETY: functions that are called before the last use of `link` know nothing of the endpoint.
        let link = unsafe { self.link_now(peer.into()) };
        let Some(path) = link.and_then(Link::far) else {
            return false;
        };
        // SAFETY: the word has 8 bytes.
        post_widened!(path, Lane::Messages, unsafe {
            path.send_word(std::ptr::from_ref(&word).cast())
        })
    }

    /// Sends a message of two words in the same way.
    #[inline(always)]
    pub fn inject_pair_over_device_now(&self, peer: PeerIndex, words: [u64; 2]) -> bool {
        // SAFETY: functions that are called before the last use of `link` know nothing of the endpoint.
        let link = unsafe { self.link_now(peer.into()) };
        let Some(path) = link.and_then(Link::far) else {
            return false;
        };
        post_widened!(path, Lane::Messages, path.send_pair(words))
    }

    /// Sends a message as [`Endpoint::inject_words`] does over the device to a peer that was sent to
    /// before. Returns false where that is not possible at once, and has done nothing.
    #[inline(always)]
    pub fn inject_words_over_device_now<const N: usize>(
        &self,
        peer: PeerIndex,
        words: [u64; N],
        bytes: &[u8],
    ) -> bool {
        // SAFETY: functions that are called before the last use of `link` know nothing of the endpoint.
        let link = unsafe { self.link_now(peer.into()) };
        let Some(path) = link.and_then(Link::far) else {
            return false;
        };
        post_widened!(path, Lane::Messages, path.send_few(words, bytes))
    }

    /// The bit of [`Endpoint::todo`] that says that there is a device to look at.
    pub const DEVICE: u8 = super::DEVICE;

    /// Tells whether a message has come over the device, by few instructions.
    #[inline(always)]
    pub fn has_come_over_device(&self) -> bool {
        (self.far.as_ref()).is_some_and(|far| far.receives.is_ready())
    }

    /// Tells whether the device has nothing for [`Endpoint::progress`], by few instructions.
    #[inline(always)]
    pub fn is_device_at_rest(&self) -> bool {
        (self.far.as_ref()).is_none_or(|far| !far.receives.is_ready() && !far.traffic.is_busy.get())
    }

    /// Wakes a peer that a message was sent to and that sleeps.
    #[cold]
    pub fn wake(&self, peer: PeerIndex) {
        // The message is sent: a peer that cannot be woken is found to be gone later.
        let _ = self.with_link(peer, |link| match &link.path {
            Path::Near(path) => path.wake(),
            Path::Far(_) => Ok(()),
        });
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

/// Sends a message over a device, or tells that it is too long.
#[inline(never)]
fn inject_words_otherwise(link: &Link, words: &[u64], bytes: &[u8]) -> Result<(), Error> {
    if words.len() * 8 + bytes.len() > link.eager {
        return Err(Error::TooLong);
    }
    let Path::Far(path) = &link.path else {
        return Err(Error::TooLong);
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
