//! Records that come over the device.

#![expect(unsafe_code, reason = "reads records that a device has written")]

use super::Far;
use super::hub::{CREDITS, HEADER, Hub};
use super::path::{Header, PLACE_BYTES};
use super::wire::Ends;
use crate::raw::address::Address;
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
use std::ptr::NonNull;

/// Bytes of the commonest message.
const WORD: usize = size_of::<u64>();
/// Records that are taken before a peer is told of them.
const DUE: i64 = CREDITS as i64 / 4;

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
    /// The number of its connection.
    number: u32,
    /// The headers of its messages of bytes alone, and of a tag and bytes.
    plain: u64,
    tagged: u64,
    theirs: Ends,
    to_memory: Vector,
    /// The queue pair by which its records come, where it has one of its own.
    queue: Option<u32>,
    /// Records that there was no room for, in their order.
    left: VecDeque<Full>,
    /// The same, as the completions of its records tell it.
    expected: Expected,
    /// Records taken of which the peer was told.
    told: u64,
    /// How many more are to be taken before it is told again: none or fewer where it could not be.
    until_due: i64,
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
    /// By the numbers of their connections: from boxes, to which nothing else leads but `latest`.
    origins: Vec<Option<NonNull<FarOrigin>>>,
    /// The sender of the last message of bytes, or of a tag and bytes: one of them, or null where it
    /// has left records since.
    latest: *mut FarOrigin,
    /// Those with records left.
    left: Vec<u32>,
    /// Those that could not be told how many of their records were taken.
    untold: Vec<u32>,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self {
            origins: Vec::new(),
            latest: std::ptr::null_mut(),
            left: Vec::new(),
            untold: Vec::new(),
        }
    }
}

