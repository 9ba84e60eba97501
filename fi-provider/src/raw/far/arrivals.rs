//! Records that come over the device.

#![expect(unsafe_code, reason = "reads records that a device has written")]

use super::Far;
use super::hub::{CREDITS, HEADER, Hub};
use super::path::{Header, PLACE_BYTES};
use super::wire::Ends;
use crate::raw::address::Address;
use crate::raw::completion::opaque;
use crate::raw::endpoint::{Endpoint, Fate, Origin, TURN, unguarded};
use crate::raw::protocol::{Kind, TAGGED};
use crate::raw::record::Flat;
use fi_mlx5::lane::To;
use fi_mlx5::queue::Place;
use fi_mlx5::receives::{Arrival, Buffers, Expected, Failed, Peeked, Receives};
use fi_mlx5::remote::{Segment, Vector};
use fi_mlx5::route::Route;
use fi_mlx5_defs::endian::Be32;
use std::collections::VecDeque;

/// Bytes of the commonest message.
const WORD: usize = size_of::<u64>();

/// A buffer with a record.
#[derive(Clone, Copy, Debug)]
struct Full {
    index: u16,
    bytes: u32,
}

/// A peer that sends records.
#[derive(Debug)]
pub(crate) struct FarOrigin {
    origin: Origin,
    theirs: Ends,
    to_memory: Vector,
    /// The queue pair by which its records come, where it has one of its own.
    queue: Option<u32>,
    /// Records that there was no room for, in their order.
    left: VecDeque<Full>,
    /// The same, as the completions of its records tell it.
    expected: Expected,
    /// Records taken of which the peer was told, and those taken since.
    told: u64,
    untold: u64,
    /// Nothing of it is carried out any more.
    is_closed: bool,
    /// It is not closed, and none of its records was left.
    is_plain: bool,
    /// The way to its memory, and its place there.
    memory: Route,
    place: Place,
}

/// The receiving side of an endpoint.
#[derive(Debug)]
pub(crate) struct Arrivals {
    /// By the numbers of their connections.
    origins: Vec<Option<FarOrigin>>,
    /// The header of the last message without anything but bytes, and its sender's number.
    latest: (u64, u32),
    /// The same of the last message of a tag and bytes.
    latest_tagged: (u64, u32),
    /// Those with records left.
    left: Vec<u32>,
    /// Those that could not be told how many of their records were taken.
    untold: Vec<u32>,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self {
            origins: Vec::new(),
            // Of nobody.
            latest: (0, u32::MAX),
            latest_tagged: (0, u32::MAX),
            left: Vec::new(),
            untold: Vec::new(),
        }
    }
}

/// Takes over the receive queue of a hub.
pub(crate) fn receives(hub: &Hub) -> Receives {
    let buffers = Buffers {
        address: hub.buffer(0).addr() as u64,
        bytes: (HEADER + hub.most) as u32,
        key: hub.buffers.lkey(),
    };
    let (ring, completions) = (hub.receives.ring(), hub.receives.completion_ring());
    // SAFETY: the hub, which is kept longer beside the receives, keeps the queue, and hands its
    // rings out once; the buffers are registered, and only the receives and the device access them.
    unsafe { Receives::new(ring, completions, buffers) }
}

/// The end of a turn with the records of one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Taken,
    Left,
}

impl Endpoint {
    /// Takes records that have come over the device, at most a turn's; whether there were any.
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
    /// one; false where another record has, or something stands against that.
    #[inline(always)]
    pub(crate) fn take_messages(&self, far: &Far) -> bool {
        let arrivals = &mut *far.arrivals.borrow_mut();
        for _ in 0..TURN {
            if self.take_peeked(far, arrivals) {
                continue;
            }
            match far.receives.next() {
                None => break,
                Some(Ok(arrival)) if self.take_short(far, arrivals, arrival) => {}
                Some(other) => {
                    self.take_one(far, arrivals, other);
                    return false;
                }
            }
        }
        true
    }

    /// Takes a message that has come by few instructions; false where none has, or something stands
    /// against that: then nothing was done.
    ///
    /// Calls nothing but at its end, so that few registers are saved and restored.
    #[inline(never)]
    pub(crate) fn take_next_message(&self, far: &Far) -> bool {
        let Some(peeked) = far.receives.peek() else {
            return false;
        };
        // SAFETY: no other reference is there: functions of the endpoint that borrow the arrivals
        // call nothing of the program's, which makes progress; the endpoint is of one thread, as its
        // cells are; and the functions called here know nothing of `far.arrivals`.
        let arrivals = unsafe { unguarded(&far.arrivals) };
        let (known, number) = arrivals.latest;
        if peeked.bytes as usize != HEADER + WORD || far.header(peeked.index) != known {
            return self.take_next_of_any_kind(far);
        }
        self.take_seen::<false>(far, arrivals, number, &peeked, WORD)
    }

    /// The same of any length, with a tag or without.
    #[inline(never)]
    fn take_next_of_any_kind(&self, far: &Far) -> bool {
        self.take_peeked(far, &mut far.arrivals.borrow_mut())
    }

