//! Records that come over the device.

#![expect(unsafe_code, reason = "reads records that a device has written")]

use super::Far;
use super::arrivals::{Arrivals, FarOrigin, Full};
use super::hub::HEADER;
use super::path::Header;
use crate::raw::endpoint::origin::{Fate, Origin};
use crate::raw::endpoint::unguarded::unguarded;
use crate::raw::endpoint::{Endpoint, TURN};
use crate::raw::protocol::{Kind, TAGGED};
use crate::raw::record::Flat;
use fi_mlx5::receives::{Arrival, Failed, Peeked};
use std::ptr::NonNull;

/// Bytes of the commonest message.
const WORD: usize = size_of::<u64>();

/// The end of a turn with the records of one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Taken,
    Left,
}

impl Endpoint {
    /// Takes records that have come over the device, at most a turn's. Returns whether there were
    /// any.
    pub(crate) fn take_far(&self, far: &Far) -> bool {
        let arrivals = &mut *far.arrivals.borrow_mut();
        let mut any = far.traffic.has_left.get() && self.take_left(far, arrivals);
        for _ in 0..TURN {
            let Some(arrival) = far.receives.next() else {
                return any;
            };
            any = true;
            self.take_one(far, arrivals, arrival);
        }
        any
    }

    /// Takes messages that have come, by few instructions each where they are of the peer of the last
    /// one; false where another record has, or something stands against that. With `IN_PLACE` messages
    /// of bytes alone are taken where they lie.
    #[inline(always)]
    pub(crate) fn take_messages<const IN_PLACE: bool>(&self, far: &Far) -> bool {
        let arrivals = &mut *far.arrivals.borrow_mut();
        for _ in 0..TURN {
            if self.take_peeked::<IN_PLACE>(far, arrivals) {
                continue;
            }
            match far.receives.next() {
                None => break,
                Some(Ok(arrival)) if self.take_short::<IN_PLACE>(far, arrivals, arrival) => {}
                Some(other) => {
                    self.take_one(far, arrivals, other);
                    return false;
                }
            }
        }
        true
    }

    /// Takes the message that has come by few instructions, with `IN_PLACE` where it lies; false where
    /// something stands against that, and nothing was done then, or where another one has come.
    ///
    /// Calls nothing but at its end, so that few registers are saved and restored; with `IN_PLACE` the
    /// program's function.
    ///
    /// # Safety
    /// Something has come ([`Receives::is_ready`]).
    #[inline(never)]
    pub(crate) unsafe fn take_next_message<const IN_PLACE: bool>(&self, far: &Far) -> bool {
        // SAFETY: something has come, as the caller was told.
        let Some(peeked) = (unsafe { far.receives.peek_ready() }) else {
            return false;
        };
        // SAFETY: no other reference is there: functions of the endpoint that borrow the arrivals
        // call nothing of the program's that makes progress; the endpoint is of one thread, as its
        // cells are; and the functions called here know nothing of `far.arrivals`, nor does the
        // program's, which calls none of this endpoint (the requirement of `InPlace::new`).
        let arrivals = unsafe { unguarded(&far.arrivals) };
        // SAFETY: null, or one of the origins, to which no other reference leads.
        let Some(peer) = (unsafe { arrivals.latest.as_mut() }) else {
            return false;
        };
        let buffer = far.buffer(peeked.index);
        // SAFETY: the device has written the header into the buffer, which is aligned.
        let header = unsafe { buffer.cast::<u64>().read() };
        if IN_PLACE {
            let Some(len) = (peeked.bytes as usize).checked_sub(HEADER) else {
                return false;
            };
            return header == peer.plain
                && self.take_seen::<false, true>(far, peer, &peeked, (buffer, len))
                && peer.go_on(far);
        }
        if header != peer.plain || peeked.bytes as usize != HEADER + WORD {
            let peer = NonNull::from(peer);
            // SAFETY: the message was seen just now, and the peer's reference is used no more.
            return unsafe { self.take_next_tagged(far, peer, peeked.index, buffer) };
        }
        self.take_seen::<false, false>(far, peer, &peeked, (buffer, WORD)) && peer.go_on(far)
    }

    /// Does as [`Endpoint::take_next_message`] for a message of a tag and 8 bytes.
    ///
    /// # Safety
    /// The message has been seen ([`Receives::peek_ready`]), and lies in this buffer, of this index.
    /// The peer is one of the origins, to which no reference leads.
    #[inline(never)]
    unsafe fn take_next_tagged(
        &self,
        far: &Far,
        peer: NonNull<FarOrigin>,
        index: u16,
        buffer: *mut u8,
    ) -> bool {
        // SAFETY: the message was seen just now.
        let seen = unsafe { far.receives.seen(index) };
        // SAFETY: the device has written the header into the buffer, which is aligned.
        let header = unsafe { buffer.cast::<u64>().read() };
        // SAFETY: one of the origins. It is not used any more where another function is called that
        // leads to them.
        let peer = unsafe { &mut *peer.as_ptr() };
        if header != peer.tagged
            || seen.bytes as usize != HEADER + 2 * WORD
            || self.has_special_tagged()
        {
            return self.take_next_of_any_length(far);
        }
        self.take_seen::<true, false>(far, peer, &seen, (buffer, 2 * WORD)) && peer.go_on(far)
    }