impl Drop for Arrivals {
    fn drop(&mut self) {
        for origin in self.origins.drain(..).flatten() {
            // SAFETY: the pointer is of a box that `knows` has leaked, and is forgotten here.
            drop(unsafe { Box::from_raw(origin.as_ptr()) });
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

    /// Takes the message that has come by few instructions; false where something stands against
    /// that, and nothing was done then, or where another one has come.
    ///
    /// Calls nothing but at its end, so that few registers are saved and restored.
    ///
    /// # Safety
    /// Something has come ([`Receives::is_ready`]).
    #[inline(never)]
    pub(crate) unsafe fn take_next_message(&self, far: &Far) -> bool {
        // SAFETY: something has come, as the caller was told.
        let Some(peeked) = (unsafe { far.receives.peek_ready() }) else {
            return false;
        };
        // SAFETY: no other reference is there: functions of the endpoint that borrow the arrivals
        // call nothing of the program's, which makes progress; the endpoint is of one thread, as its
        // cells are; and the functions called here know nothing of `far.arrivals`.
        let arrivals = unsafe { unguarded(&far.arrivals) };
        // SAFETY: null, or one of the origins, to which no other reference leads.
        let Some(peer) = (unsafe { arrivals.latest.as_mut() }) else {
            return false;
        };
        let buffer = far.buffer(peeked.index);
        // SAFETY: the device has written the header into the buffer, which is aligned.
        let header = unsafe { buffer.cast::<u64>().read() };
        if header != peer.plain || peeked.bytes as usize != HEADER + WORD {
            let peer = NonNull::from(peer);
            // SAFETY: the message was seen just now, and the peer's reference is used no more.
            return unsafe { self.take_next_tagged(far, peer, peeked.index, buffer) };
        }
        self.take_seen::<false>(far, peer, &peeked, (buffer, WORD)) && peer.go_on(far)
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
        self.take_seen::<true>(far, peer, &seen, (buffer, 2 * WORD)) && peer.go_on(far)
    }

    /// Does as [`Endpoint::take_next_message`] for a message of any length, with a tag or without.
    #[inline(never)]
    fn take_next_of_any_length(&self, far: &Far) -> bool {
        self.take_peeked(far, &mut far.arrivals.borrow_mut()) && !far.receives.is_ready()
    }

    /// Takes the next message, if it is of the peer of the last one.
    #[inline(always)]
    fn take_peeked(&self, far: &Far, arrivals: &mut Arrivals) -> bool {
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
            self.take_seen::<false>(far, peer, &peeked, (buffer, len))
        } else {
            header == peer.tagged
                && !self.has_special_tagged()
                && self.take_seen::<true>(far, peer, &peeked, (buffer, len))
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
    fn take_seen<const HAS_TAG: bool>(
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
        if !unsafe { self.give_short::<HAS_TAG>(&peer.origin, payload, len) } {
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
                && !peer.tell(far)
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
                self.give_short::<true>(&peer.origin, payload, bytes - HEADER)
            } else {
                self.give_short::<false>(&peer.origin, payload, bytes - HEADER)
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

    /// Gives a message of bytes, or of a tag and bytes, to its buffer, by few instructions; false
    /// where something stands against that: then nothing was done. Where it has a tag, nothing is
    /// special.
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

impl FarOrigin {
    /// Carries out nothing of it any more.
    fn close(&mut self) {
        self.is_closed = true;
        self.is_plain = false;
    }

    /// Whether the peer is to be told how many of its records were taken.
    #[inline(always)]
    fn is_due(&self) -> bool {
        self.until_due <= 0
    }

    /// How many of its records were taken.
    fn taken(&self) -> u64 {
        self.told.wrapping_add_signed(DUE - self.until_due)
    }

    /// Goes on behind a message that was taken: tells the peer if that is due. Returns whether no
    /// other one has come.
    #[inline(always)]
    fn go_on(&mut self, far: &Far) -> bool {
        if self.is_due() {
            return self.go_on_telling(far);
        }
        !far.receives.is_ready()
    }

    #[inline(never)]
    fn go_on_telling(&mut self, far: &Far) -> bool {
        if !self.tell(far) {
            // SAFETY: no other reference to the arrivals is used: `Endpoint::take_next_message` and
            // `take_next_tagged`, which have called this, end with it.
            unsafe { unguarded(&far.arrivals) }.note_untold(far, self.number);
        }
        !far.receives.is_ready()
    }

    /// Tells the peer how many of its records were taken; false where that cannot be now.
    fn tell(&mut self, far: &Far) -> bool {
        let number = self.number;
        let (address, key) = self.theirs.taken;
        let key = Be32::new(key);
        let segment = Segment::new(address, key);
        let taken = self.taken();
        far.traffic.is_busy.set(true);
        // SAFETY: the lane is alive and used by this thread alone, and the connection is one of its
        // peers.
        let is_told = unsafe {
            self.memory
                .inject(taken, segment, &self.to_memory, self.place)
        };
        if is_told {
            (self.told, self.until_due) = (taken, DUE);
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
            let taken = self.taken();
            let count = (&raw const taken).cast();
            // SAFETY: this thread alone uses the lane, the connection is one of its peers, and the
            // word is there. A failure that comes just now is looked at the next time.
            let posted = unsafe { lane.write_inline(to, count, size_of::<u64>()) };
            if posted.is_ok() {
                (self.told, self.until_due) = (taken, DUE);
            }
        }
        self.until_due == DUE
    }
}

impl Arrivals {
    /// Whether a record that has come to this queue may be of connection `number`.
    fn knows(&mut self, hub: &Hub, number: u32, queue: u32) -> bool {
        let at = number as usize;
        if let Some(origin) = self.origin(number) {
            return origin.queue.is_none_or(|known| known == queue);
        }
        let Some(connected) = hub.connection(number) else {
            return false;
        };
        if self.origins.len() <= at {
            self.origins.resize_with(at + 1, || None);
        }
        let theirs = connected.theirs;
        let header = |kind| {
            let origin = number;
            Header { kind, origin }.to_word()
        };
        let origin = Box::new(FarOrigin {
            origin: Origin::new(connected.address),
            number,
            plain: header(Kind::Message as u16),
            tagged: header(TAGGED),
            theirs,
            to_memory: theirs.vector(theirs.inward),
            queue: hub.queue_of(number),
            expected: Expected::queue(hub.queue_of(number)),
            left: VecDeque::new(),
            told: 0,
            until_due: DUE,
            is_closed: false,
            is_plain: true,
            memory: Route::of(hub.memory.lane()),
            place: number as Place * PLACE_BYTES,
        });
        self.origins[at] = Some(NonNull::from(Box::leak(origin)));
        self.knows(hub, number, queue)
    }

    /// The peer of connection `number`, if it has sent records.
    #[inline(always)]
    fn origin(&mut self, number: u32) -> Option<&mut FarOrigin> {
        let origin = self.origins.get(number as usize)?.as_ref()?;
        // SAFETY: the pointer is of a box that `knows` has leaked, and no other reference leads
        // there, as the arrivals are borrowed.
        Some(unsafe { &mut *origin.as_ptr() })
    }

    fn first_left(&mut self, number: u32) -> Option<Full> {
        self.origin(number)?.left.front().copied()
    }

    fn forget_first(&mut self, number: u32) {
        if let Some(origin) = self.origin(number) {
            origin.left.pop_front();
            origin.is_plain = origin.left.is_empty() && !origin.is_closed;
        }
    }

    /// Tells a peer how many of its records were taken, now or later.
    #[inline(never)]
    fn tell(&mut self, far: &Far, number: u32) {
        if let Some(peer) = self.origin(number)
            && !peer.tell(far)
        {
            self.note_untold(far, number);
        }
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
        // SAFETY: the pointers are of boxes that `knows` has leaked, and no other references lead
        // there, as the arrivals are borrowed.
        let known = known.map(|one| unsafe { one.as_ref() });
        known.map(|one| one.origin.address().clone()).collect()
    }
}