    /// Takes the next message, if it is of the peer of the last one of its kind.
    #[inline(always)]
    fn take_peeked(&self, far: &Far, arrivals: &mut Arrivals) -> bool {
        let Some(peeked) = far.receives.peek() else {
            return false;
        };
        let header = far.header(peeked.index);
        let Some(len) = (peeked.bytes as usize).checked_sub(HEADER) else {
            return false;
        };
        let ((plain, number), (tagged, tagging)) = (arrivals.latest, arrivals.latest_tagged);
        if header == plain {
            self.take_seen::<false>(far, arrivals, number, &peeked, len)
        } else {
            header == tagged && self.take_seen::<true>(far, arrivals, tagging, &peeked, len)
        }
    }

    /// Takes the message that was seen just now, of `len` bytes behind the header, of the peer of the
    /// last one of its kind.
    #[inline(always)]
    fn take_seen<const HAS_TAG: bool>(
        &self,
        far: &Far,
        arrivals: &mut Arrivals,
        number: u32,
        seen: &Peeked,
        len: usize,
    ) -> bool {
        if number as usize >= arrivals.origins.len() {
            return false;
        }
        // SAFETY: the number is that of a place, in which there is a peer since a message of its was
        // the last one.
        let peer = unsafe {
            let slot = arrivals.origins.get_unchecked_mut(number as usize);
            slot.as_mut().unwrap_unchecked()
        };
        if !peer.is_plain || !seen.is_to(peer.expected) {
            return false;
        }
        let payload = far.buffer(seen.index).wrapping_add(HEADER);
        // SAFETY: the device has written so many bytes into the buffer, which begins aligned.
        if !unsafe { self.give_short::<HAS_TAG>(&peer.origin, payload, len) } {
            return false;
        }
        far.receives.pass(seen);
        peer.untold += 1;
        !peer.is_due() || arrivals.tell(far, number)
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
            if let Some(Some(peer)) = arrivals.origins.get_mut(number as usize)
                && !peer.tell(far, number)
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
    fn take_short(&self, far: &Far, arrivals: &mut Arrivals, arrival: Arrival) -> bool {
        let buffer = far.buffer(arrival.index);
        // SAFETY: the buffer is this side's until it is given back, aligned, and has room for a
        // header at least.
        let header = unsafe { buffer.cast::<u64>().read() };
        let Header { kind, origin } = Header::of_word(header);
        let Some(Some(peer)) = arrivals.origins.get_mut(origin as usize) else {
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
            if has_tag {
                self.give_short::<true>(&peer.origin, payload, bytes - HEADER)
            } else {
                self.give_short::<false>(&peer.origin, payload, bytes - HEADER)
            }
        };
        if !is_given {
            return false;
        }
        far.receives.give(arrival.index);
        peer.untold += 1;
        if peer.is_due() {
            arrivals.tell(far, origin);
        }
        if has_tag {
            arrivals.latest_tagged = (header, origin);
        } else {
            arrivals.latest = (header, origin);
        }
        true
    }

    /// Gives a message of bytes, or of a tag and bytes, to its buffer, by few instructions; false
    /// where something stands against that: then nothing was done.
    ///
    /// # Safety
    /// `payload` holds `len` bytes, and is aligned to 8.
    #[inline(always)]
    unsafe fn give_short<const HAS_TAG: bool>(
        &self,
        origin: &Origin,
        payload: *const u8,
        len: usize,
    ) -> bool {
        if !HAS_TAG {
            // SAFETY: `payload` holds so many bytes.
            return unsafe { self.give(origin, payload, len) };
        }
        let Some(behind) = len.checked_sub(size_of::<u64>()) else {
            return false;
        };
        // SAFETY: `payload` holds a word, aligned, and so many bytes behind it.
        unsafe {
            let tag = payload.cast::<u64>().read();
            let bytes = payload.wrapping_add(size_of::<u64>());
            if self.has_special_tagged() {
                return self.give_special(origin, tag, bytes, behind);
            }
            self.give_tagged::<true>(origin, tag, bytes, behind)
        }
    }

    /// Does as [`Endpoint::give_tagged`] where something is special.
    ///
    /// # Safety
    /// As [`Endpoint::give_tagged`].
    #[inline(never)]
    unsafe fn give_special(
        &self,
        origin: &Origin,
        tag: u64,
        payload: *const u8,
        len: usize,
    ) -> bool {
        // SAFETY: `payload` holds so many bytes.
        unsafe { self.give_tagged::<false>(origin, tag, payload, len) }
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
        if let Some(Some(origin)) = arrivals.origins.get_mut(number as usize)
            && !origin.left.is_empty()
        {
            return origin.left.push_back(full);
        }
        if self.take_full(far, arrivals, number, full) == Turn::Left {
            if let Some(Some(origin)) = arrivals.origins.get_mut(number as usize) {
                origin.left.push_back(full);
                origin.is_plain = false;
            }
            arrivals.left.push(number);
            far.traffic.has_left.set(true);
            far.traffic.is_busy.set(true);
        }
    }

    /// Carries out the record in a buffer, and gives that back unless it is left.
    fn take_full(&self, far: &Far, arrivals: &mut Arrivals, number: u32, full: Full) -> Turn {
        let Some(Some(peer)) = arrivals.origins.get_mut(number as usize) else {
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
        peer.untold += 1;
        far.receives.give(full.index);
        if !peer.is_closed && peer.is_due() && !peer.tell(far, number) {
            arrivals.note_untold(far, number);
        }
        Turn::Taken
    }
}

impl FarOrigin {
    /// Carries out nothing of it any more.
    fn close(&mut self) {
        self.is_closed = true;
        self.is_plain = false;
    }

    /// Whether the peer is to be told how many of its records were taken.
    #[inline(always)]
    fn is_due(&self) -> bool {
        self.untold >= u64::from(CREDITS / 4)
    }

    /// Tells the peer how many of its records were taken; false where that cannot be now.
    fn tell(&mut self, far: &Far, number: u32) -> bool {
        let (address, key) = self.theirs.taken;
        let key = Be32::new(key);
        let segment = Segment::new(address, key);
        let taken = self.told + self.untold;
        far.traffic.is_busy.set(true);
        // SAFETY: the lane is alive and used by this thread alone, and the connection is one of its
        // peers.
        let is_told = unsafe {
            self.memory
                .inject(taken, segment, &self.to_memory, self.place)
        };
        if is_told {
            (self.told, self.untold) = (taken, 0);
            return true;
        }
        self.tell_slowly(far, number, (address, key))
    }

    /// Tells it where the lane has no room without looking, or is not connected yet.
    #[cold]
    fn tell_slowly(&mut self, far: &Far, number: u32, (address, key): (u64, Be32)) -> bool {
        let hub = &far.hub;
        let lane = hub.memory.lane();
        if !lane.adopt(number) || lane.faults() > 0 && lane.fault(Some(number)).is_some() {
            // A peer that is gone needs it no more, and others are told behind the failure.
            return self.is_closed || hub.is_over(number);
        }
        let taken = |queue| far.traffic.note_taken(queue);
        // SAFETY: this thread alone uses the lane, and the connection is one of its peers.
        if unsafe { lane.has_room(number, taken) } {
            let to = To {
                peer: number,
                vector: &self.to_memory,
                address,
                key,
            };
            let taken = self.told + self.untold;
            let count = (&raw const taken).cast();
            // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
            // word is there. A failure that comes just now is looked at the next time.
            let posted = unsafe { lane.write_inline(to, count, size_of::<u64>()) };
            if posted.is_ok() {
                (self.told, self.untold) = (taken, 0);
            }
        }
        self.untold == 0
    }
}

impl Arrivals {
    /// Whether a record that has come to this queue may be of connection `number`.
    fn knows(&mut self, hub: &Hub, number: u32, queue: u32) -> bool {
        let at = number as usize;
        if let Some(Some(origin)) = self.origins.get(at) {
            return origin.queue.is_none_or(|known| known == queue);
        }
        let Some(connected) = hub.connection(number) else {
            return false;
        };
        if self.origins.len() <= at {
            self.origins.resize_with(at + 1, || None);
        }
        let theirs = connected.theirs;
        self.origins[at] = Some(FarOrigin {
            origin: Origin::new(connected.address),
            theirs,
            to_memory: theirs.vector(theirs.inward),
            queue: hub.queue_of(number),
            expected: Expected::queue(hub.queue_of(number)),
            left: VecDeque::new(),
            told: 0,
            untold: 0,
            is_closed: false,
            is_plain: true,
            memory: Route::of(hub.memory.lane()),
            place: number as Place * PLACE_BYTES,
        });
        self.knows(hub, number, queue)
    }

    fn first_left(&self, number: u32) -> Option<Full> {
        let origin = self.origins.get(number as usize)?.as_ref()?;
        origin.left.front().copied()
    }

    fn forget_first(&mut self, number: u32) {
        if let Some(Some(origin)) = self.origins.get_mut(number as usize) {
            origin.left.pop_front();
            origin.is_plain = origin.left.is_empty() && !origin.is_closed;
        }
    }

    /// Tells a peer how many of its records were taken, now or later. Returns true.
    #[inline(never)]
    fn tell(&mut self, far: &Far, number: u32) -> bool {
        if let Some(Some(peer)) = self.origins.get_mut(number as usize)
            && !peer.tell(far, number)
        {
            self.note_untold(far, number);
        }
        opaque(true)
    }

    /// Has a peer told later how many of its records were taken.
    #[cold]
    fn note_untold(&mut self, far: &Far, number: u32) {
        self.untold.push(number);
        far.traffic.has_left.set(true);
        far.traffic.is_busy.set(true);
    }

    /// Whether records were left, or peers not told.
    fn has_more(&self) -> bool {
        !self.untold.is_empty() || !self.left.is_empty()
    }

    /// The addresses of the peers that have sent.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        let known = self.origins.iter().flatten();
        known.map(|one| one.origin.address().clone()).collect()
    }
}