    /// Does as [`Endpoint::take_next_message`] for a message of any length, with a tag or without.
    #[inline(never)]
    fn take_next_of_any_length(&self, far: &Far) -> bool {
        self.take_peeked::<false>(far, &mut far.arrivals.borrow_mut()) && !far.receives.is_ready()
    }

    /// Takes the next message, if it is of the peer of the last one.
    #[inline(always)]
    fn take_peeked<const IN_PLACE: bool>(&self, far: &Far, arrivals: &mut Arrivals) -> bool {
        let Some(peeked) = far.receives.peek() else {
            return false;
        };
        // SAFETY: null, or one of the origins, to which no other reference leads.
        let Some(peer) = (unsafe { arrivals.latest.as_mut() }) else {
            return false;
        };
        let buffer = far.buffer(peeked.index);
        let header = far.header(peeked.index);
        let Some(len) = (peeked.bytes as usize).checked_sub(HEADER) else {
            return false;
        };
        let is_taken = if header == peer.plain {
            self.take_seen::<false, IN_PLACE>(far, peer, &peeked, (buffer, len))
        } else {
            header == peer.tagged
                && !self.has_special_tagged()
                && self.take_seen::<true, IN_PLACE>(far, peer, &peeked, (buffer, len))
        };
        if is_taken && peer.is_due() {
            let number = peer.number;
            arrivals.tell(far, number);
        }
        is_taken
    }

    /// Takes the message that was seen just now, of this peer, with `len` bytes behind the header in
    /// the buffer; where it has a tag, nothing is special.
    #[inline(always)]
    fn take_seen<const HAS_TAG: bool, const IN_PLACE: bool>(
        &self,
        far: &Far,
        peer: &mut FarOrigin,
        seen: &Peeked,
        (buffer, len): (*mut u8, usize),
    ) -> bool {
        if !seen.is_to(peer.expected) {
            return false;
        }
        let payload = buffer.wrapping_add(HEADER);
        // SAFETY: the device has written so many bytes into the buffer, which begins aligned.
        if !unsafe { self.give_short::<HAS_TAG, IN_PLACE>(&peer.origin, payload, len) } {
            return false;
        }
        far.receives.pass(seen);
        peer.until_due -= 1;
        true
    }

    /// Takes a record, or a receive that has failed.
    #[inline(never)]
    fn take_one(&self, far: &Far, arrivals: &mut Arrivals, arrival: Result<Arrival, Failed>) {
        match arrival {
            Ok(arrival) => self.take_arrival(far, arrivals, arrival),
            // Of a queue that has failed, whose connection ends by its own posts.
            Err(Failed { index, .. }) => {
                if let Some(index) = index {
                    far.receives.give(index);
                }
            }
        }
    }

    /// Goes on with records that there was no room for.
    fn take_left(&self, far: &Far, arrivals: &mut Arrivals) -> bool {
        for number in std::mem::take(&mut arrivals.untold) {
            if let Some(peer) = arrivals.origin(number)
                && !peer.tell_slowly(far)
            {
                arrivals.untold.push(number);
            }
        }
        let mut any = false;
        for number in std::mem::take(&mut arrivals.left) {
            while let Some(full) = arrivals.first_left(number) {
                if self.take_full(far, arrivals, number, full) == Turn::Left {
                    arrivals.left.push(number);
                    break;
                }
                any = true;
                arrivals.forget_first(number);
            }
        }
        far.traffic.has_left.set(arrivals.has_more());
        any
    }

    /// Takes a message of a peer that is known, and gives it to the first buffer, by few
    /// instructions; false where something stands against that: then nothing was done.
    #[inline(always)]
    fn take_short<const IN_PLACE: bool>(
        &self,
        far: &Far,
        arrivals: &mut Arrivals,
        arrival: Arrival,
    ) -> bool {
        let buffer = far.buffer(arrival.index);
        // SAFETY: the buffer is this side's until it is given back, aligned, and has room for a
        // header at least.
        let header = unsafe { buffer.cast::<u64>().read() };
        let Header { kind, origin } = Header::of_word(header);
        let Some(peer) = arrivals.origin(origin) else {
            return false;
        };
        let is_expected = peer.is_plain && peer.queue.is_none_or(|known| known == arrival.queue);
        let bytes = arrival.bytes as usize;
        let has_tag = kind == TAGGED;
        let is_short = has_tag || kind == Kind::Message as u16;
        if !is_short || !is_expected || bytes < HEADER {
            return false;
        }
        let payload = buffer.wrapping_add(HEADER);
        // SAFETY: the device has written so many bytes into the buffer, which begins aligned.
        let is_given = unsafe {
            if has_tag && self.has_special_tagged() {
                self.give_special(&peer.origin, payload, bytes - HEADER)
            } else if has_tag {
                self.give_short::<true, IN_PLACE>(&peer.origin, payload, bytes - HEADER)
            } else {
                self.give_short::<false, IN_PLACE>(&peer.origin, payload, bytes - HEADER)
            }
        };
        if !is_given {
            return false;
        }
        far.receives.give(arrival.index);
        peer.until_due -= 1;
        let (is_due, latest) = (peer.is_due(), &raw mut *peer);
        arrivals.latest = latest;
        if is_due {
            arrivals.tell(far, origin);
        }
        true
    }

    /// Gives a message of bytes, or of a tag and bytes, to its buffer, by few instructions; with
    /// `IN_PLACE` has one of bytes taken where it lies. Returns false where something stands against
    /// that, and has done nothing then. Where the message has a tag, nothing is special.
    ///
    /// # Safety
    /// `payload` holds `len` bytes, and is aligned to 8.
    #[inline(always)]
    unsafe fn give_short<const HAS_TAG: bool, const IN_PLACE: bool>(
        &self,
        origin: &Origin,
        payload: *const u8,
        len: usize,
    ) -> bool {
        if !HAS_TAG && IN_PLACE {
            return self.take_lying_at(origin, payload, len);
        }
        if !HAS_TAG {
            // SAFETY: `payload` holds so many bytes.
            return unsafe { self.give(origin, payload, len) };
        }
        let Some(behind) = len.checked_sub(WORD) else {
            return false;
        };
        // SAFETY: `payload` holds a word, aligned, and so many bytes behind it.
        unsafe {
            let tag = payload.cast::<u64>().read();
            self.give_tagged::<true>(origin, tag, payload.wrapping_add(WORD), behind)
        }
    }

    /// Does as [`Endpoint::give_short`] for a message of a tag and bytes, where something is special.
    ///
    /// # Safety
    /// As [`Endpoint::give_short`].
    #[inline(never)]
    unsafe fn give_special(&self, origin: &Origin, payload: *const u8, len: usize) -> bool {
        let Some(behind) = len.checked_sub(WORD) else {
            return false;
        };
        // SAFETY: `payload` holds a word, aligned, and so many bytes behind it.
        unsafe {
            let tag = payload.cast::<u64>().read();
            self.give_tagged::<false>(origin, tag, payload.wrapping_add(WORD), behind)
        }
    }

    fn take_arrival(&self, far: &Far, arrivals: &mut Arrivals, arrival: Arrival) {
        let full = Full {
            index: arrival.index,
            bytes: arrival.bytes,
        };
        let bytes = arrival.bytes as usize;
        // SAFETY: the buffer is this side's until it is given back, aligned, and has room for a
        // header at least.
        let header = unsafe { far.buffer(arrival.index).cast::<u64>().read() };
        let number = Header::of_word(header).origin;
        let is_sound = (HEADER..=HEADER + far.hub.most).contains(&bytes)
            && arrivals.knows(&far.hub, number, arrival.queue);
        if !is_sound {
            // Nobody is told: the sender is not known.
            return far.receives.give(arrival.index);
        }
        if let Some(origin) = arrivals.origin(number)
            && !origin.left.is_empty()
        {
            return origin.left.push_back(full);
        }
        if self.take_full(far, arrivals, number, full) == Turn::Left {
            if let Some(origin) = arrivals.origin(number) {
                origin.left.push_back(full);
                origin.is_plain = false;
            }
            arrivals.latest = std::ptr::null_mut();
            arrivals.left.push(number);
            far.traffic.has_left.set(true);
            far.traffic.is_busy.set(true);
        }
    }

    /// Carries out the record in a buffer, and gives that back unless it is left.
    fn take_full(&self, far: &Far, arrivals: &mut Arrivals, number: u32, full: Full) -> Turn {
        let Some(peer) = arrivals.origin(number) else {
            far.receives.give(full.index);
            return Turn::Taken;
        };
        let buffer = far.buffer(full.index);
        // SAFETY: the buffer is this side's until it is given back, and aligned.
        let header = unsafe { buffer.cast::<u64>().read() };
        let kind = Header::of_word(header).kind;
        let record = Flat {
            kind,
            payload: buffer.wrapping_add(HEADER),
            len: full.bytes as usize - HEADER,
        };
        let fate = if peer.is_closed {
            Fate::Taken
        } else {
            self.arrive(&mut peer.origin, record)
        };
        match fate {
            Fate::Left => return Turn::Left,
            // Also of a peer that nothing was sent to.
            Fate::Taken if kind == Kind::Bye as u16 => {
                peer.close();
                far.hub.part(number);
            }
            Fate::Taken => {}
            Fate::Broken => {
                peer.close();
                self.part(&peer.origin);
            }
        }
        peer.until_due -= 1;
        far.receives.give(full.index);
        let is_closed = peer.is_closed;
        if !is_closed && peer.is_due() && !peer.tell(far) {
            arrivals.note_untold(far, number);
        }
        if is_closed {
            arrivals.latest = std::ptr::null_mut();
        }
        Turn::Taken
    }
}
